"""Comments on the Case page and, for whoever scores, on the Score page; without a browser."""

import json
import re
from uuid import uuid4

import pytest
from support.entries.sent import comment_entry, post
from support.page_text import components, drawn, title

from rexview.errors import StoreFull
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, Reviews, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import server_state

ANN, BOB = Person("ann", "Ann A.", "lead"), Person("bob", "Bob B.", "lead")


@pytest.fixture
def kept(open_app, review_folder):
    """The reviews database as it is on the disk."""
    yield lambda: open_reviews(load_review_set(review_folder), server_state.settings())
    close_databases()


@pytest.fixture
def ann(monkeypatch):
    monkeypatch.setattr(permissions, "current_person", lambda: ANN)


def panel(app):
    (found,) = components(app, "rexview_comments")
    return found


def say(app, *messages, page="case page"):
    """Send what the panel would send, let the page run, and return what the panel shows then.

    ``refused`` says why messages were not taken.
    """
    data = panel(app)
    shown = {one["key"]: one["shown"] for one in data["targets"]}
    refused = {}
    for message in messages:
        spot = message.get("spot", {})
        known = {"shown": shown[spot["key"]]} if spot.get("key") in shown else {}
        told, status = post(
            data["outbox"], comment_entry(page, {**message, "spot": {**known, **spot}})
        )
        refused |= told["refused"] if status == 200 else {"": told["error"]}
    return {**panel(app.run()), "refused": refused}


def write(text="Look.", **more):
    return {"kind": "write", "text": text, **more}


@pytest.mark.parametrize(
    ("spot", "model", "on"),
    [
        ({}, None, {"what": "case"}),
        ({"key": "m"}, "m", {"what": "answer"}),
        (
            {"key": "m", "box": 0},
            "m",
            {
                "what": "box",
                "image": "i",
                "box": [5, 60, 30, 30],
                "label": "left effusion",
                "index": 0,
            },
        ),
        (
            {"key": "m", "quote": "Left effusion"},
            "m",
            {"what": "span", "field": "text", "start": 2, "end": 17, "text": "Left** effusion"},
        ),
    ],
)
def test_a_comment_stands_where_it_was_made(open_app, kept, ann, spot, model, on):
    data = say(open_app("case", case="c1"), write("<img src=x onerror=alert(1)>", spot=spot))
    (one,) = kept().comments("c1")
    assert (one.model, one.on, one.person_name) == (model, on, "Ann A.")
    (shown,) = data["comments"]
    assert shown["text"] == "<img src=x onerror=alert(1)>", "text is sent as text"
    assert shown["mine"]
    assert shown["key"] == model


@pytest.mark.parametrize(
    "spot",
    [{"key": "nobody"}, {"key": "m", "box": 7}, {"key": "m", "quote": "not a word of it"}],
)
def test_a_place_that_is_not_there_is_refused_with_the_reason(open_app, kept, ann, spot):
    data = say(open_app("case", case="c1"), write(spot=spot))
    (reason,) = data["refused"].values()
    assert reason
    assert not kept().comments()


def test_replies_edits_and_settling(open_app, kept, ann):
    app = open_app("case", case="c1")
    first, second = str(uuid4()), str(uuid4())
    say(app, write("One", comment=first, spot={"key": "m"}))
    say(app, write("Two", comment=second, replyTo=first))
    say(app, write("One, better", comment=first))
    data = say(app, {"kind": "resolve", "comment": first, "resolved": True})
    one, two = data["comments"]
    assert (one["text"], one["resolved"], bool(one["edited"])) == ("One, better", True, True)
    assert (two["text"], two["replyTo"], two["key"]) == ("Two", first, "m")
    data = say(app, {"kind": "remove", "comment": second})
    assert [one["id"] for one in data["comments"]] == [first]
    assert len(kept().history(kind="comment")) == 4, "nothing is ever lost"


def test_nobody_changes_what_others_wrote(open_app, kept, ann):
    app = open_app("case", case="c1")
    value = {"text": "Bob's", "on": {"what": "case"}, "reply_to": None}
    theirs = str(uuid4())
    kept().record([Entry("comment", "c1", None, theirs, value=value)], BOB)
    data = panel(app.run())
    assert [(one["who"], one["mine"]) for one in data["comments"]] == [("Bob B.", False)]
    for raw in (write("Mine now", comment=theirs), {"kind": "remove", "comment": theirs}):
        data = say(app, raw)
        assert "Only whoever wrote" in list(data["refused"].values())[-1]
    assert kept().comments()[0].text == "Bob's"


def test_a_name_is_asked_for_where_one_writes(open_app, kept):
    app = open_app("case", case="c1")
    data = panel(app)
    assert not data["named"]
    assert data["outbox"]["ticket"] is None, "it waits in the browser"
    assert kept().revision() == 0
    app.session_state[link_keys.SESSION_NAME] = "Dr Cem"
    app.run()
    data = say(app, write())
    assert [one["who"] for one in data["comments"]] == ["Dr Cem"]
    assert data["named"]


def test_what_cannot_be_written_waits(open_app, kept, ann, monkeypatch):
    app = open_app("case", case="c1")
    full = StoreFull("The disk is full; nothing was written.", "Make room on it.")

    def fail(*_):
        raise full

    with monkeypatch.context() as broken:
        broken.setattr(Reviews, "record", fail)
        data = say(app, write("Kept"))
    assert "Make room on it." in data["refused"][""]
    assert not kept().comments()
    data = say(app, write("Kept"))
    assert not data["problem"]
    assert [one["text"] for one in data["comments"]] == ["Kept"]


def test_viewers_read_only(open_app, kept, monkeypatch):
    monkeypatch.setattr(permissions, "current_person", lambda: Person("vic", "Vic", "viewer"))
    app = open_app("case", case="c1")
    assert not panel(app)["may"]
    data = say(app, write())
    assert "may not" in next(iter(data["refused"].values()))
    assert not kept().comments()


def test_who_scores_sees_their_own_comments_only_and_no_model(open_app, kept, ann):
    for person, model, text in ((BOB, "m", "Bob gave 1"), (ANN, "n", "Mine"), (ANN, None, "Case")):
        on = {"what": "answer" if model else "case"}
        value = {"text": text, "on": on, "reply_to": None}
        kept().record([Entry("comment", "c1", model, str(uuid4()), value=value)], person)
    data = panel(open_app("score", case="c1"))
    assert sorted(one["text"] for one in data["comments"]) == ["Case", "Mine"]
    assert {one["key"] for one in data["comments"]} < {None, "A", "B"}
    told = json.dumps(data)
    for hidden in ("Model M", "Model N", "Bob", '"m"', '"n"'):
        assert hidden not in told


def test_browse_counts_comments_and_filters_by_them(open_app, kept, ann):
    first = str(uuid4())
    on = {"on": {"what": "case"}, "reply_to": None}
    kept().record(
        [
            Entry("comment", "c1", None, first, value={"text": "<b>x</b>", **on}),
            Entry("comment", "c1", None, str(uuid4()), value={"text": "y", **on}),
            Entry("comment", "c2", None, str(uuid4()), value={"text": "z", **on}),
            Entry("resolve", subject=first, value={"resolved": True}),
        ],
        ANN,
    )
    html = drawn(open_app("browse"))
    assert "2 comments · <b>1 open</b>" in html
    assert "1 comment · <b>1 open</b>" in html
    other = next(one for one in kept().comments("c2"))
    kept().record([Entry("resolve", subject=other.id, value={"resolved": True})], ANN)
    app = open_app("browse", comments="unresolved")
    assert title(app) == "With an open comment"
    cards = re.findall(r'<a class="rx-card".*?<header><b>(.*?)</b>', drawn(app), re.DOTALL)
    assert cards == ["c1"]
    cards = drawn(open_app("browse", comments="commented"))
    assert cards.count('class="rx-card"') == 2
