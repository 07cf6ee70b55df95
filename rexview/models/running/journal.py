"""What was sent and what came: first in the log, then, for an answer, as its row.

A reply is on the disk, in ``log.jsonl``, before its row is written to ``answers/RUN.jsonl``; the
log's line holds the row as well. So whatever moment a run dies in, a reply that is in the log is
never asked for again, and its row can be made without asking.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from rexview.models.running.files.append_only import AppendOnly, json_line, lines_of
from rexview.models.running.folder import RunFolder
from rexview.models.running.money import Spent

ROWS_EVERY_S: Final = 1.0
"""Rows are written so often at most: whoever has the set open reads it anew after each time."""


class Item(NamedTuple):
    """What one row is of: a case, and which time it is asked."""

    case: str
    repeat: int


@dataclass(frozen=True)
class Failure:
    """Why an item has no answer yet: what its last attempt said."""

    item: Item
    kind: str
    message: str


@dataclass
class Past:
    """What a log says happened before.

    Attributes
    ----------
    outcomes
        The word of what came, by item; these are never asked again.
    failures
        The last failure of each item that has no reply.
    spent
        What was billed.
    unsure
        What may have been billed on top: attempts that were cut off, or whose end nobody saw.
    unreadable
        Numbers of lines that are damaged.
    """

    outcomes: dict[Item, str] = field(default_factory=dict)
    failures: dict[Item, Failure] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    unsure: Spent = field(default_factory=Spent)
    unreadable: list[int] = field(default_factory=list)


def read_past(run: RunFolder) -> Past:
    """Read the log of a run; one that is not there says that nothing happened."""
    past = Past()
    under_way: dict[Item, Spent] = {}
    for number, line in lines_of(run.log):
        try:
            if line is None:
                raise ValueError("no object")
            _take(past, under_way, line)
        except (KeyError, TypeError, ValueError):
            past.unreadable.append(number)
    for expected in under_way.values():
        past.unsure += expected
    if past.unreadable:  # it may have said what there is a row of: that is not paid for again
        for _, row in lines_of(run.rows):
            if row and (item := _item_of(row)) and item not in past.outcomes:
                extra = row.get("extra")
                word = extra.get("outcome") if isinstance(extra, dict) else None
                past.outcomes[item] = str(word or "answered")
                past.failures.pop(item, None)
    return past


def _take(past: Past, under_way: dict[Item, Spent], line: Mapping[str, Any]) -> None:
    event = line["event"]
    if event not in ("sent", "replied", "failed"):
        return
    item = Item(str(line["case"]), int(line["repeat"]))
    before = under_way.pop(item, None)
    if event == "sent":
        if before:  # the process died while it was under way
            past.unsure += before
        under_way[item] = Spent.from_json(line["expected"])
    elif event == "replied":
        if not isinstance(line["row"], dict):
            raise ValueError("no row")
        past.outcomes[item] = str(line["outcome"])
        past.failures.pop(item, None)
        if line["spent"]:
            past.spent += Spent.from_json(line["spent"])
        elif before:  # the server did not count
            past.unsure += before
    else:
        past.failures[item] = Failure(item, str(line["kind"]), str(line["message"]))
        if line.get("maybe_paid") and before:
            past.unsure += before


@dataclass
class _Batch:
    """Lines that go out together, each with its row; ``error`` is why they did not."""

    lines: list[tuple[str, str | None]] = field(default_factory=list)
    sync: bool = False
    written: bool = False
    error: OSError | None = None


class Journal:
    """Writes the log and the rows of a run; threads may call it at once.

    What several threads have to write at the same time goes out together, with one write and one
    wait for the disk.

    Parameters
    ----------
    run
        Its folder is there.
    masked
        Takes what must stand in no file out of a text.
    """

    def __init__(self, run: RunFolder, masked: Callable[[str], str]) -> None:
        self._masked = masked
        self._log = AppendOnly(run.log)
        self._rows = AppendOnly(run.rows)
        self.mended = self._log.mended + self._rows.mended
        """Bytes of torn last lines that were taken away."""
        self._batch = _Batch()
        self._late_rows: list[str] = []
        self._rows_written = 0.0
        self._collecting, self._writing = threading.Lock(), threading.Lock()
        self._closed = False

    def note(self, event: str, *, sync: bool = True, row_now: bool = True, **values: Any) -> None:
        """Add a line to the log; where there is a ``row`` among the values, to the rows as well.

        With ``sync`` the log's line is on the disk when this returns. Without ``row_now`` a row
        stands in the log alone.

        Raises
        ------
        OSError
            The disk did not take it.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = self._masked(json_line({"event": event, "at": at, **values}))
        row = self._masked(json_line(values["row"])) if row_now and "row" in values else None
        with self._collecting:
            batch = self._batch
            batch.lines.append((line, row))
            batch.sync |= sync
        with self._writing:
            if not batch.written:  # no other thread has taken it along
                with self._collecting:
                    self._batch = _Batch()
                self._write(batch)
        if batch.error:
            raise OSError(batch.error.errno, batch.error.strerror)

    def _write(self, batch: _Batch) -> None:
        batch.written = True
        if self._closed:
            return
        try:
            self._log.append((line for line, _ in batch.lines), sync=batch.sync)
            self._late_rows += [row for _, row in batch.lines if row is not None]
            self._write_rows()
        except OSError as error:
            batch.error = error

    def _write_rows(self, *, now: bool = False) -> None:
        if now or time.monotonic() - self._rows_written >= ROWS_EVERY_S:
            self._rows.append(self._late_rows, sync=True)
            self._late_rows = []
            self._rows_written = time.monotonic()

    def write_rows(self) -> None:
        """Write the rows that are still to be written, if the last time is long enough ago.

        Raises
        ------
        OSError
            The disk did not take them.
        """
        with self._writing:
            if self._late_rows and not self._closed:
                self._write_rows()

    def close(self) -> None:
        """Write what is left and close; what comes later is not written any more.

        Raises
        ------
        OSError
            The disk did not take the rows; they are in the log.
        """
        with self._writing:
            if self._closed:
                return
            self._closed = True
            try:
                self._write_rows(now=True)
            finally:
                self._log.close()
                self._rows.close()


def write_missing_rows(run: RunFolder, is_known: Callable[[str], bool]) -> int:
    """Write the rows of replies that are in the log and not among the rows; return how many.

    A case that is not known is no longer in the set, which is not opened with an answer to none.
    """
    rows = AppendOnly(run.rows)
    try:
        there = {None, *(_item_of(line) for _, line in lines_of(run.rows) if line)}
        missing: list[str] = []
        for _, line in lines_of(run.log):
            if not line or line.get("event") != "replied" or not isinstance(line.get("row"), dict):
                continue
            item = _item_of(line)
            if item is not None and item not in there and is_known(item.case):
                there.add(item)
                missing.append(json_line(line["row"]))
        rows.append(missing, sync=True)
    finally:
        rows.close()
    return len(missing)


def _item_of(line: Mapping[str, Any]) -> Item | None:
    try:
        return Item(str(line.get("case")), int(line.get("repeat") or 1))
    except (TypeError, ValueError):
        return None
