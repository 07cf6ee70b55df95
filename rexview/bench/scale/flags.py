"""Looking for failures in a whole set, and what is left of that after a restart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexview.bench.scale.engine import keep_in

if TYPE_CHECKING:
    from rexview.detect.core.detector import Detector
    from rexview.schema import ReviewSet


def flags_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Open a set and let detectors look at what is not kept of it, in processes beside this one."""
    keep_in(kept)
    from rexview.detect import detectors
    from rexview.kept_files import kept_files
    from rexview.reviewset import load
    from rexview.settings import load_settings

    settings, review_set = load_settings(), load(folder)
    active = detectors(
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        models=review_set.models,
    )
    took = looking_s(review_set, active, keep=kept_files("scans", settings))
    return {"flags_s": took, "flags_a_second": len(review_set.newest) / took}


def looking_s(review_set: ReviewSet, detectors: Sequence[Detector], **given: Any) -> float:
    """Let detectors look at a set to its end; return the seconds that took.

    ``given`` is for :class:`.BackgroundScan`: where it is looked, and what is kept.
    """
    from rexview.detect.core.background import BackgroundScan

    begin = time.perf_counter()
    looking = BackgroundScan(review_set, detectors, **given)
    looking.start()
    looking.wait()
    took = time.perf_counter() - begin
    progress = looking.progress
    looking.close()
    assert progress.looked == progress.answers, progress
    return took
