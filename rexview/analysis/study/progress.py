"""How far each reader of a study is: counts of cases, never scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from rexview.analysis.study.worklist import Progress, case_states, progress_of, required_scores
from rexview.schema import ReviewSet
from rexview.store import Assignment


@dataclass(frozen=True)
class ReaderProgress:
    """One reader: cases given as first and as second reader, and how far they are with them.

    ``begun`` counts cases with some scores but not all, which ``progress`` has among those left.
    """

    reader: str
    first: int
    second: int
    progress: Progress
    begun: int


def readers_progress(
    review_set: ReviewSet,
    assignments: Sequence[Assignment],
    written: pl.DataFrame,
    skipped: Mapping[str, Collection[str]],
) -> tuple[ReaderProgress, ...]:
    """Count the cases of every reader who was assigned any, or who scored in the app.

    While there are no assignments, every case is everybody's. ``written`` has the scores written in
    the app (columns :data:`rexview.frames.SCORES`), ``skipped`` the ids of skipped cases by reader.
    """
    required = required_scores(review_set)
    scorable = required["case"].unique(maintain_order=True).to_list()
    own = written.partition_by("reader", as_dict=True) if len(written) else {}
    given = {str(reader): scores for (reader,), scores in own.items()}
    readers = [one.reader for one in assignments] + sorted({*given, *skipped})
    found = []
    for reader in dict.fromkeys(readers):
        mine = {one.case: one.order for one in assignments if one.reader == reader}
        scores = given.get(reader, written.clear())
        if assignments and not mine:  # what somebody scored without having been asked to
            mine = dict.fromkeys(scores["case"].to_list(), "")
        worklist = [case for case in scorable if case in mine] if assignments else scorable
        states = case_states(worklist, required, scores, skipped.get(reader, ()))
        orders = [mine.get(case, "") for case in worklist]
        found.append(
            ReaderProgress(
                reader,
                orders.count("first"),
                orders.count("second"),
                progress_of(states),
                list(states.values()).count("begun"),
            )
        )
    return tuple(found)


def begun_cases(
    reader: str, written: pl.DataFrame, skipped: Mapping[str, Collection[str]]
) -> frozenset[str]:
    """Return the cases that a reader has scored, in part or in full, or skipped."""
    scored = written.filter(pl.col("reader") == reader, pl.col("score").is_not_null())["case"]
    return frozenset(scored.to_list()) | frozenset(skipped.get(reader, ()))
