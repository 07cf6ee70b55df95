"""Record requests and replies: first in the log, then each answer as a row.

A reply is on the disk in ``log.jsonl`` before its row is written to ``answers/RUN.jsonl``; the
log's line contains the row as well. Whenever a run dies, a logged reply is never asked for again,
and its row can be restored from the log.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from rexview.errors import RunError
from rexview.models.backend import Prompt
from rexview.models.running.run_folder import RunFolder, list_runs
from rexview.models.running.run_spec import RunCost, read_run_spec

# An append-only file of lines that survives a crash or a full disk.

_BLOCK: Final = 1 << 20


class AppendOnly:
    """A JSON Lines file to which one process appends.

    A last line that a crash cut off is removed when the file is opened: its write never completed.
    If a write fails, as on a full disk, the file is cut back to its last state.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.mended = _repair_end(path)
        """Bytes of a torn last line that were removed."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # on Windows
        self._file = os.open(path, flags, 0o644)

    def append(self, lines: Iterable[str], *, sync: bool) -> None:
        """Append lines with one write; with ``sync`` they are on the disk on return.

        Raises
        ------
        OSError
            None of the lines is in the file.
        """
        data = "".join(f"{line}\n" for line in lines).encode()
        if not data:
            return
        before = os.fstat(self._file).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            if sync:
                os.fsync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, before)
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def json_line(value: Mapping[str, Any]) -> str:
    """Return an object as one line of ASCII JSON."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _repair_end(path: Path) -> int:
    """End a file with a complete line; return how many bytes were removed."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return 0
    with file:
        size = file.seek(0, os.SEEK_END)
        end = _after_last_line(file, size)
        if end == size:
            return 0
        file.seek(end)
        if _is_object(file.read()):  # only its line end is missing
            file.write(b"\n")
            return 0
        file.truncate(end)
        return size - end


def _after_last_line(file: Any, size: int) -> int:
    """Return the position after the last line end."""
    at = size
    while at:
        start = max(0, at - _BLOCK)
        file.seek(start)
        found = file.read(at - start).rfind(b"\n")
        if found >= 0:
            return int(start + found + 1)
        at = start
    return 0


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def read_json_lines(path: Path, having: bytes = b"") -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield a file's lines with their numbers, from 1; None for a line that is no JSON object.

    Lines that do not contain the bytes ``having`` are skipped without parsing.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, start=1):
            if having not in line:
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            yield number, value if isinstance(value, dict) else None


ROW_WRITE_INTERVAL_S: Final = 1.0
"""Shortest time between writes of rows: open pages read the set again after each."""


class RunItem(NamedTuple):
    """The unit of a row: a case, and the number of its repeat."""

    case: str
    repeat: int


@dataclass(frozen=True)
class FailedItem:
    """An item without an answer, with the failure of its last attempt."""

    item: RunItem
    kind: str
    message: str


@dataclass
class RunHistory:
    """What happened before, read from a log.

    Attributes
    ----------
    outcomes
        Outcomes by item; these items are never asked again.
    failures
        The last failure of each item without a reply.
    spent
        The billed cost.
    unsure
        Cost that may have been billed on top: attempts cut off, or with an unknown end.
    unreadable
        Numbers of damaged lines.
    """

    outcomes: dict[RunItem, str] = field(default_factory=dict)
    failures: dict[RunItem, FailedItem] = field(default_factory=dict)
    spent: RunCost = field(default_factory=RunCost)
    unsure: RunCost = field(default_factory=RunCost)
    unreadable: list[int] = field(default_factory=list)


def read_run_history(run: RunFolder) -> RunHistory:
    """Read the log of a run; a missing log means that nothing happened."""
    past = RunHistory()
    under_way: dict[RunItem, RunCost] = {}
    in_batches: dict[RunItem, RunCost] = {}
    for number, line in read_json_lines(run.log):
        try:
            if line is None:
                raise ValueError("no object")
            _apply_line(past, under_way, in_batches, line)
        except (KeyError, TypeError, ValueError):
            past.unreadable.append(number)
    for expected in under_way.values():
        past.unsure += expected
    if past.unreadable:  # damaged lines may hold replies that have rows: never pay for those again
        for _, row in read_json_lines(run.rows):
            if row and (item := _item_of(row)) and item not in past.outcomes:
                extra = row.get("extra")
                word = extra.get("outcome") if isinstance(extra, dict) else None
                past.outcomes[item] = str(word or "answered")
                past.failures.pop(item, None)
    return past


def _apply_line(
    past: RunHistory,
    under_way: dict[RunItem, RunCost],
    in_batches: dict[RunItem, RunCost],
    line: Mapping[str, Any],
) -> None:
    event = line["event"]
    if event not in ("sent", "batch_request", "replied", "failed"):
        return
    item = RunItem(str(line["case"]), int(line["repeat"]))
    if event == "batch_request":  # its reply will be collected: not uncertain
        in_batches[item] = RunCost.from_json(line["expected"])
        return
    before = under_way.pop(item, None) or in_batches.get(item)
    if event == "sent":
        if before:  # the process died while it was under way
            past.unsure += before
        under_way[item] = RunCost.from_json(line["expected"])
    elif event == "replied":
        if not isinstance(line["row"], dict):
            raise ValueError("no row")
        past.outcomes[item] = str(line["outcome"])
        past.failures.pop(item, None)
        if line["spent"]:
            past.spent += RunCost.from_json(line["spent"])
        elif before:  # the server did not count
            past.unsure += before
    else:
        past.failures[item] = FailedItem(item, str(line["kind"]), str(line["message"]))
        if line.get("maybe_paid") and before:
            past.unsure += before


@dataclass
class _LineBatch:
    """Lines that are written together, each with its row; ``error`` is why that failed."""

    lines: list[tuple[str, str | None]] = field(default_factory=list)
    sync: bool = False
    written: bool = False
    error: OSError | None = None


class Journal:
    """Writes the log and the rows of a run; several threads may use it at once.

    Lines that several threads add at the same time share one write and one wait for the disk.

    Parameters
    ----------
    run
        Its folder exists.
    masked
        Removes from a text what no file may contain.
    """

    def __init__(self, run: RunFolder, masked: Callable[[str], str]) -> None:
        self._masked = masked
        self._log = AppendOnly(run.log)
        self._rows = AppendOnly(run.rows)
        self.mended = self._log.mended + self._rows.mended
        """Bytes of torn last lines that were removed."""
        self._batch = _LineBatch()
        self._late_rows: list[str] = []
        self._rows_written = 0.0
        self._collecting, self._writing = threading.Lock(), threading.Lock()
        self._closed = False

    def note(self, event: str, *, sync: bool = True, row_now: bool = True, **values: Any) -> None:
        """Append a line to the log; with a ``row`` among the values, also to the rows.

        With ``sync`` the log's line is on the disk on return. Without ``row_now`` the row is only
        in the log.

        Raises
        ------
        OSError
            The line cannot be written.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = self._masked(json_line({"event": event, "at": at, **values}))
        row = self._masked(json_line(values["row"])) if row_now and "row" in values else None
        with self._collecting:
            batch = self._batch
            batch.lines.append((line, row))
            batch.sync |= sync
        with self._writing:
            if not batch.written:  # no other thread has written it
                with self._collecting:
                    self._batch = _LineBatch()
                self._write(batch)
        if batch.error:
            raise OSError(batch.error.errno, batch.error.strerror)

    def _write(self, batch: _LineBatch) -> None:
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
        if now or time.monotonic() - self._rows_written >= ROW_WRITE_INTERVAL_S:
            self._rows.append(self._late_rows, sync=True)
            self._late_rows = []
            self._rows_written = time.monotonic()

    def write_rows(self) -> None:
        """Write waiting rows, if the last write is long enough ago.

        Raises
        ------
        OSError
            The rows cannot be written.
        """
        with self._writing:
            if self._late_rows and not self._closed:
                self._write_rows()

    def close(self) -> None:
        """Write what is waiting and close; later lines are not written.

        Raises
        ------
        OSError
            The rows cannot be written; they are in the log.
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
    """Write the rows of logged replies that are missing; return their number.

    Replies for cases that are no longer in the set are skipped: a set with such rows cannot be
    opened.
    """
    rows = AppendOnly(run.rows)
    try:
        there = {None, *(_item_of(line) for _, line in read_json_lines(run.rows) if line)}
        missing: list[str] = []
        for _, line in read_json_lines(run.log):
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


def _item_of(line: Mapping[str, Any]) -> RunItem | None:
    try:
        return RunItem(str(line.get("case")), int(line.get("repeat") or 1))
    except (TypeError, ValueError):
        return None


# Replies of runs that are not about cases, read from their logs.


@dataclass(frozen=True)
class StoredReply:
    """A stored reply about one subject: how it ended, its text, when, in which run.

    ``why`` explains an answer that cannot be read, or adds a note to one that can.
    """

    outcome: str
    text: str
    created: str
    run: str
    why: str = ""

    @property
    def answered(self) -> bool:
        """Whether it can be read."""
        return self.outcome == "answered"


def read_stored_replies(run: RunFolder) -> Iterator[tuple[str, StoredReply]]:
    """Yield the replies in a run's log in order, each with its subject's id."""
    for _, line in read_json_lines(run.log, b'"replied"'):  # the first line of every reply
        row = line.get("row") if line and line.get("event") == "replied" else None
        if isinstance(row, dict):
            yield str(row.get("case")), _stored_reply(row, run.id)


def newest_stored_replies(
    set_folder: Path, under: str, model: str, prompt: Prompt
) -> dict[str, StoredReply]:
    """Return the replies of a model to a wording in all runs of a kind, by subject id.

    Of several replies the newest readable one is used, otherwise the newest.
    """
    found: dict[str, StoredReply] = {}
    for run in list_runs(set_folder, under):
        with suppress(RunError):
            spec = read_run_spec(run)
            if spec.parameters.model != model or spec.prompt.hash != prompt.hash:
                continue
            for subject, came in read_stored_replies(run):
                before = found.get(subject)
                if before is None or _reply_rank(came) > _reply_rank(before):
                    found[subject] = came
    return found


def _stored_reply(row: dict[str, Any], run: str) -> StoredReply:
    beside = row.get("extra")
    extra: dict[str, Any] = beside if isinstance(beside, dict) else {}
    text, created = str(row.get("text") or ""), str(row.get("created") or "")
    notes = extra.get("notes")
    why = " ".join(map(str, notes)) if isinstance(notes, list) else ""
    return StoredReply(str(extra.get("outcome")), text, created, run, why)


def _reply_rank(one: StoredReply) -> tuple[bool, str]:
    return one.answered, one.created
