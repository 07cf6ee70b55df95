"""Tables that stand twice on a page: as Streamlit's, and row by row for a phone."""

import json
import re

import pandas as pd
import pytest
from support.opened_app import run_page, server_for
from support.page_text import drawn
from support.small_set import write_set

from rexview.ui.tables.chart_table import frame_html


def test_the_first_cell_leads_to_its_row():
    frame = pd.DataFrame({"Case": ["<c1>", "c2"], "Gap": [1.5, None]})
    written = frame_html(frame, links=["case?case=%3Cc1%3E", "case?case=c2&x=1"], missing="")
    found = re.findall(r'<a href="([^"]*)" data-rx-page>([^<]*)</a>', written)
    assert found == [("case?case=%3Cc1%3E", "&lt;c1&gt;"), ("case?case=c2&amp;x=1", "c2")]
    assert re.findall(r'data-label="Gap">([^<]*)</td>', written) == ["1.5", ""]


@pytest.mark.parametrize(
    ("cell", "words"),
    [(["a", "<b>"], "a, &lt;b&gt;"), ([], "–"), (True, "yes"), (None, "–"), ("", "")],
)
def test_cells_of_every_kind(cell, words):
    frame = pd.DataFrame({"A": pd.Series([cell], dtype=object)})
    assert re.findall(r"<td[^>]*>(.*?)</td>", frame_html(frame)) == [words]


def test_the_table_of_cases_has_every_row_for_a_phone(tmp_path, monkeypatch):
    with server_for(write_set(tmp_path / "set"), tmp_path, monkeypatch):
        app = run_page("browse", **{"as": "table"})
    (table,) = app.dataframe
    links = re.findall(r'href="case\?([^"]*)" data-rx-page>(\w+)</a>', drawn(app))
    assert [case for _, case in links] == list(table.value["Case"])
    assert [query for query, _ in links] == [f"case={case}" for _, case in links]


def test_a_long_question_ends_with_an_ellipsis_and_stands_whole_on_a_phone(tmp_path, monkeypatch):
    long = "Describe everything in the pleural space: air, fluid and drains, on both sides."
    folder = write_set(tmp_path / "set")
    file = folder / "cases.jsonl"
    cases = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    lines = [json.dumps(one | {"question": long}) for one in cases]
    file.write_text("\n".join(lines), encoding="utf-8")
    with server_for(folder, tmp_path, monkeypatch):
        app = run_page("browse", **{"as": "table"})
    (table,) = app.dataframe
    assert set(table.value["Question"]) == {"Describe everything in the pleural space: air,…"}
    assert long in drawn(app)
