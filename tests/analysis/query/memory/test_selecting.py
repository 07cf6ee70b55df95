"""Filtering and counting, held against a plain loop over the rows."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from functools import cache
from typing import Any

import polars as pl
import pytest
from support.rows import each_row

from rexview.analysis import CaseFilter, NumberRange, describe_unknown_values
from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.engine import Position, find_position
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.detect import FAILURE_BITS
from rexview.vocab import FAILURES

CATEGORIES = ("broad_abnormality", "diagnostic_reasoning", None)
REGIONS = ("pleura", "lung", "heart")


def random_set(make_set: Any, seed: int, n_cases: int = 40) -> Any:
    """Cases with every kind of gap in the data: no answers, no scores, no tags, cut answers."""
    rng = random.Random(seed)
    cases, answers, scores, flags = [], [], [], []
    for number in range(n_cases):
        case_id = f"c{number:02d}"
        regions = rng.sample(REGIONS, rng.randint(0, 2))
        cases.append(
            {
                "id": case_id,
                "question": rng.choice(["Any effusion?", "What is wrong?"]),
                "category": rng.choice(CATEGORIES),
                "site": rng.choice(["A", "B", None]),
                "normal": rng.choice([True, False, None]),
                "tags": [{"name": "region", "values": regions}] if regions else [],
                "report": {"findings": rng.choice(["Left Effusion.", None]), "impression": None},
            }
        )
        for model in rng.sample(["g", "m"], rng.randint(0, 2)):
            reason = rng.choice(["stop", "stop", "stop", "length", "error"])
            month = rng.randint(1, 12)
            answers.append(
                {
                    "case": case_id,
                    "model": model,
                    "finish_reason": reason,
                    "text": rng.choice(["A nodule.", "Effusion (small)", "", None]),
                    "created": datetime(2025, month, 1, tzinfo=UTC),
                }
            )
            for reader in rng.sample(["r1", "r2"], rng.randint(0, 2)):
                scores += [
                    {
                        "case": case_id,
                        "model": model,
                        "reader": reader,
                        "dimension": dimension,
                        "score": rng.randint(1, 5),
                        "created": rng.choice([None, datetime(2026, 3, month, 23, tzinfo=UTC)]),
                    }
                    for dimension in ("process", "execution", "synthesis", "language")
                    if rng.random() < 0.9
                ]
                scores += [
                    {
                        "case": case_id,
                        "model": model,
                        "reader": reader,
                        "dimension": "image_content",
                        "image": picture,
                        "score": rng.randint(1, 3),
                    }
                    for picture in (0, 1, None)
                    if rng.random() < 0.7
                ]
            for failure in rng.sample(list(FAILURES)[:5], rng.randint(0, 2)):
                verdict = rng.choice(["confirmed", "rejected"])
                flags.append(
                    {"case": case_id, "model": model, "reader": "r1", "failure": failure}
                    | {"verdict": verdict}
                )
    return make_set(cases=cases, answers=answers, scores=scores, flags=flags)


def has_marks(engine: MemoryEngine, row: dict[str, Any], words: tuple[str, ...]) -> bool:
    """Whether an answer that came has all marks, those about pictures on the same one."""
    if not words or row["status"] != "answered":
        return not words
    key = pl.struct(case=pl.lit(row["case"]), model=pl.lit(row["model"]))
    scores = engine.table.scores.review_set.scores
    given = scores.filter(pl.struct("case", "model") == key).rows(named=True)
    pictures = None
    for word in words:
        dimension, scores, days, reader = word.split(":", 3)
        low, _, high = scores.partition("..")
        first, _, last = days.partition("..")
        met = [
            score
            for score in given
            if dimension in ("", score["dimension"])
            and reader in ("", score["reader"])
            and (not low or int(low) <= score["score"] <= int(high or low))
            and (not first or first <= str(score["created"] or "0")[:10] <= (last or first))
        ]
        if not met:
            return False
        if dimension.startswith("image"):
            found = {score["image"] for score in met}
            pictures = found if pictures is None else pictures & found
    return pictures is None or bool(pictures)


@cache
def all_rows(engine: MemoryEngine) -> list[dict[str, Any]]:
    """The answers and the cases without any, as plain dicts."""
    return engine.table.rows.rows(named=True)


@cache
def shared_answers(engine: MemoryEngine, word: str) -> set[tuple[str, str]]:
    """The answers that two readers both scored, or one picture of them, so far apart."""
    dimension, apart, first, second = word.split(":")
    low, _, high = apart.partition("..")
    allowed = range(int(low), int(high or low) + 1) if apart else range(5)
    given: dict[tuple[Any, ...], int] = {}
    for score in engine.table.scores.review_set.scores.filter(
        pl.col("dimension") == dimension
    ).rows(named=True):
        picture = score["image"] if dimension.startswith("image") else None
        given[score["case"], score["model"], picture, score["reader"]] = score["score"]
    return {
        (case, model)
        for (case, model, picture, reader), value in given.items()
        if reader == first
        and (case, model, picture, second) in given
        and abs(value - given[case, model, picture, second]) in allowed
    }


@cache
def paired_answers(engine: MemoryEngine, word: str) -> set[tuple[str, str]]:
    """The answers of two models in the cases where both have a final score."""
    dimension, *models = word.split(":")
    scored = {(row["case"], row["model"]) for row in all_rows(engine) if row[dimension] is not None}
    both = {case for case, _ in scored if all((case, model) in scored for model in models)}
    return {(case, model) for case, model in scored if case in both and model in models}


def is_commented(engine: MemoryEngine, case: str, words: tuple[str, ...]) -> bool:
    """Whether a case has comments, or open ones, as the words ask."""
    count = engine.table.comments.get(case)
    return count is not None and ("commented" in words or count.unresolved > 0)


def expected_rows(engine: MemoryEngine, case_filter: CaseFilter) -> list[dict[str, Any]]:
    """The same selection by a loop over plain dicts: the oracle."""
    cases = {row["id"]: row for row in engine.table.review_set.cases.iter_rows(named=True)}
    kept = []
    for row in all_rows(engine):
        case, key = cases[row["case"]], (row["case"], row["model"])
        failures = set()
        for failure, bit in FAILURE_BITS.items():
            detected, reader_flagged = (
                bool(row["detected"] & bit),
                bool(row["reader_flagged"] & bit),
            )
            source = {(1, 0): "detector", (0, 1): "reader", (1, 1): "both"}.get(
                (detected, reader_flagged)
            )
            if source is None and row["hinted"] & bit:
                source = "hint" if case_filter.sources else None  # a hint has to be asked for
            if source and (not case_filter.sources or source in case_filter.sources):
                failures.add(failure)
        regions: dict[str, set[str]] = {}
        for tag in case_filter.tags:
            regions.setdefault(tag.split(":")[0], set()).add(tag)
        tags = {f"{tag['name']}:{value}" for tag in case["tags"] or () for value in tag["values"]}
        study = {True: "normal", False: "abnormal", None: None}[case["normal"]]
        report = [text or "" for text in (case["report"] or {}).values()]
        text = " ".join([case["question"], *report, row["text"] or ""]).lower()
        checks = [
            not case_filter.models or row["model"] in case_filter.models,
            not case_filter.statuses or row["status"] in case_filter.statuses,
            not case_filter.weakest or row["weakest"] in case_filter.weakest,
            not case_filter.failures or bool(failures & set(case_filter.failures)),
            not case_filter.sources or bool(failures & set(case_filter.failures or FAILURE_BITS)),
            not case_filter.judged
            or any(row["judged"] & FAILURE_BITS[failure] for failure in case_filter.judged),
            not case_filter.categories or case["category"] in case_filter.categories,
            not case_filter.sites or case["site"] in case_filter.sites,
            not case_filter.studies or study in case_filter.studies,
            all(values & tags for values in regions.values()),
            all(word.lower() in text for word in case_filter.search.split()),
            has_marks(engine, row, case_filter.reader_scores),
            not case_filter.reader_pairs or row["status"] == "answered",
            all(key in shared_answers(engine, word) for word in case_filter.reader_pairs),
            all(key in paired_answers(engine, word) for word in case_filter.model_pairs),
            not case_filter.comments or is_commented(engine, row["case"], case_filter.comments),
        ]
        for name, limits in case_filter.ranges.items():
            value = row["spread" if name == "disagreement" else name]
            low = limits.low is None or (value is not None and value >= limits.low)
            high = limits.high is None or (value is not None and value <= limits.high)
            checks.append(value is not None and low and high)
        if all(checks):
            kept.append(row)
    return kept


FILTERS = [
    CaseFilter(),
    CaseFilter(models=("g",)),
    CaseFilter(models=("m",), failures=("token_limit",)),
    CaseFilter(failures=("laterality_error", "execution_gap")),
    CaseFilter(failures=("token_limit",), sources=("both",)),
    CaseFilter(sources=("reader", "both"), models=("g",)),
    CaseFilter(sources=("detector",)),
    CaseFilter(sources=("hint",)),
    CaseFilter(failures=("omission", "token_limit"), sources=("hint", "both")),
    CaseFilter(statuses=("answered",), gap=NumberRange(1)),
    CaseFilter(statuses=("not_run",)),
    CaseFilter(content=NumberRange(1, 2), language=NumberRange(None, 3.5)),
    CaseFilter(disagreement=NumberRange(2)),
    CaseFilter(weakest=("execution", "process_and_execution")),
    CaseFilter(judged=("execution_gap",), models=("m",)),
    CaseFilter(tags=("region:pleura", "region:lung"), studies=("normal",)),
    CaseFilter(tags=("region:heart", "position:upright")),
    CaseFilter(categories=("broad_abnormality",), sites=("A",), failures=("token_limit",)),
    CaseFilter(reader_scores=("execution:2::r1",)),
    CaseFilter(reader_scores=("execution:2..4::r1", "execution:1..3::r2"), models=("g",)),
    CaseFilter(reader_scores=("execution:::r1", "process:5::r1")),
    CaseFilter(reader_scores=("image_content:1::r1", "image_content:3::r2")),
    CaseFilter(reader_scores=("::2026-03-02..2026-03-06:r1",)),
    CaseFilter(reader_scores=("language:4:2026-03-05:",), search="effusion"),
    CaseFilter(reader_scores=(":1::nobody",)),
    CaseFilter(reader_pairs=("execution::r1:r2",)),
    CaseFilter(reader_pairs=("execution:0:r2:r1",)),
    CaseFilter(reader_pairs=("execution:0..1:r1:r2", "process:1..4:r1:r2")),
    CaseFilter(reader_pairs=("image_content:2:r1:r2", "image_content:0:r1:r2")),
    CaseFilter(
        reader_pairs=("image_content:1..3:r1:r2",),
        reader_scores=("image_content:1::r1",),
        models=("g",),
    ),
    CaseFilter(reader_pairs=("execution:0:r1:nobody",)),
    CaseFilter(model_pairs=("content:g:m",)),
    CaseFilter(model_pairs=("image_content:m:g", "language:g:m")),
    CaseFilter(model_pairs=("process:g:m",), models=("m",), gap=NumberRange(0)),
    CaseFilter(model_pairs=("process:g:nobody",)),
    CaseFilter(comments=("commented",)),
    CaseFilter(comments=("unresolved",), models=("g",)),
    CaseFilter(comments=("unresolved", "commented"), search="nodule"),
    CaseFilter(search="EFFUSION"),
    CaseFilter(search="effusion (small) any"),
    CaseFilter(search=".*"),
    CaseFilter(models=("nobody",)),
    CaseFilter(sites=("Z",), search="effusion", models=("g",)),
]


@pytest.fixture(name="engine", scope="module", params=[1, 2, 3])
def engine_fixture(make_set: Any, request: pytest.FixtureRequest) -> MemoryEngine:
    rng = random.Random(request.param)
    comments = {
        f"c{number:02d}": CommentCount(rng.randint(1, 3), rng.randint(0, 1))
        for number in rng.sample(range(45), 15)
    }
    return build_memory_engine(random_set(make_set, request.param), comments=comments)


@each_row("case_filter", FILTERS)
def test_selects_what_a_loop_selects(engine: MemoryEngine, case_filter: CaseFilter) -> None:
    expected = expected_rows(engine, case_filter)
    selection = engine.selection(case_filter)
    keys = [(row["case"], row["model"]) for row in expected]
    assert selection.rows.select("case", "model").rows() == keys
    assert set(selection.case_ids) == {case for case, _ in keys}
    assert len(selection) == len(selection.case_ids) == len(set(selection.case_ids))


def test_the_filters_of_this_test_tell_cases_apart(engine: MemoryEngine) -> None:
    sizes = [len(engine.selection(case_filter)) for case_filter in FILTERS]
    assert sizes[0] == len(engine.table.review_set.cases)
    assert sum(0 < size < len(engine.table.review_set.cases) for size in sizes) >= 14


@each_row("case_filter", FILTERS)
def test_counts_follow_the_other_conditions(engine: MemoryEngine, case_filter: CaseFilter) -> None:
    counted = engine.facets(case_filter)
    assert counted.total == len(engine.selection(case_filter))
    for facet in counted.facets:
        for value in facet.values:
            if facet.field == "tags":
                name = value.value.split(":")[0]
                kept = tuple(tag for tag in case_filter.tags if tag.split(":")[0] != name)
                chosen = (*kept, value.value)
            else:
                chosen = (value.value,)
            only: Any = CaseFilter(**{**vars(case_filter), facet.field: chosen})
            expected = len({row["case"] for row in expected_rows(engine, only)})
            assert value.count == expected, (facet.field, value.value)
            assert value.chosen == (value.value in getattr(case_filter, facet.field))


@each_row("case_filter", FILTERS)
def test_headlines_tell_sources_apart(engine: MemoryEngine, case_filter: CaseFilter) -> None:
    for counts in engine.facets(case_filter).headlines:
        for source in ("detector", "reader", "both", None):
            changes: Any = {"failures": (counts.failure,), "judged": ()}
            changes["sources"] = (source,) if source else ()
            only = CaseFilter(**{**vars(case_filter), **changes})
            expected = len({row["case"] for row in expected_rows(engine, only)})
            assert getattr(counts, source or "total") == expected


class TestOrder:
    def test_by_gap(self, engine: MemoryEngine) -> None:
        selection = engine.selection(CaseFilter(gap=NumberRange(), sort="gap"))
        gaps = dict(selection.rows.group_by("case").agg(gap=_largest("gap")).iter_rows())
        ordered = [gaps[case_id] for case_id in selection.case_ids]
        assert ordered == sorted(ordered, reverse=True)
        assert len(set(ordered)) > 1

    def test_by_severity_of_the_answers_that_the_filter_is_about(
        self, engine: MemoryEngine
    ) -> None:
        selection = engine.selection(CaseFilter(models=("g",)))
        worst = dict(selection.rows.select("case", "severity").iter_rows())
        ordered = [worst[case_id] for case_id in selection.case_ids]
        assert ordered == sorted(ordered, reverse=True)

    def test_newest_first_and_cases_without_answers_last(self, engine: MemoryEngine) -> None:
        selection = engine.selection(CaseFilter(sort="newest"))
        dates = dict(selection.rows.group_by("case").agg(d=_largest("created")).iter_rows())
        ordered = [dates[case_id] for case_id in selection.case_ids]
        known = [date for date in ordered if date is not None]
        assert known == sorted(known, reverse=True)
        assert ordered[len(known) :] == [None] * (len(ordered) - len(known))

    def test_file_order_and_ties(self, engine: MemoryEngine) -> None:
        all_ids = engine.table.review_set.cases["id"].to_list()
        assert engine.selection(CaseFilter(sort="order")).case_ids == all_ids
        alone = engine.selection(CaseFilter(statuses=("not_run",), sort="gap")).case_ids
        assert alone == sorted(alone)

    def test_a_part_of_a_long_list(self, engine: MemoryEngine) -> None:
        ids = tuple(engine.selection(CaseFilter()).case_ids)
        assert engine.page(CaseFilter(), 5, 7) == ids[5:12]
        assert engine.page(CaseFilter(), 38, 7) == ids[38:]


def _largest(column: str) -> Any:
    return pl.col(column).max()


@pytest.mark.parametrize(
    ("case_id", "expected"),
    [
        ("a", Position(1, 3, None, "b")),
        ("b", Position(2, 3, "a", "c")),
        ("c", Position(3, 3, "b", None)),
        ("x", Position(None, 3, None, "a")),
    ],
)
def test_neighbours(make_set: Any, case_id: str, expected: Position) -> None:
    assert find_position(["a", "b", "c"], case_id) == expected
    engine = build_memory_engine(make_set(cases=[{"id": name} for name in "abc"]))
    assert engine.position(CaseFilter(sort="order"), case_id) == expected


def test_an_empty_set(make_set: Any) -> None:
    engine = build_memory_engine(make_set())
    for case_filter in FILTERS:
        assert engine.selection(case_filter).case_ids == []
        assert engine.facets(case_filter).total == 0


def test_many_models_are_counted_too(make_set: Any) -> None:
    answers = [{"case": "c", "model": f"m{number}"} for number in range(40)]
    engine = build_memory_engine(make_set(cases=[{"id": "c"}, {"id": "d"}], answers=answers))
    by_model = next(
        facet for facet in engine.facets(CaseFilter()).facets if facet.field == "models"
    )
    counts = {value.value: value.count for value in by_model.values}
    assert counts == {"g": 0, "m": 0, **{f"m{number}": 1 for number in range(40)}}


def test_values_that_the_set_does_not_have_are_named(engine: MemoryEngine) -> None:
    case_filter = CaseFilter(
        models=("g", "nobody"),
        tags=("region:toe",),
        sites=("A",),
        reader_scores=("process:1::x:y", "process:2::x:y", "process:::r1", "process:1::"),
        reader_pairs=("process::r2:z%3A", "process::x%3Ay:r1"),
        model_pairs=("process:g:none", "process:nobody:m"),
    )
    assert describe_unknown_values(engine.facets(case_filter), engine.facts, case_filter) == [
        "This set has no model “nobody”.",
        "This set has no tag “region:toe”.",
        "This set has no model “none”.",
        "This set has no reader “x:y”.",
        "This set has no reader “z:”.",
    ]
