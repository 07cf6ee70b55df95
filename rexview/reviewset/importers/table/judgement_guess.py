"""Which columns hold readers' scores and ticks, from their names and contents."""

from __future__ import annotations

from collections.abc import Sequence

from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number
from rexview.reviewset.importers.table.column_contents import Cells, is_tick, samples, share
from rexview.reviewset.importers.table.column_mapping import JudgementColumn, KeptColumn
from rexview.reviewset.importers.table.column_names import (
    DIMENSION_NAMES,
    FAILURE_NAMES,
    READER_NAMES,
    ColumnName,
)
from rexview.reviewset.importers.table.score_scale import ScoreScale
from rexview.vocab import SCORE_MAX, SCORE_MIN


def guess_judgement(
    name: ColumnName, cells: Cells, models: Sequence[str], scale: str | None
) -> JudgementColumn | KeptColumn | None:
    """Recognise a column of scores or ticks: ``process_reader1``, ``GPT-5 laterality error R2``.

    Scores that are not from 1 to 5 are kept as they are, with a word on how to convert them, unless
    ``scale`` says what they go from and to.
    """
    for judges, phrases in (*DIMENSION_NAMES.items(), *FAILURE_NAMES.items()):
        place = next((found for phrase in phrases for found in [name.find(phrase)] if found), None)
        if place is None:
            continue
        of_dimension = judges in DIMENSION_NAMES
        if of_dimension:
            cells = [cell for cell in cells if not is_not_scored(cell)]
            usual = not cells or share(cells, _is_score) >= 0.9
            fits = share(cells, ScoreScale.of(scale).holds) >= 0.9 if scale and cells else usual
            if not fits:
                return KeptColumn(name.written, samples(cells), _offer(judges, cells))
        elif cells and share(cells, is_tick) < 0.8:
            return None
        model, reader = _whose(name, place, models)
        sure = 0.9 if cells else 0.6
        used = scale if of_dimension else None
        return JudgementColumn(name.written, judges, reader, model, sure, samples(cells), used)
    return None


def _is_score(cell: str) -> bool:
    number = read_number(cell)
    return number is not None and SCORE_MIN <= number <= SCORE_MAX


def _offer(judges: str, cells: Cells) -> str:
    """Say why scores were not taken as they are, and which scales they may be of."""
    numbers = [number for cell in cells if (number := read_number(cell)) is not None]
    what = f"It looks like scores for {judges.replace('_', ' ')}, but not from 1 to 5"
    if len(numbers) < 0.8 * len(cells):
        return (
            f"{what}: it holds words. With --scale and the words, worst first and apart by commas, "
            "they are converted."
        )
    scales = [scale for scale in ScoreScale.USUAL if all(map(ScoreScale.of(scale).takes, numbers))]
    offered = " or ".join(f"--scale {scale}" for scale in scales[:2]) or "--scale LOW-HIGH"
    return f"{what}: it goes from {min(numbers):g} to {max(numbers):g}. Convert it with {offered}."


def _whose(
    name: ColumnName, place: tuple[int, int], models: Sequence[str]
) -> tuple[str | None, str | None]:
    """Say whose answer was judged, and by which reader, from the words beside what is judged."""
    model = reader = None
    for text in (name.text(0, place[0]), name.text(place[1], len(name.words))):
        if not text:
            continue
        rest, who = _reader_in(text)
        reader = reader or who
        known = next((one for one in models if one.lower() == rest.lower()), None)
        if known:
            model = known
        elif rest and not reader and rest.lower() not in ("score", "rating", "likert"):
            reader = rest
    return model, reader


def _reader_in(text: str) -> tuple[str, str | None]:
    """Split off a reader such as ``reader1``, ``R2``, ``rater B``: the rest, and the reader."""
    name = ColumnName.of(text)
    for place, word in enumerate(name.words):
        follows = name.words[place + 1] if place + 1 < len(name.words) else ""
        numbered = follows.isdigit() or (len(follows) == 1 and follows.isalpha())
        if word in READER_NAMES and (numbered or len(word) > 3):
            end = place + 1 + numbered
            rest = f"{name.text(0, place)} {name.text(end, len(name.words))}".strip()
            return rest, name.text(place, end)
    return text, None
