"""What people and judges say of reports as HTML: error-free shares, and strengths of models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from rexview.analysis.ranking import in_each_group, ranked
from rexview.analysis.report_generation import (
    STUDIES,
    ErrorFreeRow,
    ErrorFreeTables,
    PreferenceTables,
    error_free_caption,
    preference_caption,
)
from rexview.stats.line_edits import FREE_OF
from rexview.ui.report_generation.html import place_html
from rexview.ui.tables.number_table import (
    NOTHING,
    Reasons,
    linked_number,
    model_head,
    part_row,
    short_name,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.words import inside, tr

_SAME_CASE: Final = tr("Opens the cases; several readers may have compared the same one")


def error_free_html(
    tables: ErrorFreeTables, names: Mapping[str, str], colours: Mapping[str, str], title: str
) -> str:
    """Lay out error-free shares: a row for each reader, model and kind of study."""
    heads = [tr("Corrected by"), tr("Model"), tr("Studies"), *FREE_OF.values()]
    reasons, body = Reasons(), []
    of_readers = {
        reader: ranked(tables.models(reader), partial(_free_of_all, tables, reader))
        for reader in tables.readers
    }
    most = in_each_group(range(max((len(one.order) for one in of_readers.values()), default=0)))
    heads = heads[1:] if most.is_cut else heads
    for reader, reader_name in tables.readers.items():
        ranking = of_readers[reader]
        if most.is_cut:
            body.append(part_row(short_name(reader_name), len(heads)))
        lines = [
            (model, studies)
            for model in ranking.order
            for studies in STUDIES
            if any(tables.of(reader, model, severity, studies) for severity in FREE_OF)
        ]
        for place, (model, studies) in enumerate(lines):
            row = ""
            if not place and not most.is_cut:
                row += f'<th scope="rowgroup" rowspan="{len(lines)}">{short_name(reader_name)}</th>'
            first = not studies
            own = sum(one == model for one, _ in lines)
            if first:
                head = model_head(names[model], colours.get(model, ""))
                row += head.replace('scope="row"', f'scope="rowgroup" rowspan="{own}"', 1)
            row += f"<td>{STUDIES[studies]}</td>"
            for severity in FREE_OF:
                found = tables.of(reader, model, severity, studies)
                where = f"{reader_name}, {names[model]}, {inside(STUDIES[studies])}"
                row += f"<td>{_share(found, where, reasons)}</td>"
            row = f"<tr{' class=rx-first' if first else ''}>{row}</tr>"
            body.append(ranked_item(row, names[model], model, ranking))
    tools = ranked_tools(
        most, tr("{share}, all studies").format(share=next(iter(FREE_OF.values())))
    )
    caption = error_free_caption(tables)
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _free_of_all(tables: ErrorFreeTables, reader: str, model: str) -> float | None:
    """Return the share of a model's reports without a significant error, over all studies."""
    found = tables.of(reader, model, next(iter(FREE_OF)), "")
    return found.numbers.rate.share if found else None


def _share(row: ErrorFreeRow | None, where: str, reasons: Reasons) -> str:
    if row is None:
        return NOTHING
    rate = row.numbers.rate
    if rate.share is None:
        return reasons.add(row.numbers.why or tr("Undefined."), where)
    label = (
        f"<b>{rate.share:.0%}</b><small>"
        f"{tr('{flagged:,} of {n:,}').format(flagged=rate.flagged, n=rate.n)}</small>"
    )
    limits = rate.interval
    between = (
        tr("{low:.0%} to {high:.0%}").format(low=limits.low, high=limits.high)
        if limits.low is not None and limits.high is not None
        else reasons.add(limits.why or tr("Undefined."), where)
    )
    return f'{linked_number(row.free, label)}<small class="rx-ci">{between}</small>'


def preferences_html(
    tables: PreferenceTables, names: Mapping[str, str], colours: Mapping[str, str], title: str
) -> str:
    """Lay out strengths, the strongest model first."""
    heads = [
        tr("Place"),
        tr("Model"),
        tr("Strength"),
        tr("95% CI"),
        tr("Preferred"),
        tr("Tie"),
        tr("Not preferred"),
        "n",
    ]
    reasons, body = Reasons(), []
    ranking = ranked(tables.rows, lambda row: row[1].strength)
    for line in ranking.order:
        model, one, counts = line
        name = names[model]
        strength, limits = NOTHING, NOTHING
        if one.strength is None:
            strength = reasons.add(one.why or tr("Undefined."), name)
        else:
            strength = f"<b>{one.strength:+.2f}</b>".replace("-", "−")
            limits = reasons.interval(one.interval, name, with_sign=True)
        numbers = [strength, limits]
        for word in ("won", "tied", "lost", "compared"):
            count = counts[word]
            numbers.append(linked_number(count, f"{count.value:,}", title=_SAME_CASE))
        cells = "".join(f"<td>{text}</td>" for text in numbers)
        row = (
            f"<tr><td>{place_html(one.rank)}</td>{model_head(name, colours.get(model, ''))}"
            f"{cells}</tr>"
        )
        body.append(ranked_item(row, name, line, ranking))
    tools = ranked_tools(ranking, tr("strength"))
    return table_html(title, heads, body, preference_caption(tables), tools) + reasons.html()
