"""The Readers page's numbers: what each opens is exactly what it counts."""

from __future__ import annotations

import dataclasses
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from rexview.analysis import CaseFilter, NumberRange
from rexview.analysis.adjudication import build_adjudication
from rexview.analysis.charts.readers import (
    bubble_chart,
    confusion_chart,
    drift_charts,
    stricter_chart,
)
from rexview.analysis.query.filter.conditions import ReaderPair
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.analysis.readers import (
    ReaderTables,
    agreement_caption,
    build_reader_tables,
    measure_reader_drifts,
    no_drift_captions,
    stricter_captions,
    variance_captions,
)
from rexview.schema import Reader, ReviewSet


def score(
    case: str, reader: str, value: int | None, dimension: str = "process", **more: Any
) -> Any:
    row = {"case": case, "model": "g", "reader": reader, "dimension": dimension, "score": value}
    return row | more


def review(make_set: Any, scores: list[Any], *, cases: str = "", **answers: Any) -> ReviewSet:
    """One answer of model g to each case that is scored; ``answers`` changes single ones."""
    ids = sorted({row["case"] for row in scores} | set(cases))
    made: ReviewSet = make_set(
        cases=[{"id": case} for case in ids],
        answers=[{"case": case, "model": "g"} | answers.get(case, {}) for case in ids],
        scores=scores,
    )
    info = dataclasses.replace(made.info, readers=(Reader("b", "Dr. B"), Reader("a", "Dr. A")))
    return dataclasses.replace(made, info=info)


def shown(review_set: ReviewSet, **more: Any) -> tuple[MemoryEngine, ReaderTables]:
    engine = build_memory_engine(review_set)
    return engine, build_reader_tables(engine, **more)


def answers_behind(engine: MemoryEngine, case_filter: CaseFilter) -> list[tuple[str, str]]:
    return [tuple(row) for row in engine.selection(case_filter).rows.select("case", "model").rows()]


def random_review(make_set: Any, seed: int, n_cases: int = 30) -> ReviewSet:
    dice = random.Random(seed)
    cases = [f"c{number:02d}" for number in range(n_cases)]
    answers, scores = [], []
    for case in cases:
        for model in dice.sample(["g", "m"], dice.randint(1, 2)):
            cut = dice.random() < 0.1
            answers.append(
                {"case": case, "model": model, "finish_reason": "length" if cut else "stop"}
            )
            for reader in dice.sample(["a", "b", "z"], dice.randint(0, 3)):
                day = datetime(2026, 3, 1, 22, tzinfo=UTC) + timedelta(days=dice.randint(0, 20))
                common = {"case": case, "model": model, "reader": reader, "created": day}
                for dimension in ("process", "execution", "language"):
                    if dice.random() < 0.85:
                        given = {
                            "dimension": dimension,
                            "score": dice.choice([None, 1, 2, 3, 4, 5]),
                        }
                        scores.append(common | given | {"comment": dice.choice([None, "Note"])})
                scores += [
                    common
                    | {"dimension": "image_style", "image": image, "score": dice.randint(1, 3)}
                    for image in (0, 1, None)
                    if dice.random() < 0.5
                ]
    made: ReviewSet = make_set(cases=[{"id": c} for c in cases], answers=answers, scores=scores)
    return made


class TestSmallTable:
    """Four answers: two with both readers, one with one, one cut off at the token limit."""

    @pytest.fixture(name="given")
    def given_fixture(self, make_set: Any) -> tuple[MemoryEngine, ReaderTables]:
        scores = [
            *(score("c1", "a", 5), score("c1", "b", 3)),
            *(score("c2", "a", 4), score("c2", "b", 4)),
            score("c3", "a", 1),
            *(score("c4", "a", 1), score("c4", "b", 5)),
        ]
        review_set = review(make_set, scores, c4={"finish_reason": "length"})
        return shown(review_set)

    def test_counts(self, given: tuple[MemoryEngine, ReaderTables]) -> None:
        engine, tables = given
        assert tables.readers == {"b": "Dr. B", "a": "Dr. A"}  # the order of the set
        assert tables.pair == ("b", "a")
        assert (tables.scored.value, tables.scored.of) == (3, 4)
        assert (tables.doubled.value, tables.lost.value, tables.unscored) == (2, 1, 0)
        assert answers_behind(engine, tables.doubled.opens) == [("c1", "g"), ("c2", "g")]
        assert answers_behind(engine, tables.scored.opens) == [
            ("c1", "g"),
            ("c2", "g"),
            ("c3", "g"),
        ]
        assert answers_behind(engine, tables.lost.opens) == [("c4", "g")]

    def test_cells(self, given: tuple[MemoryEngine, ReaderTables]) -> None:
        engine, tables = given
        (process,) = tables.compared
        cells = [(cell.score_a, cell.score_b, cell.count.value) for cell in process.cells]
        assert cells == [(3, 5, 1), (4, 4, 1)]
        assert answers_behind(engine, process.cells[0].count.opens) == [("c1", "g")]
        assert process.numbers.mad == 1.0

    def test_what_is_left_out_is_said(self, given: tuple[MemoryEngine, ReaderTables]) -> None:
        said = agreement_caption(given[1])
        assert "1 answer without two readers on the same dimension" in said
        assert "1 answer counted as no full answer" in said

    def test_adjudication_leaves_out_what_never_came(
        self, given: tuple[MemoryEngine, ReaderTables]
    ) -> None:
        engine, _ = given
        found = build_adjudication(engine, CaseFilter(), 2)
        (one,) = found.part(0, 10)
        assert (one.case, one.apart) == ("c1", 2.0)
        assert dict(one.disputes[0].scores) == {"a": 5.0, "b": 3.0}


def keys_behind(review_set: ReviewSet, dimension: str, apart: range) -> set[str]:
    """Return the cases with a unit that a and b both scored so far apart, the last score counts."""
    newest: dict[tuple[Any, ...], int] = {}
    for row in review_set.scores.iter_rows(named=True):
        if row["dimension"] == dimension and row["score"] is not None:
            picture = row["image"] if dimension.startswith("image") else None
            newest[row["case"], picture, row["reader"]] = row["score"]
    return {
        case
        for (case, image, reader), value in newest.items()
        if reader == "a" and abs(value - newest.get((case, image, "b"), 99)) in apart
    }


class TestHowFarApart:
    """Re-scored answers, halves, several pictures, an answer that never came."""

    @pytest.fixture(name="review_set")
    def review_set_fixture(self, make_set: Any) -> ReviewSet:
        scores = [
            *(score("same", "a", 1), score("same", "b", 4), score("same", "a", 4)),  # re-scored
            *(score("one", "a", 2), score("one", "b", 3)),
            # the picture that a score of the text names tells nothing apart: the last one counts
            *(score("three", "b", 1, image=0), score("three", "a", 5), score("three", "b", 2)),
            *(score("half", "a", 3), score("half", "b", 3, "language")),
            *(score("lost", "a", 5), score("lost", "b", 1)),
            *(score("blank", "a", 5), score("blank", "b", None)),
        ]
        pictures = {
            "same": [("a", 0, 2), ("b", 0, 2), ("a", 1, 1), ("b", 1, 5)],
            "one": [("a", 0, 3), ("b", 1, 3)],  # different pictures
            "three": [("a", None, 5), ("b", None, 4), ("a", 2, 2), ("b", 2, 2)],
        }
        scores += [
            score(case, reader, value, "image_content", image=image)
            for case, given in pictures.items()
            for reader, image, value in given
        ]
        return review(make_set, scores, lost={"finish_reason": "length"})

    def test_by_hand(self, review_set: ReviewSet) -> None:
        engine, tables = shown(review_set, resamples=0)
        process, pictures = tables.compared
        assert process.numbers.n == process.shared.value == 3
        assert process.numbers.exact == pytest.approx(1 / 3)
        opened = {
            "shared": {"same", "one", "three"},
            "same": {"same"},
            "close": {"same", "one"},
            "apart": {"one", "three"},
        }
        for name, cases in opened.items():
            part = getattr(process, name)
            count = part if name == "shared" else part.count
            assert count.value == len(cases)
            assert count.opens == CaseFilter.from_query(count.opens.to_query())
            assert set(engine.selection(count.opens).case_ids) == cases
        assert (pictures.numbers.n, pictures.cases) == (4, 2)
        found = [
            (part.count.value, part.cases)
            for part in (pictures.same, pictures.close, pictures.apart)
        ]
        assert found == [(2, 2), (3, 2), (2, 2)]

    @pytest.mark.parametrize("dimension", ["process", "language", "image_content"])
    def test_every_distance(self, review_set: ReviewSet, dimension: str) -> None:
        engine = build_memory_engine(review_set)
        came = set(engine.table.rows.filter(pl.col("status") == "answered")["case"])
        for low in range(5):
            for high in range(low, 5):
                for readers in (("a", "b"), ("b", "a")):
                    word = str(ReaderPair(dimension, readers, low, high))
                    wanted = keys_behind(review_set, dimension, range(low, high + 1)) & came
                    assert (
                        set(engine.selection(CaseFilter(reader_pairs=(word,))).case_ids) == wanted
                    )

    def test_in_a_filter_by_one_picture_others_of_it_count(self, review_set: ReviewSet) -> None:
        base = CaseFilter(reader_scores=("image_content:1::a",))
        engine, tables = shown(review_set, case_filter=base, resamples=0)
        pictures = tables.dimension("image_content")
        assert pictures is not None
        assert (pictures.shared.value, pictures.same.count.value) == (2, 1)
        for count in (pictures.shared, pictures.same.count, pictures.apart.count):
            assert engine.selection(count.opens).case_ids == ["same"]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "base",
    [
        CaseFilter(),
        CaseFilter(models=("m",)),
        CaseFilter(process=NumberRange(2, 4), sort="gap"),
        CaseFilter(
            reader_pairs=("process:0..1:a:z",), reader_scores=("::2026-03-02..2026-03-15:a",)
        ),
    ],
)
def test_everything_opens_what_it_counts(make_set: Any, seed: int, base: CaseFilter) -> None:
    review_set = random_review(make_set, seed)
    engine, tables = shown(review_set, case_filter=base, pair=("z", "a"), resamples=0)
    assert tables.pair is not None
    assert set(tables.pair) == {"a", "z"}
    for count in (tables.scored, tables.doubled, tables.lost):
        assert len(answers_behind(engine, count.opens)) == count.value
    dimensions = {found.numbers.dimension for found in tables.compared}
    assert {"process", "execution", "language", "image_style"} >= dimensions >= {"process"}
    for found in tables.compared:
        pictures = found.numbers.dimension == "image_style"
        assert sum(cell.count.value for cell in found.cells) == found.numbers.n
        parts = [*found.cells, found.same, found.close, found.apart]
        assert found.same.count.value + found.apart.count.value == found.numbers.n
        assert found.same.count.share == found.numbers.exact
        assert found.close.count.share == found.numbers.within_one
        for count, cases in [(found.shared, found.cases)] + [
            (part.count, part.cases) for part in parts
        ]:
            behind = engine.selection(count.opens)
            assert len(behind) == cases
            if not pictures:
                assert len(behind.rows) == count.value
    for dimension in ("process", "language"):
        for one in measure_reader_drifts(engine, base, tables.pair, dimension, resamples=0):
            for opened in one.blocks:
                assert len(answers_behind(engine, opened.count.opens)) == opened.block.n
                assert len(answers_behind(engine, opened.shared.opens)) == opened.block.shared
                assert opened.count.value == opened.block.n


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("threshold", [1, 2, 4])
@pytest.mark.parametrize("base", [CaseFilter(), CaseFilter(disagreement=NumberRange(None, 2))])
def test_the_list_is_what_browse_shows_in_its_order(
    make_set: Any, seed: int, threshold: float, base: CaseFilter
) -> None:
    review_set = random_review(make_set, seed)
    engine = build_memory_engine(review_set)
    found = build_adjudication(engine, base, threshold)
    listed = found.part(0, 1000)
    expected = [
        (row["case"], row["model"])
        for row in engine.selection(base).rows.iter_rows(named=True)
        if row["spread"] is not None and row["spread"] >= threshold
    ]
    assert sorted((one.case, one.model) for one in listed) == sorted(expected)
    assert found.answers.value == len(expected)
    assert found.cases == len({case for case, _ in expected})
    assert [one.apart for one in listed] == sorted((one.apart for one in listed), reverse=True)
    if expected:
        walked = engine.selection(found.answers.opens)
        assert walked.case_ids == list(dict.fromkeys(one.case for one in listed))
    for one in listed:
        assert one.disputes[0].apart == pytest.approx(one.apart)
        assert all(dispute.apart >= threshold for dispute in one.disputes)
    parts = [one for start in range(0, len(listed), 3) for one in found.part(start, 3)]
    assert parts == listed


def test_the_file_of_the_list(make_set: Any) -> None:
    scores = [
        score("c1", "a", 5, comment="=1+1"),
        score("c1", "b", 2),
        score("c1", "a", 1, "language"),
        score("c1", "b", 5, "language", comment="Slips"),
    ]
    review_set = review(make_set, scores)
    engine = build_memory_engine(review_set)
    frame = build_adjudication(engine, CaseFilter(), 2).frame(engine.facts.readers)
    assert list(frame.columns) == [
        *("Case", "Model", "Question", "Dimension", "Points apart"),
        *("Score: Dr. B", "Comment: Dr. B", "Score: Dr. A", "Comment: Dr. A"),
    ]
    assert frame.to_numpy().tolist() == [
        ["c1", "Generalist", "What is abnormal?", "Language", 4.0, 5.0, "Slips", 1.0, ""],
        ["c1", "Generalist", "What is abnormal?", "Process", 3.0, 2.0, "", 5.0, "=1+1"],
    ]


class TestWords:
    def test_who_is_stricter(self, make_set: Any) -> None:
        # b gives one or two points less on every process score, and as often more as less on
        # language.
        scores = []
        for number in range(30):
            case = f"c{number:02d}"
            high = 3 + number % 3
            scores += [score(case, "a", high), score(case, "b", high - 1 - number % 2)]
            other = 3 + (1 if number % 2 else -1)
            scores += [score(case, "a", 3, "language"), score(case, "b", other, "language")]
        _, tables = shown(review(make_set, scores))
        said = stricter_captions(tables)
        assert len(said) == 2
        assert said[0].startswith("Process: Dr. B is stricter, by 1.50 points on average (95% CI ")
        assert said[1] == "No difference is distinguishable from chance on Language."

    def test_low_variance_is_told(self, make_set: Any) -> None:
        pairs = [(5, 5)] * 20 + [(5, 4)] * 4 + [(4, 5)] * 4
        scores = [
            score(f"c{place:02d}", reader, value)
            for place, pair in enumerate(pairs)
            for reader, value in zip("ab", pair, strict=True)
        ]
        _, tables = shown(review(make_set, scores))
        (note,) = variance_captions(tables)
        said = "Process: 100% of the scores are within one point, yet kappa is -0.17"
        assert note.startswith(said)
        assert "low variance lowers kappa" in note

    def test_no_course_of_time_says_why(self, make_set: Any) -> None:
        day = datetime(2026, 3, 4, 12, tzinfo=UTC)
        scores = [
            score(f"c{number}", reader, 3, created=day if reader == "a" else None)
            for number in range(3)
            for reader in "ab"
        ]
        review_set = review(make_set, scores)
        engine = build_memory_engine(review_set)
        drifts = measure_reader_drifts(engine, CaseFilter(), ("a", "b"), "process")
        assert list(no_drift_captions(drifts)) == [
            "Dr. A: All scores with a date were given on one day: there is no before and after "
            "(4 Mar 2026, 3 scores).",
            "Dr. B: No score has a date.",
        ]
        assert drift_charts(drifts, "Process") == ()


class TestCharts:
    @pytest.fixture(name="tables")
    def tables_fixture(self, make_set: Any) -> tuple[ReviewSet, MemoryEngine, ReaderTables]:
        review_set = random_review(make_set, 3, n_cases=90)
        engine, tables = shown(review_set, pair=("a", "b"), resamples=99)
        return review_set, engine, tables

    def test_marks_open_their_cells(
        self, tables: tuple[ReviewSet, MemoryEngine, ReaderTables]
    ) -> None:
        found = tables[2].compared[0]
        for draw in (confusion_chart, bubble_chart):
            chart = draw(found, ("A", "B"))
            assert len(chart.filters) == len(found.cells) == len(chart.table)
            cell = found.cells[-1]
            event = {"opened": [{"key": f"{cell.score_a}/{cell.score_b}"}]}
            assert chart.chosen(event) == cell.count.opens
            assert str(found.numbers.n) in chart.caption
            assert chart.table["Answers"].sum() == found.numbers.n

    def test_differences_and_drift(
        self, tables: tuple[ReviewSet, MemoryEngine, ReaderTables]
    ) -> None:
        _, engine, numbers = tables
        assert numbers.pair is not None
        chart = stricter_chart(numbers)
        assert chart is not None
        assert list(chart.filters.values()) == [one.shared.opens for one in numbers.compared]
        drifts = measure_reader_drifts(engine, CaseFilter(), numbers.pair, "process", resamples=0)
        means, differences = drift_charts(drifts, "Process")
        blocks = [opened for one in drifts if len(one.blocks) > 1 for opened in one.blocks]
        assert list(means.filters.values()) == [opened.count.opens for opened in blocks]
        assert means.table["n"].sum() == sum(opened.block.n for opened in blocks)
        assert set(differences.filters.values()) <= {opened.shared.opens for opened in blocks}

    def test_hostile_names_are_only_text(
        self, tables: tuple[ReviewSet, MemoryEngine, ReaderTables]
    ) -> None:
        name = "</script>'\"] datum.x {" + "long " * 30
        chart = confusion_chart(tables[2].compared[0], (name, name))
        assert set(chart.table["Reader 1"]) == {name}
        layers = chart.spec["layer"]
        drawn = [part for layer in layers for part in layer["encoding"].values()]
        assert {part["title"] for part in drawn if "title" in part} == {name[:31] + "…"}
        fields = {part["field"] for part in drawn if "field" in part}
        assert fields == {"Score 1", "Score 2", "Answers", "a", "b"}


def test_nobody_one_reader_and_readers_apart(make_set: Any) -> None:
    for scores, readers in (
        ([], {}),
        ([score("c1", "a", None)], {}),
        ([score("c1", "a", 3)], {"a": "Dr. A"}),
        ([score("c1", "a", 3), score("c2", "b", 3)], {"b": "Dr. B", "a": "Dr. A"}),
    ):
        _, tables = shown(review(make_set, scores, cases="x"))
        assert tables.readers == readers
        assert tables.pair is None
        assert (tables.dimensions, tables.pairs, tables.alphas) == ((), (), ())
        assert stricter_chart(tables) is None
        assert stricter_captions(tables) == []


def test_more_than_two_readers(make_set: Any) -> None:
    scores = [
        score(f"c{n}", reader, 1 + (n + k) % 5) for n in range(6) for k, reader in enumerate("abz")
    ]
    scores += [score("c9", "a", 2), score("c9", "z", 2)]
    review_set = review(make_set, scores)
    _, tables = shown(review_set)
    assert tables.pairs == (("b", "a"), ("b", "z"), ("a", "z"))
    assert tables.pair == ("a", "z")  # they share most
    assert [row.n for row in tables.overview if row.dimension == "process"] == [6, 6, 7]
    assert next(found for found in tables.alphas if found.dimension == "process").n_units == 7
    _, other = shown(review_set, pair=("z", "b"))
    assert other.pair == ("b", "z")
    _, unknown = shown(review_set, pair=("z", "nobody"))
    assert unknown.pair == ("a", "z")


def test_no_score_outside_the_filter_is_counted(make_set: Any) -> None:
    scores = [score(case, reader, 3) for case in ("c1", "c2") for reader in "ab"]
    review_set = review(make_set, scores)
    engine = build_memory_engine(review_set)
    tables = build_reader_tables(engine, CaseFilter(search="nothing like it"))
    assert tables.pair is None
    assert tables.scored.value == 0
    assert pl.Series([tables.unscored, tables.lost.value]).sum() == 0


def test_readers_of_one_name_are_told_apart(make_set: Any) -> None:
    made = review(make_set, [score("c1", "a", 5), score("c1", "b", 2)])
    twins = (Reader("a", "Dr. X"), Reader("b", "Dr. X"))
    named = dataclasses.replace(made, info=dataclasses.replace(made.info, readers=twins))
    engine, tables = shown(named)
    assert tables.readers == {"a": "Dr. X (a)", "b": "Dr. X (b)"}
    columns = build_adjudication(engine, CaseFilter(), 2).frame(engine.facts.readers).columns
    assert len(set(columns)) == len(columns) == 9
