"""Choices read in processes of our own are those that are read here, whatever becomes of them."""

import pytest

from rexview.reviewset import choice_process
from rexview.reviewset.choice_process import read_choices
from rexview.text.choices.choice_reader import read_choice

OPTIONS = ("A. Effusion", "B. Nodule")
ASKED = [
    (text, OPTIONS, f"Which is seen in film {number}?")
    for number, text in enumerate(("A", "It is (B).", "I cannot tell.", "Answer: **B**") * 9)
]
HERE = [read_choice(*one) for one in ASKED]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(choice_process, "MANY", 1)
    monkeypatch.setattr(choice_process, "_AT_A_TIME", 5)
    monkeypatch.setattr(choice_process, "_processors", lambda: 2)


def test_processes_read_what_is_read_here_in_the_same_order():
    assert read_choices(ASKED) == HERE
    assert None in HERE


def test_without_a_process_they_are_read_here(monkeypatch, tmp_path):
    monkeypatch.setattr(choice_process, "__file__", str(tmp_path / "is_not_there.py"))
    assert read_choices(ASKED[:6]) == HERE[:6]


def test_few_texts_begin_no_process(monkeypatch):
    monkeypatch.setattr(choice_process, "MANY", 100)
    monkeypatch.delattr(choice_process, "RequestProcess")
    assert read_choices(ASKED) == HERE
