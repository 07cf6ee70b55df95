"""An answer that is adjudicated and the readers' scores on it, as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping

from rexview.analysis.adjudication import Difference
from rexview.analysis.case.blinding import cover_names
from rexview.analysis.study import rubric_of
from rexview.schema import ReviewSet
from rexview.ui.html.safe_text import markdown_html
from rexview.vocab import DIMENSION_NAMES
from rexview.words import tr


def answer_html(slot: str, text: str, colour: str) -> str:
    """Show the text of an answer under its letter."""
    body = markdown_html(text) if text.strip() else f'<p class="rx-quiet">{tr("No text.")}</p>'
    return (
        f'<article class="rx-answer" style="--rx-colour:{colour}"><header>'
        f"<h3>{tr('Answer {slot}').format(slot=html.escape(slot))}</h3></header>"
        f'<div class="rx-body" tabindex="0"><div class="rx-text">{body}</div></div></article>'
    )


def scores_beside_html(review_set: ReviewSet, one: Difference, labels: Mapping[str, str]) -> str:
    """Set the readers' scores on one thing side by side, with anchors and comments."""
    rubric = rubric_of(review_set)[one.dimension]
    cells = "".join(
        f"<div><h4>{html.escape(labels.get(mark.reader, mark.reader))}: <b>{mark.score}</b></h4>"
        f'<p class="rx-quiet">{html.escape(rubric.anchors[mark.score])}</p>'
        + (f"<p>{html.escape(cover_names(review_set, mark.comment))}</p>" if mark.comment else "")
        + "</div>"
        for mark in sorted(one.scores, key=lambda mark: labels.get(mark.reader, mark.reader))
    )
    name = html.escape(DIMENSION_NAMES[one.dimension])
    if one.picture is not None:
        named = tr("{name}, picture {picture:d}")
        escaped = html.escape(DIMENSION_NAMES[one.dimension])
        name = named.format(name=escaped, picture=one.picture + 1)
    return (
        f'<div class="rx-difference"><h3>{name} '
        f"<small>{tr('{n:d} apart').format(n=one.apart)}</small></h3>"
        f'<div class="rx-difference-scores">{cells}</div></div>'
    )
