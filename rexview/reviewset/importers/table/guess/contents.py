"""What the cells of a column look like, and how well they suit a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Final

from rexview.reviewset.images import DICOM_SUFFIXES
from rexview.reviewset.importers.images.names import RASTER_SUFFIXES
from rexview.reviewset.importers.table.cell_values import read_number, read_yes_no
from rexview.reviewset.importers.table.column_names import FIELD_NAMES, ColumnName
from rexview.vocab import DIMENSIONS, QUESTION_TYPES, normalise_finish_reason, normalise_view

Cells = Sequence[str]
CellsByColumn = Mapping[str, list[str]]
Test = Callable[[str], bool]

ENOUGH: Final = 0.4
"""How well a column has to fit a field to be proposed for it."""
LEAST_OF_A_NAME: Final = 0.7
_LONG: Final = 40
_WORDS_OF_PROSE: Final = 4
_SAMPLES: Final = 3
_SAMPLE_CHARACTERS: Final = 60
_CODE: Final = ("{", "[", "<?xml", "<html", "<svg", "<!doctype", "http://", "https://")
_LETTER: Final = re.compile(r"\W*[A-Ha-h]\W*")
_PICTURES: Final = (*RASTER_SUFFIXES, *DICOM_SUFFIXES, ".tif", ".tiff", ".bmp", ".gif")


def samples(cells: Cells) -> tuple[str, ...]:
    """Return up to three different values, cut to 60 characters."""
    different = list(dict.fromkeys(cells))[:_SAMPLES]
    return tuple(
        one if len(one) <= _SAMPLE_CHARACTERS else f"{one[: _SAMPLE_CHARACTERS - 1]}…"
        for one in different
    )


def share(cells: Cells, test: Test) -> float:
    """Return the share of values that pass a test; 0 when there are none."""
    return sum(map(test, cells)) / len(cells) if cells else 0.0


def is_long(cells: Cells) -> bool:
    """Whether half of the values are longer than 40 characters."""
    return median(map(len, cells or [""])) > _LONG


def is_prose(cells: Cells) -> bool:
    """Whether values are running text: long, of several words, neither paths nor lists."""
    if not is_long(cells):
        return False
    words = median(len(cell.split()) for cell in cells)
    return words >= _WORDS_OF_PROSE and share(cells, _is_code) < 0.5 and share(cells, is_path) < 0.5


def _is_code(cell: str) -> bool:
    return cell.lstrip().lower().startswith(_CODE)


def is_path(cell: str) -> bool:
    """Whether a value ends as the name of an image file does."""
    return cell.lower().rstrip("]\"'").endswith(_PICTURES)


def is_letter(cell: str) -> bool:
    """Whether a value is nothing but the letter of an option."""
    return _LETTER.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Whether a value is a number."""
    return read_number(cell) is not None


def is_tick(cell: str) -> bool:
    """Whether a value says yes or no."""
    return read_yes_no(cell) is not None


_TESTS: Final[dict[str, tuple[Test, float, float]]] = {
    **dict.fromkeys(("input_tokens", "output_tokens", "max_output_tokens"), (is_number, 0.8, 0.2)),
    **dict.fromkeys(("latency_s", "score"), (is_number, 0.8, 0.2)),
    "finish_reason": (lambda cell: normalise_finish_reason(cell) is not None, 0.7, 0.3),
    "view": (lambda cell: normalise_view(cell) != "UNKNOWN", 0.5, 0.4),
    "normal": (is_tick, 0.8, 0.2),
    "question_type": (lambda cell: cell.lower() in QUESTION_TYPES, 0.8, 0.3),
    "dimension": (lambda cell: "_".join(cell.lower().split()) in DIMENSIONS, 0.5, 0.5),
    "image": (is_path, 0.5, 0.6),
    "correct": (lambda cell: cell.isdigit() or not is_tick(cell), 0.5, 0.2),
    "choice": (lambda cell: len(cell) <= 2 * _LONG, 0.8, 0.3),
}
"""By field: a test, the share of values that has to pass it, and the fit when fewer do."""
_TEXTS: Final = frozenset(("answer", "report", "findings", "impression", "question"))
_WORDS: Final = frozenset(
    ("case", "study_id", "patient_id", "model", "reader", "run_id", "site", "sex", "age")
)


def content_fit(field: str, cells: Cells) -> float:
    """Say how well values suit a field: 1 well or nothing to tell, towards 0 badly."""
    if not cells:
        return 0.9
    length = median(map(len, cells))
    if field in _TESTS:
        test, needed, otherwise = _TESTS[field]
        return 1.0 if share(cells, test) > needed else otherwise
    if field in _TEXTS:
        if share(cells, is_number) > 0.5:
            return 0.2
        return 1.0 if length > _LONG / 3 else 0.7
    if field in _WORDS:
        return 1.0 if length <= _LONG else 0.3
    return 0.4 if length > 4 * _LONG and field.startswith("tag_") else 1.0


def name_fit(field: str, name: ColumnName) -> float:
    """Say how well a name suits a field: 0 not at all, towards 1 well."""
    known = FIELD_NAMES[field]
    if name.plain in known:
        return max(LEAST_OF_A_NAME, 0.98 - 0.01 * known.index(name.plain))
    if name.plain.replace(" ", "") in known:
        return 0.8
    if any(not phrase.isdigit() and name.find(phrase) for phrase in known if " " in phrase):
        return 0.6
    return 0.0
