"""Print the output of commands: JSON for programs; problems and progress for people."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from functools import wraps
from typing import Any, Final

from rexview.errors import Problem, RexviewError
from rexview.models.backend import FAILURE_CAUSES, OUTCOMES
from rexview.models.running.run_progress import RunProgress
from rexview.untrusted_input import printable_text
from rexview.vocab import duration_text, english_count

USAGE_STATUS: Final = 2
"""Exit status of a command that cannot run with its options."""
_SECONDS_BETWEEN: Final = 0.1
Command = Callable[[argparse.Namespace], int]


def as_json(value: Any) -> str:
    """Return values as JSON that any terminal and file can hold: other characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    return re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def reporting_errors(*refusals: type[RexviewError]) -> Callable[[Command], Command]:
    """Make a command print these errors and return :data:`USAGE_STATUS`."""

    def of_command(command: Command) -> Command:
        @wraps(command)
        def refused(options: argparse.Namespace) -> int:
            try:
                return command(options)
            except refusals as error:
                print(printable_text(str(error)), file=sys.stderr)
                return USAGE_STATUS

        return refused

    return of_command


def print_problems(problems: Sequence[Problem], stream: Any) -> None:
    """Print problems, one a line."""
    for problem in problems:
        print(printable_text(str(problem)), file=stream)


@contextmanager
def pictures_progress() -> Iterator[None]:
    """Show on a terminal how many pictures are decoded."""
    from rexview.reviewset.picture_decoding import report_progress

    show = progress_printer("pictures decoded")
    with report_progress(show) if show else nullcontext():
        yield


def progress_printer(words: str) -> Callable[[int, int], None] | None:
    """Return a function that shows progress on a terminal; None if output goes elsewhere."""
    if not sys.stderr.isatty():
        return None
    shown = 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if done == total or now - shown > _SECONDS_BETWEEN:
            shown = now
            print(f"\r{done:,} of {total:,} {words}", end="", file=sys.stderr, flush=True)
        if done == total:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    return show


# The progress of a run on a terminal or in lines, and how it ended.

_LINE_EVERY_S: Final = 5.0
_NAMED: Final = 10


class ProgressPrinter:
    """Shows a run's progress: one changing line on a terminal, otherwise a line at times."""

    def __init__(self, *, as_lines: bool) -> None:
        self._alone = sys.stderr.isatty() and not as_lines
        self._told: tuple[str, ...] = ()
        self._last = 0.0

    def show(self, progress: RunProgress) -> None:
        """Show it, and each message once; a run outlives its observer."""
        with suppress(OSError):
            self._show(progress)

    def _show(self, progress: RunProgress) -> None:
        new = [line for line in progress.lines if line not in self._told]
        self._told = progress.lines
        start = "\r\033[K" if self._alone else ""
        for line in new:
            print(f"{start}{printable_text(line)}", file=sys.stderr)
        words = printable_text(_progress_text(progress))
        if self._alone:
            print(f"{start}{words}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last >= _LINE_EVERY_S:
            self._last = time.monotonic()
            print(words, file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the changing line."""
        with suppress(OSError):
            if self._alone:
                print("\r\033[K", end="", file=sys.stderr, flush=True)


def _progress_text(progress: RunProgress) -> str:
    parts = [f"{progress.done:,} of {progress.total:,}"]
    if progress.errors:
        parts.append(f"{progress.errors:,} failed")
    if progress.state == "waiting":
        parts.append(f"waiting: {progress.waiting_for}")
    elif progress.state != "running":
        parts.append(progress.state)
    if progress.per_minute:
        parts.append(f"{progress.per_minute:,.0f} a minute")
    usd = progress.spent.get("usd")
    parts.append(f"{usd:,.2f} USD" if usd is not None else f"{_tokens(progress):,} tokens")
    if progress.seconds_left:
        parts.append(f"{duration_text(progress.seconds_left)} left")
    return ", ".join(parts)


def _tokens(progress: RunProgress) -> int:
    return int(progress.spent.get("input") or 0) + int(progress.spent.get("output") or 0)


def print_run_end(ended: RunProgress, *, as_json: bool) -> int:
    """Report how a run ended; return the exit status."""
    complete = ended.state == "finished" and ended.done == ended.total
    status = 0 if complete else 1
    if as_json:
        print(json.dumps({**asdict(ended), "exit": status}, indent=1))
        return status
    print(printable_text(f"{ended.run}: {_progress_text(ended)}"))
    for words, found in ((OUTCOMES, ended.outcomes), (FAILURE_CAUSES, ended.failed)):
        names: dict[str, str] = dict(words)  # type: ignore[arg-type]
        for word, count in sorted(found.items()):
            print(printable_text(f"  {count:,}  {names.get(word, word)}"))
    if ended.message:
        print(printable_text(ended.message), file=sys.stderr)
    if not complete:
        print(f"{ended.total - ended.done:,} without an answer: --resume asks them again.")
    return status


def print_remaining(
    ended: RunProgress | None, unread: Sequence[Mapping[str, str]], unasked: str
) -> None:
    """Report how a run ended, its unreadable answers, and what is unasked.

    ``unasked`` is in words, empty for nothing: ``3 answers without an opinion``.
    """
    if ended and ended.message:
        print(printable_text(ended.message), file=sys.stderr)
    _print_unreadable(unread)
    if unasked:
        print(f"{unasked}: --resume asks about them.")


def _print_unreadable(unread: Sequence[Mapping[str, str]]) -> None:
    """Report unreadable answers with reasons: the total, and the first ones by name.

    Each has ``case``, ``model``, ``outcome`` and ``why``.
    """
    names: Mapping[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    for one in unread[:_NAMED]:
        words = f"{one['case']}, {one['model']}: {names.get(one['outcome'], one['outcome'])}."
        print(printable_text(f"{words} {one['why']}".strip()), file=sys.stderr)
    if unread:
        print(f"{english_count(len(unread), 'answer')} cannot be read: --again asks again.")
