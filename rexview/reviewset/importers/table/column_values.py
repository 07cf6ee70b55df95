"""What the values of a column say about its meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

from rexview.reviewset.importers.images.names import DICOM_SUFFIXES, RASTER_SUFFIXES
from rexview.reviewset.importers.table.cell_values import read_number, read_yes_no
from rexview.vocab import DIMENSIONS, QUESTION_TYPES, normalise_finish_reason, normalise_view

Cells = Sequence[str]
Test = Callable[[str], bool]

_LONG: Final = 40
_SAMPLES: Final = 3
_SAMPLE_CHARACTERS: Final = 60
_PATH_ENDINGS: Final = (*RASTER_SUFFIXES, *DICOM_SUFFIXES)


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


def looks_like_path(cell: str) -> bool:
    """Whether a value ends as the name of an image file does."""
    return cell.lower().rstrip("]\"'").endswith(_PATH_ENDINGS)


def is_number(cell: str) -> bool:
    """Whether a value is a number."""
    return read_number(cell) is not None


def is_long(cells: Cells) -> bool:
    """Whether the values are sentences rather than words."""
    return bool(cells) and median(map(len, cells)) > _LONG


def _is_dimension(cell: str) -> bool:
    return "_".join(cell.lower().split()) in DIMENSIONS


_TESTS: Final[dict[str, tuple[Test, float, float]]] = {
    "input_tokens": (is_number, 0.8, 0.2),
    "output_tokens": (is_number, 0.8, 0.2),
    "max_output_tokens": (is_number, 0.8, 0.2),
    "latency_s": (is_number, 0.8, 0.2),
    "score": (is_number, 0.8, 0.2),
    "finish_reason": (lambda cell: normalise_finish_reason(cell) is not None, 0.7, 0.3),
    "view": (lambda cell: normalise_view(cell) != "UNKNOWN", 0.5, 0.4),
    "normal": (lambda cell: read_yes_no(cell) is not None, 0.8, 0.2),
    "question_type": (lambda cell: cell.lower() in QUESTION_TYPES, 0.8, 0.3),
    "dimension": (_is_dimension, 0.5, 0.2),
    "image": (looks_like_path, 0.5, 0.6),
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
