"""ReXrank's printed boards as HTML, one's own models among them and visibly apart."""

from __future__ import annotations

import html

from rexview.analysis.published.rexrank import (
    ERROR_RATES_SOURCE,
    METRICS,
    SECTIONS,
    PublishedBoard,
    PublishedMean,
    published_error_free,
)
from rexview.analysis.report_generation import OTHER_NUMBER, OwnValue, ReportTables, placed_rows
from rexview.ui.report_generation.html import WORST_FIRST, number
from rexview.ui.tables.number_table import NOTHING, linked_number, rows_table, short_name
from rexview.words import counted, inside, tr


def published_html(board: PublishedBoard, tables: ReportTables | None, ranked_by: str) -> str:
    """Lay out a printed board in the order of one of its metrics; ours with n and identity."""
    rows = placed_rows(board, tables, ranked_by)
    body = []
    means = [row.printed[ranked_by].mean for row in rows if ranked_by in row.printed]
    for row in rows:
        if row.own is not None and tables is not None:
            body.append(_own_row(row.model, row.own, tables))
            continue
        # among the printed ones, whoever of ours stands between them
        place = 1 + sum(mean > row.printed[ranked_by].mean for mean in means)
        cells = "".join(f"<td>{_printed(row.printed.get(name))}</td>" for name in METRICS)
        head = f'<th scope="row">{short_name(row.model)}</th>'
        body.append(f"<tr><td>{place}</td>{head}{cells}</tr>")
    heads = [tr("Place"), tr("Model"), *METRICS.values()]
    studies = f", {counted(board.studies, 'study')}" if board.studies else ""
    title = f"{board.dataset}: {inside(SECTIONS[board.section])}{studies}"
    notes = [
        tr("Published figures: {source}. {note} Higher is better.").format(
            source=board.edition.source, note=board.edition.note
        )
    ]
    if any(row.own is not None for row in rows):
        notes.append(
            tr("“Yours”: models of this review set, each value with its n. {other_number}").format(
                other_number=OTHER_NUMBER
            )
        )
    elif tables is not None and tables.board.models:
        notes.append(tr("Your metrics shown above are of other sections: none stands here."))
    if board.oddity:
        notes.append(board.oddity)
    return _section(rows_table("rx-scores rx-means rx-table rx-board", heads, body, title), notes)


def _own_row(model: str, own: dict[str, tuple[OwnValue, ...]], tables: ReportTables) -> str:
    cells = "".join(
        f"<td>{''.join(_own(value, tables) for value in own.get(name, ())) or NOTHING}</td>"
        for name in METRICS
    )
    head = f'<th scope="row">{short_name(tables.names[model])}<small>{tr("yours")}</small></th>'
    return f'<tr class="rx-own"><td></td>{head}{cells}</tr>'


def _own(value: OwnValue, tables: ReportTables) -> str:
    shown = value.cell.shown or 0.0
    count = tables.opens(value.metric, value.cell.model)
    label = f"<b>{number(shown)}</b><small>n {value.cell.n:,}</small>"
    by = html.escape(value.metric.computed_by)
    return f'{linked_number(count, label, title=WORST_FIRST)}<small class="rx-ci">{by}</small>'


def _printed(cell: PublishedMean | None) -> str:
    if cell is None:
        return NOTHING
    return cell.text + (f" ± {cell.half_width}" if cell.half_width else "")


def published_error_free_html() -> str:
    """Lay out the error-free shares that the Challenge's text prints."""
    body = []
    for row in published_error_free():
        shares = "".join(
            f"<td>{f'{share}%' if share else NOTHING}</td>" for share in row.shares.values()
        )
        words = (row.dataset, row.studies.capitalize())
        first = "".join(f"<td>{html.escape(text)}</td>" for text in words)
        body.append(f'<tr><th scope="row">{short_name(row.model)}</th>{first}{shares}</tr>')
    heads = [
        tr("Model"),
        tr("Data set"),
        tr("Studies"),
        tr("No significant error"),
        tr("No actionable error"),
    ]
    table = rows_table("rx-scores rx-means rx-table", heads, body, tr("Error-free shares"))
    note = tr("Published figures: {error_rates_source}. {nothing} where none is printed.").format(
        error_rates_source=ERROR_RATES_SOURCE, nothing=NOTHING
    )
    return _section(table, [note])


def _section(table: str, notes: list[str]) -> str:
    written = "".join(f'<p class="rx-quiet rx-note">{html.escape(note)}</p>' for note in notes)
    return (
        f'<section class="rx-published"><h2>{tr("Published: other studies, not computed here")}'
        f"</h2>{table}{written}</section>"
    )
