"""Nothing of a set or of a link is more than text on any page: read from what is delivered.

``test_text_on_pages.py`` reads the code for the same; a browser shows what comes of it in
``tests/browser/test_hostile_walk.py``.
"""

import json
from html.parser import HTMLParser

import pytest
from google.protobuf.message import Message
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest
from support.hostile_input import keys_of_links
from support.hostile_set import CASES, DANGERS, HOST, MODELS, text, word, write_hostile_set
from support.rows import each_row

from rexview.analysis.query.filter.judge_conditions import JudgeCondition, format_judge
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.stats.judge_agreement import Judge
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import server_state

PAGES = (
    *(
        None,
        "browse",
        "case",
        "failures",
        "scores",
        "readers",
        "multiple_choice",
        "report_generation",
    ),
    *("score", "study", "adjudicate", "meeting", "data", "account"),
)
KEYS = list(keys_of_links())
PLAIN = {
    "selectbox.options",
    "multiselect.options",
    "multiselect.default",
    "selectbox.raw_value",
    "multiselect.raw_values",
    "placeholder",
    "default",
    "value",
    "raw_value",
    "set_value",
    "text.body",
    "id",
    "element_id",
    "form_id",
    "key",
    "query_string",
    "page",
    "url",
    "columns",  # settings of a table's columns, as JSON
    "component_name",
}
"""Fields of Streamlit's messages that it shows as they are, or does not show."""


@pytest.fixture
def review_folder(tmp_path):
    return write_hostile_set(tmp_path / "set")


@pytest.fixture
def written(review_folder, open_app, monkeypatch):
    """What people wrote is no better than what files hold; and somebody with a bad name looks."""
    who = Person(word("me"), text("me"), "lead")
    entries = [
        Entry(
            "comment",
            CASES[0],
            subject="0" * 8,
            value={"text": text("comment"), "on": {"what": "case"}, "reply_to": None},
        ),
        *(
            Entry("score", CASES[0], MODELS[0], one, value={"score": 1, "comment": text("why")})
            for one in ("process", "execution")
        ),
        Entry("meeting", subject="m1", value={"name": text("meeting"), "decisions": [word("d")]}),
        Entry(
            "agenda",
            CASES[0],
            subject="m1",
            value={"section": text("section"), "found_by": text("found")},
        ),
        Entry("presenter_note", CASES[0], subject="m1", value={"text": text("note")}),
    ]
    kept = open_reviews(load_review_set(review_folder), server_state.settings())
    for entry in entries:
        kept.record([entry], who)
    monkeypatch.setattr(permissions, "current_person", lambda: who)
    yield
    close_databases()


class Elements(HTMLParser):
    """Finds what is more than text in HTML: an element or an attribute that acts by itself."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "img", "iframe", "object", "embed", "link", "meta", "base", "form"):
            ours = tag == "img" and dict(attrs).get("src", "").startswith(("rexview/", "data:"))
            self.found += [] if ours else [tag]
        for name, value in attrs:
            acts = name.startswith("on") or name in ("srcdoc", "formaction")
            leads = name in ("href", "src", "style", "xlink:href", "action", "background")
            if acts or (leads and HOST in (value or "").replace("%2F", "/").partition("?")[0]):
                self.found.append(f"{tag} {name}={value}")


def of_html(html):
    elements = Elements()
    elements.feed(html)
    return elements.found


def of_markdown(markdown):
    """Return what Streamlit would make more than text of."""
    found = [danger for danger in DANGERS if danger in markdown]
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    found += [
        child.type
        for token in tokens
        for child in (token, *(token.children or ()))
        if child.type in ("image", "html_inline", "html_block")
        or (child.type == "link_open" and HOST in str(child.attrs))
    ]
    return found


def strings(message, path=""):
    """Give every text in a message of Streamlit's with the names of the fields that hold it."""
    for field, value in message.ListFields():
        place = f"{path}.{field.name}".strip(".")
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from strings(one, place)
            elif isinstance(one, str):
                yield place, one


def more_than_text(app):
    """Return all of a page that is more than text though it came from a set or a link."""
    found, seen = [], 0
    for node in app._tree:
        proto = getattr(node, "proto", None)
        if not isinstance(proto, Message):
            continue
        for place, value in strings(proto, node.type):
            end = place.rpartition(".")[2]
            name = f"{node.type}.{end}"
            if place == "bidi_component.json":
                found += [
                    (name, one) for html in texts_of(json.loads(value)) for one in of_html(html)
                ]
            elif end == "spec":  # a chart: text in it is text, but these keys are addresses
                found += [(name, one) for one in ('"href"', '"url"', '"usermeta"') if one in value]
            elif node.type == "html" and end == "body":
                found += [(name, one) for one in of_html(value)]
            elif name not in PLAIN and end not in PLAIN:
                seen += 1
                found += [(place, one, value[:80]) for one in of_markdown(value)]
    return found, seen


def texts_of(value, key=""):
    """Give the texts of a component's data that it puts into the page as HTML.

    The questions of a rubric are put in as text; that there are no others says
    ``test_text_on_pages.py``.
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "rubric":
                yield from texts_of(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner, key)
    elif isinstance(value, str) and key in ("html", "question"):
        yield value


STRANGE = {key: [text(key), "x"] for key in KEYS if key != link_keys.QUERY_SET}
"""A link with words that no list has, under every key."""
OWN = {
    "case": CASES[0],
    "as": "table",
    "model": [MODELS[0]],
    "category": [word("category")],
    "tag": [f"{word('tag')}:{word('value')}"],
    "difficulty": [word("difficulty")],
    "site": [word("site")],
}
JUDGE = Judge(word("judge"), word("prompt"))
JUDGED = {
    link_keys.QUERY_JUDGE: format_judge(JUDGE),
    "judge_says": [str(JudgeCondition("hallucination", "yes", JUDGE))],
}
"""A link to what a judge says, who is no better than the set."""
"""A link with words of the set itself."""


@each_row("page", PAGES)
def test_words_of_a_set_and_of_a_link_are_only_words(open_app, written, page):
    for query in ({}, OWN, STRANGE, JUDGED):
        found, seen = more_than_text(open_app(page, **query))
        assert not found
        assert seen


def test_the_name_of_a_set_that_is_none_is_only_words(open_app):
    found, seen = more_than_text(open_app(**{link_keys.QUERY_SET: text("set")}))
    assert not found
    assert seen


def test_what_is_more_than_text_is_found(open_app):
    """The search itself finds what Streamlit would make of such words."""

    def page():
        import streamlit as st
        from support.hostile_set import word

        st.caption(word("a"))
        st.button("b", help=word("b"))
        st.expander(word("c"))
        st.radio("d", [word("d")])
        st.html("<p><img src='http://evil.invalid/e'></p>")

    app = AppTest.from_function(page, default_timeout=180).run()
    assert not app.exception
    found, _ = more_than_text(app)
    assert {one[0] for one in found} >= {
        "caption.body",
        "button.help",
        "expander.label",
        "radio.options",
        "html.body",
    }
