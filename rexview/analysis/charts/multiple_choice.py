"""Charts of the Multiple choice page: accuracy with intervals, and agreement of raters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import altair as alt
import pandas as pd

from rexview.analysis.charts.linked_chart import (
    IS_NARROW,
    MARK_LABEL,
    ROW_KEY,
    ChartMarks,
    LinkedChart,
    ModelRows,
    TooltipSpec,
    click_selection,
    draw_points,
    fade_unclicked,
    link_chart,
    percent_tooltip,
    wrap_names,
)
from rexview.analysis.colours import REFERENCE_COLOUR
from rexview.analysis.multiple_choice import KAPPA_NOTE, ChoiceCell, ChoiceTables, KappaCell
from rexview.analysis.ranking import SHOWN_AT_EACH_END
from rexview.words import mid_sentence, tr

ALL: Final = tr("All questions")
_COLOUR: Final = "colour"
_HEAT: Final = ("rgba(60, 144, 204, 0.06)", "rgba(60, 144, 204, 0.85)")
_INK: Final = "currentColor"
"""Colour of text over marks: the page's, in both themes and on paper."""
_CELL: Final = 34
_END: Final = alt.ExprRef(f"{IS_NARROW} ? 1.7 : 1.2")
"""End of the axis of shares, so that the text next to a share of 1 fits."""


def accuracy_chart(
    tables: ChoiceTables, colours: Mapping[int, str], *, caption: str = ""
) -> LinkedChart | None:
    """Draw every rater's accuracy with its interval, over all and by task; None without any.

    Of many models, only those with the highest and lowest accuracy over all are drawn.
    """
    marks, lines = ChartMarks(), ModelRows()
    for value, name, cells in _parts(tables):
        lines.heading(name)
        of_raters = {cell.place: cell for cell in cells}
        for cell in (of_raters[place] for place in tables.shown if place in of_raters):
            rate, rater = cell.accuracy.rate, tables.raters[cell.place]
            if rate.share is None:
                continue
            limits = rate.interval
            marks.add(
                f"{value}/{cell.place}",
                cell.right.opens,
                {
                    "Questions": name,
                    "Rater": rater.name,
                    "Kind": rater.kind,
                    "Accuracy": rate.share,
                    "CI low": limits.low,
                    "CI high": limits.high,
                    "Right": rate.flagged,
                    "n": rate.n,
                    "Failed": cell.accuracy.failed,
                    MARK_LABEL: tr("{share:.1%} of {n:,}").format(share=rate.share, n=rate.n),
                    "drawn": rate.share if limits.high is None else limits.high,
                    ROW_KEY: lines.model(rater.name),
                    _COLOUR: colours[cell.place],
                },
            )
    if not marks.rows:
        return None
    base = alt.Chart(marks.frame).encode(
        y=lines.encoding(),
        x=alt.X(
            "Accuracy:Q",
            title=tr("Right of all answers"),
            axis=alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
            scale=alt.Scale(domainMin=0, domainMax=_END, nice=False),
        ),
        color=alt.Color(f"{_COLOUR}:N", scale=None),
    )
    shares = [percent_tooltip(name) for name in ("Accuracy", "CI low", "CI high")]
    tips: list[TooltipSpec] = ["Questions", "Rater", "Kind", "Right", "n", "Failed", *shares]
    shape = alt.Shape(
        "Kind:N",
        scale=alt.Scale(domain=["model", "reader"], range=["circle", "diamond"]),
        legend=alt.Legend(orient="top", title=None, symbolFillColor=REFERENCE_COLOUR)
        if tables.readers
        else None,
    )
    drawn = alt.layer(*draw_points(base, click_selection(), tips, size=90, shape=shape))
    drawn = drawn.properties(height=alt.Step(lines.step))
    caption = f"{caption} {tables.ranking.sentence(tr('accuracy'))}".strip()
    return link_chart(
        tr("Accuracy"), drawn, marks, caption=caption, hidden=(ROW_KEY, "drawn", _COLOUR)
    )


def _parts(tables: ChoiceTables) -> Iterator[tuple[str, str, Sequence[ChoiceCell]]]:
    yield "", ALL, tables.total
    for row in tables.tasks:
        yield row.value, row.name, row.cells


def kappa_chart(
    cells: Sequence[KappaCell], tables: ChoiceTables, questions: str
) -> LinkedChart | None:
    """Draw Cohen's kappa of each two raters as a map with numbers; None without any.

    Of many models, only those with the highest and lowest accuracy are drawn.
    """
    raters = {place: tables.raters[place] for place in tables.shown}
    cells = [cell for cell in cells if {cell.kappa.rater_a, cell.kappa.rater_b} <= raters.keys()]
    met = {place for cell in cells for place in (cell.kappa.rater_a, cell.kappa.rater_b)}
    order = [place for place in raters if place in met]
    marks = ChartMarks()
    for cell in cells:
        kappa = cell.kappa
        for a, b in ((kappa.rater_a, kappa.rater_b), (kappa.rater_b, kappa.rater_a)):
            marks.add(
                f"{a}/{b}",
                cell.shared.opens,
                {
                    "Rater 1": raters[a].name,
                    "Rater 2": raters[b].name,
                    "Kappa": kappa.kappa,
                    "Same option": kappa.agreement,
                    "n": kappa.n,
                    MARK_LABEL: "–" if kappa.kappa is None else f"{kappa.kappa:.2f}",
                    "row": str(a),
                    "column": str(b),
                },
            )
    if not marks.rows:
        return None
    keys = [str(place) for place in order]
    names = {key: raters[int(key)].label for key in keys}
    scale = alt.Scale(domain=keys)
    bare: dict[str, Any] = {"ticks": False, "domain": False, "title": None}
    x = alt.X(
        "column:N",
        scale=scale,
        axis=alt.Axis(**{**wrap_names(names), "labelBaseline": "middle"}, labelAngle=-40, **bare),
    )
    y = alt.Y("row:N", scale=scale, axis=alt.Axis(**wrap_names(names), **bare))
    select = click_selection()
    base = alt.Chart(marks.frame).encode(x=x, y=y)
    heat = (
        base.mark_rect(cursor="pointer")
        .encode(
            color=alt.Color(
                "Kappa:Q",
                scale=alt.Scale(domain=[0, 1], clamp=True, range=list(_HEAT)),
                legend=None,
            ),
            opacity=fade_unclicked(select),
            tooltip=[
                "Rater 1",
                "Rater 2",
                alt.Tooltip("Kappa:Q", format=".3f"),
                percent_tooltip("Same option"),
                "n",
            ],
        )
        .add_params(select)
    )
    numbers = base.mark_text(fontSize=11, color=_INK).encode(text=f"{MARK_LABEL}:N")
    alone = pd.DataFrame({"row": keys, "column": keys})
    same = alt.Chart(alone).mark_rect(fill="rgba(128, 128, 128, 0.12)").encode(x=x, y=y)
    drawn = alt.layer(same, heat, numbers).properties(height=alt.Step(_CELL))
    lowest, highest = (pick(cell.kappa.n for cell in cells) for pick in (min, max))
    n = (
        f"{lowest:,}"
        if lowest == highest
        else tr("{lowest:,} to {highest:,}").format(lowest=lowest, highest=highest)
    )
    caption = tr("{kappa} n {n} questions a pair.").format(kappa=KAPPA_NOTE, n=n)
    if tables.ranking.is_cut:
        words = tr(
            "Drawn: the first {first} and the last {last} of {n:,} models, ranked by accuracy; the "
            "file below has all pairs."
        ).format(first=SHOWN_AT_EACH_END, last=SHOWN_AT_EACH_END, n=len(tables.models))
        caption = f"{caption} {words}"
    title = tr("Same choice: {questions}").format(questions=mid_sentence(questions))
    return link_chart(title, drawn, marks, caption=caption, hidden=("row", "column"))
