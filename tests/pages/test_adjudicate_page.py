"""The Adjudicate page shows both scores without names and records what was agreed."""

import json
import re

import pytest
from support.page_text import drawn, shown

from rexview.analysis.study.worklist import required_scores
from rexview.errors import StoreFull
from rexview.people import Person
from rexview.reviewset import load
from rexview.store import Entry, Reviews, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.access import permissions
from rexview.ui.server import server_state

ANN, BOB = Person("ann", "Ann A.", "lead"), Person("bob", "Bob B.", "lead")
EVE = Person("eve", "Eve E.", "adjudicator")


def score(value, comment=None, dimension="process", model="m", case="c1"):
    return Entry("score", case, model, dimension, value={"score": value, "comment": comment})


@pytest.fixture
def kept(open_app, review_folder, monkeypatch):
    """The reviews database, in which Ann and Bob differ; Eve is at the page."""

    def reviews():
        return open_reviews(load(review_folder), server_state.settings())

    first = [score(5, "Fine, said <i>Model M</i>."), score(4, case="c2")]
    second = [score(2), score(1, "Wrong side.", case="c2")]
    for person, told in ((ANN, first), (BOB, second)):
        rest = [
            score(3, dimension=item["dimension"], model=item["model"], case=item["case"])
            for item in required_scores(load(review_folder)).iter_rows(named=True)
            if item["dimension"] != "process" and item["case"] in ("c1", "c2")
        ]
        reviews().record([*told, *rest], person)
    monkeypatch.setattr(permissions, "current", lambda: EVE)
    monkeypatch.setattr(permissions, "role", lambda: "adjudicator")
    yield reviews
    close_databases()


def test_scores_stand_side_by_side_without_names(open_app, kept):
    app = open_app("adjudicate", case="c1")
    text = shown(app)
    for part in ("Reader 1", "Reader 2", "Reader 3", "Fine, said", "3 apart", "Answer ", "1 of 2"):
        assert part in text.replace("<b>", "").replace("</b>", ""), part
    told = text + json.dumps([json.loads(one.proto.json) for one in app.get("bidi_component")])
    for hidden in ("Model M", "Ann A.", "Bob B.", "Reader A", "<i>Model"):
        assert hidden not in told, hidden


def test_a_case_that_a_reader_has_not_finished_is_not_offered(open_app, kept):
    kept().record([score(None, dimension="language", case="c2")], BOB)
    text = shown(open_app("adjudicate")).replace("<b>", "").replace("</b>", "")
    assert "1 of 1" in text
    assert "Wrong side." not in text


def controls(app):
    (choice,) = [one for one in app.get("button_group") if one.label == "Consensus"]
    (words,) = [one for one in app.text_area if one.label == "Why"]
    return choice, words


def test_a_consensus_is_recorded_beside_the_scores(open_app, kept):
    before = kept().scores()
    app = open_app("adjudicate", case="c2")
    controls(app)[0].set_value(2).run()
    controls(app)[1].set_value("Side is wrong. <b>Agreed.</b>").run()
    assert not app.exception
    (row,) = kept().adjudications().iter_rows(named=True)
    assert (row["case"], row["model"], row["dimension"]) == ("c2", "m", "process")
    assert (row["score"], row["comment"]) == (2, "Side is wrong. <b>Agreed.</b>")
    assert row["adjudicator"] == "eve"
    assert kept().scores().equals(before)
    assert "1 settled" in shown(app)
    assert "Saved" in shown(app)
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
        controls(app)[0].set_value(3).run()
        assert "not saved yet" in shown(app)
        assert "waits in this tab only" in shown(app)
    app.button(key="adjudicate_again").click().run()
    assert "not saved yet" not in shown(app)
    assert kept().adjudications()["score"].to_list() == [3]


def agree(kept, value, comment=None, person=ANN, case="c2"):
    value = {"score": value, "comment": comment}
    kept().record([Entry("adjudicate", case, "m", "process", value=value)], person)


def standing(kept):
    (row,) = kept().adjudications().iter_rows(named=True)
    return row["score"], row["comment"], row["adjudicator"]


def button(app, name):
    (found,) = [one for one in app.button if one.label == name]
    return found


def told(app):
    """What the page shows, without the escapes of its markdown."""
    return re.sub(r"\\(.)", r"\1", shown(app))


def fields(app):
    choice, words = controls(app)
    return choice.value, words.value


def test_who_comes_second_is_told_and_keeps_theirs(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5, "Seen by <b>Model M</b>.")
    controls(app)[0].set_value(2).run()
    assert standing(kept) == (5, "Seen by <b>Model M</b>.", "ann"), "not written over unseen"
    text = told(app)
    assert "Ann A. recorded **5**, “Seen by" in text
    assert "UTC, after this page was shown. Yours is not saved" in text
    assert "Model M" not in text
    controls(app)[1].set_value("But the side is wrong.").run()
    assert standing(kept)[2] == "ann"
    assert fields(app) == (2, "But the side is wrong.")
    button(app, "Keep mine").click().run()
    assert standing(kept) == (2, "But the side is wrong.", "eve")
    assert "after this page was shown" not in shown(app)
    given = kept().history(kind="adjudicate")
    assert [row.value["score"] for row in given] == [2, 5], "both are in the history"
    assert given[0].previous == given[1].value


def test_who_comes_second_takes_the_others_and_loses_nothing(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5, "Fine.")
    controls(app)[0].set_value(2)
    controls(app)[1].set_value("Not so.").run()
    button(app, "Take theirs").click().run()
    assert fields(app) == (5, "Fine.")
    assert standing(kept) == (5, "Fine.", "ann")
    assert "Yours, not saved: **2**, “Not so.”" in told(app)
    button(app, "Use mine").click().run()
    assert fields(app) == (2, "Not so.")
    assert standing(kept) == (2, "Not so.", "eve")
    assert "Yours, not saved" not in shown(app)


def test_a_third_consensus_is_told_too(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5)
    controls(app)[0].set_value(2).run()
    agree(kept, 3, person=BOB)
    button(app, "Keep mine").click().run()
    assert standing(kept) == (3, None, "bob")
    assert "Bob B. recorded **3**" in told(app)
    button(app, "Keep mine").click().run()
    assert standing(kept) == (2, None, "eve")


def test_a_consensus_that_comes_between_the_look_and_the_write_is_not_lost(
    open_app, kept, monkeypatch
):
    """The race: the other's entry is written after the page has looked, just before its own."""
    app = open_app("adjudicate", case="c2")
    record = Reviews.record

    def late(self, entries, person):
        monkeypatch.setattr(Reviews, "record", record)
        agree(kept, 5)
        return record(self, entries, person)

    monkeypatch.setattr(Reviews, "record", late)
    controls(app)[0].set_value(2).run()
    assert standing(kept) == (5, None, "ann")
    assert "Ann A. recorded **5**" in told(app)
    assert fields(app) == (2, "")


def test_what_the_page_has_shown_is_changed_without_a_question(open_app, kept):
    agree(kept, 5, "Fine.")
    app = open_app("adjudicate", case="c2")
    assert fields(app) == (5, "Fine.")
    controls(app)[0].set_value(4).run()
    assert standing(kept) == (4, "Fine.", "eve")
    controls(app)[0].set_value(3).run()
    assert standing(kept) == (3, "Fine.", "eve")
    assert "after this page was shown" not in shown(app)


def test_words_are_not_taken_from_who_types_when_another_is_first(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5, "Fine.")
    app.run()
    assert "Ann A. recorded **5**, “Fine.”" in told(app)
    assert fields(app) == (None, ""), "what is typed there has not been sent yet"
    button(app, "Take theirs").click().run()
    assert fields(app) == (5, "Fine.")
    assert "Yours" not in shown(app)


def test_what_waits_on_another_case_is_told(open_app, kept):
    app = open_app("adjudicate", case="c2")
    agree(kept, 5)
    controls(app)[1].set_value("Typed, then left.")
    app.button(key="adjudicate_previous").click().run()
    assert app.query_params["case"] in ("c1", ["c1"])
    assert "Your consensus on c2 is not saved" in shown(app)
    button(app, "Go to c2").click().run()
    assert fields(app) == (None, "Typed, then left.")
    button(app, "Keep mine").click().run()
    assert standing(kept) == (None, "Typed, then left.", "eve")


def test_the_threshold_can_be_chosen(open_app, kept):
    app = open_app("adjudicate")
    app.number_input(key="adjudicate_apart").set_value(4.0).run()
    assert "No case has two readers 4 points" in shown(app)
    assert not app.exception


def test_viewers_do_not_adjudicate(open_app, kept, monkeypatch):
    app = open_app("adjudicate", case="c1")
    assert "Wrong side." in shown(app.run()) or "Fine, said" in shown(app)
    monkeypatch.setattr(permissions, "role", lambda: "viewer")
    text = shown(app.run())
    assert "does not include this page" in text
    assert "Fine, said" not in text


def test_the_readers_page_tells_what_was_adjudicated(open_app, kept):
    value = {"score": 3, "comment": "Agreed."}
    kept().record([Entry("adjudicate", "c2", "m", "process", value=value)], EVE)
    html = drawn(open_app("readers", pair=["ann", "bob"]))
    assert "adjudicated: <b>3</b>" in html
    assert html.count("adjudicated:") == 1
