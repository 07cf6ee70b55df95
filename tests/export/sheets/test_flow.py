"""Text and tables run on from sheet to sheet, and nothing of them is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.export.sheets.sheet import (
    Rectangle,
    SheetTable,
    TextBlock,
    TextRun,
    break_paragraph,
    make_paragraph,
    missing_characters,
    printable_sheet_text,
    text_width,
)
from rexview.export.sheets.text_flow import (
    SheetStack,
    column_height,
    column_widths,
    flow_paragraphs,
    table_rows,
)

BODY = Rectangle(36, 60, 888, 400)
WORDS = st.text(st.sampled_from("ab ilW中é-"), max_size=120)


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=4), st.floats(40, 300))
def test_lines_fit_and_put_together_are_the_text(runs, width):
    given_ = make_paragraph(*(TextRun(text, bold) for text, bold in runs), size=12)
    made = break_paragraph(given_, width)
    assert made.text == given_.text
    for line in made.lines:
        words = [*line[:-1], TextRun(line[-1].text.rstrip(), line[-1].bold)] if line else []
        assert sum(text_width(run.text, 12, run.bold) for run in words) <= width


@given(st.lists(WORDS, max_size=12), st.floats(60, 300), st.floats(20, 120))
def test_columns_fit_and_put_together_are_the_text(texts, width, height):
    columns = flow_paragraphs(
        [make_paragraph(text, size=12, before=6) for text in texts], width, height
    )
    assert "".join(one.text for column in columns for one in column) == "".join(texts)
    for column in columns:
        assert column_height(column) <= height + 1e-6 or len(column[0].lines) == 1


def test_a_heading_goes_with_what_it_is_of():
    lines = [make_paragraph("x", size=10) for _ in range(4)]
    head = make_paragraph("Heading", size=10, keep=True)
    columns = flow_paragraphs([*lines, head, make_paragraph("y", size=10)], 200, 5 * 12)
    assert [[one.text for one in column] for column in columns] == [["x"] * 4, ["Heading", "y"]]


def test_a_table_runs_on_with_its_head_and_a_long_cell_over_several_rows():
    stack = SheetStack(BODY)
    long = " ".join(f"word{number}" for number in range(900))
    stack.table("Decisions", ["Case", "Notes"], [["c1", long], *(["c2", "n"] for _ in range(40))])
    tables = [one for sheet in stack.sheets for one in sheet if isinstance(one, SheetTable)]
    assert len(tables) == len(stack.sheets) > 2
    notes = []
    for table in tables:
        assert BODY.holds(table.place)
        assert table.place.height == pytest.approx(sum(row.height for row in table.rows))
        head, *rows = table.rows
        assert [cell[0].text for cell in head.cells] == ["Case", "Notes"]
        notes += ["".join(one.text for one in row.cells[1]) for row in rows]
    assert "".join(notes) == long + "n" * 40
    headings = [one for sheet in stack.sheets for one in sheet if isinstance(one, TextBlock)]
    assert [one.paragraphs[0].text for one in headings][:2] == ["Decisions", "Decisions, continued"]


def test_what_stands_below_each_other_does_not_meet():
    stack = SheetStack(BODY)
    for number in range(6):
        stack.text([make_paragraph(f"Text {number} " * 60, size=13)], "Text", columns=2)
        stack.table("Table", ["a", "b"], [["1", "2"]] * 3)
    for sheet in stack.sheets:
        places = [one.place for one in sheet]
        assert all(BODY.holds(place) for place in places)
        assert not any(a.meets(b) for at, a in enumerate(places) for b in places[:at])


def test_columns_have_what_they_need_and_share_the_rest():
    narrow, wide = column_widths([["No.", "Question"], ["1", "long " * 100]], 500, 12)
    assert narrow < 60
    assert narrow + wide == pytest.approx(500)
    (row,) = table_rows(["", "a\nb"], (100, 100), 300, 12)
    assert [one.text for one in row.cells[1]] == ["a", "b"]


def test_what_no_file_can_hold_is_replaced_and_what_the_font_lacks_is_known():
    assert printable_sheet_text("a\x00b\r\nc\td\ud800") == "a\ufffdb\nc    d\ufffd"
    assert missing_characters("effusion ≥ 5 mm, Эффузия, انصباب") == set()
    assert missing_characters("胸水 left") == {"胸", "水"}
