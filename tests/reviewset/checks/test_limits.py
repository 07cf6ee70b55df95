"""Tables that would take the memory of the machine are refused with a sentence."""

import io
import json
import zipfile
from contextlib import suppress

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rexview.cli.main import main
from rexview.importers import import_run, source_files
from rexview.importers.receipt import ProblemLog
from rexview.importers.table import records, workbook
from rexview.importers.table import sheet as sheets
from rexview.reviewset.json_text import MAX_JSON_DEPTH, JsonError, parse_json
from rexview.reviewset.tables import declared_table as files
from rexview.reviewset.tables import parquet
from rexview.reviewset.tables import parquet as parquet_size
from rexview.reviewset.tables.parquet import UnreadableError, check_parquet

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


LONG = "x" * 100_000


def repeated(shape, rows=100_000):
    """A column in which one text of 100,000 letters stands in every row, in one or other shape."""
    index = pa.array([0] * rows, type=pa.int32())
    texts = pa.DictionaryArray.from_arrays(index, pa.array([LONG]))
    if shape == "list":
        return pa.ListArray.from_arrays(pa.array(range(rows + 1), type=pa.int32()), texts)
    return pa.StructArray.from_arrays([texts], ["findings"]) if shape == "struct" else texts


@pytest.mark.parametrize("shape", ["text", "list", "struct"])
def test_two_kilobytes_of_parquet_that_unfold_to_ten_gigabytes(small, shape, tmp_path, capsys):
    rows = pa.array(["c1"] * 100_000)
    table = pa.table({"case": rows, "model": rows, "text": rows, "more": repeated(shape)})
    path = small.folder / "answers.parquet"
    pq.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 5000
    assert "more than 256 MB of memory" in small.only_problem().message
    assert main(["check", str(small.folder)]) == 1
    assert main(["import", "table", str(path), "--out", str(tmp_path / "new")]) == 1
    assert "".join(capsys.readouterr()).count("more than 256 MB of memory") == 2


def test_many_parts_that_unfold_little_each(small):
    rows = pa.array(["c1"] * 2000)
    table = pa.table({"case": rows, "model": rows, "text": rows, "more": repeated("text", 2000)})
    folder = small.folder / "answers"
    folder.mkdir()
    for number in range(3):
        pq.write_table(table, folder / f"{number}.parquet", compression="zstd")
    assert parquet_size.check_parquet(folder / "0.parquet") > 200_000_000
    first, *_ = [one for one in small.problems() if "memory" in one.message]
    assert first.file == "answers/1.parquet"


def written(path, table, **how):
    pq.write_table(table, path, **how)
    return path


def test_a_page_that_unpacks_to_more_than_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_size, "RATIO_MATTERS_FROM", 8_000_000)
    table = pa.table({"text": pa.array(["x" * 10_000_000])})
    path = written(tmp_path / "a.parquet", table, use_dictionary=False, compression="zstd")
    assert path.stat().st_size < 5000
    with pytest.raises(UnreadableError, match="more than 8 MB"):
        check_parquet(path)


def test_texts_that_continue_the_one_before(tmp_path):
    table = pa.table({"text": pa.array([LONG] * 5000)})
    how = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    with pytest.raises(UnreadableError, match="changes of the one before"):
        check_parquet(written(tmp_path / "a.parquet", table, **how))


def test_one_row_that_holds_far_too_many_values(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_size, "MAX_VALUES", 100_000)
    table = pa.table({"text": pa.array([[None] * 200_000])})
    with pytest.raises(UnreadableError, match="more than 100,000 values"):
        check_parquet(written(tmp_path / "a.parquet", table))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_a_file_like_others_is_counted_and_taken(tmp_path, version, compression, dictionary):
    rows = 30_000
    texts = [f"No effusion in case {number % 700}." for number in range(rows)]
    inner = [[{"label": "x", "box": [1.0, 2.0, 3.0, 4.0]}] * (number % 3) for number in range(rows)]
    table = pa.table({"text": texts, "boxes": inner, "number": list(range(rows))})
    how = {"data_page_version": version, "compression": compression, "use_dictionary": dictionary}
    path = written(tmp_path / "a.parquet", table, row_group_size=7000, **how)
    count = sum(map(len, texts))
    assert count <= check_parquet(path) <= parquet_size.MAX_UNFOLDED_BYTES


def test_repeated_texts_are_counted_through_their_dictionary(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_size, "RATIO_MATTERS_FROM", 2_000_000)
    monkeypatch.setattr(parquet_size, "MAX_RATIO", 1)
    texts = [LONG if number == 5 else "short" for number in range(10_000)]
    path = written(tmp_path / "a.parquet", pa.table({"text": texts}), compression="zstd")
    assert 150_000 < check_parquet(path) < 500_000  # and not 10,000 times the longest


def test_headers_that_make_no_sense_end_in_a_sentence(tmp_path):
    path = written(tmp_path / "a.parquet", pa.table({"text": ["x" * 50] * 100}))
    sound = path.read_bytes()
    refused = 0
    for place in (4, 5, 6, 30, -30, -9):
        for value in range(256):
            content = bytearray(sound)
            content[place] = value
            path.write_bytes(content)
            with suppress(UnreadableError):
                check_parquet(path)
                continue
            refused += 1
    assert refused > 256


def test_rows_of_nothing_beside_one_of_many_fields(small, monkeypatch):
    monkeypatch.setattr(files, "CHUNK_CELLS", 1000)
    held = []
    whole = files._chunk_of_objects

    def chunk(objects, rows, table):
        held.append(len(objects) * len({name for one in objects for name in one}))
        return whole(objects, rows, table)

    monkeypatch.setattr(files, "_chunk_of_objects", chunk)
    wide = {f"k{number}": 1 for number in range(100)}
    small.jsonl("answers", [{**ROW, **wide}, *[{**ROW, "case": "c2"}] * 50])
    small.problems()
    assert max(held) <= 1200


def test_an_import_of_parquet_counts_cells_before_it_reads(tmp_path, monkeypatch):
    columns = {f"k{number}": pa.array([1] * 600_000) for number in range(9)}
    path = written(tmp_path / "answers.parquet", pa.table(columns))
    log = ProblemLog()
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    assert sheets.read_table_sheet(path, log) is None
    assert "more than 5,000,000 cells" in log.problems[0].message


def test_answers_inside_an_entry_are_counted_before_they_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MAX_CELLS", 1000)
    made = []
    monkeypatch.setattr(records, "flatten_entry", lambda record: made.append(1) or record.items())
    entry = {f"k{number}": "x" for number in range(100)}
    entry |= {"question": "q", "answers": [{"model": f"m{n}", "answer": "a"} for n in range(500)]}
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([entry]))
    log = ProblemLog()
    assert sheets.read_table_sheet(path, log) is None
    assert "cells" in log.problems[0].message
    assert len(made) < 20


def test_a_text_beside_all_rows_that_makes_a_set_of_gigabytes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(import_run, "MAX_CHARACTERS", 1_000_000)
    answers = [{"model": f"m{number}", "answer": "No."} for number in range(50)]
    entries = [{"case": "c1", "question": LONG, "answers": answers}]
    entries = [{**one, "case": f"c{n}"} for n in range(20) for one in entries]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(entries))
    options = ["--mapping", "proposed", "--out", str(tmp_path / "new")]
    assert main(["import", "table", str(path), *options]) == 1
    assert "GB of text" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("letter", "fits"), [("x", True), ("\u0001", False)])
def test_no_import_makes_a_row_that_its_reader_refuses(tmp_path, capsys, letter, fits):
    entry = {"case": "c1", "question": "q", "model": "m", "answer": letter * 3_000_000}
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([entry], ensure_ascii=False))
    out = tmp_path / "new"
    options = ["--mapping", "proposed", "--out", str(out)]
    assert main(["import", "table", str(path), *options]) == (0 if fits else 1)
    said = capsys.readouterr().err
    assert ("a line of 18 MB, more than is read" in said) is not fits
    assert out.exists() is fits
    if fits:
        assert main(["check", str(out)]) == 0


def test_a_text_that_a_workbook_holds_once_and_shows_in_every_cell(tmp_path, monkeypatch):
    from openpyxl import Workbook

    monkeypatch.setattr(workbook, "MAX_CHARACTERS", 100_000)
    made = Workbook()
    for number in range(40):
        made.active.append([f"c{number}", "x" * 5000])
    made.save(tmp_path / "answers.xlsx")
    log = ProblemLog()
    assert sheets.read_table_sheet(tmp_path / "answers.xlsx", log) is None
    assert "more rows or cells than can be read" in log.problems[0].message


@pytest.mark.parametrize("depth", [MAX_JSON_DEPTH + 1, 300, 900, 100_000])
def test_json_that_is_nested_too_deeply(small, depth):
    inner = "[" * depth + "]" * depth
    with pytest.raises(JsonError, match="nested too deeply"):
        parse_json(inner)
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
    assert sheets.read_table_sheet(path, log) is None
    assert "more rows or cells than can be read" in log.problems[0].message
    assert "CSV" in log.problems[0].remedy


@pytest.mark.parametrize("content", ["a,b\n" + ",x" * 100_000, "a\n" + "1\n" * 1000])
def test_a_table_to_import_of_very_many_cells(tmp_path, content, monkeypatch):
    monkeypatch.setattr(sheets, "MAX_CELLS", 1500)
    path = tmp_path / "answers.csv"
    path.write_text(content)
    log = ProblemLog()
    assert sheets.read_table_sheet(path, log) is None
    assert "columns" in log.problems[0].message or "cells" in log.problems[0].message


def test_json_to_import_of_very_many_values(tmp_path):
    path = tmp_path / "data.json"
    path.write_text("[" + "[]," * (source_files.MAX_VALUES // 2) + "[]]")
    log = ProblemLog()
    assert source_files.read_source_json(path, log) is None
    assert "20,000,000 values" in log.problems[0].message


@pytest.mark.parametrize("depth", [100, 900, 100_000])
def test_json_to_import_that_is_nested_too_deeply(tmp_path, depth):
    path = tmp_path / "data.json"
    path.write_text("[" * depth + "]" * depth)
    log = ProblemLog()
    assert source_files.read_source_json(path, log) is None
    assert "nested too deeply" in log.problems[0].message
