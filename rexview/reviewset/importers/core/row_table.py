"""Rows of one table in the making: each with its place, joined where two are of the same thing."""

from __future__ import annotations

from typing import Any

from rexview.columns import Table
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.json_text import is_missing
from rexview.reviewset.tables.source import At

Row = dict[str, Any]
Key = tuple[str | None, ...]


class RowTable:
    """``rows`` of a table and the ``places`` that they come from; ``by_key`` finds a row."""

    def __init__(self, table: Table, log: ProblemLog) -> None:
        self.table, self._log = table, log
        self.rows: list[Row] = []
        self.places: list[At] = []
        self.by_key: dict[Key, int] = {}

    def key(self, row: Row) -> Key:
        """Return what names a row: its ids, as the reader takes them."""
        named = {name: as_id(row.get(name)) for name in self.table.key}
        if named.get("repeat") == "1":
            named["repeat"] = None  # as where it is not said
        return tuple(named.values())

    def find(self, *key: Any) -> Row | None:
        """Return the row with that key, which may be changed, or None."""
        place = self.by_key.get(tuple(map(as_id, key)))
        return None if place is None else self.rows[place]

    def add(self, row: Row, at: At) -> Row:
        """Add a row, or fill what the row with its key does not have; return the row that stays."""
        key = self.key(row)
        before = self.find(*key) if key and key[0] else None
        if before is not None:
            self._join(before, row, at, self.table.key)
            return before
        return self.append(row, at)

    def append(self, row: Row, at: At) -> Row:
        """Add a row, whatever else has its key; it is then found by it."""
        key = self.key(row)
        if key:
            self.by_key[key] = len(self.rows)
        self.rows.append(row)
        self.places.append(at)
        return row

    def _join(self, first: Row, more: Row, at: At, key: tuple[str, ...]) -> None:
        """Fill what ``first`` does not have; what contradicts it is said, and kept beside it."""
        for name, value in more.items():
            before = first.get(name)
            if name in key or is_missing(value) or value in ([], {}, before):
                continue
            if before in (None, [], {}):
                first[name] = value
            elif isinstance(before, dict) and isinstance(value, dict):
                for part, inner in value.items():
                    if before.get(part) in (None, [], {}):
                        before[part] = inner
                    elif not is_missing(inner) and inner not in ([], {}, before[part]):
                        self._keep_beside(first, part, inner, at, name)
            elif name == "images" and isinstance(before, list) and isinstance(value, list):
                before += _more_images(before, value)
            elif name in ("reference_boxes", "boxes"):
                before += [box for box in value if box not in before]
            else:
                self._keep_beside(first, name, value, at, "")

    def _keep_beside(self, row: Row, name: str, value: Any, at: At, inside: str) -> None:
        """Keep another value for a field as ``name_2`` and so on, and say so."""
        stem, number = name if inside in ("", "extra") else f"{inside}_{name}", 2
        while row.get(f"{stem}_{number}", value) != value:
            number += 1
        kept_as = f"{stem}_{number}"
        if kept_as in row:
            return
        row[kept_as] = value
        message = (
            f"The {inside or name} differs from the one in an earlier row or file, which was kept; "
            f"this one is kept as {kept_as}."
        )
        remedy = "Give each its own id, or correct one of them."
        self._log.warning(at.file, message, remedy, row=at.row, field=at.named(inside or name))


def _more_images(known: list[Row], images: list[Row]) -> list[Row]:
    """Return the images with other paths than those known, without an id that one of them has."""
    paths, ids = ({image.get(name) for image in known} for name in ("path", "id"))
    return [
        {name: one for name, one in image.items() if name != "id" or one not in ids}
        for image in images
        if image["path"] not in paths
    ]


def as_id(value: Any) -> str | None:
    """Return an id as the reader takes it: numbers as text, outer spaces cut."""
    if type(value) is str:  # nearly all are, and a million of them are asked for
        return value.strip() or None
    if is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() or None
