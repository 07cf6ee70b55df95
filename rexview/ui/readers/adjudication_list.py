"""The answers to adjudicate as HTML: scores of both readers, their comments on demand."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

from rexview.analysis import CaseFilter
from rexview.analysis.readers.adjudication import Dispute, ToAdjudicate
from rexview.analysis.scores.captions import counted
from rexview.stats import write_score
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_CASE

LONGEST_QUESTION: Final = 180
"""Characters of a question in the list; the Case page has all of it."""


def disputes_html(
    answers: Sequence[ToAdjudicate],
    opens: CaseFilter,
    *,
    models: Mapping[str, str],
    readers: Mapping[str, str],
    first: int = 0,
    settled: Mapping[tuple[str, str, str], tuple[int, ...]] | None = None,
) -> str:
    """Draw a part of the list.

    Parameters
    ----------
    answers : sequence of ToAdjudicate
        The part that is shown.
    opens : CaseFilter
        The filter within which the Case page walks them.
    models, readers : mapping of str to str
        Names on screen by id.
    first : int
        Place of the first of them in the whole list, counted from 0.
    settled : mapping, optional
        What was agreed, by case, model and dimension: shown beside the readers' scores.
    """
    agreed = settled or {}
    items = "".join(_item(answer, opens, models, readers, agreed) for answer in answers)
    return f'<ol class="rx-disputes" start="{first + 1}">{items}</ol>'


def _item(
    answer: ToAdjudicate,
    opens: CaseFilter,
    models: Mapping[str, str],
    readers: Mapping[str, str],
    settled: Mapping[tuple[str, str, str], tuple[int, ...]],
) -> str:
    address = html.escape(href(PAGE_CASE, link_keys.link_query(opens, case=answer.case)))
    question = answer.question
    if len(question) > LONGEST_QUESTION:
        question = f"{question[: LONGEST_QUESTION - 1]}…"
    model = models.get(answer.model, answer.model)
    points = "point" if answer.apart == 1 else "points"
    head = (
        f'<a href="{address}" data-rx-page><b>{html.escape(answer.case)}</b></a> '
        f"<span>{html.escape(model)}</span> "
        f"<small>{write_score(answer.apart)} {points} apart</small>"
    )
    scores = "".join(
        _scores(dispute, readers, settled.get((answer.case, answer.model, dispute.dimension), ()))
        for dispute in answer.disputes
    )
    return (
        f'<li class="rx-dispute"><div class="rx-dispute-head">{head}</div>'
        f'<p class="rx-quiet">{html.escape(question)}</p><ul>{scores}</ul>'
        f"{_comments(answer.disputes, readers)}</li>"
    )


def _scores(dispute: Dispute, readers: Mapping[str, str], agreed: Sequence[int]) -> str:
    marks = " · ".join(
        f"{html.escape(readers.get(reader, reader))} <b>{write_score(score)}</b>"
        for reader, score in dispute.marks.items()
    )
    consensus = ", ".join(map(str, agreed))
    told = f" · adjudicated: <b>{consensus}</b>" if agreed else ""
    return f"<li>{html.escape(dispute.name)}: {marks}{told}</li>"


def _comments(disputes: Sequence[Dispute], readers: Mapping[str, str]) -> str:
    """Fold the comments of all readers on the disputed dimensions; empty without any."""
    said = [
        f"<li><b>{html.escape(dispute.name)}, {html.escape(readers.get(reader, reader))}:</b> "
        f"{html.escape(text)}</li>"
        for dispute in disputes
        for reader, text in dispute.comments
    ]
    if not said:
        return ""
    return (
        f"<details><summary>{counted(len(said), 'comment')}</summary>"
        f'<ul class="rx-comments">{"".join(said)}</ul></details>'
    )
