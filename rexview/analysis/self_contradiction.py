"""How often models contradict themselves, each number with the filter that opens its cases."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rexview.analysis.engine import Engine
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count, count_within
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import PatientTally, rate


@dataclass(frozen=True)
class Contradictions:
    """``count`` answers of a model, of those that were ``asked`` (or chose) more than once.

    ``interval`` is that of the share.
    """

    count: Count
    asked: Count
    interval: Interval


@dataclass(frozen=True)
class SelfContradictions:
    """One model; ``choice`` is None where it was asked no choice question again.

    ``unusable`` answers were asked again and have not always a usable choice.
    """

    model: str
    side: Contradictions
    choice: Contradictions | None
    unusable: Count


def self_contradictions(
    engine: Engine, case_filter: CaseFilter | None = None
) -> tuple[SelfContradictions, ...]:
    """Work out how often models contradict themselves; empty where nothing was asked again."""
    base = case_filter or CaseFilter()

    def found(tally: PatientTally, base: CaseFilter, kind: str, of: str) -> Contradictions:
        share = rate(tally)
        asked = count_within(base, share.n, repeats=of)
        return Contradictions(
            count_within(base, share.flagged, share.n, repeats=kind), asked, share.interval
        )

    rows = []
    for tally in engine.repeat_tallies(base):
        own = replace(base, models=(tally.model,))
        has_choices = tally.choice.n or tally.unusable
        rows.append(
            SelfContradictions(
                tally.model,
                found(tally.side, own, "side", "asked"),
                found(tally.choice, own, "choice", "chosen") if has_choices else None,
                count_within(own, tally.unusable, repeats="unusable"),
            )
        )
    return tuple(rows)
