"""The filter as data: to the link and back, and what is said about values nobody understands."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.analysis import ANSWER_STATUSES, FILTER_KEYS, RANGES, SORTS, CaseFilter, NumberRange
from rexview.analysis.query.filter.case_filter import COMMENT_STATES, SOURCES, WEAKEST_LINKS
from rexview.analysis.query.filter.conditions import (
    COMPARISON_RESULTS,
    EditCondition,
    MetricOrder,
    ModelPair,
    ReaderPair,
    ScoreCondition,
)
from rexview.analysis.query.filter.judge_conditions import JudgeCondition
from rexview.errors import FilterError
from rexview.metrics.identity import MetricId
from rexview.stats.judge_agreement import Judge
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, FAILURES


@each_row(
    ("query", "expected"),
    [
        ({}, CaseFilter()),
        ({"failure": "token_limit"}, CaseFilter(failures=("token_limit",))),
        (
            {"failure": "laterality_error", "by": "hint"},  # a link from before side_incomplete
            CaseFilter(failures=("side_incomplete",), sources=("hint",)),
        ),
        (
            {"failure": ["token_limit", "omission"]},
            CaseFilter(failures=("token_limit", "omission")),
        ),
        ({"model": ["a b", "ü"]}, CaseFilter(models=("a b", "ü"))),
        ({"gap": "2.."}, CaseFilter(gap=NumberRange(2))),
        ({"gap": "-1..0.5"}, CaseFilter(gap=NumberRange(-1, 0.5))),
        ({"content": "..2"}, CaseFilter(content=NumberRange(None, 2))),
        ({"content": "3"}, CaseFilter(content=NumberRange(3, 3))),
        ({"content": ".."}, CaseFilter(content=NumberRange())),
        ({"q": "  left   effusion "}, CaseFilter(search="left effusion")),
        ({"tag": "region:pleura: left"}, CaseFilter(tags=("region:pleura: left",))),
        ({"sort": "gap", "case": "c1", "set": "x"}, CaseFilter(sort="gap")),
        ({"model": ["a", "a", ""]}, CaseFilter(models=("a",))),
        ({"mark": "execution:2::a:b"}, CaseFilter(reader_scores=("execution:2::a:b",))),
        (
            {"mark": ["process:2..2::r", "process:2::r"]},
            CaseFilter(reader_scores=("process:2::r",)),
        ),
        (
            {"mark": ":4..5:2026-03-01..2026-03-07:r"},
            CaseFilter(reader_scores=(":4..5:2026-03-01..2026-03-07:r",)),
        ),
        ({"both": "execution:0..1:a:b"}, CaseFilter(reader_pairs=("execution:0..1:a:b",))),
        (
            {"both": ["process:0..4:a:b", "process::a:b"]},
            CaseFilter(reader_pairs=("process::a:b",)),
        ),
        ({"both": "process:2..2:a%3Ab:50%"}, CaseFilter(reader_pairs=("process:2:a%3Ab:50%25",))),
        ({"paired": "content:g:m"}, CaseFilter(model_pairs=("content:g:m",))),
        ({"edit": "below:2:a:b"}, CaseFilter(edits=("below:2:a:b",))),
        ({"sort": "worst:green:::"}, CaseFilter(sort="worst:green")),
    ],
)
def test_reads_a_query(query: Any, expected: CaseFilter) -> None:
    assert CaseFilter.from_query(query) == expected


@each_row(
    ("query", "named"),
    [
        ({"failure": "sidedness"}, "sidedness"),
        ({"by": "nobody"}, "nobody"),
        ({"sort": "colour"}, "colour"),
        ({"mark": "content:2::r"}, "content:2::r"),
        ({"mark": "process:6::r"}, "process:6::r"),
        ({"mark": "process:4..2::r"}, "process:4..2::r"),
        ({"mark": "process:²::r"}, "process:²::r"),
        ({"mark": "process::2026-02-30:r"}, "process::2026-02-30:r"),
        ({"mark": "::2026-03-07..2026-03-01:r"}, "::2026-03-07..2026-03-01:r"),
        ({"mark": "process"}, "process"),
        ({"both": "content:0:a:b"}, "content:0:a:b"),
        ({"both": ":0:a:b"}, ":0:a:b"),
        ({"both": "process:5:a:b"}, "process:5:a:b"),
        ({"both": "process:3..1:a:b"}, "process:3..1:a:b"),
        ({"both": "process:-1:a:b"}, "process:-1:a:b"),
        ({"both": "process:¹:a:b"}, "process:¹:a:b"),
        ({"both": "process:0:a"}, "process:0:a"),
        ({"both": "process:0:a:b:c"}, "process:0:a:b:c"),
        ({"both": "process:0:a:a"}, "process:0:a:a"),
        ({"both": "process:0::b"}, "process:0::b"),
        ({"both": f"process:0:a:{'b' * 7_000}"}, "process:0:a:b"),
        ({"paired": "gap:g:m"}, "gap:g:m"),
        ({"paired": "content:g"}, "content:g"),
        ({"paired": "content:g:g"}, "content:g:g"),
        ({"paired": "content:g:m:x"}, "content:g:m:x"),
        ({"paired": f"content:g:{'m' * 7_000}"}, "content:g:m"),
        ({"gap": "two"}, "two"),
        ({"gap": "4..2"}, "4..2"),
        ({"gap": "nan.."}, "nan"),
        ({"content": "1e9"}, "1e9"),
        ({"tag": "pleura"}, "pleura"),
        ({"weakest": "language"}, "language"),
        ({"model": "x" * 1500}, "x" * 40),
    ],
)
def test_says_what_it_cannot_read_and_keeps_the_rest(query: dict[str, str], named: str) -> None:
    with pytest.raises(FilterError, match=named):
        CaseFilter.from_query({**query, "model": "m"} if "model" not in query else query)
    found, problems = CaseFilter.read({"type": "open", **query})
    assert found == CaseFilter(question_types=("open",))
    assert len(problems) == 1
    assert named in problems[0]


def test_a_filter_made_with_unknown_words_is_refused() -> None:
    with pytest.raises(FilterError, match="sidedness"):
        CaseFilter(failures=("sidedness",))


WORD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
NUMBER = st.none() | st.integers(-8, 8).map(lambda half: half / 2)
RANGE = st.none() | st.tuples(NUMBER, NUMBER).filter(
    lambda ends: None in ends or ends[0] <= ends[1]
).map(lambda ends: NumberRange(*ends))


SCORE = st.integers(1, 5)
MARK = st.builds(
    ScoreCondition,
    dimension=st.sampled_from(["", *DIMENSIONS]),
    low=SCORE,
    high=st.just(5),
    first=st.dates(max_value=date(2020, 1, 1)),
    last=st.dates(min_value=date(2020, 1, 1)),
    reader=st.text(max_size=20),
).map(str) | st.builds(
    ScoreCondition.of, st.text(max_size=20), st.sampled_from(DIMENSIONS), SCORE
).map(str)


APART = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted)
TWO = st.lists(
    st.text("ab:%23A", min_size=1, max_size=6) | WORD, min_size=2, max_size=2, unique=True
)
READERS = st.builds(
    lambda dimension, two, apart: str(ReaderPair(dimension, tuple(two), *apart)),
    st.sampled_from(DIMENSIONS),
    TWO,
    APART,
)
MODELS = st.builds(
    lambda dimension, two: str(ModelPair(dimension, tuple(two))),
    st.sampled_from(list(DIMENSION_NAMES)),
    TWO,
)


EDITED = st.builds(
    lambda what, severity, reader: str(EditCondition(what, severity, reader)),
    st.sampled_from(["from", "below"]),
    st.integers(1, 4),
    WORD | st.just(""),
)
ORDERED = st.builds(
    lambda worst, *parts: str(MetricOrder(MetricId(*parts), worst)),
    st.booleans(),
    WORD,
    *[WORD | st.none()] * 3,
)


def chosen(words: Any) -> Any:
    return st.lists(st.sampled_from(list(words)), max_size=3).map(tuple)


JUDGED = st.builds(
    lambda about, prompt, judge: str(JudgeCondition(*about, Judge(judge, prompt))),
    st.sampled_from([("omission", "yes"), ("omission", ""), ("process", "3"), ("process", "")]),
    WORD,
    WORD,
)
FILTERS = st.builds(
    CaseFilter,
    failures=chosen(FAILURES),
    sources=chosen(SOURCES),
    models=st.lists(WORD, max_size=2).map(tuple),
    statuses=chosen(ANSWER_STATUSES),
    weakest=chosen(WEAKEST_LINKS),
    judged=chosen(FAILURES),
    passing=st.lists(WORD, max_size=2).map(tuple),
    question_types=chosen(["open", "choice", "report"]),
    categories=st.lists(WORD, max_size=2).map(tuple),
    tags=st.lists(st.tuples(WORD, WORD).map(":".join), max_size=2).map(tuple),
    sites=st.lists(WORD, max_size=2).map(tuple),
    studies=chosen(["normal", "abnormal"]),
    reader_scores=st.lists(MARK, max_size=3).map(tuple),
    reader_pairs=st.lists(READERS, max_size=2).map(tuple),
    model_pairs=st.lists(MODELS, max_size=2).map(tuple),
    comments=chosen(COMMENT_STATES),
    opinions=st.lists(JUDGED, max_size=2).map(tuple),
    edits=st.lists(EDITED, max_size=2).map(tuple),
    edit_kinds=st.lists(WORD, max_size=2).map(tuple),
    compared=st.lists(st.sampled_from(sorted(COMPARISON_RESULTS)), max_size=2).map(tuple),
    search=WORD | st.just(""),
    sort=st.sampled_from(list(SORTS)) | ORDERED,
    **dict.fromkeys(RANGES, RANGE),
)


@given(FILTERS)
def test_survives_the_link(case_filter: CaseFilter) -> None:
    query = case_filter.to_query()
    assert set(query) <= set(FILTER_KEYS)
    link = urlencode(query, doseq=True)
    assert CaseFilter.from_query(parse_qs(link, keep_blank_values=True)) == case_filter


@given(JUDGED)
def test_a_judges_words_come_back_whatever_its_names_hold(word: str) -> None:
    assert str(JudgeCondition.parse(word)) == word
    about = JudgeCondition("omission", "no", Judge("a:b%3A", "%:"))
    assert JudgeCondition.parse(str(about)) == about


@pytest.mark.parametrize(
    "word",
    [
        *("omission:yes:p", "omission:3:p:j", "process:yes:p:j", "process:6:p:j", "content:3:p:j"),
        *(
            "omission:yes::j",
            "omission:yes:p:",
            "omission:yes:p:j:k",
            "",
            f"omission:yes:p:{'j' * 9000}",
        ),
    ],
)
def test_what_no_judge_says_is_left_out_of_a_link(word: str) -> None:
    found, problems = CaseFilter.read({"judge_says": [word, "omission:yes:p:j"]})
    assert found.opinions == ("omission:yes:p:j",)
    assert len(problems) == bool(word)


@pytest.mark.parametrize(
    "word",
    [
        "maybe:prior:3fa9c1d2e4b5:j",
        "yes:../x:3fa9c1d2e4b5:j",
        "yes:prior:3fa9:j",
        "yes:prior:3FA9C1D2E4B5:j",
        "yes:prior:3fa9c1d2e4b5:",
        "yes:prior:3fa9c1d2e4b5:j:k",
        f"yes:prior:3fa9c1d2e4b5:{'j' * 9000}",
    ],
)
def test_what_no_judge_says_of_a_written_failure_is_left_out_of_a_link(word: str) -> None:
    known = "yes:prior:3fa9c1d2e4b5:judge%3Ax"
    found, problems = CaseFilter.read({"written": [word, known]})
    assert found.written == (known,)
    assert found.to_query() == {"written": [known]}
    assert len(problems) == 1


@given(READERS, MODELS)
def test_ids_of_two_come_back_whatever_they_hold(readers: str, models: str) -> None:
    assert str(ReaderPair.parse(readers)) == readers
    assert str(ModelPair.parse(models)) == models
    pair = ReaderPair("process", ("a:b%3A", "%"), 1, 2)
    assert ReaderPair.parse(str(pair)) == pair


@given(st.dictionaries(st.sampled_from(FILTER_KEYS), st.lists(st.text(max_size=30), max_size=3)))
def test_never_crashes_on_a_link(query: dict[str, list[str]]) -> None:
    found, problems = CaseFilter.read(query)
    assert CaseFilter.from_query(found.to_query()) == found
    assert all(isinstance(problem, str) and problem for problem in problems)


@given(FILTERS)
def test_can_be_taken_apart_again(case_filter: CaseFilter) -> None:
    for field in dataclasses.fields(CaseFilter):
        value = getattr(case_filter, field.name)
        if isinstance(value, tuple):
            for word in value:
                case_filter = case_filter.without(field.name, word)
        elif field.name != "sort":
            case_filter = case_filter.without(field.name)
    assert not case_filter.active
    assert case_filter == case_filter.cleared()
