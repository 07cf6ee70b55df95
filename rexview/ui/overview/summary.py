"""The Overview page: headline numbers, failures by model, the table of scores, and charts.

Every number is a link to the cases behind it.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import streamlit as st

from rexview.analysis import CaseFilter, Engine, LinkedCount, assign_model_colours
from rexview.analysis.case.case_cards import CaseCard
from rexview.analysis.failures import add_so_far, judged_caption, judged_share_caption
from rexview.analysis.overview import (
    ContradictionCount,
    FailureCount,
    ModelContradictions,
    Overview,
    list_model_contradictions,
)
from rexview.analysis.ranking import rank_for_display
from rexview.detect.precision import find_precision
from rexview.detect.self_contradiction import start_comparing_repeats
from rexview.schema import ReviewSet
from rexview.ui.tables.number_table import NOTHING, cells_html, ranked_head, rows_table
from rexview.ui.tables.ranked import CSS as RANKED
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import browse_link, href, linked_html
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_OVERVIEW
from rexview.ui.web.server import query_cache
from rexview.ui.web.server.shared_work import cache_on_first_argument
from rexview.vocab import DIMENSION_NAMES, FAILURES, HEADLINE_FAILURES
from rexview.words import tr, trn

if TYPE_CHECKING:
    from rexview.analysis.charts.linked_chart import LinkedChart


def worst_cases_html(
    cards: Sequence[CaseCard],
    case_filter: CaseFilter,
    names: Mapping[str, str],
    colours: Mapping[str, str],
) -> str:
    """List the cases with the worst failures, a line each; empty if none failed."""
    rows = []
    for card in cards:
        if card.harm_level is None:
            continue
        address = html.escape(href(PAGE_CASE, link_keys.link_query(case_filter, case=card.case.id)))
        colour = html.escape(colours[card.harm_model])
        rows.append(
            f'<a href="{address}" data-rx-page data-harm="{card.harm_level}" '
            f'title="{html.escape(card.harm_meaning)}"><code>{html.escape(card.case.id)}</code>'
            f"<b>{html.escape(card.harm)}</b>"
            f'<span class="whose" style="--rx-colour:{colour}">'
            f"{html.escape(names[card.harm_model])}</span></a>"
        )
    return f'<div class="rx-look-first">{"".join(rows)}</div>' if rows else ""


def headline_html(numbers: Overview) -> str:
    """Return the amount of data: cases, answers, models, readers, images."""
    head = numbers.headline
    tiles = [
        _tile(head.cases, tr("Cases")),
        _tile(head.answers, tr("Answers")),
        _tile(head.scored, tr("Answers scored")),
        _tile(head.no_answer, tr("No full answer")),
    ]
    plain = (
        (tr("Models"), head.n_models),
        (tr("Readers"), head.n_readers),
        (tr("Images"), head.n_images),
    )
    tiles += [f"<span class='rx-tile'><b>{n:,}</b><span>{name}</span></span>" for name, n in plain]
    return f'<div class="rx-tiles">{"".join(tiles)}</div>'


def _tile(count: LinkedCount, name: str) -> str:
    of = (
        f"<small>{tr('of {of:,}').format(of=count.of)}</small>"
        if count.of and count.of != count.value
        else ""
    )
    label = f"<b>{count.value:,}{of}</b><span>{name}</span>"
    return browse_link(count.opens, label, css="rx-tile")


def failures_html(numbers: Overview) -> str:
    """Return the three headline failures, each with a bar per model and what could be judged."""
    cards, so_far = [], not numbers.scanned.is_complete
    for failure in HEADLINE_FAILURES:
        rows = [count for count in numbers.failures if count.failure == failure]
        about = FAILURES[failure]
        ranking = rank_for_display(
            rows, lambda row: row.flagged.share if row.judged.value else None
        )
        body = "".join(
            ranked_item(_failure_row(numbers, row), numbers.models[row.model], row, ranking)
            for row in ranking.order
        )
        body = ranked_tools(ranking, tr("share, highest first")) + body
        body = body or f"<p>{tr('No answers yet.')}</p>"
        name = add_so_far(about.plural, so_far=so_far)
        cards.append(
            f'<section class="rx-failure {RANKED}"><h2>{_whole(rows, name)}</h2>'
            f'<p class="rx-quiet">{html.escape(about.meaning)}</p>{body}'
            f'<p class="rx-quiet rx-how">{html.escape(judged_caption(failure))}'
            f"{_precision_html(failure)}</p></section>"
        )
    return f'<div class="rx-failures">{"".join(cards)}</div>'


def _whole(rows: Sequence[FailureCount], name: str) -> str:
    """Return a card's heading as the link of the whole card, to the failure in all models.

    The style sheet lays the link over the card, below the links inside the card.
    """
    if not rows:
        return html.escape(name)
    opens = replace(rows[0].flagged.opens, models=())
    if len({row.flagged.opens.models for row in rows}) == 1:
        opens = rows[0].flagged.opens
    return browse_link(opens, html.escape(name), css="rx-whole")


def _precision_html(failure: str) -> str:
    """Return how often the rule's flags were right in tests; empty if not measured.

    It describes the rule, so it is shown with the failure's explanation, not with a model's number.
    """
    found = find_precision(failure)
    if found is None:
        return ""
    title = tr(
        "Measured on {on}; 95% interval. A flag is something to review, never a verdict."
    ).format(on=found.on)
    caption = html.escape(found.caption)
    return f' <span class="rx-measured" title="{html.escape(title)}">{caption}</span>'


def _failure_row(numbers: Overview, row: FailureCount) -> str:
    name = html.escape(numbers.models[row.model])
    so_far = not numbers.scanned.is_complete
    rest = add_so_far(judged_share_caption(row.judged.value, row.judged.of or 0), so_far=so_far)
    if not row.judged.value:
        none = trn(
            "none of {n:,} answer can be judged",
            "none of {n:,} answers can be judged",
            row.judged.of or 0,
        ).format(n=row.judged.of)
        return (
            f'<div class="rx-rate rx-quiet"><span class="rx-model">{name}</span>'
            f"<small>{add_so_far(none, so_far=so_far)}</small></div>"
        )
    share = row.flagged.share or 0.0
    number = browse_link(
        row.flagged.opens,
        f"<b>{row.flagged.value:,}</b>",
        title=tr("{share:.0%} of the answers that can be judged").format(share=share),
    )
    judged = browse_link(
        row.judged.opens,
        trn("of {n:,} answer", "of {n:,} answers", row.judged.value).format(n=row.judged.value),
        title=tr("The answers that can be judged"),
    )
    can = browse_link(row.judged.opens, rest)
    sources = [
        browse_link(count.opens, f"{count.value:,} {text}")
        for count, text in (
            (row.detector, tr("rule only")),
            (row.reader, tr("reader only")),
            (row.both, tr("rule and reader")),
            (row.hint, tr("suggested")),
        )
        if count.value
    ]
    none = add_so_far(tr("none found"), so_far=so_far)
    return (
        f'<div class="rx-rate" style="--rx-share:{share:.4f}">'
        f'<span class="rx-model">{name}</span>'
        f'<span class="rx-number">{number} {judged}</span><i aria-hidden="true"></i>'
        f"<small>{' · '.join([*(sources or [none]), can])}</small></div>"
    )


def other_failures_html(numbers: Overview) -> str:
    """Return the other failures, models by failures: marked, found and suggested separately.

    Empty if neither a person nor a rule found any.
    """
    rows = [row for row in numbers.failures if row.failure not in HEADLINE_FAILURES]
    met = [name for name in FAILURES if any(row.failure == name for row in rows)]
    if not met or not numbers.models:
        return ""
    found = {(row.failure, row.model): _other_cell(row) for row in rows}
    of_model = Counter[str]()
    for row in rows:
        of_model[row.model] += row.flagged.value
    ranking = rank_for_display(numbers.models, lambda model: float(of_model[model]))
    body = []
    for failure in met:
        line = (
            f'<th scope="row" title="{html.escape(FAILURES[failure].meaning)}">'
            f"{html.escape(FAILURES[failure].plural)}</th>"
        )
        for model in ranking.order:
            cell = f"<td>{found.get((failure, model), NOTHING)}</td>"
            line += ranked_item(cell, numbers.models[model], model, ranking)
        body.append(f"<tr>{line}</tr>")
    title = add_so_far(tr("Other failures"), so_far=not numbers.scanned.is_complete)
    caption = tr(
        "{title}: answers marked by a reader, flagged by rule only, and only suggested by rule "
        "(not counted as failures; Failures says how many suggestions were right in tests)."
    ).format(title=title)
    heads = [ranked_head(numbers.models[model], model, ranking) for model in ranking.order]
    tools = ranked_tools(ranking, tr("answers marked or flagged, most first"))
    return rows_table("rx-scores rx-others", ["", *heads], body, caption, tools)


def _other_cell(row: FailureCount) -> str:
    marked = replace(row.reader.opens, sources=("reader", "both"))
    counts = (
        (row.reader.value + row.both.value, marked, tr("marked")),
        (row.detector.value, row.detector.opens, tr("flagged")),
        (row.hint.value, row.hint.opens, tr("suggested")),
    )
    shown = [
        browse_link(opens, f"<b>{value:,}</b> {name}") for value, opens, name in counts if value
    ]
    return " · ".join(shown) or NOTHING


def self_contradiction_html(rows: Sequence[ModelContradictions], names: Mapping[str, str]) -> str:
    """Return how often models contradict themselves; empty if no request was repeated."""
    if not rows:
        return ""
    with_choices = any(row.choice for row in rows)
    heads = ["", tr("Opposite side")]
    heads += [tr("Another option"), tr("Not always a usable choice")] if with_choices else []
    body = []
    ranking = rank_for_display(rows, lambda row: row.side.count.share)
    for row in ranking.order:
        found = [_share_cell(row.side)]
        if with_choices:
            found.append(_share_cell(row.choice) if row.choice else NOTHING)
            n = row.unusable.value
            found.append(browse_link(row.unusable.opens, f"<b>{n:,}</b>") if n else NOTHING)
        line = cells_html(html.escape(names[row.model]), *found)
        body.append(ranked_item(line, names[row.model], row, ranking))
    caption = tr(
        "Asked more than once: how often a model gives the opposite side of the same "
        "finding, or chooses another option, with 95% interval."
    )
    tools = ranked_tools(ranking, tr("share of opposite sides, highest first"))
    return rows_table("rx-scores rx-contradicting", heads, body, caption, tools)


def _share_cell(found: ContradictionCount) -> str:
    if not found.asked.value:
        return NOTHING
    low, high, share = found.interval.low, found.interval.high, found.count.share or 0
    limits = ""
    if low is not None and high is not None:
        limits = tr("{low:.0f} to {high:.0f}").format(low=100 * low, high=100 * high)
        limits = f" ({limits})"
    number = browse_link(found.count.opens, f"<b>{found.count.value:,}</b>")
    asked = browse_link(found.asked.opens, tr("of {value:,}").format(value=found.asked.value))
    return f"{number} {asked} <small>{share:.0%}{limits}</small>"


def scores_html(numbers: Overview, content_order: str) -> str:
    """Return the mean final scores per model with their n; empty if nothing is scored.

    ``content_order`` describes how Content was computed.
    """
    if not numbers.means:
        return ""
    means = {(mean.model, mean.dimension): mean for mean in numbers.means}
    gaps = {gap.model: gap for gap in numbers.gaps}
    shown = [name for name in DIMENSION_NAMES if any((m, name) in means for m in numbers.models)]
    body, ranking = [], numbers.ranking
    for model in ranking.order:
        name, row = numbers.models[model], []
        for dimension in shown:
            mean = means.get((model, dimension))
            unit = f" {tr('pictures')}" if mean and mean.of_pictures else ""
            row.append(_mean(mean.summary.mean, mean.scored, unit) if mean else NOTHING)
        gap = gaps.get(model)
        row.append(_mean(gap.summary.mean, gap.known) if gap else NOTHING)
        body.append(ranked_item(cells_html(html.escape(name), *row), name, model, ranking))
    caption = tr(
        "Mean final scores, 1 to 5, with the number of answers, for image scores "
        "of returned pictures. Content is the {content_order}. What counts as no "
        "full answer is left out."
    ).format(content_order=content_order)
    heads = ["", *(DIMENSION_NAMES[name] for name in shown), tr("Gap")]
    tools = ranked_tools(ranking, DIMENSION_NAMES["content"])
    return rows_table("rx-scores rx-means", heads, body, caption, tools)


def _mean(value: float | None, count: LinkedCount, unit: str = "") -> str:
    label = f"<b>{value:.2f}</b><small>n {count.value:,}{unit}</small>".replace("-", "−")
    return browse_link(count.opens, label)


# The charts of the Overview.

_LOOK_AGAIN_S: Final = 2.0


@cache_on_first_argument(16)
def _charts(engine: Engine, case_filter: CaseFilter) -> tuple[LinkedChart, ...]:
    from rexview.analysis.charts.overview import overview_charts

    return overview_charts(
        query_cache.numbers(engine, case_filter), assign_model_colours(engine.facts.models)
    )


_contradictions = cache_on_first_argument(16)(list_model_contradictions)


def show_self_contradiction(review_set: ReviewSet, engine: Engine, case_filter: CaseFilter) -> None:
    """Show how often models contradict themselves; nothing if no request was repeated."""
    if not start_comparing_repeats(review_set):
        _wait_for_comparison(review_set)
    elif rows := _contradictions(engine, case_filter):
        drawn = self_contradiction_html(rows, engine.facts.models)
        linked_html(drawn, key="overview_again")


@st.fragment(run_every=_LOOK_AGAIN_S)
def _wait_for_comparison(review_set: ReviewSet) -> None:
    permissions.guard(PAGE_OVERVIEW)
    if start_comparing_repeats(review_set):
        st.rerun()
    st.caption(tr("Repeated answers are being compared."))


def show_charts(engine: Engine, case_filter: CaseFilter) -> bool:
    """Show the charts of the Overview; return False if there is nothing to draw.

    The chart modules are imported here, after the page has shown its numbers and cases.
    """
    from rexview.analysis.charts.overview import SIDE_BY_SIDE
    from rexview.ui.charts import show_charts_beside

    charts = _charts(engine, case_filter)
    if not charts:
        return False
    few = len(query_cache.numbers(engine, case_filter).models) <= SIDE_BY_SIDE
    show_charts_beside(charts, key="overview_chart", columns=0 if few else 1)
    return True
