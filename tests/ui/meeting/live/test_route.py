"""What is shown in a meeting, from the presenter's window to others, over real HTTP."""

import asyncio
import json
import re
from urllib.parse import unquote

import cv2
import httpx
import numpy as np
import pytest
from support.live_meeting import LEA, held_meeting

from rexview.errors import StoreRefused
from rexview.people import Person
from rexview.store import Entry
from rexview.ui.meeting.live import rooms, route
from rexview.ui.meeting.live import route as stream
from rexview.ui.web.access import sign_in
from rexview.ui.web.server import server_state
from rexview.ui.web.server.sealed_tokens import Grant
from rexview.vocab import MEETING_STEPS

ADA = Person("ada", "Ada", "adjudicator")
VERA = Person("vera", "Vera", "viewer")
ANNA = Person("anna", "Anna", "reader")
STEPS = list(MEETING_STEPS)
ANSWERS, MODELS = STEPS.index("answers"), STEPS.index("models")


@pytest.fixture
def meeting(tmp_path, monkeypatch):
    with held_meeting(tmp_path, monkeypatch) as held:
        yield held


def run(held):
    asyncio.run(asyncio.wait_for(held, 60))


async def hears(window, case, step):
    def there():
        state = window.newest.get("state")
        return state and (state["case"], state["step"]) == (case, step) and state

    return await window.until(there)


def test_followers_see_what_the_presenter_shows(meeting):
    async def held():
        async with meeting.windows(LEA, VERA, None) as (lea, *others):
            await lea.lead()
            told = {"look": "w=100&l=200", "pointed": ["pa", 1.5, 2]}
            answer = await lea.show("c2", 0, **told, marks="none", secret="of the presenter")
            assert answer.status_code == 200
            for one in others:
                state = await hears(one, "c2", 0)
                assert {name: state[name] for name in told} == told
                assert state.keys() == {"case", "step", "n", *told}, "nothing else is told on"
                cases = one.newest["cases"]
                assert (cases["total"], cases["reached"]) == (2, [[1, "c2", 0]])

    run(held())


def test_who_comes_late_or_back_has_the_newest_state_at_once(meeting):
    async def held():
        async with meeting.windows(LEA) as (lea,):
            await lea.lead()
            await lea.show("c2", 0)
            await lea.show("c2", 1)
            async with meeting.windows(VERA) as (late,):
                await hears(late, "c2", 1)
                await late.leave()
                await lea.show("c2", 2)
                late.follow()
                await hears(late, "c2", 2)
                states = [data["step"] for kind, _, data in late.arrived if kind == "state"]
                assert states == [1, 2], "what was known is not told again"

    run(held())


def test_a_case_is_told_as_far_as_it_was_revealed_and_to_nobody_further(meeting):
    async def held():
        async with meeting.windows(LEA, VERA) as (lea, vera):
            await lea.lead()
            for one in (lea, vera):
                assert (await one.case("c2")).status_code == 404
            for step, name in enumerate(STEPS):
                await lea.show("c2", step)
                for one in (lea, vera):
                    reply = (await one.case("c2")).json()
                    assert reply["step"] == step
                    words = reply["content"]["words"]
                    assert words[-1] == f"c2 {name} words"
                    assert len(words) == step + 1
                assert (await vera.case("c1")).status_code == 404
            await lea.show("c2", 0)
            assert (await vera.case("c2")).json()["step"] == len(STEPS) - 1
            heard = "\n".join(vera.received)
            assert not re.search(r"\bc1\b", heard)  # "c1" alone may be a part of the room's number

    run(held())


def test_who_scores_and_is_shown_the_names_of_the_models_is_recorded(meeting):
    def seen():
        rows = meeting.reviews.history(kind="reveal")
        return [(row.person, row.case, row.value["what"]) for row in rows]

    async def held():
        async with meeting.windows(LEA, VERA) as (lea, vera):
            await lea.lead()
            for step in (ANSWERS, MODELS, MODELS + 1):
                await lea.show("c2", step)
                for one in (lea, vera):
                    assert (await one.case("c2")).status_code == 200
                assert seen() == ([] if step < MODELS else [("lea", "c2", "unblinded")])

    run(held())


def test_another_order_of_the_steps_reveals_nothing_more(meeting):
    other = ["question", "models", "scores", "answers", "boxes", "report", "flags"]

    async def held():
        async with meeting.windows(LEA, VERA) as (lea, vera):
            await lea.lead()
            await lea.show("c2", STEPS.index("boxes"))  # question, answers and boxes
            meeting.write(Entry("meeting", subject="m1", value={"name": "T", "steps": other}))
            assert (await vera.case("c2")).json()["content"]["words"] == ["c2 question words"]
            await vera.until(lambda: vera.newest["cases"]["reached"] == [[1, "c2", 0]])
            assert (await lea.show("c2", 1)).status_code == 200
            words = (await vera.case("c2")).json()["content"]["words"]
            assert words == ["c2 question words", "c2 models words"]

    run(held())


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ({"case": "c3", "step": 0}, 409),  # not on the agenda
        ({"case": "nowhere", "step": 0}, 409),
        ({"case": "c2", "step": len(STEPS)}, 409),
        ({"case": "c2", "step": -1}, 409),
        ({"case": "c2", "step": True}, 422),
        ({"case": 2, "step": 0}, 422),
        ({"step": 0}, 422),
        ("c2", 422),
        ({"case": "c2", "step": 0, "marks": "x" * route.MOST_STATE}, 413),
        ({"case": "c2", "step": 0, "marks": "x" * 70_000}, 413),
    ],
)
def test_what_is_no_state_of_this_meeting_is_refused(meeting, state, status):
    async def held():
        async with meeting.windows(LEA) as (lea,):
            await lea.lead()
            answer = await lea.tell("state", n=1, state=state)
            assert answer.status_code == status
            assert answer.json()["error"]
            assert lea.newest["cases"]["reached"] == []

    run(held())


def test_a_state_is_as_long_as_browsers_count_it(meeting):
    async def held():
        async with meeting.windows(LEA) as (lea,):
            await lea.lead()
            assert (await lea.show("c2", 0, look="胸" * 600)).status_code == 200
            assert (await lea.show("c2", 0, look="胸" * 700)).status_code == 413

    run(held())


def test_what_is_no_json_is_refused(meeting):
    async def held():
        async with httpx.AsyncClient() as http:
            for body in (b"", b"[]", b"\xff", b'{"harm": NaN}', b"[" * 60_000):
                answer = await http.post(f"{meeting.address()}/vote", content=body)
                assert answer.status_code == 422, body[:20]
            answer = await http.post(f"{meeting.address()}/else", content=b"{}")
            assert answer.status_code == 404
            answer = await http.get(f"{meeting.address()}/events?window=me")
            assert answer.status_code == 422

    run(held())


def test_only_who_leads_shows_and_taking_over_needs_their_consent(meeting):
    async def held():
        async with meeting.windows(LEA, ADA, VERA) as (lea, ada, vera):
            await lea.lead()
            await lea.show("c2", 0)
            assert (await ada.show("c2", 1)).status_code == 409
            assert (await vera.tell("lead")).status_code == 409
            await ada.tell("lead")
            (asking,) = await lea.until(lambda: lea.newest["people"]["asking"])
            await lea.tell("answer", number=asking, yes=True)
            await ada.until(lambda: ada.leads)
            assert (await lea.show("c2", 1)).status_code == 409
            assert (await ada.show("c2", 1)).status_code == 200
            await hears(vera, "c2", 1)

    run(held())


def test_who_looks_around_is_seen_to(meeting):
    async def held():
        async with meeting.windows(LEA, VERA) as (lea, vera):
            for looking in (True, False):
                await vera.tell("look", looking=looking)
                await lea.until(
                    lambda looking=looking: any(
                        one["name"] == "Vera" and one["looking"] is looking
                        for one in lea.newest["people"]["people"]
                    )
                )

    run(held())


def test_votes_are_counted_and_written_when_the_models_are_named(meeting):
    async def held():
        async with meeting.windows(LEA, *[VERA] * 5) as (lea, *others):
            await lea.lead()
            await lea.show("c2", ANSWERS)
            given = [("A", 3), ("A", 2), ("B", 3), ("none", None)]
            for one, (right, harm) in zip(others, given, strict=False):
                answer = await one.vote("c2", right=right, harm=harm)
                assert answer.status_code == 200
            await others[4].until(lambda: others[4].newest["votes"]["count"] == 4)
            assert all('"result":{' not in line for one in others for line in one.received)
            await lea.show("c2", MODELS)
            await others[4].until(lambda: others[4].newest["votes"]["result"])
            late = await others[4].vote("c2", right="B", harm=1)
            assert late.status_code == 422

    run(held())
    (row,) = meeting.reviews.current("vote")
    assert (row.case, row.subject, row.person) == ("c2", "m1", "lea")
    assert row.value == {
        "count": 4,
        "right": {"n": 2, "m": 1, "none": 1},
        "harm": {"2": 1, "3": 2},
    }


def test_one_window_has_one_vote_whatever_it_invents(meeting):
    async def held():
        async with meeting.windows(LEA, *[VERA] * 3) as (lea, *others):
            await lea.lead()
            await lea.show("c2", ANSWERS)
            for number in range(4):
                device = {"device": f"{number:032x}", "voter": f"{number:032x}"}
                answer = await others[0].vote("c2", right="A", harm=number, **device)
                assert answer.status_code == 200
            async with httpx.AsyncClient() as stranger:  # a ticket, and no stream of its own
                for cookie in ("", "rexview_voter=invented", f"rexview_voter={1:032x}"):
                    answer = await stranger.post(
                        f"{meeting.address(VERA)}/vote",
                        json={"case": "c2", "right": "A", "harm": 1, "device": f"{7:032x}"},
                        headers={"Cookie": cookie},
                    )
                    assert answer.status_code == 409
            await others[1].vote("c2", right="B", harm=1)
            await others[2].until(lambda: others[2].newest["votes"]["count"] == 2)
            told = others[2].newest["votes"]
            assert (told["of"], told["open"], told["result"]) == (3, True, None)
            await others[2].vote("c2", right="B", harm=1)
            await others[2].until(lambda: others[2].newest["votes"]["result"])
            assert others[2].newest["votes"]["result"]["right"] == {"B": 2, "A": 1}

    run(held())


def test_a_person_who_signed_in_has_one_vote_on_all_devices(meeting, monkeypatch):
    signed_in = {"person": LEA}
    monkeypatch.setattr(server_state, "requires_sign_in", lambda: True)
    monkeypatch.setattr(sign_in, "signed_in_for_request", lambda request: signed_in["person"])

    async def held():
        async with meeting.windows(LEA) as (lea,):
            await lea.lead()
            await lea.show("c2", ANSWERS)
            signed_in["person"] = VERA
            async with meeting.windows(VERA, VERA, VERA) as phones:
                for number, phone in enumerate(phones):
                    answer = await phone.vote("c2", right="A", harm=number)
                    assert answer.status_code == 200, answer.text
                await phones[0].until(lambda: phones[0].newest["votes"]["count"] == 1)
                told = phones[0].newest["votes"]
                assert (told["of"], told["open"]) == (1, True)

    run(held())


def test_why_votes_were_refused_names_no_model_to_those_who_follow(meeting, monkeypatch):
    def refuse(*_):
        raise StoreRefused("There is no model named secret-model.", "None.")

    monkeypatch.setattr(route, "_record", refuse)

    async def held():
        async with meeting.windows(LEA, VERA) as (lea, vera):
            await lea.lead()
            await lea.show("c2", ANSWERS)
            await vera.vote("c2", right="A", harm=1)
            await lea.tell("show", case="c2", shown=True)
            await vera.until(lambda: vera.newest["votes"]["problem"])
            assert "secret-model" not in "".join(vera.received)

    run(held())


def test_who_follows_is_asked_for_now_and_then_while_there_is_always_something_new(
    meeting, monkeypatch
):
    monkeypatch.setattr(stream, "_BEAT_S", 0.2)

    async def held():
        async with meeting.windows(LEA, VERA) as (lea, vera):
            await lea.lead()
            begun = len(vera.received)
            for number in range(3_000):  # never a moment without something new
                await lea.show("c2", 0, pointed=number)
                if "event: beat" in vera.received[begun:]:
                    return
            pytest.fail("There was no beat.")

    run(held())


def test_after_a_restart_the_presenter_and_the_devices_bring_everything_back(meeting):
    async def held():
        async with meeting.windows(LEA, ADA, VERA) as (lea, ada, vera):
            await lea.lead()
            await lea.show("c2", ANSWERS)
            await vera.vote("c2", right="A", harm=1)
            before = lea.newest["cases"]["epoch"]
            for one in (lea, ada, vera):
                await one.leave()
            rooms.ROOMS._rooms.clear()  # a server that was started anew remembers no room
            for one in (lea, ada, vera):
                one.follow()
            await vera.until(lambda: vera.newest["cases"]["epoch"] != before)
            assert (await vera.case("c2")).status_code == 404
            again = {"right": "A", "harm": 1, "again": True}
            assert (await vera.vote("c2", **again)).status_code == 409, "too early"
            await lea.lead(reached={"c2": ANSWERS, "c3": 5, "c1": -4}, closed=[])
            assert (await vera.vote("c2", **again)).status_code == 200
            assert (await lea.show("c2", ANSWERS, look="2")).status_code == 200
            await vera.until(lambda: (vera.newest.get("state") or {}).get("look") == "2")
            await vera.until(lambda: (vera.newest.get("votes") or {}).get("count") == 1)
            assert vera.newest["cases"]["reached"] == [[1, "c2", ANSWERS]]

    run(held())


def test_a_meeting_that_was_removed_is_said_to_be(meeting):
    async def held():
        async with meeting.windows(LEA) as (lea,):
            await lea.lead()
            meeting.write(Entry("meeting", subject="m1", value=None))
            answer = await lea.show("c2", 0)
            assert (answer.status_code, answer.json()["error"]) == (
                404,
                "This meeting no longer exists.",
            )

    run(held())


def test_streams_say_that_nobody_may_hold_them_back(meeting):
    async def held():
        async with httpx.AsyncClient() as http:
            address = f"{meeting.address()}/events?window={1:032x}"
            async with http.stream("GET", address) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                assert answer.headers["cache-control"] == "no-store"
                assert answer.headers["x-accel-buffering"] == "no"
                lines = answer.aiter_lines()
                assert await anext(lines) == "retry: 500"
                beats = 0
                while beats < 2:
                    beats += await anext(lines) == "event: beat"

    run(held())


class TestJoining:
    """By link, by its picture, and by a code to type."""

    def joined(self, meeting, app, **more):
        return httpx.get(f"{meeting.address()}/join", params={"app": app, **more})

    def test_the_picture_is_the_link_and_the_code_leads_there(self, meeting):
        said = self.joined(meeting, f"{meeting.base}/").json()
        assert not said["elsewhere"], "127.0.0.1 is known on this machine only"
        assert read_qr(said["picture"]) == said["link"]
        assert said["link"].startswith(f"{meeting.base}/meeting?")
        typed = said["typed"]
        assert httpx.get(typed).status_code == 404, "nobody is there yet"

        async def held():
            async with meeting.windows(LEA):
                for code in (typed, typed.replace(typed[-5:], typed[-5:].lower())):
                    answer = httpx.get(code)
                    assert answer.status_code == 303
                    assert meeting.base + answer.headers["location"] == said["link"]
                assert httpx.get(typed[:-1]).status_code == 404

        run(held())

    @pytest.mark.parametrize(
        "app",
        [
            "",
            "javascript:alert(1)//localhost/",
            "http://elsewhere.example/",
            "http://localhost@elsewhere.example/",
            "http://localhost/?a=",
            "http://localhost/<b>/",
            "http://localhost/" + "x" * 600,
        ],
    )
    def test_another_servers_address_makes_no_picture(self, meeting, app):
        answer = self.joined(meeting, app)
        assert (answer.status_code, list(answer.json())) == (422, ["error", "renew"])


def read_qr(picture):
    """Read the picture of a link as a telephone does."""
    _, path = re.findall(r' d="([^"]+)"', unquote(picture).replace("'", '"'))  # ground, cells
    size = int(re.search(r"width=.(\d+)", unquote(picture))[1])
    cells = np.full((size, size), 255, np.uint8)
    x = y = 0.0
    for command, numbers in re.findall(r"([Mmh])([^Mmh]*)", path):
        given = [float(one) for one in re.findall(r"-?[\d.]+", numbers)]
        if command == "M":
            x, y = given
        elif command == "m":
            x, y = x + given[0], y + given[1]
        else:
            cells[int(y), int(x) : int(x + given[0])] = 0
            x += given[0]
    enlarged = cv2.resize(cells, None, fx=8, fy=8, interpolation=cv2.INTER_NEAREST)
    return cv2.QRCodeDetector().detectAndDecode(enlarged)[0]


class TestWhoMayFollow:
    """Tickets are for one person, and for meetings only."""

    def get(self, address):
        return httpx.get(f"{address}/case?case=c2")

    def test_made_up_and_other_links_are_refused(self, meeting):
        base = meeting.address().rpartition("/")[0]
        other = server_state.signer().sign(Grant("cases", "demo", "m1"))
        ended = server_state.signer().sign(Grant("meeting", "demo", "m1"), now=0)
        for token in ("x", other, ended, meeting.address().rpartition("/")[2][:-8]):
            answer = self.get(f"{base}/{token}")
            assert (answer.status_code, answer.json()["renew"]) == (403, True)

    def test_in_a_team_the_role_that_they_have_now_counts(self, meeting, monkeypatch):
        monkeypatch.setattr(server_state, "requires_sign_in", lambda: True)
        signed_in = {"person": VERA}
        monkeypatch.setattr(sign_in, "signed_in_for_request", lambda _: signed_in["person"])
        address = meeting.address(VERA)
        assert self.get(address).status_code == 404, "nothing was shown yet"
        for person, status in ((None, 401), (ADA, 403), (Person("vera", "V", "reader"), 403)):
            signed_in["person"] = person
            assert self.get(address).status_code == status

    def test_a_blinded_reader_cannot_follow(self, meeting):
        answer = self.get(meeting.address(ANNA))
        assert answer.status_code == 403
        assert "c2" not in json.dumps(answer.json())
