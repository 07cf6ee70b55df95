"""The data of a case at one step of a meeting: nothing that the step does not show.

It is made from a :class:`~rexview.analysis.meeting.steps.ShownCase`, which contains nothing of
later steps.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.analysis import meeting_steps
from rexview.analysis.case.blinding import cover_names
from rexview.analysis.case.case_page import CasePage
from rexview.analysis.colours import assign_slot_colours
from rexview.analysis.meeting_steps import MeetingStepCase, build_step_case
from rexview.analysis.meetings import Meeting
from rexview.analysis.query.engine import Position
from rexview.detect.self_contradiction import is_usable
from rexview.schema import Answer, ReviewSet, Score
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.answers.answer_card import ending_html, score_chain_html, unjudged_answer_html
from rexview.ui.answers.choice_question import (
    OptionVote,
    choice_html,
    choice_spans,
    explanation_html,
    reason_html,
    unusable_reason,
)
from rexview.ui.answers.flags import Visitor, evidence_spans, flags_html, link_spans, marks_html
from rexview.ui.meeting.decision_form import proposals_json
from rexview.ui.reviews import case_consensus
from rexview.ui.safe_text import markdown_html
from rexview.ui.viewer.case_payload import viewer_data
from rexview.ui.web.link.keys import USUAL_ORDER
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.review_sets import PageView
from rexview.vocab import MEETING_STEPS
from rexview.words import tr

# Panels next to the radiograph in a meeting, as HTML made only from what a step shows.

_VISITOR = Visitor(may_judge=False)
_BY_NAME = (
    f'<p class="rx-quiet">{tr("Details appear once answers, boxes and report are shown.")}</p>'
)
_UNSEEN = f'<p class="rx-quiet">{tr("Not checked for failures yet.")}</p>'
_UNJUDGED = f'<p class="rx-quiet">{tr("Not every rule could judge it: there may be more.")}</p>'


@dataclass(frozen=True)
class AnswerLabels:
    """Names of answers on screen, and their colours, by letter."""

    names: Mapping[str, str]
    colours: Mapping[str, str]


def question_html(page: CasePage, labels: AnswerLabels, *, with_votes: bool) -> str:
    """Return question and request as HTML; ``with_votes`` adds who chose each option."""
    votes = _votes(page, labels) if with_votes and page.case.question_type == "choice" else []
    question = answers_html.question_html(page.case, page.keyed_flags(), votes)
    return question + answers_html.request_html(page.case)


def _votes(page: CasePage, labels: AnswerLabels) -> list[OptionVote]:
    case = page.case
    return [
        OptionVote(
            labels.names[answer.model],
            answer.choice if is_usable(case, answer) else None,
            is_reader=False,
            colour=labels.colours[answer.model],
            note="" if is_usable(case, answer) else unusable_reason(case, answer),
        )
        for answer in page.answers
    ]


def answers_panel(page: CasePage, labels: AnswerLabels, *, gap_threshold: float) -> str:
    """Return the answers side by side, with their scores once these are shown."""
    return _side_by_side(
        _article(answer, labels, _scores(page, answer, gap_threshold) + _answer_html(page, answer))
        for answer in page.answers
    )


def _side_by_side(articles: Iterable[str]) -> str:
    return f'<div class="rx-side-by-side">{"".join(articles)}</div>'


def _article(answer: Answer, labels: AnswerLabels, body: str) -> str:
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


def boxes_panel(page: CasePage, labels: AnswerLabels) -> str:
    """List the boxes by answer, because those drawn on the radiograph have no text."""
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
    """Return the radiologist's report, and why the right option is right."""
    return answers_html.report_html(page) + reason_html(page)


def scores_panel(
    page: CasePage, labels: AnswerLabels, readers: Mapping[str, str], agreed: Sequence[Score]
) -> str:
    """Return each reader's scores and the consensus."""
    return answers_html.scores_html(
        page.scores,
        names=labels.names,
        readers=readers,
        agreed=agreed,
        uncounted=page.uncounted,
    )


def flags_panel(
    page: CasePage,
    labels: AnswerLabels,
    readers: Mapping[str, str],
    *,
    in_words: bool,
    with_scores: bool,
) -> str:
    """Return the failures that rules and readers found in each answer, in words or by name only.

    Judgments of written failures follow below: the page has them once models are named.

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
            + (unjudged_answer_html(answer) if in_words else ""),
        )
        for answer in page.answers
    )


def _found(page: CasePage, answer: Answer, readers: Mapping[str, str], nothing: str) -> str:
    listed = flags_html(page, answer, readers, _VISITOR)
    listed += marks_html(page, answer, readers, _VISITOR)
    missing = _UNSEEN if answer.model in page.not_yet else ""
    missing += _UNJUDGED if answer.model in page.not_judged else ""
    return (listed or f'<p class="rx-quiet">{nothing}</p>') + missing


TAKEN_KEYS: Final = "jkgq? "
"""Keys of presenting (``keys.js``), which the viewer takes with Shift."""
_ALONE: Final = Position(None, 1, None, None)
"""The meeting, not the viewer, knows the position of the case."""


def case_json(
    review_set: ReviewSet, held: Meeting, case_id: str, step: int
) -> dict[str, Any] | None:
    """Return the data of a case at a step, for a browser.

    Parameters
    ----------
    review_set : ReviewSet
        With people's entries.
    held : Meeting
        The meeting with the steps.
    case_id : str
    step : int
        The last step that may be shown, from 0.

    Returns
    -------
    dict or None
        ``case``, ``step``; ``steps`` as pairs of key and name; ``viewer`` for the viewer;
        ``question`` and ``panels`` as HTML, the panels by step; ``letters`` with the letter, name
        and colour of each shown answer, and ``model``, its id once models are named; ``notice`` of
        the set, which says that data are simulated; ``proposals`` of decisions, once failures are
        shown in words. None if the set has no such case.

    Raises
    ------
    StoreError
        The secret for letters cannot be read.
    """
    page = _whole(review_set, case_id)
    if page is None:
        return None
    key = review_sets.reviews(review_set).letter_key()
    shown = build_step_case(review_set, page, held, step, key, case_consensus(review_set, case_id))
    labels = _labels(review_set, shown)
    info = review_set.info
    named = bool(shown.models)
    return {
        "case": page.case.id,
        "step": shown.step,
        "steps": [[one, MEETING_STEPS[one]] for one in shown.steps],
        "viewer": _viewer_json(review_set, shown, labels),
        "question": question_html(shown.page, labels, with_votes="answers" in shown.shown),
        "panels": _panels(review_set, shown, labels),
        "letters": [
            {
                "letter": answer.model,
                "name": labels.names[answer.model],
                "colour": labels.colours[answer.model],
                "model": shown.models.get(answer.model),
            }
            for answer in shown.page.answers
        ],
        "notice": info.notice if named else cover_names(review_set, info.notice),
        "proposals": _proposals(review_set, shown),
    }


def models_by_letter(review_set: ReviewSet, held: Meeting, case_id: str) -> dict[str, str]:
    """Return the model of each letter of a case, for the server only.

    Raises
    ------
    StoreError
        The secret for letters cannot be read.
    """
    models = (answer.model for answer in review_set.answers_of(case_id))
    key = review_sets.reviews(review_set).letter_key()
    return meeting_steps.assign_letters(held, case_id, models, key)


def _proposals(review_set: ReviewSet, shown: MeetingStepCase) -> dict[str, dict[str, Any]]:
    if "flags" not in shown.shown or not shown.tells_flags:
        return {}
    return proposals_json(shown.page, review_sets.engine(review_set).facts.harm)


def _whole(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return a case with everything, independent of user and page."""
    number, _ = review_sets.get_failure_scan(review_set).snapshot()
    return review_sets.case_page(review_set, case_id, PageView(USUAL_ORDER, number))


def _labels(review_set: ReviewSet, shown: MeetingStepCase) -> AnswerLabels:
    letters = [answer.model for answer in shown.page.answers]
    if not shown.models:
        return AnswerLabels(
            {one: tr("Answer {slot}").format(slot=one) for one in letters},
            assign_slot_colours(letters),
        )
    names, colours = review_set.model_names, review_sets.colours(review_set)
    return AnswerLabels(
        {one: f"{one} · {names[shown.models[one]]}" for one in letters},
        {one: colours[shown.models[one]] for one in letters},
    )


def _viewer_json(
    review_set: ReviewSet, shown: MeetingStepCase, labels: AnswerLabels
) -> dict[str, Any]:
    data = viewer_data(review_set, shown.page, lambda case: _ALONE, labels.colours, labels.names)
    groups = tuple(replace(group, shown=True) for group in data.groups)
    return replace(data, groups=groups, taken_keys=TAKEN_KEYS).to_json("100%")


def _panels(review_set: ReviewSet, shown: MeetingStepCase, labels: AnswerLabels) -> dict[str, str]:
    page, seen = shown.page, set(shown.shown)
    readers = review_set.reader_names
    panels = {}
    if "answers" in seen:
        gap = server_state.settings().gap_threshold
        panels["answers"] = answers_panel(page, labels, gap_threshold=gap)
    elif "boxes" in seen:
        panels["boxes"] = boxes_panel(page, labels)
    if "report" in seen:
        panels["report"] = report_panel(page)
    if "scores" in seen:
        panels["scores"] = scores_panel(page, labels, readers, shown.agreed)
    if "flags" in seen:
        panels["flags"] = flags_panel(
            page, labels, readers, in_words=shown.tells_flags, with_scores="scores" in seen
        )
    return panels
