"""The HTTP routes of a running meeting: a stream of the shared view, and POST for actions.

Everything here runs on the server's event loop and uses the room there. Only database access and
making a case run in the thread pool. Nobody gets more of a case than was revealed, not even the
presenter's own browser.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rexview.analysis.meetings import Meeting, find_meeting
from rexview.errors import NotAdmitted, RexviewError, StoreError, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry
from rexview.ui.meeting.live import rooms
from rexview.ui.meeting.live.admission import (
    ADDRESS,
    AdmittedPerson,
    admit,
    find_voter,
    join_json,
    new_voter,
    redirect_by_code,
    set_voter_cookie,
)
from rexview.ui.meeting.live.admission import JOIN_ADDRESS as CODES
from rexview.ui.meeting.live.room import KINDS, Room, RoomPlan, RoomRefused, Seat, VoteRefused
from rexview.ui.meeting.live.rooms import ROOMS
from rexview.ui.web.access import permissions
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS, RequestRefused, json_body
from rexview.ui.web.saving.entries import MEETING_PAGE
from rexview.ui.web.saving.seen_cases import seen_entries
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import LinkRefused
from rexview.words import tr

# Updates for a window of a meeting as server-sent events, without a waiting thread.

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # otherwise nginx would buffer events
    "Content-Encoding": "identity",
}
_BEAT_S: Final = 1.0
"""Seconds between two heartbeats, which show proxies and browsers that the stream is alive."""
_ASK_AGAIN: Final = 1
"""Heartbeats between two checks that the person may still follow."""
_WRITE_AGAIN: Final = 5
"""Heartbeats between two attempts to write votes that could not be written."""
_RETRY_MS: Final = 500
"""Milliseconds after which a browser reopens a broken stream."""
_OPEN: Final[set[asyncio.Event]] = set()
_STOPPING: Final = asyncio.Event()


def end_streams() -> None:
    """End all streams: a stopping server waits for its responses to end."""
    _STOPPING.set()
    for wake in _OPEN:
        wake.set()


def begin_streams() -> None:
    """Allow streams to be opened: the server has started."""
    _STOPPING.clear()


class RoomStream(StreamingResponse):
    """An endless response with the newest updates and heartbeats.

    Parameters
    ----------
    room, seat : Room, Seat
        The seat has joined; it is left when the response ends, even if it never started.
    seen : str
        The number of the window's state (``Last-Event-ID``), empty for none.
    may_stay : callable
        Called regularly; the stream ends when it returns False.
    write : callable
        Called regularly for the leader: writes votes that could not be written.
    """

    def __init__(
        self,
        room: Room,
        seat: Seat,
        seen: str,
        *,
        may_stay: Callable[[], bool],
        write: Callable[[], Awaitable[None]],
    ) -> None:
        self._leave = partial(room.seats.leave, seat)
        told = _events(room, seat, seen, may_stay, write)
        super().__init__(told, media_type="text/event-stream", headers=_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until either side ends it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


async def _events(
    room: Room,
    seat: Seat,
    seen: str,
    may_stay: Callable[[], bool],
    write: Callable[[], Awaitable[None]],
) -> AsyncIterator[str]:
    changed = asyncio.Event()
    told = dict.fromkeys(KINDS, -1)
    if seen == f"{room.epoch}-{room.revisions['state']}":
        told["state"] = room.revisions["state"]
    beats, clock = 0, asyncio.get_running_loop().time
    next_beat = clock() + _BEAT_S
    room.listeners.add(changed.set)
    _OPEN.add(changed)
    try:
        yield f"retry: {_RETRY_MS}\n\n"
        while not _STOPPING.is_set():
            changed.clear()
            for kind in KINDS:
                revision = room.revisions[kind]
                if told[kind] != revision:
                    told[kind] = revision
                    yield _event(kind, room.told(kind, seat), f"{room.epoch}-{revision}")
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), max(0.0, next_beat - clock()))
            if clock() >= next_beat:  # also while updates keep arriving
                beats += 1
                next_beat = clock() + _BEAT_S
                yield "event: beat\ndata: \n\n"
                room.seats.tick()
                if seat is room.seats.leader and beats % _WRITE_AGAIN == 0:
                    await write()
                if beats % _ASK_AGAIN == 0 and not may_stay():
                    return
    finally:
        room.listeners.discard(changed.set)
        _OPEN.discard(changed)


def _event(kind: str, data: Mapping[str, Any] | None, number: str) -> str:
    name = f"id: {number}\n" if kind == "state" else ""
    return f"event: {kind}\n{name}data: {json.dumps(data, separators=(',', ':'))}\n\n"


MOST_STATE: Final = 2048
"""Maximum size in bytes of the state that a presenter shares."""
_MOST_BODY: Final = 65_536
_FRESH_S: Final = 2.0
"""Seconds for which a case made for one person is reused for others."""
_Key = tuple[str, str, str, tuple[str, ...], str]
_WINDOW: Final = re.compile(r"[0-9a-f]{32}")
_T = TypeVar("_T")


class CaseMaker(Protocol):
    """Makes the visible part of a case, see :mod:`rexview.analysis.meeting_steps`."""

    def case_json(
        self, review_set: ReviewSet, held: Meeting, case_id: str, step: int
    ) -> Mapping[str, Any] | None:
        """Return a case up to a step, an index of the meeting's; None if it has left the set."""

    def models_by_letter(
        self, review_set: ReviewSet, held: Meeting, case_id: str
    ) -> Mapping[str, str]:
        """Return the model of each letter that labels an answer."""


class _LiveRoutes:
    """The routes, with the maker of cases."""

    def __init__(self, cases: CaseMaker) -> None:
        self._cases = cases
        self._made: dict[_Key, tuple[float, asyncio.Task[bytes | None]]] = {}

    async def events(self, request: Request) -> Response:
        """Stream the shared view to one window, the newest state first."""
        try:
            who = _admitted(request)
            room = await _room(who)
            window = _window(request.query_params.get("window"))
            voter = find_voter(request, who) or new_voter()
            seat = room.seats.join(window, who.person, may_lead=who.may_lead, voter=voter)
        except RequestRefused as refusal:
            return refusal.answer()
        except RoomRefused as error:
            return RequestRefused(503, str(error)).answer()
        seen = request.headers.get("last-event-id") or request.query_params.get("seen", "")
        answer = RoomStream(
            room,
            seat,
            seen,
            may_stay=partial(_may_stay, request),
            write=partial(self._write_votes, who, room),
        )
        if not server_state.requires_sign_in():
            set_voter_cookie(answer, request, voter)
        return answer

    async def case(self, request: Request) -> Response:
        """Send the revealed part of a case."""
        try:
            who = _admitted(request)
            room = await _room(who)
            case = request.query_params.get("case", "")
            content = await self._content(who, room, case)
            if content is None:  # the steps were reordered meanwhile
                plan, _ = await _in_thread(self._plan_and_letters, who, ())
                room.replan(plan)
                content = await self._content(who, room, case)
            if content is None:
                raise RequestRefused(503, tr("The meeting is being changed. Try again."))
            if who.person and "models" in room.plan.steps[: room.reached.get(case, 0) + 1]:
                await run_in_threadpool(_note_seen, who, who.person, case)
        except RequestRefused as refusal:
            return refusal.answer()
        except RoomRefused as error:
            return RequestRefused(503, str(error)).answer()
        return Response(content, media_type="application/json", headers=NO_STORE_HEADERS)

    async def _content(self, who: AdmittedPerson, room: Room, case: str) -> bytes | None:
        """Make the revealed part of a case; None if the meeting's steps have changed.

        It is made once for all who request it at the same time, as they do when a step is shown.
        """
        step = room.reached.get(case)
        if step is None:
            raise RequestRefused(404, tr("This case has not been shown yet."))
        steps = tuple(room.plan.steps)
        # where people sign in, links to images are for one person
        theirs = who.person.id if who.person and server_state.requires_sign_in() else ""
        key = (who.set_id, who.meeting, case, steps[: step + 1], theirs)
        now = time.monotonic()
        begun, making = self._made.get(key, (-_FRESH_S, None))
        if making is None or now - begun >= _FRESH_S:
            making = asyncio.ensure_future(_in_thread(self._case_json, who, case, step, steps))
            self._made = {
                one: (when, task)
                for one, (when, task) in self._made.items()
                if now - when < _FRESH_S
            }
            self._made[key] = (now, making)
        return await asyncio.shield(making)

    async def join(self, request: Request) -> Response:
        """Send the ways to join; ``app`` is the address of the app in the browser."""
        try:
            who = _admitted(request)
            app = request.query_params.get("app", "")
            return JSONResponse(join_json(who.set_id, who.meeting, app), headers=NO_STORE_HEADERS)
        except RequestRefused as refusal:
            return refusal.answer()
        except ValueError as error:
            return RequestRefused(422, str(error)).answer()

    async def act(self, request: Request) -> Response:
        """Handle a browser's action: see the methods below, named as the end of the address."""
        try:
            who = _admitted(request)
            act = _ACTS.get(request.path_params["act"])
            if act is None:
                raise RequestRefused(404, tr("There is nothing at this address."))
            body = await json_body(request, _MOST_BODY)
            room = await _room(who)
            if request.path_params["act"] == "vote":  # the voter is the browser's, not the page's
                body = {**body, "voter": find_voter(request, who)}
            await act(self, who, room, body)
        except RequestRefused as refusal:
            return refusal.answer()
        except RoomRefused as error:  # a retry may succeed
            return RequestRefused(409, str(error)).answer()
        except VoteRefused as error:
            return RequestRefused(422, str(error)).answer()
        return JSONResponse({"epoch": room.epoch}, headers=NO_STORE_HEADERS)

    async def _state(self, who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> None:
        """Share the presenter's ``state`` with ``case`` and ``step``; ``n`` is its number."""
        seat = _seat(who, room, body)
        room.seats.check_leads(seat)
        state, number = body.get("state"), body.get("n")
        if not isinstance(state, dict) or type(number) is not int:
            raise RequestRefused(422, tr("This request does not come from this app."))
        told = json.dumps(state, separators=(",", ":"), ensure_ascii=False)
        if len(told.encode("utf-8", "surrogatepass")) > MOST_STATE:  # as in browsers
            most = tr("A state has at most {n:,} bytes.").format(n=MOST_STATE)
            raise RequestRefused(413, most)
        case, step = state.get("case"), state.get("step")
        if not isinstance(case, str) or type(step) is not int:
            raise RequestRefused(422, tr("This request does not come from this app."))
        state = _shared(state)
        if not room.is_revealed(case, step):
            await self._reveal(who, room, {case: step})
        room.share(seat, number, state)
        await self._write_votes(who, room)

    async def _lead(self, who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> None:
        """Ask to lead; a leader from before a restart of the server sends what was revealed."""
        seat = _seat(who, room, body)
        room.seats.ask_to_lead(seat)
        if room.seats.leader is not seat:
            return
        reached, closed = body.get("reached"), body.get("closed")
        if isinstance(reached, dict) and not room.reached:
            known = {case: step for case, step in reached.items() if type(step) is int}
            plan, _ = await _in_thread(self._plan_and_letters, who, ())
            room.replan(plan)
            known = {
                case: min(step, len(room.plan.steps) - 1)
                for case, step in known.items()
                if case in room.plan.cases and step >= 0
            }
            await self._reveal(who, room, known)
            cases = closed if isinstance(closed, list) else []
            room.resume(known, [case for case in cases if isinstance(case, str)])
        else:
            plan, _ = await _in_thread(self._plan_and_letters, who, ())
            room.replan(plan)

    async def _answer(self, who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> None:
        """Hand over to a window that has asked (``number``), or decline."""
        seat = _seat(who, room, body)
        room.seats.answer(seat, body.get("number"), yes=body.get("yes") is True)

    async def _look(self, who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> None:
        """Record that somebody looks around, or has come back."""
        seat = _seat(who, room, body)
        room.seats.look_around(seat, looking=body.get("looking") is True)

    async def _vote(self, who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> None:
        """Record a vote; it has no window, and nothing about the person is stored with it."""
        again = body.get("again") is True
        voter: str | None = body["voter"]
        room.vote(body.get("case"), voter, body.get("right"), body.get("harm"), again=again)
        await self._write_votes(who, room)

    async def _show(self, who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> None:
        """Show the result of a vote on the presenter's request, or continue voting."""
        seat = _seat(who, room, body)
        room.show_votes(seat, body.get("case"), shown=body.get("shown") is True)
        await self._write_votes(who, room)

    async def _reveal(self, who: AdmittedPerson, room: Room, wanted: Mapping[str, int]) -> None:
        plan, letters = await _in_thread(self._plan_and_letters, who, tuple(wanted))
        room.replan(plan)
        for case, step in wanted.items():
            room.reveal(case, step, letters.get(case, {}))

    async def _write_votes(self, who: AdmittedPerson, room: Room) -> None:
        """Write ended ballots; failed writes are tried again."""
        waiting, room.to_write = room.to_write, []
        for number, outcome in enumerate(waiting):
            entry = Entry(
                "vote", outcome.case, subject=who.meeting, value=outcome.value, via="meeting"
            )
            try:
                await run_in_threadpool(_record, who, entry, outcome.person)
            except StoreRefused:  # its message may name a model, and all get it
                refused = tr("The votes could not be saved: the database refused them.")
                room.note(outcome.case, refused)
            except RexviewError:
                room.to_write = [*waiting[number:], *room.to_write]
                return

    # --- in the thread pool ----------------------------------------------------------------------

    def _plan_and_letters(
        self, who: AdmittedPerson, cases: tuple[str, ...]
    ) -> tuple[RoomPlan, dict[str, Mapping[str, str]]]:
        review_set, found = _meeting(who)
        letters = {
            case: self._cases.models_by_letter(review_set, found, case)
            for case in cases
            if case in found.cases
        }
        return RoomPlan(found.cases, found.steps), letters

    def _case_json(
        self, who: AdmittedPerson, case: str, step: int, steps: Sequence[str]
    ) -> bytes | None:
        given, found = _meeting(who)
        if tuple(found.steps) != steps:
            return None
        review_set = review_sets.with_reviews(given)
        with permissions.acting_as(who.person):
            made = self._cases.case_json(review_set, found, case, step)
        return json.dumps({"case": case, "step": step, "content": made}).encode()


_Act = Callable[[_LiveRoutes, AdmittedPerson, Room, Mapping[str, Any]], Awaitable[None]]
_ACTS: Final[Mapping[str, _Act]] = {
    "state": _LiveRoutes._state,
    "lead": _LiveRoutes._lead,
    "answer": _LiveRoutes._answer,
    "look": _LiveRoutes._look,
    "vote": _LiveRoutes._vote,
    "show": _LiveRoutes._show,
}


def _shared(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a presenter's screen that others get, and no other."""
    kinds: Mapping[str, tuple[type, ...]] = {
        "case": (str,),
        "step": (int,),
        "look": (str,),
        "marks": (list,),
        "pointed": (list, type(None)),
    }
    return {
        name: state[name]
        for name, kind in kinds.items()
        if name in state and isinstance(state[name], kind)
    }


async def _room(who: AdmittedPerson) -> Room:
    """Return the room of a meeting, which this server then holds."""
    if not rooms.holds_meeting(who.set_id, who.meeting):
        ROOMS.drop(who.set_id, who.meeting)  # its state may be older than another server's
        if not await _in_thread(rooms.hold_meeting, who.set_id, who.meeting):
            raise RequestRefused(503, rooms.ELSEWHERE)
    return ROOMS.of(who.set_id, who.meeting)


def _may_stay(request: Request) -> bool:
    try:
        who = _admitted(request)
    except RequestRefused:
        return False
    return rooms.holds_meeting(who.set_id, who.meeting)


def _admitted(request: Request) -> AdmittedPerson:
    try:
        return admit(request, request.path_params["token"])
    except LinkRefused as error:
        raise RequestRefused(403, str(error), renew=True) from None
    except NotAdmitted as error:
        raise RequestRefused(401, str(error)) from None


def _seat(who: AdmittedPerson, room: Room, body: Mapping[str, Any]) -> Seat:
    return room.seats.seat(body.get("window"), who.person, may_lead=who.may_lead)


def _window(given: str | None) -> str:
    if given is None or not _WINDOW.fullmatch(given):
        raise RequestRefused(422, tr("This request does not come from this app."))
    return given


async def _in_thread(work: Callable[..., _T], *given: Any) -> _T:
    """Run a function that uses the database or makes a case in the thread pool."""
    try:
        return await run_in_threadpool(work, *given)
    except StoreError as error:
        raise RequestRefused(503, str(error)) from None
    except RexviewError:
        raise RequestRefused(503, tr("The review set cannot be opened at the moment.")) from None


def _meeting(who: AdmittedPerson) -> tuple[ReviewSet, Meeting]:
    """Return the set without written entries, and the current meeting."""
    review_set = review_sets.open_set(review_sets.folder_of(who.set_id))
    found = find_meeting(review_sets.reviews(review_set), who.meeting)
    if found is None:
        raise RequestRefused(404, tr("This meeting no longer exists."))
    return review_set, found


def _note_seen(who: AdmittedPerson, person: Person, case: str) -> None:
    """Record that a reader sees a case with its models named, as on the Case page.

    If the database cannot be written to, the next step tries again.
    """
    try:
        review_set = review_sets.open_set(review_sets.folder_of(who.set_id))
        reviews = review_sets.reviews(review_set)
        seen = seen_entries(review_set, reviews, person, [case], via=MEETING_PAGE)
        if seen:
            reviews.record(seen, person)
    except RexviewError:
        return


def _record(who: AdmittedPerson, entry: Entry, person: Person) -> None:
    review_set = review_sets.open_set(review_sets.folder_of(who.set_id))
    review_sets.reviews(review_set).record([entry], person)


def routes(cases: CaseMaker) -> list[Route]:
    """Return the routes to mount besides Streamlit's own, under the app's base path."""
    live = _LiveRoutes(cases)
    begin_streams()
    base = server_state.base_path()
    address = f"{base}/{ADDRESS}/{{token}}"
    return [
        Route(f"{address}/events", live.events),
        Route(f"{address}/case", live.case),
        Route(f"{address}/join", live.join),
        Route(f"{base}/{CODES}/{{code}}", redirect_by_code),
        Route(f"{address}/{{act}}", live.act, methods=["POST"]),
    ]
