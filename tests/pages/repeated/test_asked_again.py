"""Answers of a model that was asked the same several times, on the pages."""

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from support.page_text import components, drawn, shown
from support.repeated_set import write_repeated

from rexview.people import Person
from rexview.ui.web.access import permissions


@pytest.fixture
def review_folder(tmp_path):
    return write_repeated(tmp_path / "set")


def test_the_case_page_has_the_other_answers_under_the_one_shown(open_app):
    text = shown(open_app("case", case="c1"))
    assert "Asked 3 times" in text
    assert "opposite sides: pleural effusion" in text
    assert "<mark>right pleural effusion</mark>" in text
    assert "&lt;b&gt;!" in text
    assert text.count("rx-repeats") == 1  # not under the model that was asked once


def test_choices_that_differ_are_marked(open_app):
    text = shown(open_app("case", case="c2"))
    assert "different choices: A and B" in text
    for mark in ("chose A", "chose B", "no usable choice"):
        assert f"<mark>{mark}</mark>" in text
    assert text.count("different choices") == 1


def test_nothing_is_marked_where_nothing_differs(open_app):
    text = shown(open_app("case", case="c3"))
    assert text.count("Asked 3 times</summary>") == 2
    assert "<mark>" not in text


def test_the_score_page_shows_no_other_answer(open_app, monkeypatch):
    monkeypatch.setattr(permissions, "current_person", lambda: Person("anna", "Anna", "reader"))
    app = open_app("score", case="c1")
    (pad,) = components(app, "rexview_score_pad")
    assert len(pad["case"]["answers"]) == 2
    everything = shown(app) + json.dumps(pad)
    assert "Left effusion" not in everything
    assert "Asked 3 times" not in everything


def test_the_overview_says_how_often_models_contradict_themselves(open_app):
    text = drawn(open_app())
    table = text[text.index("rx-contradicting") :]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    found = {re.sub(r"<[^>]+>", "", row.split("</th>")[0]): row for row in rows}
    side, choice, unusable = re.findall(r"<td>(.*?)</td>", found["Model M"], re.DOTALL)
    assert opened(side) == [("1", "side"), ("of 4", "asked")]
    assert opened(choice) == [("1", "choice"), ("of 2", "chosen")]
    assert opened(unusable) == [("1", "unusable")]
    side, choice, unusable = re.findall(r"<td>(.*?)</td>", found["Model N"], re.DOTALL)
    assert opened(side) == [("0", "side"), ("of 2", "asked")]
    assert opened(choice) == [("0", "choice"), ("of 1", "chosen")]


def opened(cell):
    """The links of a cell: their words, and the condition on repeats that they open."""
    links = re.findall(r'<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>', cell, re.DOTALL)
    return [
        (re.sub(r"<[^>]+>", "", words), parse_qs(urlsplit(unescape(href)).query)["again"][0])
        for href, words in links
    ]


@pytest.mark.parametrize(
    ("word", "cases"),
    [("asked", 4), ("side", 1), ("choice", 1), ("chosen", 2), ("unusable", 1)],
)
def test_a_number_opens_its_cases(open_app, word, cases):
    text = shown(open_app("browse", again=word)) + drawn(open_app("browse", again=word))
    assert text.count('class="rx-card"') == cases or f"{cases} case" in text


def test_nothing_is_said_where_nothing_was_asked_again(open_app, review_folder):
    for part in (review_folder / "answers").iterdir():
        part.unlink()
    (review_folder / "answers.jsonl").write_text('{"case": "c1", "model": "m", "text": "Left."}\n')
    assert "rx-contradicting" not in drawn(open_app())
