"""Looking for failures in a whole set, and what is left of that after a restart."""

from __future__ import annotations

import time
from pathlib import Path

from rexview.bench.scale.engine import keep_in


def flags_figures(folder: Path, kept: Path) -> dict[str, float | None]:
    """Open a set and let detectors look at what is not kept of it, in processes beside this one."""
    keep_in(kept)
    from rexview.detect import detectors
    from rexview.detect.core.background import BackgroundScan
    from rexview.kept_files import kept_files
    from rexview.reviewset import load
    from rexview.settings import load_settings

    settings, review_set = load_settings(), load(folder)
    active = detectors(
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        models=review_set.models,
    )
    begin = time.perf_counter()
    looking = BackgroundScan(review_set, active, keep=kept_files("scans", settings))
    looking.start()
    looking.wait()
    took = time.perf_counter() - begin
    progress = looking.progress
    looking.close()
    assert progress.looked == progress.answers, progress
    return {"flags_s": took, "flags_a_second": progress.answers / took}
