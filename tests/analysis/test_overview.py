"""The numbers of the Overview by hand, and that each number opens its cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rexview.analysis import CaseFilter, LinkedCount
from rexview.analysis.charts.linked_chart import SELECTION
from rexview.analysis.charts.overview import gap_chart, means_chart, overview_charts, weakest_chart
from rexview.analysis.overview import Overview, build_overview
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.schema import Model, SetInfo

MARKS = {  # case, model: process, execution, synthesis
    ("c1", "g"): (5, 2, 3),
    ("c2", "g"): (4, 4, 4),
    ("c3", "g"): (5, 3, 4),
    ("c1", "m"): (2, 2, 4),
}


@pytest.fixture(name="engine", scope="module")
def engine_fixture(make_set: Any) -> MemoryEngine:
    answers = [{"case": case, "model": model} for case, model in MARKS]
    answers.append({"case": "c2", "model": "m", "finish_reason": "length"})
    scores = [
        {"case": case, "model": model, "reader": "r", "dimension": name, "score": mark}
        for (case, model), marks in MARKS.items()
        for name, mark in zip(("process", "execution", "synthesis"), marks, strict=True)
    ]
    scores += [
        {"case": "c2", "model": "m", "reader": "r", "dimension": "process", "score": 1},
    ]
    word = {"case": "c3", "reader": "r", "verdict": "confirmed"}
    flags = [
        {**word, "model": "g", "failure": "execution_gap"},
        {**word, "model": "g", "failure": "laterality_error"},
    ]
    cases = [{"id": f"c{number}"} for number in (1, 2, 3, 4)]
    return build_memory_engine(make_set(cases=cases, answers=answers, scores=scores, flags=flags))


@pytest.fixture(name="numbers", scope="module")
def numbers_fixture(engine: MemoryEngine) -> Overview:
    return build_overview(engine)


def test_headline(numbers: Overview) -> None:
    head = numbers.headline
    assert (head.cases.value, head.answers.value, head.no_answer.value) == (4, 5, 1)
    assert (head.scored.value, head.scored.of) == (4, 5)
    assert (head.n_models, head.n_readers, head.n_images) == (2, 1, 0)


def test_failures_by_model_and_source(numbers: Overview) -> None:
    found = {(item.failure, item.model): item for item in numbers.failures}
    gap = found["execution_gap", "g"]
    assert (gap.flagged.value, gap.judged.value) == (2, 3)
    assert (gap.detector.value, gap.reader.value, gap.both.value) == (1, 0, 1)
    assert gap.flagged.share == pytest.approx(2 / 3)
    side = found["laterality_error", "g"]
    assert (side.flagged.value, side.reader.value, side.judged.value) == (1, 1, 1)
    limit = found["token_limit", "m"]
    assert (limit.flagged.value, limit.judged.value) == (1, 2)
    assert found["laterality_error", "m"].flagged.share is None


def test_weakest_link_names_ties(numbers: Overview) -> None:
    shares = {(item.model, item.name): item.answers.share for item in numbers.weakest}
    assert shares["g", "Execution"] == pytest.approx(2 / 3)
    assert shares["g", "All equal"] == pytest.approx(1 / 3)
    assert shares["m", "Process and Execution"] == 1.0
    assert shares["m", "Execution"] == 0.0


def test_means_leave_out_the_answer_that_never_came(numbers: Overview) -> None:
    means = {(item.model, item.dimension): item for item in numbers.means}
    assert means["g", "content"].summary.mean == pytest.approx((2 + 4 + 3) / 3)
    assert means["m", "process"].summary.mean == 2.0  # not (2 + 1) / 2
    assert means["m", "process"].scored.value == 1
    assert ("g", "language") not in means


def test_gaps(numbers: Overview) -> None:
    means = {item.model: item.summary.mean for item in numbers.gaps}
    assert means == {"g": pytest.approx(5 / 3), "m": 0.0}
    bins = {
        (item.model, gap): count.value for item in numbers.gaps for gap, count in item.bins.items()
    }
    assert bins == {("g", 0.0): 1, ("g", 2.0): 1, ("g", 3.0): 1, ("m", 0.0): 1}


def every_count(numbers: Overview) -> Iterator[LinkedCount]:
    yield from (numbers.headline.no_answer, numbers.headline.scored)
    for item in numbers.failures:
        yield from (item.flagged, item.judged, item.detector, item.reader, item.both)
    yield from (mean.scored for mean in numbers.means)
    yield from (share.answers for share in numbers.weakest)
    for gap in numbers.gaps:
        yield from (gap.known, *gap.bins.values())


@pytest.mark.parametrize("case_filter", [CaseFilter(), CaseFilter(models=("g",))])
def test_every_number_opens_its_answers(engine: MemoryEngine, case_filter: CaseFilter) -> None:
    counts = list(every_count(build_overview(engine, case_filter)))
    assert len(counts) > 15
    for count in counts:
        opened = engine.selection(count.opens)
        assert opened.rows["model"].count() == count.value, count.opens


def test_charts_open_what_was_clicked(engine: MemoryEngine, numbers: Overview) -> None:
    for draw in (weakest_chart, means_chart, gap_chart):
        linked = draw(numbers)
        assert linked is not None
        spec = linked.spec
        assert "background" not in spec
        values = next(iter(spec["datasets"].values()))
        assert [row["key"] for row in values] == list(linked.filters)
        for row in values:
            chosen = linked.chosen({SELECTION: [{"key": row["key"]}]})
            assert chosen == linked.filters[row["key"]]
            assert engine.selection(chosen).rows["model"].count() == row.get(
                "Answers", row.get("n")
            )
        assert "key" not in linked.table.columns
        assert linked.chosen(None) is None
        assert linked.chosen({SELECTION: []}) is None
        assert linked.chosen({SELECTION: [{"key": "?"}]}) is None


def test_nothing_scored_gives_no_charts(make_set: Any) -> None:
    numbers = build_overview(build_memory_engine(make_set(cases=[{"id": "c"}])))
    assert numbers.headline.cases.value == 1
    assert numbers.models == {}
    assert [draw(numbers) for draw in (weakest_chart, means_chart, gap_chart)] == [None] * 3


@pytest.mark.parametrize(("count", "drawn"), [(10, range(10)), (20, (4, 9, 14, 10, 15, 5))])
def test_many_models_get_a_row_each_and_equal_names_are_told_apart(
    make_set: Any, count: int, drawn: Sequence[int]
) -> None:
    models = [f"m{number}" for number in range(count)]
    answers = [{"case": "c1", "model": model} for model in models]
    scores = [
        {"case": "c1", "model": model, "reader": "r", "dimension": name, "score": 1 + place % 5}
        for place, model in enumerate(models)
        for name in ("process", "execution", "synthesis")
    ]
    made = make_set(cases=[{"id": "c1"}], answers=answers, scores=scores)
    same = SetInfo(name="Test", models=tuple(Model(model, "Same") for model in models))
    engine = build_memory_engine(replace(made, info=same))
    charts = overview_charts(build_overview(engine))
    assert len(charts) == 3
    for chart in charts:
        assert chart.table["Model"].nunique() == len(drawn)
        assert ("first 3 and the last 3 of 20 models" in chart.caption) == (count > 10)
        rows = next(iter(chart.spec["datasets"].values()))
        assert [row["key"] for row in rows] == list(chart.filters)
        assert {row["Model"] for row in rows} == {f"Same (m{number})" for number in drawn}
        marks = [layer["mark"]["type"] for layer in chart.spec["layer"]]
        assert marks == ["rect", "text"]


def test_pictures_are_counted_and_averaged_one_by_one(make_set: Any) -> None:
    answers = [
        {"case": "c1", "model": "g", "images": ["a.png", "b.png"]},
        {"case": "c2", "model": "g", "images": ["c.png"]},
    ]
    scores = [
        {"case": case, "model": "g", "reader": "r", "dimension": "image_content", **one}
        for case, one in (
            ("c1", {"image": 0, "score": 1}),
            ("c1", {"image": 1, "score": 2}),
            ("c2", {"image": 0, "score": 5}),
        )
    ]
    engine = build_memory_engine(
        make_set(cases=[{"id": "c1"}, {"id": "c2"}], answers=answers, scores=scores)
    )
    (mean,) = build_overview(engine).means
    assert (mean.scored.value, mean.of_pictures) == (3, True)
    assert mean.summary.mean == pytest.approx(8 / 3)  # not the mean over answers, 3.25
    assert len(engine.selection(mean.scored.opens)) == 2
