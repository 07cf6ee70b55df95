"""Tables that would take the memory of the machine are refused with a sentence."""

import io
import json
import zipfile

import polars as pl
import pytest

from rexview.reviewset.importers.core import source_files
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.table import sheet as sheets
from rexview.reviewset.importers.table import workbook
from rexview.reviewset.json_text import MAX_DEPTH, JsonError, parse
from rexview.reviewset.tables import files, parquet

ROW = {"case": "c1", "model": "m1", "text": "t"}


def test_a_table_of_a_hundred_thousand_columns(small):
    names = ",".join(f"k{number}" for number in range(100_000))
    small.text("answers.csv", f"case,model,text,{names}\nc1,m1,t{',x' * 100_000}\n")
    problem = small.only_problem()
    assert problem.severity == "error"
    assert "2,000 different fields" in problem.message


def test_rows_that_each_bring_a_field_of_their_own(small):
    small.jsonl("answers", [{**ROW, f"k{number}": 1} for number in range(3000)])
    problem = small.only_problem()
    assert problem.row == 1998
    assert "2,000 different fields" in problem.message


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_line_without_an_end(small, ending):
    long = "x" * (files.MAX_LINE_BYTES + 1)
    head = "case,model,text\n" if ending == "csv" else ""
    small.text(f"answers.{ending}", f'{head}"{long}')
    assert "longer than 16 MB" in small.only_problem().message
    small.text(f"answers.{ending}", long)
    assert "longer than 16 MB" in small.problems()[0].message


def test_a_kilobyte_of_parquet_that_stands_for_too_many_rows(small):
    rows = pl.select(pl.repeat("c1", parquet.MAX_ROWS + 1).alias("case"))
    rows.with_columns(model=pl.lit("m1"), text=pl.lit("t")).write_parquet(
        small.folder / "answers.parquet"
    )
    assert (small.folder / "answers.parquet").stat().st_size < 300_000
    assert "5,000,001 rows" in small.only_problem().message


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 300, 900, 100_000])
def test_json_that_is_nested_too_deeply(small, depth):
    inner = "[" * depth + "]" * depth
    with pytest.raises(JsonError, match="nested too deeply"):
        parse(inner)
    small.text("answers.jsonl", json.dumps(ROW)[:-1] + f', "x": {inner}}}\n')
    assert "nested too deeply" in small.only_problem().message
    small.text("answers.jsonl", json.dumps(ROW)[:-1] + ', "x": [[[1]]]}\n')
    assert small.problems() == []


def book(rows, columns=1):
    """A workbook of so many rows, written as Excel does but for what nobody reads."""
    kind = "http://schemas.openxmlformats.org"
    office = f"{kind}/officeDocument/2006/relationships"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    cells = "".join(f'<c t="inlineStr"><is><t>c{place}</t></is></c>' for place in range(columns))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{kind}/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/s.xml" ContentType="{types}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{kind}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{kind}/spreadsheetml/2006/main" xmlns:r="{office}">'
        '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{kind}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="s.xml"/></Relationships>',
        "xl/s.xml": f'<worksheet xmlns="{kind}/spreadsheetml/2006/main"><sheetData>'
        + f"<row>{cells}</row>" * rows
        + "</sheetData></worksheet>",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


@pytest.mark.parametrize(("rows", "columns"), [(900_000, 2), (12, 1)])
def test_a_workbook_of_very_many_rows(tmp_path, rows, columns, monkeypatch):
    monkeypatch.setattr(workbook, "MAX_RATIO", 10_000)  # equal rows pack better than real ones
    if rows == 12:
        monkeypatch.setattr(workbook, "MAX_FILLED_ROWS", 10)
    path = tmp_path / "answers.xlsx"
    path.write_bytes(book(rows, columns))
    log = ProblemLog()
    assert sheets.read_sheet(path, log) is None
    assert "more rows or cells than can be read" in log.problems[0].message
    assert "CSV" in log.problems[0].remedy


@pytest.mark.parametrize("content", ["a,b\n" + ",x" * 100_000, "a\n" + "1\n" * 1000])
def test_a_table_to_import_of_very_many_cells(tmp_path, content, monkeypatch):
    monkeypatch.setattr(sheets, "MAX_CELLS", 1500)
    path = tmp_path / "answers.csv"
    path.write_text(content)
    log = ProblemLog()
    assert sheets.read_sheet(path, log) is None
    assert "columns" in log.problems[0].message or "cells" in log.problems[0].message


def test_json_to_import_of_very_many_values(tmp_path):
    path = tmp_path / "data.json"
    path.write_text("[" + "[]," * (source_files.MAX_VALUES // 2) + "[]]")
    log = ProblemLog()
    assert source_files.read_json(path, log) is None
    assert "20,000,000 values" in log.problems[0].message


@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_json_to_import_that_is_nested_too_deeply(tmp_path, depth):
    path = tmp_path / "data.json"
    path.write_text("[" * depth + "]" * depth)
    log = ProblemLog()
    assert source_files.read_json(path, log) is None
    assert "nested too deeply" in log.problems[0].message
