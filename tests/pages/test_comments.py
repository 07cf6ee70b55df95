"""Comments on the Case page and, for whoever scores, on the Score page; without a browser."""

import json
import re
from uuid import uuid4

import pytest
from support.page_text import drawn, title

from rexview.errors import StoreFull
from rexview.people import Person
from rexview.reviewset import load
from rexview.store import Entry, Reviews, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.access import permissions
from rexview.ui.comments import panel as comments_panel
from rexview.ui.comments import read_messages
from rexview.ui.link import keys as link_keys
from rexview.ui.server import review_sets, server_state

ANN, BOB = Person("ann", "Ann A.", "lead"), Person("bob", "Bob B.", "lead")


@pytest.fixture
def kept(open_app, review_folder):
    """The reviews database as it is on the disk."""
    yield lambda: open_reviews(load(review_folder), server_state.settings())
    close_databases()


@pytest.fixture
def ann(monkeypatch):
    monkeypatch.setattr(permissions, "current", lambda: ANN)


def panel(app):
    (component,) = [
        one for one in app.get("bidi_component") if one.proto.component_name == "rexview_comments"
    ]
    return json.loads(component.proto.json)


def say(app, *messages):
    """Send what the panel would send, and let the page run."""
    name = review_sets.set_id(server_state.settings().review_set)
    review_set = review_sets.open_set(server_state.settings().review_set)
    page = review_sets.case_page(review_set, "c1")
    places = comments_panel.case_places(page, review_set.model_names)
    for raw in messages:
        whole = {"token": str(uuid4()), "comment": str(uuid4()), "case": page.case.id, **raw}
        (message,) = read_messages({"messages": [whole]})
        waiting = comments_panel._Waiting(name, message, places)
        if link_keys.SESSION_COMMENTS not in app.session_state:
            app.session_state[link_keys.SESSION_COMMENTS] = {}
        app.session_state[link_keys.SESSION_COMMENTS][message.token] = waiting
    return panel(app.run())


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
    (reason,) = data["done"].values()
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
        assert "Only whoever wrote" in list(data["done"].values())[-1]
    assert kept().comments()[0].text == "Bob's"


def test_a_name_is_asked_for_where_one_writes(open_app, kept):
    app = open_app("case", case="c1")
    data = say(app, write())
    assert not data["named"]
    assert "Give your name" in data["trouble"]
    assert kept().revision() == 0
    data = say(app, {"kind": "name", "text": "Dr Cem"})
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
    assert "Not saved yet" in data["trouble"]
    assert "Make room on it." in data["trouble"]
    assert not data["done"]
    data = panel(app.run())
    assert not data["trouble"]
    assert [one["text"] for one in data["comments"]] == ["Kept"]


def test_viewers_read_only(open_app, kept, monkeypatch):
    monkeypatch.setattr(permissions, "current", lambda: Person("vic", "Vic", "viewer"))
    app = open_app("case", case="c1")
    assert not panel(app)["may"]
    data = say(app, write())
    assert "may not" in next(iter(data["done"].values()))
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
