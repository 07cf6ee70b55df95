"""Tables for phones: the name that each cell stands beside there."""

import html
import re

import pytest

from rexview.ui.tables.number_table import label_cells


def cells(written):
    """Return the words and the column's name of every cell in the body."""
    found = re.findall(r"<td\b([^>]*)>(.*?)</td>", written)
    named = [(re.search(r'data-label="([^"]*)"', part), words) for part, words in found]
    return [(words, html.unescape(name[1]) if name else "") for name, words in named]


def table(head, body):
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def test_each_cell_has_the_name_of_its_column():
    head = '<tr><th scope="col">Model</th><th scope="col">Mean</th></tr>'
    body = '<tr><th scope="row">M</th><td>1</td></tr><tr><td>N</td><td>2</td></tr>'
    assert cells(label_cells(table(head, body))) == [("1", "Mean"), ("N", "Model"), ("2", "Mean")]


def test_a_head_over_several_columns_comes_first():
    head = (
        '<tr><th rowspan="2">Model</th><th colspan="2">Here</th><th>Paper</th></tr>'
        "<tr><th>n</th><th>Mean</th><th>Mean</th></tr>"
    )
    body = "<tr><td>M</td><td>1</td><td>2</td><td>3</td></tr>"
    assert cells(label_cells(table(head, body))) == [
        ("M", "Model"),
        ("1", "Here n"),
        ("2", "Here Mean"),
        ("3", "Paper Mean"),
    ]


def test_a_cell_over_several_rows_and_columns_moves_the_others():
    head = "<tr><th>A</th><th>B</th><th>C</th></tr>"
    body = (
        '<tr><td rowspan="3">a</td><td>b</td><td>c</td></tr>'
        "<tr><td>b</td><td>c</td></tr>"
        '<tr><td colspan="2">b</td></tr>'
        "<tr><td>a</td><td>b</td><td>c</td></tr>"
    )
    named = [name for _, name in cells(label_cells(table(head, body)))]
    assert named == list("ABC") + list("BC") + ["B"] + list("ABC")


def test_one_table_does_not_name_the_cells_of_the_next():
    first = table("<tr><th>A</th></tr>", "<tr><td>1</td></tr>")
    second = "<table><tbody><tr><td>2</td></tr></tbody></table>"
    assert cells(label_cells(f"<div>{first}<p>so</p>{second}</div>")) == [("1", "A"), ("2", "")]


@pytest.mark.parametrize("words", ['a < b & "c"', "<script>alert(1)</script>", "' onclick='x"])
def test_hostile_words_stay_words(words):
    head = f'<tr><th title="{html.escape(words)}"><b>{html.escape(words)}</b></th></tr>'
    written = label_cells(table(head, f"<tr><td>{html.escape(words)}</td></tr>"))
    assert cells(written) == [(html.escape(words), " ".join(words.split()))]
    assert "<script" not in written


def test_what_is_laid_out_as_blocks_stays_a_table_to_a_screen_reader():
    head = '<tr><th scope="col">A</th><th scope="col">B</th></tr>'
    body = '<tr><th scope="row">M</th><td>1</td></tr>'
    written = label_cells(f'<table class="rx-scores">{table(head, body)[7:]}')
    roles = re.findall(r'<(\w+)[^>]* role="(\w+)"', written)
    assert written.startswith('<table class="rx-stack rx-scores" role="table">')
    assert roles == [
        ("table", "table"),
        ("thead", "rowgroup"),
        ("tr", "row"),
        ("th", "columnheader"),
        ("th", "columnheader"),
        ("tbody", "rowgroup"),
        ("tr", "row"),
        ("th", "rowheader"),
        ("td", "cell"),
    ]


def test_nothing_else_of_the_html_changes():
    written = '<p>1 < 2</p><div><table class="a"><tr><td>1</td></tr></table></div>x'
    bare = re.sub(r' (?:role|data-label)="[^"]*"', "", label_cells(written)).replace(
        "rx-stack ", ""
    )
    assert bare == written
