"""The whole scan of a review set on all cores, waited for: for the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from rexview.detect.core.background import BackgroundScan
from rexview.detect.core.looking import NOT_JUDGED
from rexview.detect.core.scan import Scan, scan
from rexview.detect.kept.kept_scan import FOLDER
from rexview.detect.registry import detectors
from rexview.errors import RexviewError
from rexview.kept_files import kept_files
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.spread.workers import Spread
from rexview.vocab import noun

_FEW: Final = 200
"""So many answers are looked at before a process has begun."""
_SECONDS: Final = 0.1


class ScanBroken(RexviewError):
    """The search for failures could not be ended."""


def scan_at_once(
    review_set: ReviewSet,
    settings: Settings,
    told: Callable[[int, int], None] | None = None,
    *,
    keep_beside: bool = False,
    spread: Spread | None = None,
) -> tuple[Scan, str]:
    """Look at all answers, but for those whose outcome is kept, and keep that of the others.

    Parameters
    ----------
    review_set : ReviewSet
    settings : Settings
        The detectors' thresholds, and where and how much is kept.
    told : callable, optional
        Is told how many answers were looked at, and of how many.
    keep_beside : bool
        Keep what is found in the set's own folder.
    spread : Spread, optional
        Where it is looked; else on all cores of this machine.

    Returns
    -------
    Scan, str
        And what went wrong, in words; empty where nothing did.

    Raises
    ------
    ScanBroken
    """
    active = detectors(
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        models=review_set.models,
    )
    if len(review_set.newest) <= _FEW and not (keep_beside or spread):
        found = scan(review_set, active)
        return found, _failed(int((found.state == NOT_JUDGED).sum()))
    keep = kept_files("scans", settings, review_set.folder / FOLDER if keep_beside else None)
    workers = os.cpu_count()
    background = BackgroundScan(review_set, active, keep=keep, workers=workers, spread=spread)
    background.start()
    try:
        while not background.wait(_SECONDS):
            if told:
                told(background.progress.looked, background.progress.answers)
    finally:
        background.close()
    progress = background.progress
    if told:
        told(progress.answers, progress.answers)
    if progress.state == "broken":
        raise ScanBroken(progress.message)
    return background.scan, " ".join(filter(None, (progress.message, _failed(progress.failed))))


def _failed(answers: int) -> str:
    """Say of how many answers not everything is known."""
    if not answers:
        return ""
    return f"{answers:,} {noun(answers, 'answer')} could not be judged by every detector."
