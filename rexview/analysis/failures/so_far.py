"""What is said of numbers that rest on flags, while detectors have not looked at every answer.

All of it is plain text.
"""

from __future__ import annotations

from typing import Final

from rexview.analysis.engine import Engine, Scanned
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.finding_search import is_finding_search
from rexview.analysis.filter.outcomes import OUTCOMES_OF_FLAGS
from rexview.analysis.filter.wording import describe
from rexview.words import tr, trn

SO_FAR: Final = tr("so far")


def so_far_caption(scanned: Scanned) -> str:
    """Say of how many answers the flags are known; empty when that is all of them."""
    if scanned.is_complete:
        return ""
    return trn(
        "So far: {looked:,} of {n:,} answer looked at for failures.",
        "So far: {looked:,} of {n:,} answers looked at for failures.",
        scanned.answers,
    ).format(looked=scanned.looked, n=scanned.answers)


def not_judged_caption(failed: int) -> str:
    """Say how many answers a rule failed on; empty for none."""
    return (
        trn(
            "{n:,} answer could not be judged by every rule.",
            "{n:,} answers could not be judged by every rule.",
            failed,
        ).format(n=failed)
        if failed
        else ""
    )


def so_far_after(words: str, *, so_far: bool) -> str:
    """Add to a heading or a count that it is so far."""
    return f"{words} {SO_FAR}" if so_far else words


def rests_on_flags(case_filter: CaseFilter) -> bool:
    """Whether detectors decide which cases a filter leaves: it asks for failures or findings."""
    asked = case_filter.failures, case_filter.sources, case_filter.judged, case_filter.findings
    sides = any(word in OUTCOMES_OF_FLAGS for word in case_filter.outcomes)
    return any(asked) or sides or is_finding_search(case_filter.search, case_filter.mention)


def name_so_far(engine: Engine, case_filter: CaseFilter) -> str:
    """Name a filter as :func:`.describe`, and say where its cases are those known so far."""
    unknown = rests_on_flags(case_filter) and not engine.scanned(case_filter).is_complete
    return so_far_after(describe(engine.facts, case_filter), so_far=unknown)
