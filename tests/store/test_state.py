"""The current state is the newest entry of each thing; the history keeps all."""

import pytest
from support.entries.stored import ANN, BOB, EVE, comment, score, verdict

from rexview import frames
from rexview.people import Person
from rexview.store import Entry, open_reviews


def test_scores_have_the_columns_of_the_set(reviews):
    reviews.record([score(4, comment="A")], ANN)
    reviews.record([score(2)], BOB)
    reviews.record([score(5, comment="B"), score(1, dimension="image_content")], ANN)
    found = reviews.scores()
    assert found.schema == frames.SCORES
    kept = found.select("reader", "dimension", "score", "comment", "_origin").rows()
    assert sorted(kept, key=str) == [
        ("ann", "image_content", 1, None, "app"),
        ("ann", "process", 5, "B", "app"),
        ("bob", "process", 2, None, "app"),
    ]
    assert reviews.scores(reader="bob")["score"].to_list() == [2]


def test_what_was_taken_back_does_not_stand_but_is_in_the_history(reviews):
    reviews.record([score(4), verdict()], ANN)
    reviews.record([score(None), verdict(None)], ANN)
    assert reviews.scores().is_empty()
    assert reviews.flags().is_empty()
    assert len(reviews.history()) == 4


def test_a_comment_without_a_score_stands(reviews):
    reviews.record([score(None, comment="Cannot tell.")], ANN)
    assert reviews.scores().select("score", "comment").rows() == [(None, "Cannot tell.")]


def test_flags_have_the_columns_of_the_set(reviews):
    reviews.record([verdict("rejected", comment="No.")], ANN)
    found = reviews.flags()
    assert found.schema == frames.FLAGS
    kept = ("reader", "failure", "verdict", "comment", "_origin")
    assert found.select(kept).rows() == [("ann", "laterality_error", "rejected", "No.", "app")]


def test_there_is_one_consensus_whoever_wrote_it_last(reviews):
    first = Entry("adjudicate", "c1", "m", "process", value={"score": 2})
    second = Entry("adjudicate", "c1", "m", "process", value={"score": 3, "comment": "Agreed."})
    reviews.record([score(5)], BOB)
    reviews.record([first], EVE)
    (row,) = reviews.record([second], ANN)
    assert row.previous == {"score": 2, "comment": None}
    kept = reviews.adjudications().select("score", "comment", "adjudicator").rows()
    assert kept == [(3, "Agreed.", "ann")]
    assert reviews.scores()["score"].to_list() == [5], "the originals stay"


def test_assignments_can_be_ended(reviews):
    def assign(case, reader, order, active=True):
        return Entry("assign", case, None, reader, value={"as": order, "active": active})

    reviews.record([assign("c1", "bob", "first"), assign("c2", "bob", "second")], ANN)
    reviews.record([assign("c1", "eve", "second")], ANN)
    other = Person("zoe", "Zoe", "lead")
    reviews.record([assign("c2", "bob", "second", active=False)], other)
    assert [(one.case, one.order) for one in reviews.assignments("bob")] == [("c1", "first")]
    assert {one.reader for one in reviews.assignments()} == {"bob", "eve"}


def test_comments_with_replies_settled_and_removed(reviews):
    box = {"what": "box", "image": "i", "box": [5, 60, 30, 30]}
    reviews.record([comment("k1"), comment("k2", model="m", on=box)], ANN)
    reviews.record([comment("k3", "Yes.", reply_to="k1"), comment("k4", case="c2")], BOB)
    reviews.record([Entry("resolve", subject="k1", value={"resolved": True})], BOB)
    reviews.record([Entry("comment", "c1", "m", "k2")], ANN)
    found = {one.id: one for one in reviews.comments()}
    assert list(found) == ["k1", "k3", "k4"]
    assert found["k1"].resolved
    assert found["k1"].resolved_by == "bob"
    assert not found["k3"].resolved
    assert found["k3"].reply_to == "k1"
    assert [one.id for one in reviews.comments("c2")] == ["k4"]
    reviews.record([Entry("resolve", subject="k1", value={"resolved": False})], ANN)
    assert not reviews.comments("c1")[0].resolved


def test_where_a_comment_stands_comes_back(reviews):
    box = {"what": "box", "image": "i", "box": [5, 60.5, 30, 30]}
    span = {"what": "span", "field": "text", "start": 2, "end": 9, "text": "effusion"}
    reviews.record([comment("a", model="m", on=box), comment("b", model="m", on=span)], ANN)
    assert [one.on for one in reviews.comments()] == [box, span]


def test_skips_done_and_reveals_are_each_readers_own(reviews):
    skip = Entry("skip", "c1", value={"reason": "Blurred"})
    done = [Entry("done", "c1", value={"done": True}), Entry("done", "c2", value={"done": True})]
    reveal = [
        Entry("reveal", "c1", value={"what": "report"}),
        Entry("reveal", value={"what": "models"}),
    ]
    reviews.record([skip, *done, *reveal], BOB)
    reviews.record([Entry("done", "c2", value={"done": False})], BOB)
    assert reviews.skips("bob") == {"c1": "Blurred"}
    done = {row.case: row.value["done"] for row in reviews.current("done", person="bob")}
    assert done == {"c1": True, "c2": False}
    assert reviews.revealed("bob", "report") == {"c1"}
    assert reviews.revealed("bob", "models") == {None}
    reviews.record([Entry("skip", "c1")], BOB)
    assert reviews.skips("bob") == {}
    assert not reviews.skips("ann")
    assert not reviews.current("done", person="ann")
    assert not reviews.revealed("ann", "report")


def test_a_look_at_the_models_changes_no_revision_of_scores(reviews):
    reviews.record([score(4)], ANN)
    scored = reviews.revision(but="reveal")
    reviews.record([Entry("reveal", "c1", value={"what": "unblinded"})], ANN)
    assert reviews.revision(but="reveal") == scored < reviews.revision()
    value = {"what": "unblinded", "accepted": True}
    (row,) = reviews.record([Entry("reveal", "c1", value=value)], ANN)
    assert (row.subject, row.value, row.previous) == ("unblinded", value, {"what": "unblinded"})


def test_revisions_grow_and_the_history_has_what_came_after(reviews):
    assert reviews.revision() == 0
    (first,) = reviews.record([score(4)], ANN)
    before = reviews.revision()
    assert before == first.id
    second = reviews.record([score(3), score(2, dimension="language")], BOB)
    assert reviews.revision() == second[-1].id
    assert reviews.history() == (*reversed(second), first)


def test_the_history_can_be_narrowed(reviews):
    reviews.record([score(4), score(3, case="c2"), verdict()], ANN)
    reviews.record([score(1)], BOB)
    assert len(reviews.history()) == 4
    assert len(reviews.history(case="c1", kind="score")) == 2
    assert [row.person for row in reviews.history(person="bob")] == ["bob"]
    assert reviews.history(limit=1)[0].person == "bob", "newest first"


def test_people_go_by_their_newest_name(reviews):
    reviews.record([score(4)], ANN)
    reviews.record([score(3)], Person("ann", "Ann Married", "reader"))
    reviews.record([score(3)], BOB)
    assert reviews.people() == {"ann": Person("ann", "Ann Married", "reader"), "bob": BOB}
    assert [row.person_name for row in reviews.history(person="ann")] == ["Ann Married", "Ann A."]


def test_two_openings_see_the_same(reviews, review_set, settings):
    other = open_reviews(review_set, settings)
    reviews.record([score(4)], ANN)
    assert other.scores()["score"].to_list() == [4]
    other.record([score(2)], ANN)
    assert reviews.scores()["score"].to_list() == [2]


@pytest.mark.parametrize("person", [ANN, BOB])
def test_what_one_wrote_can_be_asked_for(reviews, person):
    reviews.record([score(4)], ANN)
    reviews.record([score(2)], BOB)
    assert [row.person for row in reviews.current("score", person=person.id)] == [person.id]
    assert reviews.current("score", case="c2") == ()
