"""Entries as the browser's outbox sends them, made and posted by hand."""

from uuid import uuid4

from starlette.applications import Starlette
from starlette.testclient import TestClient

from rexview.ui.web.saving import route as saving_route
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant

ADDRESS = "/rexview/reviews"


def comment_entry(page, message):
    """Make the entry of what somebody did in the panel of comments.

    ``kind`` is write, resolve or remove; ``spot`` says what a comment is on, with the ``key`` of
    the answer and which one it stood for (``shown``).
    """
    whole = {"token": str(uuid4()), "comment": str(uuid4()), "case": "c1", **message}
    spot = dict(whole.get("spot", {}))
    slot, shown = spot.pop("key", None), spot.pop("shown", None)
    kind = {"write": "comment", "remove": "comment"}.get(whole["kind"], whole["kind"])
    value = {"text": whole.get("text", ""), "replyTo": whole.get("replyTo"), **spot}
    return {
        "token": whole["token"],
        "case": whole["case"],
        "page": page,
        "kind": kind,
        "subject": whole["comment"],
        "slot": slot,
        "shown": shown,
        "value": {"write": value, "resolve": whole.get("resolved")}.get(whole["kind"]),
        "was": None,
        "seen": 1_000_000,
    }


def post(outbox, *entries):
    """Send entries with what a page gave its outbox; return the answer and its status."""
    client = TestClient(Starlette(routes=saving_route.routes()))
    told = client.post(ADDRESS, json={"ticket": outbox["ticket"], "entries": entries})
    return told.json(), told.status_code


def ticket_of(review_set, person):
    """Make the ticket with which somebody writes to a review set."""
    name = review_sets.set_id(review_set.folder)
    return server_state.signer().sign(Grant("write", name, "", detail=list(vars(person).values())))


def sender(review_set, page, person, **routes):
    """Return a function that sends entries of a page as its browser does, and returns the reply.

    ``person`` is who sends where the test names nobody else.
    """
    client = TestClient(Starlette(routes=saving_route.routes(**routes)))

    def send(*entries, person=person, status=200, **body):
        sent = [{"token": str(uuid4()), "page": page, **entry} for entry in entries]
        ticket = ticket_of(review_set, person)
        told = client.post(ADDRESS, json={"ticket": ticket, "entries": sent, **body})
        assert told.status_code == status
        return told.json()

    return send
