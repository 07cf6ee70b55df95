"""What a judge found of a failure in words, of the answers as they are now.

It is read from the logs of the runs, and kept in memory for a state of the files and of the logs:
:mod:`.runs`. What was said of an earlier text of an answer is not there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from threading import Lock
from typing import Final

import polars as pl

from rexview.analysis.case.blinding import blinded_page
from rexview.analysis.written.failures import SHORT
from rexview.analysis.written.runs import results_state, written_runs
from rexview.judge.subjects import WRITTEN, About, Subject, subjects_of
from rexview.judge.written.results import Candidate, WrittenResults, replies_about, results_of
from rexview.judge.written.words import name_of
from rexview.models.backend import Prompt
from rexview.models.running.journal import KeptReply
from rexview.schema import Answer, Case, ReviewSet

_KEPT: Final = 16
_SHORTEST: Final = 8
_Key = tuple[str, str, object, str, str]
_RESULTS: Final = OrderedDict[_Key, "FoundIn"]()
_SUBJECTS: Final = OrderedDict[tuple[str, str], dict[str, tuple[Subject, ...]]]()
_SETS_KEPT: Final = 2
_LOCK: Final = Lock()


@dataclass(frozen=True, eq=False)
class FoundIn:
    """What one judge said in one version of the words, with the answers that were judged."""

    prompt: Prompt
    judge: str
    results: WrittenResults
    subjects: tuple[Subject, ...]

    @property
    def version(self) -> str:
        """What names the words."""
        return self.prompt.hash[:SHORT]

    @cached_property
    def by_answer(self) -> dict[tuple[str, str], Candidate]:
        """What was said, by case and model."""
        return {(one.about.case, one.about.model): one for one in self.results.said}

    @cached_property
    def subject(self) -> dict[About, Subject]:
        """The answers as the judge was given them."""
        return {one.about: one for one in self.subjects}

    def answers(self, said: str) -> Sequence[tuple[str, str]]:
        """Return case and model of which this was said: ``unread`` what cannot be read."""
        if said == "unread":
            return [(about.case, about.model) for about, _ in self.results.unread]
        return [
            (one.about.case, one.about.model)
            for one in self.results.said
            if said in ("", one.found.said)
        ]

    def unread_of(self, case: str, model: str) -> KeptReply | None:
        """Return the reply about an answer that cannot be read."""
        named = ((about, reply) for about, reply in self.results.unread)
        return next(
            (reply for about, reply in named if (about.case, about.model) == (case, model)), None
        )


def judged_versions(review_set: ReviewSet) -> list[tuple[Prompt, str]]:
    """Return all words that were asked about, each with who was asked, the newest run first."""
    seen: dict[tuple[str, str], tuple[Prompt, str]] = {}
    for run in written_runs(review_set.folder):
        seen.setdefault((run.prompt.hash, run.judge), (run.prompt, run.judge))
    return list(seen.values())


def found_in(review_set: ReviewSet, prompt: Prompt, judge: str) -> FoundIn:
    """Return what a judge found in these words."""
    files = review_set.fingerprint.partition("-")[0]
    state = results_state(review_set.folder, (prompt.hash, judge))
    key = (str(review_set.folder), files, state, prompt.hash, judge)
    with _LOCK:
        if key not in _RESULTS:
            for older in [one for one in _RESULTS if one[0] == key[0] and one[3:] == key[3:]]:
                del _RESULTS[older]  # of another state: nobody asks for it again
            _RESULTS[key] = _read(review_set, files, prompt, judge)
            while len(_RESULTS) > _KEPT:
                _RESULTS.popitem(last=False)
        _RESULTS.move_to_end(key)
        return _RESULTS[key]


def forget(*, answers: bool = True) -> None:
    """Forget what was read of logs, and of the answers to them unless they are kept."""
    with _LOCK:
        _RESULTS.clear()
        if answers:
            _SUBJECTS.clear()


def _read(review_set: ReviewSet, files: str, prompt: Prompt, judge: str) -> FoundIn:
    known = replies_about(review_set, judge, prompt)
    cases = list(dict.fromkeys(about.case for about in known))
    subjects = tuple(one for one in _subjects(review_set, files, cases) if one.about in known)
    return FoundIn(prompt, judge, results_of(subjects, known), subjects)


def _subjects(review_set: ReviewSet, files: str, cases: Sequence[str]) -> Iterator[Subject]:
    """Yield the answers to cases; they are the same for all failures, and made once for a set."""
    folder = str(review_set.folder)
    if (folder, files) not in _SUBJECTS:
        for older in [one for one in _SUBJECTS if one[0] == folder]:
            del _SUBJECTS[older]
        _SUBJECTS[folder, files] = {}
        while len(_SUBJECTS) > _SETS_KEPT:
            _SUBJECTS.popitem(last=False)
    _SUBJECTS.move_to_end((folder, files))
    made = _SUBJECTS[folder, files]
    missing = [case for case in cases if case not in made]
    made.update((case, ()) for case in missing)
    for case, each in groupby(
        written_subjects(review_set, missing), key=lambda one: one.about.case
    ):
        made[case] = tuple(each)
    return (one for case in cases for one in made[case])


def written_subjects(review_set: ReviewSet, cases: Sequence[str]) -> tuple[Subject, ...]:
    """Return the answers to cases as a judge is given them; cases that are gone are left out."""
    models = {model.id: model.id for model in review_set.models}

    def blinded(case: str) -> tuple[Case, Sequence[Answer]] | None:
        page = blinded_page(review_set, case, models)
        return (page.case, page.answers) if page is not None else None

    there = [one for one in cases if review_set.case_row(one) is not None]
    return tuple(subjects_of(review_set, there, blinded, {}, (WRITTEN,)))


def named(review_set: ReviewSet, failure: str, version: str, judge: str) -> FoundIn | None:
    """Return what a link names: a failure, the beginning of its version, and a judge."""
    if len(version) < _SHORTEST:
        return None
    for prompt, asked in judged_versions(review_set):
        if (name_of(prompt), asked) == (failure, judge) and prompt.hash.startswith(version):
            return found_in(review_set, prompt, judge)
    return None


def numbers_of_answers(review_set: ReviewSet, answers: Sequence[tuple[str, str]]) -> list[int]:
    """Return the numbers of answers in their set, of those that are there."""
    frame = pl.DataFrame(
        {"case": [case for case, _ in answers], "model": [model for _, model in answers]},
        schema={"case": pl.String, "model": pl.String},
    )
    return [number for number in review_set.numbers_of(frame).tolist() if number >= 0]
