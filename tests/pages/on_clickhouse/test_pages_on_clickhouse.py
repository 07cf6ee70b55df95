"""Pages of a set on ClickHouse show what they show of the same set in memory."""

from __future__ import annotations

import re

import pytest
from support.opened_app import run_page, server_for
from support.page_text import drawn, shown

from rexview.analysis.clickhouse.database.in_process import InProcess
from rexview.analysis.clickhouse.loading.load import load_set
from rexview.bench.engines.everything import EverythingSet
from rexview.cli.scanning import with_own_metrics
from rexview.detect import detectors
from rexview.detect.core.scan import scan
from rexview.errors import EngineUnreachable
from rexview.reviewset import load
from rexview.store.location import set_key
from rexview.ui.server import loaded_sets

pytest.importorskip("chdb", reason="chDB is not installed")
PAGES = (None, "browse", "scores", "failures", "readers", "multiple_choice", "report_generation")


class _MayBeAway(InProcess):
    """Does not answer when it is told so."""

    away = False

    def query(self, *asked, **more):
        if self.away:
            raise EngineUnreachable("The tables do not answer.", "Wait a little.")
        return super().query(*asked, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return EverythingSet(cases=24).write(tmp_path_factory.mktemp("on-tables") / "set")


@pytest.fixture(scope="module")
def tables(folder):
    review_set = load(folder)
    database = _MayBeAway(None, "pages")
    found = scan(review_set, detectors(models=review_set.models))
    load_set(database, set_key(review_set), with_own_metrics(review_set), found)
    return database


@pytest.fixture(scope="module")
def in_memory(folder, tmp_path_factory):
    """What each page shows with the set in memory."""
    own = tmp_path_factory.mktemp("memory")
    with pytest.MonkeyPatch.context() as patch, server_for(folder, own, patch):
        for page in (*PAGES, *PAGES[:1]):  # detectors and metrics begin with the first
            _seen(run_page(page))
        return {page: _seen(run_page(page)) for page in PAGES}


@pytest.fixture
def on_tables(folder, tables, tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_ENGINE", "chdb:///tables")
    monkeypatch.setattr(loaded_sets, "database_at", lambda address: tables)
    monkeypatch.setattr(tables, "away", False)
    with server_for(folder, tmp_path, monkeypatch):
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
