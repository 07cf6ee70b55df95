"""What pages may send about meetings, and what becomes of it."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from support.entries.sent import sender
from support.opened_app import opened_set
from support.small_set import write_set

from rexview.analysis.meetings import find_meeting, list_decisions, read_presenter_notes
from rexview.people import Person
from rexview.store import Entry
from rexview.ui.meeting.live.room import RoomPlan
from rexview.ui.meeting.live.rooms import Rooms
from rexview.ui.web.saving.entries import SentEntry
from rexview.ui.web.saving.route import EntryWriter
from rexview.ui.web.server import review_sets

PAGE = "meeting page"
ANN, BOB = Person("ann", "Ann A.", "lead"), Person("bob", "Bob B.", "adjudicator")
READER = Person("eve", "Eve E.", "reader")
MEETING = "m-0123456789ab"


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.fixture
def reviews(review_set):
    return review_sets.reviews(review_set)


@pytest.fixture
def answer(review_set):
    return review_set.answers.select("case", "model").row(0)


@pytest.fixture
def send(review_set):
    """Return a function that sends entries as a browser does; what it returns has the reply."""
    return sender(review_set, PAGE, ANN)


def entry(kind, value, case="", **more):
    return {"kind": kind, "case": case, "subject": MEETING, "value": value, **more}


@pytest.fixture
def on_agenda(send, answer):
    """Begin a meeting with one case on its agenda; return the case and a model."""
    sent = send(entry("meeting", {"name": "Chest"}), entry("agenda", {"place": 1}, answer[0]))
    assert len(sent["saved"]) == 2
    return answer


def refusal(reply):
    (only,) = reply["refused"].values()
    return only


def test_all_kinds_are_kept(send, reviews, on_agenda):
    case, model = on_agenda
    told = send(
        entry("presenter_note", {"text": "Ask Bob."}, case),
        entry("discussed", {"more_seconds": 30}, case),
        entry("discussed", {"more_seconds": 12.5}, case),
        entry("vote", {"count": 3, "right": {model: 2, "unsure": 1}, "harm": {"2": 3}}, case),
        entry("decide", {"failure": "none", "decision": "accept"}, case, slot=model),
        entry("decide", {"severity": 2, "decision": "retrain", "due": "2026-12-24"}, case),
    )
    assert (len(told["saved"]), told["refused"], told["replaced"]) == (6, {}, {})
    found = find_meeting(reviews, MEETING)
    assert found.cases == (case,)
    assert found.seconds == {case: 42.5}
    assert found.votes[case].right == {model: 2, "unsure": 1}
    assert read_presenter_notes(reviews, MEETING, "ann") == {case: "Ask Bob."}
    rows = {row.model: row.value for row in reviews.current("decide")}
    assert rows[model]["failure"] == "none"
    assert rows[None]["due"] == "2026-12-24"


def test_readers_may_not(send):
    send(entry("meeting", {"name": "Chest"}), person=READER, status=403)


@pytest.mark.parametrize("kind", ["agenda", "decide", "discussed", "vote", "presenter_note"])
def test_nothing_is_kept_of_a_meeting_that_is_not_there(send, answer, kind):
    assert "This meeting no longer exists" in refusal(send(entry(kind, {}, answer[0])))


def test_only_what_is_on_the_agenda_is_decided(send, reviews, review_set, on_agenda):
    other = next(one for one in review_set.cases["id"] if one != on_agenda[0])
    decided = entry("decide", {"decision": "accept"}, other)
    assert "not on the agenda" in refusal(send(decided))
    send(entry("agenda", {"place": 2}, other), decided, entry("agenda", None, other))
    done = entry("decide", {"decision": "accept", "done": True}, other)
    assert len(send({**done, "seen": reviews.revision()})["saved"]) == 1


def test_a_closed_meeting_takes_no_cases_but_what_was_decided_can_be_done(send, on_agenda):
    send(entry("meeting", {"name": "Chest", "closed": True}, was={"name": "Chest"}, seen=9))
    assert "is closed" in refusal(send(entry("agenda", {"place": 2}, on_agenda[0])))
    assert len(send(entry("decide", {"done": True}, on_agenda[0]))["saved"]) == 1


def test_words_that_are_typed_are_added_to_the_meetings_list(send, reviews, on_agenda):
    send(entry("decide", {"decision": "Ask the vendor"}, on_agenda[0]))
    send(entry("decide", {"decision": "retrain"}, on_agenda[0], seen=99))
    found = find_meeting(reviews, MEETING)
    assert (found.name, found.decisions) == ("Chest", ("Ask the vendor",))


def test_what_somebody_else_decided_unseen_is_not_undone(send, reviews, on_agenda):
    case, _ = on_agenda
    seen = reviews.revision()
    send(entry("decide", {"decision": "accept", "owner": "Ann"}, case, seen=seen))
    late = {**entry("decide", {"decision": "retrain"}, case, seen=seen), "token": str(uuid4())}
    stands = send(late, person=BOB)["replaced"][late["token"]]
    assert (stands["decision"], stands["owner"], stands["by"]) == ("accept", "Ann", "Ann A.")
    now = reviews.revision()
    told = send(entry("decide", {"decision": "retrain"}, case, seen=now), person=BOB)
    assert len(told["saved"]) == 1


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("decide", {"due": "tomorrow"}, "no day"),
        ("decide", {"severity": 5}, "0 to 4"),
        ("decide", {"failure": "bad"}, "not known"),
        ("decide", {"decision": "x" * 300}, "1 to 200"),
        ("vote", {"count": 1, "right": {"nobody": 1}}, "no longer has"),
        ("vote", {"count": 1, "right": {"none": 2}}, "more votes than people"),
        ("discussed", {"more_seconds": "long"}, "does not come from this page"),
        ("discussed", {"more_seconds": -3}, "No case is shown"),
        ("agenda", [], "does not come from this page"),
    ],
)
def test_what_cannot_be_is_refused(send, on_agenda, kind, value, why):
    assert why in refusal(send(entry(kind, value, on_agenda[0])))


def presented(send, case, **more):
    told = send(page=PAGE, case=case, meeting=MEETING, **more)
    return told["own"][case], told["revision"]


def test_an_answer_is_decided_about_under_its_letter(send, reviews, review_set, on_agenda):
    case, _ = on_agenda
    own, _ = presented(send, case)
    models = {one.model for one in review_set.answers_of(case)}
    assert own["rows"] == {}
    assert len(own["shown"]) == len(models)
    assert not any(repr(model) in str(own) for model in models)
    letter, shown = next(iter(own["shown"].items()))
    about = {"slot": letter, "shown": shown, "field": "letter"}
    told = send(entry("decide", {"decision": "retrain"}, case, **about))
    assert len(told["saved"]) == 1
    (row,) = reviews.current("decide")
    assert row.model in models
    assert row.answer_digest is not None
    own, revision = presented(send, case)
    assert own["rows"][letter]["value"]["decision"] == "retrain"
    assert repr(row.model) not in str(own)
    sent = entry("decide", {"done": True}, case, **about, seen=revision)
    assert len(send(sent)["saved"]) == 1
    assert len(reviews.current("decide")) == 1


@pytest.mark.parametrize("about", [{"slot": "A", "shown": "0" * 32}, {"slot": "Z", "shown": ""}])
def test_a_letter_that_stands_for_something_else_now_is_refused(send, on_agenda, about):
    sent = entry("decide", {"decision": "retrain"}, on_agenda[0], field="letter", **about)
    assert "were changed" in refusal(send(sent))


def test_a_reader_is_told_nothing_of_decisions(send, on_agenda):
    send(entry("decide", {"decision": "retrain"}, on_agenda[0]))
    send(page=PAGE, case=on_agenda[0], meeting=MEETING, person=READER, status=403)


def test_a_decision_keeps_its_history(send, reviews, on_agenda):
    case, _ = on_agenda
    send(entry("decide", {"decision": "accept"}, case))
    send(entry("decide", {"decision": "retrain"}, case, seen=reviews.revision()), person=BOB)
    own, _ = presented(send, case)
    history = own["rows"][""]["history"]
    assert [(one["by"], one["value"]["decision"]) for one in history] == [
        ("Bob B.", "retrain"),
        ("Ann A.", "accept"),
    ]


def test_what_came_with_the_set_can_be_marked_as_done(tmp_path, monkeypatch):
    folder = write_set(tmp_path / "set")
    with opened_set(folder, tmp_path, monkeypatch) as review_set:
        case, model = review_set.answers.select("case", "model").row(0)
    given = {"case": case, "model": model, "meeting": "old", "reader": "r1", "decision": "retrain"}
    (folder / "decisions.jsonl").write_text(json.dumps(given | {"failure": "Of our own"}))
    with opened_set(folder, tmp_path, monkeypatch) as review_set:
        was = {"decision": "retrain", "failure": "Of our own"}
        sent = SentEntry(
            str(uuid4()), case, "decide", PAGE, model, None, "old", None, None, was | {"done": True}
        )
        writer = EntryWriter(review_set, review_sets.reviews(review_set), ANN)
        writer.write([sent, replace(sent, token=str(uuid4()), subject="other")])
        assert writer.saved == [sent.token]
        assert "This meeting no longer exists" in next(iter(writer.refused.values()))
        (row,) = list_decisions(review_sets.with_current_reviews(review_set))
    assert (row.decision, row.done, row.by) == ("retrain", True, "Ann A.")
    assert row.failure == "Of our own"


def test_what_was_decided_about_a_model_that_left_can_be_marked_as_done(
    send, reviews, review_set, on_agenda
):
    case, _ = on_agenda
    of_other = {"slot": "gone"}
    assert "This answer no longer exists" in refusal(
        send(entry("decide", {"done": True}, case, **of_other))
    )
    about = Entry("decide", case, "gone", MEETING, value={"decision": "retrain"})
    reviews.record([about], ANN)  # as it was kept while the set had this model
    (row,) = list_decisions(review_sets.with_current_reviews(review_set))
    assert row.replaced
    assert row.is_open
    value = {"decision": "retrain", "done": True}
    sent = entry("decide", value, case, **of_other, seen=reviews.revision())
    assert len(send(sent)["saved"]) == 1
    (row,) = list_decisions(review_sets.with_current_reviews(review_set))
    assert row.done


def test_who_follows_gets_no_decision_on_a_case_that_was_not_shown(review_set, on_agenda):
    case, _ = on_agenda
    set_id = review_sets.set_id(review_set.folder)
    rooms = Rooms()
    send = sender(review_set, PAGE, ANN, hides=rooms.hides)
    decided = entry("decide", {"decision": "retrain"}, case)
    send(decided)
    assert "own" in send(page=PAGE, case=case, meeting=MEETING), "nobody presents it"
    room = rooms.of(set_id, MEETING)
    lea = room.seats.join("w1", Person("lea", "Lea", "lead"), may_lead=True, voter="v")
    room.seats.ask_to_lead(lea)
    room.replan(RoomPlan((case,), ("question", "answers")))
    assert "own" not in send(page=PAGE, case=case, meeting=MEETING)
    room.reveal(case, 0, {})
    assert "own" in send(page=PAGE, case=case, meeting=MEETING)
    room.seats.leave(lea)
    assert "own" in send(page=PAGE, case=case, meeting=MEETING), "it is not held any more"
