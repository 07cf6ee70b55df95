"""Cases as cards: the radiograph with boxes, the answers' scores, badges of failures."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from rexview.analysis import ANSWER_STATUSES, REFERENCE_COLOUR, CaseFilter
from rexview.analysis.case.case_cards import AnswerSummary, CardBox, CaseCard
from rexview.analysis.ranking import MAX_UNRANKED, SHOWN_AT_EACH_END
from rexview.errors import RexviewError
from rexview.geometry import box_problem
from rexview.metrics.identity import MetricId
from rexview.schema import ReviewSet, StudyImage
from rexview.ui.answers.answer_card import format_score, metric_text, score_chain_html
from rexview.ui.web.access.image_links import thumbnail_url
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import href
from rexview.ui.web.link.pages import PAGE_CASE
from rexview.vocab import CATEGORY_NAMES, FAILURES, QUESTION_TYPES, VIEWS, option_letter
from rexview.words import counted, tr, trc, trn

_MOST_ANSWERS: Final = 4


def gallery_html(
    review_set: ReviewSet,
    cards: Sequence[CaseCard],
    case_filter: CaseFilter,
    *,
    colours: Mapping[str, str],
    gap_threshold: float,
    with_pins: bool = False,
) -> str:
    """Return cards as HTML; each is one link to its case within the filter.

    ``with_pins`` adds the buttons that :file:`pins.js` handles.
    """
    names = review_set.model_names
    drawn = [
        _card_html(review_set, card, case_filter, names, colours, gap_threshold) for card in cards
    ]
    places = "".join(
        f'<div class="rx-card-place" role="listitem">{one}'
        f"{_pin_html(card.case.id) if with_pins else ''}</div>"
        for one, card in zip(drawn, cards, strict=True)
    )
    return f'<div class="rx-cards" role="list">{places}</div>'


def _pin_html(case: str) -> str:
    """Return a button over a card, because a link may not contain one; its script labels it."""
    label = tr("Pin {case}").format(case=html.escape(case))
    return (
        f'<button type="button" class="rx-pin" aria-label="{label}" '
        f'data-rx-pin="{html.escape(case)}"></button>'
    )


def _card_html(
    review_set: ReviewSet,
    card: CaseCard,
    case_filter: CaseFilter,
    names: Mapping[str, str],
    colours: Mapping[str, str],
    gap_threshold: float,
) -> str:
    case = card.case
    address = html.escape(href(PAGE_CASE, link_keys.link_query(case_filter, case=case.id)))
    kind = CATEGORY_NAMES.get(case.category or "", case.category or "")
    kind = kind or QUESTION_TYPES.get(case.question_type, "")
    answers = sorted(card.answers, key=partial(_place, card))
    most = _MOST_ANSWERS if len(answers) <= MAX_UNRANKED else SHOWN_AT_EACH_END
    order = case_filter.metric_order
    metric = order.metric if order else None
    rows = [
        _answer_html(answer, names, colours, gap_threshold, metric) for answer in answers[:most]
    ]
    if len(answers) > most:
        more = len(answers) - most
        said = trn("and {n:d} more answer", "and {n:d} more answers", more).format(n=more)
        rows.append(f"<p>{said}</p>")
    if not answers:
        rows.append(f"<p>{tr('No answer given yet')}</p>")
    return (
        f'<a class="rx-card" href="{address}" data-rx-page>'
        f"{_picture_html(review_set, card, colours)}"
        f'<div class="rx-card-text"><header><b>{html.escape(case.id)}</b>'
        f"<span>{html.escape(kind)}</span></header>{_harm_html(card, case_filter, names, colours)}"
        f"{_comments_html(card)}"
        f'<p class="rx-card-question">{html.escape(_short(case.question, 160))}</p>'
        f"{''.join(rows)}</div></a>"
    )


def _place(card: CaseCard, answer: AnswerSummary) -> tuple[bool, ...]:
    """Return a sort key: answers in the filter first; if not all fit, failures before others."""
    if len(card.answers) <= _MOST_ANSWERS:
        return (not answer.chosen,)
    is_firm = any(source != "hint" for _, source in answer.failures)
    return not answer.chosen, answer.model != card.harm_model, not is_firm, not answer.failures


def _harm_html(
    card: CaseCard,
    case_filter: CaseFilter,
    names: Mapping[str, str],
    colours: Mapping[str, str],
) -> str:
    """Explain the case's place if cases are sorted by severity.

    Of several answers, name the model: with another filter the place can depend on another answer.
    """
    if case_filter.sort != "severity" or not card.harm:
        return ""
    meaning = html.escape(card.harm_meaning)
    whose = ""
    if len(card.answers) > 1 and card.harm_model:
        colour, name = html.escape(colours[card.harm_model]), html.escape(names[card.harm_model])
        whose = f' <span class="rx-card-whose" style="--rx-colour:{colour}">{name}</span>'
    return f'<p class="rx-card-harm" title="{meaning}">{html.escape(card.harm)}{whose}</p>'


def _comments_html(card: CaseCard) -> str:
    if card.comments is None:
        return ""
    count, unresolved = card.comments.comments, card.comments.unresolved
    open_ = trn("{n:,} open", "{n:,} open", unresolved).format(n=unresolved)
    is_open = f" · <b>{open_}</b>" if unresolved else ""
    return f'<p class="rx-card-comments">{counted(count, "comment")}{is_open}</p>'


def _answer_html(
    answer: AnswerSummary,
    names: Mapping[str, str],
    colours: Mapping[str, str],
    gap_threshold: float,
    metric: MetricId | None,
) -> str:
    name = html.escape(names[answer.model])
    chain = score_chain_html(answer.finals, gap_threshold=gap_threshold, images=False)
    content, chosen = answer.finals.get("content"), _chosen_html(answer)
    if answer.status != "answered":
        chain = f'<span class="rx-lost">{html.escape(ANSWER_STATUSES[answer.status])}</span>'
    elif not chain and not chosen:
        chain = f'<span class="rx-quiet">{tr("Not scored")}</span>'
    shown = ""
    if content is not None:
        score = format_score(content)
        shown = f'<span class="rx-content"><small>{tr("Content")}</small> {score}</span>'
    if metric:
        title, named = html.escape(metric.described), html.escape(metric.name)
        value = metric_text(answer.metric)
        shown += f'<span class="rx-content" title="{title}"><small>{named}</small> {value}</span>'
    badges = "".join(
        f'<span class="{_BADGE_CSS.get(source, "rx-badge")}" '
        f'title="{html.escape(FAILURES[failure].meaning)} {_FOUND_BY[source]}">'
        f"{_PREFIXES.get(source, '')}{html.escape(FAILURES[failure].name)}"
        f"{_BY_READER.get(source, '')}</span>"
        for failure, source in answer.failures
    )
    badges += "".join(
        f'<span class="rx-badge rx-in-words" title="{html.escape(f"{title}. {_MARKED}")}">'
        f"{html.escape(title)} · {_PEOPLE}</span>"
        for title in answer.marked
    )
    badges += _NOT_KNOWN.get(answer.looked_at, "")
    css = "rx-card-answer" if answer.chosen else "rx-card-answer rx-aside"
    return (
        f'<div class="{css}" style="--rx-colour:{html.escape(colours[answer.model])}">'
        f'<header><span class="rx-model">{name}</span>{shown}</header>{chosen}{chain}'
        f'<div class="rx-badges">{badges}</div></div>'
    )


def _chosen_html(answer: AnswerSummary) -> str:
    """Return the chosen option, and whether it is right; empty for other questions."""
    if answer.choice is None and answer.outcome is None:
        return ""
    letter = "" if answer.choice is None else f"<b>{option_letter(answer.choice)}</b> "
    outcome = answer.outcome or "chosen"
    sign, word = _OUTCOMES[outcome]
    return f'<span class="rx-outcome" data-rx-outcome="{outcome}">{sign}{letter}{word}</span>'


_OUTCOMES: Final = {
    "right": ("✓ ", trc("choice", "right")),
    "wrong": ("✗ ", trc("choice", "wrong")),
    "failed": ("", tr("No usable choice")),
    "chosen": ("", trc("choice", "chosen")),
}
_NOT_KNOWN: Final = {
    "not_yet": f'<span class="rx-quiet">{tr("Not checked for failures yet")}</span>',
    "not_judged": f'<span class="rx-quiet">{tr("Could not be judged by every rule")}</span>',
}
"""Shown while not all flags are known: no flag would look like no failure."""
_FOUND_BY: Final = {
    "detector": tr("Flagged by rule."),
    "reader": tr("Marked by a reader."),
    "both": tr("Flagged by rule and marked by a reader."),
    "hint": tr("Suggested by rule, not confirmed."),
}
_MARKED: Final = tr("In people's own words.")
_PEOPLE: Final = tr("people")
"""Source of a mark with a written failure."""
_BY_READER: Final = {one: f" · {tr('reader')}" for one in ("reader", "both")}
"""Who marked it, as a word: a tick would look like "right"."""
_PREFIXES: Final = {"hint": f"{tr('Suggested:')} "}
_BADGE_CSS: Final = {"hint": "rx-badge rx-hint"}


def _picture_html(review_set: ReviewSet, card: CaseCard, colours: Mapping[str, str]) -> str:
    image = card.image
    if image is None:
        return _no_picture(tr("No image"))
    try:
        source = thumbnail_url(review_set, image.path)
    except RexviewError as error:
        return _no_picture(str(error))
    label = tr("{view} radiograph, {boxes}").format(
        view=VIEWS.get(image.view, image.view), boxes=_boxes_text(card)
    )
    others = len(card.case.images) - 1
    more = f'<span class="rx-more">+{others}</span>' if others else ""
    return (
        f'<div class="rx-picture"><span class="rx-frame" data-rx-frame>'
        f'<img src="{html.escape(source)}" alt="{html.escape(label)}" loading="lazy" '
        f'decoding="async" data-rx-thumb>{_boxes_html(card.boxes, image, colours)}</span>'
        f"{more}</div>"
    )


def _no_picture(reason: str) -> str:
    note = f'<span class="rx-nopicture">{html.escape(reason)}</span>'
    return f'<div class="rx-picture">{note}</div>'


def _boxes_html(boxes: Sequence[CardBox], image: StudyImage, colours: Mapping[str, str]) -> str:
    width, height = image.width, image.height
    if not width or not height:
        return ""
    shapes = []
    for box in boxes:
        if box_problem(box.box, width, height):
            continue
        x, y, box_width, box_height = box.box
        colour = REFERENCE_COLOUR if box.model is None else colours[box.model]
        dashed = ' class="rx-reference"' if box.model is None else ""
        shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{box_width:g}" height="{box_height:g}" '
            f'stroke="{html.escape(colour)}"{dashed}/>'
        )
    if not shapes:
        return ""
    return (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(shapes)}</svg>"
    )


def _boxes_text(card: CaseCard) -> str:
    count = sum(box.model is not None for box in card.boxes)
    return counted(count, "box") if count else tr("no boxes")


def _short(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
