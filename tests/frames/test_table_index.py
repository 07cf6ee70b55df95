"""Cases and answers by id: found without a look at the others, whatever the ids are."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.frames import SharedIndex, TableIndex

IDS = ["c10", "c2", "ä", "", "Z", "c1", "\U0001f600", "\uffff"]


def index_of(ids, answers=()):
    cases = pl.DataFrame({"id": ids}, schema={"id": pl.String})
    schema = {"case": pl.String, "model": pl.String, "_newest": pl.Boolean, "text": pl.String}
    return TableIndex(cases, pl.DataFrame(list(answers), schema, orient="row"), ["m", "g"])


@given(st.lists(st.text(max_size=3), unique=True, max_size=30), st.text(max_size=3))
def test_every_case_is_found_and_nothing_else(ids, other):
    index = index_of(ids)
    assert [index.case_row(one) for one in ids] == list(range(len(ids)))
    assert index.case_row(other) == (ids.index(other) if other in ids else None)


@pytest.mark.parametrize("few", [0, 1000])
def test_many_cases_at_once(few, monkeypatch):
    monkeypatch.setattr("rexview.frames._SEARCH_UP_TO", few)
    found = index_of(IDS).case_rows(pl.Series(["Z", "none", None, "c1", "Z"], dtype=pl.String))
    assert sorted(found.iter_rows()) == [("Z", 4), ("c1", 5)]


def test_answers_are_in_the_order_of_models():
    rows = [
        ("c2", "g", True, "a"),
        ("c1", "x", True, "b"),
        ("c2", "m", False, "c"),
        ("c2", "m", True, "d"),
        ("c1", "m", True, "e"),
    ]
    index = index_of(["c1", "c2", "c3"], rows)
    assert index.models == ("m", "g", "x")
    assert index.answer_rows("c2") == [3, 0]
    assert index.answer_rows("c2", all_runs=True) == [2, 3, 0]
    assert index.answer_rows("c1", all_runs=True) == [4, 1]
    assert index.answer_rows("c3") == index.answer_rows("none") == []
    asked = pl.Series(["c2", "c3", "c1"], dtype=pl.String)
    assert sorted(index.answers_to(asked, ["text"])["text"]) == ["a", "b", "d", "e"]
    assert index.answers_to(asked.head(0), ["text"]).height == 0


def test_ids_that_are_missing_are_not_found():
    index = index_of(["b", None, "a"], [("a", None, True, "?"), (None, "m", True, "?")])
    assert [index.case_row(one) for one in ("a", "b", "c")] == [2, 0, None]
    assert index.answer_rows("a") == []


def test_states_of_a_set_share_one_index_and_other_tables_have_their_own():
    index = index_of(IDS)
    shared = SharedIndex(index)
    assert shared.of(index.cases, index.answers, ["m", "g"]) is index
    fewer = index.cases.head(2)
    assert shared.of(fewer, index.answers, ["m", "g"]).case_row("Z") is None
    assert shared.of(index.cases, index.answers, ["g"]).declared == ("g",)
    assert shared.of(index.cases, index.answers, ["m", "g"]) is index
