"""Entries as the browser's outbox sends them, made and posted by hand."""

from uuid import uuid4

from starlette.applications import Starlette
from starlette.testclient import TestClient

from rexview.ui.saving import route as saving_route

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
