"""The Multiple choice page without a browser: numbers, links, readers, the paper's tables."""

import html
import re

import pytest
from support.made_rows.choices import write_choice_set
from support.opened_app import run_page, server_for
from support.page_text import drawn

PRINTED = ("83.24", "26.61", "97.03", "77.27", "572,419")


def words(app):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", drawn(app))))


@pytest.fixture(name="open_choices")
def open_choices_fixture(tmp_path, monkeypatch):
    def open_page(**query):
        app = run_page("multiple_choice", **query)
        assert not app.exception
        return app

    with server_for(write_choice_set(tmp_path / "choices"), tmp_path, monkeypatch):
        yield open_page


def test_accuracies_with_n_failed_ones_and_readers_apart(open_choices):
    app = open_choices()
    text = words(app)
    for part in (
        "36 questions answered by 2 models and 3 readers, of 12 patients or studies.",
        "All models wrong: 3",
        "Gem 36 61.1% 11 wrong",
        "3 8.3% 66.7% of 33",  # failed, and without them
        "Readers Resident 1 12 83.3%",
        "Questions share patients or studies: 95% intervals resample these",
        "where none is shared they are Wilson's",
        "Not counted: 1 question without a right option.",
        "Respiratory System Lung & Pleural Opacity 12",
        "Not in the paper's categories Home-made category",
        "The 12 questions that a reader answered.",
        "Models compared, question by question",
        "McNemar's exact test, p adjusted by Benjamini-Hochberg",
    ):
        assert part in text, part
    assert 'class="rx-few"' in drawn(app)
    for link in (
        "outcome=right%3Agem",
        "outcome=failed%3Agem",
        "outcome=wrong%3Ara",
        "outcome=read",
    ):
        assert link in drawn(app), link
    assert not any(figure in text for figure in PRINTED)
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["CSV", "Word"] * 6


def test_another_property_and_the_papers_tables(open_choices):
    text = words(open_choices(split="tag:class", published="1", agreement="negation_assessment"))
    assert "Accuracy by class Class" in text
    assert "Class 4" in text
    for part in (*PRINTED, "Printed in ReXVQA (arXiv 2506.04353), table 2", "This review set"):
        assert part in text, part
    assert re.search(r"Gem 61\.11 n 36", text)
    assert re.search(r"Resident 1 \(reader\) \d", text)  # people stand among models: said


def test_a_filter_that_leaves_no_choice_says_so(open_choices):
    app = open_choices(site="elsewhere")
    assert [one.value for one in app.info] == [
        "No answer to a choice question matches the filter: widen it."
    ]
    assert all(figure in words(app) for figure in PRINTED)


def test_a_set_without_choice_questions_has_the_published_tables(open_app):
    app = open_app("multiple_choice")
    said = [one.value for one in app.info]
    assert said == [
        "This review set has no answers to choice questions whose right option is known."
    ]
    assert all(figure in words(app) for figure in PRINTED)
