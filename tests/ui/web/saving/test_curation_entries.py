"""What the Curate page may send about candidate questions, and what comes back."""

from uuid import uuid4

import pytest
from support.curation.candidate_set import COMPARING, write_candidate_set
from support.entries.sent import sender
from support.opened_app import opened_set

from rexview.people import Person
from rexview.ui.web.server import review_sets

PAGE = "curate page"
EVE, BOB = Person("eve", "Eve E.", "adjudicator"), Person("bob", "Bob B.", "lead")
SELECT = {"decision": None, "question": None, "boxes_question": None, "category": None}
OWN = "o-0123456789ab"
CRITERIA = ("relevance", "answerability", "complexity", "clarity")


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    with opened_set(write_candidate_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.fixture
def send(review_set):
    """Return a function that sends entries of the Curate page as its browser does."""
    return sender(review_set, PAGE, EVE)


def entry(kind, value, candidate="q-low", case="c1", **more):
    return {"kind": kind, "case": case, "subject": candidate, "value": value, **more}


def select(candidate="q-low", case="c1", was=None, seen=0, **fields):
    return entry("select", {**SELECT, **fields}, candidate, case, was=was, seen=seen)


def rate(*scores, candidate="q-low", **more):
    value = {**dict(zip(CRITERIA, scores, strict=True)), "risk": None, "comment": None}
    return entry("rate", value, candidate, **more)


def test_all_that_is_given_stands_in_the_tables(send, review_set):
    tags = {"laterality": ["Left", "Right – and left"], "subtype": []}
    told = send(
        select(decision="chosen", question="What is in the left apex, and how large is it?"),
        rate(5, 4, 3, 2),
        entry("tag", {"tags": tags}),
        entry("propose", {"question": "Is it <b>left</b>?", "category": None}, OWN),
        select(OWN, decision="rejected", comment="Too easy."),
        case="c1",
        page=PAGE,
    )
    assert (len(told["saved"]), told["refused"], told["replaced"]) == (5, {}, {})
    rows = told["own"]["c1"]["rows"]
    assert rows["q-low"]["tag"]["tags"] == {"laterality": ["Left", "Right – and left"]}
    assert rows[OWN]["propose"]["question"] == "Is it <b>left</b>?"
    assert rows[OWN]["by"] == "Eve E."
    assert told["own"]["c1"]["solved"] == "q-low"
    written = review_sets.with_current_reviews(review_set)
    chosen = {row["candidate"]: row for row in written.selections.iter_rows(named=True)}
    assert chosen["q-low"]["question"].startswith("What is in the left apex, and")
    assert (chosen[OWN]["decision"], chosen[OWN]["comment"]) == ("rejected", "Too easy.")
    eves = {"by": "eve", "candidate": "q-low"}
    (given,) = written.candidate_ratings.filter(**eves).iter_rows(named=True)
    assert [given[name] for name in CRITERIA] == [5, 4, 3, 2]


def test_a_person_gets_no_scores_of_others(send):
    send(rate(1, 1, 1, 1), person=BOB)
    told = send(case="c1", page=PAGE)
    assert told["own"]["c1"]["rows"] == {}
    assert told["own"]["c1"]["solved"] == ""


@pytest.mark.parametrize(("scores", "solved"), [((4, 4, 4, None), ""), ((None,) * 4, "q-low")])
def test_others_scores_are_open_after_all_four_or_when_one_goes_without(send, scores, solved):
    assert send(rate(*scores), case="c1", page=PAGE)["own"]["c1"]["solved"] == solved


def test_scores_that_were_seen_stay_seen_while_the_own_ones_are_changed(send):
    begun = rate(4, None, None, None)
    begun["value"]["after_model"] = True
    assert send(begun, case="c1", page=PAGE)["own"]["c1"]["solved"] == "q-low"


def test_what_somebody_else_decided_unseen_is_not_undone(send, review_set):
    first = select(decision="chosen")
    send(first, person=BOB)
    late = {**select(decision="rejected"), "token": str(uuid4())}
    told = send(late)
    assert told["replaced"][late["token"]]["decision"] == "chosen"
    row = (
        review_sets.with_current_reviews(review_set)
        .selections.filter(candidate="q-low")
        .row(0, named=True)
    )
    assert (row["decision"], row["reader"]) == ("chosen", "bob")
    seen = send(case="c1", page=PAGE)["own"]["c1"]
    again = select(decision="rejected", was=seen["rows"]["q-low"]["select"], seen=seen["revision"])
    assert len(send(again)["saved"]) == 1


@pytest.mark.parametrize(
    ("case", "question", "refused"),
    [
        ("c1", None, True),
        ("c2", None, False),
        ("c3", None, True),
        ("c1", "Is there an effusion?", False),
        ("c2", "Is there an effusion?", False),
    ],
    ids=["no prior", "prior", "prior missing", "edited", "prior and edited"],
)
def test_a_comparison_without_an_earlier_image_cannot_be_chosen(send, case, question, refused):
    one = {**select("q-compare", case, decision="chosen", question=question)}
    one["token"] = str(uuid4())
    told = send(one)
    assert list(told["refused"]) == ([one["token"]] if refused else [])
    if refused:
        assert "comparison" in told["refused"][one["token"]]


def test_an_edit_or_an_own_question_that_compares_cannot_be_chosen(send):
    edited = {**select(decision="chosen", question=COMPARING), "token": str(uuid4())}
    send(entry("propose", {"question": COMPARING, "category": None}, OWN))
    own = {**select(OWN, decision="chosen"), "token": str(uuid4())}
    assert {*send(edited, own)["refused"]} == {edited["token"], own["token"]}


@pytest.mark.parametrize(
    "wrong",
    [
        entry("select", {**SELECT, "decision": "maybe"}),
        entry("select", {**SELECT, "decision": "chosen", "question": ["no text"]}),
        entry("select", "chosen"),
        entry("select", {**SELECT, "decision": "chosen"}, "q-none"),
        entry("select", {**SELECT, "decision": "chosen"}, "q-low", "c9"),
        entry("select", {**SELECT, "decision": "chosen"}, None),
        entry("propose", {"question": "Mine?"}, "q-low"),
        entry("propose", {"question": " "}, OWN),
        entry("rate", {"relevance": 6}),
        entry("rate", {"relevance": True}),
        entry("tag", {"tags": {"colour": ["red"]}}),
        entry("tag", {"tags": {"laterality": "Left"}}),
        entry("validate", {"passed": "yes"}),
        entry("score", 4),
        entry("adjudicate", {"score": 4}),
    ],
)
def test_what_does_not_fit_is_refused_and_the_rest_is_saved(send, review_set, wrong):
    bad, good = {**wrong, "token": str(uuid4())}, {**rate(1, 2, 3, 4), "token": str(uuid4())}
    told = send(bad, good)
    assert list(told["refused"]) == [bad["token"]]
    assert told["refused"][bad["token"]].endswith(".")
    assert told["saved"] == [good["token"]]


def test_a_tag_that_is_too_long_is_refused_in_words_of_the_page(send):
    long = {**entry("tag", {"tags": {"anatomical_region": ["x" * 201]}}), "token": str(uuid4())}
    assert "Anatomical region: one of its values" in send(long)["refused"][long["token"]]


@pytest.mark.parametrize("role", ["reader", "viewer"])
@pytest.mark.parametrize("kind", ["propose", "select", "rate", "tag", "validate"])
def test_readers_and_viewers_write_and_learn_nothing(send, review_set, role, kind):
    send(select(decision="chosen", comment="secretword"), person=BOB)
    other = Person("rita", "Rita", role)
    told = send(entry(kind, None, OWN), person=other, status=403, case="c1", page=PAGE)
    assert told["error"].startswith("Your role may not")
    assert "secretword" not in str(told)
    assert "own" not in send(person=other, case="c1", page=PAGE, status=403)
    assert len(review_sets.reviews(review_set).history()) == 1
