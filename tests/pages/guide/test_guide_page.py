"""The Guide page: which guide is shown first, and that the link keeps another."""

from functools import cache

import pytest

from rexview.people import Person
from rexview.ui.guide.guides import GUIDES, read_guide
from rexview.ui.web.access import sign_in
from rexview.ui.web.server import server_state


def title(name):
    return read_guide(name)[0].markdown.splitlines()[0]


def shown(app):
    return [str(one.value).splitlines()[0] for one in app.markdown]


@pytest.mark.parametrize("name", GUIDES)
def test_the_link_names_the_guide(open_app, name):
    app = open_app("guide", guide_for=name)
    assert title(name) in shown(app)
    bodies = [str(one.proto.body) for one in app.get("html")]
    for piece in read_guide(name):
        if piece.picture:
            assert any(f"/rexview/guides/{piece.picture}" in body for body in bodies)


def test_a_guide_that_is_not_there_is_the_usual_one(open_app):
    assert title("clinician") in shown(open_app("guide", guide_for="<b>"))


def test_a_reader_begins_with_the_readers_guide(open_app, monkeypatch):
    monkeypatch.setattr(server_state, "requires_sign_in", cache(lambda: True))
    monkeypatch.setattr(
        sign_in, "signed_in_on_page", lambda: Person("r@x.example", "Pat", "reader")
    )
    assert title("reader") in shown(open_app("guide"))
