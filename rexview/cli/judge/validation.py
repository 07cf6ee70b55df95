"""``python -m rexview written``: what was found of a written failure, a sample of it to validate.

Nothing is sent. Exit status: 0 told, 1 nothing was judged yet, 2 it could not be done as asked.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rexview.cli.arguments import OWN_SET, new_command, path
from rexview.cli.judge.chosen import models_wanted, subjects_wanted
from rexview.cli.output import as_json, refusing
from rexview.cli.run.command import add_chosen_cases
from rexview.errors import RunRefused, SettingsError, StoreError
from rexview.untrusted_input import printable
from rexview.vocab import counted

if TYPE_CHECKING:
    from pathlib import Path

    from rexview.analysis.written_results import ValidationResult as Validated
    from rexview.judge.written.validation import Share

_EACH: Final = 50


def add_written(commands: Any) -> None:
    """Add the command ``written``."""
    purpose = "what a judge found of a written failure, and a sample of it to validate"
    parser = new_command(commands, "written", _written, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET)
    argument("failure", metavar="NAME", help="the failure; NAME@VERSION in earlier words")
    argument("--judge", required=True, metavar="MODEL", help="the model that judged")
    model = "whose answers, several times for several; all without it"
    argument("--model", action="append", metavar="ID", help=model)
    add_chosen_cases(parser)
    one = parser.add_mutually_exclusive_group()
    words = "draw a sample and write it as CSV, to be filled in"
    one.add_argument("--sheet", type=path, metavar="FILE", help=words)
    words = "a sheet that a clinician filled in: precision, and what is missed"
    one.add_argument("--validated", type=path, metavar="FILE", help=words)
    words = f"of those found so many in the sample (default: {_EACH})"
    argument("--found", type=_count, default=_EACH, metavar="N", help=words)
    words = f"of those judged and not found (default: {_EACH})"
    argument("--not-found", type=_count, default=_EACH, metavar="N", help=words)
    argument("--seed", type=_count, default=0, metavar="N", help="of the sample (default: 0)")
    argument("--json", action="store_true", help="one JSON object")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number from 0")
    return int(text)


@refusing(RunRefused, SettingsError, StoreError)
def _written(options: argparse.Namespace) -> int:
    """Count what was found, draw a sample or say what a filled one says."""
    from rexview.analysis.written_failures import find_failure
    from rexview.analysis.written_results import VALIDATION_KIND as KIND
    from rexview.analysis.written_results import found_in, validated
    from rexview.judge.subjects import WRITTEN
    from rexview.judge.written import name_of, replies_about, results_of
    from rexview.judge.written.validation import GROUPS, read_sheet, sample, sheet
    from rexview.reviewset import load
    from rexview.settings import load_settings
    from rexview.store import open_reviews

    review_set, settings = load(options.folder), load_settings()
    prompt = find_failure(review_set, settings, options.failure)
    models = models_wanted(options, review_set)
    subjects, _ = subjects_wanted(options, review_set, models, {}, (WRITTEN,))
    results = results_of(subjects, replies_about(review_set, options.judge, prompt))
    if not results.said:
        print(
            printable(f"{options.judge} has judged none of these answers in these words."),
            file=sys.stderr,
        )
        return 1
    shares: tuple[Share, ...] = ()
    if options.validated:
        shares = read_sheet(options.validated, results, prompt.hash, options.judge)
    if options.sheet:
        wanted = dict(zip(GROUPS, (options.found, options.not_found), strict=True))
        drawn = sample(results, prompt.hash, options.judge, wanted, options.seed)
        text = sheet(drawn, results, subjects, prompt.hash, options.judge, options.seed)
        _write(options.sheet, text)
    rows = open_reviews(review_set, settings).current(KIND)
    on_pages = validated(found_in(review_set, prompt, options.judge), rows)
    found, judged = results.count("yes"), len(results.said)
    if options.json:
        told = {
            "failure": name_of(prompt),
            "name": prompt.name,
            "version": prompt.hash,
            "judge": options.judge,
            "found": found,
            "judged": judged,
            "unsure": results.count("unsure"),
            "unreadable": len(results.unread),
            "unasked": len(results.unasked),
            "validated": [{**asdict(one), "share": one.share} for one in shares] or None,
            "validated_on_pages": [_on_pages(one) for one in on_pages] or None,
        }
        print(as_json(told))
        return 0
    print(
        printable(
            f"{prompt.name}: found in {found:,} of {counted(judged, 'answer')} "
            f"by {options.judge}, a language model"
        )
    )
    for one in shares:
        print(f"  {_words(one)}")
    for of_person in on_pages:
        who = of_person.who or f"all together, {of_person.differ:,} differ"
        print(printable(f"  On the page Failures, {who}, over all answers judged:"))
        for one in (of_person.found, of_person.not_found):
            print(f"    {_words(one)}")
    if not shares and not on_pages:
        print("  not validated yet")
    for count, words in ((len(results.unread), "cannot be read"), (len(results.unasked), "open")):
        if count:
            print(f"  {counted(count, 'answer')} {words}")
    if options.sheet:
        print(printable(f"Fill in has_it (yes, no, unsure): {options.sheet}"))
    return 0


def _on_pages(one: Validated) -> dict[str, Any]:
    shares = {"found": one.found, "not_found": one.not_found}
    each = {name: {**asdict(share), "share": share.share} for name, share in shares.items()}
    return {"who": one.who, "differ": one.differ, **each}


def _words(one: Share) -> str:
    what = "precision" if one.group == "found" else "of those not found, with the failure"
    rest = ", ".join(
        f"{count:,} {word}"
        for count, word in ((one.unsure, "unsure"), (one.unread, "unread"))
        if count
    )
    rest = f"; {rest}" if rest else ""
    interval = one.interval
    if one.share is None or interval is None or interval.low is None or interval.high is None:
        return f"{what}: not validated yet ({one.of:,} in all{rest})"
    told = one.yes + one.no
    low, high = 100 * interval.low, 100 * interval.high
    return (
        f"{what}: {100 * one.share:.0f}% (95% CI {low:.0f} to {high:.0f}), "
        f"{one.yes:,} of {told:,} read of {one.of:,}{rest}"
    )


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8", newline="") as out:
            out.write(f"\ufeff{text}")  # a spreadsheet takes it for UTF-8 by that
    except FileExistsError:
        raise RunRefused(f"{file} is there already: name another file.") from None
    except OSError as error:
        raise RunRefused(f"{file} cannot be written ({error.strerror}).") from None
