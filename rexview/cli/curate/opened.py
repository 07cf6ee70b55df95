"""The set that questions are made for: its files, what runs left, and what people wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rexview.cli.reviews import reviews_of
from rexview.curation.asking import Step
from rexview.curation.choice.proposing import PROPOSE_CHOICE
from rexview.curation.choice.validation import VALIDATE
from rexview.curation.proposing import PROPOSE
from rexview.curation.questions import write_parts
from rexview.curation.rating import RATE
from rexview.curation.tagging import TAG
from rexview.reviewset import load
from rexview.schema import ReviewSet
from rexview.store import merged

STEP: Final[dict[str, Step[Any]]] = {step.name: step for step in (PROPOSE, RATE, TAG)}
"""The steps of open questions, by name."""
CHOICE_STEP: Final[dict[str, Step[Any]]] = {step.name: step for step in (PROPOSE_CHOICE, VALIDATE)}
"""Those of multiple choice questions."""


def opened(folder: Path) -> ReviewSet:
    """Open a set with what people wrote: their own questions are scored and tagged, too."""
    reviews = reviews_of(folder)
    return merged(reviews.review_set, reviews)


def mend_parts(folder: Path) -> None:
    """Write the parts of all runs that ended before they could write theirs.

    Raises
    ------
    RunError
    """
    review_set = load(folder)
    for step in (*STEP.values(), *CHOICE_STEP.values()):
        write_parts(review_set, step)
