"""Charts of the Failures page: rates with intervals, and failures by group."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Final

import altair as alt

from rexview.analysis.charts.linked_chart import (
    MARK_LABEL,
    NAMES_AXIS,
    ROW_KEY,
    TITLE_LETTERS,
    ChartMarks,
    LinkedChart,
    ModelRows,
    TooltipSpec,
    click_selection,
    colour_of_models,
    draw_points,
    fade_unclicked,
    link_chart,
    percent_tooltip,
)
from rexview.analysis.colours import MODEL_COLOURS, SHARED_MODEL_COLOUR
from rexview.analysis.failures import FailureGroups, FailureRow, FailureTables
from rexview.analysis.ranking import rank_for_display, rank_in_each_group
from rexview.vocab import FAILURES
from rexview.words import mid_sentence, tr

_MOST_DIFFERING: Final = 4
"""Number of failures drawn for many models."""


def rates_chart(
    tables: FailureTables, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw the rate of each failure and model with its interval; None if nothing is judged.

    Of many models, only those that fail most and least often are drawn, for the failures on which
    models differ most.
    """
    marks, lines = ChartMarks(), ModelRows()
    of_models = rank_in_each_group(tables.models)
    failures = _most_differing_failures(tables) if of_models.is_cut else tables.failures
    for failure in failures:
        known = rank_for_display(_judged_rows(tables, failure), lambda row: row.rate.share).shown
        if known:
            lines.heading(FAILURES[failure].plural)
        for row in known:
            name, limits = tables.models[row.model], row.rate.interval
            marks.add(
                f"{failure}/{row.model}",
                row.flagged.opens,
                {
                    "Failure": FAILURES[failure].name,
                    "Model": name,
                    "Share": row.rate.share,
                    "CI low": limits.low,
                    "CI high": limits.high,
                    "Flagged": row.flagged.value,
                    "Can be judged": row.rate.n,
                    MARK_LABEL: tr("{value:,} of {n:,}").format(
                        value=row.flagged.value, n=row.rate.n
                    ),
                    "drawn": row.rate.share if limits.high is None else limits.high,
                    ROW_KEY: lines.model(name),
                },
            )
    if not marks.rows:
        return None
    highest = min(1.0, float(marks.frame["drawn"].max()))
    base = alt.Chart(marks.frame).encode(
        y=lines.encoding(),
        x=alt.X(
            "Share:Q",
            title=textwrap.wrap(tr("Share of the answers that can be judged"), TITLE_LETTERS),
            axis=_share_axis(1.25 * highest),
            scale=alt.Scale(domain=[0, 1.25 * highest or 1], nice=False),
        ),
        color=colour_of_models(tables.models, colours, legend=False),
    )
    shares = [percent_tooltip(name) for name in ("Share", "CI low", "CI high")]
    tips: list[TooltipSpec] = ["Failure", "Model", "Flagged", "Can be judged", *shares]
    drawn = alt.layer(*draw_points(base, click_selection(), tips, size=90))
    drawn = drawn.properties(height=alt.Step(lines.step))
    if of_models.is_cut:
        words = tr("The {n} failures in which the models differ most.").format(n=len(failures))
        caption = f"{caption} {words} {of_models.sentence(tr('share'))}".strip()
    return link_chart(tr("Failure rates"), drawn, marks, caption=caption, hidden=(ROW_KEY, "drawn"))


def _judged_rows(tables: FailureTables, failure: str) -> list[FailureRow]:
    return [row for row in tables.of(failure) if row.rate.share is not None]


def _most_differing_failures(tables: FailureTables) -> list[str]:
    """Return the failures whose shares differ most, in the order of the table."""

    def width(failure: str) -> float:
        shares = [row.rate.share or 0.0 for row in _judged_rows(tables, failure)]
        return max(shares) - min(shares) if shares else 0.0

    widest = sorted(tables.failures, key=width, reverse=True)[:_MOST_DIFFERING]
    return [failure for failure in tables.failures if failure in widest and width(failure)]


def _share_axis(end: float) -> alt.Axis:
    """Return an axis with labels up to 100%, even if the labels of marks need more room."""
    if end > 1:
        return alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return alt.Axis(format="%", tickCount=5)


def groups_chart(
    groups: FailureGroups, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw the number of failures by group, with stacked models; None without any.

    If there are more models than colours, all models are drawn together.
    """
    marks = ChartMarks()
    together = len(groups.models) > len(MODEL_COLOURS)
    for place, group in enumerate(groups.groups):
        if together and group.count.value:
            row = {"Group": group.name, "Answers": group.count.value}
            marks.add(f"{place}", group.count.opens, row)
        for cell in () if together else group.cells:
            if cell.flagged.value:
                marks.add(
                    f"{place}/{cell.model}",
                    cell.flagged.opens,
                    {
                        "Group": group.name,
                        "Model": groups.models[cell.model],
                        "Answers": cell.flagged.value,
                        "n": cell.rate.n,
                        "Share": cell.rate.share,
                    },
                )
    if not marks.rows:
        return None
    select = click_selection()
    tips: list[TooltipSpec] = ["Group", "Model", "Answers", "n", percent_tooltip("Share")]
    order = list(dict.fromkeys(marks.frame["Group"]))
    bars = (
        alt.Chart(marks.frame)
        .mark_bar(cursor="pointer")
        .encode(
            y=alt.Y("Group:N", sort=order, title=None, axis=NAMES_AXIS),
            x=alt.X(
                "Answers:Q",
                title=tr("Answers with the failure"),
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            color=alt.value(SHARED_MODEL_COLOUR)
            if together
            else colour_of_models(groups.models, colours),
            opacity=fade_unclicked(select),
            tooltip=["Group", "Answers"] if together else tips,
        )
        .add_params(select)
        .properties(height=alt.Step(22))
    )
    title = tr("{plural} by {name}").format(
        plural=FAILURES[groups.failure].plural, name=mid_sentence(groups.by.name)
    )
    if together:
        words = tr("All {n:,} models together; the table lists each.").format(n=len(groups.models))
        caption = f"{caption} {words}".strip()
    return link_chart(title, bars, marks, caption=caption)
