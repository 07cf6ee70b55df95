"""Whatever stands in the files, opening ends with a set or with a list of problems."""

import csv
import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rexview import frames
from rexview.columns import TABLES
from rexview.errors import ReviewSetError
from rexview.reviewset import check_review_set, load_review_set

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 6)
    | st.integers()
    | st.floats()
    | texts
    | st.sampled_from(["c1", "m1", "pa", "a/pa.png", "../x", "2025-01-01", "NaN", "choice", "[]"])
)


def plausible(column):
    """Values of the right shape with anything inside, or anything at all."""
    if column.kind == "records":
        shape = st.lists(st.fixed_dictionaries({}, optional=fields(column)) | scalars, max_size=3)
    elif column.kind == "record":
        shape = st.fixed_dictionaries({}, optional=fields(column))
    elif column.kind in ("texts", "box"):
        shape = st.lists(scalars, max_size=5)
    elif column.kind == "tags":
        shape = st.dictionaries(texts, st.lists(scalars, max_size=2) | scalars, max_size=2)
    elif column.vocabulary:
        shape = st.sampled_from(column.vocabulary)
    else:
        shape = scalars
    anything = scalars | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
    return shape | anything


def fields(column):
    return {part.name: plausible(part) for part in column.fields} | {"unknown": scalars}


def rows(name):
    optional = {column.name: plausible(column) for column in TABLES[name].columns}
    return st.lists(
        st.fixed_dictionaries({}, optional=optional | {"unknown": scalars | st.lists(scalars)}),
        max_size=3,
    )


tables = st.fixed_dictionaries({name: rows(name) for name in TABLES})
thorough = settings(suppress_health_check=list(HealthCheck))
INFO = "format: 1\nname: x\nmodels: [{id: m1}]\nreaders: [{id: r}]\n"
SOUND = {"id": "c1", "question": "?", "images": [{"id": "pa", "path": "a/pa.png"}]}


def assert_opens_or_explains(folder):
    problems = check_review_set(folder)
    for problem in problems:
        assert problem.message
        assert problem.remedy
        assert problem.row is None or problem.row > 0
        assert str(folder) not in str(problem)
    if any(problem.severity == "error" for problem in problems):
        with pytest.raises(ReviewSetError) as raised:
            load_review_set(folder)
        assert list(raised.value.problems) == problems
        return
    review_set = load_review_set(folder)
    assert list(review_set.warnings) == problems
    for name, schema in frames.TABLES.items():
        assert getattr(review_set, name).schema == schema
    for case_id in review_set.cases["id"]:
        assert review_set.case(case_id).id == case_id
        review_set.answers_of(case_id, all_runs=True)
        review_set.scores_of(case_id)
        review_set.flags_of(case_id)


@given(tables, st.booleans())
@thorough
def test_any_rows_in_json_lines(content, sound):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reviewset.yaml").write_text(INFO)
        (folder / "images").mkdir()
        if sound:
            content["cases"] = [SOUND]
        for table, found in content.items():
            lines = [json.dumps(row) + "\n" for row in found]
            (folder / f"{table}.jsonl").write_text("".join(lines))
        assert_opens_or_explains(folder)


@given(tables)
@thorough
def test_any_rows_in_csv(content):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reviewset.yaml").write_text(INFO)
        content["cases"].append(SOUND)
        for table, found in content.items():
            names = list(dict.fromkeys(key for row in found for key in row))
            with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, names)
                writer.writeheader()
                for row in found:
                    nested = {
                        k: json.dumps(v) for k, v in row.items() if isinstance(v, list | dict)
                    }
                    writer.writerow(row | nested)
        assert_opens_or_explains(folder)


@given(rows("answers"), rows("cases"))
@thorough
def test_any_columns_in_parquet(answers, cases):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reviewset.yaml").write_text(INFO)
        for table, found in (("answers", answers), ("cases", [*cases, SOUND])):
            try:
                frame = pl.DataFrame(found, infer_schema_length=None)
                frame.write_parquet(folder / f"{table}.parquet")
            except (pl.exceptions.PolarsError, TypeError, OverflowError):
                assume(False)  # polars itself cannot write that
        assert_opens_or_explains(folder)


@given(
    st.sampled_from(["cases.jsonl", "cases.csv", "cases.parquet", "reviewset.yaml"]), st.binary()
)
@thorough
def test_any_bytes(file, content):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reviewset.yaml").write_text(INFO)
        if file == "reviewset.yaml":
            (folder / "cases.jsonl").write_text(json.dumps(SOUND))
        (folder / file).write_bytes(content)
        assert_opens_or_explains(folder)


@given(st.binary(max_size=40))
@thorough
def test_any_bytes_after_a_sound_beginning(content):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "reviewset.yaml").write_bytes(INFO.encode() + content)
        (folder / "cases.jsonl").write_bytes(json.dumps(SOUND).encode() + b"\n" + content)
        (folder / "answers.csv").write_bytes(b"case,model,text\nc1,m1,fine\n" + content)
        assert_opens_or_explains(folder)
