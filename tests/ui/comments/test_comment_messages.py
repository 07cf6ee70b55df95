"""What a browser sends as comments is checked before anything is made of it."""

import json
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from rexview.ui.comments import Spot, read_messages
from rexview.ui.comments.messages import MOST


def message(**changes):
    whole = {"token": str(uuid4()), "kind": "write", "case": "c1", "comment": str(uuid4())}
    return {**whole, "text": "x", **changes}


def test_a_message_is_read():
    (one,) = read_messages(
        {"messages": [message(spot={"key": "m", "quote": "left", "before": 2}, replyTo="r")]}
    )
    assert (one.kind, one.case, one.text, one.reply_to) == ("write", "c1", "x", "r")
    assert one.spot == Spot("m", None, "left", 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "score"},
        {"kind": ["write"]},
        {"token": "no uuid"},
        {"comment": None},
        {"comment": "../x"},
    ],
)
def test_what_is_no_message_is_left_out(wrong):
    good = message()
    found = read_messages({"messages": [message(**wrong), good, 7, None]})
    assert [one.token for one in found] == [good["token"]]


@pytest.mark.parametrize("box", [-1, True, 1.5, "1", 10**9, None])
def test_a_box_is_a_small_whole_number(box):
    (one,) = read_messages({"messages": [message(spot={"key": "m", "box": box})]})
    assert one.spot.box is None


def test_not_all_at_once():
    assert len(read_messages({"messages": [message() for _ in range(MOST + 5)]})) == MOST


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
)


@settings(max_examples=60, deadline=None)
@given(JSON, some.dictionaries(some.sampled_from(["spot", "text", "case", "replyTo"]), JSON))
def test_anything_at_all_is_read_without_trouble(anything, changes):
    read_messages(anything)
    found = read_messages({"messages": [message(**changes)]})
    assert len(found) == 1
    json.dumps([found[0].text, found[0].case, found[0].reply_to])
