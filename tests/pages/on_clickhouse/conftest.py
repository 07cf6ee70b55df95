"""A set on ClickHouse (chDB in this process) and the same one in memory."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from support.opened_app import server_for

from bench.engines.everything import EverythingSet
from rexview.analysis.query.clickhouse.database import ChdbDatabase
from rexview.analysis.query.clickhouse.loading import load_set
from rexview.cli.results import with_computed_metrics
from rexview.detect import create_detectors
from rexview.detect.scan.scan import scan
from rexview.errors import EngineUnreachable
from rexview.reviewset import load_review_set
from rexview.store.database_location import set_key
from rexview.ui.web.server import clickhouse_sets

pytest.importorskip("chdb", reason="chDB is not installed")


class _MayBeAway(ChdbDatabase):
    """Does not answer when it is told so."""

    away = False

    def query(self, *asked, **more):
        if self.away:
            raise EngineUnreachable("The tables do not answer.", "Wait a little.")
        return super().query(*asked, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The set; one model is called as a word of questions, one as a word of answers only."""
    folder = EverythingSet(cases=24).write(tmp_path_factory.mktemp("on-tables") / "set")
    info = json.loads((folder / "reviewset.yaml").read_text("utf-8"))
    for model, name in zip(info["models"], ("Heart", "Nodule"), strict=False):
        model["name"] = name
    (folder / "reviewset.yaml").write_text(json.dumps(info), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def tables(folder):
    review_set = load_review_set(folder)
    database = _MayBeAway(None, "pages")
    found = scan(review_set, create_detectors(models=review_set.models))
    load_set(database, set_key(review_set), with_computed_metrics(review_set), found)
    return database


@pytest.fixture
def serving(folder, tables, tmp_path):
    """Return what lets this process serve the set: from memory, or from its tables."""

    @contextmanager
    def served(*, on_tables):
        with pytest.MonkeyPatch.context() as patch:
            if on_tables:
                patch.setenv("REXVIEW_ENGINE", "chdb:///tables")
                patch.setattr(clickhouse_sets, "database_at", lambda address: tables)
                patch.setattr(tables, "away", False)
            with server_for(folder, tmp_path, patch):
                yield

    return served
