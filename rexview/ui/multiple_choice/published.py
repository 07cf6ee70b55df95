"""The tables of the ReXVQA paper with the open set's own raters beside them, clearly apart."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from rexview.analysis.multiple_choice import (
    ChoiceCell,
    ChoiceGroups,
    ChoiceTables,
    GroupRow,
    folded,
)
from rexview.analysis.published import rexvqa
from rexview.analysis.published.rexvqa import PublishedTable
from rexview.stats.multiple_choice import Rater
from rexview.ui.tables.number_table import NOTHING, linked_number, short_name
from rexview.ui.tables.stacked import stacked
from rexview.words import tr

_HERE = tr("This review set")


def published_html(
    tables: ChoiceTables | None,
    categories: ChoiceGroups | None,
    read: Sequence[ChoiceCell] = (),
) -> str:
    """Lay out the four printed tables; the own raters stand in rows or columns of their own."""
    raters = tables.raters if tables else {}
    parts = (
        _by_task(rexvqa.by_task(), tables),
        _by_category(rexvqa.by_category(), raters, categories),
        _reader_study(rexvqa.reader_study(), raters, read),
        _table(rexvqa.distribution(), _printed_rows(rexvqa.distribution())),
    )
    return (
        '<section class="rx-published"><h2>'
        f"{tr('Published: other questions and models, not computed here')}</h2>"
        f"{''.join(parts)}</section>"
    )


def _by_task(printed: PublishedTable, tables: ChoiceTables | None) -> str:
    body = _printed_rows(printed)
    if tables:
        body.append(_heading(_HERE, len(printed.heads)))
        rows = {row.value: row for row in tables.tasks}
        for cell in tables.total:
            own = {value: _cell_of(row, cell.place) for value, row in rows.items()}
            own[rexvqa.OVERALL] = cell
            found = [own.get(key) if key else None for key in printed.keys[1:-1]]
            failed = 100 * cell.accuracy.failed / cell.accuracy.rate.n
            cells = "".join(f"<td>{_own(one)}</td>" for one in found)
            name = short_name(tables.raters[cell.place].label)
            body.append(f'<tr><th scope="row">{name}</th>{cells}<td>{failed:.2f}</td></tr>')
    return _table(printed, body)


def _by_category(
    printed: PublishedTable, raters: Mapping[int, Rater], categories: ChoiceGroups | None
) -> str:
    """Put a column for each of the own raters before the printed ones."""
    own = {folded(row.name): row for row in categories.rows} if categories else {}
    shown = list(raters) if own else []
    body, group = [], ""
    for in_group, (name, *figures) in zip(printed.groups, printed.rows, strict=True):
        if in_group != group:
            group = in_group
            body.append(_heading(group, 1 + len(shown) + len(figures)))
        row = own.get(folded(name))
        cells = "".join(
            f"<td>{_own(_cell_of(row, place) if row else None)}</td>" for place in shown
        )
        cells += "".join(_outside(figure) for figure in figures)
        body.append(f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>')
    return _table(printed, body, [raters[place].label for place in shown])


def _reader_study(
    printed: PublishedTable, raters: Mapping[int, Rater], read: Sequence[ChoiceCell]
) -> str:
    body = _printed_rows(printed)
    if read:
        body.append(
            _heading(
                tr("{here}: the questions that readers answered").format(here=_HERE),
                len(printed.heads),
            )
        )
    for cell in read:
        rater = raters[cell.place]
        cells = "".join(
            f"<td>{one}</td>"
            for one in (
                "reader" if rater.is_reader else "model",
                _own(cell),
                f"{cell.accuracy.rate.n:,}",
            )
        )
        body.append(f'<tr><th scope="row">{short_name(rater.name)}</th>{cells}</tr>')
    return _table(printed, body)


def _printed_rows(printed: PublishedTable) -> list[str]:
    return [
        f'<tr><th scope="row" class="rx-outside">{html.escape(name)}</th>'
        f"{''.join(map(_outside, figures))}</tr>"
        for name, *figures in printed.rows
    ]


def _outside(text: str) -> str:
    return f'<td class="rx-outside">{html.escape(text) or NOTHING}</td>'


def _heading(text: str, columns: int) -> str:
    return (
        f'<tr class="rx-part rx-first"><th scope="rowgroup" colspan="{columns}">'
        f"{html.escape(text)}</th></tr>"
    )


def _cell_of(row: GroupRow, place: int) -> ChoiceCell | None:
    return next((cell for cell in row.cells if cell.place == place), None)


def _own(cell: ChoiceCell | None) -> str:
    """Write an own accuracy as the paper writes its own: percent, two decimals; with its n."""
    if cell is None or cell.accuracy.rate.share is None:
        return NOTHING
    label = f"<b>{100 * cell.accuracy.rate.share:.2f}</b><small>n {cell.accuracy.rate.n:,}</small>"
    return linked_number(cell.right, label)


def _table(printed: PublishedTable, body: Sequence[str], ours: Sequence[str] = ()) -> str:
    """Wrap rows into a table; ``ours`` are the names of own columns before the printed ones."""
    first, *rest = printed.heads
    heads = f'<th scope="col">{html.escape(first)}</th>'
    heads += "".join(f'<th scope="col">{short_name(name)}</th>' for name in ours)
    heads += "".join(
        f'<th scope="col" class="rx-outside">{html.escape(name)}</th>' for name in rest
    )
    groups = ""
    if ours:
        groups = (
            "<tr><th></th>"
            f'<th scope="colgroup" colspan="{len(ours)}">{_HERE}</th>'
            f'<th scope="colgroup" colspan="{len(rest)}" class="rx-outside">{tr("Published")}</th>'
            "</tr>"
        )
    notes = " ".join((f"Printed in {printed.source}.", *printed.notes))
    drawn = stacked(
        '<div class="rx-scroll"><table class="rx-scores rx-means rx-table">'
        f"<caption>{html.escape(printed.title)}</caption><thead>{groups}<tr>{heads}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )
    return f'{drawn}<p class="rx-quiet rx-note">{html.escape(notes)}</p>'
