"""Running an import: options checked, sources read, the review set written as a whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from rexview.bounded import typed_path
from rexview.errors import FileRefused, ImportSourceError
from rexview.reviewset import write
from rexview.reviewset.importers.core.formats import FORMATS
from rexview.reviewset.importers.core.importer import Importer, ImportReport
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.receipt import Receipt
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.tables.source import TableFormat

_SHOWN: Final = 60
_NO_OPTIONS: Final[Mapping[str, Any]] = {}
MOST_JSON_ROWS: Final = 100_000
"""Cases or answers that are written as JSON Lines; more of them become Parquet."""


def import_source(
    format_id: str,
    sources: Sequence[Path],
    out: Path,
    *,
    options: Mapping[str, Any] = _NO_OPTIONS,
) -> ImportReport:
    """Make a review set from files of another format.

    ``format_id`` is a key of :data:`FORMATS`, ``options`` go by the names of that importer's
    options. Sources are only read; ``out`` is not there yet, or empty, and not inside a source. The
    problems of the report are warnings.

    Raises
    ------
    ImportSourceError
        With every problem found and the receipt, when nothing can be imported. Nothing is written
        then.
    """
    log, receipt = ProblemLog(), Receipt(format_id)
    try:
        return _import(format_id, sources, out, options, log, receipt)
    except ImportSourceError as error:
        receipt.refuse(error.problems, log.notes)
        error.receipt = receipt.as_json()
        raise


def _import(
    format_id: str,
    sources: Sequence[Path],
    out: Path,
    options: Mapping[str, Any],
    log: ProblemLog,
    receipt: Receipt,
) -> ImportReport:
    importer = FORMATS.get(format_id)
    if importer is None:
        log.error(format_id, "There is no such format.", f"Choose one of {', '.join(FORMATS)}.")
        raise ImportSourceError("The import cannot start.", log.problems)
    sources = [_usable(source, log, None) for source in sources]
    out = _usable(out, log, "out")
    if log.has_errors:
        raise ImportSourceError("The import cannot start.", log.problems)
    settings = _read_options(importer, options, log)
    _check_sources(importer, sources, log)
    _check_out(sources, out, log)
    if log.has_errors:
        raise ImportSourceError("The import cannot start.", log.problems)
    rows = SetRows(settings["name"] or "", log, receipt)
    importer.read([SourceFile(source, source.name) for source in sources], rows, settings)
    if not log.has_errors:
        rows.finish(settings["question"])
    if not rows.cases and not log.has_errors:
        log.error(sources[0].name, "Nothing was found to import.", f"Give {importer.description}")
    if log.has_errors:
        raise ImportSourceError(f"{sources[0].name} cannot be imported.", log.problems)
    _write(rows, out, settings)
    receipt.close(log.problems, log.notes)
    return ImportReport(format_id, out, _counts(receipt), receipt, log.notes, log.problems)


def _read_options(importer: Importer, given: Mapping[str, Any], log: ProblemLog) -> dict[str, Any]:
    known = {option.name: option for option in importer.options}
    for name in given.keys() - known.keys():
        log.error(name, "This format has no such option.", f"Use {', '.join(known)}.", field=name)
    settings: dict[str, Any] = {"images": None}
    for option in importer.options:
        try:
            settings[option.name] = option.read(given.get(option.name))
        except ValueError as error:
            log.error(option.name, f"This option {error}", option.help, field=option.name)
    return settings


def _check_sources(importer: Importer, sources: Sequence[Path], log: ProblemLog) -> None:
    if not sources:
        log.error("source", "No source was given.", "Give a file or folder to import.")
    for source in sources:
        if not source.exists():
            log.error(source.name, "There is no such file or folder.", "Check the path.")
        elif not source.is_dir() and not source.is_file():
            message = "This is a device or a pipe, not a file."
            log.error(source.name, message, "Give a file or a folder.")
        elif source.is_dir() and not importer.folders:
            kinds = ", ".join(importer.suffixes)
            log.error(source.name, "This is a folder.", f"Give files that end in {kinds}.")


def _usable(path: Path, log: ProblemLog, field: str | None) -> Path:
    """The path itself, reported when no file can have it."""
    try:
        return typed_path(os.fspath(path))
    except FileRefused as refusal:
        log.error(Path(path).name[:_SHOWN], str(refusal), "Give another path.", field=field)
        return Path()


def _check_out(sources: Sequence[Path], out: Path, log: ProblemLog) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        log.error(out.name, "The output folder is not empty.", "Choose a new folder.", field="out")
    for source in sources:
        if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            message = "The output folder lies inside the source, which must not be changed."
            remedy = "Choose a folder elsewhere."
            log.error(out.name, message, remedy, field="out")


def _write(rows: SetRows, out: Path, settings: Mapping[str, Any]) -> None:
    from rexview.reviewset.importers.images.placement import copy_images

    log = rows.log
    out.parent.mkdir(parents=True, exist_ok=True)
    images: Literal["refer"] | Path = "refer"
    base = rows.images_base
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
            if settings["copy"]:
                folder = Path(beside) / "images"
                copied = copy_images(rows, folder)
                images, base = folder if folder.is_dir() else "refer", None  # none was found
                log.note(f"{copied:,} images were copied into the review set.")
            review_set = rows.to_review_set(out, os.fspath(base.resolve()) if base else "images/")
            if log.has_errors:
                raise ImportSourceError("The review set cannot be made.", log.problems)
            most = max(review_set.cases.height, review_set.answers.height)
            usual: TableFormat = "jsonl" if most <= MOST_JSON_ROWS else "parquet"
            chosen = settings["table_format"] or usual
            write(review_set, out, table_format=chosen, images=images)
    except OSError as error:
        log.error(out.name, f"Writing failed: {error.strerror}.", "Check the disk, then try again.")
        raise ImportSourceError("The review set cannot be written.", log.problems) from None


def _counts(receipt: Receipt) -> dict[str, int]:
    counts = {
        "cases": receipt.cases,
        "answers": receipt.answers,
        "models": len(receipt.models),
        "scores": receipt.scores,
        "reader flags": receipt.flags,
        "edits": receipt.edits,
        "metrics": receipt.metrics,
        "reference boxes": receipt.reference_boxes,
        "boxes of models": receipt.model_boxes,
        "images": receipt.images,
    }
    kept = {name: number for name, number in counts.items() if number}
    return kept | ({"images found": receipt.images_found} if receipt.images else {})
