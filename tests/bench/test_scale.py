"""What a set costs as it grows, on sets that take no time."""

import json
from multiprocessing import get_context

import pytest

from bench import scale
from bench.measure import document
from bench.scale_parts import page_figures, pandas_figures

SIZES = (80, 240)
FLAGS = {"answers looked at for all failures, in a second", "flags known again after a restart"}


def with_imports_done(_how):
    """Let processes begin where the imports of all have been done: a third of what they cost."""
    begun = get_context("forkserver")
    begun.set_forkserver_preload(["bench.scale", "streamlit.testing.v1", "pandas"])
    return begun


@pytest.fixture(scope="module")
def measured():
    """All of the bench on small sets; that processes are begun anew is asked of pandas below."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scale, "get_context", with_imports_done)
        patch.setattr(scale, "MOST_FOR_PANDAS", 100)
        patch.setattr(scale, "MOST_LOOKED_AT", 100)
        return scale.run(answers=SIZES)


def test_every_size_is_measured_beside_the_smallest_set_and_pandas_as_far_as_it_goes(measured):
    for size, others in ((80, {"pandas", "the smallest set"}), (240, {"the smallest set"})):
        rows = [row for row in measured.rows if row.what.endswith(f", {size} answers")]
        assert len(rows) == len(scale._ASKED)
        without_flags = {row.what for row in rows if row.ours is None}
        assert {what.rpartition(", ")[0] for what in without_flags} == (
            set() if size == 80 else FLAGS
        )
        assert all(row.ours > 0 for row in rows if row.what not in without_flags)
        assert {row.name for row in rows if row.ratio is not None} == others
        assert all(row.met is not None for row in rows if row.goal and row.ours)


def test_cost_is_told_size_by_size(measured):
    (table,) = measured.details.values()
    assert [row["what"] for row in table] == [what for what, _, _ in scale._ASKED.values()]
    assert all(set(row) == {"what", "unit", "80", "240"} for row in table)
    json.dumps(document("scale", measured), allow_nan=False)


def test_pandas_that_counts_differently_is_an_error(monkeypatch):
    def wrong(folder):
        return {**pandas_figures(folder), "cases_of_search": -1}

    def apart(work, *rest):
        if work is pandas_figures:
            return wrong(*rest)
        return {} if work is page_figures else measured_apart(work, *rest)

    measured_apart = scale.apart
    monkeypatch.setattr(scale, "apart", apart)
    monkeypatch.setattr(scale, "MOST_LOOKED_AT", 0)
    with pytest.raises(AssertionError, match="pandas counts differently"):
        scale.run(answers=(80,))
