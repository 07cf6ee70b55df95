"""The chain Process -> Execution -> Synthesis, drawn so that the weakest link and the gap show.

Plain HTML for ``st.html``; its looks are in ``style.css`` under ``rx-chain``.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Final

from rexview.rubric import load_rubric
from rexview.stats import write_score
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES
from rexview.words import tr

_LETTERS: Final = {"process": "P", "execution": "E", "synthesis": "S", "language": "L"}
_IMAGE_LETTERS: Final = {"image_content": "IC", "image_style": "IS"}


_TOLERANCE: Final = 1e-9
_GOOD: Final = 4.0
"""From this score on the weakest link is no shortfall that has to catch the eye."""


def format_score(score: float | None) -> str:
    """Write a final score: ``4``, ``3.5``, or a dash for none."""
    return "–" if score is None else write_score(score)


def score_chain_html(
    final: Mapping[str, float | None], *, gap_threshold: float, images: bool = True
) -> str:
    """Draw one answer's final scores (1 to 5, or None, by dimension); empty without any.

    From ``gap_threshold`` on (process minus execution) the gap is marked; ``images`` adds the image
    dimensions where they are scored.
    """
    if all(final.get(dimension) is None for dimension in (*_LETTERS, *_IMAGE_LETTERS)):
        return ""
    scores = [final.get(dimension) for dimension in CONTENT_PARTS]
    known = [score for score in scores if score is not None]
    weakest = min(known) if len(known) == len(CONTENT_PARTS) else None
    marked = weakest is not None and max(known) - weakest > _TOLERANCE
    process, execution = final.get("process"), final.get("execution")
    wide = process is not None and execution is not None and process - execution >= gap_threshold
    cells = []
    for dimension in CONTENT_PARTS:
        score = final.get(dimension)
        weak = marked and score == weakest
        cells.append(_score_html(dimension, _LETTERS[dimension], score, weak=weak))
        if dimension == "process":
            gap = format_score(process - execution) if wide else ""  # type: ignore[operator]
            title = tr("Gap {score}").format(score=gap) if wide else ""
            css = "rx-link rx-gap" if wide else "rx-link"
            cells.append(f'<span class="{css}" title="{title}">{title}</span>')
        elif dimension == "execution":
            cells.append('<span class="rx-link"></span>')
    rest = {"language": "L", **(_IMAGE_LETTERS if images else {})}
    others = [
        _score_html(dimension, letter, final.get(dimension), weak=False)
        for dimension, letter in rest.items()
        if final.get(dimension) is not None
    ]
    return (
        f'<div class="rx-chain" role="group" aria-label="{tr("Scores")}">{"".join(cells)}'
        f'<span class="rx-chain-rest">{"".join(others)}</span></div>'
    )


def _score_html(dimension: str, letter: str, score: float | None, *, weak: bool) -> str:
    name = DIMENSION_NAMES[dimension]
    title = f"{name} {format_score(score)}"
    if score is not None and float(score).is_integer():
        title += f": {load_rubric()[dimension].anchors[int(score)]}"
    if weak:
        title += f" {tr('(weakest link)')}"
    css = "rx-score rx-weak" if weak and score is not None and score < _GOOD else "rx-score"
    level = "" if score is None else f' data-level="{round(score)}"'
    return (
        f'<span class="{css}"{level} title="{html.escape(title)}">'
        f"<abbr>{letter}</abbr><b>{format_score(score)}</b></span>"
    )
