"""The widgets of the Failures page: whose verdict counts, rates, and what failures are about."""

from __future__ import annotations

from functools import lru_cache, partial

import streamlit as st

from rexview.analysis import CaseFilter, Engine, SetFacts, model_colours
from rexview.analysis.charts.failures import groups_chart, rates_chart
from rexview.analysis.charts.linked import LinkedChart
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import FAILURE_SHARES, failure_frame, group_frame
from rexview.analysis.failures import (
    BY_FINDING,
    COUNTED,
    FailureGroups,
    FailureTables,
    counted_caption,
    group_caption,
    group_choices,
    rate_caption,
    so_far_after,
    so_far_caption,
)
from rexview.ui.charts.panel import show_chart
from rexview.ui.failures import html as failures_html
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link, option_kept_in_link
from rexview.ui.link.in_app import linked_html
from rexview.ui.server import query_cache
from rexview.ui.server.kept_with import kept_with_first
from rexview.ui.tables.table_download import show_table
from rexview.vocab import FAILURES
from rexview.words import inside, tr


@kept_with_first(16)
def _rates(tables: FailureTables, facts: SetFacts) -> LinkedChart | None:
    return rates_chart(tables, model_colours(facts.models), caption=_rates_caption(tables))


def _rates_caption(tables: FailureTables) -> str:
    counted = counted_caption(tables.counted, tables.scanned)
    return f"{counted} {rate_caption(clustered=tables.clustered)}"


def _title(words: str, tables: FailureTables) -> str:
    return so_far_after(words, so_far=not tables.scanned.is_complete)


@lru_cache(maxsize=16)
def _groups(groups: FailureGroups, facts: SetFacts, so_far: str) -> LinkedChart | None:
    caption = " ".join(
        filter(None, (so_far, group_caption(groups.kind, any_small=groups.any_small)))
    )
    return groups_chart(groups, model_colours(facts.models), caption=caption)


def choose_counted() -> str:
    """Offer whose verdict counts: rule, reader, either or both; the link keeps the choice."""
    return str(
        st.segmented_control(
            tr("Flagged by"),
            list(COUNTED),
            format_func=lambda word: COUNTED[word][0],
            required=True,
            **option_kept_in_link("failures_counted", link_keys.QUERY_COUNTED, COUNTED, "any"),
        )
    )


def show_rates(tables: FailureTables, facts: SetFacts) -> None:
    """Show the rates as a table and a chart, and what each failure means."""
    colours = model_colours(facts.models)
    title = _title(tr("Table 4. Failures by model"), tables)
    with st.spinner(tr("Comparing the models…")):
        drawn = failures_html.rates_html(tables, colours, title)
    caption = _rates_caption(tables)
    file = TableFile(title, partial(failure_frame, tables), caption, FAILURE_SHARES)
    show_table(drawn, file, key="failures_rates")
    if len(tables.models) > 2:
        box = st.expander(
            tr("Comparisons between the models"), key="failures_pairs", on_change="rerun"
        )
        if box.open:
            with box:
                linked_html(failures_html.comparisons_html(tables), key="failures_pair_table")
    with st.expander(tr("What each failure means, and what can be judged")):
        linked_html(failures_html.meanings_html(tables), key="failures_meanings")
    if (chart := _rates(tables, facts)) is not None:
        show_chart(chart, key="failures_rates_chart")


def show_groups(engine: Engine, case_filter: CaseFilter, tables: FailureTables) -> None:
    """Show one failure by finding, region or a property of the cases, most failures first."""
    choices = {choice.key: choice for choice in group_choices(engine)}
    left, right = st.columns(2, gap="small")
    with left:
        failure = _choose_failure(case_filter, tables, engine.facts)
    with right:
        by = choices[_choose_group({key: choice.name for key, choice in choices.items()})]
    groups = query_cache.failure_groups(engine, case_filter, failure, by, counted=tables.counted)
    if not groups.groups:
        nothing = _title(tr("No answer here shows this failure"), tables)
        st.info(as_markdown(f"{nothing}: {inside(FAILURES[failure].plural)}."))
        return
    title = _title(
        tr("Table 5. {plural} by {name}").format(
            plural=FAILURES[failure].plural, name=inside(by.name)
        ),
        tables,
    )
    so_far = so_far_caption(tables.scanned)
    drawn = failures_html.groups_html(groups, title, so_far=so_far)
    about = group_caption(groups.kind, any_small=groups.any_small)
    caption = f"{counted_caption(tables.counted, tables.scanned)} {about}"
    file = TableFile(title, partial(group_frame, groups), caption, FAILURE_SHARES)
    show_table(drawn, file, key="failures_groups")
    if (chart := _groups(groups, engine.facts, so_far)) is not None:
        show_chart(chart, key="failures_groups_chart")


def _choose_failure(case_filter: CaseFilter, tables: FailureTables, facts: SetFacts) -> str:
    """Offer the failures; at first that of the filter, else the most frequent about findings."""
    counts = {
        failure: sum(row.flagged.value for row in tables.of(failure)) for failure in tables.failures
    }
    kinds = facts.harm.failures
    often = max(counts, key=lambda one: (kinds[one].by_finding and counts[one] > 0, counts[one]))
    usual = next((failure for failure in case_filter.failures if failure in counts), often)
    asked = link_keys.query_value(link_keys.QUERY_FAILURE_SHOWN)
    return str(
        st.selectbox(
            tr("Failure"),
            list(counts),
            format_func=lambda failure: f"{FAILURES[failure].plural} ({counts[failure]:,})",
            **kept_in_link(
                "failures_failure",
                link_keys.QUERY_FAILURE_SHOWN,
                asked if asked in counts else usual,
                str,
            ),
        )
    )


def _choose_group(names: dict[str, str]) -> str:
    kept = option_kept_in_link("failures_by", link_keys.QUERY_SPLIT, names, BY_FINDING.key)
    return str(st.selectbox(tr("By"), list(names), format_func=names.__getitem__, **kept))
