"""Numbers of choices with the filters that open them: what is counted is what Browse shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.made_rows.choices import CATEGORIES, READ, write_choice_set

from rexview.analysis import CaseFilter
from rexview.analysis.multiple_choice import (
    OTHER_CATEGORIES,
    ChoiceCell,
    build_choice_groups,
    build_choice_tables,
    build_kappa_map,
    compare_raters,
    find_category_group,
    find_category_order,
    list_choice_groupings,
    list_read_question_cells,
)
from rexview.analysis.query.filter.linked_count import LinkedCount
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.reviewset import load_review_set
from rexview.stats.multiple_choice import measure_choice_accuracies

BASES = (
    CaseFilter(),
    CaseFilter(difficulties=("hard",)),
    CaseFilter(models=("gem", "res")),
    CaseFilter(outcomes=("wrong:med",), sites=("north",)),
    CaseFilter(tags=(f"category:{CATEGORIES[0]}", f"category:{CATEGORIES[2]}")),
)


@pytest.fixture(scope="module", name="engine")
def engine_fixture(tmp_path_factory: pytest.TempPathFactory) -> MemoryEngine:
    return build_memory_engine(
        load_review_set(write_choice_set(tmp_path_factory.mktemp("choices") / "set"))
    )


def counts_of(cells: tuple[ChoiceCell, ...]) -> Iterator[LinkedCount]:
    for cell in cells:
        yield from (cell.asked, cell.right, cell.wrong, cell.failed)


@pytest.mark.parametrize("base", BASES)
def test_every_count_is_what_its_filter_opens(engine: MemoryEngine, base: CaseFilter) -> None:
    tables = build_choice_tables(engine, base, resamples=0)
    assert tables.total
    counted = [*counts_of(tables.total), *tables.noted.values()]
    for by in list_choice_groupings(engine):
        for row in build_choice_groups(engine, base, by, resamples=0).rows:
            counted += [row.questions, *counts_of(row.cells)]
    for row in tables.tasks:
        counted += [row.questions, *counts_of(row.cells)]
    counted += counts_of(list_read_question_cells(engine, base, resamples=0))
    compared = compare_raters(engine, base, resamples=0)
    for pair in (*compared.of_models, *compared.with_readers):
        counted += [pair.only_a, pair.only_b]
    counted += [cell.shared for cells in build_kappa_map(engine, base).values() for cell in cells]
    some = [count for count in counted if count.value]
    assert len(some) > 40
    for count in some:
        assert engine.tally(count.opens).cases == count.value, count


def test_a_count_is_linked_where_nobody_else_answered(engine: MemoryEngine) -> None:
    cells = {cell.place: cell for cell in build_choice_tables(engine, resamples=0).total}
    resident, reader = cells[2], cells[3]
    assert resident.asked.opens.models == ("res",)
    assert reader.asked.opens.models == ()
    assert "right:ra" in reader.asked.opens.outcomes
    assert reader.asked.value == READ


def test_totals_and_tasks_are_those_of_the_statistics(engine: MemoryEngine) -> None:
    """Nothing is counted in two ways: ``stats --json`` has the same numbers under ``choices``."""
    tables = build_choice_tables(engine, resamples=99)
    rows = measure_choice_accuracies(engine.table.review_set, ("gem", "med", "res"), resamples=99)
    expected = {(row.model, row.task): row for row in rows if row.category is None}
    parts: list[tuple[str | None, Any]] = [(None, tables.total)]
    parts += [(row.value, row.cells) for row in tables.tasks]
    met = 0
    for task, cells in parts:
        for cell in cells:
            row = expected.get((tables.raters[cell.place].id, task))
            if row is None:
                continue
            rate, met = cell.accuracy.rate, met + 1
            assert (rate.n, rate.flagged, cell.accuracy.failed) == (row.n, row.correct, row.failed)
            assert (rate.interval.low, rate.interval.high) == (row.low, row.high)
            assert cell.accuracy.without_failed.share == row.accuracy_read
    assert met == len(expected)


def test_categories_stand_as_in_the_paper_and_others_are_kept(engine: MemoryEngine) -> None:
    by = next(one for one in list_choice_groupings(engine) if one.key == "tag:category")
    rows = build_choice_groups(engine, CaseFilter(), by, resamples=0).rows
    assert [(row.group, row.name) for row in rows] == [
        ("Respiratory System", "Lung & Pleural Opacity"),
        ("Cardiovascular", "Heart"),
        (OTHER_CATEGORIES, "Home-made category"),
    ]
    assert find_category_group("lung and pleural opacity") == "Respiratory System"
    assert find_category_order("Rib") < find_category_order("Home-made category")


def test_models_and_readers_are_compared_apart(engine: MemoryEngine) -> None:
    compared = compare_raters(engine, CaseFilter(), resamples=99)
    pairs = [[(one.test.rater_a, one.test.rater_b) for one in kind] for kind in (
        compared.of_models, compared.with_readers
    )]  # fmt: skip
    assert pairs == [[(0, 1)], [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]]
    assert all(one.test.n_pairs == READ for one in compared.with_readers)


def test_agreement_by_task_and_over_all(engine: MemoryEngine) -> None:
    found = build_kappa_map(engine, CaseFilter())
    assert next(iter(found)) is None
    assert len(found) == 4
    assert {len(cells) for cells in found.values()} == {10}
    of_tasks = [cells for task, cells in found.items() if task]
    for place, cell in enumerate(found[None]):
        assert cell.kappa.n == sum(cells[place].kappa.n for cells in of_tasks)


def test_a_set_without_choice_questions_has_no_raters(make_set: Any) -> None:
    engine = build_memory_engine(
        make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g"}])
    )
    assert engine.raters == ()
    tables = build_choice_tables(engine, resamples=0)
    assert (tables.total, tables.tasks, tables.counts.questions) == ((), (), 0)
    assert build_kappa_map(engine, CaseFilter()) == {}
