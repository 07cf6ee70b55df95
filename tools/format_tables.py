"""Make the tables of ``FORMAT.md`` from the declared columns.

Run ``python -m tools.format_tables`` after a change; a test fails until then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from rexview.columns import TABLES, DeclaredColumn
from rexview.reviewset.set_info import MODEL_KEYS, PROTOCOL_KEYS, READER_KEYS, SET_KEYS, InfoKey

FORMAT_FILE: Final = Path(__file__).parents[1] / "rexview" / "reviewset" / "FORMAT.md"
_TABLE: Final = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def table_of(columns: Iterable[DeclaredColumn]) -> str:
    """Return declared columns as a Markdown table; nested fields follow as ``images[].path``."""
    rows = ["| field | type | meaning |", "| --- | --- | --- |"]
    for name, column in _flat(columns):
        required = "**required**; " if column.required else ""
        kind = column.kind_name + _range(column)
        meaning = "; ".join(part for part in (column.meaning, _words(column)) if part)
        rows.append(f"| `{name}` | {kind} | {required}{meaning} |")
    return "\n".join(rows) + "\n"


def _flat(
    columns: Iterable[DeclaredColumn], above: str = ""
) -> Iterator[tuple[str, DeclaredColumn]]:
    for column in columns:
        name = above + column.name
        yield name, column
        yield from _flat(column.fields, f"{name}[]." if column.kind == "records" else f"{name}.")


def _range(column: DeclaredColumn) -> str:
    if column.low is not None and column.high is not None:
        return f", {column.low:g} to {column.high:g}"
    return f", {column.low:g} or more" if column.low is not None else ""


def _words(column: DeclaredColumn) -> str:
    words = ", ".join(f"`{word}`" for word in column.vocabulary)
    return f"{words} (others are kept)" if words and column.open_vocabulary else words


def keys_table(keys: dict[str, InfoKey]) -> str:
    """Return the keys of ``reviewset.yaml`` as a Markdown table."""
    rows = [f"| `{name}` | {key.meaning} |" for name, key in keys.items()]
    return "\n".join(["| key | meaning |", "| --- | --- |", *rows]) + "\n"


def expected_tables() -> dict[str, str]:
    """Return all tables of ``FORMAT.md`` by their heading."""
    keys = {
        "reviewset.yaml": keys_table(SET_KEYS),
        "A model": keys_table(MODEL_KEYS),
        "A reader": keys_table(READER_KEYS),
        "The protocol": keys_table(PROTOCOL_KEYS),
    }
    return keys | {name: table_of(table.columns) for name, table in TABLES.items()}


def with_tables(text: str) -> str:
    """Replace the first table under each heading of :func:`expected_tables`.

    Raises
    ------
    ValueError
        A heading, or the table under it, is missing.
    """
    for heading, table in expected_tables().items():
        start = re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE)
        old = _TABLE.search(text, start.end()) if start else None
        if old is None:
            raise ValueError(f"FORMAT.md has no table under the heading “{heading}”.")
        text = text[: old.start()] + table + text[old.end() :]
    return text


if __name__ == "__main__":
    FORMAT_FILE.write_text(with_tables(FORMAT_FILE.read_text(encoding="utf-8")), encoding="utf-8")
