"""Which failures of an answer a filter is about: those that a page shows unfolded."""

from __future__ import annotations

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.written_conditions import MarkedCondition

HINT = "hint"


def asks_for(case_filter: CaseFilter, model: str, failure: str, source: str) -> bool:
    """Whether a filter is about a failure of a model's answer.

    It is when it names the failure, and when it asks for hints and this is one. ``source`` is who
    says so, a word of :data:`rexview.analysis.filter.case_filter.SOURCES`; without sources a filter
    means everybody's word and no hint.
    """
    if case_filter.models and model not in case_filter.models:
        return False
    if source not in case_filter.sources if case_filter.sources else source == HINT:
        return False
    named = case_filter.failures
    return failure in named if named else source == HINT


def asks_for_mark(case_filter: CaseFilter, model: str, failure: str) -> bool:
    """Whether a filter is about a failure in words that people say a model's answer has."""
    if case_filter.models and model not in case_filter.models:
        return False
    return any(MarkedCondition.parse(word).failure == failure for word in case_filter.marked)
