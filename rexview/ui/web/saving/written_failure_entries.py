"""Entries for people's judgments of written failures, and the sample that they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from rexview.analysis.query.engine import Position
from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WORDS
from rexview.analysis.written_failures import (
    WRITTEN_MARK_KIND,
    list_wordings,
    list_written_failures,
)
from rexview.analysis.written_results import (
    SAMPLE_SIZES,
    VALIDATION_KIND,
    JudgeResults,
    find_results_by_name,
    order_sample,
    sample_id,
    verdicts_by_person,
)
from rexview.judge.subjects import JudgeSubject
from rexview.judge.written import JudgedAnswer, find_written_name
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, StoredEntry
from rexview.store.current_state import CurrentState
from rexview.ui.web.saving.entries import CHANGED, EntryRefused, SentEntry, fields_of_kind
from rexview.words import tr

# The current sample of answers that a clinician reads for a written failure.


@dataclass(frozen=True)
class ValidationRound:
    """A person's reading of a sample of one judge's findings in one version of the failure's text.

    An item's name reveals neither the answer nor the judge's finding.
    """

    review_set: ReviewSet
    person: Person
    state: CurrentState
    found: JudgeResults
    size: int

    @cached_property
    def items(self) -> Mapping[str, JudgedAnswer]:
        """The answers of the sample by item, in the order in which they are read."""
        return dict(order_sample(self.found, self.size))

    @cached_property
    def listed(self) -> Sequence[str]:
        """The items in reading order."""
        return list(self.items)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item: place for place, item in enumerate(self.listed)}

    @cached_property
    def _told(self) -> Mapping[tuple[str, str], Any]:
        rows = self.state.of(VALIDATION_KIND, self.person.id).values()
        return verdicts_by_person(self.found, rows).get(self.person.id, {})

    def subject(self, item: str) -> JudgeSubject:
        """Return an answer of the sample as the judge received it."""
        return self.found.subject[self.items[item].about]

    def said(self, item: str) -> str | None:
        """Return the person's judgment of an item; None if there is none."""
        about = self.items[item].about
        row = self._told.get((about.case, about.model))
        return None if row is None else str(row.value["said"])

    @cached_property
    def done(self) -> int:
        """Number of items that the person has judged."""
        return sum(self.said(item) is not None for item in self.listed)

    def position(self, item: str) -> Position:
        """Return the position of an item in the sample."""
        place, total = self._places.get(item), len(self.listed)
        if place is None:
            return Position(None, total, None, None)
        before = self.listed[place - 1] if place else None
        after = self.listed[place + 1] if place + 1 < total else None
        return Position(place + 1, total, before, after)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return at most ``size`` items from index ``start``."""
        return self.listed[start : start + size]

    def item_of(self, wanted: str | None) -> str | None:
        """Return the wanted item, else the first one not yet judged, else the first."""
        if wanted in self.items:
            return wanted
        still_open = (item for item in self.listed if self.said(item) is None)
        return next(still_open, self.listed[0] if self.listed else None)

    @property
    def history_subject(self) -> str:
        """The subject of the sample in the history."""
        return sample_id(self.found)


def find_validation_round(
    review_set: ReviewSet,
    reviews: Reviews,
    person: Person,
    about: tuple[str, str, str],
    size: int = SAMPLE_SIZES[-1],
) -> ValidationRound | None:
    """Return the round of a failure, the start of its version and a judge.

    None if this judge was not given such a text.

    Raises
    ------
    StoreError
        The written entries cannot be read.
    """
    found = find_results_by_name(review_set, *about)
    if found is None:
        return None
    return ValidationRound(review_set, person, reviews.current_state(), found, size)


def own_json(now: ValidationRound, item: str) -> dict[str, Any]:
    """Return the person's judgment of an item, for their browser; nothing of the judge."""
    return {
        "shown": now.items[item].about.answer_digest,
        "report": True,
        "unblinded": False,
        "revision": now.state.revision,
        "said": now.said(item),
    }


def progress_json(now: ValidationRound) -> dict[str, int]:
    """Return the person's progress."""
    return {"done": now.done, "skipped": 0, "total": len(now.listed)}


FAILURE_REMOVED = tr(
    "This answer is no longer in the sample: answers were judged or changed "
    "since. Continue with the next one."
)


def validation_round_of(
    review_set: ReviewSet, reviews: Reviews, person: Person, sent: SentEntry
) -> ValidationRound | None:
    """Return the round of an entry, which names the failure, version and judge."""
    about = (sent.field or "", sent.subject or "", sent.slot or "")
    return find_validation_round(review_set, reviews, person, about)


def validation_entry(
    review_set: ReviewSet, reviews: Reviews, person: Person, sent: SentEntry
) -> Entry:
    """Make the entry of one judgment: ``yes``, ``no``, ``unsure``, or null to withdraw it.

    Raises
    ------
    EntryRefused
        The answer is not in the sample, or has changed since it was read.
    Overtaken
        Another window saved another judgment that the writer has not seen.
    """
    now = validation_round_of(review_set, reviews, person, sent)
    if now is None or sent.case not in now.items:
        raise EntryRefused(FAILURE_REMOVED)
    about, found = now.items[sent.case].about, now.found
    if sent.shown != about.answer_digest:
        raise EntryRefused(CHANGED)
    value = None
    if sent.value is not None:
        value = {
            "said": sent.value,
            "failure": find_written_name(found.prompt),
            "version": found.prompt.hash,
            "judge": found.judge,
        }
    row = now.state.of(VALIDATION_KIND, person.id).get(
        (about.case, about.model, now.history_subject, None)
    )
    stands = now.said(sent.case)
    sent.check_unseen(row, stands, {"said": stands})
    # the page names neither: the read answer stays unknown
    answer = replace(sent, case=about.case, slot=about.model, subject=now.history_subject)
    return answer.on_shown(value)


# Entries that mark an answer as having a written failure.

_GONE: Final = tr("This failure was removed, or never existed. Reload the page.")


def mark_entry(
    review_set: ReviewSet, reviews: Reviews, sent: SentEntry, row: StoredEntry | None
) -> Entry:
    """Make the entry of one mark, on the answer that was read, even if it changed since.

    ``row`` is the person's newest row on the same subject. Null withdraws a mark, also one of a
    failure that no longer exists.

    Raises
    ------
    EntryRefused
        There is no such failure, or it never had this text.
    Overtaken
        Another window saved something else that the writer has not seen.
    """
    was, value = (
        fields_of_kind(WRITTEN_MARK_KIND, sent.was),
        fields_of_kind(WRITTEN_MARK_KIND, sent.value),
    )
    if value is not None:
        _check_words(review_set, reviews, sent.subject or "", value["version"])
    is_of_answer = row is not None and row.answer_digest in (None, sent.shown)
    stands = row.value if row is not None and is_of_answer else None
    replace(sent, was=was, value=value).check_unseen(row, stands, {})
    return sent.on_shown(value)


def _check_words(review_set: ReviewSet, reviews: Reviews, failure: str, version: object) -> None:
    standing, _ = list_written_failures(review_set.folder, reviews.current(WORDS))
    known = {one.failure for one in standing}
    versions = list_wordings(review_set.folder, reviews.history(kind=WORDS), failure)
    if failure not in known or version not in {one.prompt.hash for one in versions}:
        raise EntryRefused(_GONE)
