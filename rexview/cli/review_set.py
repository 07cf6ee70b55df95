"""Commands on the files of a review set: check, import, load, render, cache and curated."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rexview.cli.arguments import FOLDER_ARGUMENT, SET_ARGUMENT, new_command, parse_path
from rexview.cli.output import as_json, pictures_progress, print_problems, progress_printer
from rexview.cli.results import run_detectors_with_progress, with_computed_metrics
from rexview.cli.reviews import open_set_reviews
from rexview.disk_cache import CACHE_KINDS, report_caches
from rexview.errors import ImportSourceError
from rexview.untrusted_input import printable_text
from rexview.vocab import english_count, english_noun

if TYPE_CHECKING:
    from rexview.curation.curated_set import CuratedSet


def add_check(commands: Any) -> None:
    """Add the command ``check``."""
    parser = new_command(commands, "check", _check, "print every problem of a review set")
    argument = parser.add_argument
    argument("folder", **SET_ARGUMENT)
    argument("--json", action="store_true", help="a JSON list instead of lines")
    argument("--pixels", action="store_true", help="decode every picture, to find damaged ones")


def _check(options: argparse.Namespace) -> int:
    from rexview.reviewset import load_with_problems
    from rexview.settings import load_settings
    from rexview.store import open_reviews

    with pictures_progress():
        review_set, problems = load_with_problems(options.folder, pixels=options.pixels)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.json:
        print(as_json([asdict(problem) for problem in problems]))
    else:
        print_problems(problems, sys.stdout)
        warnings = len(problems) - errors
        print(
            f"{errors} {english_noun(errors, 'error')}, {warnings} "
            f"{english_noun(warnings, 'warning')}"
        )
    if review_set is not None:
        open_reviews(review_set, load_settings()).current_state()  # damage is reported at the end
    return 1 if errors else 0


# ``python -m rexview import``: make a review set from files of another format.


def add_import(commands: Any) -> None:
    """Add the command ``import``, with a subcommand for each format."""
    from rexview.importers import IMPORT_FORMATS

    parser = commands.add_parser("import", help="make a review set from files of another format")
    formats = parser.add_subparsers(title="formats", required=True, metavar="FORMAT")
    for importer in IMPORT_FORMATS.values():
        one = formats.add_parser(importer.id, help=importer.name, description=importer.description)
        one.add_argument(
            "sources", type=parse_path, nargs="+", metavar="SOURCE", help="files and folders"
        )
        place = one.add_mutually_exclusive_group(required=True)
        place.add_argument("--out", **FOLDER_ARGUMENT, help="the new review set")
        place.add_argument("--into", **FOLDER_ARGUMENT, help="the review set that is added to")
        one.add_argument("--json", action="store_true", help="the receipt as one JSON object")
        importer.add_arguments(one)
        one.set_defaults(run=_import, importer=importer)

    _add_archive(formats)


def _add_archive(formats: Any) -> None:
    """Add the import of an archive's list, whose source is an address and not a file."""
    from rexview.importers.dicomweb import QUESTION

    purpose = "the radiographs of a DICOMweb archive, a case for each study"
    one = formats.add_parser("dicomweb", help=purpose, description=purpose)
    one.add_argument(
        "address", metavar="URL", help="of the service, such as https://host/dicom-web"
    )
    one.add_argument("--out", **FOLDER_ARGUMENT, required=True, help="the new review set")
    only = "only this study (Study Instance UID); may be repeated"
    one.add_argument("--study", action="append", default=[], metavar="UID", help=only)
    one.add_argument("--question", default=QUESTION, help="the question of every case")
    one.set_defaults(run=_import_archive)


def _import_archive(options: argparse.Namespace) -> int:
    from rexview.importers.dicomweb import archive_address, import_archive

    base = archive_address(options.address)
    made = import_archive(base, options.out, studies=options.study, question=options.question)
    print(f"{english_count(made.studies, 'study')} with {english_count(made.pictures, 'picture')}.")
    if made.without:
        print(f"{english_count(made.without, 'study')} without a radiograph left out.")
    print(f"The pictures stay in the archive. Allow it: REXVIEW_REMOTE_HOSTS={base.text}")
    return 0


def _import(options: argparse.Namespace) -> int:
    from rexview.importers import import_source
    from rexview.importers.receipt import group_alike_problems

    try:
        with pictures_progress():
            report = import_source(
                options.importer.id,
                options.sources,
                options.into or options.out,
                options=options.importer.read_arguments(options),
                into=options.into is not None,
            )
    except ImportSourceError as error:
        if options.json:
            print(as_json(error.receipt))
        raise
    if options.json:
        print(as_json(report.receipt.as_json()))
        return 0
    for problems in group_alike_problems(report.problems):
        print(printable_text(str(problems)), file=sys.stderr)
    for line in report.summary().splitlines():
        print(printable_text(line))
    return 0


# ``python -m rexview load``: put a review set into the tables on ClickHouse.


def add_load(commands: Any) -> None:
    """Add the command ``load``."""
    purpose = "load a review set into ClickHouse, for a server with REXVIEW_ENGINE=clickhouse://..."
    parser = new_command(commands, "load", _load, purpose)
    parser.add_argument("folder", **FOLDER_ARGUMENT, help="the review set")
    where = "clickhouse://user@host:port/database; by default that of REXVIEW_ENGINE"
    parser.add_argument("--engine", metavar="ADDRESS", help=where)
    again = "load it also where the tables have these files already"
    parser.add_argument("--again", action="store_true", help=again)


def _load(options: argparse.Namespace) -> int:
    from rexview.analysis.query.clickhouse.database import database_at
    from rexview.analysis.query.clickhouse.loading import (
        find_current_version,
        load_set,
    )
    from rexview.errors import LoadRefused
    from rexview.reviewset import load_review_set
    from rexview.settings import MEMORY, engine_address, load_settings
    from rexview.store.database_location import set_key

    address = engine_address(options.engine) if options.engine else load_settings().engine
    if address == MEMORY:
        raise LoadRefused(
            "Nothing says where the tables are.",
            "Set REXVIEW_ENGINE, or give --engine clickhouse://user@host:port/database.",
        )
    database = database_at(address)
    review_set = load_review_set(options.folder)
    name = set_key(review_set)
    there = find_current_version(database, name)
    if there and there.fingerprint == review_set.fingerprint and not options.again:
        print("The tables have this set as its files are. Nothing was changed.")
        return 0
    found = run_detectors_with_progress(review_set)
    manifest = load_set(
        database, name, with_computed_metrics(review_set), found, progress_printer("cases loaded")
    )
    words = english_count(manifest.n_cases, "case"), english_count(manifest.n_answers, "answer")
    print(printable_text(f"Loaded {words[0]} with {words[1]}. Servers show them within seconds."))
    return 0


# ``python -m rexview render``: one image as the app shows it.


def add_render(commands: Any) -> None:
    """Add the command ``render``."""
    parser = new_command(commands, "render", _render, "write the display picture of one image")
    argument = parser.add_argument
    argument("image", type=parse_path, metavar="IMAGE", help="a DICOM file, PNG, JPEG, ...")
    argument("--out", type=parse_path, required=True, metavar="X.png", help="the picture")
    argument(
        "--window",
        default="file",
        metavar="auto|file|CENTRE,WIDTH",
        help="grey levels: the file's own (default), automatic, or a centre and a width",
    )


def _render(options: argparse.Namespace) -> int:
    from rexview.imaging.rendering import render_file

    render_file(options.image, options.out, options.window)
    return 0


# ``python -m rexview cache``: cached files on disk.


def add_cache(commands: Any) -> None:
    """Add the command ``cache``."""
    purpose = "say what is kept on disk to save time, and how much"
    parser = new_command(commands, "cache", _cache, purpose)
    kinds = ("all", *CACHE_KINDS)
    clear = "remove it, or one kind of it"
    parser.add_argument("--clear", nargs="?", const="all", choices=kinds, help=clear)


def _cache(options: argparse.Namespace) -> int:
    from rexview.settings import load_settings

    for line in report_caches(load_settings(), options.clear):
        print(printable_text(line))
    return 0


# ``python -m rexview curated``: the selected questions as their own review set.


def add_curated(commands: Any) -> None:
    """Add the command ``curated``."""
    purpose = "write the chosen questions of a set as the cases of another"
    parser = new_command(commands, "curated", _curated, purpose)
    argument = parser.add_argument
    argument("folder", **SET_ARGUMENT)
    argument("--out", **FOLDER_ARGUMENT, required=True, help="the new review set")
    choices = ("both", "with", "without")
    words = "questions without and with the instruction to draw boxes (default: both)"
    argument("--boxes", choices=choices, default="both", help=words)
    choice = "multiple choice questions that passed every check, instead of those chosen"
    argument("--choice", action="store_true", help=choice)
    argument("--copy-images", action="store_true", help="copy the images, too")
    argument("--files-only", action="store_true", help="leave out what was written in the app")
    argument("--json", action="store_true", help="one JSON object")


def _curated(options: argparse.Namespace) -> int:
    from rexview.curation.curated_set import build_curated_set
    from rexview.reviewset import save_review_set
    from rexview.store import merge_reviews

    reviews = open_set_reviews(options.folder)
    review_set = reviews.review_set
    if not options.files_only:
        review_set = merge_reviews(review_set, reviews)
    history = () if options.files_only else reviews.history()
    curated = build_curated_set(
        review_set, boxes=options.boxes, choice=options.choice, history=history
    )
    save_review_set(
        curated.review_set, options.out, images="copy" if options.copy_images else "refer"
    )
    if options.json:
        print(as_json(_as_data(curated)))
    else:
        _tell(curated)
    return 0


def _as_data(curated: CuratedSet) -> dict[str, Any]:
    return {
        "cases": curated.cases,
        "studies": curated.studies,
        "studies_without": curated.without,
        "checked": dict(curated.states),
        "left_out": [vars(one) for one in curated.left_out],
        "asks_for_boxes_in_its_sentence": list(curated.woven_in),
    }


def _tell(curated: CuratedSet) -> None:
    written = (
        f"{english_count(curated.cases, 'question')} of {english_count(curated.studies, 'study')}"
    )
    rest = f"{english_count(curated.without, 'study')} without one." if curated.without else ""
    print(f"{written} written. {rest}".strip())
    if curated.states:
        failed, untold = (curated.states.get(state, 0) for state in ("failed", "untold"))
        print(f"Not among them: {failed:,} failed a check, {untold:,} could not be judged.")
    for one in curated.left_out:
        print(
            printable_text(f"Left out: {one.candidate} of {one.case}: {one.why}"), file=sys.stderr
        )
    for case in curated.woven_in:
        print(
            printable_text(
                f"warning: {case} asks for boxes within its sentence: write it without, for "
                "models that draw none."
            ),
            file=sys.stderr,
        )
