"""What a browser never sends: a blinded reader and a stranger ask for more by hand."""

import json
from contextlib import ExitStack
from uuid import uuid4

import pytest
from support.entries.sent import comment_entry
from support.page_text import data_of
from support.review_folder import RAMP, named, score_rows, write_review_set
from support.small_set import CASES
from support.websocket_session import COOKIE_SECRET, Hand, user_cookie

from bench.reliability.server import ScoreServer
from rexview.people import Person
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases

PEOPLE = [
    {"email": "anna@clinic.example", "name": "Anna Reader", "role": "reader", "id": "r-anna"},
    {"email": "lea@clinic.example", "name": "Lea Lead", "role": "lead"},
    {"email": "vera@clinic.example", "name": "Vera Viewer", "role": "viewer"},
]
ANNA, LEA, VERA = (person["email"] for person in PEOPLE)
MODELS = {"zephyrion": "Zephyrion Large", "quokkanet": "Quokkanet"}
TEXTS = {model: f"I see it, as {name} does. It is on the left." for model, name in MODELS.items()}
HIDDEN = [*MODELS, *MODELS.values(), "Right pleural effusion", "Reader A", "Talkwords"]
"""Models, the report, a reader of the file, the comment of another."""


def write_models(folder):
    """A review set whose models can be told by their names, which stand in the answers too."""
    answers = [
        {"case": case, "model": model, "text": text, "finish_reason": "stop"}
        for case in ("c1", "c2")
        for model, text in TEXTS.items()
    ]
    return write_review_set(
        folder,
        info={"name": "A study", "models": named(**MODELS), "readers": named(ra="Reader A")},
        cases=CASES,
        answers=answers,
        scores=score_rows(("c1", "quokkanet", "ra", "process", 2)),
        pictures={"one.png": RAMP},
    )


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    folder = tmp_path_factory.mktemp("by_hand")
    secrets = folder / "secrets.toml"
    secrets.write_text(
        '[auth]\nredirect_uri = "http://localhost:{port}/oauth2callback"\n'
        f'cookie_secret = "{COOKIE_SECRET}"\nclient_id = "x"\nclient_secret = "x"\n'
        'server_metadata_url = "http://localhost:9/.well-known/openid-configuration"\n',
        encoding="utf-8",
    )
    with ScoreServer(
        folder,
        review_set=write_models(folder / "set"),
        environment={"REXVIEW_PEOPLE": json.dumps(PEOPLE)},
        options={"secrets.files": str(secrets)},
    ) as server:
        yield server


@pytest.fixture
def history(team):
    """Return what was written since the test began: person, kind, case, model, value."""

    def read():
        every = open_reviews(team.review_set, team.settings).history()[::-1]
        close_databases()
        return every

    begun = len(read())
    return lambda: read()[begun:]


@pytest.fixture
def enter(team):
    """Return a function that opens a session of somebody, or of a stranger."""
    with ExitStack() as hands:

        def open_session(email=None, **more):
            cookie = email and user_cookie(team.url, email)
            return hands.enter_context(Hand(team.url, cookie, **more))

        yield open_session


def record(team, person, **entry):
    """Write a comment as the Case page does; return its id."""
    comment = str(uuid4())
    open_reviews(team.review_set, team.settings).record(
        [Entry("comment", subject=comment, via="case page", **entry)], person
    )
    close_databases()
    return comment


def found(hand):
    words = hand.words()
    return [word for word in HIDDEN if word in words]


def panel(hand):
    return data_of(hand.component("rexview_comments"))


def say(hand, **message):
    """Send what the panel of comments would, and return why it was not taken: "" if it was."""
    whole = {"token": str(uuid4()), "comment": str(uuid4()), "case": "c1", "kind": "write"}
    whole |= {"text": "Mine", **message}
    hand.rerun("score", query="case=c1")
    spot, targets = whole.get("spot", {}), panel(hand)["targets"]
    shown = {one["key"]: one["shown"] for one in targets}
    if spot.get("key") in shown:
        spot.setdefault("shown", shown[spot["key"]])
    entry = comment_entry("score page", {**whole, "spot": spot})
    told = hand.post(panel(hand)["outbox"], entry)
    hand.rerun("score", query="case=c1")
    return "" if entry["token"] in told["saved"] else told["refused"][entry["token"]]


def test_pages_of_others_asked_for_by_hand_give_nothing(team, enter):
    lead = enter(LEA).rerun("case", query="case=c1")
    assert {*MODELS, *MODELS.values()} <= set(found(lead)), "the search finds what is there"
    scripts, fragments, session = lead.scripts(), lead.fragments(), lead.session()
    assert fragments
    query = "case=c1&show=*&as=table"
    for email in (ANNA, None):
        hand = enter(email)
        for name, script in scripts.items():
            hand.rerun(script=script, query=query)
            hand.rerun(name, query=query)
        for fragment in fragments:
            hand.rerun(fragment=fragment, script=scripts["case"], patience_s=0.5)
        for fragment in hand.rerun("score").fragments():
            hand.rerun("case", query=query, fragment=fragment)
        other = enter(email, session=session).rerun("case", query=query)
        assert other.session() != session
        assert not found(hand) + found(other)


def test_a_covered_name_cannot_be_guessed_by_commenting_on_it(team, enter, history):
    anna = enter(ANNA)
    refused = {
        say(anna, spot={"key": slot, "quote": guess, "before": 4})
        for slot in "AB"
        for guess in (*MODELS.values(), "Zephyrion", "Large does", "Another")
    }
    assert refused == {"The words that you selected are not in the answer."}
    assert not history()
    assert say(anna, spot={"key": "A", "quote": "as [model] does", "before": 3}) == ""
    assert say(anna, spot={"key": "A", "quote": "It is", "before": 6}) == ""
    first, second = history()
    assert first.value["on"]["text"] == f"as {MODELS[first.model]} does"
    text, on = TEXTS[second.model], second.value["on"]
    assert text[on["start"] : on["end"]] == on["text"] == "It is"
    shown = panel(anna)["comments"]
    assert [one["quote"] for one in shown] == ["as [model] does", "It is"]
    assert [one["words"] for one in shown] == [["as", "model", "does"], ["It", "is"]]
    assert not found(anna)


def test_what_others_said_is_neither_shown_nor_changed(team, enter, history):
    value = {"text": "Talkwords", "on": {"what": "answer"}, "reply_to": None}
    theirs = record(
        team, Person(LEA, "Lea Lead", "lead"), case="c1", model="quokkanet", value=value
    )
    anna = enter(ANNA)
    for message in (
        {"comment": theirs},
        {"comment": theirs, "spot": {"key": "A"}},
        {"comment": theirs, "kind": "remove"},
        {"comment": theirs, "kind": "resolve", "resolved": True},
        {"replyTo": theirs},
        {"case": "c2", "spot": {"key": "A"}},
        {"spot": {"key": "quokkanet"}},
    ):
        assert say(anna, **message)
    for kind in ("assign", "adjudicate", "score", "name"):
        say(anna, kind=kind, text="Lea Lead")
    assert [row.person for row in history()] == [LEA]
    assert not found(anna)


def test_who_was_lead_and_now_reads_is_not_shown_their_own_words_with_names(team, enter, history):
    text = TEXTS["zephyrion"]
    start = text.index("Zephyrion")
    where = {"field": "text", "start": start, "end": start + 9, "text": "Zephyrion"}
    on = {"what": "span", **where}
    value = {"text": "Zephyrion is wrong", "on": on, "reply_to": None}
    once = Person("r-anna", "Anna Reader", "lead")
    earlier = record(team, once, case="c1", model="zephyrion", value=value)
    anna = enter(ANNA)
    told = {say(anna, comment=earlier, spot={"key": slot}) for slot in "AB"}
    assert told == {"The comment no longer exists."}, "which answer it was on is not told"
    assert earlier not in {one["id"] for one in panel(anna)["comments"]}
    assert len(history()) == 1
    assert not found(anna)


def test_charts_do_not_outlive_the_sign_in(team, enter):
    cookie = user_cookie(team.url, VERA)
    with Hand(team.url, cookie) as charts, Hand(team.url, cookie) as account:
        fragments = charts.rerun("scores").fragments()
        assert fragments
        charts.frames.clear()
        for fragment in fragments:
            charts.rerun("scores", fragment=fragment)
        assert "Quokkanet" in charts.words()
        account.rerun("account")
        (sign_out,) = [one.id for one in account.elements("button") if one.label == "Sign out"]
        account.rerun("account", widgets=[(sign_out, "trigger_value", True)])
        charts.frames.clear()
        for fragment in fragments:
            charts.rerun("scores", fragment=fragment)
        assert "You are not signed in" in charts.words()
        assert not found(charts)


def test_a_comment_does_not_go_to_another_answer_than_the_one_shown(team, enter, history):
    anna = enter(ANNA)
    anna.rerun("score", query="case=c1")
    names = {one["key"]: one["shown"] for one in panel(anna)["targets"]}
    file = team.review_set.folder / "answers.jsonl"
    before = file.read_text(encoding="utf-8")
    try:
        file.write_text(before.replace("It is on the left", "It is on the right"), encoding="utf-8")
        for slot, shown in names.items():
            told = say(anna, spot={"key": slot, "shown": shown})
            assert told.startswith("The answers were changed")
        assert not history()
        assert say(anna, spot={"key": "A"}) == ""
    finally:
        file.write_text(before, encoding="utf-8")
