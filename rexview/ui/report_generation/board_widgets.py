"""The widgets of the page Report generation: scope, order, groups, and parts on request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Final

import streamlit as st

from rexview.analysis import (
    CaseFilter,
    CaseProperty,
    Engine,
    assign_model_colours,
    report_generation,
)
from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.charts.reports import spread_chart
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import (
    ERROR_SHARES,
    error_free_frame,
    leaderboard_frame,
    preference_frame,
    report_group_frame,
)
from rexview.analysis.published.rexrank import (
    EDITIONS,
    METRICS,
    SECTIONS,
    published_board,
    published_boards,
)
from rexview.analysis.report_generation import (
    ReportTables,
    board_metric_name,
    published_metric_name,
    scope_name,
)
from rexview.metrics.identity import MetricId
from rexview.schema import ReviewSet
from rexview.stats.metric_correlation import COEFFICIENT_NAMES
from rexview.stats.report_metrics import MIN_ANSWERS_FOR_RANK
from rexview.ui.charts import show_charts_beside
from rexview.ui.report_generation import metric_boards
from rexview.ui.report_generation import metric_boards as report_html
from rexview.ui.report_generation.metric_boards import (
    correlations_html,
    disputes_html,
    published_error_free_html,
    published_html,
)
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_table
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link, choose_published
from rexview.ui.web.link.pages import PAGE_DATA
from rexview.ui.web.server import query_cache, review_sets
from rexview.words import mid_sentence, tr

MOST_DISPUTES: Final = 12
"""Most answers listed on which two metrics disagree."""


def show_progress(review_set: ReviewSet) -> None:
    """Show how many reports the app has compared itself, until all are compared."""
    known = review_sets.metrics_progress(review_set)
    if known.message:
        st.warning(as_markdown(known.message), icon=":material/error:")
    elif not known.finished:
        st.caption(
            tr(
                "BLEU-2 and finding-level agreement are computed here: {done:,} of "
                "{answers:,} reports so far. All numbers of these two are so far, too; "
                "reload the page for more."
            ).format(done=known.done, answers=known.answers)
        )


def link_scope() -> str | None:
    """Return the scope of the link; empty if it names none."""
    asked = link_keys.query_value(link_keys.QUERY_SCOPE) or ""
    return None if asked == link_keys.UNSTATED_SCOPE else asked


def _scope_word(scope: str | None) -> str:
    return scope or link_keys.UNSTATED_SCOPE


def choose_scope(tables: ReportTables) -> None:
    """Show a choice of the boards, one for each subject of metrics; the link keeps it."""
    if len(tables.scopes) < 2:
        return
    names = {_scope_word(scope): scope_name(scope) for scope in tables.scopes}
    st.segmented_control(
        tr("Sections that were compared"),
        list(names),
        format_func=lambda one: as_markdown(names[one]),
        required=True,
        **bind_option_to_link(
            "reports_scope", link_keys.QUERY_SCOPE, names, _scope_word(tables.scopes[0])
        ),
    )


def _choose_metric(tables: ReportTables) -> MetricId | None:
    by_key = {metric.key: metric for metric in tables.metrics}
    usual = tables.ranked_by(None)
    if usual is None:
        return None
    chosen = st.selectbox(
        tr("Rank by"),
        list(by_key),
        format_func=lambda key: f"{board_metric_name(by_key[key])} ({by_key[key].computed_by})",
        width=360,
        **bind_option_to_link("reports_ranked_by", link_keys.QUERY_RANKED_BY, by_key, usual.key),
    )
    return by_key[chosen]


def show_board(engine: Engine, tables: ReportTables) -> MetricId | None:
    """Show the board by one metric and the ranks by each; return that metric."""
    choose_scope(tables)
    metric = _choose_metric(tables)
    if metric is None:
        show_nothing_yet(
            tr(
                "These reports have no metrics. Give the set a table of metrics, or "
                "compute some with python -m rexview metrics; FORMAT.md describes the "
                "format."
            ),
            (PAGE_DATA, tr("Add a table of metrics")),
        )
        return None
    colours = assign_model_colours(engine.facts.models)
    title = tr("Table 1. {scope_title}").format(scope_title=report_html.scope_title(tables))
    drawn = report_html.board_html(tables, metric, colours, title)
    file = TableFile(
        title, partial(leaderboard_frame, tables), report_generation.board_caption(tables)
    )
    show_table(drawn, file, key="reports_board")
    title = tr("Table 2. Place by each metric")
    if drawn := report_html.places_html(tables, colours, title):
        linked_html(drawn, key="reports_places")
    return metric


def show_groups(
    engine: Engine, case_filter: CaseFilter, tables: ReportTables, metric: MetricId
) -> None:
    """Show the chosen metric by site, study or another property, with ranks within each."""
    choices = {choice.key: choice for choice in engine.facts.properties}
    if not choices:
        return
    usual = next((key for key in ("site", "study") if key in choices), next(iter(choices)))
    left, right = st.columns([3, 1], gap="small", vertical_alignment="bottom")
    with left:
        by = _choose_property(choices, usual)
    with right:
        least = _choose_least()
    with st.spinner(tr("Computing the means of each part…")):
        groups = query_cache.report_groups(engine, case_filter, by, metric, least=least)
    if not groups.groups:
        property_name = as_markdown(mid_sentence(by.name))
        st.caption(
            tr("No case here has a value for {property_name} and for this metric.").format(
                property_name=property_name
            )
        )
        return
    title = tr("Table 3. {shown_name} by {name}").format(
        shown_name=board_metric_name(metric), name=mid_sentence(by.name)
    )
    colours = assign_model_colours(engine.facts.models)
    drawn = report_html.groups_html(groups, tables.names, colours, title)
    file = TableFile(
        title,
        partial(report_group_frame, groups, tables.names),
        report_generation.groups_caption(groups),
    )
    show_table(drawn, file, key="reports_groups")


def _choose_property(choices: Mapping[str, CaseProperty], usual: str) -> CaseProperty:
    key = st.selectbox(
        tr("By"),
        list(choices),
        format_func=lambda one: choices[one].name,
        width=360,
        **bind_option_to_link("reports_by", link_keys.QUERY_SPLIT, choices, usual),
    )
    return choices[key]


def _choose_least() -> int:
    asked = link_keys.query_value(link_keys.QUERY_LEAST) or ""
    shown = int(asked) if asked.isdecimal() and len(asked) < 6 else MIN_ANSWERS_FOR_RANK
    return int(
        st.number_input(
            tr("Minimum answers for a place"),
            min_value=1,
            step=1,
            width=200,
            help=tr("A model with fewer answers in a group has a mean there but no place."),
            **bind_to_link(
                "reports_least",
                link_keys.QUERY_LEAST,
                max(1, shown),
                lambda chosen: None if chosen == MIN_ANSWERS_FOR_RANK else str(int(chosen)),
            ),
        )
    )


@lru_cache(maxsize=8)
def _spread_charts(
    engine: Engine, case_filter: CaseFilter, tables: ReportTables
) -> tuple[LinkedChart, ...]:
    spreads = query_cache.report_spreads(engine, case_filter, tables.metrics)
    colours = assign_model_colours(engine.facts.models)
    drawn = (
        spread_chart(tables, metric, spreads, colours, caption=report_generation.BOX_PLOT_NOTE)
        for metric in tables.metrics
    )
    return tuple(chart for chart in drawn if chart is not None)


def show_spreads(engine: Engine, case_filter: CaseFilter, tables: ReportTables) -> None:
    """Show box plots of every metric, on request."""
    box = st.expander(tr("How the values spread"), key="reports_spread_box", on_change="rerun")
    if box.open:
        with box:
            charts = _spread_charts(engine, case_filter, tables)
            show_charts_beside(charts, key="reports_spread", columns=2)


def show_metrics_compared(engine: Engine, case_filter: CaseFilter, tables: ReportTables) -> None:
    """Show the agreement of metrics, and the answers on which two disagree, on request."""
    if len(tables.metrics) < 2:
        return
    box = st.expander(tr("Do the metrics agree?"), key="reports_metrics_box", on_change="rerun")
    if not box.open:
        return  # Kendall's coefficient of thousands of answers takes seconds
    with box:
        coefficient = str(
            st.segmented_control(
                tr("Coefficient"),
                list(COEFFICIENT_NAMES),
                format_func=COEFFICIENT_NAMES.__getitem__,
                required=True,
                **bind_option_to_link(
                    "reports_coefficient", link_keys.QUERY_COEFFICIENT, COEFFICIENT_NAMES, "pearson"
                ),
            )
        )
        with st.spinner(tr("Comparing the metrics…")):
            found = query_cache.metric_correlations(
                engine, case_filter, tables.metrics, coefficient
            )
        drawn = correlations_html(tables.metrics, found, coefficient, case_filter)
        linked_html(drawn, key="reports_correlations")
        least = min(
            (one for one in found if one.value is not None),
            key=lambda one: one.value or 0.0,
            default=found[0],
        )
        _show_disputes(engine, case_filter, tables, (least.first, least.second))


def _show_disputes(
    engine: Engine, case_filter: CaseFilter, tables: ReportTables, usual: tuple[int, int]
) -> None:
    """List the answers on which two metrics disagree; by default the two that agree least."""
    by_key = {metric.key: metric for metric in tables.metrics}
    keys = list(by_key)
    chosen = []
    for place, column in enumerate(st.columns(2, gap="small")):
        query = link_keys.QUERY_METRICS_COMPARED[place]
        with column:
            key = st.selectbox(
                (tr("One metric"), tr("The other"))[place],
                keys,
                format_func=lambda key: f"{by_key[key].name} ({by_key[key].computed_by})",
                **bind_option_to_link(f"reports_dispute_{place}", query, keys, keys[usual[place]]),
            )
        chosen.append(by_key[key])
    pair = (chosen[0], chosen[1])
    if pair[0] == pair[1]:
        st.caption(tr("Choose two different metrics."))
        return
    found = query_cache.metric_disputes(engine, case_filter, pair, MOST_DISPUTES)
    if not found:
        st.caption(tr("No answer has a value for both, or both put all of them in the same order."))
        return
    linked_html(disputes_html(found, pair, tables.names, case_filter), key="reports_disputes")


def show_error_free(engine: Engine, case_filter: CaseFilter, tables: ReportTables) -> None:
    """Show the error-free shares by corrector; nothing if there are no corrections."""
    if not tables.counts.edits:
        return
    found = query_cache.error_free(engine, case_filter)
    colours = assign_model_colours(engine.facts.models)
    title = tr("Table 4. Reports without errors")
    drawn = metric_boards.error_free_html(found, tables.names, colours, title)
    file = TableFile(
        title,
        partial(error_free_frame, found, tables.names),
        report_generation.error_free_caption(found),
        ERROR_SHARES,
    )
    show_table(drawn, file, key="reports_error_free")


def show_preferences(engine: Engine, case_filter: CaseFilter, tables: ReportTables) -> None:
    """Show strengths from pairwise preferences; nothing if there are no comparisons."""
    if not tables.counts.preferences:
        return
    with st.spinner(tr("Computing strengths…")):
        found = query_cache.preferences(engine, case_filter)
    colours = assign_model_colours(engine.facts.models)
    title = tr("Table 5. Which report readers prefer")
    drawn = metric_boards.preferences_html(found, tables.names, colours, title)
    file = TableFile(
        title,
        partial(preference_frame, found, tables.names),
        report_generation.preference_caption(found),
    )
    show_table(drawn, file, key="reports_preferences")


def show_published(
    tables: ReportTables, ranked_by: MetricId | None, *, on_demand: bool = True
) -> None:
    """Show ReXrank's published boards with our models included; perhaps only on request."""
    label = tr("Published boards of ReXrank, with your models among them")
    if on_demand and not choose_published(label, "reports"):
        return
    first, second, third, fourth = st.columns(4, gap="small")
    editions = {one: edition.name for one, edition in EDITIONS.items()}
    with first:
        edition = _choice(tr("Edition"), "edition", editions)
    boards = [one for one in published_boards() if one.edition.id == edition]
    with second:
        dataset = _choice(tr("Data set"), "dataset", {one.dataset: one.dataset for one in boards})
    sections = {one.section: SECTIONS[one.section] for one in boards if one.dataset == dataset}
    usual = str(tables.scope) if tables.scope in sections else next(iter(sections))
    with third:
        section = _choice(tr("Sections"), "section", sections, usual)
    board = published_board(edition, dataset, section)
    if board is None:
        return
    usual = published_metric_name(ranked_by) if ranked_by else ""
    with fourth:
        usual = usual if usual in METRICS else next(iter(METRICS))
        metric = _choice(tr("Rank by"), "metric", METRICS, usual)
    drawn = published_html(board, tables, metric)
    linked_html(drawn + published_error_free_html(), key="reports_published_tables")


def _choice(label: str, name: str, options: Mapping[str, str], usual: str = "") -> str:
    key = link_keys.QUERY_PUBLISHED_BOARD[name]
    kept = bind_option_to_link(f"reports_{name}", key, options, usual or next(iter(options)))
    return str(
        st.selectbox(as_markdown(label), list(options), format_func=options.__getitem__, **kept)
    )
