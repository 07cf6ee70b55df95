"""A filter with one condition more, and conditions that exclude each other."""

from __future__ import annotations

from rexview.analysis import CaseFilter, NumberRange
from rexview.analysis.query.filter.linked_count import (
    ANY_NUMBER,
    LOW_SCORE_RANGE,
    PERFECT_SCORE_RANGE,
    refine_filter,
)


def test_conditions_are_added_to_what_limits_already() -> None:
    base = CaseFilter(sites=("North",), process=NumberRange(2, None))
    found = refine_filter(base, models="g", process=LOW_SCORE_RANGE)
    assert found == CaseFilter(sites=("North",), models=("g",), process=NumberRange(2, 2.999))


def test_asking_for_any_number_leaves_a_range_alone() -> None:
    assert refine_filter(CaseFilter(gap=NumberRange(1, 2)), gap=ANY_NUMBER) == CaseFilter(
        gap=NumberRange(1, 2)
    )
    assert refine_filter(CaseFilter(), gap=ANY_NUMBER) == CaseFilter(gap=NumberRange())


def test_conditions_that_exclude_each_other_open_nothing() -> None:
    assert (
        refine_filter(CaseFilter(content=NumberRange(None, 4)), content=PERFECT_SCORE_RANGE) is None
    )
    assert refine_filter(CaseFilter(models=("g",)), models="m") is None


def test_of_a_list_the_common_words_are_left() -> None:
    base = CaseFilter(statuses=("empty", "answered"))
    assert refine_filter(base, statuses=("token_limit", "empty")) == CaseFilter(statuses=("empty",))


def test_a_tag_takes_the_place_of_those_with_its_name() -> None:
    base = CaseFilter(tags=("region:Lung", "region:Pleura", "side:Left"))
    found = refine_filter(base, tags="region:Lung")
    assert found == CaseFilter(tags=("side:Left", "region:Lung"))
