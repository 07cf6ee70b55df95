"""What the strip says: how far the search for failures is, and what this page counts of it."""

from __future__ import annotations

from rexview.analysis import Scanned
from rexview.detect.core.background import Progress
from rexview.vocab import counted

_MINUTE, _HOUR = 60, 3600


def progress_text(progress: Progress, shown: Scanned) -> str:
    """Say how far it is; ``shown`` is what the page counts of all answers. Plain text."""
    all_answers = counted(progress.answers, "answer")
    of_all = f"{progress.looked:,} of {all_answers}"
    if progress.state == "finished":
        parts = [f"All {all_answers} have been looked at for failures."]
    elif progress.state == "running":
        parts = [f"Looking for failures: {', '.join([of_all, *_pace(progress)])}."]
    elif progress.state == "stopped":
        parts = [f"Looking for failures is stopped at {of_all}."]
    else:
        parts = [f"Looking for failures came to an end at {of_all}."]
    parts.append(progress.message)
    if progress.looked > shown.looked:
        counts = f"the first {shown.looked:,}" if shown.looked else "none of them yet"
        parts.append(f"This page counts {counts}.")
    return " ".join(filter(None, parts))


def _pace(progress: Progress) -> list[str]:
    said = []
    if progress.per_second:
        said.append(f"{progress.per_second:,.0f} a second")
    if progress.seconds_left is not None:
        said.append(f"{_duration(progress.seconds_left)} left")
    return said


def _duration(seconds: float) -> str:
    """Write a time as one number: seconds below a minute, then minutes, then hours."""
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"
