"""Entries are written once, all or none, by those who may."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st
from support.entries.stored import ANN, BOB, EVE, VIC, comment, score, verdict
from support.reader_tasks import OPTIONS, write_tasks
from support.rows import each_row

from rexview.errors import StoreOvertaken, StoreRefused
from rexview.reviewset import load_review_set
from rexview.store import ENTRY_KINDS, Entry, may_write_kind, open_reviews

WORDS = {"name": "Invented prior", "counts": "A comparison with nothing."}
SAID = {"said": "yes", "failure": "f", "version": "3fa9c1d2e4b5", "judge": "gpt-5-mini"}


def refused(reviews, entries, person=ANN):
    before = reviews.revision()
    with pytest.raises(StoreRefused) as caught:
        reviews.record(entries, person)
    assert reviews.revision() == before, "nothing may be written"
    assert "Nothing was written" in str(caught.value)
    return caught.value.problems


def test_what_was_written_is_returned_and_there(reviews):
    (row,) = reviews.record([score(4, comment="Fine.", via="test")], ANN)
    assert (row.case, row.model, row.subject, row.person) == ("c1", "m", "process", "ann")
    assert row.value == {"score": 4, "comment": "Fine."}
    assert row.previous is None
    assert row.at.utcoffset().total_seconds() == 0
    assert reviews.history() == (row,)


def test_nothing_is_made_before_the_first_entry(reviews, review_set, own_data_folder):
    assert reviews.revision() == 0
    assert reviews.scores().is_empty()
    assert reviews.comments() == ()
    assert not (review_set.folder / "reviews.sqlite").exists()
    assert reviews.record([], ANN) == ()
    assert not (review_set.folder / "reviews.sqlite").exists()


def test_a_token_sent_again_is_one_entry(reviews):
    entry = score(4)
    first = reviews.record([entry], ANN)
    assert reviews.record([entry], ANN) == first
    assert reviews.record([entry, score(2, dimension="language")], ANN)[0] == first[0]
    assert reviews.record([replace(entry, token=entry.token.upper())], ANN) == first
    assert len(reviews.history()) == 2


def agreed(value, *over, **more):
    value = {"score": value, "comment": None}
    return Entry("adjudicate", "c1", "m", "process", value=value, over=over, **more)


def test_what_somebody_else_wrote_unseen_is_not_written_over(reviews):
    theirs = {"score": 5, "comment": None}
    (first,) = reviews.record([agreed(5, None)], ANN)
    before = reviews.revision()
    with pytest.raises(StoreOvertaken):
        reviews.record([replace(agreed(4), subject="language"), agreed(2, None)], EVE)
    with pytest.raises(StoreOvertaken):
        reviews.record([agreed(2)], EVE)
    assert reviews.revision() == before, "nothing may be written"
    (row,) = reviews.record([agreed(2, None, theirs)], EVE)
    assert (row.person, row.previous) == ("eve", theirs)
    assert reviews.record([agreed(5, None, token=first.token)], ANN) == (first,)
    reviews.record([agreed(4, None)], EVE)  # over her own, whatever she has seen of it
    reviews.record([replace(agreed(3), over=None)], ANN)
    assert [one.value["score"] for one in reviews.history()] == [3, 4, 2, 5]


def test_a_token_twice_in_one_message_is_one_entry(reviews):
    entry = score(4)
    first, second = reviews.record([entry, entry], ANN)
    assert first == second
    assert len(reviews.history()) == 1


@pytest.mark.parametrize(
    "change", [{"subject": "language"}, {"case": "c2"}, {"kind": "adjudicate"}]
)
def test_a_token_is_not_taken_for_something_else(reviews, change):
    entry = score(4)
    reviews.record([entry], ANN)
    assert "token" in refused(reviews, [replace(entry, **change)])[0]


def test_a_token_of_somebody_else_tells_nothing(reviews):
    entry = score(1, comment="secret")
    reviews.record([entry], ANN)
    problems = refused(reviews, [entry], BOB)
    assert "secret" not in str(problems)


def test_the_value_before_stands_beside_the_new_one(reviews):
    values = [row.previous for value in (1, 5, None) for row in reviews.record([score(value)], ANN)]
    assert values == [None, {"score": 1, "comment": None}, {"score": 5, "comment": None}]
    both = reviews.record([score(2), score(3)], ANN)
    assert [row.previous["score"] for row in both] == [None, 2]


def test_the_value_before_is_that_of_the_same_person_and_thing(reviews):
    reviews.record([score(1), score(2, dimension="language"), score(3, case="c2")], ANN)
    (row,) = reviews.record([score(5)], BOB)
    assert row.previous is None


def test_all_or_none(reviews):
    reviews.record([score(3)], ANN)
    refused(reviews, [score(4), score(9)])
    assert reviews.scores()["score"].to_list() == [3]


def test_what_is_unknown_is_refused_with_all_problems_named(reviews):
    entries = [
        score(4, case="c9"),
        score(4, model="nobody"),
        score(4, case="c2", model="n"),
        score(4, dimension="beauty"),
        score(6),
        Entry("applause", "c1"),
        verdict("perhaps"),
        verdict(failure="typo"),
    ]
    problems = refused(reviews, entries)
    assert len(problems) == len(entries)
    for number, (problem, part) in enumerate(
        zip(
            problems,
            (
                "no case “c9”",
                "no model “nobody”",
                "no answer of “n” to “c2”",
                "“beauty”",
                "“6”",
                "“applause”",
                "“perhaps”",
                "“typo”",
            ),
            strict=True,
        ),
        start=1,
    ):
        assert problem.startswith(f"Entry {number}: ")
        assert part in problem


@each_row("value", [0, 6, 2.5, True, "4", [4], float("nan")])
def test_a_score_is_a_whole_number_from_one_to_five(reviews, value):
    assert "whole number" in refused(reviews, [score(value)])[0]


@each_row(
    "entry",
    [
        score(4, picture=0),
        score(4, dimension="image_style", picture=0),
        score(4, model="n", dimension="image_content"),
        replace(score(4), model=None),
        replace(score(4), case=None),
        replace(score(4), value={"score": 4, "colour": "red"}),
        replace(score(4), value={"score": 4, "comment": 7}),
        replace(score(4), value=[4]),
        replace(score(4), token="again"),
        replace(score(4), token=None),
        replace(score(4), case="c1\x00"),
        replace(score(4), case=["c1"]),
        score(4, comment="x" * 20_001),
        comment("k", " "),
        comment("k", on={"what": "universe"}),
        comment("k", on={"what": "box"}, model=None),
        comment("k", model="m", on={"what": "span", "start": float("inf")}),
        comment("k", model="m", on={"what": "span", "colour": "red"}),
        comment("k", reply_to="nothing"),
        comment(None),
        Entry("resolve", subject="nothing", value={"resolved": True}),
        Entry("resolve", subject="nothing", value={"resolved": "yes"}),
        Entry("assign", "c1", None, "bob", value={"as": "third", "active": True}),
        Entry("assign", "c1", None, None, value={"as": "first", "active": True}),
        Entry("skip", "c1", "m", value={"reason": "x"}),
        Entry("skip", None, value={"reason": "x"}),
        Entry("reveal", "c1", value={"what": "everything"}),
        Entry("reveal", "c1", value={"what": "report", "accepted": True}),
        Entry("reveal", "c1", value={"what": "unblinded", "accepted": "yes"}),
        Entry("done", "c9", value={"done": True}),
        Entry("done", "c1", value={"done": 1.0}),
    ],
)
def test_what_is_not_valid_is_refused(reviews, entry):
    assert refused(reviews, [entry])


def test_a_score_on_boxes_needs_boxes(reviews):
    (row,) = reviews.record([score(4, dimension="image_content")], ANN)
    assert row.picture is None


def test_every_kind_by_every_role(tmp_path, settings):
    rules = "protocol: {reader_references: true}\n"
    reviews = open_reviews(load_review_set(write_tasks(tmp_path / "tasks", rules=rules)), settings)
    entries = {
        "score": score(4),
        "verdict": verdict(),
        "comment": comment("k"),
        "resolve": Entry("resolve", subject="first", value={"resolved": True}),
        "assign": Entry("assign", "c1", None, "bob", value={"as": "second", "active": True}),
        "adjudicate": replace(score(3), kind="adjudicate"),
        "skip": Entry("skip", "c1", value={"reason": "Blurred"}),
        "reveal": Entry("reveal", "c1", value={"what": "models"}),
        "done": Entry("done", "c1", value={"done": True}),
        "choose": Entry("choose", "q1", value={"choice": 0, "option": OPTIONS[0]}),
        "edit": Entry("edit", "c1", "m", "1", value={"action": "delete", "severity": 2}),
        "corrected": Entry("corrected", "c1", "m", value={"done": True}),
        "prefer": Entry("prefer", "c1", value={"first": "m", "second": "n", "preferred": "tie"}),
        "reference": Entry("reference", "c1", value={"findings": "Right effusion."}),
        "propose": Entry("propose", "c1", None, "o-1", value={"question": "Which side?"}),
        "select": Entry("select", "c1", None, "o-1", value={"decision": "chosen"}),
        "rate": Entry("rate", "c1", None, "o-1", value={"relevance": 5, "risk": False}),
        "tag": Entry("tag", "c1", None, "o-1", value={"tags": {"laterality": ["Left"]}}),
        "validate": Entry("validate", "c1", None, "o-1", value={"passed": True}),
        "written_failure": Entry("written_failure", subject="f", value=WORDS),
        "written_validation": Entry("written_validation", "c1", "m", "v", value=SAID),
        "written_mark": Entry("written_mark", "c1", "m", "f", value={"version": "v"}),
        "meeting": Entry("meeting", subject="m1", value={"name": "Chest"}),
        "agenda": Entry("agenda", "c1", None, "m1", value={"place": 1}),
        "presenter_note": Entry("presenter_note", "c1", None, "m1", value={"text": "Ask."}),
        "discussed": Entry("discussed", "c1", None, "m1", value={"seconds": 60}),
        "vote": Entry("vote", "c1", None, "m1", value={"count": 1, "right": {"m": 1}}),
        "decide": Entry("decide", "c1", "m", "m1", value={"decision": "retrain"}),
    }
    assert set(entries) == set(ENTRY_KINDS)
    reviews.record([comment("first")], ANN)
    for person in (ANN, BOB, EVE, VIC):
        for kind, entry in entries.items():
            entry = Entry(**{**vars(entry), "token": score().token})
            if kind == "comment":
                entry = replace(entry, subject=f"of {person.id}")
            if may_write_kind(person, kind):
                assert reviews.record([entry], person)[0].kind == kind
            else:
                assert "role" in refused(reviews, [entry], person)[0]


def test_nobody_writes_without_a_name(reviews):
    refused(reviews, [score()], replace(ANN, id=""))


def test_only_the_author_changes_a_comment_and_not_its_place(reviews):
    reviews.record([comment("k", "First.")], ANN)
    assert "Only" in refused(reviews, [comment("k", "Hers.")], BOB)[0]
    assert "stays" in refused(reviews, [comment("k", case="c2")])[0]
    reviews.record([comment("k", "Second.")], ANN)
    (found,) = reviews.comments("c1")
    assert found.text == "Second."
    assert found.edited > found.at


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("'; DROP TABLE history; --", None),
        ("<script>alert(1)</script> ${x} {{y}} %s %(id)s", None),
        ("line\r\nline\u2028\u202e\x1b[31m\x07", None),
        ("naïve 日本 🩻 a\u0301", None),
        ('{"score": 1}', None),
        ("NUL\x00 half \ud83e", "NUL\ufffd half \ufffd"),
    ],
)
def test_hostile_text_comes_back_as_it_was(reviews, given, kept):
    kept = given if kept is None else kept
    reviews.record([score(2, comment=given), comment("k", given)], ANN)
    assert reviews.scores()["comment"].to_list() == [kept]
    assert reviews.comments()[0].text == kept
    assert len(reviews.history()) == 2


@given(st.text(max_size=200), st.text(max_size=30))
@example_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back(reviews, text, reader):
    person = replace(ANN, id=reader)
    try:
        reviews.record([score(2, comment=text)], person)
    except StoreRefused:
        assert not reader or "\x00" in reader
        return
    row = reviews.history(limit=1)[0]
    assert row.person == reader
    assert row.value["comment"] == (text.replace("\x00", "\ufffd") or None)
    assert json.dumps(row.value)
