"""Charts of the Scores page: how scores spread, and who never answered.

Each has one row a model, so that one and twenty models are read alike.
"""

from __future__ import annotations

from typing import Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked import (
    INK,
    LABEL,
    LinkedChart,
    Marks,
    clickable,
    faded,
    linked,
    percent,
)
from rexview.analysis.charts.model_rows import LEGEND_COLUMNS, LONG_LEGEND_COLUMNS, ROW, ModelRows
from rexview.analysis.ranking import in_each_group, ranked
from rexview.analysis.scores.tables import BINS, ScoreTables, cells_of
from rexview.stats import NO_ANSWER, STATUSES
from rexview.vocab import DIMENSION_NAMES
from rexview.words import tr

BIN_COLOURS: Final = ("#A6480A", "#F0A860", "#C9CDD2", "#8DBBE0", "#1F5FA8")
"""From low to high: orange to blue, dark at both ends, for the colour-blind and for grey print."""
_ON_BIN: Final = ("#FFFFFF", INK, INK, INK, "#FFFFFF")
REASON_COLOURS: Final = {
    "token_limit": "#D9822B",
    "error": "#B58AE8",
    "refused": "#3C90CC",
    "empty": "#8A9099",
}
_N_LOW: Final = 2
"""The first classes are below 3: they stand to the left of the line."""
_ROOM_FOR_N: Final = 0.14
"""Part of the axis, in shares, that is left for n at the end of a full bar."""
_TEXT_WIDTH: Final = 30
"""Pixels that the text of a share needs."""
_HIDDEN: Final = (ROW, "start", "end", "middle", "ink")


def distribution_chart(tables: ScoreTables, *, caption: str = "") -> LinkedChart | None:
    """Draw the final scores of each dimension and model in classes, as stacked shares.

    Shares below 3 lie left of the line, the others right of it. Of many models, those with the
    highest and the lowest mean of each dimension. None when nothing is scored.
    """
    marks, sizes, lines = Marks(), [], ModelRows()
    one_model = len(tables.models) == 1
    for dimension in tables.dimensions:
        if not one_model:
            lines.heading(DIMENSION_NAMES[dimension])
        of_dimension = ranked(cells_of(tables.cells, dimension), lambda cell: cell.summary.mean)
        for cell in of_dimension.shown:
            model, n = cell.model, cell.summary.n
            line = lines.model(cell.name if one_model else tables.models[model])
            edge = -sum(count.value for count in cell.bins[:_N_LOW]) / n if n else 0.0
            for place, ((name, _), count) in enumerate(zip(BINS, cell.bins, strict=True)):
                share = count.value / n if n else 0.0
                if count.value:
                    marks.add(
                        f"{dimension}/{place}/{model}",
                        count.opens,
                        {
                            "Dimension": cell.name,
                            "Model": tables.models[model],
                            "Score": name,
                            "Counted": count.value,
                            "of": n,
                            "Share": share,
                            LABEL: f"{share:.0%}",
                            ROW: line,
                            "start": edge,
                            "end": edge + share,
                            "middle": edge + share / 2,
                            "ink": _ON_BIN[place],
                        },
                    )
                edge += share
            if n:
                sizes.append({ROW: line, "end": edge, "n": f"n {n:,}"})
    if not marks.rows:
        return None
    frame, select = marks.frame, clickable()
    names = [name for name, _ in BINS]
    base = alt.Chart(frame).encode(y=lines.encoding())
    ends = [float(frame["start"].min()), float(frame["end"].max()) + _ROOM_FOR_N]
    span = ends[1] - ends[0]
    scale = alt.Scale(domain=ends, nice=False)
    axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr="format(abs(datum.value), '.0%')")
    bars = (
        base.mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "start:Q", title=tr("Share (left of the line: below 3)"), axis=axis, scale=scale
            ),
            x2="end:Q",
            color=alt.Color(
                "Score:N",
                scale=alt.Scale(domain=names, range=list(BIN_COLOURS)),
                legend=alt.Legend(orient="top", title=None, columns=LEGEND_COLUMNS),
            ),
            opacity=faded(select),
            tooltip=["Model", "Dimension", "Score", "Counted", "of", percent("Share")],
        )
        .add_params(select)
    )
    room = f"datum.Share * width > {_TEXT_WIDTH * span:.2f}"
    texts = base.mark_text(fontSize=11).encode(
        x="middle:Q",
        text=alt.condition(room, f"{LABEL}:N", alt.value("")),
        color=alt.Color("ink:N", scale=None),
    )
    counts = (
        alt.Chart(pd.DataFrame(sizes))
        .mark_text(fontSize=11, align="left", dx=5, color="#8A9099")
        .encode(y=lines.encoding(), x="end:Q", text="n:N")
    )
    words = in_each_group(tables.models).sentence(tr("mean score"))
    caption = f"{caption} {words}".strip()
    line = (
        alt.Chart().mark_rule(strokeWidth=1.5, color="#8A9099", aria=False).encode(x=alt.datum(0))
    )
    drawn = alt.layer(bars, texts, counts, line, data=frame).properties(height=alt.Step(lines.step))
    return linked(tr("How scores spread"), drawn, marks, caption=caption, hidden=_HIDDEN)


def lost_chart(tables: ScoreTables, *, caption: str = "") -> LinkedChart | None:
    """Draw how many answers count as no full answer, by reason, per model; None without any.

    Of many models, those that lost the most and the fewest.
    """
    marks, lines = Marks(), ModelRows()
    ranking = ranked(tables.no_answers, lambda lost: lost.lost.share)
    for lost in ranking.shown:
        line = lines.model(tables.models[lost.model])
        edge = 0
        for reason, count in lost.by_reason.items():
            if not count.value:
                continue
            marks.add(
                f"{reason}/{lost.model}",
                count.opens,
                {
                    "Model": tables.models[lost.model],
                    "Reason": STATUSES[reason],
                    "Answers": count.value,
                    "of": count.of,
                    "Share": count.share,
                    ROW: line,
                    "start": edge,
                    "end": edge + count.value,
                    "middle": edge + count.value / 2,
                },
            )
            edge += count.value
    if not marks.rows:
        return None
    frame, select = marks.frame, clickable()
    names = [STATUSES[reason] for reason in NO_ANSWER]
    scale = alt.Scale(domain=names, range=[REASON_COLOURS[reason] for reason in NO_ANSWER])
    legend = alt.Legend(orient="top", title=None, columns=LONG_LEGEND_COLUMNS)
    base = alt.Chart(frame).encode(y=lines.encoding())
    bars = (
        base.mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "start:Q",
                title=tr("Answers"),
                axis=alt.Axis(tickMinStep=1, format="d", tickCount=6),
                scale=alt.Scale(domain=[0, 1.04 * float(frame["end"].max())], nice=False),
            ),
            x2="end:Q",
            color=alt.Color("Reason:N", scale=scale, legend=legend),
            opacity=faded(select),
            tooltip=["Model", "Reason", "Answers", "of", percent("Share")],
        )
        .add_params(select)
    )
    texts = base.mark_text(fontSize=11, color=INK, fontWeight="bold").encode(
        x="middle:Q", text="Answers:Q"
    )
    drawn = alt.layer(bars, texts).properties(height=alt.Step(26))
    caption = f"{caption} {ranking.sentence(tr('share of answers lost'))}".strip()
    return linked(tr("No full answer"), drawn, marks, caption=caption, hidden=_HIDDEN)
