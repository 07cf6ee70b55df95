"""The engine against a plain reading of the same files: 2,000 random filters."""

from __future__ import annotations

import random

import pytest
from support.plain_reading import LOST, Reading, engine_and_reading, random_filter

from rexview.analysis.query.engine import Position
from rexview.analysis.query.memory.memory_engine import MemoryEngine
from rexview.vocab import DIMENSIONS

FILTERS = 2_000


@pytest.fixture(scope="module", name="both")
def both_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[MemoryEngine, Reading]:
    return engine_and_reading(tmp_path_factory.mktemp("all"))


def test_the_set_has_everything(both: tuple[MemoryEngine, Reading]) -> None:
    _, reading = both
    sources = {source for row in reading.rows for source in row["sources"].values()}
    assert sources == {"detector", "reader", "both", "hint"}
    assert {row["status"] for row in reading.rows} >= {"answered", "not_run", "empty", *LOST[:2]}
    assert any(found for row in reading.rows for found in row["about"].values())
    assert len({row["weakest"] for row in reading.rows}) > 4
    assert {name for row in reading.rows for name in DIMENSIONS if row[name]} == set(DIMENSIONS)


def test_random_filters_leave_what_a_plain_reading_leaves(
    both: tuple[MemoryEngine, Reading],
) -> None:
    engine, reading = both
    rng = random.Random(2026)
    sizes = []
    for _ in range(FILTERS):
        chosen = random_filter(rng)
        conditions = reading.conditions(chosen)
        rows = reading.left(conditions)
        ordered = reading.ordered(rows, chosen.sort)
        sizes.append(len(ordered))
        first = rng.randint(0, 8)
        assert engine.page(chosen, first, 7) == tuple(ordered[first : first + 7]), chosen
        assert engine.page(chosen, 0, 100) == tuple(ordered), chosen

        case = rng.choice(tuple(reading.cases))
        assert engine.position(chosen, case) == plain_position(ordered, case), chosen

        tally = engine.tally(chosen)
        assert tally.cases == len(ordered)
        answers = [reading.rows[at] for at in rows if reading.rows[at]["model"] is not None]
        assert tally.answers == len(answers)
        assert tally.with_content == sum(row["content"] is not None for row in answers)
        assert tally.lost == sum(row["status"] in LOST for row in answers)

        found = engine.facets(chosen)
        assert found.total == len(ordered)
        assert engine.facts.n_cases == len(reading.cases)
        expected = reading.counts(conditions, chosen)
        counted = {
            (facet.field, value.value): value.count
            for facet in found.facets
            for value in facet.values
        }
        missing = {key for key in expected if key[1] and key not in counted}
        assert not missing
        assert counted == {key: expected.get(key, 0) for key in counted}, chosen
    assert sum(0 < size < len(reading.cases) for size in sizes) > FILTERS / 3


def plain_position(ordered: list[str], case: str) -> Position:
    if case not in ordered:
        return Position(None, len(ordered), None, ordered[0] if ordered else None)
    at = ordered.index(case)
    before = ordered[at - 1] if at else None
    after = ordered[at + 1] if at + 1 < len(ordered) else None
    return Position(at + 1, len(ordered), before, after)
