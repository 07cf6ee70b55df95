"""A meeting on a projector: the film as large as the screen allows, the question always in sight,
nothing shown early, and what is drawn there seen on another screen."""

import re
import shutil
from dataclasses import replace

import pytest
from playwright.sync_api import expect
from support import ROOT
from support.browser.score_pad import known_reader
from support.browser.traffic import record
from support.browser.waiting import becomes, until

from rexview.analysis.meetings import find_meeting
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases

pytestmark = pytest.mark.browser
ANN = Person("ann", "Ann", "lead")
CASES = ("c01", "c19", "r01")  # an open question with boxes, a choice, a report
STEPS = ("question", "answers", "boxes", "models", "report", "scores", "flags")
NOTE = "Ask Bob about the lateral."
BAR_PX = 48
STAGE = '[data-painted-case="{}"] .stage'


class Server:
    """An app on a copy of the demo with a meeting of Ann's, whose database can be read."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder
        self.meetings = 0

    def read(self, question):
        try:
            return question(open_reviews(load_review_set(self.folder), Settings()))
        finally:
            close_databases()

    def plan(self):
        """Plan another meeting, of which nothing was shown yet."""
        self.meetings += 1
        name = f"m{self.meetings}"
        entries = [Entry("meeting", subject=name, value={"name": "Chest"})]
        for place, case in enumerate(CASES):
            value = {"place": place, "section": f"Part {1 + place // 2}", "minutes": 3}
            entries.append(Entry("agenda", case, subject=name, value=value))
        note = Entry("presenter_note", CASES[0], subject=name, value={"text": NOTE})
        self.read(lambda reviews: reviews.record([*entries, note], ANN))

    def link(self, view):
        return f"{self.address}meeting?as={view}&meeting=m{self.meetings}"

    def seconds(self):
        return self.read(lambda reviews: find_meeting(reviews, f"m{self.meetings}").seconds)


@pytest.fixture(scope="module")
def started(start_app, tmp_path_factory):
    home = tmp_path_factory.mktemp("meeting")
    folder = shutil.copytree(ROOT / "assets" / "demo", home / "set")
    return Server(start_app(folder, data=known_reader(home / "data", "Ann")), folder)


@pytest.fixture
def present(started, new_page):
    """Return a function that presents the meeting at its first case and first step."""

    def open_page(width=1280, height=720, look="Dark"):
        page = new_page(width, height)
        page.add_init_script(f"localStorage.setItem('rexview-theme', '\"{look}\"')")
        started.plan()
        page.goto(started.link("present"))
        shown(page, CASES[0], "question")
        return page

    return open_page


def shown(page, case=None, step=None):
    """Wait until a case is on the screen, at a step; return its name."""
    page.wait_for_selector(".rx-present[data-case]")
    root = page.locator(".rx-present")
    if case:
        expect(root).to_have_attribute("data-case", case)
    if step:
        expect(root).to_have_attribute("data-step", step)
    found = case or root.get_attribute("data-case")
    page.wait_for_selector(STAGE.format(found))
    return found


def is_in_sight(page, selector):
    """Whether all of an element lies within the window, with nothing over it."""
    return page.locator(selector).first.evaluate(
        """(node) => {
          const frame = node.getBoundingClientRect();
          const [x, y] = [frame.left + 5, frame.top + frame.height / 2];
          const over = document.elementFromPoint(x, y);
          const inside = frame.top >= 0 && frame.left >= 0 && frame.bottom <= innerHeight + 1
            && frame.right <= innerWidth + 1;
          return inside && frame.height > 0 && node.contains(over);
        }"""
    )


def size_of(page, selector):
    return page.locator(selector).first.bounding_box()


@pytest.mark.parametrize("look", ["Dark", "Light"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_film_has_the_height_of_the_screen_and_the_question_stays(present, width, height, look):
    page = present(width, height, look)
    for number, step in enumerate(STEPS):
        shown(page, CASES[0], step)
        film, side = size_of(page, STAGE.format(CASES[0])), size_of(page, ".side")
        assert film["height"] >= height - BAR_PX * height / 720
        assert film["width"] >= width * 0.4
        assert film["x"] + film["width"] <= side["x"]
        assert is_in_sight(page, ".asked .rx-question")
        if number < len(STEPS) - 1:
            page.keyboard.press("Space")
    size = page.locator(".rx-question").evaluate(
        "node => parseFloat(getComputedStyle(node).fontSize)"
    )
    assert size >= height / 40
    background = page.locator(".rx-present").evaluate(
        "node => getComputedStyle(node).backgroundColor"
    )
    assert (background == "rgb(255, 255, 255)") == (look == "Light")
    page.keyboard.press("q")
    until(page, lambda: size_of(page, ".film-place")["width"], lambda found: found > width * 0.95)
    assert is_in_sight(page, ".asked .rx-question")
    page.keyboard.press("q")


SMALL_TEXTS = """(side, least) => [...side.querySelectorAll(":is(.asked, .tabs, .panel) *")]
  .filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim())
    && node.checkVisibility() && !node.closest("thead")
    && parseFloat(getComputedStyle(node).fontSize) < least)
  .map((node) => `${node.className} ${node.textContent}`.trim())"""
TAG_SIZES = """(film) => [...film.shadowRoot.querySelectorAll(".tag text, .edge.left, .edge.right")]
  .map((node) => node.closest(".tag")
    ? node.getBoundingClientRect().height : parseFloat(getComputedStyle(node).fontSize))"""


def test_a_room_can_read_all_of_it(present):
    page = present(1920, 1080)
    side, film = page.locator(".side"), page.locator(".film-place")
    for number, step in enumerate(STEPS):
        shown(page, CASES[0], step)
        assert side.evaluate(SMALL_TEXTS, 24) == []
        if number < len(STEPS) - 1:
            page.keyboard.press("Space")
    sizes = film.evaluate(TAG_SIZES)
    assert len(sizes) >= 4
    assert min(sizes) >= 24
    page.keyboard.press("Space")
    expect(page.locator(".rx-d")).to_be_visible()
    assert side.evaluate(SMALL_TEXTS, 24) == []


def test_answers_stand_side_by_side(present):
    page = present(1920, 1080)
    page.keyboard.press("Space")
    shown(page, CASES[0], "answers")
    first, second = (one.bounding_box() for one in page.locator(".panel .rx-answer").all())
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]


def test_the_space_bar_shows_the_next_step_once_the_meeting_is_open(started, present):
    page = present()
    page.goto(f"{started.address}meeting?meeting=m{started.meetings}")
    page.get_by_role("button", name="Present").click()
    shown(page, CASES[0], "question")
    expect(page.locator(".rx-present")).to_be_focused()
    page.keyboard.press("Space")
    shown(page, CASES[0], "answers")


def test_a_long_text_is_paged_and_says_that_there_is_more(present):
    page = present()
    page.keyboard.press("PageDown")
    shown(page, CASES[0], "answers")
    more, panel = page.locator(".more"), page.locator(".panel")
    expect(more).to_be_visible()
    while more.is_visible():
        before = panel.evaluate("node => node.scrollTop")
        page.keyboard.press("ArrowDown")
        until(page, lambda: panel.evaluate("node => node.scrollTop"), lambda now, b=before: now > b)
        page.wait_for_timeout(100)
    end = panel.evaluate("node => node.scrollHeight - node.scrollTop - node.clientHeight")
    assert end < 12
    page.keyboard.press("PageUp")
    shown(page, CASES[0], "question")
    expect(page.locator(".tabs")).to_be_hidden()


def phrases(text):
    """Runs of words that stand in a text without marks in between."""
    return [one.strip() for one in re.findall(r"[a-z ]{18,}", text)]


def test_what_is_not_shown_yet_is_nowhere(started, visitor):
    review_set, case = load_review_set(started.folder), CASES[2]
    answers = [one for answer in review_set.answers_of(case) for one in phrases(answer.text)]
    reported = [one for one in phrases(review_set.case(case).report.findings) if one not in answers]
    names = [model.name for model in review_set.models]
    context = visitor()
    started.plan()
    with record(context) as traffic:
        page = context.new_page()
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(started.link("present"))
        shown(page, CASES[0], "question")
        page.locator(".where").click()
        page.locator(".sheet li button", has_text=case).click()
        shown(page, case, "question")
        traffic.look(page)
        asked = list(traffic.pieces)
        page.keyboard.press("Space")
        shown(page, case, "answers")
        expect(page.locator(".panel")).to_contain_text("pleural effusion")
        traffic.look(page)
        answered = list(traffic.pieces)
        page.keyboard.press("Shift+S")
        shown(page, case, "flags")
        expect(page.locator(".tabs")).to_contain_text("Failures")
        traffic.look(page)
    told = {leak.word for leak in traffic.find([*answers, *reported, *names])}
    assert told & {*answers}
    assert told & {*reported}
    assert told >= {*names}
    assert not replace(traffic, pieces=asked).find(told - {*names})
    assert not replace(traffic, pieces=answered).find(told & {*reported})
    assert not replace(traffic, pieces=answered).find(names)


def test_boxes_come_with_their_step_and_change_their_colour_with_the_names(present):
    page = present()
    boxes = page.locator(".box[data-kind='model']")
    page.get_by_label("Leave", exact=True).focus()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    page.keyboard.press("Space")  # as the list of keys says, whatever had the focus
    shown(page, CASES[0], "answers")
    assert boxes.count() == 0 or not boxes.first.is_visible()
    page.keyboard.press("Space")
    shown(page, CASES[0], "boxes")
    expect(boxes.first).to_be_visible()

    def colour():
        return boxes.first.locator("rect.line").evaluate("node => getComputedStyle(node).stroke")

    before = colour()
    expect(page.locator(".side")).not_to_contain_text("Generalist")
    page.keyboard.press("Space")
    shown(page, CASES[0], "models")
    expect(page.locator(".panel")).to_contain_text("Generalist")
    until(page, colour, lambda now: now != before)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    shown(page, CASES[0], "answers")
    expect(boxes).to_have_count(0)


def test_marks_and_pointer_are_seen_where_they_belong_on_another_screen(started, present, new_page):
    page = present()
    other = new_page(1000, 700)
    other.goto(started.link("follow"))
    shown(other, CASES[0], "question")
    expect(page.locator(".people")).to_contain_text("follow")
    film = size_of(page, STAGE.format(CASES[0]))
    middle = film["x"] + film["width"] / 2, film["y"] + film["height"] / 2
    for key in "ade":  # judge failures on the Case page: nothing here
        page.keyboard.press(key)
    expect(page.locator(".bar [aria-pressed=true]:not(.views *)")).to_have_count(0)
    page.keyboard.press("Shift+V")
    expect(page.locator(".bar [aria-pressed=true][title^=Arrow]")).to_have_count(1)
    page.mouse.move(middle[0] + 120, middle[1] + 90)
    page.mouse.down()
    page.mouse.move(*middle, steps=6)
    page.mouse.up()
    page.keyboard.press("Shift+F")
    page.mouse.move(middle[0] - 150, middle[1] - 100)
    page.mouse.down()
    for step in range(20):
        page.mouse.move(middle[0] - 150 + 8 * step, middle[1] - 100 + 30 * (step % 2))
    page.mouse.up()
    expect(other.locator(".mark.arrow")).to_have_count(1)
    expect(other.locator(".mark.draw")).to_have_count(1)
    page.keyboard.press("Shift+P")
    page.mouse.move(*middle)
    expect(other.locator(".pointed")).to_have_count(1)
    there = size_of(other, STAGE.format(CASES[0]))
    point = size_of(other, ".pointed")
    assert point["x"] + point["width"] / 2 == pytest.approx(there["x"] + there["width"] / 2, abs=3)
    assert point["y"] + point["height"] / 2 == pytest.approx(
        there["y"] + there["height"] / 2, abs=3
    )
    page.keyboard.press("Delete")
    expect(other.locator(".mark")).to_have_count(0)
    page.keyboard.press("i")
    expect(page.locator(".rx-present")).to_be_visible()
    page.keyboard.press("j")
    shown(other, CASES[1], "question")
    page.keyboard.press("k")
    shown(page, CASES[0])


def test_who_follows_looks_around_in_what_was_shown_and_comes_back(started, present, new_page):
    page = present()
    other = new_page(1000, 700)
    other.goto(started.link("follow"))
    shown(other, CASES[0], "question")
    page.keyboard.press("Space")
    shown(other, CASES[0], "answers")
    page.keyboard.press("j")
    shown(other, CASES[1], "question")
    other.keyboard.press("g")
    rows = other.locator(".sheet li button")
    expect(rows).to_have_count(2)  # the third was not shown
    rows.first.click()
    shown(other, CASES[0], "question")
    expect(other.locator('.step[data-step="boxes"]')).to_be_disabled()
    other.locator('.step[data-step="answers"]').click()
    shown(other, CASES[0], "answers")
    page.keyboard.press("j")
    shown(page, CASES[2], "question")
    expect(other.locator(".rx-present")).to_have_attribute("data-case", CASES[0])
    other.locator(".who button", has_text="Rejoin").click()
    shown(other, CASES[2], "question")


def test_the_list_of_keys_says_which_mean_something_else_on_the_case_page(present):
    page = present()
    page.keyboard.press("?")
    told = page.locator(".sheet .elsewhere")
    expect(told).to_contain_text("On the Case page, g goes to the report")
    expect(told).to_contain_text("(e, a, d) do nothing here")


def test_cases_are_gone_to_from_the_list_and_their_time_is_kept(started, present):
    page = present()
    expect(page.locator(".time")).to_contain_text("/ 3 min")
    page.wait_for_timeout(1500)
    page.keyboard.press("g")
    expect(page.locator(".sheet h3")).to_have_text(["Part 1", "Part 2"])
    page.locator(".sheet li button", has_text=CASES[1]).click()
    shown(page, CASES[1], "question")
    expect(page.locator(".where")).to_have_text("Case 2 of 3")
    expect(page.locator(".asked .rx-options li")).to_have_count(4)
    until(page, started.seconds, lambda found: found.get(CASES[0], 0) >= 1)
    page.keyboard.press("Shift+T")
    expect(page.locator(".time")).to_contain_text("❚❚")
    page.keyboard.press("Shift+T")


def test_what_failed_is_in_the_list_once_who_leads_asks_for_it(started, visitor):
    headline = "Harm 3: pleural effusion on the wrong side"
    lead, follower = visitor(), visitor()
    started.plan()
    with record(lead) as told, record(follower) as followed:
        page = lead.new_page()
        page.goto(started.link("present"))
        shown(page, CASES[0], "question")
        other = follower.new_page()
        other.goto(started.link("follow"))
        shown(other, CASES[0], "question")
        page.keyboard.press("g")
        expect(page.locator(".sheet li")).to_have_count(len(CASES))
        told.look(page)
        before = list(told.pieces)
        page.get_by_role("button", name="Show what failed in each case").click()
        expect(page.locator(".sheet li").first).to_contain_text(headline)
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        expect(page.locator(".sheet li").first).not_to_contain_text(headline)
        page.keyboard.press("Escape")
        other.keyboard.press("g")
        expect(other.locator(".sheet li")).to_have_count(1)
        expect(other.locator(".told")).to_be_hidden()
        page.keyboard.press("Space")
        shown(other, CASES[0], "answers")
        followed.look(other)
        told.look(page)
    assert told.find([headline])
    assert not replace(told, pieces=before).find([headline])
    assert not told.find([model.name for model in load_review_set(started.folder).models])
    assert not followed.find([headline, headline.partition(": ")[2]])


def test_what_failed_is_proposed_and_stored_once_it_is_confirmed(started, present):
    page = present()
    page.keyboard.press("Shift+D")
    form = page.locator(".rx-d")
    expect(form.get_by_label("Failure agreed on")).to_be_enabled()
    expect(form.locator(".rx-d-proposal")).to_be_hidden()  # nothing of it is shown yet
    page.keyboard.press("Shift+S")
    shown(page, CASES[0], "flags")
    page.keyboard.press("Shift+D")
    proposal = form.locator(".rx-d-proposal")
    words = "Proposal, from the worst failure found: Laterality error · harm 3"
    expect(proposal).to_contain_text(words)
    expect(form.get_by_label("Failure agreed on")).to_have_value("")
    assert not started.read(lambda reviews: reviews.current("decide"))
    proposal.get_by_role("button", name="Confirm").click()
    expect(form.locator(".rx-d-status")).to_contain_text("Saved")
    expect(proposal).to_be_hidden()
    expect(form.get_by_label("Failure agreed on")).to_have_value("laterality_error")
    (stored,) = started.read(lambda reviews: reviews.current("decide"))
    assert (stored.value["failure"], stored.value["severity"]) == ("laterality_error", 3)


def test_notes_are_on_no_screen_but_in_a_window_of_their_own(present):
    page = present()
    expect(page.locator(".rx-present")).not_to_contain_text(NOTE)
    with page.expect_popup() as opened:
        page.keyboard.press("Shift+N")
    notes = opened.value
    expect(notes.locator("body")).to_contain_text(NOTE)
    expect(notes.locator("body")).to_contain_text("Case 1 of 3")
    expect(page.locator(".rx-present")).not_to_contain_text(NOTE)
    notes.keyboard.press("j")
    shown(page, CASES[1], "question")
    expect(notes.locator("body")).to_contain_text("Case 2 of 3")
    notes.close()


def test_after_the_last_step_the_meeting_decides(present):
    page = present()
    page.keyboard.press("Shift+S")
    shown(page, CASES[0], "flags")
    page.locator(".next").click()
    form = page.locator(".decision .rx-d")
    expect(form).to_be_visible()
    expect(form).to_contain_text("Harm")
    page.keyboard.press("Space")
    becomes(page, lambda: page.locator(".where").inner_text(), "Case 2 of 3")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180)])
def test_an_upright_screen_has_film_question_and_text_one_below_another(present, width, height):
    page = present(width, height)
    page.locator(".next").click()
    shown(page, CASES[0], "answers")
    question, film, panel = (size_of(page, one) for one in (".asked", ".film-place", ".panel"))
    assert question["y"] < film["y"] < panel["y"]
    assert film["height"] > height * 0.4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
