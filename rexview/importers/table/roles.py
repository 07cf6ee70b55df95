"""Score how well each column suits each role, by its name and by its contents.

A role is a field of a mapping, or the meaning of a column in a table of boxes, image facts, edits
or metrics. Every reader of tables uses these scores. So prose is never an image name, a label or a
view for one of them and something else for another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from statistics import median
from typing import Final

from rexview.importers.case_names import RASTER_SUFFIXES, fold_case_name
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe
from rexview.importers.table.cells import (
    FIELD_COLUMN_NAMES,
    NOT_AN_IMAGE,
    QUESTION_WORDS,
    SIDE_NAMES,
    ColumnName,
    is_identity,
    read_number,
    read_yes_no,
)
from rexview.importers.table.records import find_record_tables
from rexview.importers.table.sheet import TableSheet, make_grid, read_table_sheet
from rexview.reviewset.image_paths import DICOM_SUFFIXES
from rexview.reviewset.tables.source import RowOrigin
from rexview.vocab import DIMENSIONS, QUESTION_TYPES, normalise_finish_reason, normalise_view

ColumnCells = Sequence[str]
CellsByColumn = Mapping[str, list[str]]
CellTest = Callable[[str], bool]

MIN_FIT: Final = 0.4
"""Minimum fit of a column to be proposed for a field."""
MIN_NAME_FIT: Final = 0.7
_LONG: Final = 40
_WORDS_OF_PROSE: Final = 4
_SAMPLES: Final = 3
_SAMPLE_CHARACTERS: Final = 60
_CODE: Final = ("{", "[", "<?xml", "<html", "<svg", "<!doctype", "http://", "https://")
_LETTER: Final = re.compile(r"\W*[A-Ha-h]\W*")
_LONGEST_NAME: Final = 9
"""A value with at least this number of words is neither a name nor a list of findings."""
_FEW_SENTENCES: Final = 0.2
_MIN_TEXT_SHARE: Final = 0.5
_MOSTLY: Final = 0.8
_PICTURES_OF_A_CASE: Final = ("image", "image_2", "image_3")
_NEARLY_ALL: Final = 0.9
MAX_CONTENT_FIT: Final = 0.6
"""Maximum fit of a column whose name does not match."""
IMAGE_MARK: Final = "<image>"
"""The mark that LLaVA and similar formats write into a question in place of the picture."""
_LOOKED_AT: Final = 200
_TICKS: Final = frozenset(("0", "1", "0.0", "1.0", "-1", "-1.0"))
"""Values of a target that mean yes or no, not a finding."""
_BOXES: Final = re.compile(r"[-\d.,;eE+\s()\[\]]*")
_NO_CELLS: Final[CellsByColumn] = {}
_PICTURES: Final = (*RASTER_SUFFIXES, *DICOM_SUFFIXES, ".tif", ".tiff", ".bmp", ".gif")


def sample_values(cells: ColumnCells) -> tuple[str, ...]:
    """Return up to three different values, cut to 60 characters."""
    different = list(dict.fromkeys(cells))[:_SAMPLES]
    return tuple(
        one if len(one) <= _SAMPLE_CHARACTERS else f"{one[: _SAMPLE_CHARACTERS - 1]}…"
        for one in different
    )


def share_passing(cells: ColumnCells, test: CellTest) -> float:
    """Return the share of values that pass a test; 0 if there are none."""
    return sum(map(test, cells)) / len(cells) if cells else 0.0


def is_long(cells: ColumnCells) -> bool:
    """True if half of the values are longer than 40 characters."""
    return median(map(len, cells or [""])) > _LONG


def is_prose(cells: ColumnCells) -> bool:
    """True if values are running text: long, of several words, neither paths nor lists."""
    if not is_long(cells):
        return False
    words = median(len(cell.split()) for cell in cells)
    code = share_passing(cells, lambda cell: cell.lstrip().lower().startswith(_CODE))
    return words >= _WORDS_OF_PROSE and code < 0.5 and share_passing(cells, is_path) < 0.5


def is_path(cell: str) -> bool:
    """True if a value ends like the name of an image file."""
    return cell.lower().rstrip("]\"'").endswith(_PICTURES)


def is_letter(cell: str) -> bool:
    """True if a value is only the letter of an option."""
    return _LETTER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """True if a value is a number."""
    return read_number(cell) is not None


def is_boxes(cell: str, least: int = 4) -> bool:
    """True if a value is only numbers, four or more: a box, or a prediction string."""
    return _BOXES.fullmatch(cell) is not None and len(cell.replace(",", " ").split()) >= least


def is_tick(cell: str) -> bool:
    """True if a value means yes or no."""
    return read_yes_no(cell) is not None


def is_sentence(cell: str) -> bool:
    """True if a value is written like a sentence: several words that end with a full stop."""
    words = cell.count(" ") + 1
    return words >= _LONGEST_NAME or (words > 1 and cell.rstrip().endswith((".", "!", "?")))


_COUNTS: Final = ("input_tokens", "output_tokens", "max_output_tokens", "latency_s")
_LENGTHS: Final = (
    *("x", "y", "width", "height", "x_center", "y_center", "image_width", "image_height"),
    *("x_min", "y_min", "x_max", "y_max"),
)
_TESTS: Final[dict[str, tuple[CellTest, float, float]]] = {
    **dict.fromkeys(_COUNTS, (is_number, 0.8, 0.2)),
    **dict.fromkeys(_LENGTHS, (lambda cell: is_number(cell.strip().removesuffix("%")), 0.5, 0.2)),
    # a number, or a list of them: one for each box
    "score": (
        lambda cell: is_number(cell) or (cell.startswith("[") and is_boxes(cell, least=0)),
        0.8,
        0.2,
    ),
    "finish_reason": (lambda cell: normalise_finish_reason(cell) is not None, 0.7, 0.3),
    "view": (lambda cell: normalise_view(cell) != "UNKNOWN", 0.5, 0.4),
    "normal": (is_tick, 0.8, 0.2),
    "question_type": (lambda cell: cell.lower() in QUESTION_TYPES, 0.8, 0.3),
    "dimension": (lambda cell: "_".join(cell.lower().split()) in DIMENSIONS, 0.5, 0.5),
    "image": (is_path, 0.5, 0.6),
    "correct": (lambda cell: cell.isdigit() or not is_tick(cell), 0.5, 0.2),
    "choice": (lambda cell: len(cell) <= 2 * _LONG, 0.8, 0.3),
    "label": (lambda cell: cell not in _TICKS, 0.2, 0.2),
    "labels": (lambda cell: cell not in _TICKS, 0.2, 0.2),
}
"""By role: a test, the share of values that must pass it, and the fit if fewer do."""
_SECTIONS: Final = ("report", "findings", "impression")
_TEXTS: Final = ("answer", "answer_findings", "answer_impression", *_SECTIONS, "question")
_IDS: Final = ("case", "study_id", "patient_id")
_WORDS: Final = (*_IDS, "model", "reader", "run_id", "site", "sex", "age")
_NEVER_PROSE: Final = (*_PICTURES_OF_A_CASE, "view", "label", "labels", *_IDS)
"""Roles that running text never has."""


def column_fit(role: str, name: ColumnName, cells: ColumnCells) -> float:
    """Return how well a column suits a role, by its name and its contents: 0 to 1."""
    named = name_fit(role, name)
    return named * content_fit(role, cells) if named else 0.0


def content_only_fit(role: str, name: ColumnName, cells: ColumnCells) -> float:
    """Return how well the contents of a column suit a role that its name does not match: 0 to 1."""
    if role == "question":
        if share_passing(cells, lambda cell: cell.endswith("?")) > _MOSTLY:
            return MAX_CONTENT_FIT
        return MAX_CONTENT_FIT - 0.1 if QUESTION_WORDS & {*name.words} else 0.0
    if role not in _PICTURES_OF_A_CASE or NOT_AN_IMAGE & {*name.words}:
        return 0.0
    enough = _NEARLY_ALL if role == "image" else _MIN_TEXT_SHARE
    later = 0.01 * _PICTURES_OF_A_CASE.index(role)
    return MAX_CONTENT_FIT - later if share_passing(cells, is_path) > enough else 0.0


def content_fit(role: str, cells: ColumnCells) -> float:
    """Return how well values suit a role: 1 well or unknown, towards 0 badly."""
    if not cells:
        return 0.9
    length = median(map(len, cells))
    if role in _NEVER_PROSE and share_passing(cells, is_path) <= 0.5:
        spaced = share_passing(cells, lambda cell: " " in cell.strip()) > 0.5
        if share_passing(cells, is_sentence) > _FEW_SENTENCES or (
            role.startswith("image") and spaced
        ):
            return 0.1
    if role in _TESTS:
        test, needed, otherwise = _TESTS[role]
        return 1.0 if share_passing(cells, test) > needed else otherwise
    if role == "expected_answer":
        return 0.3 if is_text(cells) else 1.0
    if role in _TEXTS:
        if share_passing(cells, is_number) > 0.5 or share_passing(cells, is_boxes) > 0.5:
            return 0.2
        return 1.0 if length > _LONG / 3 else 0.7
    if role in _WORDS:
        return 1.0 if length <= _LONG else 0.3
    return 0.4 if length > 4 * _LONG and role.startswith("tag_") else 1.0


def reference_role(cells: ColumnCells) -> str:
    """Return the role of texts that are not a model's: a report, or the expected answer."""
    return "report" if is_text(cells) or not cells else "expected_answer"


def name_fit(role: str, name: ColumnName) -> float:
    """Return how well a name suits a role: 0 not at all, towards 1 well."""
    known = FIELD_COLUMN_NAMES[role]
    if name.plain in known:
        return max(MIN_NAME_FIT, 0.98 - 0.01 * known.index(name.plain))
    if name.plain.replace(" ", "") in known:
        return 0.8
    if any(not phrase.isdigit() and name.find(phrase) for phrase in known if " " in phrase):
        return 0.6
    return 0.0


def is_text(cells: ColumnCells) -> bool:
    """True if values are texts: running text, or mostly sentences."""
    return is_prose(cells) or share_passing(cells, is_sentence) > _MIN_TEXT_SHARE


def are_questions(cells: ColumnCells) -> bool:
    """True if values are questions: they end with "?", or mark the place of a picture."""
    bare = [cell.replace(IMAGE_MARK, "").strip() for cell in cells]
    questions = share_passing(bare, lambda cell: cell.endswith("?"))
    return questions > _MOSTLY or share_passing(cells, lambda cell: IMAGE_MARK in cell) > _MOSTLY


def text_side(words: Iterable[str]) -> int:
    """Return whose a text is by the words of a name: 1 the reference, -1 a model's, 0 unknown."""
    given = {*words}
    reference, model = given & SIDE_NAMES["reference"], given & SIDE_NAMES["model"]
    return bool(reference) - bool(model) if bool(reference) != bool(model) else 0


# Whole tables


def sample_rows(probe: Probe) -> TableSheet | None:
    """Return the first rows of a file with a table or records; each file is read once."""
    if "sample" not in probe.kept:
        probe.kept["sample"] = _sample(probe)
    found: TableSheet | None = probe.kept["sample"]
    return found


def _sample(probe: Probe) -> TableSheet | None:
    if probe.kind in ("json", "jsonl"):
        entries = probe.json_lines if probe.kind == "jsonl" else probe.json
        if isinstance(entries, list):
            entries = entries[:_LOOKED_AT] if entries and isinstance(entries[0], dict) else None
        tables = find_record_tables(entries) if entries else []
        largest = max(tables, key=lambda one: len(one.records), default=None)
        return make_grid(probe.label, largest, ProblemLog()) if largest else None
    if probe.kind not in ("table", "xlsx", "parquet"):
        return None
    return read_table_sheet(probe.path, ProblemLog(), max_rows=_LOOKED_AT, label=probe.label)


def column_values(sheet: TableSheet) -> dict[str, list[str]]:
    """Return the non-empty values of each column, 200 at most."""
    return {
        name: [row[place] for row in sheet.rows if row[place]][:_LOOKED_AT]  # type: ignore[misc]
        for place, name in enumerate(sheet.columns)
    }


def columns_by_meaning(
    names: Sequence[str],
    known: Mapping[str, Sequence[str]],
    cells: CellsByColumn = _NO_CELLS,
) -> dict[str, str]:
    """Return the column of each role; ``known`` has its names, the likelier first.

    A column whose values do not suit a role is not used for it, whatever its name.
    """
    plain = {ColumnName.of(name).plain: name for name in reversed(names)}
    found = {}
    for role, of_role in known.items():
        for name in of_role:
            column = plain.get(name)
            if column is not None and content_fit(role, cells.get(column, ())) >= _MIN_TEXT_SHARE:
                found[role] = column
                break
    return found


def has_field(
    names: Sequence[str], fields: Iterable[str], cells: CellsByColumn = _NO_CELLS
) -> bool:
    """True if a column has one of these fields of a table of answers, by name and contents."""
    return bool(
        columns_by_meaning(names, {field: FIELD_COLUMN_NAMES[field] for field in fields}, cells)
    )


def fold_picture_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the folded names and stems of pictures, as :func:`picture_column` needs them."""
    found = map(PurePosixPath, paths)
    return frozenset(fold_case_name(name) for path in found for name in (path.name, path.stem))


def picture_column(
    names: Sequence[str], cells: CellsByColumn, pictures: Collection[str]
) -> str | None:
    """Return the column that names most of the pictures of an import, whatever its name.

    ``pictures`` are file names and stems, folded; half of the values have to be among them.
    """
    shares = {
        name: share_passing(
            cells.get(name, ()), lambda cell: fold_case_name(PurePosixPath(cell).name) in pictures
        )
        for name in names
        if pictures
    }
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= _MIN_TEXT_SHARE else None


def record_table(
    sheet: TableSheet,
    used: Iterable[str],
    rows: SetRows,
    *,
    kept_as: str | None = None,
    why: str = "",
) -> list[str]:
    """Record a table in the receipt: its rows, unreadable rows, and columns of identity.

    Columns that are not ``used`` are listed as extra fields of a ``kept_as`` (a case, a box), or as
    not used, with the reason. Returns those columns, without those of identity.
    """
    rows.receipt.rows(sheet.file, len(sheet.rows) + len(sheet.unread))
    for number, why in sheet.unread:
        rows.receipt.unused(RowOrigin(sheet.file, number), why)
    others = [name for name in sheet.columns if name not in {*used}]
    for name in filter(is_identity, others):
        rows.receipt.identity_column(sheet.file, name)
    others = [name for name in others if not is_identity(name)]
    for name in others:
        example = next((cell for cell in sheet.column(name) if cell is not None), None)
        if example is not None and kept_as:
            rows.receipt.column_kept(sheet.file, name, example, kept_as)
        elif example is not None:
            rows.receipt.column_unused(sheet.file, name, example, why)
    return others
