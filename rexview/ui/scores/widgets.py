"""The widgets of the Scores page: comparisons, charts, split, published figures."""

from __future__ import annotations

from functools import lru_cache, partial

import streamlit as st

from rexview.analysis import CaseFilter, CaseProperty, Engine, SetFacts, model_colours, scores
from rexview.analysis.charts.linked import LinkedChart
from rexview.analysis.charts.scores import (
    chain_chart,
    distribution_chart,
    gap_spread_chart,
    lost_chart,
    split_chart,
)
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import SCORE_SHARES, score_frame
from rexview.analysis.scores import TABLE_1, TABLE_2, ScoreTables, Split
from rexview.ui.charts.panel import show_chart, show_charts_beside
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import option_kept_in_link, published_shown
from rexview.ui.link.in_app import linked_html
from rexview.ui.scores import html as scores_html
from rexview.ui.scores import model_comparisons
from rexview.ui.scores.published import published_html
from rexview.ui.server import query_cache
from rexview.ui.server.kept_with import kept_with_first
from rexview.ui.tables.table_download import show_table
from rexview.ui.tables.wide_table import show_wide_table
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES
from rexview.words import listed, tr

_NO_SPLIT = ""


@kept_with_first(16)
def _charts(tables: ScoreTables, facts: SetFacts) -> dict[str, LinkedChart | None]:
    colours = model_colours(facts.models)
    chain = f"{scores.n_caption(tables, CONTENT_PARTS)} {scores.interval_caption()}"
    left_out = scores.left_out_caption(tables, tables.dimensions)
    return {
        "chain": chain_chart(tables, colours, caption=chain),
        "gap": gap_spread_chart(tables, colours, caption=scores.gap_caption(tables)),
        "spread": distribution_chart(tables, caption=left_out),
        "lost": lost_chart(tables),
    }


@lru_cache(maxsize=16)
def _split_chart(split: Split, facts: SetFacts, dimension: str) -> LinkedChart | None:
    caption = scores.split_caption(split)
    return split_chart(split, dimension, model_colours(facts.models), caption=caption)


def show_tables(tables: ScoreTables, facts: SetFacts) -> None:
    """Show the two tables of scores, and for more than two models how to compare them."""
    colours = model_colours(facts.models)
    for number, dimensions in enumerate((TABLE_1, TABLE_2), start=1):
        title = f"Table {number}. " + listed(
            [DIMENSION_NAMES[name] for name in dimensions if name in tables.dimensions]
        )
        with st.spinner(tr("Comparing the models…")):  # two models are compared in the table
            drawn = scores_html.scores_html(tables, dimensions, title, colours)
        if drawn:
            shown = [name for name in dimensions if name in tables.dimensions]
            caption = scores.summary_caption(tables, shown)
            caption += f" {scores.left_out_caption(tables, shown)}"
            if len(tables.models) > 1:
                caption += f" {scores.comparison_caption(tables, shown)}"
            file = TableFile(title, partial(score_frame, tables, shown), caption, SCORE_SHARES)
            show_table(drawn, file, key=f"scores_table_{number}")
    if len(tables.models) > 2:
        _comparisons(tables)


def _comparisons(tables: ScoreTables) -> None:
    label = tr("Comparisons between the {models:,} models").format(models=len(tables.models))
    box = st.expander(label, key="scores_comparisons", on_change="rerun")
    if not box.open:
        return  # nobody sees it: hundreds of rows would be sent for nothing
    with box:
        with st.spinner(tr("Comparing all pairs of models…")):
            first = tr("Friedman's test over the cases where every model has a score.")
            together = model_comparisons.friedman_html(tables, first)
            caption = scores.comparison_caption(tables, DIMENSION_NAMES)
            pairs = model_comparisons.pairs_html(tables, caption)
        linked_html(together, key="scores_friedman")
        linked_html(pairs, key="scores_pairs")
        with st.expander(tr("All pairs as a table")):
            show_wide_table(model_comparisons.pairs_frame(tables), key="scores_all_pairs")


def show_charts(tables: ScoreTables, facts: SetFacts) -> None:
    """Show the chain, the gaps and how the scores spread, each with the table behind it."""
    charts = _charts(tables, facts)
    beside = [chart for name in ("chain", "gap") if (chart := charts[name]) is not None]
    show_charts_beside(beside, key="scores_chart")
    colours = model_colours(facts.models)
    if drawn := scores_html.gaps_html(tables, colours, scores.gap_caption(tables)):
        linked_html(drawn, key="scores_gaps")
    if (spread := charts["spread"]) is not None:
        show_chart(spread, key="scores_spread")


def show_lost(tables: ScoreTables, facts: SetFacts) -> None:
    """Show how many answers count as no full answer, by reason."""
    if not tables.lost.value:
        st.caption(tr("No full answer: none of {value:,}.").format(value=tables.answers.value))
        return
    linked_html(scores_html.lost_html(tables, model_colours(facts.models)), key="scores_lost")
    if (chart := _charts(tables, facts)["lost"]) is not None:
        show_chart(chart, key="scores_lost_chart")


def show_split(engine: Engine, case_filter: CaseFilter, tables: ScoreTables) -> None:
    """Show the scores by a property of the cases that the reader chooses."""
    choices = {choice.key: choice for choice in engine.facts.properties}
    if not choices:
        return
    by = _chosen_split(choices)
    if by is None:
        return
    with st.spinner(tr("Working out the scores of each part…")):
        split = query_cache.split(engine, case_filter, by)
    dimension = _chosen_score(tables)
    chart = _split_chart(split, engine.facts, dimension)
    if chart is None:
        st.info(
            tr("No case here has a value of {name} and a score.").format(name=as_markdown(by.name))
        )
        return
    show_chart(chart, key="scores_split_chart")
    colours = model_colours(engine.facts.models)
    drawn = scores_html.split_html(split, colours, scores.split_caption(split))
    linked_html(drawn, key="scores_split_table")


def _chosen_split(choices: dict[str, CaseProperty]) -> CaseProperty | None:
    asked = link_keys.query_value(link_keys.QUERY_SPLIT) or _NO_SPLIT
    chosen = st.selectbox(
        tr("Split by"),
        [_NO_SPLIT, *choices],
        format_func=lambda key: choices[key].name if key in choices else tr("Nothing"),
        width=320,
        **option_kept_in_link("scores_split", link_keys.QUERY_SPLIT, choices, _NO_SPLIT),
    )
    if asked != _NO_SPLIT and asked not in choices:
        st.caption(tr("The link asks for a split that this set does not have."))
    return choices.get(chosen)


def _chosen_score(tables: ScoreTables) -> str:
    kept = option_kept_in_link(
        "scores_split_score",
        link_keys.QUERY_SPLIT_SCORE,
        tables.dimensions,
        tables.dimensions[0],
    )
    return str(
        st.segmented_control(
            tr("Score in the chart"),
            list(tables.dimensions),
            format_func=DIMENSION_NAMES.__getitem__,
            required=True,
            **kept,
        )
    )


def show_published(tables: ScoreTables) -> None:
    """Show the paper's figures beside the own ones, when asked for."""
    if published_shown(tr("Published figures of the ReXecution paper beside these"), "scores"):
        linked_html(published_html(tables), key="scores_published_tables")
