"""Dealing cases to readers: nobody twice, everybody the same, always the same plan."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rexview.analysis.query.study_tasks import draw_second_reader_cases
from rexview.analysis.reader_assignment import find_withdrawable, plan_assignments
from rexview.store import Assignment

NOW = datetime(2026, 3, 1, tzinfo=UTC)
READERS = ["ann", "bob", "cem", "dee"]
STRATA = {f"c{number}": f"s{number % 3}" for number in range(40)}


def standing(plan):
    return [Assignment(one.case, one.reader, one.order, "lead", NOW) for one in plan.added]


def plan(strata=STRATA, before=(), *, first=READERS, second=READERS, share=0.25, seed=1):
    return plan_assignments(strata, before, first=first, second=second, share=share, seed=seed)


@given(
    strata=some.dictionaries(some.text("abc", min_size=1, max_size=4), some.sampled_from("xyz")),
    first=some.lists(some.sampled_from(READERS), unique=True),
    second=some.lists(some.sampled_from(READERS), unique=True),
    share=some.floats(0, 1),
    seed=some.integers(0, 5),
)
def test_every_case_once_and_nobody_twice_on_one(strata, first, second, share, seed):
    found = plan(strata, first=first, second=second, share=share, seed=seed)
    assert sorted(one.case for one in found.first) == (sorted(strata) if first else [])
    pairs = [(one.case, one.reader) for one in found.added]
    assert len(set(pairs)) == len(pairs)
    assert {one.reader for one in found.first} <= set(first)
    assert {one.reader for one in found.second} <= set(second)
    if first and second:
        drawn = draw_second_reader_cases(strata, share, seed=seed)
        got = [one.case for one in found.second]
        assert sorted([*got, *found.uncovered]) == sorted(drawn)
        if len(second) > 1:
            assert not found.uncovered
    loads = Counter(dict.fromkeys(first, 0))
    loads.update(one.reader for one in found.first)
    assert max(loads.values(), default=0) - min(loads.values(), default=0) <= 1
    again = plan(dict(reversed(strata.items())), first=first, second=second, share=share, seed=seed)
    assert set(again.first) == set(found.first), "the order of the cases does not matter"


def test_first_readers_share_every_stratum():
    found = plan(second=[])
    for stratum in ("s0", "s1", "s2"):
        loads = Counter(one.reader for one in found.first if STRATA[one.case] == stratum)
        assert max(loads.values()) - min(loads.values()) <= 1
    assert not found.second


def test_a_quarter_is_read_twice_and_another_seed_draws_others():
    found = plan()
    assert len(found.second) == 10
    cases = {one.case for one in found.second}
    of_strata = Counter(STRATA[case] for case in cases)
    assert all(abs(of_strata[name] - 10 * 13 / 40) < 1.1 for name in ("s0", "s1", "s2"))
    assert plan() == found
    assert {one.case for one in plan(seed=2).second} != cases


def test_what_stands_is_kept_and_only_added_to():
    found = plan(first=["ann", "bob"], second=["cem"])
    assert plan(before=standing(found)).added == (), "nothing is missing"
    more = {**STRATA, **{f"n{number}": "s1" for number in range(10)}}
    grown = plan(more, standing(found), first=["ann", "bob", "dee"], second=["cem"])
    assert {one.case for one in grown.first} == {f"n{number}" for number in range(10)}
    assert Counter(one.reader for one in grown.first)["dee"] >= 8, "who has least gets most"
    assert len(found.second) + len(grown.second) >= round(len(more) * 0.25)
    raised = plan(before=standing(found), first=[], second=["cem", "dee"], share=0.5)
    assert len(raised.second) == 10
    assert not {one.case for one in raised.second} & {one.case for one in found.second}
    assert not plan(before=standing(found), share=0.1).added, "a smaller share takes nothing back"


def test_nobody_is_second_to_themselves():
    found = plan(first=["ann"], second=["ann"])
    assert not found.second
    assert len(found.uncovered) == 10
    before = [Assignment("c1", "ann", "second", "lead", NOW)]
    (one,) = [one for one in plan(before=before, first=["ann", "bob"]).first if one.case == "c1"]
    assert one.reader == "bob"
    (left_out,) = set(STRATA) - {one.case for one in plan(before=before, first=["ann"]).first}
    assert left_out == "c1"


def test_a_second_reader_needs_a_first_one():
    assert plan(first=[], second=["ann"]).added == ()


@pytest.mark.parametrize("also_begun", [False, True])
def test_withdrawing_leaves_what_was_begun(also_begun):
    found = standing(plan(first=["ann", "bob"], second=["bob"]))
    own = [one for one in found if one.reader == "bob"]
    begun = {own[0].case, own[5].case}
    taken = find_withdrawable(found, "bob", begun, also_begun=also_begun)
    assert {one.reader for one in taken} == {"bob"}
    assert len(taken) == len(own) - (0 if also_begun else 2)
    assert {one.order for one in taken} == {"first", "second"}
