"""What a browser sends as comments is checked before anything is made of it."""

import json
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.entries.sent import comment_entry
from support.opened_app import opened_set
from support.small_set import write_set

from rexview.people import Person
from rexview.ui.comments.case_comments import case_targets
from rexview.ui.comments.case_comments import comment_entry as made
from rexview.ui.web.saving.entries import CASE_PAGE, EntryRefused, read_entry
from rexview.ui.web.saving.route import EntryWriter
from rexview.ui.web.server import review_sets

ANN = Person("ann", "Ann A.", "lead")


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.fixture
def make(review_set):
    """Return a function that makes the entry of what the panel sent."""

    def entry(message):
        targets = case_targets(review_set, "c1")
        spot = {"key": "m", "shown": targets.shown["m"], **message.pop("spot", {})}
        sent = read_entry(comment_entry(CASE_PAGE, {"kind": "write", "spot": spot, **message}))
        return made(sent, targets, review_sets.reviews(review_set), ANN)

    return entry


def message(**changes):
    return {"text": "x", **changes}


def test_a_message_is_read(make):
    entry = make(message(spot={"quote": "Left effusion", "before": 0}))
    assert (entry.kind, entry.case, entry.model, entry.via) == ("comment", "c1", "m", "case page")
    assert (entry.value["text"], entry.value["on"]["text"]) == ("x", "Left** effusion")


@pytest.mark.parametrize(
    "wrong", [{"kind": "score"}, {"kind": ["write"]}, {"subject": None}, {"subject": "../x"}]
)
def test_what_is_no_message_is_left_out(review_set, wrong):
    good = comment_entry(CASE_PAGE, {"kind": "write", "text": "x"})
    bad = {**comment_entry(CASE_PAGE, {"kind": "write", "text": "x"}), **wrong}
    writer = EntryWriter(review_set, review_sets.reviews(review_set), ANN)
    writer.write([read_entry(bad), read_entry(good)])
    assert writer.saved == [good["token"]]
    assert list(writer.refused) == [bad["token"]]


@pytest.mark.parametrize("box", [True, 1.5, "1", None])
def test_a_box_is_a_whole_number(make, box):
    assert make(message(spot={"box": box})).value["on"] == {"what": "answer"}


@pytest.mark.parametrize("box", [-1, 7, 10**9])
def test_a_box_is_one_of_the_answer(make, box):
    with pytest.raises(EntryRefused):
        make(message(spot={"box": box}))


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
)
NAMES = ["page", "slot", "shown", "subject", "picture", "field", "value", "was", "seen", "case"]


@given(JSON, some.dictionaries(some.sampled_from(NAMES), JSON))
def test_anything_at_all_is_read_without_trouble(anything, changes):
    whole = {"token": str(uuid4()), "case": "c1", "kind": "comment"}
    for raw in (anything, {**whole, **changes}):
        try:
            found = read_entry(raw)
        except ValueError:
            continue
        json.dumps([found.page, found.slot, found.subject, found.case, found.picture, found.seen])
