"""Judges' results for a failure in words: replies, numbers by model, validation, files."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, Final

import polars as pl

from rexview.analysis.case.blinding import build_blinded_page
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.judge_conditions import WrittenCondition
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.written_failures import (
    DIGEST_LENGTH,
    FailureWording,
    MarkCountRow,
    list_written_runs,
    read_wording,
    results_state_key,
)
from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WORDS
from rexview.analysis.written_failures import WRITTEN_MARK_KIND as MARKS
from rexview.judge.subjects import WRITTEN, JudgeSubject, OpinionTarget, find_judge_subjects
from rexview.judge.written import (
    JudgedAnswer,
    WrittenResults,
    collect_written_results,
    find_written_name,
    find_written_replies,
)
from rexview.judge.written.validation import (
    GROUPS,
    Group,
    GroupShare,
    compute_share,
    draw_samples,
    mix_samples,
)
from rexview.models.backend import Prompt
from rexview.models.running.run_journal import StoredReply
from rexview.schema import Answer, Case, ReviewSet
from rexview.store import Reviews, StoredEntry

_KEPT: Final = 16
_MIN_DIGEST_LENGTH: Final = 8
_Key = tuple[str, str, object, str, str]
_RESULTS: Final = OrderedDict[_Key, "JudgeResults"]()
_SUBJECTS: Final = OrderedDict[tuple[str, str], dict[str, tuple[JudgeSubject, ...]]]()
_SETS_KEPT: Final = 2
_LOCK: Final = Lock()


@dataclass(frozen=True, eq=False)
class JudgeResults:
    """One judge's results for one version of a wording, with the judged answers."""

    prompt: Prompt
    judge: str
    results: WrittenResults
    subjects: tuple[JudgeSubject, ...]

    @property
    def version(self) -> str:
        """Id of the wording: the start of its digest."""
        return self.prompt.hash[:DIGEST_LENGTH]

    @cached_property
    def by_answer(self) -> dict[tuple[str, str], JudgedAnswer]:
        """Results by case and model."""
        return {(one.about.case, one.about.model): one for one in self.results.said}

    @cached_property
    def subject(self) -> dict[OpinionTarget, JudgeSubject]:
        """Answers in the form that the judge received."""
        return {one.about: one for one in self.subjects}

    def answers(self, said: str) -> Sequence[tuple[str, str]]:
        """Return case and model of the answers with a result.

        ``said`` is one of :data:`RESULT_ORDER`, or empty for any reply that can be read.
        """
        if said == "unread":
            return [(about.case, about.model) for about, _ in self.results.unread]
        return [
            (one.about.case, one.about.model)
            for one in self.results.said
            if said in ("", one.found.said)
        ]

    def unread_of(self, case: str, model: str) -> StoredReply | None:
        """Return the unreadable reply about an answer, None if there is none."""
        named = ((about, reply) for about, reply in self.results.unread)
        return next(
            (reply for about, reply in named if (about.case, about.model) == (case, model)), None
        )


def list_judged_wordings(review_set: ReviewSet) -> list[tuple[Prompt, str]]:
    """Return all judged wordings, each with its judge, the newest run first."""
    seen: dict[tuple[str, str], tuple[Prompt, str]] = {}
    for run in list_written_runs(review_set.folder):
        seen.setdefault((run.prompt.hash, run.judge), (run.prompt, run.judge))
    return list(seen.values())


def load_judge_results(review_set: ReviewSet, prompt: Prompt, judge: str) -> JudgeResults:
    """Return a judge's results for a wording; the latest are cached."""
    files = review_set.fingerprint.partition("-")[0]
    state = results_state_key(review_set.folder, (prompt.hash, judge))
    key = (str(review_set.folder), files, state, prompt.hash, judge)
    with _LOCK:
        if key not in _RESULTS:
            for older in [one for one in _RESULTS if one[0] == key[0] and one[3:] == key[3:]]:
                del _RESULTS[older]  # an outdated state is never used again
            _RESULTS[key] = _read(review_set, files, prompt, judge)
            while len(_RESULTS) > _KEPT:
                _RESULTS.popitem(last=False)
        _RESULTS.move_to_end(key)
        return _RESULTS[key]


def clear_results(*, answers: bool = True) -> None:
    """Clear the cache of results from logs, and with ``answers`` that of the judged answers."""
    with _LOCK:
        _RESULTS.clear()
        if answers:
            _SUBJECTS.clear()


def _read(review_set: ReviewSet, files: str, prompt: Prompt, judge: str) -> JudgeResults:
    known = find_written_replies(review_set, judge, prompt)
    cases = list(dict.fromkeys(about.case for about in known))
    subjects = tuple(one for one in _subjects(review_set, files, cases) if one.about in known)
    return JudgeResults(prompt, judge, collect_written_results(subjects, known), subjects)


def _subjects(review_set: ReviewSet, files: str, cases: Sequence[str]) -> Iterator[JudgeSubject]:
    """Yield the answers to cases, which are cached by set because all failures share them."""
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
        list_written_subjects(review_set, missing), key=lambda one: one.about.case
    ):
        made[case] = tuple(each)
    return (one for case in cases for one in made[case])


def list_written_subjects(review_set: ReviewSet, cases: Sequence[str]) -> tuple[JudgeSubject, ...]:
    """Return the answers to cases in the form that a judge receives, without missing cases."""
    models = {model.id: model.id for model in review_set.models}

    def blinded(case: str) -> tuple[Case, Sequence[Answer]] | None:
        page = build_blinded_page(review_set, case, models)
        return (page.case, page.answers) if page is not None else None

    there = [one for one in cases if review_set.case_row(one) is not None]
    return tuple(find_judge_subjects(review_set, there, blinded, {}, (WRITTEN,)))


def find_results_by_name(
    review_set: ReviewSet, failure: str, version: str, judge: str
) -> JudgeResults | None:
    """Return the results that a link names by failure, start of the version, and judge.

    Return None if there are none.
    """
    if len(version) < _MIN_DIGEST_LENGTH:
        return None
    for prompt, asked in list_judged_wordings(review_set):
        if (find_written_name(prompt), asked) == (failure, judge) and prompt.hash.startswith(
            version
        ):
            return load_judge_results(review_set, prompt, judge)
    return None


def find_answer_numbers(review_set: ReviewSet, answers: Sequence[tuple[str, str]]) -> list[int]:
    """Return the numbers of the given answers that are in the set."""
    frame = pl.DataFrame(
        {"case": [case for case, _ in answers], "model": [model for _, model in answers]},
        schema={"case": pl.String, "model": pl.String},
    )
    return [number for number in review_set.numbers_of(frame).tolist() if number >= 0]


# Numbers of a failure in words by model: judges' results and people's marks.
#
# Each number has the filter of its cases. People's marks are shown separately, in no share.

RESULT_ORDER: Final = ("yes", "no", "unsure", "unread")
"""Counted results, in the order of the table."""


@dataclass(frozen=True)
class JudgeResultRow:
    """The counts of a judge's results for one model, by :data:`RESULT_ORDER`."""

    model: str
    counts: Mapping[str, LinkedCount]

    @property
    def judged(self) -> int:
        """Number of answers with a readable result."""
        return sum(self.counts[said].value for said in RESULT_ORDER if said != "unread")


@dataclass(frozen=True)
class WrittenFailureRow:
    """One model's results from a judge, None if it was not judged, and its marked answers."""

    model: str
    found: JudgeResultRow | None
    marked: LinkedCount | None


@dataclass(frozen=True)
class WrittenFailureTable:
    """The results of one judge for one failure: a row for each model, and the precision.

    ``judge`` is None if no judge looked for it. ``precision`` comes from the sample that people
    read, None before that.
    """

    title: str
    judge: str | None
    rows: Sequence[WrittenFailureRow]
    precision: GroupShare | None = None


def join_marks_and_results(
    found: Sequence[JudgeResultRow], marked: Sequence[MarkCountRow], models: Iterable[str]
) -> list[WrittenFailureRow]:
    """Join people's marks with a judge's results by model; models without either are left out."""
    by_judge = {row.model: row for row in found}
    by_people = {row.model: row.answers for row in marked}
    return [
        WrittenFailureRow(model, by_judge.get(model), by_people.get(model))
        for model in models
        if model in by_judge or model in by_people
    ]


def result_condition(found: JudgeResults, said: str) -> str:
    """Return the filter's condition for a result of this judge, as text."""
    return str(WrittenCondition(said, find_written_name(found.prompt), found.version, found.judge))


def count_judge_results(found: JudgeResults, models: Mapping[str, str]) -> list[JudgeResultRow]:
    """Return a row for each judged model, in the order of the set, over all cases."""
    by_model: dict[str, dict[str, int]] = {}
    for said in RESULT_ORDER:
        for _, model in found.answers(said):
            counts = by_model.setdefault(model, dict.fromkeys(RESULT_ORDER, 0))
            counts[said] += 1
    return [
        JudgeResultRow(
            model,
            {
                said: LinkedCount(
                    n, CaseFilter(models=(model,), written=(result_condition(found, said),))
                )
                for said, n in by_model[model].items()
            },
        )
        for model in models
        if model in by_model
    ]


# Validation: a random sample of a judge's positive and negative results, read by clinicians.
#
# Both groups are sorted by a hash with the seed, so that a longer sample starts with a shorter one
# and earlier verdicts stay valid. A verdict belongs to one judge, one wording, and the text of the
# answer at that time.

VALIDATION_KIND: Final = "written_validation"
SAMPLE_SEED: Final = 0
"""The command line's default for ``--seed``, so that its sheet has the same answers."""
SAMPLE_SIZES: Final = (25, 50, 100, 200)
"""Sizes of a sample, for each group."""
DEFAULT_SAMPLE_SIZE: Final = 50


def sample_id(found: JudgeResults) -> str:
    """Return the sample's id in the history, a digest of wording and judge."""
    return hashlib.sha256(json.dumps([found.prompt.hash, found.judge]).encode()).hexdigest()[:32]


def draw_sample(found: JudgeResults, each: int) -> dict[Group, list[tuple[str, JudgedAnswer]]]:
    """Draw ``each`` results of each group, or all if there are fewer, with their item's name."""
    wanted = dict.fromkeys(GROUPS, each)
    return draw_samples(found.results, found.prompt.hash, found.judge, wanted, SAMPLE_SEED)


def order_sample(found: JudgeResults, each: int) -> list[tuple[str, JudgedAnswer]]:
    """Return the sample in the order in which it is read, both groups mixed."""
    return mix_samples(draw_sample(found, each), SAMPLE_SEED)


def verdicts_by_person(
    found: JudgeResults, rows: Iterable[StoredEntry]
) -> dict[str, dict[tuple[str, str], StoredEntry]]:
    """Return people's verdicts on a judge's sample, for unchanged answers only.

    The result has the newest row by person, then by case and model.
    """
    wanted = sample_id(found)
    by_person: dict[str, dict[tuple[str, str], StoredEntry]] = {}
    for row in rows:
        if row.subject != wanted or row.value is None or not row.case or not row.model:
            continue
        candidate = found.by_answer.get((row.case, row.model))
        if candidate is None or row.answer_digest not in (None, candidate.about.answer_digest):
            continue
        by_person.setdefault(row.person, {})[row.case, row.model] = row
    return by_person


@dataclass(frozen=True)
class ValidationResult:
    """The verdicts of one clinician, or of all together, on the sample's two groups.

    ``who`` is None for all together. Answers on which clinicians differ count as unsure; ``differ``
    is their number.
    """

    who: str | None
    found: GroupShare
    not_found: GroupShare
    differ: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the positive results that clinicians confirmed."""
        return self.found.share


def count_verdicts(found: JudgeResults, rows: Iterable[StoredEntry]) -> list[ValidationResult]:
    """Return each clinician's result; with several, the result of all together comes first."""
    by_person = verdicts_by_person(found, rows)
    words = {
        who: {answer: str((row.value or {}).get("said") or "") for answer, row in told.items()}
        for who, told in by_person.items()
    }
    names = {who: next(iter(told.values())).person_name or who for who, told in by_person.items()}
    each = [
        ValidationResult(names[who], *_sample_shares(found, words[who]))
        for who in sorted(words, key=lambda one: names[one].lower())
    ]
    if len(each) < 2:
        return each
    together, differ = _combine_verdicts(list(words.values()))
    return [ValidationResult(None, *_sample_shares(found, together), differ), *each]


def _combine_verdicts(
    words: Sequence[Mapping[tuple[str, str], str]],
) -> tuple[dict[tuple[str, str], str], int]:
    """Return a verdict by answer (that of all who are sure, else unsure), and the disagreements."""
    agreed: dict[tuple[str, str], str] = {}
    differ = 0
    for answer in dict.fromkeys(one for each in words for one in each):
        said = {each[answer] for each in words if answer in each}
        sure = said - {"unsure"}
        differ += len(sure) > 1
        agreed[answer] = next(iter(sure)) if len(sure) == 1 else "unsure"
    return agreed, differ


def _sample_shares(
    found: JudgeResults, words: Mapping[tuple[str, str], str]
) -> tuple[GroupShare, GroupShare]:
    longest = draw_sample(found, SAMPLE_SIZES[-1])
    first, second = (_sample_share(found, group, longest[group], words) for group in GROUPS)
    return first, second


def _sample_share(
    found: JudgeResults,
    group: Group,
    order: Sequence[tuple[str, JudgedAnswer]],
    words: Mapping[tuple[str, str], str],
) -> GroupShare:
    """Return the share over the shortest sample size that covers the given verdicts.

    The sample may contain answers that were judged later and have no verdict yet.
    """
    said = [words.get((one.about.case, one.about.model), "") for _, one in order]
    told = sum(map(bool, said))
    size = next((one for one in SAMPLE_SIZES if one >= told), SAMPLE_SIZES[-1])
    return compute_share(group, said[:size], found.results)


# Files of failures in words: all versions, verdicts on samples, and marks.

_WORDING_COLUMNS = (
    "failure",
    "version",
    "name",
    "counts",
    "does_not_count",
    "examples",
    "counterexamples",
)
_AUTHOR_COLUMNS = ("by", "at")
_MARK_COLUMNS = (
    "case",
    "model",
    "failure",
    "version",
    "comment",
    *_AUTHOR_COLUMNS,
    "answer_digest",
)
_VALIDATION_COLUMNS = (
    "case",
    "model",
    "failure",
    "version",
    "judge",
    "said",
    *_AUTHOR_COLUMNS,
    "answer_digest",
)


def write_written_failure_files(reviews: Reviews, out: Path) -> tuple[int, int, int]:
    """Write the tables that are not empty into a folder; return the number of rows of each."""
    versions = [
        words for row in reversed(reviews.history(kind=WORDS)) if (words := read_wording(row))
    ]
    _write(
        out / "written_failures.csv",
        (*_WORDING_COLUMNS, *_AUTHOR_COLUMNS),
        map(_wording_record, versions),
    )
    read = [
        _answer_record(row) for row in reviews.current(VALIDATION_KIND) if row.value is not None
    ]
    _write(out / "written_validations.csv", _VALIDATION_COLUMNS, read)
    marks = [
        {"failure": row.subject, **_answer_record(row)}
        for row in reviews.current(MARKS)
        if row.value is not None
    ]
    _write(out / "written_marks.csv", _MARK_COLUMNS, marks)
    return len(versions), len(read), len(marks)


def _answer_record(row: StoredEntry) -> dict[str, Any]:
    return {
        **(row.value or {}),
        "case": row.case,
        "model": row.model,
        "by": row.person,
        "at": row.at.isoformat(),
        "answer_digest": row.answer_digest,
    }


def _wording_record(words: FailureWording) -> dict[str, Any]:
    value = words.value or {}
    lists = {part: "\n".join(value.get(part) or ()) for part in ("examples", "counterexamples")}
    at = words.at.isoformat() if words.at else ""
    more = {"failure": words.failure, "version": words.prompt.hash, "by": words.by, "at": at}
    return {**value, **lists, **more}


def _write(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    listed = list(rows)
    if not listed:
        return
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows({name: row.get(name) for name in columns} for row in listed)
