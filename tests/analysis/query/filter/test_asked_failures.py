"""What a filter is about is what a page unfolds: a failure that it names, or hints."""

import pytest
from support.rows import each_row

from rexview.analysis.query.filter.case_filter import (
    CaseFilter,
    filter_names_failure,
    filter_names_mark,
)

MISSED = {"failures": ("omission",)}
HINTS = {"sources": ("hint",)}


@each_row(
    ("conditions", "source", "asked"),
    [
        ({}, "both", False),
        ({}, "hint", False),
        (MISSED, "detector", True),
        (MISSED, "reader", True),
        (MISSED, "hint", False),  # without sources a filter means no hints
        ({**MISSED, **HINTS}, "hint", True),
        ({**MISSED, **HINTS}, "both", False),
        ({"failures": ("hallucination",), **HINTS}, "hint", False),
        (HINTS, "hint", True),
        ({"sources": ("reader",)}, "reader", False),  # would unfold all that readers ever said
        ({"sources": ("reader", "hint")}, "hint", True),
        ({**MISSED, "models": ("m",)}, "both", True),
        ({**MISSED, "models": ("n",)}, "both", False),
        ({"judged": ("omission",)}, "both", False),
    ],
)
def test_a_failure(conditions, source, asked):
    assert filter_names_failure(CaseFilter(**conditions), "m", "omission", source) is asked


@pytest.mark.parametrize(
    ("conditions", "asked"),
    [
        ({}, False),
        ({"marked": ("f",)}, True),
        ({"marked": ("g", "f:0123456789ab")}, True),
        ({"marked": ("g",)}, False),
        ({"marked": ("f",), "models": ("n",)}, False),
    ],
)
def test_a_failure_in_words(conditions, asked):
    assert filter_names_mark(CaseFilter(**conditions), "m", "f") is asked
