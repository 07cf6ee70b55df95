"""A metric's identity in links and words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.metrics.identity import (
    METRICS_BY_ID,
    RECIPROCALS,
    MetricId,
    known_metric,
    parse_metric_key,
)

WORD = st.text(min_size=1, max_size=20)


@given(WORD, st.none() | WORD, st.none() | WORD, st.none() | WORD)
def test_an_identity_survives_a_link(metric, implementation, version, scope):
    identity = MetricId(metric, implementation, version, scope)
    assert parse_metric_key(identity.key) == identity


@pytest.mark.parametrize("key", ["", ":", ":rexview", "a:b:c:d:e"])
def test_what_is_no_identity_is_none(key):
    assert parse_metric_key(key) is None


def test_what_is_known_fits_together():
    for metric in METRICS_BY_ID.values():
        bounds = (metric.low, metric.high)
        assert None in bounds or metric.low < metric.high
        if metric.reciprocal:
            assert metric.higher_is_better is False  # its reciprocal is the one that rises
    assert not RECIPROCALS.keys() & METRICS_BY_ID.keys()
    assert known_metric("of my own").higher_is_better is None
