"""The Scores page's numbers by hand, and that each opens the answers that it counts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from rexview.analysis import CaseFilter, LinkedCount, NumberRange
from rexview.analysis.charts.linked_chart import SELECTION, LinkedChart
from rexview.analysis.charts.scores import (
    chain_chart,
    distribution_chart,
    gap_spread_chart,
    missing_answers_chart,
    split_chart,
)
from rexview.analysis.colours import assign_model_colours
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.analysis.scores import (
    ScoreSplit,
    ScoreTables,
    build_score_split,
    build_score_tables,
    comparison_caption,
    count_pairs,
    gap_classes,
    is_pairs_count_exact,
    left_out_caption,
    split_caption,
    summary_caption,
)
from rexview.schema import ReviewSet
from rexview.stats import CONTENT_ORDERS
from rexview.vocab import IMAGE_DIMENSIONS

FEW = 99  # resamples: the intervals themselves are tested in tests/stats
MARKS = {  # case, model: process, execution, synthesis by one reader
    ("c1", "g"): (5, 2, 3),  # content 2, gap 3
    ("c2", "g"): (5, 5, 5),  # content 5, gap 0
    ("c3", "g"): (4, 3, 4),  # content 3, gap 1
    ("c1", "m"): (2, 2, 4),  # content 2, gap 0
    ("c2", "m"): (1, 4, 4),  # content 1, gap -3
}
CASES = [
    {
        "id": "c1",
        "category": "broad_abnormality",
        "normal": False,
        "tags": [{"name": "region", "values": ["Lung", "Pleura"]}],
    },
    {"id": "c2", "normal": True, "tags": [{"name": "region", "values": ["Lung"]}]},
    {"id": "c3", "category": "broad_abnormality", "normal": False},
    {"id": "c4"},
]


@pytest.fixture(name="review_set", scope="module")
def review_set_fixture(make_set: Any) -> ReviewSet:
    answers = [{"case": case, "model": model} for case, model in MARKS]
    answers += [
        {"case": "c3", "model": "m", "finish_reason": "length"},
        {"case": "c4", "model": "m", "finish_reason": "content_filter"},
        {"case": "c4", "model": "g"},  # came, nobody scored it
    ]
    scores = [
        {"case": case, "model": model, "reader": "r", "dimension": name, "score": mark}
        for (case, model), marks in MARKS.items()
        for name, mark in zip(("process", "execution", "synthesis"), marks, strict=True)
    ]
    scores += [  # two pictures of one answer, one of another; a second reader on the first
        {"case": "c1", "model": "g", "reader": "r", "dimension": "image_content", **more}
        for more in ({"image": 0, "score": 5}, {"image": 1, "score": 2})
    ]
    scores += [
        {"case": "c1", "model": "g", "reader": "s", "dimension": "process", "score": 4},
        {"case": "c2", "model": "g", "reader": "r", "dimension": "image_content", "score": 4},
        {"case": "c3", "model": "m", "reader": "r", "dimension": "process", "score": 1},
    ]
    return make_set(cases=CASES, answers=answers, scores=scores)  # type: ignore[no-any-return]


@pytest.fixture(name="engine", scope="module")
def engine_fixture(review_set: ReviewSet) -> MemoryEngine:
    return build_memory_engine(review_set)


@pytest.fixture(name="tables", scope="module")
def tables_fixture(review_set: ReviewSet, engine: MemoryEngine) -> ScoreTables:
    return build_score_tables(engine, resamples=FEW)


def test_headline(tables: ScoreTables) -> None:
    assert (tables.cases.value, tables.answers.value) == (4, 8)
    assert (tables.with_content.value, tables.unscored, tables.lost.value) == (5, 1, 2)
    assert tables.readers == 2  # the third score is of an answer that never came


def test_cells_by_hand(tables: ScoreTables) -> None:
    cell = tables.cell("content", "g")
    assert cell is not None
    assert cell.summary.mean == pytest.approx((2 + 5 + 3) / 3)
    assert (cell.scored.value, cell.perfect.value, cell.low.value, cell.unscored) == (3, 1, 1, 1)
    assert [count.value for count in cell.bins] == [0, 1, 1, 0, 1]
    process = tables.cell("process", "g")
    assert process is not None
    assert process.summary.mean == pytest.approx((4.5 + 5 + 4) / 3)
    assert [count.value for count in process.bins] == [0, 0, 0, 2, 1]
    assert tables.cell("language", "g") is None
    assert tables.dimensions == ("content", "process", "execution", "synthesis", "image_content")


def test_image_scores_count_pictures(tables: ScoreTables) -> None:
    cell = tables.cell("image_content", "g")
    assert cell is not None
    assert (cell.scored.value, cell.perfect.value, cell.low.value) == (3, 1, 1)
    assert not cell.exact
    assert cell.perfect.opens == CaseFilter(models=("g",), image_content=NumberRange())
    empty = tables.cell("image_content", "m")
    assert empty is not None
    assert empty.summary.n == 0


def test_gaps_by_hand(tables: ScoreTables) -> None:
    first, second = tables.gaps
    assert first.summary.mean == pytest.approx((2.5 + 0 + 1) / 3)
    assert (first.flagged.value, first.known.value) == (1, 3)
    assert {gap: count.value for gap, count in second.bins.items()} == {-3.0: 1, 0.0: 1}


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({0.0: 2, 0.5: 1}, [(0.0, "0..0", 2), (0.5, "0.5..0.5", 1)]),
        ({0.25: 2, -1 / 3: 1, 1.0: 1}, [(-0.5, "-0.75..-0.251", 1), (0.5, "0.25..0.749", 2),
                                        (1.0, "0.75..1.249", 1)]),
        ({}, []),
    ],
)  # fmt: skip
def test_gap_classes(counts: dict[float, int], wanted: list[Any]) -> None:
    found = gap_classes(counts)
    assert [(middle, str(limits), n) for middle, limits, n in found] == wanted


def test_answers_that_never_came(tables: ScoreTables) -> None:
    found = {lost.model: lost for lost in tables.no_answers}
    assert (found["g"].lost.value, found["g"].lost.of) == (0, 4)
    assert (found["m"].lost.value, found["m"].lost.of) == (2, 4)
    reasons = {name: count.value for name, count in found["m"].by_reason.items()}
    assert reasons == {"token_limit": 1, "error": 0, "refused": 1, "empty": 0}


def counts_of(tables: ScoreTables) -> Iterator[LinkedCount]:
    yield from (tables.answers, tables.with_content, tables.lost)
    for cell in tables.cells:
        if cell.exact:
            yield from (cell.scored, cell.perfect, cell.low, *cell.bins)
    for gap in tables.gaps:
        yield from (gap.known, gap.flagged, *gap.bins.values())
    for lost in tables.no_answers:
        yield from (lost.lost, *lost.by_reason.values())


@pytest.mark.parametrize(
    "case_filter",
    [
        CaseFilter(),
        CaseFilter(models=("g",)),
        CaseFilter(content=NumberRange(None, 3)),
        CaseFilter(statuses=("answered",), gap=NumberRange(0, 2)),
        CaseFilter(tags=("region:Lung",)),
    ],
    ids=["all", "model", "content", "gap", "tag"],
)
def test_every_number_opens_its_answers(
    review_set: ReviewSet, engine: MemoryEngine, case_filter: CaseFilter
) -> None:
    counts = list(counts_of(build_score_tables(engine, case_filter, resamples=0)))
    assert sum(count.value > 0 for count in counts) > 8
    for count in counts:
        if count.value:
            assert engine.selection(count.opens).rows["model"].count() == count.value, count.opens


@pytest.fixture(name="three_models", scope="module")
def three_models_fixture(make_set: Any) -> ReviewSet:
    """Cases with one to three answers; halves, re-scored ones, several pictures, lost answers."""
    dice = random.Random(7)
    cases, answers, scores = [], [], []
    for case in (f"c{number:02d}" for number in range(70)):
        cases.append({"id": case, "site": dice.choice("AB"), "question": dice.choice("xy")})
        for model in dice.sample(["g", "m", "z: 50%"], dice.choice([1, 2, 3, 3])):
            key = {"case": case, "model": model}
            reason = dice.choice(["stop"] * 5 + ["length"])
            answers.append(key | {"finish_reason": reason, "text": dice.choice(["Mass", "Clear"])})
            given = [(name, None) for name in ("process", "execution", "synthesis")]
            given += [("image_content", 0), ("image_content", 1)]
            for reader in dice.sample("rs", dice.choice([0, 1, 2, 2])):
                scores += [
                    key
                    | {"reader": reader, "dimension": name, "image": image}
                    | {"score": dice.choice([None, 1, 2, 3, 4, 5])}
                    for name, image in given * dice.randint(1, 2)
                ]
    return make_set(cases=cases, answers=answers, scores=scores)  # type: ignore[no-any-return]


@pytest.mark.parametrize("order", CONTENT_ORDERS)
@pytest.mark.parametrize(
    ("base", "exact"),
    [
        (CaseFilter(), True),
        (CaseFilter(models=("m", "g"), sites=("A",)), True),
        (CaseFilter(statuses=("answered",), model_pairs=("content:g:m",), sort="gap"), True),
        (CaseFilter(search="mass"), False),
        (CaseFilter(execution=NumberRange(3)), False),
    ],
)
def test_pairs_open_the_cases_that_are_compared(
    three_models: ReviewSet, order: Any, base: CaseFilter, exact: bool
) -> None:
    engine = build_memory_engine(three_models, content_order=order)
    tables = build_score_tables(engine, base, resamples=0)
    assert is_pairs_count_exact(base) is exact
    seen = set()
    for test in tables.comparison.tests:
        count = count_pairs(test, base)
        assert count.opens == CaseFilter.from_query(count.opens.to_query())
        opened = engine.selection(count.opens)
        assert set(opened.rows["model"]) <= {test.model_a, test.model_b}
        if exact:
            assert len(opened) == count.value
            assert len(opened.rows) == 2 * count.value
        else:
            assert len(opened) >= count.value
        seen.add(len(opened))
    assert max(seen) > 4


def test_numbers_of_paired_cases_open_their_answers(three_models: ReviewSet) -> None:
    base = CaseFilter(model_pairs=("execution:g:m",))
    engine = build_memory_engine(three_models)
    tables = build_score_tables(engine, base, resamples=0)
    assert set(tables.models) == {"g", "m"}
    counts = list(counts_of(tables))
    assert sum(count.value > 0 for count in counts) > 20
    for count in counts:
        if count.value:
            assert engine.selection(count.opens).rows["model"].count() == count.value, count.opens


def test_choices_tell_cases_apart(engine: MemoryEngine) -> None:
    keys = [choice.key for choice in engine.facts.properties]
    assert keys == ["category", "study", "tag:region"]


def split(review_set: ReviewSet, engine: MemoryEngine, key: str, **conditions: Any) -> ScoreSplit:
    by = next(choice for choice in engine.facts.properties if choice.key == key)
    return build_score_split(engine, CaseFilter(**conditions), by, resamples=FEW)


def test_a_split_by_hand(review_set: ReviewSet, engine: MemoryEngine) -> None:
    found = split(review_set, engine, "study")
    assert [part.value for part in found.groups] == ["normal", "abnormal"]
    assert (found.without, found.left_out, found.overlap) == (1, 0, False)
    means = {
        (part.value, cell.summary.model): (cell.summary.mean, cell.summary.n)
        for part in found.groups
        for cell in part.cells
        if cell.summary.dimension == "content"
    }
    assert means == {
        ("normal", "g"): (5.0, 1),
        ("normal", "m"): (1.0, 1),
        ("abnormal", "g"): (2.5, 2),
        ("abnormal", "m"): (2.0, 1),
    }


def test_a_case_with_two_tags_counts_in_each(review_set: ReviewSet, engine: MemoryEngine) -> None:
    found = split(review_set, engine, "tag:region")
    assert {part.value: part.count.value for part in found.groups} == {
        "region:Lung": 2,
        "region:Pleura": 1,
    }
    assert found.overlap
    assert "counts in each" in split_caption(found)
    one = split(review_set, engine, "tag:region", tags=("region:Pleura",))
    assert [part.value for part in one.groups] == ["region:Pleura"]


@pytest.mark.parametrize("key", ["category", "study", "tag:region"])
def test_every_part_opens_its_answers(
    review_set: ReviewSet, engine: MemoryEngine, key: str
) -> None:
    for part in split(review_set, engine, key).groups:
        assert len(engine.selection(part.count.opens)) == part.count.value
        for cell in part.cells:
            if cell.summary.n and cell.exact:
                opened = engine.selection(cell.scored.opens).rows["model"].count()
                assert opened == cell.summary.n, (part.value, cell.name)


def all_charts(
    review_set: ReviewSet, engine: MemoryEngine, tables: ScoreTables
) -> Iterator[tuple[LinkedChart | None, str]]:
    colours = assign_model_colours(engine.facts.models)
    yield distribution_chart(tables), "Counted"
    yield chain_chart(tables, colours), "n"
    yield gap_spread_chart(tables, colours), "Answers"
    yield missing_answers_chart(tables), "Answers"
    yield split_chart(split(review_set, engine, "study"), "content", colours), "n"


def test_charts_open_what_was_clicked(
    review_set: ReviewSet, engine: MemoryEngine, tables: ScoreTables
) -> None:
    for chart, counted in all_charts(review_set, engine, tables):
        assert chart is not None
        assert "background" not in chart.spec
        rows = [row for data in chart.spec["datasets"].values() for row in data if row.get("key")]
        assert {row["key"] for row in rows} == set(chart.filters)
        assert len(chart.table) == len(rows)
        pictures = [name.replace("_", " ").title() for name in IMAGE_DIMENSIONS]
        for row in rows:
            chosen = chart.chosen({SELECTION: [{"key": row["key"]}]})
            assert chosen is not None
            if row.get("Dimension") not in pictures:
                assert engine.selection(chosen).rows["model"].count() == row[counted], row


def test_shares_of_a_row_make_one(tables: ScoreTables) -> None:
    chart = distribution_chart(tables)
    assert chart is not None
    sums = chart.table.groupby(["Dimension", "Model"])["Share"].sum()
    assert sums.to_list() == pytest.approx([1.0] * len(sums))


def test_captions_say_what_is_left_out(tables: ScoreTables) -> None:
    shown = ("content", "process", "image_content")
    left_out = left_out_caption(tables, shown)
    assert "2 answers counted as no full answer (token limit reached 1, refused 1)" in left_out
    assert "(Content 1, Process 1)" in left_out
    assert "minimum of the readers' means" in summary_caption(tables, shown)
    assert "count returned pictures" in summary_caption(tables, shown)
    tests = comparison_caption(tables, shown)
    assert "Generalist minus Medical 4B" in tests
    assert "Pairs: Content 2, Process 2." in tests
    assert "only one of the two is scored: Content 1, Process 1" in tests
    assert "over the 4 tests" in tests  # nobody scored language


def test_nothing_scored(make_set: Any) -> None:
    review_set = make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g"}])
    engine = build_memory_engine(review_set)
    tables = build_score_tables(engine, resamples=FEW)
    assert tables.dimensions == ()
    assert (tables.answers.value, tables.unscored, tables.readers) == (1, 1, 0)
    colours = assign_model_colours(engine.facts.models)
    assert distribution_chart(tables) is None
    assert chain_chart(tables, colours) is None
    assert gap_spread_chart(tables, colours) is None
    assert missing_answers_chart(tables) is None


def test_a_set_without_answers(make_set: Any) -> None:
    review_set = make_set(cases=[{"id": "c"}])
    tables = build_score_tables(build_memory_engine(review_set), resamples=FEW)
    assert tables.models == {}
    assert tables.cells == ()


def test_the_other_order_of_content_is_kept(make_set: Any) -> None:
    marks = {"r": (5, 1, 3), "s": (1, 5, 3)}  # smallest mean 3; mean of the smallest 1
    review_set = make_set(
        cases=[{"id": "c"}],
        answers=[{"case": "c", "model": "g"}],
        scores=[
            {"case": "c", "model": "g", "reader": reader, "dimension": part, "score": score}
            for reader, scores in marks.items()
            for part, score in zip(("process", "execution", "synthesis"), scores, strict=True)
        ],
    )
    found = {}
    for order in CONTENT_ORDERS:
        engine = build_memory_engine(review_set, content_order=order)
        tables = build_score_tables(engine, resamples=0)
        cell = tables.cell("content", "g")
        assert cell is not None
        found[order] = (cell.summary.mean, cell.low.value)
        for count in counts_of(tables):
            if count.value:
                assert engine.selection(count.opens).rows["model"].count() == count.value
        assert CONTENT_ORDERS[order].lower() in summary_caption(tables, ("content",))
    assert found == {"mean_first": (3.0, 0), "minimum_first": (1.0, 1)}
