import datetime
import re
import zipfile

import pytest
from openpyxl import Workbook, load_workbook

from rexview.importers.receipt import ProblemLog
from rexview.importers.table.sheet import read_table_sheet
from rexview.importers.table.workbook import MAX_ROWS


def read(path, **options):
    log = ProblemLog()
    return read_table_sheet(path, log, **options), log


def messages(log):
    return " ".join(one.message for one in log.problems)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_delimiters_and_encodings(tmp_path, delimiter, encoding):
    rows = [["case", "answer", "n"], ["c1", 'says "Größe", fine; yes', "1"], ["c2", "b", "2"]]
    quoted = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
    text = "\r\n".join(delimiter.join(row) for row in quoted)
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    sheet, log = read(path)
    assert sheet.columns == ("case", "answer", "n")
    assert sheet.rows[0] == ("c1", 'says "Größe", fine; yes', "1")
    assert ("Windows-1252" in messages(log)) is (encoding == "cp1252")


def test_commas_in_text_do_not_beat_the_real_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id;text\n1;a, b, c, d\n2;e, f, g, h\n3;i\n")
    sheet, _ = read(path)
    assert sheet.columns == ("id", "text")


def test_a_single_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("answer\nNo finding, clear.\nEffusion\n")
    sheet, _ = read(path)
    assert sheet.columns[0] == "answer"
    assert sheet.column("answer")[1] == "Effusion"


def test_excel_separator_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=;\na;b\n1;2\n")
    sheet, _ = read(path)
    assert (sheet.columns, sheet.rows) == (("a", "b"), (("1", "2"),))


def test_rows_are_numbered_as_the_file_shows_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"x\ny"\n,\n\n4,z\n')
    sheet, _ = read(path)
    assert sheet.numbers == (1, 4)  # a line break inside a cell does not count, blank rows do
    assert sheet.rows == (("1", "x\ny"), ("4", "z"))


def test_missing_values_as_pandas_and_excel_write_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d\nnan,NULL,#N/A,None\n x ,,NaN,\n")
    sheet, _ = read(path)
    assert sheet.rows == ((None, None, None, "None"), ("x", None, None, None))


def test_title_rows_above_the_header_are_passed_over(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Reader study 2025,,\n,,\ncase,model,answer\nc1,m,x\n")
    sheet, log = read(path)
    assert sheet.columns == ("case", "model", "answer")
    assert sheet.numbers == (1,)
    assert "above the column names" in log.notes[0]


def test_column_names_are_made_unique_and_present(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,a,,d\n1,2,3,4\n1,2,3,4,5\n")
    sheet, log = read(path)
    assert sheet.columns == ("a", "a (2)", "column 3", "d", "column 5")
    found = {(one.row, one.message.split(";")[0]) for one in log.problems}
    assert (None, "Two columns are called “a”") in found
    assert (None, "Column 3 has no name") in found
    assert any(row == 2 and "more cells" in message for row, message in found)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"\n\n , \n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b'a,b\n"' + b"x" * 11_000_000, "far too long"),
        (b"PK\x03\x04rest", "not a text file"),
        (b"," * 5000 + b"a\n" + b"x," * 5001, "columns"),
    ],
)
def test_unusable_text_files(tmp_path, content, part):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    sheet, log = read(path)
    assert sheet is None
    assert log.has_errors
    assert part in messages(log)


@pytest.mark.parametrize("name", ["t.xls", "t.ods"])
def test_other_spreadsheets_are_refused_with_advice(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\xd0\xcf\x11\xe0")
    _, log = read(path)
    assert "Save it as .xlsx" in log.problems[0].remedy


def save(path, rows, prepare=None):
    book = Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    if prepare:
        prepare(book, sheet)
    book.save(path)
    return path


def test_excel_values_become_text(tmp_path):
    when = datetime.datetime(2025, 1, 31)
    rows = [
        ["id", "score", "share", "date", "stamp", "yes", "text"],
        [101, 4.0, 0.25, when, when.replace(hour=14, minute=5), True, "=not a formula"],
    ]
    path = save(
        tmp_path / "t.xlsx", rows, lambda book, sheet: setattr(sheet["G2"], "data_type", "s")
    )
    sheet, log = read(path)
    expected = ("101", "4", "0.25", "2025-01-31", "2025-01-31T14:05:00", "true", "=not a formula")
    assert sheet.rows == (expected,)
    assert sheet.numbers == (2,)
    assert sheet.name == "Sheet"
    assert not log.problems


def test_formulas_are_not_run_and_missing_results_are_reported(tmp_path):
    rows = [["a", "b"], ["c1", "=cmd|'/c calc'!A1"], ["c2", "=1+1"]]
    sheet, log = read(save(tmp_path / "t.xlsx", rows))
    assert sheet.rows == (("c1", None), ("c2", None))
    assert {(one.row, one.field) for one in log.problems} == {(2, "column B"), (3, "column B")}


def test_stored_results_of_formulas_are_read(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "b"], ["c1", "=1+1"]])
    patched = tmp_path / "p.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(patched, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename == "xl/worksheets/sheet1.xml":
                data, changed = re.subn(rb"<v\s*/>|<v></v>", b"<v>2</v>", data)
                assert changed == 1
            target.writestr(entry, data)
    sheet, log = read(patched)
    assert sheet.rows == (("c1", "2"),)
    assert not log.problems


def test_merged_cells(tmp_path):
    rows = [
        ["case", "Model A", None],
        ["c1", "x", "1"],
        [None, "y", "2"],
        ["c2", "across", None],
    ]

    def merge(book, sheet):
        for where in ("B1:C1", "A2:A3", "B4:C4"):
            sheet.merge_cells(where)

    sheet, log = read(save(tmp_path / "t.xlsx", rows, merge))
    assert sheet.column("case") == ("c1", "c1", "c2")
    assert sheet.columns == ("case", "Model A", "column 3")
    assert sheet.rows[2] == ("c2", "across", None)
    told = {one.row: one.message for one in log.problems if "merged" in one.message}
    assert "first row" in told[1]
    assert "read for each row" in told[2]
    assert "only the first" in told[4]


def test_sheets(tmp_path):
    def more(book, sheet):
        sheet.title = "Read me"
        sheet.delete_rows(1, 5)
        data = book.create_sheet("Answers")
        data.append(["case", "answer"])
        data.append(["c1", "x"])
        hidden = book.create_sheet("Old")
        hidden.append(["zzz", "yyy"])
        hidden.sheet_state = "hidden"

    path = save(tmp_path / "t.xlsx", [], more)
    sheet, log = read(path)
    assert sheet.name == "Answers"
    assert "“Read me”" in log.notes[0]
    assert read(path, sheet="Old")[0].columns == ("zzz", "yyy")
    _, log = read(path, sheet="Nope")
    assert "Choose one of: Read me, Answers, Old." in log.problems[0].remedy


def test_blank_rows_keep_the_numbers_of_the_sheet(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "b"], [], ["1", "2"], [None, None], ["3", "4"]])
    assert read(path)[0].numbers == (3, 5)


def test_a_sheet_that_claims_to_be_huge(tmp_path):
    def far(book, sheet):
        sheet.cell(MAX_ROWS, 1, "last")

    path = save(tmp_path / "t.xlsx", [["a", "b"], ["1", "2"]], far)
    claimed = tmp_path / "claimed.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(claimed, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename == "xl/worksheets/sheet1.xml":
                data = re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:XFD1048576"', data)
            target.writestr(entry, data)
    sheet, _ = read(claimed)
    assert sheet.numbers == (2, MAX_ROWS)
    assert len(sheet.columns) == 2


def test_zip_bombs_are_refused_before_they_are_opened(tmp_path):
    path = tmp_path / "bomb.xlsx"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as stream,
    ):
        for _ in range(100):
            stream.write(b"0" * 1_000_000)
    sheet, log = read(path)
    assert sheet is None
    assert "far too large" in messages(log)


def test_entities_in_a_workbook_are_refused(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "b"], ["1", "2"]])
    bad = tmp_path / "bad.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(bad, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename == "xl/workbook.xml":
                data = b'<!DOCTYPE x [<!ENTITY e "eeee">]>' + data
            target.writestr(entry, data)
    sheet, log = read(bad)
    assert sheet is None
    assert "declarations" in messages(log)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x05\x06" + b"\0" * 18])
def test_files_that_are_no_workbooks(tmp_path, content):
    path = tmp_path / "t.xlsx"
    path.write_bytes(content)
    sheet, log = read(path)
    assert sheet is None
    assert log.has_errors


def test_a_workbook_cut_off(tmp_path):
    whole = save(tmp_path / "t.xlsx", [["a", "b"], ["1", "2"]]).read_bytes()
    path = tmp_path / "cut.xlsx"
    path.write_bytes(whole[: len(whole) // 2])
    assert read(path)[0] is None


def test_damaged_sheet_xml(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "b"], ["1", "2"]])
    bad = tmp_path / "bad.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(bad, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.startswith("xl/worksheets/"):
                data = data[: len(data) // 2]
            target.writestr(entry, data)
    sheet, log = read(bad)
    assert sheet is None
    assert "damaged" in messages(log)


def test_an_empty_workbook(tmp_path):
    sheet, log = read(save(tmp_path / "t.xlsx", []))
    assert sheet is None
    assert "empty" in messages(log)


def test_reading_changes_nothing(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "b"], ["1", "2"]])
    before = path.read_bytes(), path.stat().st_mtime_ns
    read(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert load_workbook(path).active["A1"].value == "a"
