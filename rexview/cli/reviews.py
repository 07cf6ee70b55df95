"""Commands on people's entries: backup, restore, merge-reviews and export-reviews."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexview.cli.arguments import FOLDER_ARGUMENT, SET_ARGUMENT, new_command, parse_path
from rexview.vocab import english_count

if TYPE_CHECKING:
    from rexview.store import BackupReport, Reviews


def add_reviews(commands: Any) -> None:
    """Add the commands on people's entries."""
    parser = new_command(commands, "backup", _backup, "copy what people wrote into one file")
    parser.add_argument("folder", **SET_ARGUMENT)
    parser.add_argument("--out", type=parse_path, required=True, metavar="FILE", help="the backup")

    purpose = "put a backup into the reviews database of a set"
    parser = new_command(commands, "restore", _restore, purpose)
    parser.add_argument("file", type=parse_path, metavar="FILE", help="what `backup` wrote")
    parser.add_argument("folder", **SET_ARGUMENT)
    away = "take away what is there (it is backed up first)"
    parser.add_argument("--replace", action="store_true", help=away)

    purpose = "join all databases of a review set into one, every entry once"
    parser = new_command(commands, "merge-reviews", _merge_reviews, purpose)
    parser.add_argument("folder", **SET_ARGUMENT)
    parser.add_argument(
        "--from",
        dest="more",
        type=parse_path,
        action="append",
        default=[],
        metavar="FILE",
        help="also this database or backup, which is left as it is",
    )

    purpose = "write scores.csv and flags.csv, given and written rows together, and exposures.csv"
    parser = new_command(commands, "export-reviews", _export_reviews, purpose)
    parser.add_argument("folder", **SET_ARGUMENT)
    parser.add_argument("--out", **FOLDER_ARGUMENT, required=True, help="the new folder of tables")


def open_set_reviews(folder: Path) -> Reviews:
    """Open the reviews of a set."""
    from rexview.reviewset import load_review_set
    from rexview.settings import load_settings
    from rexview.store import open_reviews

    return open_reviews(load_review_set(folder), load_settings())


def _backup(options: argparse.Namespace) -> int:
    from rexview.store import write_backup

    report = write_backup(open_set_reviews(options.folder), options.out)
    _print_changed(report)
    print(f"{english_count(report.entries, 'entry')} backed up.")
    return 0


def _restore(options: argparse.Namespace) -> int:
    from rexview.store import restore_backup

    report = restore_backup(options.file, open_set_reviews(options.folder), replace=options.replace)
    if report.kept:
        print(f"What was there is kept in {report.kept}.", file=sys.stderr)
    _print_changed(report)
    print(f"{english_count(report.entries, 'entry')} restored.")
    return 0


def _print_changed(report: BackupReport) -> None:
    if report.changed:
        print(
            f"warning: {report.changed:,} of them damaged after saving; they count nowhere.",
            file=sys.stderr,
        )


def _merge_reviews(options: argparse.Namespace) -> int:
    from rexview.reviewset import load_review_set
    from rexview.settings import load_settings
    from rexview.store import merge_databases, open_best_reviews, other_databases

    reviews = open_best_reviews(load_review_set(options.folder), load_settings())
    files = [one.file for one in other_databases(reviews)]
    report = merge_databases(reviews, [*files, *(file.resolve() for file in options.more)])
    for file in report.kept:
        print(f"Kept: {file}", file=sys.stderr)
    print(
        f"{report.added:,} added, {english_count(report.entries, 'entry')} now in "
        f"{reviews.address}."
    )
    return 0


def _export_reviews(options: argparse.Namespace) -> int:
    from rexview.analysis.query.memory.study_engine import (
        without_unfinished_scores,
    )
    from rexview.analysis.reader_exposure import read_exposures, write_exposures
    from rexview.analysis.written_results import write_written_failure_files
    from rexview.reviewset import write_csv
    from rexview.stats.score_finals import list_unfinished_work
    from rexview.store import merge_reviews

    reviews = open_set_reviews(options.folder)
    review_set = merge_reviews(reviews.review_set, reviews)
    tables = (
        *("scores", "flags", "edits", "choices", "preferences", "references"),
        *("candidates", "candidate_ratings", "candidate_tags", "selections", "validations"),
    )
    write_csv(review_set, tables, options.out)
    begun = list_unfinished_work(without_unfinished_scores(reviews.review_set, review_set))
    seen = read_exposures(reviews).all(begun)
    write_exposures(seen, options.out)
    versions, read, marked = write_written_failure_files(reviews, options.out)
    written = [(name, getattr(review_set, name).height) for name in tables]
    told = [(name, rows) for name, rows in written if rows or name in ("scores", "flags")]
    words = [english_count(rows, name.removesuffix("s")) for name, rows in told]
    words += [english_count(versions, "version") + " of failures in words"] if versions else []
    words += [english_count(read, "answer") + " read for them"] if read else []
    words += [english_count(marked, "mark") + " with them"] if marked else []
    print(f"{', '.join(words)} written.")
    return 0
