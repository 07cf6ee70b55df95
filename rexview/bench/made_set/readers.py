"""What two readers of a made set gave: scores, verdicts on failures, comments; some are missing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.schema import Reader
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS

READERS: Final = (Reader("reader-1", "First reader"), Reader("reader-2", "Second reader"))
MOST_SCORED: Final = 20_000
"""Cases that readers score: no study scores more."""
_SCORED: Final = (0.95, 0.6)
"""Share of the answers that each reader scored."""
_LEFT_OUT: Final = 0.02
"""Share of single scores that a reader left out."""
_MEANS: Final = {
    "process": 4.2,
    "execution": 3.3,
    "synthesis": 3.6,
    "language": 4.5,
    "image_content": 3.0,
    "image_style": 3.8,
}
_SPREAD_OF_ANSWERS: Final = 0.9
_SPREAD_OF_READERS: Final = 0.6
_VERDICTS: Final = 0.05
"""Share of the answers on which the first reader gave a verdict."""
_FAILURES: Final = ("laterality_error", "omission", "hallucination", "overconfident")
_COMMENTS: Final = 0.02
_REMARKS: Final = ("Side is wrong.", "Good plan, wrong film region.", "Too long.", "Ask again.")
_BEGINNING: Final = datetime(2025, 4, 1, 9, tzinfo=UTC)
_BETWEEN: Final = timedelta(seconds=7)


def made_readings(random: np.random.Generator, answers: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Make what readers gave on some answers.

    Parameters
    ----------
    random : numpy.random.Generator
    answers : polars.DataFrame
        Columns ``case``, ``model``, ``text``, ``boxes``.

    Returns
    -------
    dict of str to polars.DataFrame
        The tables ``scores``, ``flags`` and ``comments`` with their declared columns.
    """
    count = len(answers)
    came = answers["text"].is_not_null().to_numpy()
    boxed = answers["boxes"].list.len().fill_null(0).to_numpy() > 0
    quality = {name: random.normal(0, _SPREAD_OF_ANSWERS, count) for name in DIMENSIONS}
    parts = []
    for reader, share in zip(READERS, _SCORED, strict=True):
        scored = came & (random.random(count) < share)
        for name in DIMENSIONS:
            given = scored & (random.random(count) >= _LEFT_OUT)
            if name in IMAGE_DIMENSIONS:
                given &= boxed
            wanted = _MEANS[name] + quality[name] + random.normal(0, _SPREAD_OF_READERS, count)
            parts.append(_scores(answers, given, reader.id, name, wanted))
    verdicts = came & (random.random(count) < _VERDICTS)
    remarked = came & (random.random(count) < _COMMENTS)
    return {
        "scores": pl.concat(parts).with_columns(_times(sum(map(len, parts)))),
        "flags": _verdicts(random, answers.filter(verdicts)),
        "comments": _comments(random, answers.filter(remarked)),
    }


def _scores(
    answers: pl.DataFrame,
    given: npt.NDArray[np.bool_],
    reader: str,
    dimension: str,
    wanted: npt.NDArray[np.float64],
) -> pl.DataFrame:
    return (
        answers.select("case", "model")
        .with_columns(
            pl.lit(reader).alias("reader"),
            pl.lit(dimension).alias("dimension"),
            pl.Series("score", np.clip(np.round(wanted), 1, 5).astype(np.int64)),
        )
        .filter(pl.Series(given))
    )


def _verdicts(random: np.random.Generator, answers: pl.DataFrame) -> pl.DataFrame:
    count = len(answers)
    return answers.select("case", "model").with_columns(
        pl.lit(READERS[0].id).alias("reader"),
        pl.Series("failure", _FAILURES).gather(random.integers(0, len(_FAILURES), count)),
        pl.Series("verdict", ("confirmed", "rejected")).gather(random.integers(0, 2, count)),
        _times(count),
    )


def _comments(random: np.random.Generator, answers: pl.DataFrame) -> pl.DataFrame:
    count = len(answers)
    number = np.arange(count)
    return answers.select("case", "model").with_columns(
        pl.format("comment-{}-{}", "case", pl.col("model")).alias("comment"),
        pl.Series("reader", [one.id for one in READERS]).gather(number % len(READERS)),
        pl.Series("text", _REMARKS).gather(random.integers(0, len(_REMARKS), count)),
        _times(count),
    )


def _times(count: int) -> pl.Series:
    times = [_BEGINNING + number * _BETWEEN for number in range(count)]
    return pl.Series("created", times, dtype=pl.Datetime("us", "UTC"))
