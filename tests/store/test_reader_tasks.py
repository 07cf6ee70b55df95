"""What readers do besides scoring: answer, correct and compare; given and written rows together."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from support.entries.stored import ANN, BOB, EVE, VIC
from support.reader_tasks import CHOICE, OPTIONS, REPORTS, write_tasks
from support.rows import each_row

from rexview import frames
from rexview.answer_digest import digests_of
from rexview.cli import main
from rexview.errors import StoreRefused
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews, restore_backup, write_backup


@pytest.fixture
def folder(tmp_path):
    return write_tasks(tmp_path / "tasks")


@pytest.fixture
def review_set(folder):
    return load_review_set(folder)


@pytest.fixture
def reviews(review_set, settings):
    return open_reviews(review_set, settings)


@pytest.fixture
def settings():
    return Settings()


def choose(choice, option=None, *, case="q1", seconds=4.5):
    words = OPTIONS[choice] if option is None and choice is not None else option
    return Entry("choose", case, value={"choice": choice, "option": words, "seconds": seconds})


def edit(place, action, edited=None, *, model="m", severity=None, **more):
    value = {"action": action, "original": "as it was", "edited": edited, "severity": severity}
    return Entry("edit", "r1", model, place, value={**value, **more})


def corrected(done=True, *, model="m"):
    return Entry("corrected", "r1", model, value={"done": done})


def prefer(preferred, first="m", second="n", **more):
    value = {"first": first, "second": second, "preferred": preferred, "seconds": 9, **more}
    return Entry("prefer", "r1", value=value)


def reference(findings="Both lungs clear.", **more):
    return Entry("reference", "r1", value={"findings": findings, **more})


def refused(reviews, entry, person=ANN):
    with pytest.raises(StoreRefused) as caught:
        reviews.record([entry], person)
    return " ".join(caught.value.problems)


def test_a_choice_is_a_row_and_the_newest_stands(review_set, reviews):
    reviews.record([choose(0), choose(1, seconds=7)], ANN)
    reviews.record([choose(2)], BOB)
    both = merge_reviews(review_set, reviews)
    assert both.choices.schema == frames.CHOICES
    rows = both.choices.select("reader", "choice", "option", "seconds", "_origin").rows()
    assert sorted(rows) == [("ann", 1, "B. Right", 7, "app"), ("bob", 2, "C. Both", 4.5, "app")]
    assert [row.value["choice"] for row in reviews.history(kind="choose", person="ann")] == [1, 0]


def test_a_question_left_out_is_kept_and_is_no_choice(review_set, reviews):
    reviews.record([choose(0), choose(None)], ANN)
    assert merge_reviews(review_set, reviews).choices.is_empty()
    (row,) = reviews.current("choose")
    assert row.value == {"choice": None, "option": None, "seconds": 4.5}


def test_a_choice_replaces_the_given_one_of_the_same_reader(folder, settings):
    (folder / "choices.csv").write_text("case,reader,choice\nq1,ra,0\nq1,rb,2\n", encoding="utf-8")
    review_set = load_review_set(folder)
    reviews = open_reviews(review_set, settings)
    reviews.record([choose(1)], Person("ra", "Reader A", "reader"))
    rows = merge_reviews(review_set, reviews).choices.select("reader", "choice", "_row").rows()
    assert sorted(rows) == [("ra", 1, 3), ("rb", 2, 2)]


def test_a_choice_among_other_options_is_kept_and_counts_nowhere(folder, settings, tmp_path):
    reviews = open_reviews(load_review_set(folder), settings)
    reviews.record([choose(1)], ANN)
    changed = load_review_set(
        write_tasks(folder, choices=[{**CHOICE, "options": ["A", "B. At the apex", "C"]}])
    )
    both = merge_reviews(changed, open_reviews(changed, settings))
    assert both.choices.is_empty()
    assert both.stale_choices["option"].to_list() == ["B. Right"]


@each_row(
    ("entry", "said"),
    [
        (choose(1, "C. Both"), "not those of the option"),
        (choose(3, "D"), "no option 3"),
        (choose(-1, "D"), "whole number"),
        (choose(True, "B. Right"), "whole number"),
        (choose(None, "B. Right"), "No option is chosen"),
        (choose(1, seconds=-1), "number of seconds"),
        (choose(1, seconds=float("nan")), "number of seconds"),
        (choose(0, "A", case="c1"), "no options"),
        (edit("1", "delete", severity=5), "severity"),
        (edit("1", "delete", severity=True), "severity"),
        (edit("1", "delete", severity=[1]), "severity"),
        (edit("x", "delete"), "line"),
        (edit("-1", "delete"), "line"),
        (edit("1", "insert", "More."), "stands after a line"),
        (edit("1+1", "delete"), "stands after a line"),
        (edit("1", "substitute"), "Words are needed"),
        (edit("1", "delete", "Words."), "Words are needed"),
        (edit("1", "delete", kind="spelling"), "kind of error"),
        (edit("1", "delete", significance="much"), "significance"),
        (edit("1", "burn"), "action"),
        (prefer("left"), "preferred"),
        (prefer("first", second="m"), "with itself"),
        (prefer("first", second="x"), "no answer"),
        (prefer("first", second=["n"]), "cannot be kept"),
        (prefer("first", second=None), "needed"),
        (prefer("first", first_digest="short"), "digest"),
        (replace(prefer("first"), subject="m"), "follows from its value"),
        (reference(" "), "says nothing"),
        (replace(corrected(), answer_digest="short"), "digest"),
        (replace(choose(1), model="m"), "not about a model"),
    ],
)
def test_what_is_not_valid_is_refused(reviews, entry, said):
    assert said in refused(reviews, entry)


def test_edits_count_once_the_report_is_finished(review_set, reviews):
    reviews.record([edit("1", "keep"), edit("2", "delete", severity=3, kind="false_finding")], ANN)
    reviews.record([edit("2+1", "insert", "Right effusion.", severity=4)], ANN)
    assert merge_reviews(review_set, reviews).edits.is_empty()
    reviews.record([corrected()], ANN)
    both = merge_reviews(review_set, reviews)
    assert both.edits.schema == frames.EDITS
    assert both.edits.select("line", "action", "edited", "severity", "reader").rows() == [
        (1, "keep", None, None, "ann"),
        (2, "delete", None, 3, "ann"),
        (2, "insert", "Right effusion.", 4, "ann"),
    ]
    assert both.edits["answer_digest"].unique().to_list() == [digests_of(review_set).of("r1", "m")]
    reviews.record([Entry("edit", "r1", "m", "2+1", value=None)], ANN)
    assert merge_reviews(review_set, reviews).edits.height == 2
    reviews.record([corrected(False)], ANN)
    assert merge_reviews(review_set, reviews).edits.is_empty()


def test_a_report_without_any_error_is_there(review_set, reviews):
    reviews.record([corrected(model="n")], ANN)
    rows = (
        merge_reviews(review_set, reviews)
        .edits.select("model", "action", "line", "severity")
        .rows()
    )
    assert rows == [("n", "keep", None, None)]


def test_finished_edits_replace_the_given_ones_of_the_same_reader(folder, settings):
    (folder / "edits.csv").write_text(
        "case,model,reader,line,action,severity,created\n"
        "r1,m,ann,1,delete,4,\nr1,m,rb,1,keep,0,\nr1,n,ann,1,delete,2,2999-01-01\n",
        encoding="utf-8",
    )
    review_set = load_review_set(folder)
    reviews = open_reviews(review_set, settings)
    reviews.record([edit("1", "delete", severity=1), corrected(), corrected(model="n")], ANN)
    rows = (
        merge_reviews(review_set, reviews)
        .edits.select("model", "reader", "severity", "_row")
        .rows()
    )
    assert sorted(rows) == [("m", "ann", 1, 4), ("m", "rb", 0, 2), ("n", "ann", 2, 3)]


def test_given_edits_of_a_report_stand_or_fall_together(folder, settings):
    (folder / "edits.csv").write_text(
        "case,model,reader,line,action,severity,created\n"
        "r1,m,ann,1,delete,4,2001-01-01\nr1,m,ann,2,delete,4,2999-01-01\n"
        "r1,n,ann,1,delete,4,2001-01-01\n",
        encoding="utf-8",
    )
    review_set = load_review_set(folder)
    reviews = open_reviews(review_set, settings)
    reviews.record([edit("1", "keep"), corrected(), corrected(model="n")], ANN)
    rows = merge_reviews(review_set, reviews).edits.select("model", "action", "line").rows()
    assert rows == [("m", "delete", 1), ("m", "delete", 2), ("n", "keep", None)]
    reviews.record([corrected(False, model="n")], ANN)
    rows = merge_reviews(review_set, reviews).edits.select("model", "action", "line").rows()
    assert rows == [("m", "delete", 1), ("m", "delete", 2)], "n is open again"


def test_insertions_come_in_the_order_of_their_places(review_set, reviews):
    for added in (2, 10, 1):
        reviews.record([edit(f"1+{added}", "insert", f"Words {added}.", severity=1)], ANN)
    reviews.record([edit("1", "keep"), corrected()], ANN)
    edited = merge_reviews(review_set, reviews).edits["edited"].to_list()
    assert edited == [None, "Words 1.", "Words 2.", "Words 10."]


def test_edits_and_preferences_of_a_changed_report_count_nowhere(folder, settings):
    reviews = open_reviews(load_review_set(folder), settings)
    reviews.record([edit("1", "delete", severity=1), corrected(), prefer("first")], ANN)
    reports = [{**REPORTS[0], "text": "Something else."}, REPORTS[1]]
    changed = load_review_set(write_tasks(folder, reports=reports))
    again = open_reviews(changed, settings)
    both = merge_reviews(changed, again)
    assert both.edits.is_empty()
    assert both.preferences.is_empty()
    assert (both.stale_edits.height, both.stale_preferences.height) == (1, 1)
    again.record([edit("1", "keep")], ANN)
    assert merge_reviews(changed, again).edits.is_empty(), "the later report is not finished"
    again.record([corrected(), prefer("second")], ANN)
    both = merge_reviews(changed, again)
    assert both.edits["action"].to_list() == ["keep"]
    assert both.preferences["preferred"].to_list() == ["second"]


def test_a_pair_is_one_whichever_stood_on_the_left(review_set, reviews):
    reviews.record([prefer("first"), prefer("second", "n", "m", comment="Hm")], ANN)
    reviews.record([prefer("tie")], BOB)
    both = merge_reviews(review_set, reviews)
    assert both.preferences.schema == frames.PREFERENCES
    rows = both.preferences.select("reader", "first", "second", "preferred", "comment").rows()
    assert sorted(rows) == [("ann", "n", "m", "second", "Hm"), ("bob", "m", "n", "tie", None)]
    assert both.preferences.select("first_digest", "second_digest").null_count().row(0) == (0, 0)
    reviews.record([prefer(None)], BOB)
    assert merge_reviews(review_set, reviews).preferences["reader"].to_list() == ["ann"]


def test_a_reference_is_everybodys_and_can_be_taken_back(review_set, reviews):
    reviews.record([reference()], EVE)
    reviews.record([reference(impression="Normal.", comment="Agreed")], ANN)
    both = merge_reviews(review_set, reviews)
    assert both.references.schema == frames.REFERENCES
    assert both.references.select("reader", "findings", "impression").rows() == [
        ("ann", "Both lungs clear.", "Normal.")
    ]
    assert both.case("r1").report == review_set.case("r1").report, "what was given stays"
    reviews.record([Entry("reference", "r1", value=None)], ANN)
    assert merge_reviews(review_set, reviews).references.is_empty()


def test_readers_keep_references_only_where_the_rules_say_so(folder, reviews, settings):
    assert "In this study readers" in refused(reviews, reference(), BOB)
    assert "role" in refused(reviews, reference(), VIC)
    allowed = load_review_set(write_tasks(folder, rules="protocol: {reader_references: true}\n"))
    open_reviews(allowed, settings).record([reference()], BOB)


def test_what_is_exported_is_given_again(folder, review_set, reviews, tmp_path, capsys):
    entries = [choose(1), edit("2", "delete", severity=2), corrected(), prefer("tie"), reference()]
    reviews.record(entries, ANN)
    assert main(["export-reviews", str(folder), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "1 edit, 1 choice, 1 preference, 1 reference written" in said
    again = write_tasks(tmp_path / "again")
    for file in (tmp_path / "out").iterdir():
        file.rename(again / file.name)
    before, after = merge_reviews(review_set, reviews), load_review_set(again)
    for name in ("edits", "choices", "preferences", "references"):
        left_out = ["_origin", "_row"]
        assert_frame_equal(
            getattr(after, name).drop(left_out), getattr(before, name).drop(left_out)
        )


def test_a_backup_has_all_of_it(review_set, reviews, tmp_path):
    entries = [choose(1), edit("1", "keep"), corrected(), prefer("tie"), reference()]
    reviews.record(entries, ANN)
    write_backup(reviews, tmp_path / "kept")
    reviews.record([choose(None), corrected(False), prefer(None)], ANN)
    restore_backup(tmp_path / "kept", reviews, replace=True)
    both = merge_reviews(review_set, open_reviews(review_set, Settings()))
    tables = (both.choices, both.edits, both.preferences, both.references)
    assert [table.height for table in tables] == [1, 1, 1, 1]
    assert pl.concat([table.select("reader") for table in tables])["reader"].unique()[0] == "ann"
