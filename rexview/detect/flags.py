"""All flags of a review set: what the detectors find, and what readers say about it.

A reader's word stands: an answer whose failure every reader who spoke rejected keeps the detector's
flag, marked as rejected, but it counts nowhere. Of several words of one reader the newest counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from rexview.detect.detector import Detector
from rexview.detect.gap import GAP_THRESHOLD, ExecutionGap
from rexview.detect.laterality import BoxLaterality
from rexview.detect.readers import (
    as_flag,
    joint_verdict,
    joint_verdicts,
    newest_words,
    reader_words,
)
from rexview.detect.records import case_records
from rexview.detect.token_limit import TokenLimit
from rexview.schema import Answer, Case, Flag, ReaderFlag, ReviewSet, Score
from rexview.vocab import FAILURES

FLAG_TABLE: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "failure": pl.String(),
        "source": pl.String(),  # detector or reader
        "kind": pl.String(),  # the detector's rule
        "reader": pl.String(),
        "verdict": pl.String(),  # of the readers on a detector's flag, of the reader on their own
        "stands": pl.Boolean(),  # counts as a failure
    }
)
"""Columns of the frame of :func:`find_flags`."""
_JUDGED: Final = pl.Schema({"case": pl.String(), "model": pl.String(), "failure": pl.String()})
_FOUND: Final = pl.Schema({"case": pl.String(), "model": pl.String(), "kind": pl.String()})


def detectors(*, gap_threshold: float = GAP_THRESHOLD) -> tuple[Detector, ...]:
    """Return all detectors, with the settings that can be adjusted."""
    return (BoxLaterality(), TokenLimit(), ExecutionGap(threshold=gap_threshold))


DETECTORS: Final = detectors()
"""All detectors with their default settings."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What detectors and readers say about all newest answers.

    Attributes
    ----------
    flags : polars.DataFrame
        Columns :data:`FLAG_TABLE`, one row a flag: detectors' flags first, then one row for each
        reader's newest word. Evidence is found again for single cases by :func:`flags_for`.
    judged : polars.DataFrame
        Columns ``case``, ``model``, ``failure``: the answers about which something can be said for
        that failure, because a detector could judge them or a reader gave a word. Not unique.
    """

    flags: pl.DataFrame
    judged: pl.DataFrame


def survey(review_set: ReviewSet, *, detectors: Sequence[Detector] = DETECTORS) -> Survey:
    """Ask all detectors and readers about all newest answers, for counting and filtering."""
    found = [pl.DataFrame(schema=FLAG_TABLE)]
    judged = [pl.DataFrame(schema=_JUDGED)]
    for detector in detectors:
        said = detector.survey(review_set)
        failure = pl.lit(detector.failure).alias("failure")
        judged.append(said.select("case", "model", failure))
        flags = _decided(review_set, detector, said)
        found.append(flags.with_columns(failure, source=pl.lit("detector")))
    words = reader_words(review_set)
    judged.append(words.select("case", "model", "failure"))
    detected = (
        pl.concat(found, how="diagonal")
        .drop("verdict")
        .join(joint_verdicts(words), on=list(_JUDGED), how="left", maintain_order="left")
    )
    both = pl.concat([detected, words.with_columns(source=pl.lit("reader"))], how="diagonal")
    stands = pl.col("verdict").ne("rejected").fill_null(True)
    return Survey(both.with_columns(stands=stands).select(list(FLAG_TABLE)), pl.concat(judged))


def find_flags(review_set: ReviewSet, *, detectors: Sequence[Detector] = DETECTORS) -> pl.DataFrame:
    """Find all flags on the newest answers: :attr:`Survey.flags`."""
    return survey(review_set, detectors=detectors).flags


def _decided(review_set: ReviewSet, detector: Detector, said: pl.DataFrame) -> pl.DataFrame:
    """Return ``case``, ``model`` and ``kind`` of each flag; look at answers where that is asked."""
    key = ["case", "model"]
    unclear = said.filter("look").select(key).unique()
    clear = said.filter(pl.col("kind").is_not_null()).join(
        unclear, on=key, how="anti", maintain_order="left"
    )
    looked = [
        (flag.case, flag.model, flag.kind)
        for record in case_records(review_set, unclear)
        for answer in record.answers
        for flag in detector.find(record.case, answer, record.scores_of(answer.model))
    ]
    return pl.concat(
        [clear.select(list(_FOUND)), pl.DataFrame(looked, schema=_FOUND, orient="row")]
    )


def flags_for(
    case: Case,
    answers: Sequence[Answer],
    scores: Sequence[Score],
    reader_flags: Sequence[ReaderFlag] = (),
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> list[Flag]:
    """Find all flags on some answers to one case, with evidence.

    Parameters
    ----------
    case : Case
    answers : sequence of Answer
        Answers to that case, one a model.
    scores : sequence of Score
        Scores of that case; those of other answers are ignored.
    reader_flags : sequence of ReaderFlag
        What readers said about that case, in file order.

    Returns
    -------
    list of Flag
        In the order of the answers, then of :data:`rexview.vocab.FAILURES`, detectors before
        readers. ``verdict`` of a detector's flag is what the readers said, None when none spoke;
        rejected flags are included.
    """
    order = {failure: place for place, failure in enumerate(FAILURES)}
    flags: list[Flag] = []
    for answer in answers:
        own = [score for score in scores if score.model == answer.model]
        words = newest_words(flag for flag in reader_flags if flag.model == answer.model)
        found: list[Flag] = []
        for detector in detectors:
            verdict = joint_verdict(word for word in words if word.failure == detector.failure)
            found += [replace(flag, verdict=verdict) for flag in detector.find(case, answer, own)]
        found += [as_flag(word) for word in words]
        flags += sorted(found, key=lambda flag: order.get(flag.failure, len(order)))
    return flags


def flag_rows(
    review_set: ReviewSet, *, gap_threshold: float = GAP_THRESHOLD
) -> list[dict[str, Any]]:
    """List every failure that stands, as records for JSON.

    Returns
    -------
    list of dict
        ``case``, ``model``, ``failure``, ``source``, ``kind``, ``message``, ``evidence`` (a list of
        dicts without empty fields), in the order of cases and models; readers' flags carry
        ``reader``, and a detector's flag that a reader confirmed carries ``verdict``.
    """
    active = detectors(gap_threshold=gap_threshold)
    flagged = find_flags(review_set, detectors=active).filter("stands")
    return [
        _as_row(flag)
        for record in case_records(review_set, flagged.select("case", "model"))
        for flag in flags_for(
            record.case, record.answers, record.scores, record.reader_flags, detectors=active
        )
        if flag.verdict != "rejected"
    ]


def _as_row(flag: Flag) -> dict[str, Any]:
    row: dict[str, Any] = {
        "case": flag.case,
        "model": flag.model,
        "failure": flag.failure,
        "source": flag.source,
        "kind": flag.kind,
        "message": flag.message,
        "evidence": [
            {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in vars(item).items()
                if value is not None
            }
            for item in flag.evidence
        ],
    }
    if flag.reader:
        row["reader"] = flag.reader
    if flag.verdict:
        row["verdict"] = flag.verdict
    return row
