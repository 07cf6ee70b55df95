"""Which columns hold readers' scores and ticks, from their names and contents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rexview.reviewset.importers.metrics.names import known_metric
from rexview.reviewset.importers.table.cell_values import is_not_scored, read_number
from rexview.reviewset.importers.table.column_mapping import JudgementColumn, KeptColumn
from rexview.reviewset.importers.table.column_names import (
    DIMENSION_NAMES,
    FAILURE_NAMES,
    READER_NAMES,
    SCORE_NAMES,
    ColumnName,
)
from rexview.reviewset.importers.table.roles import (
    Cells,
    is_number,
    is_tick,
    samples,
    share,
)
from rexview.reviewset.importers.table.score_scale import ScoreOptions, ScoreScale
from rexview.vocab import SCORE_MAX, SCORE_MIN

_ENOUGH: Final = 0.9
_LONGEST_WORD: Final = 30
_MOST_WORDS: Final = 7
"""Different words that a column of scores in words may have."""


def guess_judgement(
    name: ColumnName, cells: Cells, models: Sequence[str], scores: ScoreOptions
) -> JudgementColumn | KeptColumn | None:
    """Recognise a column of scores or ticks: ``process_reader1``, ``GPT-5 laterality error R2``.

    Scores that are not from 1 to 5, or of no dimension, are kept as they are with a word on how to
    have them read, unless ``scores`` says so.
    """
    told = [(dimension, [phrase]) for phrase, dimension in scores.names]
    for judges, phrases in (*told, *DIMENSION_NAMES.items(), *FAILURE_NAMES.items()):
        place = next((found for phrase in phrases for found in [name.find(phrase)] if found), None)
        if place is None:
            continue
        if judges in DIMENSION_NAMES:
            return _scores(judges, name, place, cells, models, scores)
        if cells and share(cells, is_tick) < 0.8:
            return None
        model, reader = _whose(name, place, models)
        return JudgementColumn(name.written, judges, reader, model, _sure(cells), samples(cells))
    if _is_of_no_dimension(name, cells):
        if scores.dimension:
            return _scores(scores.dimension, name, (0, 0), cells, models, scores)
        note = "It looks like scores of no known dimension."
        advice = "Say which they are of with --dimension."
        return KeptColumn(name.written, samples(cells), note, advice)
    return None


def _scores(
    judges: str,
    name: ColumnName,
    place: tuple[int, int],
    cells: Cells,
    models: Sequence[str],
    scores: ScoreOptions,
) -> JudgementColumn | KeptColumn:
    cells = [cell for cell in cells if not is_not_scored(cell)]
    test = ScoreScale.of(scores.scale).holds if scores.scale else _is_score
    if cells and share(cells, test) < _ENOUGH:
        return _offer(judges, name.written, cells)
    model, reader = _whose(name, place, models)
    return JudgementColumn(
        name.written, judges, reader, model, _sure(cells), samples(cells), scores.scale
    )


def _sure(cells: Cells) -> float:
    return 0.9 if cells else 0.6


def _is_of_no_dimension(name: ColumnName, cells: Cells) -> bool:
    """Whether a column holds scores that do not say of what: ``rating``, ``Reader 1``."""
    numbers = [cell for cell in cells if not is_not_scored(cell)]
    if known_metric(name.written):  # what a program computed is no reader's score
        return False
    named = bool(SCORE_NAMES & {*name.words}) or _reader_in(name.written)[1] is not None
    short = all(len(cell) <= _LONGEST_WORD for cell in numbers)
    few = share(numbers, is_number) > 0.8 or len({*numbers}) <= _MOST_WORDS < len(numbers) + 1
    return named and bool(numbers) and short and few


def _is_score(cell: str) -> bool:
    number = read_number(cell)
    return number is not None and SCORE_MIN <= number <= SCORE_MAX


def _offer(judges: str, column: str, cells: Cells) -> KeptColumn:
    """Keep scores that cannot be taken as they are; say why, and which scales they may be of."""
    numbers = [number for cell in cells if (number := read_number(cell)) is not None]
    what = f"It looks like scores for {judges.replace('_', ' ')}, but not from 1 to 5"
    if len(numbers) < 0.8 * len(cells):
        advice = "With --scale and the words, worst first and apart by commas, they are converted."
        return KeptColumn(column, samples(cells), f"{what}: it holds words.", advice)
    fits = [scale for scale in ScoreScale.USUAL if all(map(ScoreScale.of(scale).takes, numbers))]
    scales = tuple(fits[:2])
    offered = " or ".join(f"--scale {scale}" for scale in scales) or "--scale LOW-HIGH"
    note = f"{what}: it goes from {min(numbers):g} to {max(numbers):g}."
    return KeptColumn(column, samples(cells), note, f"Convert it with {offered}.", scales)


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
        elif (
            re.search(r"[^\W\d_]", rest)
            and not reader
            and not SCORE_NAMES & {*ColumnName.of(rest).words}
        ):
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
