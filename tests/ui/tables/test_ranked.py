"""Long rankings as HTML: every row is there, those between are marked, names are escaped."""

from __future__ import annotations

import re

import pytest

from rexview.analysis.ranking import DisplayRanking, rank_for_display
from rexview.ui.tables.number_table import group_rows, ranked_head, rows_table
from rexview.ui.tables.ranked import ranked_item, ranked_tools

EVIL = '"><img src=x onerror=alert(1)>'
MANY: DisplayRanking[int] = rank_for_display(range(12), float)
FEW: DisplayRanking[int] = rank_for_display(range(3), float)


def line(number: int) -> tuple[str, str]:
    return f"Model {number}{EVIL}", f"<td>{number}</td>"


def test_rows_between_are_marked_and_all_are_there() -> None:
    rows = [ranked_item(f"<tr><td>{n}</td></tr>", *(f"M{n}", n, MANY)) for n in MANY.order]
    table = rows_table("css", ["A"], rows, "Title", ranked_tools(MANY, "Content"))
    assert 'class="rx-stack css rx-ranked"' in table
    assert re.findall(r'data-rx-ranked="m(\d+)"', table) == [str(n) for n in range(11, -1, -1)]
    assert re.findall(r'data-rx-ranked="m(\d+)" data-rx-between', table) == list("876543")
    assert "First 3 and last 3 of 12 models, ranked by Content." in table


def test_of_few_nothing_is_marked() -> None:
    assert ranked_tools(FEW, "Content") == ""
    assert ranked_item("<tr></tr>", "M", 1, FEW) == "<tr></tr>"
    assert ranked_head("M", 1, FEW) == "M"
    assert "rx-ranked" not in rows_table("css", ["A"], [], "Title", "")


@pytest.mark.parametrize("apart", [True, False])
def test_a_group_has_its_head_in_a_row_of_its_own_or_beside(apart: bool) -> None:
    rows = list(group_rows("Head", MANY if apart else FEW, line, 1, ["More"], apart=apart))
    assert len(rows) == (13 if apart else 3)
    assert ('rowspan="3"' in rows[0]) != apart
    assert ('colspan="1"' in rows[0]) == apart
    assert all("More" in row for row in rows[:1])
    assert not any("More" in row for row in rows[1:])


def test_names_stay_text() -> None:
    drawn = "".join(group_rows("Head", MANY, line, 1, apart=True))
    head = rows_table("css", [ranked_head(EVIL, 1, MANY), EVIL], [])
    assert "<img" not in drawn + head + ranked_tools(MANY, EVIL)


def test_what_begins_with_no_element_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no element"):
        ranked_item("text", "M", 1, MANY)
