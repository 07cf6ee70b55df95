from dataclasses import fields

import polars as pl
import pytest
from support.rows import each_row

from rexview import frames
from rexview.columns import TABLES
from rexview.schema import Answer, Case, ReaderFlag, Score, StudyImage

RENAMED = {  # what loading makes of a column, or adds
    "cases": {"tags", "images"},
    "answers": {"finish_reason_raw", "usage", "_newest", "_repeated", "_choice_read"},
}
MADE = {"candidates", "candidate_ratings", "candidate_tags", "selections", "validations"}
TOGETHER = {"comments", "decisions"}
ORIGINS = {"scores", "flags", "edits", "choices", "preferences", "references"} | MADE | TOGETHER


def test_tables_are_those_of_the_query_engine():
    assert list(TABLES) == list(frames.TABLES)


@each_row("name", TABLES)
def test_columns_are_those_of_the_query_engine(name):
    declared = set(TABLES[name].by_name) | {"_row"}
    assert declared ^ set(frames.TABLES[name]) <= RENAMED.get(
        name, {"_origin"} if name in ORIGINS else set()
    )


@each_row("name", TABLES)
def test_types_are_those_of_the_query_engine(name):
    for column in TABLES[name].columns:
        expected = frames.TABLES[name].get(column.name)
        if column.kind == "integer":
            assert column.dtype == pl.Int64
        elif expected is not None and column.name != "images":
            assert column.dtype == expected, column.name


def test_an_image_has_the_fields_of_the_query_engine():
    image = next(column for column in TABLES["cases"].columns if column.name == "images")
    declared = [part.name for part in image.fields]
    assert declared == [name for name, _ in frames.IMAGE if name != "view_raw"]


@each_row("name", TABLES)
def test_every_key_is_a_column(name):
    assert set(TABLES[name].key) <= set(TABLES[name].by_name)


@each_row("name", [name for name in TABLES if name != "cases"])
def test_every_row_belongs_to_a_case_and_its_models(name):
    assert TABLES[name].by_name["case"].required
    models = dict.fromkeys(("choices", "references", *MADE, *TOGETHER), ())
    models["preferences"] = ("first", "second")
    for model in models.get(name, ("model",)):
        assert TABLES[name].by_name[model].required


@pytest.mark.parametrize(
    ("name", "record", "unlike"),
    [
        ("cases", Case, set()),
        ("answers", Answer, {"choice_read"}),
        ("scores", Score, {"origin", "extra"}),
        ("flags", ReaderFlag, {"origin", "extra"}),
    ],
)
def test_records_have_the_columns_of_the_query_engine(name, record, unlike):
    columns = {column for column in frames.TABLES[name] if not column.startswith("_")}
    assert {part.name for part in fields(record)} ^ columns == unlike


def test_an_image_record_has_the_fields_of_the_query_engine():
    assert [part.name for part in fields(StudyImage)] == [name for name, _ in frames.IMAGE]
