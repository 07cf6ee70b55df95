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
