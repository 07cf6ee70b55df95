"""What readers say about failures: the newest verdict of each, and what they say together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import polars as pl

from rexview.schema import Flag, ReaderFlag, ReviewSet, reader_flag_from_row
from rexview.vocab import FAILURES

_ORDER: Final = {failure: place for place, failure in enumerate(FAILURES)}
_UNDATED: Final = datetime.min.replace(tzinfo=UTC)


def newest_verdicts(flags: Iterable[ReaderFlag]) -> list[ReaderFlag]:
    """Return the newest verdict of each reader on each failure of an answer, oldest first.

    Of verdicts without a date the last in file order counts, and any with a date comes after them.
    """
    newest: dict[tuple[str, str, str, str], ReaderFlag] = {}
    for flag in sorted(flags, key=lambda flag: flag.created or _UNDATED):
        newest[flag.case, flag.model, flag.failure, flag.reader] = flag
    return list(newest.values())


def verdicts_of_set(review_set: ReviewSet) -> list[ReaderFlag]:
    """Return the newest verdicts on the newest answers of a review set."""
    known = pl.Series(review_set.numbers_of(review_set.flags) >= 0)
    flags = review_set.flags.filter(known)
    return newest_verdicts(map(reader_flag_from_row, flags.iter_rows(named=True)))


def joint_verdict(verdicts: Iterable[ReaderFlag]) -> str | None:
    """Return what readers say together about one failure of one answer; None when none spoke.

    It is ``rejected`` only when every reader rejects.
    """
    given = {one.verdict for one in verdicts}
    if not given:
        return None
    return "rejected" if given == {"rejected"} else "confirmed"


def with_verdicts(found: Iterable[Flag], reader_flags: Iterable[ReaderFlag]) -> list[Flag]:
    """Set what readers say beside the flags that detectors found on one answer.

    Returns
    -------
    list of Flag
        In the order of failures, detectors before readers; ``verdict`` of a detector's flag is
        what the readers say together, None when there is none.
    """
    verdicts = newest_verdicts(reader_flags)
    judged = [
        replace(flag, verdict=joint_verdict(one for one in verdicts if one.failure == flag.failure))
        for flag in found
    ]
    flags = [*judged, *map(_as_flag, verdicts)]
    return sorted(flags, key=lambda flag: _ORDER.get(flag.failure, len(_ORDER)))


def _as_flag(verdict: ReaderFlag) -> Flag:
    """Turn a reader's verdict into a flag; the comment, if there is one, is its message."""
    failure = FAILURES.get(verdict.failure)
    name = failure.name if failure else verdict.failure
    word = "marked" if verdict.verdict == "confirmed" else "rejected"
    comment = (verdict.comment or "").strip()
    return Flag(
        case=verdict.case,
        model=verdict.model,
        failure=verdict.failure,
        source="reader",
        message=comment or f"{name}: {word} by a reader.",
        reader=verdict.reader,
        verdict=verdict.verdict,
        origin=verdict.origin,
    )
