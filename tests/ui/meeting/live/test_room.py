"""A room: who leads, what is revealed, votes, and what everybody is told of it."""

import hashlib
import json
import re

import pytest

from rexview.people import Person
from rexview.ui.meeting.live.room import (
    ABSENT_S,
    KINDS,
    MOST_SEATS,
    Room,
    RoomPlan,
    RoomRefused,
    VoteRefused,
)
from rexview.ui.meeting.live.rooms import EMPTY_ROOM_KEPT_S, MOST_ROOMS, Rooms
from rexview.vocab import MEETING_STEPS

LEA = Person("lea", "Lea", "lead")
ADA = Person("ada", "Ada", "adjudicator")
VERA = Person("vera", "Vera", "viewer")
STEPS = tuple(MEETING_STEPS)
LETTERS = {"A": "model-two", "B": "model-one"}


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def room(clock):
    room = Room(clock)
    room.replan(RoomPlan(("c1", "c2", "c3"), STEPS))
    return room


def voter(number, of="f"):
    return hashlib.sha256(f"{of}{number}".encode()).hexdigest()[:32]


def join(room, name, person, **more):
    given = {"may_lead": person is not VERA, "voter": voter(name, of=""), **more}
    return room.seats.join(name, person, **given)


def led(room, person=LEA):
    seat = join(room, "w1", person)
    room.seats.ask_to_lead(seat)
    assert room.seats.leader is seat
    return seat


def show(room, seat, case, step, number):
    room.reveal(case, step, LETTERS)
    room.share(seat, number, {"case": case, "step": step})


class TestWhoLeads:
    """At most one window; another one only with consent, or when the first is gone."""

    def test_the_first_who_asks_leads_and_the_next_waits_for_consent(self, room):
        lea, ada = led(room), join(room, "w2", ADA)
        room.seats.ask_to_lead(ada)
        assert room.seats.leader is lea
        assert room.told("people", lea)["asking"] == [ada.number]
        room.seats.answer(lea, ada.number, yes=True)
        assert room.seats.leader is ada
        with pytest.raises(RoomRefused, match="Someone else is presenting now"):
            show(room, lea, "c1", 0, 1)
        show(room, ada, "c1", 0, 1)

    def test_a_no_is_a_no(self, room):
        lea, ada = led(room), join(room, "w2", ADA)
        room.seats.ask_to_lead(ada)
        room.seats.answer(lea, ada.number, yes=False)
        assert room.seats.leader is lea
        assert room.told("people", ada)["asking"] == []
        with pytest.raises(RoomRefused, match="no longer asking"):
            room.seats.answer(lea, ada.number, yes=True)

    def test_nobody_hands_over_but_who_leads(self, room):
        led(room)
        ada = join(room, "w2", ADA)
        room.seats.ask_to_lead(ada)
        with pytest.raises(RoomRefused):
            room.seats.answer(ada, ada.number, yes=True)

    @pytest.mark.parametrize("person", [VERA, None])
    def test_who_only_looks_cannot_lead(self, room, person):
        seat = join(room, "w2", person, may_lead=False)
        with pytest.raises(RoomRefused, match="may not lead"):
            room.seats.ask_to_lead(seat)

    def test_who_is_gone_for_long_is_replaced_by_the_first_who_has_asked(self, room, clock):
        lea, ada = led(room), join(room, "w2", ADA)
        room.seats.leave(lea)
        clock.now += ABSENT_S - 1
        room.seats.ask_to_lead(ada)
        room.seats.tick()
        assert room.seats.leader is lea, "they may come back"
        clock.now += 1
        room.seats.tick()
        assert room.seats.leader is ada

    def test_who_comes_back_in_time_still_leads(self, room, clock):
        lea, ada = led(room), join(room, "w2", ADA)
        room.seats.leave(lea)
        room.seats.ask_to_lead(ada)
        clock.now += ABSENT_S - 1
        assert join(room, "w1", LEA) is lea
        clock.now += ABSENT_S
        room.seats.tick()
        assert room.seats.leader is lea

    def test_the_same_person_goes_on_in_another_window_when_the_first_is_closed(self, room):
        lea = led(room)
        room.seats.leave(lea)
        other = join(room, "w2", LEA)
        room.seats.ask_to_lead(other)
        assert room.seats.leader is other

    def test_whose_role_may_not_lead_any_more_is_replaced(self, room):
        lea, ada = led(room), join(room, "w2", ADA)
        room.seats.ask_to_lead(ada)
        room.seats.seat("w1", LEA, may_lead=False)
        with pytest.raises(RoomRefused):
            room.seats.check_leads(lea)
        room.seats.tick()
        assert room.seats.leader is ada

    def test_it_is_not_handed_over_to_a_window_that_has_gone(self, room):
        lea, ada = led(room), join(room, "w2", ADA)
        room.seats.ask_to_lead(ada)
        room.seats.leave(ada)
        with pytest.raises(RoomRefused):
            room.seats.answer(lea, ada.number, yes=True)
        assert room.seats.leader is lea

    def test_a_window_is_one_persons(self, room):
        join(room, "w1", LEA)
        with pytest.raises(RoomRefused, match="belongs to someone else"):
            join(room, "w1", ADA)
        with pytest.raises(RoomRefused, match="not joined the meeting"):
            room.seats.seat("w1", ADA, may_lead=True)

    def test_what_people_are_told_of_each_other_holds_no_secret(self, room):
        led(room)
        vera = join(room, "secret-window", VERA)
        told = room.told("people", vera)
        assert "secret-window" not in json.dumps(told)
        assert [one["name"] for one in told["people"]] == ["Lea", "Vera"]
        assert (told["you"], told["leader"]) == (2, 1)

    def test_a_room_that_was_full_when_all_left_takes_people_again(self, room, clock):
        for number in range(MOST_SEATS):
            room.seats.leave(join(room, f"w{number}", VERA))
        clock.now += 100
        join(room, "another", VERA)

    def test_who_left_is_forgotten_after_a_while_and_places_are_free_again(self, room, clock):
        seats = [join(room, f"w{number}", VERA) for number in range(MOST_SEATS)]
        with pytest.raises(RoomRefused, match="there already"):
            join(room, "one more", VERA)
        room.seats.leave(seats[0])
        clock.now += 60
        room.seats.tick()
        join(room, "one more", VERA)


class TestWhatIsRevealed:
    """Nothing of a case is told beyond the farthest step that was shown of it."""

    def test_a_step_has_to_be_revealed_before_it_can_be_shared(self, room):
        lea = led(room)
        with pytest.raises(RoomRefused, match="not been revealed"):
            room.share(lea, 1, {"case": "c1", "step": 0})
        show(room, lea, "c1", 2, 1)
        room.share(lea, 2, {"case": "c1", "step": 1})
        with pytest.raises(RoomRefused, match="not been revealed"):
            room.share(lea, 3, {"case": "c1", "step": 3})
        assert room.reached == {"c1": 2}, "going back hides nothing"

    @pytest.mark.parametrize(("case", "step"), [("c9", 0), ("c1", -1), ("c1", len(STEPS))])
    def test_there_has_to_be_such_a_case_and_step(self, room, case, step):
        with pytest.raises(RoomRefused):
            room.reveal(case, step, LETTERS)
        assert room.reached == {}

    def test_of_cases_that_were_not_shown_only_their_number_is_told(self, room):
        lea = led(room)
        show(room, lea, "c2", 1, 1)
        told = room.told("cases", lea)
        assert (told["total"], told["reached"]) == (3, [[2, "c2", 1]])
        told = json.dumps([room.told(kind, lea) for kind in KINDS])
        assert not re.search(r"\bc1\b", told)  # "c1" alone may be a part of the room's number

    def test_states_that_were_overtaken_on_their_way_are_left_out(self, room):
        lea = led(room)
        show(room, lea, "c1", 0, 5)
        room.share(lea, 4, {"case": "c1", "step": 0, "zoom": 9})
        assert room.told("state", lea) == {"case": "c1", "step": 0, "n": 1}
        room.share(lea, 6, {"case": "c1", "step": 0, "zoom": 2})
        assert room.told("state", lea)["zoom"] == 2

    def test_another_order_of_the_steps_reveals_nothing_more(self, room):
        show(room, led(room), "c1", 2, 1)  # question, answers, boxes
        room.replan(RoomPlan(("c1",), ("question", "report", "boxes", "answers")))
        assert room.reached == {"c1": 0}
        room.replan(RoomPlan(("c1",), ("report", "question")))
        assert room.reached == {}

    def test_each_change_wakes_who_listens_once_for_its_kind(self, room):
        woken = []
        room.listeners.add(lambda: woken.append(dict(room.revisions)))
        lea = led(room)
        before = room.revisions["state"]
        show(room, lea, "c1", 0, 1)
        assert room.revisions["state"] == before + 1
        assert woken[-1] == room.revisions


class TestVotes:
    """They are counted without names, and seen by nobody before it is time."""

    @pytest.fixture
    def lea(self, room):
        lea = led(room)
        for number in range(4):
            join(room, f"f{number}", VERA)
        show(room, lea, "c1", STEPS.index("answers"), 1)
        return lea

    def vote(self, room, number, right="A", harm=2, **more):
        room.vote("c1", voter(number), right, harm, **{"again": False, **more})

    def result(self, room, seat):
        return room.told("votes", seat)["result"]

    def test_nothing_is_to_be_voted_on_before_the_answers_are_shown(self, room):
        show(room, led(room), "c1", 0, 1)
        assert room.told("votes", room.seats.leader) is None
        with pytest.raises(RoomRefused, match="nothing to vote on"):
            self.vote(room, 1)

    def test_only_their_number_is_told_until_all_have_voted(self, room, lea):
        for number in range(3):
            self.vote(room, number, "AAB"[number], number)
            told = room.told("votes", lea)
            assert (told["count"], told["of"], told["result"]) == (number + 1, 4, None)
        self.vote(room, 3, "unsure", None)
        told = room.told("votes", lea)
        assert (told["count"], told["open"], told["result"]) == (4, True, None), "half of the last"
        self.vote(room, 3, "unsure", 2)
        assert self.result(room, lea) == {
            "right": {"A": 2, "B": 1, "unsure": 1},
            "harm": {"0": 1, "1": 1, "2": 2},
        }

    @pytest.mark.parametrize("viewers", [1, 3])
    def test_invented_voters_of_one_viewer_do_not_vote(self, room, viewers):
        lea = led(room)
        for number in range(viewers):
            join(room, f"f{number}", VERA)
        show(room, lea, "c1", 1, 1)
        self.vote(room, 0)
        for number in range(viewers, viewers + 4):
            with pytest.raises(RoomRefused, match="not joined the meeting"):
                self.vote(room, number)
        told = room.told("votes", lea)
        assert (told["count"], told["open"], told["result"]) == (1, True, None)
        assert room.to_write == []

    def test_several_windows_of_one_voter_have_one_vote(self, room):
        lea = led(room)
        for number in range(3):
            join(room, f"f{number}", VERA, voter=voter(0))
        show(room, lea, "c1", 1, 1)
        self.vote(room, 0)
        told = room.told("votes", lea)
        assert (told["count"], told["of"], told["open"]) == (1, 1, True)

    def test_votes_of_who_has_left_do_not_end_it_for_who_is_there(self, room):
        lea = led(room)
        seats = [join(room, f"f{number}", VERA) for number in range(6)]
        show(room, lea, "c1", 1, 1)
        for number in range(3):
            self.vote(room, number)
            room.seats.leave(seats[number])
        self.vote(room, 3)
        told = room.told("votes", lea)
        assert (told["count"], told["of"], told["open"]) == (4, 3, True)

    def test_two_are_not_shown_though_nobody_else_is_there(self, room):
        lea = led(room)
        for number in range(2):
            join(room, f"f{number}", VERA)
        show(room, lea, "c1", 1, 1)
        for number in range(2):
            self.vote(room, number)
        assert self.result(room, lea) is None
        room.reveal("c1", STEPS.index("models"), {})
        assert self.result(room, lea) is None
        assert room.to_write == []
        room.show_votes(lea, "c1", shown=True)
        assert self.result(room, lea)["right"] == {"A": 2}
        (outcome,) = room.to_write
        assert outcome.value == {"count": 2, "right": {"model-two": 2}, "harm": {"2": 2}}
        assert outcome.person == LEA

    def test_when_models_are_named_voting_ends_and_three_votes_are_shown_and_kept(self, room, lea):
        for number in range(3):
            self.vote(room, number, "B", 4)
        room.reveal("c1", STEPS.index("models"), {})
        assert self.result(room, lea)["right"] == {"B": 3}
        with pytest.raises(VoteRefused, match="has ended"):
            self.vote(room, 3)
        with pytest.raises(RoomRefused, match="have been named"):
            room.show_votes(lea, "c1", shown=False)
        (outcome,) = room.to_write
        assert outcome.value == {"count": 3, "right": {"model-one": 3}, "harm": {"4": 3}}

    def test_a_voter_votes_once_may_change_its_mind_and_take_it_back(self, room, lea):
        self.vote(room, 1, "A")
        self.vote(room, 1, "B")
        assert room.told("votes", lea)["count"] == 1
        self.vote(room, 1, None, None)
        assert room.told("votes", lea)["count"] == 0

    @pytest.mark.parametrize(
        ("name", "right", "harm"),
        [
            (voter(1), "C", 1),
            (voter(1), "model-two", 1),
            (voter(1), ["A"], 1),
            (voter(1), "A", 5),
            (voter(1), "A", True),
            (voter(1), "A", "2"),
        ],
    )
    def test_what_is_no_vote_is_refused(self, room, lea, name, right, harm):
        with pytest.raises(VoteRefused):
            room.vote("c1", name, right, harm, again=False)
        assert room.told("votes", lea)["count"] == 0

    def test_no_more_than_the_letters_ever_leave_the_room(self, room, lea):
        for number in range(4):
            self.vote(room, number)
        assert "model" not in json.dumps(room.told("votes", lea))

    def test_a_case_that_is_left_keeps_three_votes_without_showing_them(self, room, lea):
        for number in range(3):
            self.vote(room, number)
        show(room, lea, "c2", 0, 2)
        assert [one.case for one in room.to_write] == ["c1"]
        assert not room.ballots["c1"].shown
        room.share(lea, 3, {"case": "c1", "step": 1})
        show(room, lea, "c2", 0, 4)
        assert len(room.to_write) == 1, "it is not written twice"

    def test_the_presenter_may_go_on_with_voting(self, room, lea):
        self.vote(room, 1)
        room.show_votes(lea, "c1", shown=True)
        room.show_votes(lea, "c1", shown=False)
        assert self.result(room, lea) is None
        self.vote(room, 2, "B")
        room.show_votes(lea, "c1", shown=True)
        assert [one.value["count"] for one in room.to_write] == [2]

    def test_who_does_not_lead_shows_nothing(self, room, lea):
        with pytest.raises(RoomRefused):
            room.show_votes(room.seats.seat("f1", VERA, may_lead=False), "c1", shown=True)

    def test_no_person_stands_beside_a_vote(self, room, lea):
        self.vote(room, 1)
        kept = repr(vars(room.ballots["c1"]))
        assert voter(1) in kept
        assert not any(word in kept.lower() for word in ("vera", "lea'", "f1", "window"))


def test_a_server_that_was_started_anew_is_told_what_was_revealed_and_voted(room):
    """It is told by who led and by each device; what had ended stays ended."""
    lea = led(room)
    for number in range(3):
        join(room, f"f{number}", VERA)
    room.reveal("c1", STEPS.index("boxes"), LETTERS)
    room.reveal("c2", STEPS.index("answers"), LETTERS)
    room.resume({"c1": 2, "c2": 1}, ["c1"])
    room.share(lea, 1, {"case": "c1", "step": 2})
    with pytest.raises(VoteRefused, match="has ended"):
        room.vote("c1", voter(1), "A", 1, again=False)
    room.vote("c1", voter(1), "A", 1, again=True)
    assert room.told("votes", lea)["result"]["right"] == {"A": 1}
    room.vote("c2", voter(1), "B", 1, again=True)
    assert not room.ballots["c2"].closed
    assert room.to_write == [], "the server before had written it"


class TestRooms:
    """Those of a server are bounded, and forgotten when nobody has been in them for hours."""

    def test_an_empty_room_is_forgotten_after_hours_and_not_before(self, clock):
        rooms = Rooms(clock)
        first = rooms.of("demo", "m1")
        clock.now += EMPTY_ROOM_KEPT_S - 1
        assert rooms.of("demo", "m1") is first
        rooms.of("demo", "m2")
        assert rooms.of("demo", "m1") is first
        clock.now += 1
        rooms.of("demo", "m3")
        assert rooms.of("demo", "m1") is not first

    def test_rooms_that_people_are_in_are_never_forgotten(self, clock):
        rooms = Rooms(clock)
        for number in range(MOST_ROOMS):
            rooms.of("demo", str(number)).seats.join("w", VERA, may_lead=False, voter="v")
        clock.now += 2 * EMPTY_ROOM_KEPT_S
        with pytest.raises(RoomRefused, match="Too many meetings"):
            rooms.of("demo", "one more")
        room = rooms.of("demo", "7")
        room.seats.leave(room.seats.seat("w", VERA, may_lead=False))
        rooms.of("demo", "one more")
        assert len(rooms) == MOST_ROOMS

    def test_it_is_known_which_window_presents(self, clock):
        rooms = Rooms(clock)
        assert not rooms.is_led_by("demo", "m", LEA, "w1")
        led(rooms.of("demo", "m"))
        assert rooms.is_led_by("demo", "m", LEA, "w1")
        assert not rooms.is_led_by("demo", "m", LEA, "w2")
        assert not rooms.is_led_by("demo", "m", ADA, "w1")
