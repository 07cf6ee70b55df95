"""``python -m rexview export``: cases and meetings as slides, pages, tables and other formats."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from rexview.cli.arguments import SET_ARGUMENT, new_command, parse_path
from rexview.cli.output import progress_printer
from rexview.cli.results import make_engine, with_computed_metrics, with_finished_reviews
from rexview.errors import ExportCancelled, ExportRefused, FileRefused
from rexview.untrusted_input import printable_text, read_file
from rexview.vocab import english_count

_LARGEST_LIST: Final = 16_000_000
"""Largest size of a file of case ids, in bytes."""


def add_export(commands: Any) -> None:
    """Add the command ``export``."""
    from rexview.export.export_formats import EXPORT_FORMATS

    purpose = "write cases or a meeting as slides, a page, tables or another format"
    parser = new_command(commands, "export", _export, purpose)
    argument = parser.add_argument
    argument("folder", **SET_ARGUMENT)
    argument("--format", required=True, choices=tuple(EXPORT_FORMATS), help="which format")
    words = "a new file, or a new or empty folder for a format that is one"
    argument("--out", type=parse_path, required=True, metavar="PATH", help=words)
    which = parser.add_mutually_exclusive_group()
    ids = "ids with commas between, or @FILE with one a line; may be given again"
    which.add_argument("--cases", action="append", metavar="IDS", help=ids)
    query = "the cases that a link leaves: its query, such as failure=laterality_error"
    which.add_argument("--filter", metavar="QUERY", help=query)
    meeting = "the cases of a meeting, by its name or id, with what was decided"
    argument("--meeting", metavar="NAME", help=meeting)
    hidden = "pseudonyms for cases, studies, patients and sites"
    argument("--pseudonyms", action="store_true", help=hidden)
    key = "what the pseudonyms stand for, as a new CSV file: keep it apart"
    argument("--key", type=parse_path, metavar="FILE", help=key)


def _export(options: argparse.Namespace) -> int:
    from rexview.export.content_builder import make_content
    from rexview.export.export_formats import EXPORT_FORMATS
    from rexview.export.export_job import ExportProgress, target_problem, write_export
    from rexview.export.export_request import ExportRequest as Wanted
    from rexview.export.export_request import ExportSource as Source
    from rexview.export.export_request import find_export_cases as choose
    from rexview.export.export_request import (
        find_request_problems,
        parse_link_query,
    )
    from rexview.reviewset import load_review_set

    form = EXPORT_FORMATS[options.format]
    problems = [target_problem(options.out, form), _key_problem(options)]
    cases = _ids(options.cases, problems) if options.cases else None
    query = None if options.filter is None else parse_link_query(options.filter)
    wanted = Wanted(cases, query, options.meeting)
    review_set = load_review_set(options.folder)
    if query is not None:  # it may be about metrics that the app computes
        review_set = with_computed_metrics(review_set)
    written, reviews = with_finished_reviews(review_set)
    problems += find_request_problems(written, reviews, wanted)
    if found := [problem for problem in problems if problem]:
        raise ExportRefused(" ".join(found))
    with _sigterm_as_interrupt():
        source = Source(written, make_engine(written, reviews), reviews)
        content, hidden = make_content(
            source,
            choose(source, wanted),
            pseudonyms=options.pseudonyms,
            has_pictures=form.has_pictures,
        )
        progress = ExportProgress(progress_printer("cases exported") or (lambda done, total: None))
        write_export(content, form, options.out, progress)
        if options.key and hidden:
            _write_key(options.key, hidden.key_file())
    for note in (*content.notes, *progress.notes):
        print(printable_text(note), file=sys.stderr)
    print(
        f"{english_count(len(content.case_ids), 'case')} written to "
        f"{printable_text(str(options.out))}."
    )
    return 0


def _ids(given: list[str], problems: list[str | None]) -> tuple[str, ...]:
    """Read ids from the command line; a file has one id a line, which may contain commas."""
    found: list[str] = []
    for text in given:
        if not text.startswith("@"):
            found += text.split(",")
            continue
        try:
            lines = read_file(parse_path(text[1:]), _LARGEST_LIST).decode("utf-8-sig").splitlines()
        except (FileRefused, argparse.ArgumentTypeError) as refusal:
            problems.append(f"{text[1:]}: {refusal}")
        except UnicodeDecodeError:
            problems.append(f"The list {text[1:]} is no text in UTF-8.")
        except OSError as error:
            problems.append(f"The list {text[1:]} cannot be read: {error.strerror}.")
        else:
            found += lines
    return tuple(id_ for text in found if (id_ := text.strip()))


def _key_problem(options: argparse.Namespace) -> str | None:
    key: Path | None = options.key
    if key is None:
        return None
    if not options.pseudonyms:
        return "A key is of pseudonyms: give --pseudonyms, too."
    if not key.parent.is_dir():
        return f"There is no folder {key.parent} for the key. Make it first."
    if os.path.lexists(key):
        return f"The key {key} is there already. Name a new file."
    out = options.out.resolve()
    if key.resolve() == out or out in key.resolve().parents:
        return "The key must be kept apart from the export. Name a file elsewhere."
    return None


def _write_key(key: Path, text: str) -> None:
    """Write the key so that only this user can read it."""
    made = False
    try:
        handle = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        made = True
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        if made:
            key.unlink(missing_ok=True)
        raise ExportRefused(
            f"The export is written; its key could not be ({error.strerror}). Export again."
        ) from None


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that no half-written file remains in either case."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        raise ExportCancelled("Cancelled. Nothing was written.") from None
    finally:
        signal.signal(signal.SIGTERM, before)
