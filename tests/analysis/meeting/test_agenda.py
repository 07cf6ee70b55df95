"""What is to be known of the cases of an agenda, and lists of ids as people paste them."""

import pytest
from support.small_set import CASES, write_set

from rexview.analysis.meetings import (
    build_agenda,
    find_meeting,
    list_meetings,
    make_agenda_items,
    parse_ids,
)
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews

LEAD = Person("ann", "Ann", "lead")
OF = {"c1": ("s1", "p1"), "c2": ("s1", "p1"), "c3": ("s2", "p1"), "two words": ("s3", None)}
"""Study and patient of each case."""


@pytest.fixture
def folder(tmp_path):
    kinds = dict(zip(OF, [*CASES, CASES[0]], strict=True))
    cases = [
        {**case, "id": name, "study_id": OF[name][0], "patient_id": OF[name][1]}
        for name, case in kinds.items()
    ]
    return write_set(tmp_path / "set", cases=cases)


@pytest.fixture
def reviews(folder):
    return open_reviews(load_review_set(folder), Settings())


def plan(reviews, meeting_id, *cases, **value):
    entries = [Entry("meeting", subject=meeting_id, value={"name": meeting_id, **value})]
    for place, case in enumerate(cases, start=1):
        item = {"place": place, "minutes": 4 if place == 1 else None}
        entries.append(Entry("agenda", case, subject=meeting_id, value=item))
    reviews.record(entries, LEAD)


def planned(reviews, meeting_id):
    found = build_agenda(
        merge_reviews(reviews.review_set, reviews),
        find_meeting(reviews, meeting_id),
        list_meetings(reviews),
    )
    return found, {one.case.id: one for one in found.cases}


def test_cases_of_one_study_or_patient_are_noticed(reviews):
    plan(reviews, "m1", "c1", "c2", "c3", "two words")
    found, cases = planned(reviews, "m1")
    assert (cases["c1"].same_study, cases["c1"].same_patient) == (("c2",), ("c3",))
    assert (cases["c3"].same_study, cases["c3"].same_patient) == ((), ("c1", "c2"))
    assert (cases["two words"].same_study, cases["two words"].same_patient) == ((), ())
    assert (found.minutes, found.without_minutes) == (4, 3)


def test_what_was_discussed_is_noticed(reviews):
    plan(reviews, "m1", "c1", "c2", "c3")
    plan(reviews, "m2", "c1", "c2", "c3")
    plan(reviews, "m3", "c3", closed=True)
    shown = [Entry("discussed", "c1", subject=one, value={"seconds": 90}) for one in ("m1", "m2")]
    decided = Entry("decide", "c2", subject="m2", value={"decision": "accept"})
    reviews.record([*shown, decided], LEAD)
    _, cases = planned(reviews, "m1")
    assert (cases["c1"].seconds, cases["c1"].discussed_in, cases["c1"].planned_for) == (
        90,
        ("m2",),
        (),
    )
    assert (cases["c2"].seconds, cases["c2"].discussed_in) == (None, ("m2",))
    assert (cases["c3"].discussed_in, cases["c3"].planned_for) == ((), ("m2",))


def test_decisions_that_came_with_the_files_are_discussions(folder):
    rows = "case,meeting,meeting_name,reader,decision\nc1,old,Spring,ra,accept\n"
    (folder / "decisions.csv").write_text(rows)
    reviews = open_reviews(load_review_set(folder), Settings())
    plan(reviews, "m1", "c1", "c2")
    _, cases = planned(reviews, "m1")
    assert (cases["c1"].discussed_in, cases["c2"].discussed_in) == (("Spring",), ())


def test_cases_that_left_the_set_are_named(folder, reviews):
    plan(reviews, "m1", "c1", "c2")
    lines = (folder / "cases.jsonl").read_text().splitlines()
    (folder / "cases.jsonl").write_text("\n".join(line for line in lines if '"c1"' not in line))
    (folder / "answers.jsonl").unlink()
    (folder / "scores.csv").unlink()
    found = find_meeting(open_reviews(load_review_set(folder), Settings()), "m1")
    assert (found.cases, found.gone) == (("c2",), ("c1",))


@pytest.mark.parametrize(
    ("text", "new", "there", "unknown"),
    [
        ("c1, c2;c3", ["c1", "c3"], ["c2"], []),
        ("c1\tx\r\nc1\n\n c3 ", ["c1", "c3"], [], ["x"]),
        ("c3 c1", ["c3", "c1"], [], []),
        ('"two words"\nc9', ["two words"], [], ["c9"]),
        ("", [], [], []),
    ],
)
def test_ids_are_read_as_they_are_pasted(reviews, text, new, there, unknown):
    found = parse_ids(text, reviews.review_set, {"c2"})
    assert [list(one) for one in (found.new, found.there, found.unknown)] == [new, there, unknown]


def test_what_is_added_stands_at_the_end_once(reviews):
    plan(reviews, "m1", "c1")
    items = make_agenda_items(
        find_meeting(reviews, "m1"), ["c3", "c1", "c2", "c3"], section="Sides", found_by="x=1"
    )
    assert [(one.case, one.place, one.section) for one in items] == [
        ("c3", 2, "Sides"),
        ("c2", 3, "Sides"),
    ]
    assert {one.found_by for one in items} == {"x=1"}
