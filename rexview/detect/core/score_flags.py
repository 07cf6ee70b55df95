"""What detectors conclude from readers' scores: one pass over columns, which reads no text.

The table of scored answers joins final scores with what is known of the answers' texts and boxes
(:mod:`rexview.detect.core.answer_traits`). Each :class:`ScoringDetector` judges it by its
:class:`ScoreRule`. Messages and evidence are made when a case is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.core.answer_traits import CAME, DEFINITE, DRAWN, ENGLISH
from rexview.detect.core.detector import Detector, ScoringDetector
from rexview.detect.core.gathered import Found
from rexview.detect.core.looking import FLAGS, NOT_YET
from rexview.frames.answer_rows import AnswerRows
from rexview.schema import ReviewSet
from rexview.stats import finals_of
from rexview.vocab import DIMENSIONS

_BITS: Final = {"english": ENGLISH, "drawn": DRAWN, "definite": DEFINITE}


@dataclass(frozen=True, eq=False)
class ScoreFlags:
    """What the scores of a review set say of its answers.

    Attributes
    ----------
    numbers : array of uint32, shape (n,)
        The answers with a final score, each once.
    judged : array of uint32, shape (n,)
        Of each, bit ``k`` where its scores let the detector at position ``k`` judge it.
    flags : polars.DataFrame
        Columns :data:`rexview.detect.core.looking.FLAGS`. They are about no finding.
    """

    numbers: npt.NDArray[np.uint32]
    judged: npt.NDArray[np.uint32]
    flags: pl.DataFrame


def score_flags(review_set: ReviewSet, found: Found, detectors: Sequence[Detector]) -> ScoreFlags:
    """Apply the rules of all detectors to which scores matter.

    Parameters
    ----------
    review_set : ReviewSet
        Its scores are read.
    found : Found
        What is known of its answers by now. Rules about texts and boxes wait for those that are
        still to be looked at.
    detectors : sequence of Detector
    """
    if review_set.scores.is_empty():
        none = np.zeros(0, dtype=np.uint32)
        return ScoreFlags(none, none, FLAGS.to_frame())
    table = scored_answers(review_set, found)
    numbers = table["number"].to_numpy()
    judged = np.zeros(len(table), dtype=np.uint32)
    flags = [FLAGS.to_frame()]
    for position, detector in enumerate(detectors):
        if not isinstance(detector, ScoringDetector):
            continue
        rule = detector.score_rule()
        said = table.select(
            judged=rule.judged.fill_null(value=False),
            flagged=(rule.judged & rule.flagged).fill_null(value=False),
        )
        judged |= said["judged"].to_numpy().astype(np.uint32) << np.uint32(position)
        answers = pl.Series("answer", numbers).filter(said["flagged"])
        if len(answers):
            columns = {"failure": detector.failure, "kind": rule.kind, "finding": None}
            flags.append(
                answers.to_frame().with_columns(
                    pl.lit(value, FLAGS[name]).alias(name) for name, value in columns.items()
                )
            )
    return ScoreFlags(numbers, judged, pl.concat(flags))


def scored_answers(review_set: ReviewSet, found: Found) -> pl.DataFrame:
    """Return what score rules read, one row for each newest answer with a final score.

    Returns
    -------
    polars.DataFrame
        ``number`` (UInt32); the final scores by dimension, ``gap`` and ``spread`` (Float64, null
        where missing); ``comments`` (String, those of its scores, null without any); ``words``
        (Int64), ``usual_words`` (Float64, median of the other answers to the case that came and
        have words, null without any), ``english``, ``drawn``, ``definite`` (Boolean). The columns
        from ``words`` on are null for an answer that is still to be looked at.
    """
    finals = finals_of(review_set)
    numbers = review_set.numbers_of(finals)
    known = numbers >= 0
    numbers = numbers[known]
    looked_at = found.state[numbers] != NOT_YET
    traits, usual = found.traits[numbers], _usual_words(review_set.newest, found, numbers)
    of_texts = pl.DataFrame(
        {
            "number": numbers.astype(np.uint32),
            "_looked_at": looked_at,
            "words": found.words[numbers].astype(np.int64),
            "usual_words": pl.Series(usual, nan_to_null=True),
            **{name: (traits & bit) > 0 for name, bit in _BITS.items()},
        }
    ).with_columns(
        pl.when("_looked_at").then(pl.col("words", "usual_words", *_BITS)),
    )
    scored = finals.filter(pl.Series(known)).select("case", "model", *DIMENSIONS, "gap", "spread")
    with_comments = _with_comments(scored, review_set.scores)
    return pl.concat([of_texts.drop("_looked_at"), with_comments], how="horizontal")


def _with_comments(scored: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Add what readers wrote beside their scores, and leave out ``case`` and ``model``."""
    pair = ["case", "model"]
    written = (
        scores.filter(pl.col("comment").is_not_null())
        .group_by(pair)
        .agg(pl.col("comment").str.join("\n").alias("comments"))
    )
    return scored.join(written, on=pair, how="left", maintain_order="left").drop(pair)


def _usual_words(
    newest: AnswerRows, found: Found, numbers: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the median length of the other answers to each answer's case, NaN without any.

    Only answers that came and have words count.
    """
    counts = ((found.traits & CAME) > 0) & (found.words > 0)
    # the answers that count, by case, then by length
    those = np.flatnonzero(counts)
    those = those[np.lexsort((found.words[those], newest.case[those]))]
    words = found.words[those].astype(np.float64)
    place = np.full(len(newest), -1, dtype=np.int64)
    place[those] = np.arange(len(those))
    of_case = newest.case[numbers]
    first = np.searchsorted(newest.case[those], of_case, side="left")
    stop = np.searchsorted(newest.case[those], of_case, side="right")
    own = place[numbers]  # left out: it comes after all others when it does not count
    others = stop - first - (own >= 0)
    own = np.where(own >= 0, own, stop)

    def nth(offset: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        at = first + offset
        at += at >= own
        found: npt.NDArray[np.float64] = words[np.minimum(at, len(words) - 1)]
        return found

    if not len(words):
        return np.full(len(numbers), np.nan)
    middle = (nth(np.maximum(others - 1, 0) // 2) + nth(others // 2)) / 2
    usual: npt.NDArray[np.float64] = np.where(others > 0, middle, np.nan)
    return usual
