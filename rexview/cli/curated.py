"""``python -m rexview curated``: the chosen questions as a review set of their own."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from rexview.cli.arguments import FOLDER, SET, new_command
from rexview.cli.output import as_json
from rexview.cli.reviews import reviews_of
from rexview.untrusted_input import printable
from rexview.vocab import counted

if TYPE_CHECKING:
    from rexview.curation.curated_set import CuratedSet


def add_curated(commands: Any) -> None:
    """Add the command ``curated``."""
    purpose = "write the chosen questions of a set as the cases of another"
    parser = new_command(commands, "curated", _curated, purpose)
    argument = parser.add_argument
    argument("folder", **SET)
    argument("--out", **FOLDER, required=True, help="the new review set")
    choices = ("both", "with", "without")
    words = "questions without and with the instruction to draw boxes (default: both)"
    argument("--boxes", choices=choices, default="both", help=words)
    choice = "multiple choice questions that passed every check, instead of those chosen"
    argument("--choice", action="store_true", help=choice)
    argument("--copy-images", action="store_true", help="copy the images, too")
    argument("--files-only", action="store_true", help="leave out what was written in the app")
    argument("--json", action="store_true", help="one JSON object")


def _curated(options: argparse.Namespace) -> int:
    from rexview.curation.curated_set import curated_set
    from rexview.reviewset import write
    from rexview.store import merged

    reviews = reviews_of(options.folder)
    review_set = reviews.review_set
    if not options.files_only:
        review_set = merged(review_set, reviews)
    history = () if options.files_only else reviews.history()
    curated = curated_set(review_set, boxes=options.boxes, choice=options.choice, history=history)
    write(curated.review_set, options.out, images="copy" if options.copy_images else "refer")
    if options.json:
        print(as_json(_as_data(curated)))
    else:
        _tell(curated)
    return 0


def _as_data(curated: CuratedSet) -> dict[str, Any]:
    return {
        "cases": curated.cases,
        "studies": curated.studies,
        "studies_without": curated.without,
        "checked": dict(curated.states),
        "left_out": [vars(one) for one in curated.left_out],
        "asks_for_boxes_in_its_sentence": list(curated.woven_in),
    }


def _tell(curated: CuratedSet) -> None:
    written = f"{counted(curated.cases, 'question')} of {counted(curated.studies, 'study')}"
    rest = f"{counted(curated.without, 'study')} without one." if curated.without else ""
    print(f"{written} written. {rest}".strip())
    if curated.states:
        failed, untold = (curated.states.get(state, 0) for state in ("failed", "untold"))
        print(f"Not among them: {failed:,} failed a check, {untold:,} could not be judged.")
    for one in curated.left_out:
        print(printable(f"Left out: {one.candidate} of {one.case}: {one.why}"), file=sys.stderr)
    for case in curated.woven_in:
        print(
            printable(
                f"warning: {case} asks for boxes within its sentence: write it without, for "
                "models that draw none."
            ),
            file=sys.stderr,
        )
