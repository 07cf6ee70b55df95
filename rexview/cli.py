"""``python -m rexview check | import | failures | stats | run | render | bench | backup | …``.

Exit status: 0 done, 1 the data has errors or the work failed, 2 the command line is wrong. What a
program reads goes to standard output, what a person reads about trouble to standard error.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rexview import __version__
from rexview.bench.command import add_bench
from rexview.bounded import printable, typed_path
from rexview.cli_run.calibrate import add_calibrate
from rexview.cli_run.command import add_run
from rexview.errors import FileRefused, ImportSourceError, Problem, ReviewSetError, RexviewError
from rexview.kept_files import KINDS, told
from rexview.vocab import HINT_KINDS, counted, noun

if TYPE_CHECKING:
    from rexview.detect.core.scan import Scan
    from rexview.schema import ReviewSet
    from rexview.store import BackupReport, Reviews


_SECONDS_BETWEEN: Final = 0.1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (ReviewSetError, ImportSourceError) as error:
        print(printable(str(error)), file=sys.stderr)
        _print_problems(error.problems, sys.stderr)
    except RexviewError as error:
        print(printable(str(error)), file=sys.stderr)
    finally:
        if "rexview.store.database.connection" in sys.modules:
            from rexview.store.database.connection import close_databases

            close_databases()  # leaves one file, without a -wal beside it
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rexview", description=__doc__.split("\n")[0])
    parser.add_argument("--version", action="version", version=f"rexview {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], purpose: str) -> Any:
        command = commands.add_parser(name, help=purpose)
        command.set_defaults(run=run)
        return command.add_argument

    argument = add("check", _check, "print every problem of a review set")
    argument("folder", **_FOLDER)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    argument("--pixels", action="store_true", help="decode every picture, to find damaged ones")

    argument = add("failures", _failures, "list the failures found in a review set")
    argument("folder", **_FOLDER)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    keep = "keep what is found beside the tables of the set, for whoever opens it next"
    argument("--keep", action="store_true", help=keep)

    argument = add("stats", _stats, "print the tables of scores, tests and readers")
    argument("folder", **_FOLDER)
    argument("--json", action="store_true", help="a JSON object with full precision")
    argument(
        "--order",
        default="mean_first",
        metavar="mean_first|minimum_first",
        choices=("mean_first", "minimum_first"),
        help="Content: minimum of the readers' means (default), or mean of their minimums",
    )
    argument("--files-only", action="store_true", help="leave out what was written in the app")

    argument = add("render", _render, "write the display picture of one image")
    argument("image", type=_path, metavar="IMAGE")
    argument("--out", type=_path, required=True, metavar="X.png")
    argument(
        "--window",
        default="file",
        metavar="auto|file|CENTRE,WIDTH",
        help="grey levels: the file's own (default), automatic, or a centre and a width",
    )

    add_run(commands, _path, _cases_of)
    add_calibrate(commands)
    add_bench(commands, _path)

    argument = add("cache", _cache, "say what is kept on disk to save time, and how much")
    kinds = ("all", *KINDS)
    argument("--clear", nargs="?", const="all", choices=kinds, help="remove it, or one kind of it")

    _add_import(commands)

    argument = add("backup", _backup, "copy what people wrote into one file")
    argument("folder", **_FOLDER)
    argument("--out", type=_path, required=True, metavar="FILE")

    argument = add("restore", _restore, "put a backup into the reviews database of a set")
    argument("file", type=_path, metavar="FILE")
    argument("folder", **_FOLDER)
    argument(
        "--replace", action="store_true", help="take away what is there (it is backed up first)"
    )

    argument = add(
        "merge-reviews",
        _merge_reviews,
        "join all databases of a review set into one, every entry once",
    )
    argument("folder", **_FOLDER)
    argument(
        "--from",
        dest="more",
        type=_path,
        action="append",
        default=[],
        metavar="FILE",
        help="also this database or backup, which is left as it is",
    )

    argument = add(
        "export-reviews",
        _export_reviews,
        "write scores.csv and flags.csv, given and written rows together, and exposures.csv",
    )
    argument("folder", **_FOLDER)
    argument("--out", **_FOLDER, required=True)
    return parser


def _path(text: str) -> Path:
    """Read a path of the command line; what no file can be called is told before anything runs."""
    try:
        return typed_path(text)
    except FileRefused as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


_FOLDER: Final[dict[str, Any]] = {"type": _path, "metavar": "FOLDER"}


def _add_import(commands: Any) -> None:
    from rexview.reviewset.importers import FORMATS

    parser = commands.add_parser("import", help="make a review set from files of another format")
    formats = parser.add_subparsers(title="formats", required=True, metavar="FORMAT")
    for importer in FORMATS.values():
        one = formats.add_parser(importer.id, help=importer.name, description=importer.description)
        one.add_argument("sources", type=_path, nargs="+", metavar="SOURCE")
        place = one.add_mutually_exclusive_group(required=True)
        place.add_argument("--out", **_FOLDER, help="the new review set")
        place.add_argument("--into", **_FOLDER, help="the review set that is added to")
        one.add_argument("--json", action="store_true", help="the receipt as one JSON object")
        importer.add_arguments(one)
        one.set_defaults(run=_import, importer=importer)


def _check(options: argparse.Namespace) -> int:
    from rexview.reviewset import check

    with _progress():
        problems = check(options.folder, pixels=options.pixels)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.json:
        print(_json([asdict(problem) for problem in problems]))
    else:
        _print_problems(problems, sys.stdout)
        warnings = len(problems) - errors
        print(f"{errors} {noun(errors, 'error')}, {warnings} {noun(warnings, 'warning')}")
    return 1 if errors else 0


@contextmanager
def _progress() -> Iterator[None]:
    """Show on a terminal how many pictures are decoded."""
    from rexview.reviewset.pictures import progress_told

    show = _shower("pictures decoded")
    with progress_told(show) if show else nullcontext():
        yield


def _shower(words: str) -> Callable[[int, int], None] | None:
    """Return what shows on a terminal how many are done; to a file or program nothing is said."""
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


def _failures(options: argparse.Namespace) -> int:
    from rexview.detect import rows_of
    from rexview.reviewset import load

    rows = list(rows_of(_scan(load(options.folder), keep_beside=options.keep)))
    if options.json:
        print(_json(rows))
    else:
        for row in rows:
            case, model = row["case"], row["model"]
            who = "possible" if _is_hint(row) else row["source"]
            print(printable(f"{case}  {model}  {row['failure']}  ({who})  {row['message']}"))
        hints = sum(map(_is_hint, rows))
        flags = len(rows) - hints
        print(f"{flags} {noun(flags, 'flag')}, {hints} {noun(hints, 'hint')}")
    return 0


def _scan(review_set: ReviewSet, *, keep_beside: bool = False) -> Scan:
    """Let the detectors look at all answers on all cores, but for what is kept of them."""
    from rexview.detect.processes.at_once import scan_at_once
    from rexview.settings import load_settings

    show = _shower("answers looked at")
    found, message = scan_at_once(review_set, load_settings(), show, keep_beside=keep_beside)
    if message:
        print(printable(message), file=sys.stderr)
    return found


def _cases_of(review_set: ReviewSet, query: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the ids of the cases that the query of a link leaves, as the pages would show them."""
    from rexview.analysis.case.comments import counts_by_case
    from rexview.analysis.filter.case_filter import CaseFilter
    from rexview.analysis.memory.engine import memory_engine
    from rexview.analysis.memory.finished import only_finished
    from rexview.settings import load_settings
    from rexview.store import merged, open_reviews

    wanted, settings = CaseFilter.from_query(query), load_settings()
    reviews = open_reviews(review_set, settings)
    written = only_finished(review_set, merged(review_set, reviews))
    engine = memory_engine(
        written,
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        scan=_scan(written),
        comments=counts_by_case(reviews.comments()),
    )
    return engine.page(wanted, 0, review_set.cases.height)


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
    _print_changed(report)
    print(f"{counted(report.entries, 'entry')} backed up.")
    return 0


def _restore(options: argparse.Namespace) -> int:
    from rexview.store import restore

    report = restore(options.file, _reviews(options.folder), replace=options.replace)
    if report.kept:
        print(f"What was there is kept in {report.kept}.", file=sys.stderr)
    _print_changed(report)
    print(f"{counted(report.entries, 'entry')} restored.")
    return 0


def _print_changed(report: BackupReport) -> None:
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
    print(f"{report.added:,} added, {counted(report.entries, 'entry')} now in {reviews.address}.")
    return 0


def _export_reviews(options: argparse.Namespace) -> int:
    from rexview.analysis.memory.finished import only_finished
    from rexview.analysis.study.exposure import exposures_of, write_exposures
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
    print(f"{counted(scores, 'score')}, {counted(flags, 'flag')} written.")
    return 0


def _stats(options: argparse.Namespace) -> int:
    from rexview.analysis.memory.finished import only_finished
    from rexview.detect import judged_answers, survey_of
    from rexview.detect.self_contradiction import asked_again
    from rexview.settings import load_settings
    from rexview.stats.report.document import report
    from rexview.stats.report.text import report_text
    from rexview.store import merged

    reviews = _reviews(options.folder)
    review_set = reviews.review_set
    if not options.files_only:
        review_set = only_finished(review_set, merged(review_set, reviews))
    tables = report(
        review_set,
        gap_threshold=load_settings().gap_threshold,
        content_order=options.order,
        judged=judged_answers(survey_of(_scan(review_set))),
        again=asked_again(review_set),
    )
    if options.json:
        print(_json(tables))
    else:
        print(report_text(tables))
    return 0


def _render(options: argparse.Namespace) -> int:
    from rexview.imaging.render import render_file

    render_file(options.image, options.out, options.window)
    return 0


def _import(options: argparse.Namespace) -> int:
    from rexview.reviewset.importers import import_source
    from rexview.reviewset.importers.core.problem_log import alike

    try:
        with _progress():
            report = import_source(
                options.importer.id,
                options.sources,
                options.into or options.out,
                options=options.importer.read_arguments(options),
                into=options.into is not None,
            )
    except ImportSourceError as error:
        if options.json:
            print(_json(error.receipt))
        raise
    if options.json:
        print(_json(report.receipt.as_json()))
        return 0
    for problems in alike(report.problems):
        print(printable(str(problems)), file=sys.stderr)
    for line in report.summary().splitlines():
        print(printable(line))
    return 0


def _cache(options: argparse.Namespace) -> int:
    from rexview.settings import load_settings

    for line in told(load_settings(), options.clear):
        print(printable(line))
    return 0


def _print_problems(problems: Sequence[Problem], stream: Any) -> None:
    for problem in problems:
        print(printable(str(problem)), file=stream)


def _json(value: Any) -> str:
    """Return values as JSON that any terminal and file can hold, with the same values."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    return re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
