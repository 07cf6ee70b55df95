"""The script that joins a meeting (live.js) in real browsers, on a real server that is killed."""

import pytest
from support.browser.waiting import pass_time

from bench.meeting import MeetingServer
from rexview.ui.web.components import module_address
from rexview.vocab import MEETING_STEPS

pytestmark = pytest.mark.browser
ANSWERS = list(MEETING_STEPS).index("answers")
MODELS = list(MEETING_STEPS).index("models")
JOIN = """async ([module, address, role]) => {
  const { joinRoom } = await import(new URL(module, document.baseURI).href);
  const ticket = { address, room: "room", may_lead: role === "lead" };
  window.heard = { states: [], problems: [], connections: [], votes: null, leading: false };
  const to = (name) => (value) => { window.heard[name] = value; };
  window.room = joinRoom({
    ticket, role,
    onState: (state) => window.heard.states.push(state),
    onProblem: (problem) => window.heard.problems.push(problem),
    onConnection: (connection) => window.heard.connections.push(connection),
    onVotes: to("votes"), onPresence: to("people"), onCases: to("cases"), onLeading: to("leading"),
  });
}"""


@pytest.fixture
def server(tmp_path):
    with MeetingServer(tmp_path, 3) as server:
        yield server


@pytest.fixture
def join(server, visitor):
    """Return a function that joins as somebody, in a browser of their own."""

    def joined(number):
        page = visitor().new_page()
        page.goto(f"{server.url}/account")
        address = server.address(number).removeprefix(f"{server.url}/")
        role = "follow" if number else "lead"
        module = module_address("meeting/live/assets/live.js")
        page.evaluate(JOIN, [module, address, role])
        page.wait_for_function("() => window.heard.cases && window.heard.people")
        if role == "lead":
            page.wait_for_function("() => window.heard.leading")
        return page

    return joined


def show(page, case, step, **more):
    page.evaluate("(state) => window.room.send(state)", {"case": case, "step": step, **more})


def wait_for_state(page, **wanted):
    script = """(wanted) => {
      const state = window.heard.states.at(-1) ?? {};
      return Object.entries(wanted).every(([name, value]) => state[name] === value);
    }"""
    page.wait_for_function(script, arg=wanted)


def vote(page, case, right, harm):
    given = {"right": right, "harm": harm}
    return page.evaluate("([id, vote]) => room.vote(id, vote)", [case, given])


def test_what_is_sent_in_a_hurry_arrives_newest_last_and_what_is_too_much_is_said(server, join):
    lead, follower = join(0), join(1)
    case = server.cases[0]
    lead.evaluate(
        """async (id) => {
          for (let n = 11; n <= 50; n += 1) room.send({ case: id, step: 0, look: `${n}` });
        }""",
        case,
    )
    wait_for_state(follower, look="50")
    looks = follower.evaluate("window.heard.states.map((state) => state.look)")
    assert looks == sorted(looks)
    said = lead.evaluate(
        """async (id) => {
          try { room.send({ case: id, step: 0, marks: "x".repeat(3000) }); } catch (error) {
            return error.message;
          }
        }""",
        case,
    )
    assert said == "The drawing is too large to share."
    found = follower.evaluate("(id) => room.fetchCase(id)", case)
    assert found["content"]["case"] == case
    assert found["content"]["panels"] == {}
    refused = follower.evaluate("(id) => room.fetchCase(id).catch((e) => e.message)", "c09")
    assert refused == "This case has not been shown yet."


def test_a_follower_looks_around_and_comes_back(server, join):
    lead, follower = join(0), join(1)
    first, second, _ = server.cases
    show(lead, first, 0)
    wait_for_state(follower, case=first)
    follower.evaluate("room.lookAround()")
    lead.wait_for_function("() => window.heard.people.people.some((one) => one.looking)")
    show(lead, second, 0)
    follower.wait_for_function("(id) => room.state.case === id", arg=second)
    assert follower.evaluate("window.heard.states.length") == 1, "nothing moves under who looks"
    follower.evaluate("room.lookAround(false)")
    wait_for_state(follower, case=second)


def test_a_killed_server_is_told_again_what_was_shown_and_voted(server, join):
    lead, *voters = join(0), join(1), join(2), join(3)
    case = server.cases[1]
    show(lead, case, ANSWERS, look="3")
    for page, right in zip(voters, "AAB", strict=True):
        wait_for_state(page, case=case, step=ANSWERS)
        if page is not voters[2]:
            assert vote(page, case, right, 3) is None
    lead.wait_for_function("() => window.heard.votes?.count === 2")
    for page in voters:
        page.evaluate("window.heard.states.length = 0")
    server.restart()
    for page in voters:
        page.wait_for_function("() => window.heard.votes?.count === 2")
        wait_for_state(page, case=case, step=ANSWERS, look="3")
        assert page.evaluate("window.heard.connections.at(-1)") == "here"
        assert page.evaluate("window.heard.problems") == []
    assert lead.evaluate("window.heard.leading")
    assert vote(voters[2], case, "B", 1) is None
    lead.wait_for_function("() => window.heard.votes.result !== null")
    assert lead.evaluate("window.heard.votes.result") == {
        "right": {"A": 2, "B": 1},
        "harm": {"1": 1, "3": 2},
    }
    assert vote(voters[0], case, "B", 1) == "Voting on this case has ended."
    assert voters[0].evaluate("(id) => room.ownVote(id)", case) == {"right": "A", "harm": 3}
    show(lead, case, MODELS)
    wait_for_state(voters[0], step=MODELS)
    (row,) = [row for row in server.entries() if row.kind == "vote"]
    assert (row.case, row.person, row.value["count"]) == (case, "person-0", 3)


def test_a_vote_waits_for_a_case_that_a_new_server_has_not_shown(server, join):
    lead, voter = join(0), join(1)
    case = server.cases[0]
    show(lead, case, ANSWERS)
    wait_for_state(voter, case=case, step=ANSWERS)
    assert vote(voter, case, "A", 3) is None
    lead.context.close()
    asked = []
    voter.on("request", lambda request: asked.append(request.url))
    before = voter.evaluate("window.heard.cases.epoch")
    server.restart()
    voter.wait_for_function("(epoch) => window.heard.cases.epoch !== epoch", arg=before)
    pass_time(voter, 2500)  # two beats of the server
    assert [url for url in asked if url.endswith("/vote")] == []


def test_a_server_that_says_nothing_is_noticed_and_a_presenter_who_reloads_goes_on(server, join):
    lead, follower = join(0), join(1)
    case = server.cases[2]
    show(lead, case, 0)
    wait_for_state(follower, case=case)
    server.hold()
    follower.wait_for_function("() => window.heard.connections.at(-1) === 'away'")
    server.let_go()
    follower.wait_for_function("() => window.heard.connections.at(-1) === 'here'")
    window = lead.evaluate("room.window")
    address = lead.evaluate("room.ticket.address")
    lead.reload()
    lead.evaluate(JOIN, [module_address("meeting/live/assets/live.js"), address, "lead"])
    lead.wait_for_function("() => window.heard.leading && window.heard.states.length === 1")
    assert lead.evaluate("room.window") == window
    show(lead, case, 1)
    wait_for_state(follower, step=1)
