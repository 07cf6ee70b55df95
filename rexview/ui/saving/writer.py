"""Writes the entries of one request in their order, and reports the outcome of each.

A new kind of entry is one line in :data:`KINDS`: on which page it may be sent, what makes an entry
for the database of it, and whether its writer sees the message of the database when it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from rexview.analysis.written_failures import MARK_KIND as MARK
from rexview.errors import StoreOvertaken, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, Stored, may
from rexview.ui.comments.entries import comment_entry
from rexview.ui.comments.targets import case_targets, score_targets
from rexview.ui.link.pages import seen_by
from rexview.ui.saving.consensus_words import shown_consensus, words_meant
from rexview.ui.saving.curation_entries import CURATION_KINDS, curation_entry
from rexview.ui.saving.entries import (
    ADJUDICATE_PAGE,
    CASE_PAGE,
    CHANGED,
    CURATE_PAGE,
    FAILURES_PAGE,
    MEETING_PAGE,
    PAGE_FILES,
    SCORE_PAGE,
    TASK_PAGES,
    Overtaken,
    Refused,
    SentEntry,
)
from rexview.ui.saving.meeting_entries import MEETING_KINDS, meeting_entries
from rexview.ui.saving.reader_study import Study, adjudicator_slots, shown_names, study_of
from rexview.ui.saving.reader_tasks import TASK_LISTS
from rexview.ui.saving.score_entries import ScoreEntries
from rexview.ui.saving.seen_cases import SEEN, seen_entries
from rexview.ui.saving.task_entries import task_entries
from rexview.ui.written.entries import validation_entry
from rexview.ui.written.mark_entries import mark_entry
from rexview.words import tr

_NEEDED: Final[Mapping[str, str]] = {
    SCORE_PAGE: "score",
    ADJUDICATE_PAGE: "adjudicate",
    CURATE_PAGE: "select",
    MEETING_PAGE: "meeting",
    FAILURES_PAGE: "written_validation",
    **{page: TASK_LISTS[task].kind for page, task in TASK_PAGES.items()},
}
"""The kind of entry that whoever sends from a page must be allowed to write."""
_INVALID: Final = tr("This entry is not valid here. Reload the page.")


class EntryWriter:
    """Writes the entries of one person in one review set.

    Attributes
    ----------
    saved : list of str
        Tokens of entries that are in the database.
    refused : dict of str to str
        Tokens of entries that cannot be taken, each with the reason for its writer.
    replaced : dict of str to mapping
        Tokens of entries that were overtaken, each with what stands in its place.
    """

    def __init__(self, review_set: ReviewSet, reviews: Reviews, person: Person) -> None:
        self.review_set, self.reviews, self.person = review_set, reviews, person
        self.saved: list[str] = []
        self.refused: dict[str, str] = {}
        self.replaced: dict[str, Mapping[str, Any]] = {}
        self._gathered: list[tuple[SentEntry, list[Entry]]] = []

    @cached_property
    def study(self) -> Study:
        """The study as it stands for the person after what was written last."""
        return study_of(self.review_set, self.person)

    @cached_property
    def scores(self) -> ScoreEntries:
        """What makes entries of the Score page that are written together."""
        return ScoreEntries(self.study)

    def write(self, every: Sequence[SentEntry]) -> None:
        """Write entries.

        Raises
        ------
        StoreBusy, StoreFull, StoreUnreachable
            They can be sent again: what was written is not written twice.
        """
        known = self.reviews.saved_tokens([one.token for one in every], self.person.id)
        for sent in every:
            try:
                if sent.token in known:
                    self.saved.append(sent.token)
                else:
                    self._take(sent)
            except Refused as refusal:
                self.refused[sent.token] = str(refusal)
            except Overtaken as overtaken:
                self.replaced[sent.token] = overtaken.value
        self._flush()

    def _take(self, sent: SentEntry) -> None:
        kind = KINDS.get((sent.page, sent.kind))
        if kind is None:
            raise Refused(tr("This is not something that the page sends."))
        if not may_send(self.person, sent.page):
            raise Refused(tr("Your role may not save this."))
        if not kind.together:
            self._flush()  # what it builds on must be in the database
        self._gathered.append((sent, kind.make(self, sent)))
        if not kind.together:
            self._flush()

    def _flush(self) -> None:
        """Write what was gathered; one that the database refuses holds up no other."""
        gathered, self._gathered = self._gathered, []
        self.__dict__.pop("scores", None)
        try:
            self._record(gathered)
        except StoreRefused:
            for sent, entries in gathered:
                try:
                    self._record([(sent, entries)])
                except StoreRefused as error:
                    kind = KINDS[sent.page, sent.kind]
                    self.refused[sent.token] = str(error) if kind.tells_why else _INVALID

    def _record(self, gathered: Sequence[tuple[SentEntry, list[Entry]]]) -> None:
        entries = [entry for _, made in gathered for entry in made]
        if not gathered:
            return
        try:
            self.reviews.record(entries, self.person)
        except StoreOvertaken:
            raise Overtaken({}) from None
        self.saved += [sent.token for sent, _ in gathered]
        if "study" in self.__dict__:
            self.study = self.study.now()

    def current(self, entry: Entry) -> Stored | None:
        """Return the newest row on what an entry is about."""
        rows = self.reviews.current_state().of(entry.kind, self.person.id)
        return rows.get((entry.case, entry.model, entry.subject, entry.picture))


def may_send(person: Person, page: str) -> bool:
    """Whether a person sees a page, and may save what is given there."""
    if page not in PAGE_FILES or person.role not in seen_by(PAGE_FILES[page]):
        return False
    return page not in _NEEDED or may(person, _NEEDED[page])


def _scores(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    return writer.scores.make(sent)


def _task(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    return task_entries(writer.study, TASK_PAGES[sent.page], sent)


def _comment(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    if sent.page == CASE_PAGE:
        if writer.review_set.case(sent.case) is None:
            raise Refused(tr("There is no such case any more."))
        targets = case_targets(writer.review_set, sent.case)
    elif writer.study.has(sent.case):
        targets = score_targets(writer.study, sent.case)
    else:
        raise Refused(tr("This case is not on your list."))
    return [comment_entry(sent, targets, writer.reviews, writer.person)]


def _verdict(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    """Make a verdict from the Case page: on the answer that was read, also if it was changed."""
    value = _fields(sent.value, "verdict", "comment")
    entry = sent.on_shown(value)
    row = writer.current(entry)
    same_answer = row is not None and row.answer_digest in (None, sent.shown)
    _check_unseen(sent, row, value, row.value if row and same_answer else None)
    return [entry]


def _mark(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    row = writer.current(Entry(MARK, sent.case, sent.slot, sent.subject))
    return [mark_entry(writer.review_set, writer.reviews, sent, row)]


def _consensus(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    slot, key = sent.slot or "", writer.reviews.letter_key()
    reader, slots = adjudicator_slots(writer.review_set, sent.case, writer.person, key)
    shown = shown_names(writer.review_set, sent.case, slots, reader=reader, key=key)
    if slot not in slots or sent.shown != shown[slot]:
        raise Refused(CHANGED)
    was, value = (_fields(one, "score", "comment") for one in (sent.was, sent.value))
    entry = Entry(
        "adjudicate",
        sent.case,
        slots[slot],
        sent.subject,
        sent.picture,
        value,
        sent.token,
        sent.page,
    )
    row = writer.current(entry)
    # Compared as it is shown: told by the words, what is covered could be found by guessing.
    stands = shown_consensus(writer.review_set, writer.reviews, writer.person, row)
    if row is not None and stands not in (was, value):
        raise Overtaken({})
    seen = (row.value,) if row is not None else (_fields(None, "score", "comment"), None)
    value["comment"] = words_meant(writer.review_set, writer.reviews, entry)
    return [replace(entry, value=value, over=seen)]


def _curation(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    about = Entry(sent.kind, sent.case, subject=sent.subject)
    state = writer.reviews.current_state()
    return [curation_entry(writer.review_set, state, writer.current(about), sent)]


def _meeting(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    return meeting_entries(writer.review_set, writer.reviews, writer.person, sent)


def _validation(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    return [validation_entry(writer.review_set, writer.reviews, writer.person, sent)]


def _seen(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    """Make what is not recorded yet of a case that was seen before its page was left."""
    return seen_entries(writer.review_set, writer.reviews, writer.person, [sent.case])


def _fields(value: Any, *names: str) -> dict[str, Any]:
    """Return some fields of a value, None for those that are absent or empty."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    return {name: None if given.get(name) == "" else given.get(name) for name in names}


def _check_unseen(
    sent: SentEntry, row: Stored | None, value: Mapping[str, Any], stands: Any
) -> None:
    """As :meth:`SentEntry.check_unseen`, of values with these fields."""
    was = _fields(sent.was, *value)
    replace(sent, was=was, value=value).check_unseen(row, _fields(stands, *value), {})


@dataclass(frozen=True)
class _Kind:
    """How one kind of entry is made.

    ``together`` lets several be written in one transaction, each made on top of those before it.
    ``tells_why`` is False where the message of the database could name a model.
    """

    make: Callable[[EntryWriter, SentEntry], list[Entry]]
    together: bool = False
    tells_why: bool = True


KINDS: Final[Mapping[tuple[str, str], _Kind]] = {
    (SCORE_PAGE, "score"): _Kind(_scores, together=True, tells_why=False),
    (SCORE_PAGE, "verdict"): _Kind(_scores, together=True, tells_why=False),
    (SCORE_PAGE, "skip"): _Kind(_scores, together=True, tells_why=False),
    (SCORE_PAGE, "reveal"): _Kind(_scores, tells_why=False),
    (SCORE_PAGE, "comment"): _Kind(_comment),
    (SCORE_PAGE, "resolve"): _Kind(_comment),
    (CASE_PAGE, "verdict"): _Kind(_verdict),
    (CASE_PAGE, MARK): _Kind(_mark),
    (CASE_PAGE, "comment"): _Kind(_comment),
    (CASE_PAGE, "resolve"): _Kind(_comment),
    (CASE_PAGE, SEEN): _Kind(_seen, together=True),
    (ADJUDICATE_PAGE, "adjudicate"): _Kind(_consensus, tells_why=False),
    **{(CURATE_PAGE, kind): _Kind(_curation) for kind in CURATION_KINDS},
    **{(MEETING_PAGE, kind): _Kind(_meeting) for kind in MEETING_KINDS},
    (FAILURES_PAGE, "written_validation"): _Kind(_validation),
    **{(page, "reveal"): _Kind(_task, tells_why=False) for page in TASK_PAGES},
    ("answer questions", "choose"): _Kind(_task, tells_why=False),
    ("compare reports", "prefer"): _Kind(_task, tells_why=False),
    ("correct reports", "edit"): _Kind(_task, tells_why=False),
    ("correct reports", "corrected"): _Kind(_task, tells_why=False),
    ("correct reports", "reference"): _Kind(_task, tells_why=False),
}
