"""Words that somebody chose on screen are found in the source; comments are counted by case."""

from datetime import UTC, datetime

import pytest

from rexview.analysis.case.comments import (
    CommentCount,
    count_comments_by_case,
    find_quote,
    find_quote_index,
    screen_words,
)
from rexview.store import Comment

TEXT = """## Findings
1. **Left** effusion, *small*.
2. No effusion on the right.

| side | effusion |
|------|----------|
| left | small    |
"""


@pytest.mark.parametrize(
    ("quote", "before", "found"),
    [
        ("Left effusion", 1, "Left** effusion"),
        ("effusion, small", 2, "effusion, *small"),
        ("effusion", 2, "effusion"),
        ("left\tsmall", 12, "left | small"),
        ("small.\nNo effusion", 3, "small*.\n2. No effusion"),
        ("Findings", 0, "Findings"),
        ("fusion", 0, None),
        ("", 0, None),
        ("**", 0, None),
    ],
)
def test_words_on_screen_are_found_in_the_source(quote, before, found):
    place = find_quote(TEXT, quote, before)
    assert (place and TEXT[place.start : place.end]) == found


def test_of_several_places_the_nearest_is_meant():
    starts = [
        place.start for before in (2, 5, 10) if (place := find_quote(TEXT, "effusion", before))
    ]
    assert starts == sorted(set(starts))
    for nth, before in enumerate((2, 5, 10)):
        place = find_quote(TEXT, "effusion", before)
        assert place.nth == nth
        assert find_quote_index(TEXT, place.start, place.end) == nth


def test_words_across_items_of_a_list_are_those_on_screen():
    place = find_quote(TEXT, "small.\nNo effusion", 3)
    words = TEXT[place.start : place.end]
    assert screen_words(words) == ["small", "No", "effusion"]
    assert find_quote_index(TEXT, place.start, place.end) == 0


def comment(name, case="c1", reply_to=None, resolved=False):
    at = datetime(2026, 3, 1, tzinfo=UTC)
    on = {"what": "case"}
    return Comment(name, case, None, "ann", "Ann", at, None, "x", on, reply_to, resolved, None)


def test_threads_count_once_as_unresolved():
    found = count_comments_by_case(
        [
            comment("a"),
            comment("b", reply_to="a"),
            comment("c", resolved=True),
            comment("d", case="c2", resolved=True),
            comment("e", case="c3", reply_to="gone"),
        ]
    )
    assert found == {
        "c1": CommentCount(3, 1),
        "c2": CommentCount(1, 0),
        "c3": CommentCount(1, 1),
    }
