"""Rates of failures as tables and charts, by whose verdict counts, and by subject."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import streamlit as st

from rexview.analysis import CaseFilter, Engine, SetFacts, assign_model_colours
from rexview.analysis.charts.failures import groups_chart, rates_chart
from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import FAILURE_SHARES, failure_frame, failure_group_frame
from rexview.analysis.failures import (
    BY_FINDING,
    COUNTED_SOURCES,
    FailureGroups,
    FailureRow,
    FailureTables,
    GroupCell,
    add_so_far,
    comparison_caption,
    counted_caption,
    group_caption,
    judged_caption,
    list_failure_groupings,
    rate_caption,
    so_far_caption,
)
from rexview.analysis.ranking import DisplayRanking, rank_for_display, rank_in_each_group
from rexview.detect.precision import Precision, find_precision
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import FailureTest, Rate
from rexview.ui.charts import show_chart
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_table
from rexview.ui.tables.number_table import (
    MOST_PAIRS,
    NOTHING,
    HeadCell,
    MissingReasons,
    format_points,
    group_rows,
    linked_number,
    mcnemar_html,
    model_head,
    pairs_title,
    ranked_head,
    short_name,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link
from rexview.ui.web.server import query_cache
from rexview.ui.web.server.shared_work import cache_on_first_argument
from rexview.vocab import FAILURES, SUGGESTED_FAILURES
from rexview.words import mid_sentence, tr, trn

# The tables of the Failures page as HTML: every number is a link to the answers behind it.


def rates_html(tables: FailureTables, colours: Mapping[str, str], title: str) -> str:
    """Return every failure with a row for each model; two models have their test next to them.

    Many models are ranked within each failure, highest rate first.
    """
    compared = len(tables.models) == 2
    heads = [
        "",
        tr("Model"),
        tr("Share"),
        tr("95% CI"),
        tr("Answers that can be judged"),
        tr("Suggested"),
    ]
    heads += [tr("Difference"), tr("p adjusted")] if compared else []
    tests = {test.failure: test for test in tables.tests} if compared else {}
    of_models = rank_in_each_group(tables.models)
    reasons = MissingReasons()
    body: list[str] = []
    for failure in tables.failures:
        measured = find_precision(failure) if failure in SUGGESTED_FAILURES else None
        rows = tables.of(failure)
        is_known = any(row.rate.share is not None for row in rows)
        ranking = (
            rank_for_display(rows, lambda row: row.rate.share) if is_known else _by_hints(rows)
        )
        about = (
            f"{html.escape(FAILURES[failure].plural)}"
            f"<small>{html.escape(judged_caption(failure, short=True))}</small>"
        )

        def line(
            row: FailureRow, failure: str = failure, measured: Precision | None = measured
        ) -> tuple[str, str]:
            name = tables.models[row.model]
            where = f"{FAILURES[failure].plural}, {name}"
            cells = _rate_cells(row, where, reasons, measured)
            return name, model_head(name, colours.get(row.model, "")) + cells

        plural = FAILURES[failure].plural
        tested = _test_numbers(tables, tests[failure], reasons, plural) if tests else ()
        body += group_rows(
            about, ranking, line, len(heads) - 1 - len(tested), tested, apart=of_models.is_cut
        )
    caption = [
        counted_caption(tables.counted, tables.scanned),
        rate_caption(clustered=tables.clustered),
    ]
    caption.append(
        tr(
            "Suggested: by a rule, and no reader has confirmed it; not counted. The percentage is "
            "the share of such suggestions that were right in tests."
        )
    )
    if compared:
        first, second = tables.models.values()
        caption.append(comparison_caption(first, second))
    heads = heads[1:] if of_models.is_cut else heads
    tools = ranked_tools(of_models, tr("share, highest first"))
    return table_html(title, heads, body, " ".join(caption), tools) + reasons.html()


def _by_hints(rows: Sequence[FailureRow]) -> DisplayRanking[FailureRow]:
    """Rank models without judged answers by how often a rule suggests the failure."""
    return rank_for_display(rows, lambda row: float(row.hinted.value))


def _rate_cells(
    row: FailureRow, where: str, reasons: MissingReasons, measured: Precision | None
) -> str:
    of = f"<small>{tr('of {n:,}').format(n=row.answers)}</small>"
    judged = linked_number(row.judged, f"{row.rate.n:,}{of}")
    hinted = NOTHING
    if row.hinted.value:
        right = ""
        if measured:
            words = tr("{share:.0%} right in tests").format(share=measured.right / measured.flags)
            right = f'<small title="{html.escape(measured.sentence)}">{words}</small>'
        hinted = linked_number(row.hinted, f"{row.hinted.value:,}{right}")
    if row.rate.share is None and row.rate.n:
        not_judged = _not_judged(row.rate, where, reasons)
        return f"<td>{not_judged}</td><td>{NOTHING}</td><td>{judged}</td><td>{hinted}</td>"
    if row.rate.share is None:
        dash = reasons.add(row.rate.interval.why or tr("Nothing to judge."), where)
        return f"<td>{dash}</td><td>{NOTHING}</td><td>{judged}</td><td>{hinted}</td>"
    share = linked_number(
        row.flagged,
        (
            f"<b>{row.rate.share:.0%}</b><small>"
            f"{tr('{value:,} of {n:,}').format(value=row.flagged.value, n=row.rate.n)}</small>"
        ),
    )
    return (
        f"<td>{share}</td><td>{_limits(row.rate.interval, where, reasons)}</td>"
        f"<td>{judged}</td><td>{hinted}</td>"
    )


def _not_judged(rate: Rate, where: str, reasons: MissingReasons) -> str:
    """Return that no answers were judged, because 0% would mean that all is well."""
    return reasons.add(rate.interval.why or tr("Undefined."), where, tr("not judged"))


def _limits(limits: Interval, where: str, reasons: MissingReasons) -> str:
    if limits.low is None or limits.high is None:
        return reasons.add(limits.why or tr("Undefined."), where)
    return tr("{low:.0%} to {high:.0%}").format(low=limits.low, high=limits.high)


def _test_numbers(
    tables: FailureTables, test: FailureTest, reasons: MissingReasons, where: str
) -> tuple[str, str]:
    if test.difference is None:
        difference = reasons.add(test.why or tr("Undefined."), where)
    else:
        limits = test.interval
        if limits.low is not None and limits.high is not None:
            between = tr("{low} to {high}").format(
                low=format_points(limits.low), high=format_points(limits.high)
            )
        else:  # many models have no interval and no reason
            between = (
                reasons.add(limits.why, tr("{where}, difference").format(where=where))
                if limits.why
                else ""
            )
        pairs = trn("{pairs:,} pair", "{pairs:,} pairs", test.n_pairs).format(pairs=test.n_pairs)
        first, second = (html.escape(tables.models[one]) for one in (test.model_a, test.model_b))
        only_first, only_second = (
            linked_number(count, f"{n:,}") if count else f"{n:,}"
            for count, n in zip(tables.failed_only(test), (test.only_a, test.only_b), strict=True)
        )
        failed_only = tr("failed only {first}: {only_first} · only {second}: {only_second}")
        failed_only = failed_only.format(
            first=first, only_first=only_first, second=second, only_second=only_second
        )
        difference = (
            f"<b>{format_points(test.difference)}</b> {tr('points')}"
            f'<small class="rx-ci">{between}</small><small class="rx-ci">{pairs}</small>'
            f'<small class="rx-ci rx-failed-only">{failed_only}</small>'
        )
    return difference, mcnemar_html(test, reasons, where)


def comparisons_html(tables: FailureTables) -> str:
    """Return the comparisons of more than two models, the smallest adjusted p first."""
    tests = sorted(tables.tests, key=lambda test: (test.p_adj is None, test.p_adj or 0.0))
    if not tests:
        return ""
    reasons, body = MissingReasons(), []
    for test in tests[:MOST_PAIRS]:
        first, second = (tables.models[model] for model in (test.model_a, test.model_b))
        where = tr("{plural}, {first} and {second}").format(
            plural=FAILURES[test.failure].plural, first=first, second=second
        )
        names = (FAILURES[test.failure].plural, first, second)
        cells = [short_name(name) for name in names]
        cells += _test_numbers(tables, test, reasons, where)
        body.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    title = pairs_title(tr("Pairs of models, smallest adjusted p first"), len(tests))
    heads = [tr("Failure"), "A", "B", tr("A minus B"), tr("p adjusted")]
    return table_html(title, heads, body, comparison_caption()) + reasons.html()


def meanings_html(tables: FailureTables) -> str:
    """Return each failure's meaning, what can be judged, and how often its rule was right."""
    items = []
    for failure in tables.failures:
        about = FAILURES[failure]
        found = find_precision(failure)
        rule = f" {found.caption}" if found else ""
        outright = find_precision(failure, "contradiction")
        rule += f" {outright.caption}" if outright else ""
        text = f"{about.meaning} {judged_caption(failure)}{rule}"
        items.append(f"<li><b>{html.escape(about.plural)}.</b> {html.escape(text)}</li>")
    return f'<ul class="rx-reasons rx-meanings">{"".join(items)}</ul>'


def groups_html(groups: FailureGroups, title: str, *, so_far: str = "") -> str:
    """Return one failure by group, most failures first; models are columns, ranked if many.

    ``so_far`` is a note on how many answers were scanned, if not all of them.
    """
    ranking = rank_for_display(groups.models, groups.failures_of)
    names = groups.models
    heads: list[str | HeadCell] = [groups.by.name, tr("All models")]
    heads += [ranked_head(names[model], model, ranking) for model in ranking.order]
    reasons, body = MissingReasons(), []
    for group in groups.groups:
        head = f'<th scope="row">{short_name(group.name)}</th>'
        cells = ""
        found = {cell.model: cell for cell in group.cells}
        for cell in (found[model] for model in ranking.order if model in found):
            name = names[cell.model]
            drawn = f"<td>{_group_cell(cell, f'{group.name}, {name}', reasons)}</td>"
            cells += ranked_item(drawn, name, cell.model, ranking)
        total = linked_number(group.count, f"<b>{group.count.value:,}</b>")
        body.append(f"<tr>{head}<td>{total}</td>{cells}</tr>")
    caption = " ".join(
        filter(None, (so_far, group_caption(groups.kind, any_small=groups.any_small)))
    )
    if groups.left_out:
        left_out = tr("{n:,} groups with fewer failures are left out.").format(n=groups.left_out)
        caption += f" {left_out}"
    tools = ranked_tools(ranking, tr("answers with the failure, most first"))
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _group_cell(cell: GroupCell, where: str, reasons: MissingReasons) -> str:
    if cell.rate.n and cell.rate.share is None:
        return _not_judged(cell.rate, where, reasons)
    if not cell.rate.n or cell.rate.share is None:
        return reasons.add(cell.rate.interval.why or tr("Nothing to judge."), where)
    share = f"<b>{cell.flagged.value:,}</b><small>{tr('of {n:,}').format(n=cell.rate.n)}</small>"
    number = linked_number(cell.flagged, share)
    small = f" · {tr('small group')}" if cell.is_small else ""
    limits = _limits(cell.rate.interval, where, reasons)
    return f'{number}<small class="rx-ci">{cell.rate.share:.0%}, {limits}{small}</small>'


@cache_on_first_argument(16)
def _rates(tables: FailureTables, facts: SetFacts) -> LinkedChart | None:
    return rates_chart(tables, assign_model_colours(facts.models), caption=_rates_caption(tables))


def _rates_caption(tables: FailureTables) -> str:
    counted = counted_caption(tables.counted, tables.scanned)
    return f"{counted} {rate_caption(clustered=tables.clustered)}"


def _title(words: str, tables: FailureTables) -> str:
    return add_so_far(words, so_far=not tables.scanned.is_complete)


@lru_cache(maxsize=16)
def _groups(groups: FailureGroups, facts: SetFacts, so_far: str) -> LinkedChart | None:
    caption = " ".join(
        filter(None, (so_far, group_caption(groups.kind, any_small=groups.any_small)))
    )
    return groups_chart(groups, assign_model_colours(facts.models), caption=caption)


def choose_counted() -> str:
    """Show a choice of whose verdict counts: rule, reader, either or both; the link keeps it."""
    return str(
        st.segmented_control(
            tr("Flagged by"),
            list(COUNTED_SOURCES),
            format_func=lambda word: COUNTED_SOURCES[word][0],
            required=True,
            **bind_option_to_link(
                "failures_counted", link_keys.QUERY_COUNTED, COUNTED_SOURCES, "any"
            ),
        )
    )


def show_rates(tables: FailureTables, facts: SetFacts) -> None:
    """Show the rates as a table and a chart, and the meaning of each failure."""
    colours = assign_model_colours(facts.models)
    title = _title(tr("Table 4. Failures by model"), tables)
    with st.spinner(tr("Comparing the models…")):
        drawn = rates_html(tables, colours, title)
    caption = _rates_caption(tables)
    file = TableFile(title, partial(failure_frame, tables), caption, FAILURE_SHARES)
    show_table(drawn, file, key="failures_rates")
    if len(tables.models) > 2:
        box = st.expander(
            tr("Comparisons between the models"), key="failures_pairs", on_change="rerun"
        )
        if box.open:
            with box:
                linked_html(comparisons_html(tables), key="failures_pair_table")
    with st.expander(tr("What each failure means, and what can be judged")):
        linked_html(meanings_html(tables), key="failures_meanings")
    if (chart := _rates(tables, facts)) is not None:
        show_chart(chart, key="failures_rates_chart")


def show_groups(engine: Engine, case_filter: CaseFilter, tables: FailureTables) -> None:
    """Show one failure by finding, region or a property of the cases, most failures first."""
    choices = {choice.key: choice for choice in list_failure_groupings(engine)}
    left, right = st.columns(2, gap="small")
    with left:
        failure = _choose_failure(case_filter, tables, engine.facts)
    with right:
        by = choices[_choose_group({key: choice.name for key, choice in choices.items()})]
    groups = query_cache.failure_groups(engine, case_filter, failure, by, counted=tables.counted)
    if not groups.groups:
        nothing = _title(tr("No answer here shows this failure"), tables)
        st.info(as_markdown(f"{nothing}: {mid_sentence(FAILURES[failure].plural)}."))
        return
    title = _title(
        tr("Table 5. {plural} by {name}").format(
            plural=FAILURES[failure].plural, name=mid_sentence(by.name)
        ),
        tables,
    )
    so_far = so_far_caption(tables.scanned)
    drawn = groups_html(groups, title, so_far=so_far)
    about = group_caption(groups.kind, any_small=groups.any_small)
    caption = f"{counted_caption(tables.counted, tables.scanned)} {about}"
    file = TableFile(title, partial(failure_group_frame, groups), caption, FAILURE_SHARES)
    show_table(drawn, file, key="failures_groups")
    if (chart := _groups(groups, engine.facts, so_far)) is not None:
        show_chart(chart, key="failures_groups_chart")


def _choose_failure(case_filter: CaseFilter, tables: FailureTables, facts: SetFacts) -> str:
    """Show a choice of failures, by default the filter's, else the most frequent on findings."""
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
            **bind_to_link(
                "failures_failure",
                link_keys.QUERY_FAILURE_SHOWN,
                asked if asked in counts else usual,
                str,
            ),
        )
    )


def _choose_group(names: dict[str, str]) -> str:
    kept = bind_option_to_link("failures_by", link_keys.QUERY_SPLIT, names, BY_FINDING.key)
    return str(st.selectbox(tr("By"), list(names), format_func=names.__getitem__, **kept))
