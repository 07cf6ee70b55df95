"""The Adjudicate page shows both scores without names and records what was agreed."""

import json
from uuid import uuid4

import pytest
from support.entries.sent import post
from support.page_text import components, drawn, shown

from rexview.analysis.query.memory.study_engine import list_required_scores
from rexview.errors import StoreFull
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, Reviews, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.access import permissions
from rexview.ui.web.server import server_state

ANN, BOB = Person("ann", "Ann A.", "lead"), Person("bob", "Bob B.", "lead")
EVE = Person("eve", "Eve E.", "adjudicator")


def score(value, comment=None, dimension="process", model="m", case="c1"):
    return Entry("score", case, model, dimension, value={"score": value, "comment": comment})


@pytest.fixture
def kept(open_app, review_folder, monkeypatch):
    """The reviews database, in which Ann and Bob differ; Eve is at the page."""

    def reviews():
        return open_reviews(load_review_set(review_folder), server_state.settings())

    review_set = load_review_set(review_folder)
    to_score = list_required_scores(review_set).to_dicts()
    before = open_reviews(review_set, server_state.settings())
    first = [score(5, "Fine, said <i>Model M</i>."), score(4, case="c2")]
    second = [score(2), score(1, "Wrong side.", case="c2")]
    for person, told in ((ANN, first), (BOB, second)):
        rest = [
            score(3, dimension=item["dimension"], model=item["model"], case=item["case"])
            for item in to_score
            if item["dimension"] != "process" and item["case"] in ("c1", "c2")
        ]
        before.record([*told, *rest], person)
    monkeypatch.setattr(permissions, "current_person", lambda: EVE)
    monkeypatch.setattr(permissions, "current_role", lambda: "adjudicator")
    yield reviews
    close_databases()


def test_scores_stand_side_by_side_without_names(open_app, kept):
    app = open_app("adjudicate", case="c1")
    text = shown(app)
    for part in ("Reader 1", "Reader 2", "Reader 3", "Fine, said", "3 apart", "Answer ", "1 of 2"):
        assert part in text.replace("<b>", "").replace("</b>", ""), part
    told = text + json.dumps(components(app))
    for hidden in ("Model M", "Ann A.", "Bob B.", "Reader A", "<i>Model"):
        assert hidden not in told, hidden


def test_a_case_that_a_reader_has_not_finished_is_not_offered(open_app, kept):
    kept().record([score(None, dimension="language", case="c2")], BOB)
    text = shown(open_app("adjudicate")).replace("<b>", "").replace("</b>", "")
    assert "1 of 1" in text
    assert "Wrong side." not in text


def fields(app):
    """What the fields for the one consensus of the case are given."""
    (found,) = [one for one in components(app) if "stands" in one]
    return found


def send(app, score=None, comment=None, *, data=None):
    """Give a consensus as the fields do: on what they were given, or on what is on the page now."""
    data = data or fields(app)
    entry = {
        **data["about"],
        "token": str(uuid4()),
        "page": "adjudicate page",
        "kind": "adjudicate",
        "value": {"score": score, "comment": comment},
        "was": data["stands"],
        "seen": data["revision"],
    }
    return entry, *post(data["outbox"], entry)


def test_a_consensus_is_recorded_beside_the_scores(open_app, kept):
    before = kept().scores()
    app = open_app("adjudicate", case="c2")
    send(app, 2)
    send(app.run(), 2, "Side is wrong. <b>Agreed.</b>")
    app.run()
    assert not app.exception
    (row,) = kept().adjudications().iter_rows(named=True)
    assert (row["case"], row["model"], row["dimension"]) == ("c2", "m", "process")
    assert (row["score"], row["comment"]) == (2, "Side is wrong. <b>Agreed.</b>")
    assert row["adjudicator"] == "eve"
    assert kept().scores().equals(before)
    assert "1 settled" in shown(app)
    assert fields(app)["saved"].startswith("Saved")
    app.button(key="adjudicate_next_open").click().run()
    assert app.query_params["case"] in ("c1", ["c1"])
    text = shown(open_app("case", case="c2"))
    assert "Consensus</th>" in text
    assert "Side is wrong. &lt;b&gt;Agreed" in text


def test_what_cannot_be_saved_is_told_and_saved_later(open_app, kept, monkeypatch):
    app = open_app("adjudicate", case="c2")
    full = StoreFull("The disk is full; nothing was written.", "Make room on it.")

    def fail(*_):
        raise full

    with monkeypatch.context() as broken:
        broken.setattr(Reviews, "record", fail)
        entry, told, status = send(app, 3)
    assert (status, told["error"]) == (503, str(full))
    assert post(fields(app)["outbox"], entry)[0]["saved"] == [entry["token"]]
    assert kept().adjudications()["score"].to_list() == [3]


def agree(kept, value, comment=None, person=ANN, case="c2"):
    value = {"score": value, "comment": comment}
    kept().record([Entry("adjudicate", case, "m", "process", value=value)], person)


def standing(kept):
    (row,) = kept().adjudications().iter_rows(named=True)
    return row["score"], row["comment"], row["adjudicator"]


def test_who_comes_second_is_told_and_keeps_theirs(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5, "Seen by <b>Model M</b>.")
    entry, told, _ = send(app, 2)
    assert list(told["replaced"]) == [entry["token"]]
    assert standing(kept) == (5, "Seen by <b>Model M</b>.", "ann"), "not written over unseen"
    other = fields(app.run())["other"]
    assert (other["name"], other["score"]) == ("Ann A.", 5)
    assert other["comment"].startswith("Seen by")
    assert "Model M" not in other["comment"] + shown(app)
    assert "Model M" not in fields(app)["fields"]["comment"], "nor in the field to be changed"
    assert other["at"].endswith("UTC")
    assert send(app, 2, "But the side is wrong.")[1]["saved"], "the page has shown it now"
    assert standing(kept) == (2, "But the side is wrong.", "eve")
    assert fields(app.run())["other"] is None
    given = kept().history(kind="adjudicate")
    assert [row.value["score"] for row in given] == [2, 5], "both are in the history"
    assert given[0].previous == given[1].value


def of_browser(app):
    """All that the page gives to a browser, as one text."""
    given = [str(one.proto) for one in app.get("bidi_component")]
    return shown(app) + "".join(given)


NAMED = "Seen by <b>Model M</b>, and by Model M alone."
COVERED = "Seen by <b>[model]</b>, and by [model] alone."


def test_words_of_another_reach_the_browser_only_with_the_names_covered(open_app, kept):
    agree(kept, 5, NAMED)
    app = open_app("adjudicate", case="c2")
    for place in ("stands", "fields", "other"):
        assert fields(app)[place]["comment"] == COVERED, place
    assert "Model M" not in of_browser(app)


def test_words_of_another_stay_as_they_were_where_only_the_score_is_changed(open_app, kept):
    """Also when it is changed again, and by the first writer; the page goes on covering them."""
    agree(kept, 5, NAMED)
    app = open_app("adjudicate", case="c2")
    before = fields(app)
    assert send(app, 4, COVERED)[1]["saved"]
    assert standing(kept) == (4, NAMED, "eve")
    on_top = {**before, "stands": {"score": 4, "comment": COVERED}}
    assert send(app, 3, COVERED, data=on_top)[1]["saved"], "before the page was shown anew"
    assert standing(kept) == (3, NAMED, "eve")
    now = fields(app.run())
    assert now["mine"]
    assert now["fields"] == now["stands"] == {"score": 3, "comment": COVERED}
    assert "Model M" not in of_browser(app), "they are not Eve's words"
    assert send(app, 3, "In my own words.")[1]["saved"]
    assert standing(kept) == (3, "In my own words.", "eve")
    assert send(app.run(), 2, COVERED)[1]["saved"], "kept in another window, and given after all"
    assert standing(kept) == (2, NAMED, "eve")


def test_ones_own_words_stay_readable(open_app, kept):
    app = open_app("adjudicate", case="c2")
    send(app, 2, "[model] is what they call Model M.")
    assert standing(kept)[1] == "[model] is what they call Model M."
    assert fields(app.run())["fields"]["comment"] == "[model] is what they call Model M."
    assert send(app, 3, "[model] is what they call Model M.")[1]["saved"]
    assert standing(kept) == (3, "[model] is what they call Model M.", "eve")


@pytest.mark.parametrize("seen", [0, 1_000_000])
@pytest.mark.parametrize("guess", ["Seen by Model M.", "Seen by Model N."])
def test_what_is_covered_is_not_found_by_guessing(open_app, kept, guess, seen):
    """A right guess and a wrong one are answered alike, and look alike when they stand."""
    app = open_app("adjudicate", case="c2")
    agree(kept, 5, "Seen by Model M.")
    data = {**fields(app), "revision": seen}
    guessed = {**data, "stands": {"score": 5, "comment": guess}}
    for score, given in ((5, data), (4, guessed)):
        entry, told, _ = send(app, score, guess, data=given)
        assert told["replaced"] == {entry["token"]: {}}
    assert send(app.run(), 5, guess)[1]["saved"]
    assert fields(app.run())["stands"] == {"score": 5, "comment": "Seen by [model]."}


def test_a_third_consensus_is_told_too(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5)
    send(app, 2)
    before = fields(app.run())
    agree(kept, 3, person=BOB)
    assert send(app, 2, data=before)[1]["replaced"]
    assert standing(kept) == (3, None, "bob")
    assert fields(app.run())["other"]["name"] == "Bob B."
    assert send(app, 2)[1]["saved"]
    assert standing(kept) == (2, None, "eve")


def test_a_consensus_that_comes_between_the_look_and_the_write_is_not_lost(
    open_app, kept, monkeypatch
):
    """The race: the other's entry is written after the route has looked, just before its own."""
    app = open_app("adjudicate", case="c2")
    record = Reviews.record

    def late(self, entries, person):
        monkeypatch.setattr(Reviews, "record", record)
        agree(kept, 5)
        return record(self, entries, person)

    monkeypatch.setattr(Reviews, "record", late)
    assert send(app, 2)[1]["replaced"]
    assert standing(kept) == (5, None, "ann")
    assert fields(app.run())["other"]["name"] == "Ann A."


def test_what_the_page_has_shown_is_changed_without_a_question(open_app, kept):
    agree(kept, 5, "Fine.")
    app = open_app("adjudicate", case="c2")
    assert fields(app)["fields"] == {"score": 5, "comment": "Fine."}
    before = fields(app)
    assert send(app, 4, "Fine.")[1]["saved"]
    assert standing(kept) == (4, "Fine.", "eve")
    chain = {**before, "stands": {"score": 4, "comment": "Fine."}}
    assert send(app, 3, "Fine.", data=chain)[1]["saved"], "on top of one's own"
    assert standing(kept) == (3, "Fine.", "eve")


def test_a_consensus_on_an_earlier_answer_is_known_and_not_shown(open_app, kept, review_folder):
    agree(kept, 5, "Fine.")
    file = review_folder / "answers.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"No effusion', '"Now no effusion'), encoding="utf-8")
    required = list_required_scores(load_review_set(review_folder)).filter(case="c2")["dimension"]
    for person, value in ((ANN, 4), (BOB, 1)):
        given = {name: value if name == "process" else 3 for name in required}
        every = [score(one, dimension=name, case="c2") for name, one in given.items()]
        kept().record(every, person)
    app = open_app("adjudicate", case="c2")
    data = fields(app)
    assert data["fields"] == {"score": None, "comment": None}
    assert data["stands"] == {"score": 5, "comment": "Fine."}
    assert send(app, 2)[1]["saved"]


def test_only_answers_as_they_are_get_a_consensus(open_app, kept):
    app = open_app("adjudicate", case="c2")
    data = fields(app)
    for wrong in ({"slot": "m"}, {"slot": None}, {"shown": "x"}, {"case": "c9"}):
        entry, told, _ = send(app, 2, data={**data, "about": {**data["about"], **wrong}})
        assert list(told["refused"]) == [entry["token"]]
    assert not kept().history(kind="adjudicate")


def test_the_threshold_can_be_chosen(open_app, kept):
    app = open_app("adjudicate")
    app.number_input(key="adjudicate_apart").set_value(4.0).run()
    assert "No case has two readers 4 points" in shown(app)
    assert not app.exception


def test_viewers_do_not_adjudicate(open_app, kept, monkeypatch):
    app = open_app("adjudicate", case="c1")
    assert "Wrong side." in shown(app.run()) or "Fine, said" in shown(app)
    monkeypatch.setattr(permissions, "current_role", lambda: "viewer")
    text = shown(app.run())
    assert "does not include this page" in text
    assert "Fine, said" not in text


def test_the_readers_page_tells_what_was_adjudicated(open_app, kept):
    value = {"score": 3, "comment": "Agreed."}
    kept().record([Entry("adjudicate", "c2", "m", "process", value=value)], EVE)
    html = drawn(open_app("readers", pair=["ann", "bob"]))
    assert "adjudicated: <b>3</b>" in html
    assert html.count("adjudicated:") == 1
