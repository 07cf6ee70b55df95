"""Failures in a clinician's words: their versions, the runs of judges, and people's marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.judge_conditions import MarkedCondition
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.errors import RunError, SettingsError, StoreError
from rexview.judge.written import (
    FIELD,
    build_written_wording,
    find_written,
    find_written_name,
    is_written,
    list_failure_files,
)
from rexview.models.asking.prompts import is_prompt_name
from rexview.models.backend import Prompt
from rexview.models.running.run_folder import JUDGING_FOLDER, RunFolder, is_active_run, list_runs
from rexview.models.running.run_spec import read_run_spec
from rexview.schema import FailureMark, ReviewSet
from rexview.settings import Settings
from rexview.store import Reviews, StoredEntry, open_reviews

# Runs in which judges looked for failures in words, and the state of their logs.


@dataclass(frozen=True)
class WrittenRun:
    """A run, its judge and the wording that it used."""

    folder: RunFolder
    judge: str
    prompt: Prompt


def list_written_runs(set_folder: Path) -> list[WrittenRun]:
    """Return the runs of a set about failures in words, newest first."""
    found = []
    for run in list_runs(set_folder, JUDGING_FOLDER):
        try:
            changed = run.spec.stat().st_mtime_ns
        except OSError:
            continue
        if (known := _read_run(run, changed)) is not None:
            found.append(known)
    return found


@lru_cache(maxsize=512)
def _read_run(run: RunFolder, changed: int) -> WrittenRun | None:
    try:
        spec = read_run_spec(run)
    except RunError:
        return None
    if not is_written(spec.prompt):
        return None
    return WrittenRun(run, spec.parameters.model, spec.prompt)


def results_state_key(
    set_folder: Path, about: tuple[str, str] | None = None
) -> tuple[tuple[str, int], ...]:
    """Return a key for the state of the logs, which changes with the results.

    With ``about``, the digest of a wording and a judge, only these logs count. The key of a running
    run changes only after about a tenth of growth, so that pages do not recompute results with
    every answer.
    """
    return tuple(
        (run.folder.id, _size(run.folder))
        for run in list_written_runs(set_folder)
        if about in (None, (run.prompt.hash, run.judge))
    )


def _size(run: RunFolder) -> int:
    try:
        size = run.log.stat().st_size
    except OSError:
        return 0
    step: int = 10 ** (len(str(size)) - 2) if size > 1_000 else 1
    return -(size // step) if is_active_run(run) else size


WRITTEN_FAILURE_KIND: Final = "written_failure"
DIGEST_LENGTH: Final = 12
"""Digits of a version's digest in links, on pages and after ``NAME@``."""


@dataclass(frozen=True)
class FailureWording:
    """One version of a failure's wording.

    ``by`` and ``at`` are None for a wording from a file or a run. ``value`` is the entry in the
    reviews, None for a wording from a file or a run.
    """

    prompt: Prompt
    by: str | None = None
    at: datetime | None = None
    value: Mapping[str, Any] | None = None

    @property
    def failure(self) -> str:
        """Name in links and on the command line."""
        return find_written_name(self.prompt)

    @property
    def version(self) -> str:
        """Id of this wording: the start of its digest."""
        return self.prompt.hash[:DIGEST_LENGTH]


def list_written_failures(
    folder: Path, rows: Iterable[StoredEntry]
) -> tuple[list[FailureWording], list[str]]:
    """Return the failures of a set in their newest wording, by title, and a list of problems.

    ``rows`` are the current rows of the reviews.
    """
    found, problems = _failures_in_files(folder)
    for row in rows:
        subject = row.subject or ""
        if is_prompt_name(subject):
            if (words := read_wording(row)) is not None:
                found[subject] = words
            elif not row.intact:
                problems.append(
                    f"{subject}: its words were changed outside the app, and are left out."
                )
    return _sort_by_title(found.values()), problems


def current_failures(review_set: ReviewSet) -> dict[str, FailureWording]:
    """Return the current failures of a set in their newest wording, by name, sorted by title.

    ``review_set`` includes people's reviews (:func:`rexview.store.merged`).
    """
    found, _ = _failures_in_files(review_set.folder)
    for one in review_set.written_failures:
        if (words := _make_wording(one.failure, one.value, one.by, one.at)) is not None:
            found[one.failure] = words
    return {one.failure: one for one in _sort_by_title(found.values())}


def _failures_in_files(folder: Path) -> tuple[dict[str, FailureWording], list[str]]:
    """Return the failures in words from a set's files, and a list of problems."""
    problems: list[str] = []
    found: dict[str, FailureWording] = {}
    for name in list_failure_files(folder):
        try:
            found[name] = FailureWording(find_written(name, folder))
        except SettingsError as error:
            problems += map(str, error.args)
    return found, problems


def _sort_by_title(every: Iterable[FailureWording]) -> list[FailureWording]:
    return sorted(every, key=lambda one: (one.prompt.name.lower(), one.failure))


def list_wordings(folder: Path, history: Iterable[StoredEntry], name: str) -> list[FailureWording]:
    """Return all wordings that a failure ever had: the current one first, then the newest.

    ``history`` has the rows of the reviews, newest first. Wordings that only a run still has are
    included.
    """
    some = [
        words for row in history if row.subject == name and (words := read_wording(row)) is not None
    ]
    with suppress(SettingsError):
        some.append(FailureWording(find_written(name, folder)))
    some += [
        FailureWording(run.prompt)
        for run in list_written_runs(folder)
        if find_written_name(run.prompt) == name
    ]
    by_hash: dict[str, FailureWording] = {}
    for one in some:
        by_hash.setdefault(one.prompt.hash, one)
    return list(by_hash.values())


def find_failure_wording(review_set: ReviewSet, settings: Settings, name: str) -> Prompt:
    """Return the current wording of a failure, or for ``NAME@VERSION`` that version's.

    Raises
    ------
    SettingsError
        There is no failure of that name, no such version, or the wording is not valid.
    """
    name, at, version = name.partition("@")
    history = _read_history(open_reviews(review_set, settings))
    if at:
        known = list_wordings(review_set.folder, history, name)
        found = [one for one in known if version and one.prompt.hash.startswith(version)]
        if len(found) != 1:
            raise SettingsError(f"There are no words {version!r:.80} of the failure {name!r:.80}.")
        return found[0].prompt
    stands = next((row for row in history if row.subject == name), None)
    words = read_wording(stands) if stands is not None else None
    return words.prompt if words is not None else find_written(name, review_set.folder)


def make_form_value(prompt: Prompt) -> dict[str, Any]:
    """Return a wording as values for a form, with examples as a list."""
    words = prompt.fields[FIELD]
    value: dict[str, Any] = {part: words.get(part) for part in ("name", "counts", "does_not_count")}
    for part in ("examples", "counterexamples"):
        listed = words.get(part)
        value[part] = listed.removeprefix("\n- ").split("\n- ") if listed else None
    return value


def _read_history(reviews: Reviews) -> tuple[StoredEntry, ...]:
    """Return the rows of all wordings, newest first."""
    try:
        return reviews.history(kind=WRITTEN_FAILURE_KIND)
    except StoreError as error:
        raise SettingsError(str(error)) from None


def read_wording(row: StoredEntry) -> FailureWording | None:
    """Return the wording of a row; None if it was removed, or is not valid in this version."""
    if row.value is None or not row.subject:
        return None
    return _make_wording(row.subject, row.value, row.person_name or row.person, row.at)


def _make_wording(
    name: str, value: Mapping[str, Any], by: str, at: datetime
) -> FailureWording | None:
    if not is_prompt_name(name):
        return None
    given = {part: said for part, said in value.items() if said}
    with suppress(SettingsError):
        return FailureWording(build_written_wording(name, given, "the reviews"), by, at, value)
    return None


# People's marks of failures in words: on a case, and their counts.
#
# Marks are never mixed with a language model's results, nor with flags of built-in failures. A mark
# belongs to the version of the wording that its author read, and to the answer's text at that time.
# Marks of a removed failure are kept and not shown.

WRITTEN_MARK_KIND: Final = "written_mark"


@dataclass(frozen=True)
class MarkedAnswer:
    """One person's mark on an answer, with the failure's current wording."""

    mark: FailureMark
    words: FailureWording

    @property
    def is_earlier(self) -> bool:
        """True if the mark is for an earlier wording."""
        return self.mark.version != self.words.prompt.hash


@dataclass(frozen=True)
class MarkCountRow:
    """The numbers of marked answers and of people, for one model or for all (None)."""

    model: str | None
    answers: LinkedCount
    people: int


@dataclass(frozen=True)
class MarkCounts:
    """The marks of a failure in one version of its wording, or in all: by model, and in all.

    ``elsewhere`` is the number of answers that were marked in other wordings only.
    """

    rows: Sequence[MarkCountRow]
    all: MarkCountRow
    elsewhere: int = 0


def list_marks(review_set: ReviewSet, case: str) -> tuple[MarkedAnswer, ...]:
    """Return people's marks on the answers to a case, by title, including earlier answers.

    ``review_set`` includes people's reviews (:func:`rexview.store.merged`).
    """
    marks = [mark for mark in review_set.marks if mark.case == case]
    return add_wordings(marks, current_failures(review_set)) if marks else ()


def add_wordings(
    marks: Iterable[FailureMark], standing: Mapping[str, FailureWording]
) -> tuple[MarkedAnswer, ...]:
    """Return marks with their failures' wordings, in the order of failures, the oldest first."""
    places = {name: place for place, name in enumerate(standing)}
    found = [MarkedAnswer(one, standing[one.failure]) for one in marks if one.failure in standing]
    return tuple(sorted(found, key=lambda one: places[one.mark.failure]))


def list_counted_marks(review_set: ReviewSet) -> tuple[FailureMark, ...]:
    """Return the marks that count: on unchanged answers, of current failures."""
    marks = [mark for mark in review_set.marks if not mark.stale]
    standing = current_failures(review_set) if marks else {}
    return tuple(mark for mark in marks if mark.failure in standing)


def count_marks(
    marks: Sequence[FailureMark], models: Iterable[str], failure: str, version: str = ""
) -> MarkCounts:
    """Count the answers that people marked with a failure, over all cases, by model in order.

    ``marks`` are those that count (:func:`list_counted_marks`). ``version`` is the start of a
    version's digest; empty means all versions.
    """
    word = str(MarkedCondition(failure, version))
    of_failure = [mark for mark in marks if mark.failure == failure]
    wanted = [mark for mark in of_failure if mark.version.startswith(version)]
    by_model: dict[str, list[FailureMark]] = {}
    for mark in wanted:
        by_model.setdefault(mark.model, []).append(mark)
    return MarkCounts(
        [
            _row(model, by_model[model], CaseFilter(models=(model,), marked=(word,)))
            for model in models
            if model in by_model
        ],
        _row(None, wanted, CaseFilter(marked=(word,))),
        len(_answers(of_failure) - _answers(wanted)),
    )


def _row(model: str | None, marks: Sequence[FailureMark], opens: CaseFilter) -> MarkCountRow:
    people = {mark.reader for mark in marks}
    return MarkCountRow(model, LinkedCount(len(_answers(marks)), opens), len(people))


def _answers(marks: Iterable[FailureMark]) -> set[tuple[str, str]]:
    return {(mark.case, mark.model) for mark in marks}
