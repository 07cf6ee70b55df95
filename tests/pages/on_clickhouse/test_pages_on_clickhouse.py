"""Pages of a set on ClickHouse show what they show of the same set in memory."""

from __future__ import annotations

import re

import pytest
from support.opened_app import run_page, server_for
from support.page_text import drawn, shown

PAGES = (None, "browse", "scores", "failures", "readers", "multiple_choice", "report_generation")


@pytest.fixture(scope="module")
def in_memory(folder, tmp_path_factory):
    """What each page shows with the set in memory."""
    own = tmp_path_factory.mktemp("memory")
    with pytest.MonkeyPatch.context() as patch, server_for(folder, own, patch):
        for page in (*PAGES, *PAGES[:1]):  # detectors and metrics begin with the first
            _seen(run_page(page))
        return {page: _seen(run_page(page)) for page in PAGES}


@pytest.fixture
def on_tables(serving):
    with serving(on_tables=True):
        yield


def _seen(app):
    assert not app.exception
    return re.sub(r'src="[^"]*"', "", drawn(app)), shown(app)  # addresses are sealed anew


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_shows_what_it_shows_in_memory(on_tables, in_memory, page):
    assert _seen(run_page(page)) == in_memory[page]


def test_a_page_says_that_the_tables_do_not_answer(on_tables, tables):
    tables.away = True
    app = run_page()
    assert not app.exception
    assert "The tables do not answer" in shown(app)


@pytest.mark.parametrize("page", ["browse", "case"])
def test_what_is_not_on_tables_is_left_out_of_a_link_and_said(on_tables, page):
    app = run_page(page, written="yes:left:3fa9c1d2:gpt-5")
    assert not app.exception
    (said,) = [one.value for one in app.warning if "failures in words" in one.value]
    assert "left out" in said
    assert "All cases" in shown(app)


def test_a_sample_is_not_read_on_tables(on_tables):
    sample = {"failure_in_words": "left", "words_version": "3fa9c1d2", "words_judge": "gpt-5"}
    assert "on ClickHouse" in shown(run_page("failures", **{"as": "validate"}, **sample))
