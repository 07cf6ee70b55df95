"""The failures that people wrote in words, and the versions of their words.

They are written on the page Failures, and kept with the reviews; a file ``prompts/failures`` of the
set has others, or those of the same name until somebody edits them on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rexview.analysis.written.runs import written_runs
from rexview.errors import SettingsError, StoreError
from rexview.judge.written.words import (
    FIELD,
    find_written,
    name_of,
    wording_of,
    written_in_files,
)
from rexview.models.asking.prompts import is_name
from rexview.models.backend import Prompt
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.store import Reviews, Stored, open_reviews

KIND: Final = "written_failure"
SHORT: Final = 12
"""So many figures of a version's digest stand in links, on pages and behind ``NAME@``."""


@dataclass(frozen=True)
class Words:
    """One version of a failure's words; ``by`` and ``at`` are None where a file or a run has it.

    ``value`` is what the reviews have, None for words of a file.
    """

    prompt: Prompt
    by: str | None = None
    at: datetime | None = None
    value: Mapping[str, Any] | None = None

    @property
    def failure(self) -> str:
        """The name in links and on the command line."""
        return name_of(self.prompt)

    @property
    def version(self) -> str:
        """What names these words and no others."""
        return self.prompt.hash[:SHORT]


def written_failures(folder: Path, rows: Iterable[Stored]) -> tuple[list[Words], list[str]]:
    """Return the failures of a set in their newest words, by title; and what cannot be used.

    ``rows`` are those of the reviews that stand.
    """
    found, problems = _in_files(folder)
    for row in rows:
        subject = row.subject or ""
        if is_name(subject):
            if (words := words_of_row(row)) is not None:
                found[subject] = words
            elif not row.intact:
                problems.append(
                    f"{subject}: its words were changed outside the app, and are left out."
                )
    return _by_title(found.values()), problems


def standing_failures(review_set: ReviewSet) -> dict[str, Words]:
    """Return the failures of a set in their newest words by name, in the order of their titles.

    ``review_set`` has what was written (:func:`rexview.store.merged`).
    """
    found, _ = _in_files(review_set.folder)
    for one in review_set.written_failures:
        if (words := _words(one.failure, one.value, one.by, one.at)) is not None:
            found[one.failure] = words
    return {one.failure: one for one in _by_title(found.values())}


def _in_files(folder: Path) -> tuple[dict[str, Words], list[str]]:
    """Return the failures that files of a set have in words, and what cannot be used."""
    problems: list[str] = []
    found: dict[str, Words] = {}
    for name in written_in_files(folder):
        try:
            found[name] = Words(find_written(name, folder))
        except SettingsError as error:
            problems += map(str, error.args)
    return found, problems


def _by_title(every: Iterable[Words]) -> list[Words]:
    return sorted(every, key=lambda one: (one.prompt.name.lower(), one.failure))


def versions_of(folder: Path, history: Iterable[Stored], name: str) -> list[Words]:
    """Return all words that a failure ever had, the newest first, those that stand before all.

    ``history`` has the rows of the reviews, newest first. Also those that a run asked with and
    nobody has any more.
    """
    some = [
        words for row in history if row.subject == name and (words := words_of_row(row)) is not None
    ]
    with suppress(SettingsError):
        some.append(Words(find_written(name, folder)))
    some += [Words(run.prompt) for run in written_runs(folder) if name_of(run.prompt) == name]
    by_hash: dict[str, Words] = {}
    for one in some:
        by_hash.setdefault(one.prompt.hash, one)
    return list(by_hash.values())


def find_failure(review_set: ReviewSet, settings: Settings, name: str) -> Prompt:
    """Return the words that a failure has now, or for ``NAME@VERSION`` those of that version.

    Raises
    ------
    SettingsError
        There is none of that name, or no such version of it, or the words cannot be used.
    """
    name, at, version = name.partition("@")
    history = _history(open_reviews(review_set, settings))
    if at:
        known = versions_of(review_set.folder, history, name)
        found = [one for one in known if version and one.prompt.hash.startswith(version)]
        if len(found) != 1:
            raise SettingsError(f"There are no words {version!r:.80} of the failure {name!r:.80}.")
        return found[0].prompt
    stands = next((row for row in history if row.subject == name), None)
    words = words_of_row(stands) if stands is not None else None
    return words.prompt if words is not None else find_written(name, review_set.folder)


def value_of(prompt: Prompt) -> dict[str, Any]:
    """Return the words of a version as a form has them: examples as a list."""
    words = prompt.fields[FIELD]
    value: dict[str, Any] = {part: words.get(part) for part in ("name", "counts", "does_not_count")}
    for part in ("examples", "counterexamples"):
        listed = words.get(part)
        value[part] = listed.removeprefix("\n- ").split("\n- ") if listed else None
    return value


def _history(reviews: Reviews) -> tuple[Stored, ...]:
    """Return the rows of all words, newest first."""
    try:
        return reviews.history(kind=KIND)
    except StoreError as error:
        raise SettingsError(str(error)) from None


def words_of_row(row: Stored) -> Words | None:
    """Return the words of a row; None for those taken away, or that this version cannot use."""
    if row.value is None or not row.subject:
        return None
    return _words(row.subject, row.value, row.person_name or row.person, row.at)


def _words(name: str, value: Mapping[str, Any], by: str, at: datetime) -> Words | None:
    if not is_name(name):
        return None
    given = {part: said for part, said in value.items() if said}
    with suppress(SettingsError):
        return Words(wording_of(name, given, "the reviews"), by, at, value)
    return None
