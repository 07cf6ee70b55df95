"""What readers say about failures: the newest word of each, and what they say together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import polars as pl

from rexview.schema import Flag, ReaderFlag, ReviewSet
from rexview.vocab import FAILURES

_NAMED: Final = ("case", "model", "failure")
_ORDER: Final = {failure: place for place, failure in enumerate(FAILURES)}


def reader_words(review_set: ReviewSet) -> pl.DataFrame:
    """Return the newest word of each reader on each failure of an answer that there is.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``failure``, ``reader``, ``verdict`` (a missing one is ``confirmed``).
    """
    answers = review_set.answers.filter("_newest")
    return (
        review_set.flags.join(answers, on=["case", "model"], how="semi", maintain_order="left")
        .sort("created", nulls_last=False, maintain_order=True)
        .unique([*_NAMED, "reader"], keep="last", maintain_order=True)
        .select(*_NAMED, "reader", pl.col("verdict").fill_null("confirmed"))
    )


def joint_verdicts(words: pl.DataFrame) -> pl.DataFrame:
    """Return what the readers say together, one row for each ``case``, ``model``, ``failure``.

    ``verdict`` is ``rejected`` only when every reader who spoke rejects.
    """
    confirmed = (pl.col("verdict") == "confirmed").any()
    return words.group_by(_NAMED).agg(
        pl.when(confirmed).then(pl.lit("confirmed")).otherwise(pl.lit("rejected")).alias("verdict")
    )


def newest_words(flags: Iterable[ReaderFlag]) -> list[ReaderFlag]:
    """Return the newest word of each reader on each failure of one answer, in order of failures."""
    undated = datetime.min.replace(tzinfo=UTC)
    newest: dict[tuple[str, str], ReaderFlag] = {}
    for flag in sorted(flags, key=lambda flag: flag.created or undated):
        newest[flag.failure, flag.reader] = flag
    return sorted(newest.values(), key=_place)


def joint_verdict(words: Iterable[ReaderFlag]) -> str | None:
    """Return what the readers say together about one failure of one answer; None: nothing."""
    verdicts = {word.verdict for word in words}
    if not verdicts:
        return None
    return "rejected" if verdicts == {"rejected"} else "confirmed"


def as_flag(word: ReaderFlag) -> Flag:
    """Turn a reader's word into a flag; the comment, if there is one, is its message."""
    failure = FAILURES.get(word.failure)
    name = failure.name if failure else word.failure
    said = "marked" if word.verdict == "confirmed" else "rejected"
    comment = (word.comment or "").strip()
    return Flag(
        case=word.case,
        model=word.model,
        failure=word.failure,
        source="reader",
        message=comment or f"{name}: {said} by a reader.",
        reader=word.reader,
        verdict=word.verdict,
        origin=word.origin,
    )


def with_words(found: Iterable[Flag], words: Iterable[ReaderFlag]) -> list[Flag]:
    """Set what readers say beside the flags that detectors found on one answer.

    Returns
    -------
    list of Flag
        In the order of failures, detectors before readers; ``verdict`` of a detector's flag is
        what the readers say together, None when none spoke.
    """
    said = newest_words(words)
    judged = [
        replace(flag, verdict=joint_verdict(one for one in said if one.failure == flag.failure))
        for flag in found
    ]
    return sorted([*judged, *map(as_flag, said)], key=_place)


def _place(flag: Flag | ReaderFlag) -> int:
    return _ORDER.get(flag.failure, len(_ORDER))
