"""Columns of readers' marks, recognised: scores on a dimension, and failures that were ticked."""

from __future__ import annotations

from collections.abc import Sequence

from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number, read_yes_no
from rexview.reviewset.importers.table.column_mapping import MarkColumn
from rexview.reviewset.importers.table.column_names import (
    DIMENSION_WORDS,
    FAILURE_WORDS,
    READER_WORDS,
    ColumnName,
)
from rexview.reviewset.importers.table.column_values import Cells, samples, share


def guess_mark(name: ColumnName, cells: Cells, models: Sequence[str]) -> MarkColumn | None:
    """Recognise a column of scores or ticks: ``process_reader1``, ``GPT-5 laterality error R2``."""
    scores = {mark: DIMENSION_WORDS[mark] for mark in DIMENSION_WORDS}
    for mark, phrases in (*scores.items(), *FAILURE_WORDS.items()):
        place = next((found for phrase in phrases for found in [name.find(phrase)] if found), None)
        if place is None:
            continue
        test = _is_tick
        if mark in DIMENSION_WORDS:
            test = _is_score
            cells = [cell for cell in cells if not is_not_scored(cell)]
        if cells and share(cells, test) < 0.8:
            return None
        before, after = name.text(0, place[0]), name.text(place[1], len(name.words))
        model = reader = None
        for text in (before, after):
            if not text:
                continue
            rest, who = _reader_in(text)
            reader = reader or who
            known = next((one for one in models if one.lower() == rest.lower()), None)
            if known:
                model = known
            elif rest and not reader and rest.lower() not in ("score", "rating", "likert"):
                reader = rest
        return MarkColumn(name.written, mark, reader, model, 0.9 if cells else 0.6, samples(cells))
    return None


def _is_score(cell: str) -> bool:
    number = read_number(cell)
    return number is not None and 0 <= number <= 5


def _is_tick(cell: str) -> bool:
    return read_yes_no(cell) is not None


def _reader_in(text: str) -> tuple[str, str | None]:
    """Split off a reader such as ``reader1``, ``R2``, ``rater B``: the rest, and the reader."""
    name = ColumnName.of(text)
    for place, word in enumerate(name.words):
        follows = name.words[place + 1] if place + 1 < len(name.words) else ""
        numbered = follows.isdigit() or (len(follows) == 1 and follows.isalpha())
        if word in READER_WORDS and (numbered or len(word) > 3):
            end = place + 1 + numbered
            rest = f"{name.text(0, place)} {name.text(end, len(name.words))}".strip()
            return rest, name.text(place, end)
    return text, None
