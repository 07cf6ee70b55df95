"""All that a window of a meeting gets over HTTP holds nothing of what has not been revealed.

A real server on the demo; a presenter goes through cases step by step, a follower fetches what is
shown, and a curious one asks for every case at every moment. Everything that came to each of them
is kept, and searched for the words of steps and cases to come. What is searched for is found in it
once its step is revealed: so the search can find.
"""

import asyncio
import html
import re

import httpx
import pytest
from support.browser.traffic import Traffic

from bench.meeting import MEETING, LiveWindow, MeetingServer
from rexview import reviewset
from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WORDS
from rexview.analysis.written_failures import WRITTEN_MARK_KIND as MARK
from rexview.answer_digest import digests_of
from rexview.judge.written import build_written_wording
from rexview.people import Person
from rexview.settings import DEMO_FOLDER
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.vocab import MEETING_STEPS

CASES = 10
OTHER_ORDER = ("question", "report", "boxes", "scores", "answers", "flags", "models")
MARKED_FROM = ("answers", "boxes", "models", "report", "flags")
"""A failure in words is shown after the last of these."""
_SHORTEST = 30
_TAG = re.compile(r"<[^>]*>")
_NO_LETTER = re.compile(r"[^a-z0-9]+")


def plain(text):
    """Return letters and digits of a text, with one space where anything else stands."""
    text = text.replace("\\n", " ").replace('\\"', '"').replace("\\u003c", "<")
    return _NO_LETTER.sub(" ", _TAG.sub(" ", html.unescape(text)).casefold())


def fragments(*texts):
    """Return the sentences of texts that are long enough to be nobody else's."""
    parts = [part for text in texts for part in re.split(r"[.;:!?\n|*#]+", text or "")]
    found = [plain(part).strip() for part in parts]
    return [one for one in found if len(one) >= _SHORTEST]


def words_of(review_set, case_id):
    """Return what stands in each step of a case, as plain text to be searched for."""
    case = review_set.case(case_id)
    answers = review_set.answers_of(case_id)
    report = case.report
    models = {answer.model for answer in answers}
    names = review_set.model_names
    return {
        "question": fragments(case.question),
        "answers": fragments(*(answer.text for answer in answers)),
        "models": [plain(one).strip() for model in models for one in (model, names[model])],
        "report": fragments(report.findings, report.impression) if report else [],
        "scores": [plain(name).strip() for name in review_set.reader_names.values()],
    }


def marks(review_set, words, steps):
    """Yield a failure in words of a case's first answer, its title among the words of its step."""
    last = max(MARKED_FROM, key=steps.index)
    for number, (case, told) in enumerate(words.items()):
        title = f"The wording of {number} thing of people about it"
        value = {"name": title, "counts": "What counts."}
        told[last] = [*told.get(last, []), *fragments(title)]
        answer = review_set.answers_of(case)[0]
        version = build_written_wording(f"f{number}", value, "f").hash
        yield Entry(WORDS, subject=f"f{number}", value=value)
        yield Entry(
            MARK,
            case,
            answer.model,
            f"f{number}",
            value={"version": version, "comment": None},
            answer_digest=digests_of(review_set).of(case, answer.model),
        )


def later(words, steps, step):
    """Return the words of steps to come that are in none that has been shown."""
    shown = " ".join(one for name in steps[: step + 1] for one in words.get(name, ()))
    return {
        (name, one) for name in steps[step + 1 :] for one in words.get(name, ()) if one not in shown
    }


class Recorded:
    """A window that keeps what it got of each case."""

    def __init__(self, window):
        self.window, self.read, self.of_case, self.came = window, 0, "", ""

    def next_case(self):
        self.read_on()
        self.of_case = ""

    def read_on(self):
        """Add what came since: its words to those of the case, itself to what is not searched."""
        new = self.window.received[self.read :]
        self.read += len(new)
        self.of_case += " ".join(("", *map(plain, new)))
        self.came += "\n".join(("", *new))

    def unsearched(self):
        """Return what has not been searched for cases to come: of those there are fewer later."""
        came, self.came = self.came, ""
        return came


@pytest.mark.parametrize("steps", [tuple(MEETING_STEPS), OTHER_ORDER], ids=["usual", "other"])
def test_what_followers_get_holds_nothing_unrevealed(tmp_path, steps):
    server = MeetingServer(tmp_path, CASES)
    lead = Person("presenter", "Presenter", "lead")
    meeting = Entry("meeting", subject=MEETING, value={"name": "Meeting", "steps": list(steps)})
    review_set = reviewset.load_review_set(DEMO_FOLDER)
    words = {case: words_of(review_set, case) for case in server.cases}
    reviews = open_reviews(server.review_set, server.settings)
    reviews.record([meeting, *marks(review_set, words, steps)], lead)
    close_databases()
    with server:
        found = asyncio.run(held(server, words, steps))
    assert found["searched"] > 20 * CASES
    assert found["seen"] > 5 * CASES, "what was revealed is found by the same search"


async def held(server, words, steps):
    counted = {"searched": 0, "seen": 0}
    async with httpx.AsyncClient(timeout=60) as http:
        windows = [LiveWindow(http, server.address(number)) for number in range(3)]
        for one in windows:
            one.follow()
        lead, follower, curious = windows
        await lead.lead()
        recorded = [Recorded(one) for one in windows]
        for place, case in enumerate(server.cases):
            for one in recorded:
                one.next_case()
            for step in range(len(steps)):
                (await lead.show(case, step)).raise_for_status()
                await follower.until(lambda at=(case, step): state_of(follower) == at)
                for window in (lead, follower):
                    (await window.case(case)).raise_for_status()
                for other in server.cases[place:]:
                    await curious.case(other)
                boxes = boxes_in((await follower.case(case)).json())
                if not {"boxes", "report"} & set(steps[: step + 1]):
                    assert boxes == 0, (case, steps[step])
                check(recorded, server.cases[place + 1 :], words[case], steps, step, case, counted)
        for one in windows:
            await one.leave()
        look_deeper(follower, server)
    return counted


def check(recorded, to_come, words, steps, step, case, counted):
    hidden = later(words, steps, step)
    for one in recorded:
        one.read_on()
        got = f" {one.of_case} "
        leaks = [(name, word) for name, word in hidden if f" {word} " in got]
        assert not leaks, f"{case} at {steps[step]}: {leaks[:3]}"
        came = one.unsearched()
        assert not [other for other in to_come if f'"{other}"' in came]
        counted["searched"] += len(hidden)
    got = recorded[1].of_case
    counted["seen"] += sum(word in got for word in words.get(steps[step], ()))


def state_of(window):
    state = window.newest.get("state")
    return state and (state["case"], state["step"])


def boxes_in(reply):
    return sum(len(group["boxes"]) for group in reply["content"]["viewer"]["groups"])


def look_deeper(window, server):
    """Search all of it, links unpacked, for what is on the server's disk and in no payload."""
    traffic = Traffic()
    traffic.add("stream and replies", "\n".join(window.received))
    paths = [image.path for case in server.cases for image in server.review_set.case(case).images]
    assert traffic.find([str(server.review_set.folder), *paths, "reviews.sqlite"]) == []
