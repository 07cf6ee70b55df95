"""Charts of the curated set, as in ReXecution's supplement: sums, criteria, categories, tags.

Their marks open nothing, because they count candidate questions instead of cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import altair as alt

from rexview.analysis.charts.linked_chart import (
    MARK_KEY,
    MARK_LABEL,
    NAMES_AXIS,
    ChartMarks,
    LinkedChart,
    click_selection,
    link_chart,
)
from rexview.analysis.charts.scores import BIN_COLOURS
from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_COLOUR
from rexview.analysis.curation import PAPER_MINIMUM_SUM, POSSIBLE_SUMS, CuratedTables, sums_caption
from rexview.curation.coverage import CATEGORY, CoverageCount
from rexview.vocab import CATEGORY_NAMES, CRITERIA, QUESTION_TAGS, SCORE_MAX, SCORE_MIN
from rexview.words import counted, tr

CHOSEN: Final = "Chosen"
OTHER: Final = tr("Not chosen")
_COLOURS: Final = {CHOSEN: MODEL_COLOURS[0], OTHER: REFERENCE_COLOUR}
MAX_TAG_BARS: Final = 8
"""Number of values of a tag with a bar of their own; the others share one."""


def sums_chart(tables: CuratedTables) -> LinkedChart | None:
    """Draw the number of candidates by sum, with a line at the paper's minimum; may be None."""
    marks = ChartMarks()
    for total in POSSIBLE_SUMS:
        for name, is_chosen in ((CHOSEN, True), (OTHER, False)):
            n = tables.sums.get((total, is_chosen), 0)
            _add_mark(marks, f"{total}/{name}", {"Sum": total, "Questions": n, "Decision": name})
    if not any(tables.sums.values()):
        return None
    select = click_selection()
    bars = (
        alt.Chart(marks.frame)
        .mark_bar()
        .encode(
            x=alt.X(
                "Sum:O", title=tr("Sum of the model's four scores"), axis=alt.Axis(labelAngle=0)
            ),
            y=_count("Questions"),
            color=alt.Color(
                "Decision:N",
                title=None,
                scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("Decision:N", sort="ascending"),
            tooltip=["Sum", "Decision", "Questions"],
        )
        .add_params(select)
    )
    line = (
        alt.Chart(marks.frame.head(1).assign(Sum=PAPER_MINIMUM_SUM))
        .mark_rule(strokeDash=[4, 3], color=BIN_COLOURS[0], strokeWidth=2)
        .encode(x=alt.X("Sum:O", bandPosition=0))
    )
    drawn = alt.layer(bars, line).properties(height=260)
    return link_chart(tr("Sum of the model's scores"), drawn, marks, caption=sums_caption(tables))


def criteria_chart(tables: CuratedTables) -> LinkedChart | None:
    """Draw the model's scores of the chosen questions on each criterion; None without scores."""
    marks, n = ChartMarks(), tables.scored
    for criterion, name in CRITERIA.items():
        for score in range(SCORE_MIN, SCORE_MAX + 1):
            met = tables.criteria.get((criterion, score), 0)
            if met:
                row = {"Criterion": name, "Score": score, "Questions": met, "Share": met / n}
                _add_mark(marks, f"{criterion}/{score}", row)
    if not marks.rows:
        return None
    scale = alt.Scale(domain=list(range(SCORE_MIN, SCORE_MAX + 1)), range=list(BIN_COLOURS))
    bars = (
        alt.Chart(marks.frame)
        .mark_bar()
        .encode(
            y=alt.Y("Criterion:N", sort=list(CRITERIA.values()), title=None, axis=NAMES_AXIS),
            x=alt.X(
                "Share:Q", title=tr("Share of the chosen questions"), axis=alt.Axis(format="%")
            ),
            color=alt.Color("Score:O", scale=scale, legend=alt.Legend(orient="top")),
            order=alt.Order("Score:O"),
            tooltip=["Criterion", "Score", "Questions", alt.Tooltip("Share:Q", format=".0%")],
        )
        .add_params(click_selection())
        .properties(height=alt.Step(30))
    )
    caption = tr("Model scores of {counted}.").format(counted=counted(n, "chosen question"))
    return link_chart(tr("Scores by criterion"), bars, marks, caption=caption)


def categories_chart(tables: CuratedTables) -> LinkedChart | None:
    """Draw the number of chosen questions by category; None without chosen questions."""
    return _coverage_chart(tables, CATEGORY, tr("Categories"))


def tag_charts(tables: CuratedTables) -> list[LinkedChart]:
    """Draw the most frequent values of each tag; tags of no chosen question are left out."""
    drawn = (_coverage_chart(tables, tag, name) for tag, name in QUESTION_TAGS.items())
    return [chart for chart in drawn if chart]


def _coverage_chart(tables: CuratedTables, part: str, title: str) -> LinkedChart | None:
    rows = tables.coverage.parts[part]
    if not any(row.chosen for row in rows if row.value is not None):
        return None
    marks = ChartMarks()
    known = [row for row in rows if row.value is not None and (row.chosen or part == CATEGORY)]
    for row in known[:MAX_TAG_BARS]:
        assert row.value is not None
        _bar(marks, CATEGORY_NAMES.get(row.value, row.value), [row])
    if known[MAX_TAG_BARS:]:
        _bar(
            marks,
            tr("{known:,} others").format(known=len(known) - MAX_TAG_BARS),
            known[MAX_TAG_BARS:],
        )
    untold = [row for row in rows if row.value is None and row.chosen]
    if untold:
        _bar(marks, tr("Not given"), untold)
    order = [row["Value"] for row in marks.rows]
    longest = max(row["Chosen"] for row in marks.rows)
    base = alt.Chart(marks.frame).encode(
        y=alt.Y("Value:N", sort=order, title=None, axis=NAMES_AXIS),
        x=alt.X(
            "Chosen:Q",
            title=tr("Chosen questions"),
            axis=alt.Axis(tickMinStep=1, format="d"),
            scale=alt.Scale(domain=[0, 1.2 * longest], nice=False),  # room for labels
        ),
        tooltip=["Value", "Chosen", "Offered"],
    )
    bars = base.mark_bar(color=_COLOURS[CHOSEN]).add_params(click_selection())
    texts = base.mark_text(align="left", dx=4, fontSize=11, color=REFERENCE_COLOUR).encode(
        text=f"{MARK_LABEL}:N"
    )
    drawn = alt.layer(bars, texts).properties(height=alt.Step(22))
    n = counted(tables.coverage.chosen, "chosen question")
    caption = tr("{n}; beside each bar: the number of candidates.").format(n=n)
    if part != CATEGORY:
        caption += " One with several values counts for each."
    return link_chart(title, drawn, marks, caption=caption)


def _bar(marks: ChartMarks, name: str, rows: Sequence[CoverageCount]) -> None:
    chosen, offered = sum(row.chosen for row in rows), sum(row.offered for row in rows)
    row = {
        "Value": name,
        "Chosen": chosen,
        "Offered": offered,
        MARK_LABEL: tr("{chosen:,} of {offered:,}").format(chosen=chosen, offered=offered),
    }
    _add_mark(marks, str(len(marks.rows)), row)


def _add_mark(marks: ChartMarks, key: str, row: dict[str, object]) -> None:
    marks.rows.append({**row, MARK_KEY: key})


def _count(name: str) -> alt.Y:
    return alt.Y(f"{name}:Q", title=name, axis=alt.Axis(tickMinStep=1, format="d"))


def curation_charts(tables: CuratedTables) -> list[LinkedChart]:
    """Return all charts of the curated set, in the order of the supplement."""
    first: Iterable[LinkedChart | None] = (
        sums_chart(tables),
        criteria_chart(tables),
        categories_chart(tables),
    )
    return [*(chart for chart in first if chart), *tag_charts(tables)]
