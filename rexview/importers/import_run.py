"""Run an import: check options, read sources, complete rows, write the set."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from rexview.addresses import is_address
from rexview.columns import TABLES
from rexview.errors import FileRefused, ImageError, ImportSourceError, ReviewSetError
from rexview.imaging import thumbnail
from rexview.importers.box_table import read_boxes_of_texts
from rexview.importers.formats import IMPORT_FORMATS, Importer, ImportReport
from rexview.importers.receipt import ProblemLog, Receipt
from rexview.importers.set_rows import OPEN_QUESTION, REPORT_QUESTION, RowTable, SetRows
from rexview.importers.source_files import Probe, SourceFile, distinguish_files
from rexview.reviewset import load_review_set, save_review_set
from rexview.reviewset.image_paths import images_folder
from rexview.reviewset.json_text import dump_json, is_missing
from rexview.reviewset.picture_decoding import read_headers_only
from rexview.reviewset.problems import quote_value
from rexview.reviewset.tables.declared_table import MAX_LINE_BYTES
from rexview.reviewset.tables.source import TableFormat
from rexview.reviewset.write import rewrite_review_set
from rexview.schema import ReviewSet
from rexview.untrusted_input import printable_text, read_typed_path

if TYPE_CHECKING:
    from rexview.importers.box_placement import BoxPreview
    from rexview.importers.table.column_mapping import ColumnMapping


def complete_rows(rows: SetRows, question: str | None) -> None:
    """Complete the rows once all sources are read.

    Answers without a case get one. Scores, flags and other marks without a case are left out and
    reported. Cases made from pictures alone stay only if no case of another source shows a picture.
    A case without a question gets ``question``, or else a placeholder, which is logged.
    """
    _add_cases_of_answers(rows)
    _drop_rows_without_case(rows)
    _withdraw_pictures(rows)
    read_boxes_of_texts(rows)
    without = [case for case in rows.cases if is_missing(case.get("question"))]
    for case in without:
        given = case.get("report")
        has_report = isinstance(given, dict) and not all(map(is_missing, given.values()))
        report = (case.get("question_type") or ("report" if has_report else "")) == "report"
        if report:
            case["question_type"] = "report"
        case["question"] = question or (REPORT_QUESTION if report else OPEN_QUESTION)
    without = [case for case in without if case["id"] not in rows.unasked]
    if without and not question:
        words = " and ".join(quote_value(one) for one in {case["question"]: 0 for case in without})
        rows.log.note(
            f"{len(without):,} case{'s'[: len(without) != 1]} came without a question and "
            f"stand under a placeholder: {words} (option question)."
        )


def _add_cases_of_answers(rows: SetRows) -> None:
    """Make a case for each id that only answers name, and log how many were made."""
    answers = rows.tables["answers"]
    made: dict[str, int] = {}
    for row, at in zip(answers.rows, answers.places, strict=True):
        if row.get("case") and rows.case(row["case"]) is None:
            rows.add_case({"id": row["case"]}, at)
            made[at.file] = made.get(at.file, 0) + 1
    described = len(rows.cases) > sum(made.values())
    for file, number in made.items() if described else ():
        message = f"{number:,} answers are to cases that no source describes; these were made."
        rows.log.warning(file, message, "Give the file with these cases, too.", field="case")


def _withdraw_pictures(rows: SetRows) -> None:
    """Withdraw cases made from pictures alone if other sources define the cases."""
    alone = rows.pictures - rows.described
    for case_id in alone:
        _join_by_name(rows, case_id, alone)
    named = {image["path"] for case_id, image in rows.images() if case_id not in alone}
    if not named & rows.files.keys():
        return
    alone -= {row.get("case") for name in TABLES for row in rows.rows_of(name)}
    alone -= {case["id"] for case in rows.cases if case.get("reference_boxes")}
    kept, cases = RowTable(TABLES["cases"], rows.log), rows.tables["cases"]
    for case, at in zip(cases.rows, cases.places, strict=True):
        if case["id"] not in alone:
            kept.add(case, at)
            continue
        for path in {image["path"] for image in case.get("images") or []} - named:
            rows.receipt.file_unread(path, "picture", "No case of the other sources shows it.")
    rows.tables["cases"] = kept


def _join_by_name(rows: SetRows, case_id: str, alone: set[str]) -> None:
    """Give a picture to the case of the same name, if that case names no picture itself."""
    images = (rows.case(case_id) or {}).get("images") or []
    if len(images) != 1:
        return
    meant = rows.find_case(case=PurePosixPath(images[0]["path"]).stem)
    case = rows.case(meant[0]) if meant and meant[0] not in alone else None
    if case is not None and not case.get("images"):
        case["images"] = [dict(images[0])]


def _drop_rows_without_case(rows: SetRows) -> None:
    for name in (name for name in TABLES if name not in ("cases", "answers")):
        table = rows.tables[name]
        kept = RowTable(table.table, rows.log)
        for row, at in zip(table.rows, table.places, strict=True):
            if rows.case(row.get("case") or "") is not None:
                kept.add(row, at)
                continue
            why = "There is no such case."
            rows.receipt.taken_back(at)
            rows.receipt.unused(at, why)
            rows.log.warning(at.file, why, "Give the cases, too.", row=at.row, field="case")
        rows.tables[name] = kept


_SHOWN: Final = 60
_NO_OPTIONS: Final[Mapping[str, Any]] = {}
_ALIKE: Final = (
    frozenset(("rexrank", "predictions", "table")),
    frozenset(("rexvqa", "rexrank", "predictions", "table", "runs")),
    frozenset(("table", "boxes", "edits", "metadata")),
)
"""Groups of formats whose files look alike, so that each may read the others'."""
_GENERAL: Final = {"text": ("reports",), "json": ("table", "reports"), "jsonl": ("table",)}
"""Formats that nearly any file of a kind fits; the named format's own reader reports better
errors."""
MAX_CHARACTERS: Final = 2_000_000_000
"""Limit in characters for all texts of an import; a text repeated in many rows counts each time."""
_LONGEST_ESCAPE: Final = 6
"""Maximum bytes of a character in JSON, such as ``\\u0001``."""
MOST_JSON_ROWS: Final = 100_000
"""Up to this number of cases or answers a table is written as JSON Lines, above it as Parquet."""


def import_source(
    format_id: str,
    sources: Sequence[Path],
    out: Path,
    *,
    options: Mapping[str, Any] = _NO_OPTIONS,
    into: bool = False,
) -> ImportReport:
    """Make a review set from files of another format, or add them to an existing set.

    ``format_id`` is a key of :data:`IMPORT_FORMATS`; ``options`` are keyed by the names of that
    importer's options. Sources are only read. ``out`` must not exist yet, or must be empty, and
    must not be inside a source. The report's problems are warnings.

    With ``into`` the files are added to the set in ``out``. The set is written again as a whole or
    not at all, and its previous tables are kept in a dated folder next to it. Reviews stay
    attached, since its folder, its ``id`` and unchanged answers stay.

    Raises ImportSourceError with every problem found and the receipt if nothing can be imported.
    Nothing is written then.
    """
    log, receipt = ProblemLog(), Receipt(format_id)
    rows = SetRows("", log, receipt)
    try:
        settings, before = read_sources(rows, format_id, sources, options, out=out, into=into)
        _write(rows, read_typed_path(os.fspath(out)), settings, before)
    except ImportSourceError as error:
        receipt.refuse(error.problems, log.notes)
        error.receipt = receipt.as_json()
        raise
    except (OSError, MemoryError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is not enough memory"
        remedy = "Look at the rights, the disk and the memory, then try again."
        log.error(out.name, f"The work could not be done: {why or error}.", remedy)
        receipt.refuse(log.problems, log.notes)
        refusal = ImportSourceError("The import stopped.", log.problems)
        refusal.receipt = receipt.as_json()
        raise refusal from None
    finally:
        rows.close()
    receipt.close(log.problems, log.notes)
    return ImportReport(format_id, out, _counts(receipt), receipt, log.notes, log.problems)


def read_sources(
    rows: SetRows,
    format_id: str,
    sources: Sequence[Path],
    options: Mapping[str, Any],
    *,
    out: Path | None,
    into: bool,
) -> tuple[dict[str, Any], ReviewSet | None]:
    """Read the sources of an import into rows, and write nothing.

    Returns the parsed options, and the set that is added to, if any. Without ``out`` no folder is
    checked.

    Raises ImportSourceError with every problem found.
    """
    log = rows.log
    importer = IMPORT_FORMATS.get(format_id)
    if importer is None:
        log.error(
            format_id, "There is no such format.", f"Choose one of {', '.join(IMPORT_FORMATS)}."
        )
        raise ImportSourceError("The import cannot start.", log.problems)
    sources = [_checked_path(source, log, None) for source in sources]
    out = _checked_path(out, log, "out") if out is not None else None
    _stop_if_refused(log)
    settings = _read_options(importer, options, log)
    _check_sources(importer, sources, log)
    if out is not None and not into:
        _check_out(sources, out, log)
    _stop_if_refused(log)
    files = _source_files(sources)
    _check_content(importer, files, log)
    _stop_if_refused(log)
    rows.name = settings["name"] or ""
    before = None
    if out is not None and into:
        try:
            before = load_review_set(out)
        except ReviewSetError as error:
            message = "The set that should be added to cannot be opened."
            raise ImportSourceError(message, error.problems) from None
        rows.start_from(before)
    importer.read(files, rows, settings)
    if not log.has_errors:
        rows.warn_without_answers()
        complete_rows(rows, settings["question"])
        _check_size(rows, sources[0].name)
    if not (rows.cases and rows.receipt.used_any) and not log.has_errors:
        for file in rows.receipt.files_unread:
            log.error(file.file, f"Nothing was read of it ({file.type}).", file.why)
        if not rows.receipt.files_unread:
            message, remedy = "Nothing was found to import.", f"Give {importer.description}"
            log.error(sources[0].name, message, remedy)
    if log.has_errors:
        raise ImportSourceError(f"{sources[0].name} cannot be imported.", log.problems)
    return settings, before


def _stop_if_refused(log: ProblemLog) -> None:
    if log.has_errors:
        raise ImportSourceError("The import cannot start.", log.problems)


def _check_size(rows: SetRows, name: str) -> None:
    """Refuse rows that are too large: too much text in all, or a row too long to be read.

    A text counts as often as rows repeat it; a row counts as its line in the file.
    """
    total = 0
    for table in rows.tables.values():
        for row, place in zip(table.rows, table.places, strict=True):
            count = _characters(row)
            total += count
            if total > MAX_CHARACTERS:
                message = f"The set would hold more than {MAX_CHARACTERS / 1e9:g} GB of text."
                remedy = "Leave out long texts that many rows repeat, or split the source."
                rows.log.error(name, message, remedy)
                return
            if count * _LONGEST_ESCAPE > MAX_LINE_BYTES:
                size = len(dump_json(row).encode("utf-8", "surrogatepass"))
                if size > MAX_LINE_BYTES:
                    message = f"The row would be a line of {size / 1e6:,.0f} MB, more than is read."
                    remedy = f"Cut its texts: a row has at most {MAX_LINE_BYTES / 1e6:g} MB."
                    rows.log.error(place.file, message, remedy, row=place.row)


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_characters, value.values()))
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 0


def _check_content(importer: Importer, files: Sequence[SourceFile], log: ProblemLog) -> None:
    """Refuse files of another format than the named one, and report their format."""
    from rexview.importers.auto import recognise_file

    if importer.recogniser is None:
        return
    for file in files:
        try:
            found = None if file.path.is_dir() else recognise_file(file)
        except (FileRefused, OSError):
            continue  # its reader reports why it cannot be read
        names = {importer.id, found.importer.id if found else importer.id}
        if found is None or len(names) == 1 or any(names <= alike for alike in _ALIKE):
            continue
        probe = Probe(file.path, file.label)
        if found.importer.id in _GENERAL.get(probe.kind, ()):
            continue
        if importer.recognises(probe) is None:
            looks = f"it looks like {found.importer.name}: {found.why}."
            remedy = f"Import it as {found.importer.id}, or as auto."
            log.error(file.label, f"The file is no {importer.name}; {looks}", remedy)


def _source_files(sources: Sequence[Path]) -> list[SourceFile]:
    """Label each source with its file name, preceded by its folder's if two have the same name."""
    names = [source.name for source in sources]
    files = []
    for one in sources:
        label = one.name if names.count(one.name) == 1 else f"{one.parent.name}/{one.name}"
        files.append(SourceFile(one, printable_text(label)))
    return distinguish_files(files)


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
            what = "This is a device or a pipe, not a file."
            log.error(source.name, what, "Give a file or a folder.")
        elif source.is_dir() and not importer.folders:
            kinds = ", ".join(importer.suffixes)
            log.error(source.name, "This is a folder.", f"Give files that end in {kinds}.")


def _checked_path(path: Path, log: ProblemLog, field: str | None) -> Path:
    """Return the path unchanged, after reporting a name that no file can have."""
    try:
        return read_typed_path(os.fspath(path))
    except FileRefused as refusal:
        log.error(Path(path).name[:_SHOWN], str(refusal), "Give another path.", field=field)
        return Path()


def _check_out(sources: Sequence[Path], out: Path, log: ProblemLog) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        log.error(out.name, "The output folder is not empty.", "Choose a new folder.", field="out")
    for source in sources:
        if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            message = "The output folder lies inside the source, which must not be changed."
            log.error(out.name, message, "Choose a folder elsewhere.", field="out")


def _write(rows: SetRows, out: Path, settings: Mapping[str, Any], before: ReviewSet | None) -> None:
    log = rows.log
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
            images, base = _place_copies(
                rows, out, Path(beside) / "images", settings["copy"], before
            )
            review_set = rows.to_review_set(out, base)
            if log.has_errors:
                raise ImportSourceError("The review set cannot be made.", log.problems)
            most = max(review_set.cases.height, review_set.answers.height)
            chosen: TableFormat | None = settings["table_format"]
            if chosen is None and most > MOST_JSON_ROWS:
                chosen = "parquet"
            if before:
                state = before.fingerprint
                backup = rewrite_review_set(
                    review_set, base=base, state=state, table_format=chosen, images=images
                )
                log.note(f"The tables as they were are kept in {backup.name}, beside the set.")
            else:
                save_review_set(
                    review_set, out, table_format=chosen or "jsonl", images=images or "refer"
                )
    except ReviewSetError as error:
        raise ImportSourceError(str(error), (*error.problems, *log.problems)) from None
    except OSError as error:
        log.error(out.name, f"Writing failed: {error.strerror}.", "Check the disk, then try again.")
        raise ImportSourceError("The review set cannot be written.", log.problems) from None


def _place_copies(
    rows: SetRows, out: Path, folder: Path, copy: bool, before: ReviewSet | None
) -> tuple[Path | None, str]:
    """Copy images into a folder if needed; return it, and the set's images base."""
    from rexview.importers.image_placement import copy_images

    base = rows.images_base
    if before and is_address(before.info.images):
        return None, before.info.images
    within = before is not None and base is not None and base == out.resolve() / "images"
    there = {image["path"] for _, image in rows.images()} & rows.files.keys()
    apart = any(rows.was_unpacked(path) or not rows.lies_in_base(path) for path in there)
    if not copy and not apart:
        if before and base == images_folder(out, before.info.images):
            return None, before.info.images
        return None, os.fspath(base.resolve()) if base else "images/"
    copied = copy_images(rows, folder, but=base if within else None)
    why = "" if copy else ", as they were packed or do not lie in one folder"
    rows.log.note(f"{copied:,} images were copied into the review set{why}.")
    return folder if folder.is_dir() else None, "images/"


def _counts(receipt: Receipt) -> dict[str, int]:
    counts = {"cases": receipt.cases, "answers": receipt.answers, "models": len(receipt.models)}
    counts |= {"scores": receipt.scores, "reader flags": receipt.flags, "edits": receipt.edits}
    counts |= {"metrics": receipt.metrics, "reference boxes": receipt.reference_boxes}
    counts |= {"boxes of models": receipt.model_boxes, "images": receipt.images}
    kept = {name: number for name, number in counts.items() if number}
    return kept | ({"images found": receipt.images_found} if receipt.images else {})


_PICTURE_SIDE: Final = 480


@dataclass(frozen=True)
class ImportPreview:
    """The recognised format of sources, and what an import would make from them.

    ``mappings`` are those of the tables and ``boxes`` the readings of the boxes, given or proposed.
    ``pictures`` has small pictures (WebP) by case and image, to draw the boxes on. ``groupings``
    counts the cases that pictures would become, by ways to group them. ``references`` are files, or
    FILE=COLUMN, any of which could be the reference, with a sample text each. ``error`` is the
    reason if nothing can be imported; the other fields have what was found until then.
    """

    receipt: Receipt
    mappings: tuple[ColumnMapping, ...]
    boxes: tuple[BoxPreview, ...]
    pictures: Mapping[tuple[str, str], bytes]
    groupings: Mapping[str, int]
    references: tuple[Mapping[str, str], ...]
    error: ImportSourceError | None = None


def preview_source(
    format_id: str,
    sources: Sequence[Path],
    options: Mapping[str, Any],
    *,
    into: Path | None = None,
) -> ImportPreview:
    """Read sources like :func:`.importers.run.import_source`, and write nothing.

    Pictures are not decoded, so one that the import will find damaged counts here. ``into`` is the
    folder of the set that they would be added to.
    """
    rows = SetRows("", ProblemLog(), Receipt(format_id))
    log, receipt = rows.log, rows.receipt
    error = None
    pictures: dict[tuple[str, str], bytes] = {}
    try:
        with read_headers_only():
            read_sources(rows, format_id, sources, options, out=into, into=into is not None)
        rows.to_review_set(Path(), "images/")
        if log.has_errors:
            raise ImportSourceError("The review set cannot be made.", log.problems)
        pictures = dict(_preview_pictures(rows))
        receipt.close(log.problems, log.notes)
    except ImportSourceError as problem:
        error = problem
        receipt.refuse(problem.problems, log.notes)
    finally:
        rows.close()
    mappings, boxes, references = (*rows.mappings,), (*rows.box_previews,), (*rows.references,)
    return ImportPreview(receipt, mappings, boxes, pictures, rows.groupings, references, error)


def _preview_pictures(rows: SetRows) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Yield the pictures for the previews of boxes whose files exist."""
    wanted = {(case, image) for one in rows.box_previews for case, image, *_ in one.pictures}
    for case, image in rows.images() if wanted else ():
        path = rows.files.get(image["path"])
        if (case, image["id"]) in wanted and path is not None:
            try:
                yield (case, image["id"]), thumbnail(path, size=_PICTURE_SIDE)
            except ImageError:
                continue  # the import reports which picture is broken
