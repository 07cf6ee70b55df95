"""``python -m rexview import``: a review set from files of another format."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rexview.cli.arguments import FOLDER, path
from rexview.cli.output import as_json, pictures_progress
from rexview.errors import ImportSourceError
from rexview.untrusted_input import printable
from rexview.vocab import counted


def add_import(commands: Any) -> None:
    """Add the command ``import``, with a command of its own for each format."""
    from rexview.reviewset.importers import FORMATS

    parser = commands.add_parser("import", help="make a review set from files of another format")
    formats = parser.add_subparsers(title="formats", required=True, metavar="FORMAT")
    for importer in FORMATS.values():
        one = formats.add_parser(importer.id, help=importer.name, description=importer.description)
        one.add_argument(
            "sources", type=path, nargs="+", metavar="SOURCE", help="files and folders"
        )
        place = one.add_mutually_exclusive_group(required=True)
        place.add_argument("--out", **FOLDER, help="the new review set")
        place.add_argument("--into", **FOLDER, help="the review set that is added to")
        one.add_argument("--json", action="store_true", help="the receipt as one JSON object")
        importer.add_arguments(one)
        one.set_defaults(run=_import, importer=importer)

    _add_archive(formats)


def _add_archive(formats: Any) -> None:
    """Add the import of an archive's list, whose source is an address and no file."""
    from rexview.reviewset.importers.dicomweb import QUESTION

    purpose = "the radiographs of a DICOMweb archive, a case for each study"
    one = formats.add_parser("dicomweb", help=purpose, description=purpose)
    one.add_argument(
        "address", metavar="URL", help="of the service, such as https://host/dicom-web"
    )
    one.add_argument("--out", **FOLDER, required=True, help="the new review set")
    only = "only this study (Study Instance UID); may be repeated"
    one.add_argument("--study", action="append", default=[], metavar="UID", help=only)
    one.add_argument("--question", default=QUESTION, help="the question of every case")
    one.set_defaults(run=_import_archive)


def _import_archive(options: argparse.Namespace) -> int:
    from rexview.reviewset.importers.dicomweb import archive_address, import_archive

    base = archive_address(options.address)
    made = import_archive(base, options.out, studies=options.study, question=options.question)
    print(f"{counted(made.studies, 'study')} with {counted(made.pictures, 'picture')}.")
    if made.without:
        print(f"{counted(made.without, 'study')} without a radiograph left out.")
    print(f"The pictures stay in the archive. Allow it: REXVIEW_REMOTE_HOSTS={base.text}")
    return 0


def _import(options: argparse.Namespace) -> int:
    from rexview.reviewset.importers import import_source
    from rexview.reviewset.importers.receipt import alike

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
    for problems in alike(report.problems):
        print(printable(str(problems)), file=sys.stderr)
    for line in report.summary().splitlines():
        print(printable(line))
    return 0
