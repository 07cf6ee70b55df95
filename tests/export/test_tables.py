"""CSV, Excel and Parquet, read back by other programs' readers."""

import csv
import json

import polars as pl
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook
from support.exports.exported_set import exported, write_exported_set

from rexview.analysis.download_files import escape_formula
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.tables import ANSWER_COLUMNS


@pytest.fixture
def written(tmp_path):
    folder = write_exported_set(tmp_path / "set")

    def write(name, **how):
        form = EXPORT_FORMATS[name]
        out = tmp_path / f"out{form.ending}"
        content, _ = exported(folder, has_pictures=form.has_pictures, **how)
        write_export(content, form, out, ExportProgress())
        return out

    return write


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_for_every_answer_and_every_case_without(written):
    rows = rows_of(written("csv"))
    assert [(row["case"], row["model"]) for row in rows] == [
        ("c1", "m"),
        ("c1", "n"),
        ("c2", "m"),
        ("c3", ""),
    ]
    first = rows[0]
    assert float(first["content"]) == 2
    assert first["execution (ra)"] == "2"
    assert first["process (ann)"] == ""
    boxes = json.loads(first["boxes"])
    assert [(box["label"], box["x"], box["side"]) for box in boxes] == [
        ("left effusion", 5, "right")
    ]
    assert json.loads(first["reference_boxes"])[0]["label"] == "effusion"
    assert first["decisions"] == "Chest of c1: Retrain, Laterality error, harm 3, open"
    assert {row["notice"] for row in rows} == {"Made for a test."}
    assert rows[1]["status"] == "token_limit"
    assert rows[1]["content"] == ""


def test_no_cell_is_a_formula(written):
    first = rows_of(written("csv"))[0]
    assert first["report_impression"] == "'=HYPERLINK(1)"
    book = load_workbook(written("xlsx"))
    found = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell.coordinate for cell in found if cell.data_type == "f"]
    assert "'=HYPERLINK(1)" in [cell.value for cell in found]
    assert "'-3 is what I would give." in [cell.value for cell in found]
    assert escape_formula("-3") == "'-3"


def test_excel_has_a_sheet_each_and_numbers_stay_numbers(written):
    book = load_workbook(written("xlsx"))
    assert book.sheetnames == [
        *("about", "cases", "answers", "scores", "flags", "marks", "boxes", "comments", "decisions")
    ]
    told = {row[0].value: row[1].value for row in book["about"].iter_rows()}
    assert told["Notice"] == "Made for a test."

    def table(name):
        head, *rows = book[name].iter_rows(values_only=True)
        return [dict(zip(head, row, strict=True)) for row in rows]

    assert [row["case"] for row in table("cases")] == ["c1", "c2", "c3"]
    assert table("answers")[0]["content"] == 2
    assert [(row["model"], row["x"]) for row in table("boxes")] == [(None, 60), ("m", 5)]
    assert len(table("scores")) == 4
    assert table("decisions")[0]["severity"] == 3
    assert table("comments")[0]["person"] == "Ann A."


def test_parquet_keeps_what_is_nested(written):
    path = written("parquet")
    table = pl.read_parquet(path)
    assert table.height == 4
    first = table.row(0, named=True)
    assert first["boxes"][0]["x"] == 5
    assert {one["dimension"]: one["score"] for one in first["scores"]}["execution"] == 2
    assert first["report_impression"] == "=HYPERLINK(1)"  # no spreadsheet reads it
    assert first["decisions"][0]["is_open"]
    assert table["model"].to_list() == ["m", "n", "m", None]
    metadata = pq.read_schema(path).metadata
    assert metadata[b"notice"] == b"Made for a test."
    assert set(ANSWER_COLUMNS) < set(table.columns)


def test_pseudonyms_are_in_every_table(written):
    for name in ("csv", "parquet"):
        content = written(name, pseudonyms=True).read_bytes()
        assert b"ACC-77001" not in content
        assert b"case-001" in content
    book = load_workbook(written("xlsx", pseudonyms=True))
    values = [cell.value for sheet in book for row in sheet.iter_rows() for cell in row]
    assert "ACC-77001" not in values
    assert "study-001" in values
    assert any("pseudonyms" in str(value) for value in values)


def test_a_text_longer_than_a_cell_is_cut_and_said(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    cases = (folder / "cases.jsonl").read_text("utf-8")
    long = json.dumps("long " * 10_000)
    cases = cases.replace('"Question 2: is there an effusion?"', long)
    (folder / "cases.jsonl").write_text(cases, encoding="utf-8")
    content, _ = exported(folder)
    progress = ExportProgress()
    write_export(content, EXPORT_FORMATS["xlsx"], tmp_path / "a.xlsx", progress)
    assert progress.notes == ["A text in sheet cases is longer than a cell, and cut."]
    rows = load_workbook(tmp_path / "a.xlsx")["cases"].iter_rows(values_only=True)
    values = [value for row in rows for value in row]
    assert max(len(str(value)) for value in values) <= 32_767
