"""What the pad of a sample may send, what comes back, and what no browser is told."""

import json
from dataclasses import asdict

import pytest
from support.entries.sent import sender
from support.judge.own_words import ADA, JUDGE, NAME, QUOTE, write_looked_through
from support.opened_app import opened_set

from rexview.analysis import CaseFilter
from rexview.analysis.case.judge_opinions import collect_written_opinions
from rexview.analysis.written_failures import find_failure_wording
from rexview.analysis.written_results import VALIDATION_KIND, load_judge_results, result_condition
from rexview.people import Person
from rexview.settings import load_settings
from rexview.ui.failures.written_sample import neighbouring_sample_items
from rexview.ui.judge.judge_opinions import written_failure_additions
from rexview.ui.web.access import permissions
from rexview.ui.web.saving.written_failure_entries import find_validation_round, own_json
from rexview.ui.web.server import review_sets

PAGE = "failures page"
BOB = Person("bob", "Bob B.", "reader")


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = write_looked_through(tmp_path / "set", monkeypatch)
    with opened_set(folder, tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.fixture
def send(review_set):
    return sender(review_set, PAGE, ADA)


@pytest.fixture
def found(review_set):
    return load_judge_results(
        review_set, find_failure_wording(review_set, load_settings(), NAME), JUDGE
    )


def now(review_set, found, person=ADA):
    about = (NAME, found.version, JUDGE)
    return find_validation_round(review_set, review_sets.reviews(review_set), person, about)


def word(review_set, found, said, place=0, **more):
    reading = now(review_set, found)
    item = reading.listed[place]
    return {
        "kind": VALIDATION_KIND,
        "case": item,
        "field": NAME,
        "subject": found.version,
        "slot": JUDGE,
        "shown": reading.items[item].about.answer_digest,
        "value": said,
        **more,
    }


def rows(review_set):
    return [
        (row.case, row.value) for row in review_sets.reviews(review_set).current(VALIDATION_KIND)
    ]


def test_a_word_is_kept_told_and_taken_back(send, review_set, found):
    one = word(review_set, found, "yes")
    told = send(one, page=PAGE)
    assert (len(told["saved"]), told["refused"], told["replaced"]) == (1, {}, {})
    assert told["own"][one["case"]]["said"] == "yes"
    [(_, value)] = rows(review_set)
    assert value == {"said": "yes", "failure": NAME, "version": found.prompt.hash, "judge": JUDGE}
    reading = now(review_set, found)
    assert (reading.done, reading.item_of(None)) == (1, reading.listed[1])
    told = send(word(review_set, found, None, was="yes", seen=told["revision"]), page=PAGE)
    assert told["own"][one["case"]]["said"] is None
    assert rows(review_set)[0][1] is None


def test_another_window_is_not_written_over_unseen(send, review_set, found):
    send(word(review_set, found, "yes"))
    told = send(word(review_set, found, "no", seen=0))
    assert list(told["replaced"].values()) == [{"said": "yes"}]
    assert rows(review_set)[0][1]["said"] == "yes"


@pytest.mark.parametrize(
    "wrong",
    [
        {"case": "case-1"},
        {"case": "0" * 16},
        {"shown": "0" * 16},
        {"slot": "another"},
        {"slot": None},
        {"subject": "00000000"},
        {"subject": ""},
        {"field": "../x"},
        {"value": "maybe"},
        {"value": {"said": "yes"}},
        {"value": 1},
    ],
)
def test_what_the_page_does_not_send_is_refused(send, review_set, found, wrong):
    told = send(word(review_set, found, "yes", **wrong))
    assert (told["saved"], len(told["refused"])) == ([], 1)
    assert rows(review_set) == []


def test_a_reader_may_not(send, review_set, found):
    send(word(review_set, found, "yes"), person=BOB, status=403)
    with permissions.acting_as(BOB):
        assert (
            neighbouring_sample_items(review_set, {"part": "validate", "about": ["", "", ""]})
            is None
        )


def test_the_browser_is_told_nothing_of_the_judge(review_set, found):
    """Two items look the same whatever was found: in texts, names and what one's own word is."""
    detail = {"part": "validate", "about": [NAME, found.version, JUDGE], "size": 50}
    with permissions.acting_as(ADA):
        around = neighbouring_sample_items(review_set, detail)
        sent = [around.case_json(item) for item in around.page(0, 50)]
    assert len(sent) == 4
    text = json.dumps(sent).lower()
    for hidden in ("reasonwords", "has_it", "zebu", "okapi", "case-1", "candidate"):
        assert hidden not in text
    assert "i see a left pleural" in text  # in the answer, as it stands there
    assert QUOTE == "left pleural effusion"
    assert {tuple(sorted(own_json(now(review_set, found), one["case"]))) for one in sent} == {
        ("report", "revision", "said", "shown", "unblinded")
    }


def test_the_case_page_has_it_only_where_the_filter_names_it(review_set, found):
    answers = review_set.answers_of("case-1")
    assert collect_written_opinions(review_set, CaseFilter(), "case-1", answers) == ()
    named = CaseFilter(written=(result_condition(found, "yes"),))
    [one] = collect_written_opinions(review_set, named, "case-1", answers)
    assert asdict(one)["judge"] == JUDGE
    added = written_failure_additions([one], ["zebu-7b", "okapi"])
    assert "found by a language model" in added["zebu-7b"].below
    assert "<b>x</b>" not in added["zebu-7b"].below + added["okapi"].below
    assert "<i>of</i>" not in added["zebu-7b"].below
    [mark] = added["zebu-7b"].marks
    text = answers[0].text
    assert " ".join(text[mark.start : mark.end].lower().split()) == QUOTE
    assert added["okapi"].marks == []
