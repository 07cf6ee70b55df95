"""A whole meeting of five cases in two browsers, from agenda to minutes.

One browser plans, presents and decides, the other follows, gives its opinion before the models are
named, and takes over for the last case. The minutes are then compared with what was done.
"""

from datetime import date

import pytest
from playwright.sync_api import expect
from support.browser.score_pad import known_reader
from support.browser.traffic import assert_hidden, record
from support.browser.waiting import becomes
from support.review_folder import RAMP, named, write_review_set

from rexview.analysis.meeting_steps import assign_letters
from rexview.analysis.meetings import build_minutes, list_meetings
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import merge_reviews, open_reviews
from rexview.store.database.connection import close_databases

pytestmark = pytest.mark.browser
CASES = [f"w{number}" for number in range(1, 6)]
MODELS = {"alpha": "Alphamodel", "beta": "Betamodel"}
NAME = "Chest failures"
UNTOLD = "Reportword5"
"""In the report of the last case, which is never shown."""
OWN_LEVEL = "Sets treatment wrong. As this set has it."
"""What the set itself means by harm 3."""
OPINIONS = {"w1": ("alpha", 3), "w2": ("none", 1), "w3": ("beta", 0), "w4": ("unsure", 4)}
"""What the follower holds right, and the harm, by case; of the last one nothing is asked."""
DECIDED = {
    ("w1", "beta"): {"failure": "laterality_error", "severity": 3, "decision": "retrain"},
    ("w1", None): {"decision": "second_look", "owner": "Ben", "due": date(2026, 12, 24)},
    ("w2", None): {"failure": "none", "severity": 0, "decision": "accept"},
    ("w3", "alpha"): {"failure": "omission", "decision": "Ask the vendor"},
    ("w4", None): {"decision": "exclude", "comment": "Film of another patient?", "done": True},
    ("w5", "alpha"): {"severity": 2, "decision": "prompt_change"},
}
"""What the meeting decides, by case and model."""
WORDS = {
    "retrain": "Retrain",
    "second_look": "Needs a second look",
    "accept": "Accept",
    "exclude": "Exclude",
    "prompt_change": "Change the prompt",
}


class Meeting:
    """What was written of the meeting, read from the disk."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder

    def read(self, question):
        review_set = load_review_set(self.folder)
        try:
            return question(review_set, open_reviews(review_set, Settings()))
        finally:
            close_databases()

    def held(self):
        return self.read(lambda _, reviews: list_meetings(reviews)[0])

    def letter(self, case, model):
        """The letter of a model's answer in this meeting."""

        def found(review_set, reviews):
            (held,) = list_meetings(reviews)
            models = [one.model for one in review_set.answers_of(case)]
            return assign_letters(held, case, models, reviews.letter_key())

        letters = self.read(found)
        return next((letter for letter, one in letters.items() if one == model), model)

    def minutes(self):
        def found(review_set, reviews):
            (held,) = list_meetings(reviews)
            return build_minutes(merge_reviews(review_set, reviews), reviews, held.id)

        return self.read(found)


@pytest.fixture
def meeting(start_app, tmp_path):
    folder = write_review_set(
        tmp_path / "set",
        info={"name": "Five cases", "notice": "Made for a test.", "harm": "harm.yaml"}
        | {"models": named(**MODELS)},
        cases=[
            {
                "id": case,
                "question": f"Question of {case}: is there an effusion?",
                "images": [{"id": "i", "path": "one.png", "view": "PA"}],
                "report": {"findings": f"Reportword{number}: effusion on the right."},
            }
            for number, case in enumerate(CASES, start=1)
        ],
        answers=[
            {"case": case, "model": model, "text": f"Text of {name} on {case}: effusion."}
            for case in CASES
            for model, name in MODELS.items()
        ],
        pictures={"one.png": RAMP},
    )
    (folder / "harm.yaml").write_text(f"levels: {{3: {OWN_LEVEL}}}\n", encoding="utf-8")
    return Meeting(start_app(folder, data=known_reader(tmp_path / "data", "Ann")), folder)


def plan(page, meeting):
    """Begin the meeting and put the cases on its agenda."""
    page.goto(f"{meeting.address}meeting")
    page.get_by_role("button", name="New meeting").click()
    page.get_by_role("textbox", name="Name").fill(NAME)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("button", name="Begin")).to_have_count(0)  # what asked is closed
    page.get_by_role("button", name="Add cases").click()
    page.get_by_role("textbox", name="Case ids").fill("\n".join(CASES))
    page.get_by_role("button", name="Add", exact=True).click()
    becomes(page, lambda: meeting.held().cases, tuple(CASES))


def shows(page, case, step):
    expect(page.locator(f'.rx-present[data-case="{case}"][data-step="{step}"]')).to_be_visible()


def both_show(page, follower, case, step):
    shows(page, case, step)
    shows(follower, case, step)


def give_opinion(page, meeting, case, right, harm):
    ballot = page.locator(".votes .ballot")
    answers = ballot.get_by_role("group", name="Who is right?")
    words = {"none": "None", "unsure": "Cannot say"}
    letter = words.get(right) or f"Answer {meeting.letter(case, right)}"
    answers.get_by_role("button", name=letter, exact=True).click()
    graded = ballot.get_by_role("group", name="Harm").get_by_role("button")
    expect(graded.nth(3)).to_have_text("3 Sets treatment wrong")
    expect(graded.nth(3)).to_have_attribute("title", OWN_LEVEL)
    with page.expect_response(lambda answer: gave(answer, harm)) as taken:
        graded.nth(harm).click()
    assert taken.value.ok  # the presenter ends it with the next press


def gave(answer, harm):
    """Whether it answers an opinion with both its parts."""
    vote = answer.request.post_data_json if answer.url.endswith("/vote") else {}
    return vote.get("right") is not None and vote["harm"] == harm


def decide(page, meeting, case, model, fields):
    """Write down a decision in the form beside the film."""
    form = page.locator(".rx-d")
    tabs = form.get_by_role("radiogroup", name="About")
    letter = meeting.letter(case, model) if model else None
    tabs.locator(f'[data-key="{letter or ""}"]').click()
    given = dict(fields)
    if failure := given.get("failure"):
        form.get_by_label("Failure agreed on").select_option(value=failure)
    if (severity := given.get("severity")) is not None:
        form.get_by_role("radiogroup", name="Harm").get_by_role("radio").nth(severity).click()
    if name := WORDS.get(given["decision"]):
        form.get_by_role("radio", name=name).click()
    else:
        form.get_by_label("Another decision").fill(given["decision"])
    for label, name in (("Owner", "owner"), ("Due", "due"), ("Notes", "comment")):
        if name in given:
            form.get_by_label(label).fill(str(given[name]))
    if given.get("done"):
        form.get_by_role("checkbox", name="Done").click()
    form.locator(".rx-d-status").click()  # what was typed last is left
    expect(form.locator(".rx-d-status")).to_contain_text("Saved")


def test_a_meeting_of_five_cases_from_agenda_to_minutes(meeting, visitor):
    page = visitor().new_page()
    plan(page, meeting)
    with record(visitor_of := visitor()) as traffic:
        follower = visitor_of.new_page()
        present = page.get_by_role("button", name="Present", include_hidden=True)
        expect(present).to_have_count(1)  # not that of the run before, too
        expect(present).to_be_enabled()  # a case is on the agenda
        page.keyboard.press("Escape")  # what adds cases lies over the buttons
        page.get_by_role("button", name="Present").click()
        shows(page, "w1", "question")
        page.reload()
        shows(page, "w1", "question")
        follower.goto(f"{meeting.address}meeting?as=follow&meeting={meeting.held().id}")
        shows(follower, "w1", "question")
        traffic.look(follower)
        assert_hidden(traffic, ["Text of", *MODELS.values(), "Reportword"])
        for case in CASES:
            both_show(page, follower, case, "question")
            page.locator(".bar .next").click()
            both_show(page, follower, case, "answers")
            if case in OPINIONS:
                give_opinion(follower, meeting, case, *OPINIONS[case])
                page.get_by_role("button", name="Show opinions").click()
                expect(follower.locator(".votes .result")).to_be_visible()
                page.keyboard.press("Shift+S")
                both_show(page, follower, case, "flags")
                expect(page.get_by_role("button", name="Continue collecting")).to_be_hidden()
            expect(page.locator(".rx-present .time")).not_to_contain_text("0:00")  # it counts
            if case == CASES[-1]:
                follower.get_by_role("button", name="Ask to present").click()
                page.get_by_role("button", name="Hand over").click()
                expect(page.get_by_role("button", name="Ask to present")).to_be_visible()
            leads = follower if case == CASES[-1] else page
            leads.keyboard.press("Shift+D")
            for (of, model), fields in DECIDED.items():
                if of == case:
                    decide(leads, meeting, case, model, fields)
            if case != CASES[-1]:
                page.locator(".rx-present .bar").click(position={"x": 2, "y": 2})
                page.keyboard.press("j")
        traffic.look(follower)
        assert_hidden(traffic, [UNTOLD])
        # who took over turns to other cases, too
        follower.locator(".rx-present .bar").click(position={"x": 2, "y": 2})
        follower.keyboard.press("k")
        both_show(page, follower, CASES[-2], "question")
    for one in (page, follower):
        one.locator(".rx-present .bar a, .rx-present .bar button").first.click()
    becomes(page, lambda: len(meeting.held().seconds), len(CASES))
    found = meeting.minutes()
    assert (found.meeting.name, found.postponed) == (NAME, ())
    assert [item.case for item in found.items] == CASES
    assert all(item.seconds > 0 for item in found.items)
    for item in found.items:
        opinion = OPINIONS.get(item.case)
        told = None if item.vote is None else (item.vote.count, item.vote.right, item.vote.harm)
        assert told == (opinion and (1, {opinion[0]: 1}, {str(opinion[1]): 1}))
    names = ("failure", "severity", "decision", "owner", "due", "done", "comment")
    empty = dict.fromkeys(names) | {"done": False}
    assert {
        (one.case, one.model): {name: getattr(one, name) for name in names}
        for one in found.decisions
    } == {about: empty | fields for about, fields in DECIDED.items()}
    assert {(one.case, one.model) for one in found.open} == {
        about for about in DECIDED if about not in (("w2", None), ("w4", None))
    }
    assert found.meeting.decisions == ("Ask the vendor",)
