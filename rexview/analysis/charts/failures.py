"""Charts of the Failures page: rates with intervals, and on what the failures are."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import altair as alt

from rexview.analysis.charts.linked import (
    LABEL,
    NAMES_AXIS,
    LinkedChart,
    Marks,
    Tip,
    clickable,
    colour_of_models,
    faded,
    linked,
    percent,
    points,
)
from rexview.analysis.charts.model_rows import ROW, TITLE_LETTERS, ModelRows
from rexview.analysis.failures.tables import FailureGroups, FailureTables
from rexview.vocab import FAILURES
from rexview.words import inside, tr


def rates_chart(
    tables: FailureTables, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw the rate of each failure and model with its interval; None when nothing is judged."""
    marks, lines = Marks(), ModelRows()
    for failure in tables.failures:
        known = [row for row in tables.of(failure) if row.rate.share is not None]
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
                    LABEL: tr("{value:,} of {n:,}").format(value=row.flagged.value, n=row.rate.n),
                    "drawn": row.rate.share if limits.high is None else limits.high,
                    ROW: lines.model(name),
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
    shares = [percent(name) for name in ("Share", "CI low", "CI high")]
    tips: list[Tip] = ["Failure", "Model", "Flagged", "Can be judged", *shares]
    drawn = alt.layer(*points(base, clickable(), tips, size=90))
    drawn = drawn.properties(height=alt.Step(lines.step))
    return linked(tr("Failure rates"), drawn, marks, caption=caption, hidden=(ROW, "drawn"))


def _share_axis(end: float) -> alt.Axis:
    """Number the axis up to 100%, also where the labels behind the marks need more room."""
    if end > 1:
        return alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return alt.Axis(format="%", tickCount=5)


def groups_chart(
    groups: FailureGroups, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw how many failures each group has, the models stacked; None without any."""
    marks = Marks()
    for place, group in enumerate(groups.groups):
        for cell in group.cells:
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
    select = clickable()
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
            color=colour_of_models(groups.models, colours),
            opacity=faded(select),
            tooltip=["Group", "Model", "Answers", "n", percent("Share")],
        )
        .add_params(select)
        .properties(height=alt.Step(22))
    )
    title = tr("{plural} by {name}").format(
        plural=FAILURES[groups.failure].plural, name=inside(groups.by.name)
    )
    return linked(title, bars, marks, caption=caption)
