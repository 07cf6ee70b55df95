"""``python -m rexview failures``: what the detectors and readers found."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from rexview.addresses import address_of_set
from rexview.cli.arguments import SET, new_command
from rexview.cli.output import as_json
from rexview.cli.run.engine import add_engine, engine, tell_ended
from rexview.cli.scanning import scan
from rexview.errors import StorageRefused
from rexview.untrusted_input import printable
from rexview.vocab import HINT_KINDS, counted, noun


def add_failures(commands: Any) -> None:
    """Add the command ``failures``."""
    parser = new_command(commands, "failures", _failures, "list the failures found in a review set")
    argument = parser.add_argument
    argument("folder", **SET)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    keep = "keep what is found beside the tables of the set, for whoever opens it next"
    argument("--keep", action="store_true", help=keep)
    add_engine(parser)


def _failures(options: argparse.Namespace) -> int:
    from rexview.detect import not_read_rows, rows_of
    from rexview.reviewset import load

    if options.keep and address_of_set(options.folder):
        raise StorageRefused("Nothing is written into a storage: leave out --keep.")
    review_set = load(options.folder)
    try:
        with engine(options) as spread:
            found = scan(review_set, keep_beside=options.keep, spread=spread)
    except KeyboardInterrupt:
        return tell_ended("What was found is kept: the same command goes on from there.")
    rows, unread = list(rows_of(found)), list(not_read_rows(review_set))
    if options.json:
        print(as_json(rows + unread))
    else:
        for row in rows:
            case, model = row["case"], row["model"]
            who = "suggested" if _is_hint(row) else row["source"]
            print(printable(f"{case}  {model}  {row['failure']}  ({who})  {row['message']}"))
        hints = sum(map(_is_hint, rows))
        flags = len(rows) - hints
        print(f"{flags} {noun(flags, 'flag')}, {hints} {noun(hints, 'hint')}")
        if unread:
            print(_told(unread))
    return 0


def _told(unread: list[dict[str, Any]]) -> str:
    """Say how many answers were not read, or not held against their report, in which language."""
    told = []
    for kind, words in (("not_read", "not read"), ("report_not_read", "not held against a report")):
        by_language = Counter(row["language"] for row in unread if row["kind"] == kind)
        if by_language:
            looks = ", ".join(f"{n:,} {language}" for language, n in by_language.most_common())
            told.append(f"{counted(by_language.total(), 'answer')} {words} ({looks})")
    return "; ".join(told) + ": the rules read English"


def _is_hint(row: dict[str, Any]) -> bool:
    return row["source"] == "detector" and row["kind"] in HINT_KINDS
