"""``python -m rexview check | import | failures | stats | render | bench | backup | restore | …``.

Exit status: 0 done, 1 the data has errors or the work failed, 2 the command line is wrong. What a
program reads goes to standard output, what a person reads about trouble to standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rexview import __version__
from rexview.bounded import typed_path
from rexview.errors import FileRefused, ImportSourceError, ReviewSetError, RexviewError
from rexview.problem import Problem
from rexview.vocab import HINT_KINDS

if TYPE_CHECKING:
    from rexview.store import BackupReport, MergeReport, Reviews


_BENCHES: Final = ("viewer", "queries", "imaging", "detectors", "stats", "reliability")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (ReviewSetError, ImportSourceError) as error:
        print(str(error), file=sys.stderr)
        _print_problems(error.problems, sys.stderr)
    except RexviewError as error:
        print(str(error), file=sys.stderr)
    finally:
        if "rexview.store.database.connection" in sys.modules:
            from rexview.store.database.connection import close_databases

            close_databases()  # leaves one file, without a -wal beside it
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rexview", description=__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"rexview {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="print every problem of a review set")
    check.add_argument("folder", type=_path, metavar="FOLDER")
    check.add_argument("--json", action="store_true", help="a JSON list instead of lines")
    check.set_defaults(run=_check)

    failures = commands.add_parser("failures", help="list the failures found in a review set")
    failures.add_argument("folder", type=_path, metavar="FOLDER")
    failures.add_argument("--json", action="store_true", help="a JSON list instead of lines")
    failures.set_defaults(run=_failures)

    stats = commands.add_parser("stats", help="print the tables of scores, tests and readers")
    stats.add_argument("folder", type=_path, metavar="FOLDER")
    stats.add_argument("--json", action="store_true", help="a JSON object with full precision")
    stats.add_argument(
        "--order",
        default="mean_first",
        metavar="mean_first|minimum_first",
        choices=("mean_first", "minimum_first"),
        help="Content: minimum of the readers' means (default), or mean of their minimums",
    )
    stats.add_argument(
        "--files-only", action="store_true", help="leave out what was written in the app"
    )
    stats.set_defaults(run=_stats)

    render = commands.add_parser("render", help="write the display picture of one image")
    render.add_argument("image", type=_path, metavar="IMAGE")
    render.add_argument("--out", type=_path, required=True, metavar="X.png")
    render.add_argument(
        "--window",
        default="file",
        metavar="auto|file|CENTRE,WIDTH",
        help="grey levels: the file's own (default), automatic, or a centre and a width",
    )
    render.set_defaults(run=_render)

    bench = commands.add_parser("bench", help="measure this machine, side by side")
    bench.add_argument("what", choices=_BENCHES)
    bench.add_argument(
        "folder",
        type=_path,
        nargs="?",
        metavar="FOLDER",
        help="for detectors: the share of a review set's newest answers that is flagged",
    )
    bench.add_argument("--json", action="store_true", help="a JSON list instead of a table")
    bench.set_defaults(run=_bench)

    _add_import(commands)
    _add_reviews(commands)
    return parser


def _path(text: str) -> Path:
    """Read a path of the command line; what no file can be called is told before anything runs."""
    try:
        return typed_path(text)
    except FileRefused as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def _add_reviews(commands: Any) -> None:
    keep = commands.add_parser("backup", help="copy what people wrote into one file")
    keep.add_argument("folder", type=_path, metavar="FOLDER")
    keep.add_argument("--out", type=_path, required=True, metavar="FILE")
    keep.set_defaults(run=_backup)

    back = commands.add_parser("restore", help="put a backup into the reviews database of a set")
    back.add_argument("file", type=_path, metavar="FILE")
    back.add_argument("folder", type=_path, metavar="FOLDER")
    back.add_argument(
        "--replace", action="store_true", help="take away what is there (it is backed up first)"
    )
    back.set_defaults(run=_restore)

    join = commands.add_parser(
        "merge-reviews", help="join all databases of a review set into one, every entry once"
    )
    join.add_argument("folder", type=_path, metavar="FOLDER")
    join.add_argument(
        "--from",
        dest="more",
        type=_path,
        action="append",
        default=[],
        metavar="FILE",
        help="also this database or backup, which is left as it is",
    )
    join.set_defaults(run=_merge_reviews)

    tables = commands.add_parser(
        "export-reviews",
        help="write scores.csv and flags.csv, given and written rows together, and exposures.csv",
    )
    tables.add_argument("folder", type=_path, metavar="FOLDER")
    tables.add_argument("--out", type=_path, required=True, metavar="FOLDER")
    tables.set_defaults(run=_export_reviews)


def _add_import(commands: Any) -> None:
    from rexview.reviewset.importers import FORMATS

    parser = commands.add_parser("import", help="make a review set from files of another format")
    formats = parser.add_subparsers(title="formats", required=True, metavar="FORMAT")
    for importer in FORMATS.values():
        one = formats.add_parser(importer.id, help=importer.name, description=importer.description)
        one.add_argument("sources", type=_path, nargs="+", metavar="SOURCE")
        one.add_argument("--out", type=_path, required=True, metavar="FOLDER")
        importer.add_arguments(one)
        one.set_defaults(run=_import, importer=importer)


def _check(options: argparse.Namespace) -> int:
    from rexview.reviewset import check

    problems = check(options.folder)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.json:
        print(json.dumps([asdict(problem) for problem in problems], ensure_ascii=False, indent=1))
    else:
        _print_problems(problems, sys.stdout)
        warnings = len(problems) - errors
        print(f"{errors} error{'s'[: errors != 1]}, {warnings} warning{'s'[: warnings != 1]}")
    return 1 if errors else 0


def _failures(options: argparse.Namespace) -> int:
    from rexview.detect import flag_rows
    from rexview.reviewset import load
    from rexview.settings import load_settings

    settings = load_settings()
    rows = flag_rows(
        load(options.folder),
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
    )
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        for row in rows:
            case, model = row["case"], row["model"]
            who = "possible" if _is_hint(row) else row["source"]
            print(f"{case}  {model}  {row['failure']}  ({who})  {row['message']}")
        hints = sum(map(_is_hint, rows))
        flags = len(rows) - hints
        print(f"{flags} flag{'s'[: flags != 1]}, {hints} hint{'s'[: hints != 1]}")
    return 0


def _is_hint(row: dict[str, Any]) -> bool:
    return row["source"] == "detector" and row["kind"] in HINT_KINDS


def _reviews(folder: Path) -> Reviews:
    from rexview.reviewset import load
    from rexview.settings import load_settings
    from rexview.store import open_reviews

    return open_reviews(load(folder), load_settings())


def _backup(options: argparse.Namespace) -> int:
    from rexview.store import backup

    report = backup(_reviews(options.folder), options.out)
    _tell_changed(report)
    print(f"{_entries(report)} backed up.")
    return 0


def _restore(options: argparse.Namespace) -> int:
    from rexview.store import restore

    report = restore(options.file, _reviews(options.folder), replace=options.replace)
    if report.kept:
        print(f"What was there is kept in {report.kept}.", file=sys.stderr)
    _tell_changed(report)
    print(f"{_entries(report)} restored.")
    return 0


def _tell_changed(report: BackupReport) -> None:
    if report.changed:
        print(
            f"warning: {report.changed:,} of them damaged after saving; they count nowhere.",
            file=sys.stderr,
        )


def _merge_reviews(options: argparse.Namespace) -> int:
    from rexview.reviewset import load
    from rexview.settings import load_settings
    from rexview.store import merge_databases, open_best, other_databases

    reviews = open_best(load(options.folder), load_settings())
    files = [one.file for one in other_databases(reviews)]
    report = merge_databases(reviews, [*files, *(file.resolve() for file in options.more)])
    for file in report.kept:
        print(f"Kept: {file}", file=sys.stderr)
    print(f"{report.added:,} added, {_entries(report)} now in {reviews.place}.")
    return 0


def _entries(report: BackupReport | MergeReport) -> str:
    return f"{report.entries:,} {'entry' if report.entries == 1 else 'entries'}"


def _export_reviews(options: argparse.Namespace) -> int:
    from rexview.analysis.study.exposure import exposures_of, write_exposures
    from rexview.analysis.study.finished import only_finished
    from rexview.reviewset import write_csv
    from rexview.stats.values import unfinished_work
    from rexview.store import merged

    reviews = _reviews(options.folder)
    review_set = merged(reviews.review_set, reviews)
    write_csv(review_set, ("scores", "flags"), options.out)
    begun = unfinished_work(only_finished(reviews.review_set, review_set))
    seen = exposures_of(reviews).all(begun)
    write_exposures(seen, options.out)
    scores, flags = review_set.scores.height, review_set.flags.height
    print(f"{scores:,} score{'s'[: scores != 1]}, {flags:,} flag{'s'[: flags != 1]} written.")
    return 0


def _stats(options: argparse.Namespace) -> int:
    from rexview.analysis.study.finished import only_finished
    from rexview.detect import detectors, judged_answers, survey
    from rexview.settings import load_settings
    from rexview.stats.report.document import report
    from rexview.stats.report.text import report_text
    from rexview.store import merged

    reviews = _reviews(options.folder)
    given = reviews.review_set
    review_set = given
    if not options.files_only:
        review_set = only_finished(given, merged(given, reviews))
    settings = load_settings()
    threshold = settings.gap_threshold
    active = detectors(
        gap_threshold=threshold,
        disagreement_threshold=settings.disagreement_threshold,
        models=review_set.models,
    )
    tables = report(
        review_set,
        gap_threshold=threshold,
        content_order=options.order,
        judged=judged_answers(survey(review_set, detectors=active)),
    )
    if options.json:
        print(json.dumps(tables, ensure_ascii=False, allow_nan=False, indent=1))
    else:
        print(report_text(tables))
    return 0


def _render(options: argparse.Namespace) -> int:
    from rexview.imaging.render import render_file

    render_file(options.image, options.out, options.window)
    return 0


def _import(options: argparse.Namespace) -> int:
    from rexview.reviewset.importers import import_source

    report = import_source(
        options.importer.id,
        options.sources,
        options.out,
        options=options.importer.read_arguments(options),
    )
    _print_problems(report.problems, sys.stderr)
    print(report.summary())
    return 0


def _bench(options: argparse.Namespace) -> int:
    from importlib import import_module

    if options.folder is not None and options.what != "detectors":
        print(f"error: bench {options.what} takes no folder", file=sys.stderr)
        return 2
    bench = import_module(f"rexview.bench.{options.what}")
    rows: list[dict[str, Any]] = bench.run(*([options.folder] if options.folder else []))
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        import pandas as pd

        for _, alike in groupby(rows, key=list):  # a table for each set of columns
            table = pd.DataFrame(list(alike), dtype=object)
            print(table.where(table.notna(), "").to_string(index=False))
        if options.what == "detectors":
            print(f"\n{bench.notes(options.folder)}")
    return 0


def _print_problems(problems: Sequence[Problem], stream: Any) -> None:
    for problem in problems:
        print(problem, file=stream)
