"""The receipt of an import: what was read, what was not used and why, numbers, problems."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from typing import Final

import streamlit as st

from rexview.reviewset.importers.receipt import Receipt, alike
from rexview.ui.html.safe_text import as_markdown
from rexview.words import tr, trn

_MOST_LINES: Final = 300
"""More lines of a table are left to the download."""
_ROWS_NAMED: Final = 6


def show_receipt(receipt: Receipt, *, key: str) -> None:
    """Show a receipt, with all that was not used before the problems, and its download."""
    st.markdown(f"**{_rows_in_words(receipt)}**")
    show_lines(
        tr("Answers of each model"),
        (tr("Model"), tr("Answers"), tr("Not run")),
        list(_models(receipt)),
    )
    show_lines(
        tr("Not used: columns"),
        (tr("File"), tr("Column"), tr("Example"), tr("Why")),
        list(_columns(receipt)),
    )
    show_lines(
        tr("Not used: rows"), (tr("File"), tr("Rows"), tr("Which"), tr("Why")), list(_rows(receipt))
    )
    joins = [
        (one.file, one.key, one.joined, one.unmatched, one.several, one.otherwise)
        for one in receipt.joins
    ]
    show_lines(
        tr("How files join"),
        (
            *(tr("File"), tr("By column"), tr("Rows joined"), tr("Rows without a case")),
            *(tr("Ids of several cases"), tr("Ids written otherwise")),
        ),
        joins,
    )
    files = [(one.file, one.type, one.why) for one in receipt.files_unread]
    show_lines(tr("Not read: files"), (tr("File"), tr("Type"), tr("Why")), files)
    kept = [(one.file, one.column, one.example, one.kept_as) for one in receipt.columns_kept]
    show_lines(
        tr("Kept as they are"), (tr("File"), tr("Column"), tr("Example"), tr("With the")), kept
    )
    if receipt.notes:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in receipt.notes)
        st.html(f'<ul class="rx-import-notes rx-quiet">{items}</ul>')
    show_lines(
        tr("Warnings"),
        (tr("File"), tr("What is wrong"), tr("What to do"), tr("Rows")),
        list(_problems(receipt)),
    )
    st.download_button(
        tr("Download the receipt"),
        json.dumps(receipt.as_json(), ensure_ascii=False, indent=1),
        file_name="receipt.json",
        mime="application/json",
        icon=":material/download:",
        key=f"{key}_receipt",
        on_click="ignore",
    )


def _rows_in_words(receipt: Receipt) -> str:
    unused = receipt.rows_in - receipt.rows_used
    if unused:
        return trn(
            "{n:,} row read: {used:,} used, {unused:,} not used (see below).",
            "{n:,} rows read: {used:,} used, {unused:,} not used (see below).",
            receipt.rows_in,
        ).format(n=receipt.rows_in, used=receipt.rows_used, unused=unused)
    return trn(
        "{n:,} row read: {used:,} used, none left out.",
        "{n:,} rows read: {used:,} used, none left out.",
        receipt.rows_in,
    ).format(n=receipt.rows_in, used=receipt.rows_used)


def _models(receipt: Receipt) -> Iterator[tuple[str, int, int]]:
    for model in {**receipt.models, **receipt.not_run}:
        yield model, receipt.models.get(model, 0), receipt.not_run.get(model, 0)


def _columns(receipt: Receipt) -> Iterator[tuple[str, str, str, str]]:
    for one in receipt.columns_unused:
        yield one.file, one.column, one.example or "", one.why
    for private in receipt.identity_columns:
        why = tr("It looks like a person's identity; no value of it was taken.")
        yield private.file, private.column, tr("not shown"), why


def _problems(receipt: Receipt) -> Iterator[tuple[str, str, str, str]]:
    for kind in alike(receipt.problems):
        one = kind.first
        named = f"{one.message} ({one.field})" if one.field else one.message
        rows = _named(kind.rows, kind.count) or (f"{kind.count:,}" if kind.count > 1 else "")
        yield one.file, named, one.remedy, rows


def _rows(receipt: Receipt) -> Iterator[tuple[str, int, str, str]]:
    for one in receipt.rows_unused:
        yield one.file, one.count, _named(one.rows, one.count), one.why


def _named(rows: Sequence[int], count: int) -> str:
    """Name the first of ``count`` rows."""
    named = ", ".join(map(str, rows[:_ROWS_NAMED]))
    more = f", … ({count:,})" if count > _ROWS_NAMED else ""
    return f"{named}{more}" if named else ""


def show_lines(title: str, columns: Sequence[str], lines: Sequence[Sequence[str | int]]) -> None:
    """Show lines of text as a table under a heading; nothing when there are none."""
    if not lines:
        return
    st.markdown(f"**{as_markdown(title)}**")
    import pandas as pd

    from rexview.ui.tables.chart_table import chart_table_html

    st.html(chart_table_html(pd.DataFrame(lines[:_MOST_LINES], columns=list(columns))))
    if len(lines) > _MOST_LINES:
        st.caption(tr("{n:,} more are in the receipt.").format(n=len(lines) - _MOST_LINES))
