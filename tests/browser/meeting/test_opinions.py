"""Opinions as a device gives them, on a network and a server that take their time."""

import pytest
from playwright.sync_api import expect
from support.browser.viewer_modules import serve_modules

from rexview.ui.web.components import module_address

pytestmark = pytest.mark.browser
BALLOTS = module_address("meeting/live/assets/ballots.js")
CARD = module_address("meeting/presenting/assets/room/votes.js")
KEPT = module_address("web/saving/assets/kept.js")
GIVEN = """async ([ballots, kept]) => {
  const [{ Ballots }, { Kept }] = await Promise.all([ballots, kept].map((one) => import(one)));
  window.asked = [];
  window.answer = async (at, said) => {
    asked[at].done(said);
    await new Promise((done) => setTimeout(done, 20));
  };
  const tell = (vote) => new Promise((done) => asked.push({ vote, done }));
  window.made = () => new Ballots(new Kept("test:"), "room", tell);
  window.ballots = made();
  window.votes = () => asked.map(({ vote }) => [vote.right, vote.harm, vote.again]);
}"""
SHOWN = """async ([card, ballots, kept]) => {
  const { VoteCard } = await import(card);
  window.given = [];
  const own = {};
  window.card = new VoteCard({
    own: (id) => own[id] ?? null,
    grades: () => [[0, "None", "No harm."], [3, "Much", "Much harm."]],
    show: (...what) => given.push(what),
    give: async (id, vote) => {
      own[id] = { right: null, harm: null, ...own[id], ...vote };
      given.push([id, { ...own[id] }]);
      await new Promise((done) => { window.took = done; });
      return null;
    },
  });
  window.show = (more = {}, rest = {}) => window.card.update({
    votes: { case: "w1", open: true, resumed: false, count: 0, of: 4, result: null, problem: null,
             ...more },
    letters: [{ letter: "A", name: "Answer A" }, { letter: "B", name: "Answer B" }],
    leads: false, here: true, ...rest,
  });
  document.body.replaceChildren(window.card.node);
  show();
}"""
TAKEN = {"ok": True, "status": 200, "epoch": "e1"}
REFUSED = {"ok": False, "status": 422, "error": "Voting on this case has ended."}
UNHEARD = {"ok": False, "status": 0}


@pytest.fixture
def page(visitor):
    page = visitor().new_page()
    serve_modules(page)
    return page


@pytest.fixture
def device(page):
    page.evaluate(GIVEN, [f"./{BALLOTS}", f"./{KEPT}"])
    return page


@pytest.fixture
def card(page):
    page.evaluate(SHOWN, [f"./{CARD}", f"./{BALLOTS}", f"./{KEPT}"])
    return page


class TestOnTheirWay:
    """The server keeps what arrives last, so that has to be what was given last."""

    def give(self, page, right, harm):
        page.evaluate(
            "([right, harm]) => { window.told = ballots.give('w1', { right, harm }, 'e1'); }",
            [right, harm],
        )

    def answer(self, page, at, said):
        page.evaluate("([at, said]) => answer(at, said)", [at, said])

    def test_a_second_one_waits_for_the_first_and_is_kept(self, device):
        self.give(device, "A", None)
        self.give(device, "A", 3)
        assert device.evaluate("votes()") == [["A", None, False]]
        assert device.evaluate("ballots.of('w1')") == {"right": "A", "harm": 3}
        self.answer(device, 0, TAKEN)
        assert device.evaluate("votes()")[1:] == [["A", 3, False]]
        assert device.evaluate("ballots.of('w1')") == {"right": "A", "harm": 3}
        self.answer(device, 1, TAKEN)
        assert device.evaluate("told") is None
        assert device.evaluate("ballots.of('w1')") == {"right": "A", "harm": 3}

    def test_of_many_in_a_hurry_the_newest_goes_next_and_none_twice(self, device):
        for harm in range(4):
            self.give(device, "B", harm)
        self.answer(device, 0, TAKEN)
        self.answer(device, 1, TAKEN)
        assert device.evaluate("told") is None
        assert device.evaluate("votes()") == [["B", 0, False], ["B", 3, False]]

    def test_a_sign_of_life_in_between_tells_nothing_old(self, device):
        cases = {"epoch": "e1", "reached": [[1, "w1", 1]]}
        self.give(device, "A", None)
        device.evaluate("(cases) => { ballots.send(cases); }", cases)
        self.give(device, "A", 3)
        for at in range(2):
            self.answer(device, at, TAKEN)
        assert device.evaluate("votes()") == [["A", None, False], ["A", 3, False]]
        assert device.evaluate("ballots.of('w1')") == {"right": "A", "harm": 3}
        device.evaluate("(cases) => ballots.send(cases)", cases)
        assert device.evaluate("asked.length") == 2, "the server has it"

    def test_what_could_not_be_sent_is_sent_with_the_next_sign_of_life(self, device):
        self.give(device, "A", 3)
        self.answer(device, 0, UNHEARD)
        device.evaluate("() => { window.ballots = made(); }")  # loaded anew
        device.evaluate("ballots.send({ epoch: 'e1', reached: [[1, 'w1', 1]] }); null")
        assert device.evaluate("votes()")[1:] == [["A", 3, False]]

    def test_a_refused_one_leaves_what_was_taken(self, device):
        self.give(device, "A", 1)
        self.answer(device, 0, TAKEN)
        self.give(device, "B", 1)
        self.give(device, "B", 4)
        self.answer(device, 1, REFUSED)
        assert device.evaluate("votes()")[2:] == [], "the newest is refused alike"
        assert device.evaluate("ballots.of('w1')") == {"right": "A", "harm": 1}


class TestPressed:
    """What is pressed counts, whatever arrives meanwhile."""

    def test_both_halves_count_though_the_server_has_not_answered_the_first(self, card):
        card.get_by_role("button", name="Answer A").click()
        card.get_by_role("button", name="3 Much").click()
        assert card.evaluate("given") == [
            ["w1", {"right": "A", "harm": None}],
            ["w1", {"right": "A", "harm": 3}],
        ]
        for name in ("Answer A", "3 Much"):
            expect(card.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")

    def press(self, page, name, meanwhile):
        box = page.get_by_role("button", name=name).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.evaluate(meanwhile)
        page.mouse.up()

    def test_a_press_counts_though_somebody_elses_opinion_arrives_meanwhile(self, card):
        self.press(card, "Answer B", "show({ count: 1 })")
        expect(card.get_by_text("1 of 4 gave an opinion")).to_be_visible()
        assert card.evaluate("given") == [["w1", {"right": "B", "harm": None}]]

    def test_the_focus_stays_on_the_ballot_while_others_give_theirs(self, card):
        card.get_by_role("button", name="Answer B").focus()
        card.evaluate("show({ count: 1 })")
        expect(card.get_by_role("button", name="Answer B")).to_be_focused()

    def test_who_presents_shows_the_opinions_though_another_arrives_meanwhile(self, card):
        card.evaluate("show({ count: 1 }, { leads: true })")
        self.press(card, "Show opinions", "show({ count: 2 }, { leads: true })")
        assert card.evaluate("given") == [["w1", True]]

    def test_another_case_has_a_ballot_of_its_own(self, card):
        card.get_by_role("button", name="Answer A").click()
        card.evaluate("show({ case: 'w2' })")
        expect(card.get_by_role("button", name="Answer A")).to_have_attribute(
            "aria-pressed", "false"
        )
        card.get_by_role("button", name="Answer B").click()
        assert card.evaluate("given")[1:] == [["w2", {"right": "B", "harm": None}]]
