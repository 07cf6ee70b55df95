"""What stands beside the film in a meeting, as HTML: made of what a step shows and nothing else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rexview.analysis.case.record import CasePage
from rexview.detect.self_contradiction import is_usable
from rexview.schema import Answer, Score
from rexview.ui.answers import html as answers_html
from rexview.ui.answers.choices import (
    Vote,
    choice_html,
    choice_spans,
    explanation_html,
    reason_html,
    why_unusable,
)
from rexview.ui.answers.flags import Visitor, evidence_spans, flags_html, link_spans
from rexview.ui.answers.one_answer import ending_html, unread_answer_html
from rexview.ui.answers.score_chain import score_chain_html
from rexview.ui.html.safe_text import markdown_html
from rexview.ui.written.marks import marks_html
from rexview.words import tr

_VISITOR = Visitor(may_judge=False)
_BY_NAME = f'<p class="rx-quiet">{tr("In words once answers, boxes and report are shown.")}</p>'
_UNSEEN = f'<p class="rx-quiet">{tr("Not looked at for failures yet.")}</p>'
_UNJUDGED = f'<p class="rx-quiet">{tr("Not every rule could judge it: there may be more.")}</p>'


@dataclass(frozen=True)
class Labels:
    """How answers are called on screen, and their colours, by letter."""

    names: Mapping[str, str]
    colours: Mapping[str, str]


def question_html(page: CasePage, labels: Labels, *, with_votes: bool) -> str:
    """Show question and request; of a choice question the options, and ``with_votes`` who chose."""
    votes = _votes(page, labels) if with_votes and page.case.question_type == "choice" else []
    question = answers_html.question_html(page.case, page.keyed_flags(), votes)
    return question + answers_html.request_html(page.case)


def _votes(page: CasePage, labels: Labels) -> list[Vote]:
    case = page.case
    return [
        Vote(
            labels.names[answer.model],
            answer.choice if is_usable(case, answer) else None,
            is_reader=False,
            colour=labels.colours[answer.model],
            note="" if is_usable(case, answer) else why_unusable(case, answer),
        )
        for answer in page.answers
    ]


def answers_panel(page: CasePage, labels: Labels, *, gap_threshold: float) -> str:
    """Show the answers side by side, with their scores once these are shown."""
    return _side_by_side(
        _article(answer, labels, _scores(page, answer, gap_threshold) + _answer_html(page, answer))
        for answer in page.answers
    )


def _side_by_side(articles: Iterable[str]) -> str:
    return f'<div class="rx-side-by-side">{"".join(articles)}</div>'


def _article(answer: Answer, labels: Labels, body: str) -> str:
    letter, name = html.escape(answer.model), html.escape(labels.names[answer.model])
    return (
        f'<article class="rx-answer" data-rx-answer="{letter}" aria-label="{name}" '
        f'style="--rx-colour:{html.escape(labels.colours[answer.model])}">'
        f"<header><h3>{name}</h3></header>{body}</article>"
    )


def _scores(page: CasePage, answer: Answer, gap_threshold: float) -> str:
    final = page.finals.get(answer.model) or page.uncounted.get(answer.model)
    return score_chain_html(final.by_dimension, gap_threshold=gap_threshold) if final else ""


def _answer_html(page: CasePage, answer: Answer) -> str:
    text = answer.text or ""
    flags = page.keyed_flags(answer.model)
    spans = [
        *evidence_spans(flags, "answer"),
        *choice_spans(answer),
        *link_spans(text, page),
    ]
    if text.strip():
        body = f'<div class="rx-text">{markdown_html(text, spans)}</div>'
    else:
        body = f'<p class="rx-quiet">{tr("The model returned no text.")}</p>'
    return (
        choice_html(page.case, answer) + body + ending_html(answer) + explanation_html(page, answer)
    )


def boxes_panel(page: CasePage, labels: Labels) -> str:
    """Say which boxes there are, by answer: what is drawn on the film has no words."""
    return _side_by_side(
        _article(
            answer,
            labels,
            "<ul>" + "".join(f"<li>{html.escape(box.label)}</li>" for box in answer.boxes) + "</ul>"
            if answer.boxes
            else f'<p class="rx-quiet">{tr("No box.")}</p>',
        )
        for answer in page.answers
    )


def report_panel(page: CasePage) -> str:
    """Show the radiologist's report, and why the right option is right."""
    return answers_html.report_html(page) + reason_html(page)


def scores_panel(
    page: CasePage, labels: Labels, readers: Mapping[str, str], agreed: Sequence[Score]
) -> str:
    """Show each reader's scores and the consensus."""
    return answers_html.scores_html(
        page.scores,
        names=labels.names,
        readers=readers,
        agreed=agreed,
        uncounted=page.uncounted,
    )


def flags_panel(
    page: CasePage,
    labels: Labels,
    readers: Mapping[str, str],
    *,
    in_words: bool,
    with_scores: bool,
) -> str:
    """Show what rules and readers found wrong in each answer; ``in_words`` or by name only.

    What people say of failures in words stands below: the page has it once models are named.

    Before scores are shown, failures that follow from them are not named.
    """
    nothing = (
        tr("No failure was found.") if with_scores else tr("None that can be named before scores.")
    )
    return ("" if in_words else _BY_NAME) + "".join(
        _article(
            answer,
            labels,
            _found(page, answer, readers, nothing)
            + (unread_answer_html(answer) if in_words else ""),
        )
        for answer in page.answers
    )


def _found(page: CasePage, answer: Answer, readers: Mapping[str, str], nothing: str) -> str:
    listed = flags_html(page, answer, readers, _VISITOR)
    listed += marks_html(page, answer, readers, _VISITOR)
    missing = _UNSEEN if answer.model in page.not_yet else ""
    missing += _UNJUDGED if answer.model in page.not_judged else ""
    return (listed or f'<p class="rx-quiet">{nothing}</p>') + missing
