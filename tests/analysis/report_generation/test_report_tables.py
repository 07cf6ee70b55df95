"""The numbers of the page Report generation: what they open, and where ours stand among printed."""

from __future__ import annotations

from typing import Any

import pytest
from support.made_rows.reports import TABLES

from rexview.analysis import report_generation as tables_module
from rexview.analysis.published.rexrank import published_board
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.filter_text import name_value
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.analysis.report_generation import (
    build_error_free_tables,
    build_report_groups,
    build_report_tables,
    correlation_caption,
    direction_caption,
    rank_with_published,
)
from rexview.metrics.identity import MetricId
from rexview.stats.error_free_reports import UNNAMED_EDITOR_ID

BLEU_2 = MetricId("bleu_2", "radeval", "2.0", "findings")
RADCLIQ_V1 = MetricId("radcliq_v1", "radeval", "2.0", "findings")


@pytest.fixture(name="engine", scope="module")
def engine_fixture(make_set: Any) -> MemoryEngine:
    return build_memory_engine(make_set(**TABLES))


def test_findings_come_first_and_unsaid_sections_last(engine: MemoryEngine) -> None:
    found = build_report_tables(engine, resamples=50)
    assert (found.scopes, found.scope) == (("findings", None), "findings")
    assert found.metrics == (BLEU_2, RADCLIQ_V1)
    assert found.ranked_by(None) == BLEU_2
    assert found.ranked_by(RADCLIQ_V1.key) == RADCLIQ_V1
    assert found.ranked_by("nothing") == BLEU_2
    assert build_report_tables(engine, scope=None, resamples=0).scope is None


def test_a_cell_opens_its_answers_the_worst_first(engine: MemoryEngine) -> None:
    found = build_report_tables(engine, CaseFilter(sites=("South",)), resamples=0)
    count = found.opens(BLEU_2, "b")
    assert count.value == 3
    assert (count.opens.models, count.opens.sites) == (("b",), ("South",))
    assert engine.page(count.opens, 0, 3) == ("r6", "r5", "r4")  # 0.3, 0.5, 0.7


def test_a_filter_leaves_a_part_of_what_was_computed_together(engine: MemoryEngine) -> None:
    assert not build_report_tables(engine, resamples=0).is_from_full_run(RADCLIQ_V1)
    part = build_report_tables(engine, CaseFilter(sites=("South",)), resamples=0)
    assert part.is_from_full_run(RADCLIQ_V1)
    assert not part.is_from_full_run(BLEU_2)  # its values do not depend on each other


def test_it_is_said_of_which_metrics_the_better_way_is_not_known() -> None:
    own = MetricId("own", None, None, "findings")
    assert direction_caption((BLEU_2, RADCLIQ_V1)) == ""
    assert "unknown: own." in correlation_caption((BLEU_2, own, own), (), "kendall")


def test_groups_by_site(engine: MemoryEngine) -> None:
    by = next(one for one in engine.facts.properties if one.key == "site")
    found = build_report_groups(engine, CaseFilter(), by, BLEU_2, least=3, resamples=50)
    north, south = found.groups
    assert (north.name, south.name) == ("North", "South")
    assert north.board.cells[BLEU_2, "a"].mean == pytest.approx(0.8)
    assert north.board.cells[BLEU_2, "a"].rank is not None
    assert south.board.cells[BLEU_2, "c"].n == 2
    assert south.board.cells[BLEU_2, "c"].rank is None  # two answers, three are asked for
    assert south.opens(BLEU_2, "a").opens.sites == ("South",)


def test_groups_have_the_values_of_the_board(
    make_set: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the set does not say that its cases ask for reports, or most sites have none."""
    cases = [{**case, "question_type": "open"} for case in TABLES["cases"]]
    cases += [{**cases[0], "id": f"x{n}", "site": f"Site {n}"} for n in range(3)]
    engine = build_memory_engine(make_set(**{**TABLES, "cases": cases}))
    by = next(one for one in engine.facts.properties if one.key == "site")
    monkeypatch.setattr(tables_module, "MAX_REPORT_GROUPS", 2)
    found = build_report_groups(engine, CaseFilter(), by, BLEU_2, resamples=0)
    assert [group.name for group in found.groups] == ["North", "South"]
    assert found.left_out == 0  # the other three have no value of the metric
    monkeypatch.setattr(tables_module, "MAX_REPORT_GROUPS", 1)
    assert build_report_groups(engine, CaseFilter(), by, BLEU_2, resamples=0).left_out == 4


def test_error_free_reports_open(engine: MemoryEngine) -> None:
    found = build_error_free_tables(engine, CaseFilter(), resamples=0)
    row = found.of("ra", "a", 2)
    assert row is not None
    assert row.free.value == 2
    assert set(engine.page(row.free.opens, 0, 9)) == {"r1", "r2"}
    only_normal = build_error_free_tables(engine, CaseFilter(studies=("normal",)), resamples=0)
    assert {one.studies for one in only_normal.rows} == {"", "normal"}


def test_corrections_that_name_nobody_open_apart(make_set: Any) -> None:
    unnamed = {"case": "r4", "model": "a", "line": 1, "action": "delete", "severity": 1}
    engine = build_memory_engine(make_set(**{**TABLES, "edits": [*TABLES["edits"], unnamed]}))
    row = build_error_free_tables(engine, CaseFilter(), resamples=0).of(UNNAMED_EDITOR_ID, "a", 3)
    assert row is not None
    assert engine.page(row.free.opens, 0, 9) == ("r4",)
    said = name_value(engine.facts, "edits", row.free.opens.edits[0])
    assert said == "No significant error by an unnamed person"


def test_our_models_stand_where_their_mean_puts_them(engine: MemoryEngine) -> None:
    board = published_board("rexrank_challenge_v1", "IU-Xray", "findings")
    assert board is not None
    tables = build_report_tables(engine, resamples=0)
    rows = rank_with_published(board, tables, "inv_radcliq_v1")
    means = [
        row.printed["inv_radcliq_v1"].mean
        if row.own is None
        else row.own["inv_radcliq_v1"][0].cell.shown
        for row in rows
    ]
    assert len(rows) == 24 + 3
    assert means == sorted(means, reverse=True)  # type: ignore[type-var]
    assert [row.model for row in rows if row.own is not None] == ["a", "c", "b"]
    by_green = rank_with_published(board, tables, "green")
    assert [row.model for row in by_green[-3:]] == ["a", "b", "c"]  # none has a value of it
    other = published_board("rexrank_2024", "IU-Xray", "findings+impression")
    assert other is not None
    assert all(row.own is None for row in rank_with_published(other, tables, "bleu_2"))
    assert all(row.own is None for row in rank_with_published(board, None, "bleu_2"))
