"""Where a page has nothing to show yet, it leads on."""

import pytest
from support.opened_app import run_page, server_for
from support.page_text import shown
from support.review_folder import write_review_set
from support.small_set import CASES, RAMP, write_set

BARE = {
    "overview": ("no scores to draw", {"Score cases"}),
    "failures": ("No model has answered", {"Bring in answers", "Have a model answer"}),
    "scores": ("No model has answered", {"Bring in answers", "Have a model answer"}),
    "readers": ("has a reader's score", {"Score cases", "Case assignments"}),
    "multiple_choice": ("no answers to choice", {"Make questions", "Have a model answer"}),
    "report_generation": ("asks for a report", {"Bring in reports", "Have a model write reports"}),
    "study": ("No cases have been assigned", {"Score cases"}),
    "meeting": ("No meeting has been planned", {"Browse cases"}),
}
"""By page, of a set of cases that nobody has answered: words of what is said, and where it leads.
"""


@pytest.fixture
def bare(tmp_path, monkeypatch):
    folder = tmp_path / "set"
    write_review_set(folder, info={"name": "Bare"}, cases=CASES, pictures={"one.png": RAMP})
    (folder / "images" / "broken.png").write_bytes(b"broken")
    with server_for(folder, tmp_path, monkeypatch):
        yield folder


def leads(app):
    return {link.proto.label for link in app.get("page_link")}


@pytest.mark.parametrize("page", BARE)
def test_a_set_without_answers_leads_on(bare, page):
    words, expected = BARE[page]
    app = run_page(page)
    assert not app.exception
    assert words in shown(app)
    assert leads(app) >= expected


def test_no_page_is_named_that_may_not_be_seen(bare, monkeypatch):
    from rexview.ui.web.access import permissions
    from rexview.ui.web.link.pages import PAGE_DATA, PAGE_RUN_MODELS

    assert {"Bring in answers", "Have a model answer"} <= leads(run_page("failures"))
    unseen = {PAGE_DATA, PAGE_RUN_MODELS}
    monkeypatch.setattr(permissions, "may_see", lambda page: page not in unseen)
    assert not leads(run_page("failures")) & {"Bring in answers", "Have a model answer"}


def test_what_has_something_to_show_does_not_lead_elsewhere(tmp_path, monkeypatch):
    with server_for(write_set(tmp_path / "set"), tmp_path, monkeypatch):
        assert not leads(run_page("failures"))
