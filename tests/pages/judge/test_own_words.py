"""The form of a failure in words: what was typed is saved, or said to be unsaved."""

import pytest
from support.opened_app import run_in_new_session
from support.page_text import shown

from rexview.errors import StoreError
from rexview.store import Reviews

OWN_WORDS = {"as": "own-words"}
COUNTS = "It sees one on the left."


@pytest.fixture
def page(open_app):
    return open_app("failures", name="Ann", **OWN_WORDS)


def button(app, label):
    return next(one for one in app.button if one.label == label)


def field(app, label):
    return next(one for one in (*app.text_input, *app.text_area) if one.label == label)


def type_and_press(app, name="Left", counts=COUNTS):
    """Fill in the form and press its button, without a run."""
    field(app, "Name").set_value(name)
    field(app, "What counts").set_value(counts)
    button(app, "Save").click()


def test_what_is_missing_is_said_as_the_fields_are_named(page):
    type_and_press(page, name="", counts=" ")
    page.run()
    assert "“Name” is missing. “What counts” is missing." in shown(page)
    type_and_press(page)
    page.run()
    assert "Saved." in shown(page)
    assert "is missing" not in shown(page)


def test_words_typed_before_a_restart_are_saved_by_the_first_press_after_it(page):
    type_and_press(page)
    after = run_in_new_session(page)
    assert not after.exception
    assert "Saved." in shown(after)
    assert COUNTS in shown(after)


def test_words_that_cannot_be_saved_stay_and_are_said_to_be_unsaved(page, monkeypatch):
    def refuse(*_):
        raise StoreError("The reviews database may not be written to.", "Give the right to.")

    monkeypatch.setattr(Reviews, "record", refuse)
    type_and_press(page)
    page.run()
    assert not page.exception
    assert "Not saved: The reviews database may not be written to." in shown(page)
    assert field(page, "What counts").value == COUNTS
