"""A filter with one condition more, and conditions that exclude each other."""

from __future__ import annotations

from rexview.analysis import CaseFilter, Range
from rexview.analysis.query.filter.linked_count import ANY, LOW, PERFECT, refined


def test_conditions_are_added_to_what_limits_already() -> None:
    base = CaseFilter(sites=("North",), process=Range(2, None))
    found = refined(base, models="g", process=LOW)
    assert found == CaseFilter(sites=("North",), models=("g",), process=Range(2, 2.999))


def test_asking_for_any_number_leaves_a_range_alone() -> None:
    assert refined(CaseFilter(gap=Range(1, 2)), gap=ANY) == CaseFilter(gap=Range(1, 2))
    assert refined(CaseFilter(), gap=ANY) == CaseFilter(gap=Range())


def test_conditions_that_exclude_each_other_open_nothing() -> None:
    assert refined(CaseFilter(content=Range(None, 4)), content=PERFECT) is None
    assert refined(CaseFilter(models=("g",)), models="m") is None


def test_of_a_list_the_common_words_are_left() -> None:
    base = CaseFilter(statuses=("empty", "answered"))
    assert refined(base, statuses=("token_limit", "empty")) == CaseFilter(statuses=("empty",))


def test_a_tag_takes_the_place_of_those_with_its_name() -> None:
    base = CaseFilter(tags=("region:Lung", "region:Pleura", "side:Left"))
    found = refined(base, tags="region:Lung")
    assert found == CaseFilter(tags=("side:Left", "region:Lung"))
