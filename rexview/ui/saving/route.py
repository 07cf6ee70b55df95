"""The HTTP route that takes what readers say on the Score page, and the tickets that let them.

The pad (``score_pad/assets/outbox.js``) sends entries here and not through the page's script, so
that they arrive whatever the script is doing, and repeats them until they are confirmed. It knows
answers by letters only: which model a letter stands for is worked out here. What goes back names no
model, and tells only what the reader themselves said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rexview.errors import NotAdmitted, RexviewError, StoreError, StoreRefused
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import may
from rexview.ui.access import permissions, sign_in
from rexview.ui.saving.reader_study import Study, study_of
from rexview.ui.saving.score_entries import Refused, Said, Saying, read_said
from rexview.ui.score_cases.pad_data import ADDRESS, own_json
from rexview.ui.server import review_sets, server_state
from rexview.ui.server.one_per_key import OnePerKey
from rexview.ui.server.sealed_tokens import Grant, LinkRefused

KIND: Final = "write"
LONGEST_BODY: Final = 1_000_000
MOST_ENTRIES: Final = 200


def write_ticket(review_set: ReviewSet, person: Person) -> str:
    """Return what lets a browser write in the name of a person, for one to two hours.

    It is sealed; where people sign in it is worth nothing without the sign-in of that person.
    """
    who = [person.id, person.name, person.role]
    name = review_sets.set_id(review_set.folder)
    grant = Grant(KIND, name, "", detail=who, person=permissions.link_person())
    return server_state.signer().sign(grant)


class _NotNow(Exception):
    """Nothing was written: the status to answer with, why, and whether a new ticket may help."""

    def __init__(self, status: int, message: str, *, renew: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.renew = status, message, renew


async def take_entries(request: Request) -> Response:
    """Take entries of a reader; the answer says which of them are in the database."""
    try:
        body = await _body(request)
        told = await run_in_threadpool(_take, request, body)
    except _NotNow as refusal:
        told = {"error": refusal.message, "renew": refusal.renew}
        return JSONResponse(told, refusal.status, headers={"Cache-Control": "no-store"})
    return JSONResponse(told, headers={"Cache-Control": "no-store"})


async def _body(request: Request) -> Mapping[str, Any]:
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > LONGEST_BODY:
            raise _NotNow(413, "Too much was sent at once.")
    try:
        found = json.loads(parts)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("entries"), list):
        raise _NotNow(422, "This is not what the score pad sends.")
    if len(found["entries"]) > MOST_ENTRIES:
        raise _NotNow(413, "Too much was sent at once.")
    return found


def _take(request: Request, body: Mapping[str, Any]) -> dict[str, Any]:
    study = _study(request, str(body.get("ticket")))
    try:
        said = [read_said(one) for one in body["entries"]]
    except ValueError as error:
        raise _NotNow(422, str(error)) from None
    try:
        with _lock(study.reviews.key, study.person.id):
            shown = body.get("case")
            return _write(study.now(), said, shown if isinstance(shown, str) else None)
    except StoreError as error:
        raise _NotNow(503, _safe(error)) from None


def _study(request: Request, ticket: str) -> Study:
    """Find out who writes, and in which study."""
    try:
        grant = server_state.signer().check(ticket)
        if grant.kind != KIND:
            raise LinkRefused("This link is for something else.")
        sign_in.check_person(request, grant)
        person = sign_in.signed_in_at(request) if server_state.team() else Person(*grant.detail)
        if person is None or not may(person, "score"):
            raise _NotNow(403, "Your role may not score.")
        review_set = review_sets.open_set(review_sets.folder_of(grant.set_id))
        return study_of(review_set, person)
    except LinkRefused:
        raise _NotNow(
            403, "The page is too old to save; it is being renewed.", renew=True
        ) from None
    except NotAdmitted as error:
        raise _NotNow(401, str(error)) from None
    except StoreError as error:
        raise _NotNow(503, _safe(error)) from None
    except RexviewError:
        raise _NotNow(503, "The review set cannot be opened at the moment.") from None


def _safe(error: StoreError) -> str:
    """Return words for the reader: what was refused may name a model, trouble does not."""
    return "The entries were refused." if isinstance(error, StoreRefused) else str(error)


_lock: Final = OnePerKey(Lock, 512)
"""By study and person: what makes a reader's entries from two tabs come one after the other."""


def _write(study: Study, said: Sequence[Said], shown: str | None) -> dict[str, Any]:
    """Write entries in their order and say how their cases stand then."""
    saved: list[str] = []
    refused: dict[str, str] = {}
    replaced: dict[str, Any] = {}
    saying = Saying(study)
    for one in said:
        try:
            if one.token in study.words.tokens:
                saved.append(one.token)
            elif saying.is_outdated(one):
                replaced[one.token] = saying.standing(one)
            elif one.kind == "reveal":
                saying = Saying(_flush(saying, saved, refused))  # what it needs must stand
                saying.add(one)
                saying = Saying(_flush(saying, saved, refused))
            else:
                saying.add(one)
        except Refused as refusal:
            refused[one.token] = str(refusal)
    study = _flush(saying, saved, refused)
    cases = {one.case for one in said} | {shown}
    known = [case for case in study.worklist if case in cases] if cases != {None} else []
    progress = study.progress
    return {
        "saved": saved,
        "revision": study.words.revision,
        "refused": refused,
        "replaced": replaced,
        "own": {case: own_json(study, case) for case in known},
        "states": {case: study.states[case] for case in known},
        "progress": {
            "done": progress.done,
            "skipped": progress.skipped,
            "total": progress.total,
        },
    }


def _flush(saying: Saying, saved: list[str], refused: dict[str, str]) -> Study:
    """Write what was gathered; where the database refuses the whole, entry by entry."""
    study = saying.study
    try:
        if saying.entries:
            study.reviews.record(saying.entries, study.person)
        saved += saying.tokens
    except StoreRefused:
        for token, entries in saying.by_token().items():
            try:
                study.reviews.record(entries, study.person)
                saved.append(token)
            except StoreRefused:
                refused[token] = "This entry is not valid here. Reload the page."
    return study.now() if saying.entries else study


def routes() -> list[Route]:
    """Return the routes to mount beside Streamlit's own, under the app's base path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    prefix = f"/{base}/" if base else "/"
    return [
        Route(f"{prefix}{ADDRESS}", take_entries, methods=["POST"]),
    ]
