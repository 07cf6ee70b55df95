"""Rankings of many models: what is shown at first."""

from __future__ import annotations

import pytest

from rexview.analysis.ranking import (
    MAX_UNRANKED,
    SHOWN_AT_EACH_END,
    rank_for_display,
    rank_in_each_group,
)

NAMES = tuple(f"m{number}" for number in range(30))


def value(name: str) -> float:
    return float(name[1:])


@pytest.mark.parametrize("count", [0, 1, MAX_UNRANKED])
def test_few_stay_whole_and_in_their_order(count: int) -> None:
    ranking = rank_for_display(NAMES[:count], value)
    assert ranking.order == ranking.shown == NAMES[:count]
    assert not ranking.is_cut
    assert ranking.sentence("Content") == ""


def test_of_many_the_best_and_the_worst_come_first_and_last() -> None:
    ranking = rank_for_display(NAMES, value)
    assert ranking.order == NAMES[::-1]
    assert ranking.shown == ("m29", "m28", "m27", "m2", "m1", "m0")
    assert "first 3 and the last 3 of 30 models, ranked by Content" in ranking.sentence("Content")


def test_no_unknown_value_takes_the_place_of_the_worst() -> None:
    ranking = rank_for_display(NAMES, lambda name: None if value(name) < 20 else value(name))
    assert ranking.shown == ("m29", "m28", "m27", "m22", "m21", "m20")
    assert ranking.order[10:] == NAMES[:20]


@pytest.mark.parametrize("known", range(2 * SHOWN_AT_EACH_END))
def test_where_few_values_are_known_as_many_are_shown(known: int) -> None:
    ranking = rank_for_display(NAMES, lambda name: value(name) if value(name) < known else None)
    assert len(ranking.shown) == 2 * SHOWN_AT_EACH_END
    assert ranking.shown[:known] == NAMES[:known][::-1]


def test_equal_values_keep_their_order() -> None:
    assert rank_for_display(NAMES, lambda _: 1.0).order == NAMES
    assert rank_in_each_group(NAMES).is_cut
    assert not rank_in_each_group(NAMES[:MAX_UNRANKED]).is_cut
