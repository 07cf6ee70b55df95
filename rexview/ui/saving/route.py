"""The HTTP route that takes what people enter: scores, verdicts, comments, consensus.

Browsers (:file:`outbox.js`) send entries here and not through the page's script, so that they
arrive whatever the script is doing, and repeat them until they are confirmed. Where answers have
letters, which model a letter stands for is worked out here. What goes back names no model, and
tells only what the writer gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from threading import Lock
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rexview.analysis.study import case_of_item
from rexview.errors import NotAdmitted, RexviewError, StoreError, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.ui.access import sign_in
from rexview.ui.access.page_requests import NOT_KEPT, RequestRefused, json_body
from rexview.ui.saving.curation_entries import written_json
from rexview.ui.saving.decision_state import presented_json
from rexview.ui.saving.entries import (
    CURATE_PAGE,
    FAILURES_PAGE,
    MEETING_PAGE,
    SCORE_PAGE,
    TASK_PAGES,
    SentEntry,
    read_entry,
)
from rexview.ui.saving.outbox import ADDRESS, KIND
from rexview.ui.saving.reader_study import given_json
from rexview.ui.saving.reader_tasks import TASK_LISTS
from rexview.ui.saving.writer import EntryWriter, may_send
from rexview.ui.server import review_sets, server_state
from rexview.ui.server.sealed_tokens import LinkRefused
from rexview.ui.written.entries import round_sent
from rexview.ui.written.round import own_json
from rexview.words import tr

LONGEST_BODY: Final = 1_000_000
MOST_ENTRIES: Final = 200


Hides = Callable[[str, str, str, Person], bool]
"""Whether a meeting that is held has not shown a case yet to somebody: of set, meeting and case."""


async def take_entries(request: Request, *, hides: Hides) -> Response:
    """Take entries of a person; the answer says which of them are in the database."""
    try:
        body = await _body(request)
        reply = await run_in_threadpool(_take, request, body, hides)
    except RequestRefused as refusal:
        return refusal.answer()
    return JSONResponse(reply, headers=NOT_KEPT)


async def _body(request: Request) -> Mapping[str, Any]:
    found = await json_body(request, LONGEST_BODY)
    if not isinstance(found.get("entries"), list):
        raise RequestRefused(422, tr("This is not what a page of ours sends."))
    if len(found["entries"]) > MOST_ENTRIES:
        raise RequestRefused(413, tr("Too much was sent at once."))
    return found


def _take(request: Request, body: Mapping[str, Any], hides: Hides) -> dict[str, Any]:
    try:
        person, review_set = _writer(request, str(body.get("ticket")))
        sent = _entries(body["entries"])
        review_set = review_sets.looked_at(review_set, _cases_named(sent, body))
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
        message = tr("The page is too old to save; it is being renewed.")
        raise RequestRefused(403, message, renew=True) from None
    except NotAdmitted as error:
        raise RequestRefused(401, str(error)) from None
    except StoreRefused:  # its words may name a model
        raise RequestRefused(503, tr("The entries were refused.")) from None
    except StoreError as error:
        raise RequestRefused(503, str(error)) from None
    except RexviewError:
        raise RequestRefused(503, tr("The review set cannot be opened at the moment.")) from None


def _cases_named(sent: Sequence[SentEntry], body: Mapping[str, Any]) -> list[str]:
    """Return the cases that are sent about, and the one on the screen, which is told of."""
    named = [(one.page, one.case) for one in sent]
    if isinstance(shown := body.get("case"), str):
        named.append((str(body.get("page")), shown))
    return [case_of_item(TASK_PAGES.get(page, "score"), case) for page, case in named]


def _entries(raw: Sequence[Any]) -> list[SentEntry]:
    try:
        return [read_entry(one) for one in raw]
    except ValueError as error:
        raise RequestRefused(422, str(error)) from None


def _writer(request: Request, ticket: str) -> tuple[Person, ReviewSet]:
    """Find out who sends, and to which review set."""
    grant = server_state.signer().check(ticket)
    if grant.kind != KIND:
        raise LinkRefused(tr("This link is for something else."))
    person = sign_in.who_asks(request, grant, Person(*grant.detail))
    if person is None:
        raise NotAdmitted(tr("You are not signed in. Sign in again."), again=True)
    return person, review_sets.open_set(review_sets.folder_of(grant.set_id))


def _reply(
    writer: EntryWriter, sent: Sequence[SentEntry], body: Mapping[str, Any], hides: Hides
) -> dict[str, Any]:
    """Say what became of the entries, and to the score pad how its cases stand then."""
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
        "own": {case: given_json(study, case) for case in known},
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
    """Say to whoever is at a task how its items stand."""
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
    """Say to whoever curates what stands on the candidates of their studies."""
    state = writer.reviews.current_state()
    if not may_send(writer.person, CURATE_PAGE):
        return {"revision": state.revision}
    studies = {one.case for one in sent if one.page == CURATE_PAGE} | {shown}
    known = [one for one in studies if isinstance(one, str)]
    return {
        "page": CURATE_PAGE,
        "revision": state.revision,
        "own": {study: written_json(state, writer.person, study) for study in known},
    }


def _written_reply(writer: EntryWriter, sent: Sequence[SentEntry]) -> dict[str, Any]:
    """Say to whoever reads a sample what they have said of its answers; nothing of the judge."""
    reply: dict[str, Any] = {"page": FAILURES_PAGE, "revision": writer.reviews.revision()}
    given = [one for one in sent if one.page == FAILURES_PAGE]
    if not given or not may_send(writer.person, FAILURES_PAGE):
        return reply
    now = round_sent(writer.review_set, writer.reviews, writer.person, given[-1])
    items = [one.case for one in given if now is not None and one.case in now.items]
    return {**reply, "own": {item: own_json(now, item) for item in items if now is not None}}


def _meeting_reply(writer: EntryWriter, body: Mapping[str, Any], hides: Hides) -> dict[str, Any]:
    """Say to whoever leads a meeting what it has decided about the case on the screen.

    Who follows it is told of cases that were shown, whatever else their role lets them see.
    """
    revision = writer.reviews.revision()
    about = body.get("meeting"), body.get("case")
    meeting_id, case = (one if isinstance(one, str) else "" for one in about)
    if not may_send(writer.person, MEETING_PAGE) or writer.review_set.case(case) is None:
        return {"page": MEETING_PAGE, "revision": revision}
    set_id = review_sets.set_id(writer.review_set.folder)
    if hides(set_id, meeting_id, case, writer.person):
        return {"page": MEETING_PAGE, "revision": revision}
    written = review_sets.newest(writer.review_set)
    told = presented_json(written, writer.reviews, meeting_id, case)
    return {"page": MEETING_PAGE, "revision": revision, "meeting": meeting_id, "own": {case: told}}


_LOCKS: Final = tuple(Lock() for _ in range(64))


def _lock(key: str, person: str) -> Lock:
    """Return what makes a person's entries from two tabs come one after the other."""
    return _LOCKS[hash((key, person)) % len(_LOCKS)]


def routes(hides: Hides = lambda *_: False) -> list[Route]:
    """Return the routes to mount beside Streamlit's own, under the app's base path."""
    address = f"{server_state.base_path()}/{ADDRESS}"
    return [Route(address, partial(take_entries, hides=hides), methods=["POST"])]
