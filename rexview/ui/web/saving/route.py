"""The HTTP route that saves entries: scores, verdicts, comments, consensus.

Browsers (:file:`outbox.js`) send entries here and not through the page's script. So entries arrive
whatever the script is doing, and browsers repeat them until they are confirmed. Where answers have
letters, the model of a letter is found here. The reply names no model, and contains only what the
writer gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rexview.analysis.query.study_tasks import find_item_case
from rexview.analysis.written_failures import WRITTEN_MARK_KIND as MARK
from rexview.errors import NotAdmitted, RexviewError, StoreError, StoreOvertaken, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, StoredEntry, may_write_kind
from rexview.ui.comments.case_comments import case_targets, comment_entry, score_targets
from rexview.ui.web.access import sign_in
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS, RequestRefused, json_body
from rexview.ui.web.link.pages import roles_of_page
from rexview.ui.web.saving.curation_entries import CURATION_KINDS, candidates_json, curation_entry
from rexview.ui.web.saving.entries import (
    ADJUDICATE_PAGE,
    CASE_PAGE,
    CHANGED,
    CURATE_PAGE,
    FAILURES_PAGE,
    MEETING_PAGE,
    PAGE_FILES,
    SCORE_PAGE,
    TASK_PAGES,
    EntryConflict,
    EntryRefused,
    SentEntry,
    read_entry,
)
from rexview.ui.web.saving.meeting_entries import (
    MEETING_KINDS,
    case_decisions_json,
    meeting_entries,
)
from rexview.ui.web.saving.outbox import ADDRESS, KIND
from rexview.ui.web.saving.reader_entries import ScoreEntries, task_entries
from rexview.ui.web.saving.reader_study import (
    ReaderStudy,
    adjudicator_slots,
    case_record_json,
    load_reader_study,
    original_comment,
    shown_answer_ids,
    visible_consensus,
)
from rexview.ui.web.saving.reader_tasks import TASK_LISTS
from rexview.ui.web.saving.seen_cases import SEEN, seen_entries
from rexview.ui.web.saving.written_failure_entries import (
    mark_entry,
    own_json,
    validation_entry,
    validation_round_of,
)
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import LinkRefused
from rexview.words import tr

# Writes the entries of one request in their order, and reports the outcome of each.
#
# A new kind of entry is one line in :data:`KINDS`: the page that may send it, the function that
# makes its database entry, and whether its writer sees the database's message on a refusal.

_NEEDED: Final[Mapping[str, str]] = {
    SCORE_PAGE: "score",
    ADJUDICATE_PAGE: "adjudicate",
    CURATE_PAGE: "select",
    MEETING_PAGE: "meeting",
    FAILURES_PAGE: "written_validation",
    **{page: TASK_LISTS[task].kind for page, task in TASK_PAGES.items()},
}
"""The kind of entry that a sender from each page must be allowed to write."""
_INVALID: Final = tr("This entry is not valid here. Reload the page.")


class EntryWriter:
    """Writes the entries of one person in one review set.

    Attributes
    ----------
    saved : list of str
        Tokens of entries that are in the database.
    refused : dict of str to str
        Tokens of entries that cannot be accepted, each with the reason for its writer.
    replaced : dict of str to mapping
        Tokens of entries that were overtaken, each with the stored value.
    """

    def __init__(self, review_set: ReviewSet, reviews: Reviews, person: Person) -> None:
        self.review_set, self.reviews, self.person = review_set, reviews, person
        self.saved: list[str] = []
        self.refused: dict[str, str] = {}
        self.replaced: dict[str, Mapping[str, Any]] = {}
        self._gathered: list[tuple[SentEntry, list[Entry]]] = []

    @cached_property
    def study(self) -> ReaderStudy:
        """The person's study with all that was written so far."""
        return load_reader_study(self.review_set, self.person)

    @cached_property
    def scores(self) -> ScoreEntries:
        """The maker of entries of the Score page that are written together."""
        return ScoreEntries(self.study)

    def write(self, every: Sequence[SentEntry]) -> None:
        """Write entries.

        Raises
        ------
        StoreBusy, StoreFull, StoreUnreachable
            The entries can be sent again: written entries are not written twice.
        """
        known = self.reviews.saved_tokens([one.token for one in every], self.person.id)
        for sent in every:
            try:
                if sent.token in known:
                    self.saved.append(sent.token)
                else:
                    self._take(sent)
            except EntryRefused as refusal:
                self.refused[sent.token] = str(refusal)
            except EntryConflict as overtaken:
                self.replaced[sent.token] = overtaken.value
        self._flush()

    def _take(self, sent: SentEntry) -> None:
        kind = KINDS.get((sent.page, sent.kind))
        if kind is None:
            raise EntryRefused(tr("This request does not come from this page."))
        if not may_send(self.person, sent.page):
            raise EntryRefused(tr("Your role may not save this."))
        if not kind.together:
            self._flush()  # its basis must be in the database
        self._gathered.append((sent, kind.make(self, sent)))
        if not kind.together:
            self._flush()

    def _flush(self) -> None:
        """Write the collected entries; one that the database refuses does not block the others."""
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
            raise EntryConflict({}) from None
        self.saved += [sent.token for sent, _ in gathered]
        if "study" in self.__dict__:
            self.study = self.study.now()

    def current(self, entry: Entry) -> StoredEntry | None:
        """Return the newest row on the subject of an entry."""
        rows = self.reviews.current_state().of(entry.kind, self.person.id)
        return rows.get((entry.case, entry.model, entry.subject, entry.picture))


def may_send(person: Person, page: str) -> bool:
    """Return whether a person may see a page and save its entries."""
    if page not in PAGE_FILES or person.role not in roles_of_page(PAGE_FILES[page]):
        return False
    return page not in _NEEDED or may_write_kind(person, _NEEDED[page])


def _scores(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    return writer.scores.make(sent)


def _task(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    return task_entries(writer.study, TASK_PAGES[sent.page], sent)


def _comment(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    if sent.page == CASE_PAGE:
        if writer.review_set.case(sent.case) is None:
            raise EntryRefused(tr("This case no longer exists."))
        targets = case_targets(writer.review_set, sent.case)
    elif writer.study.has(sent.case):
        targets = score_targets(writer.study, sent.case)
    else:
        raise EntryRefused(tr("This case is not on your list."))
    return [comment_entry(sent, targets, writer.reviews, writer.person)]


def _verdict(writer: EntryWriter, sent: SentEntry) -> list[Entry]:
    """Make a verdict from the Case page on the answer that was read, even if it changed since."""
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
    shown = shown_answer_ids(writer.review_set, sent.case, slots, reader=reader, key=key)
    if slot not in slots or sent.shown != shown[slot]:
        raise EntryRefused(CHANGED)
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
    # Compared in covered form: comparing the originals would let covered names be guessed.
    stands = visible_consensus(writer.review_set, writer.reviews, writer.person, row)
    if row is not None and stands not in (was, value):
        raise EntryConflict({})
    seen = (row.value,) if row is not None else (_fields(None, "score", "comment"), None)
    value["comment"] = original_comment(writer.review_set, writer.reviews, entry)
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
    """Make missing entries for a case that was seen before its page was left."""
    return seen_entries(writer.review_set, writer.reviews, writer.person, [sent.case])


def _fields(value: Any, *names: str) -> dict[str, Any]:
    """Return the named fields of a value, None for absent or empty ones."""
    given: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    return {name: None if given.get(name) == "" else given.get(name) for name in names}


def _check_unseen(
    sent: SentEntry, row: StoredEntry | None, value: Mapping[str, Any], stands: Any
) -> None:
    """As :meth:`SentEntry.check_unseen`, for values with these fields."""
    was = _fields(sent.was, *value)
    replace(sent, was=was, value=value).check_unseen(row, _fields(stands, *value), {})


@dataclass(frozen=True)
class _EntryKind:
    """How one kind of entry is made.

    ``together`` lets several be written in one transaction, each based on those before it.
    ``tells_why`` is False where the message of the database could name a model.
    """

    make: Callable[[EntryWriter, SentEntry], list[Entry]]
    together: bool = False
    tells_why: bool = True


KINDS: Final[Mapping[tuple[str, str], _EntryKind]] = {
    (SCORE_PAGE, "score"): _EntryKind(_scores, together=True, tells_why=False),
    (SCORE_PAGE, "verdict"): _EntryKind(_scores, together=True, tells_why=False),
    (SCORE_PAGE, "skip"): _EntryKind(_scores, together=True, tells_why=False),
    (SCORE_PAGE, "reveal"): _EntryKind(_scores, tells_why=False),
    (SCORE_PAGE, "comment"): _EntryKind(_comment),
    (SCORE_PAGE, "resolve"): _EntryKind(_comment),
    (CASE_PAGE, "verdict"): _EntryKind(_verdict),
    (CASE_PAGE, MARK): _EntryKind(_mark),
    (CASE_PAGE, "comment"): _EntryKind(_comment),
    (CASE_PAGE, "resolve"): _EntryKind(_comment),
    (CASE_PAGE, SEEN): _EntryKind(_seen, together=True),
    (ADJUDICATE_PAGE, "adjudicate"): _EntryKind(_consensus, tells_why=False),
    **{(CURATE_PAGE, kind): _EntryKind(_curation) for kind in CURATION_KINDS},
    **{(MEETING_PAGE, kind): _EntryKind(_meeting) for kind in MEETING_KINDS},
    (FAILURES_PAGE, "written_validation"): _EntryKind(_validation),
    **{(page, "reveal"): _EntryKind(_task, tells_why=False) for page in TASK_PAGES},
    ("answer questions", "choose"): _EntryKind(_task, tells_why=False),
    ("compare reports", "prefer"): _EntryKind(_task, tells_why=False),
    ("correct reports", "edit"): _EntryKind(_task, tells_why=False),
    ("correct reports", "corrected"): _EntryKind(_task, tells_why=False),
    ("correct reports", "reference"): _EntryKind(_task, tells_why=False),
}


LONGEST_BODY: Final = 1_000_000
MOST_ENTRIES: Final = 200


HiddenCaseCheck = Callable[[str, str, str, Person], bool]
"""Whether a running meeting has not yet shown a case to a person: (set, meeting, case, person)."""


async def take_entries(request: Request, *, hides: HiddenCaseCheck) -> Response:
    """Save entries of a person; the response lists those that are in the database."""
    try:
        body = await _body(request)
        reply = await run_in_threadpool(_take, request, body, hides)
    except RequestRefused as refusal:
        return refusal.answer()
    return JSONResponse(reply, headers=NO_STORE_HEADERS)


async def _body(request: Request) -> Mapping[str, Any]:
    found = await json_body(request, LONGEST_BODY)
    if not isinstance(found.get("entries"), list):
        raise RequestRefused(422, tr("This request does not come from this app."))
    if len(found["entries"]) > MOST_ENTRIES:
        raise RequestRefused(413, tr("Too much was sent at once."))
    return found


def _take(request: Request, body: Mapping[str, Any], hides: HiddenCaseCheck) -> dict[str, Any]:
    try:
        person, review_set = _writer(request, str(body.get("ticket")))
        sent = _entries(body["entries"])
        review_set = review_sets.with_cases_loaded(review_set, _cases_named(sent, body))
        pages = {one.page for one in sent} or {str(body.get("page") or SCORE_PAGE)}
        if not any(may_send(person, page) for page in pages):
            of_scores = pages == {SCORE_PAGE}
            why = (
                tr("Your role may not score.") if of_scores else tr("Your role may not save this.")
            )
            raise RequestRefused(403, why)
        reviews = review_sets.reviews(review_set)
        with _lock(reviews.key, person.id):
            writer = EntryWriter(review_set, reviews, person)
            writer.write(sent)
            return _reply(writer, sent, body, hides)
    except LinkRefused:
        message = tr("The page is too old to save; it is being refreshed.")
        raise RequestRefused(403, message, renew=True) from None
    except NotAdmitted as error:
        raise RequestRefused(401, str(error)) from None
    except StoreRefused:  # its message may name a model
        raise RequestRefused(503, tr("The entries were refused.")) from None
    except StoreError as error:
        raise RequestRefused(503, str(error)) from None
    except RexviewError:
        raise RequestRefused(503, tr("The review set cannot be opened at the moment.")) from None


def _cases_named(sent: Sequence[SentEntry], body: Mapping[str, Any]) -> list[str]:
    """Return the cases of the entries, and the case on the screen, which the reply covers."""
    named = [(one.page, one.case) for one in sent]
    if isinstance(shown := body.get("case"), str):
        named.append((str(body.get("page")), shown))
    return [find_item_case(TASK_PAGES.get(page, "score"), case) for page, case in named]


def _entries(raw: Sequence[Any]) -> list[SentEntry]:
    try:
        return [read_entry(one) for one in raw]
    except ValueError as error:
        raise RequestRefused(422, str(error)) from None


def _writer(request: Request, ticket: str) -> tuple[Person, ReviewSet]:
    """Return the sender and the review set."""
    grant = server_state.signer().check(ticket)
    if grant.kind != KIND:
        raise LinkRefused(tr("This link is for something else."))
    person = sign_in.find_sender(request, grant, Person(*grant.detail))
    if person is None:
        raise NotAdmitted(tr("You are not signed in. Sign in again."), again=True)
    return person, review_sets.open_set(review_sets.folder_of(grant.set_id))


def _reply(
    writer: EntryWriter, sent: Sequence[SentEntry], body: Mapping[str, Any], hides: HiddenCaseCheck
) -> dict[str, Any]:
    """Return the outcome of the entries and, for the score pad, the new states of its cases."""
    reply: dict[str, Any] = {
        "saved": writer.saved,
        "refused": writer.refused,
        "replaced": writer.replaced,
    }
    if (page := body.get("page")) in TASK_PAGES:
        return {**reply, **_task_reply(writer, str(page), sent, body.get("case"))}
    if page == CURATE_PAGE:
        return {**reply, **_curate_reply(writer, sent, body.get("case"))}
    if page == FAILURES_PAGE:
        return {**reply, **_written_reply(writer, sent)}
    if page == MEETING_PAGE:
        return {**reply, **_meeting_reply(writer, body, hides)}
    scored = {one.case for one in sent if one.page == SCORE_PAGE}
    if not may_send(writer.person, SCORE_PAGE) or not (scored or "case" in body):
        return {**reply, "revision": writer.reviews.revision()}
    study = writer.study
    shown = body.get("case")
    cases = {*scored, shown if isinstance(shown, str) else None}
    known = study.in_order(case for case in cases if case is not None)
    progress = study.progress
    return {
        **reply,
        "revision": study.given.state.revision,
        "own": {case: case_record_json(study, case) for case in known},
        "states": {case: study.state(case) for case in known},
        "progress": {
            "done": progress.done,
            "skipped": progress.skipped,
            "total": progress.total,
        },
    }


def _task_reply(
    writer: EntryWriter, page: str, sent: Sequence[SentEntry], shown: Any
) -> dict[str, Any]:
    """Return the states of the sender's task items."""
    if not may_send(writer.person, page):
        return {"revision": writer.reviews.revision()}
    tasks = TASK_LISTS[TASK_PAGES[page]](writer.study)
    items = {one.case for one in sent if one.page == page}
    known = [item for item in {*items, shown} if isinstance(item, str) and tasks.has(item)]
    return {
        "page": page,
        "revision": writer.study.given.state.revision,
        "own": {item: tasks.own(item) for item in known},
        "states": {item: tasks.state(item) for item in known},
        "progress": asdict(tasks.progress),
    }


def _curate_reply(writer: EntryWriter, sent: Sequence[SentEntry], shown: Any) -> dict[str, Any]:
    """Return the history's values for the candidates in the sender's studies."""
    state = writer.reviews.current_state()
    if not may_send(writer.person, CURATE_PAGE):
        return {"revision": state.revision}
    studies = {one.case for one in sent if one.page == CURATE_PAGE} | {shown}
    known = [one for one in studies if isinstance(one, str)]
    return {
        "page": CURATE_PAGE,
        "revision": state.revision,
        "own": {study: candidates_json(state, writer.person, study) for study in known},
    }


def _written_reply(writer: EntryWriter, sent: Sequence[SentEntry]) -> dict[str, Any]:
    """Return the sender's own judgments of the sample's answers; nothing of the judge."""
    reply: dict[str, Any] = {"page": FAILURES_PAGE, "revision": writer.reviews.revision()}
    given = [one for one in sent if one.page == FAILURES_PAGE]
    if not given or not may_send(writer.person, FAILURES_PAGE):
        return reply
    now = validation_round_of(writer.review_set, writer.reviews, writer.person, given[-1])
    items = [one.case for one in given if now is not None and one.case in now.items]
    return {**reply, "own": {item: own_json(now, item) for item in items if now is not None}}


def _meeting_reply(
    writer: EntryWriter, body: Mapping[str, Any], hides: HiddenCaseCheck
) -> dict[str, Any]:
    """Return a meeting's decisions about the case on the screen, for its leader.

    A follower of the meeting gets only shown cases, whatever else their role lets them see.
    """
    revision = writer.reviews.revision()
    about = body.get("meeting"), body.get("case")
    meeting_id, case = (one if isinstance(one, str) else "" for one in about)
    if not may_send(writer.person, MEETING_PAGE) or writer.review_set.case(case) is None:
        return {"page": MEETING_PAGE, "revision": revision}
    set_id = review_sets.set_id(writer.review_set.folder)
    if hides(set_id, meeting_id, case, writer.person):
        return {"page": MEETING_PAGE, "revision": revision}
    written = review_sets.with_current_reviews(writer.review_set)
    told = case_decisions_json(written, writer.reviews, meeting_id, case)
    return {"page": MEETING_PAGE, "revision": revision, "meeting": meeting_id, "own": {case: told}}


_LOCKS: Final = tuple(Lock() for _ in range(64))


def _lock(key: str, person: str) -> Lock:
    """Return a lock that puts a person's entries from two tabs one after the other."""
    return _LOCKS[hash((key, person)) % len(_LOCKS)]


def routes(hides: HiddenCaseCheck = lambda *_: False) -> list[Route]:
    """Return the routes to mount besides Streamlit's own, under the app's base path."""
    address = f"{server_state.base_path()}/{ADDRESS}"
    return [Route(address, partial(take_entries, hides=hides), methods=["POST"])]
