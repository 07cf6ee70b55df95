"""What the strip says: how far the search for failures is, and what this page counts of it."""

from __future__ import annotations

from rexview.analysis import Scanned
from rexview.detect.processes.background_scan import Progress
from rexview.vocab import duration
from rexview.words import counted, tr


def progress_text(progress: Progress, shown: Scanned) -> str:
    """Say how far it is; ``shown`` is what the page counts of all answers. Plain text."""
    all_answers = counted(progress.answers, "answer")
    of_all = tr("{looked:,} of {all_answers}").format(
        looked=progress.looked, all_answers=all_answers
    )
    if progress.state == "finished":
        parts = [
            tr("All {all_answers} have been looked at for failures.").format(
                all_answers=all_answers
            )
        ]
    elif progress.state == "running":
        parts = [
            tr("Looking for failures: {join}.").format(join=", ".join([of_all, *_pace(progress)]))
        ]
    elif progress.state == "stopped":
        parts = [tr("Looking for failures is stopped at {of_all}.").format(of_all=of_all)]
    else:
        parts = [tr("Looking for failures came to an end at {of_all}.").format(of_all=of_all)]
    parts.append(progress.message)
    if progress.looked > shown.looked:
        counts = (
            tr("the first {looked:,}").format(looked=shown.looked)
            if shown.looked
            else tr("none of them yet")
        )
        parts.append(tr("This page counts {counts}.").format(counts=counts))
    return " ".join(filter(None, parts))


def _pace(progress: Progress) -> list[str]:
    said = []
    if progress.per_second:
        said.append(tr("{per_second:,.0f} a second").format(per_second=progress.per_second))
    if progress.seconds_left is not None:
        said.append(tr("{duration} left").format(duration=duration(progress.seconds_left)))
    return said
