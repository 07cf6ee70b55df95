"""Charts of the Failures page: rates with intervals, and on what the failures are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked import (
    KEY,
    LABEL,
    NAMES_AXIS,
    LinkedChart,
    clickable,
    colour_of_models,
    faded,
    linked,
)
from rexview.analysis.charts.model_rows import ROW, ModelRows, percent
from rexview.analysis.failures.tables import FailureGroups, FailureTables
from rexview.vocab import FAILURES

_HIDDEN: Final = (ROW, "drawn")


def rates_chart(
    tables: FailureTables, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw the rate of each failure and model with its interval; None when nothing is judged."""
    rows, filters, lines = [], {}, ModelRows()
    for failure in tables.failures:
        known = [row for row in tables.of(failure) if row.rate.n]
        if not known:
            continue
        lines.heading(FAILURES[failure].plural)
        for row in known:
            name, key = tables.models[row.model], f"{failure}/{row.model}"
            filters[key] = row.flagged.opens
            limits = row.rate.interval
            rows.append(
                {
                    "Failure": FAILURES[failure].name,
                    "Model": name,
                    "Share": row.rate.share,
                    "CI low": limits.low,
                    "CI high": limits.high,
                    "Flagged": row.flagged.value,
                    "Can be judged": row.rate.n,
                    LABEL: f"{row.flagged.value:,} of {row.rate.n:,}",
                    "drawn": row.rate.share if limits.high is None else limits.high,
                    KEY: key,
                    ROW: lines.model(name),
                }
            )
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    select = clickable()
    highest = min(1.0, float(frame["drawn"].max()))
    base = alt.Chart(frame).encode(
        y=lines.encoding(),
        x=alt.X(
            "Share:Q",
            title="Share of the answers that can be judged",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1.25 * highest or 1], nice=False),
        ),
        color=colour_of_models(tables.models, colours, legend=False),
    )
    bounds = base.mark_rule(strokeWidth=2).encode(x="CI low:Q", x2="CI high:Q")
    tips = ["Failure", "Model", "Flagged", "Can be judged", percent("Share")]
    points = (
        base.mark_point(filled=True, size=90, cursor="pointer")
        .encode(
            opacity=faded(select),
            tooltip=[*tips, percent("CI low"), percent("CI high")],
        )
        .add_params(select)
    )
    texts = base.mark_text(align="left", dx=9, fontSize=11).encode(
        x="drawn:Q", text=f"{LABEL}:N", color=alt.Undefined
    )
    drawn = alt.layer(bounds, points, texts).properties(height=alt.Step(lines.step))
    return linked("Failure rates", drawn, frame, filters, caption=caption, hidden=_HIDDEN)


def groups_chart(
    groups: FailureGroups, colours: Mapping[str, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw how many failures each group has, the models stacked; None without any."""
    rows, filters = [], {}
    for place, group in enumerate(groups.groups):
        for cell in group.cells:
            if not cell.flagged.value:
                continue
            key = f"{place}/{cell.model}"
            filters[key] = cell.flagged.opens
            rows.append(
                {
                    groups.by.name: group.name,
                    "Model": groups.models[cell.model],
                    "Answers": cell.flagged.value,
                    "n": cell.rate.n,
                    "Share": cell.rate.share,
                    KEY: key,
                }
            )
    if not rows:
        return None
    frame = pd.DataFrame(rows).rename(columns={groups.by.name: "Group"})
    select = clickable()
    order = list(dict.fromkeys(frame["Group"]))
    bars = (
        alt.Chart(frame)
        .mark_bar(cursor="pointer")
        .encode(
            y=alt.Y("Group:N", sort=order, title=None, axis=NAMES_AXIS),
            x=alt.X(
                "Answers:Q",
                title="Answers with the failure",
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            color=colour_of_models(groups.models, colours),
            opacity=faded(select),
            tooltip=["Group", "Model", "Answers", "n", percent("Share")],
        )
        .add_params(select)
        .properties(height=alt.Step(22))
    )
    title = f"{FAILURES[groups.failure].plural} by {groups.by.name.lower()}"
    return linked(title, bars, frame, filters, caption=caption)
