"""How far each reader of a study is: counts of cases, never scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from rexview.analysis.study.engine import StudyEngine
from rexview.analysis.study.worklist import Progress, case_states, progress_of
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
    engine: StudyEngine,
    assignments: Sequence[Assignment],
    written: pl.DataFrame,
    skipped: Mapping[str, Collection[str]],
) -> tuple[ReaderProgress, ...]:
    """Count the cases of every reader who was assigned any, or who scored in the app.

    While there are no assignments, every case is everybody's. ``written`` has the scores written in
    the app (columns :data:`rexview.frames.SCORES`), ``skipped`` the ids of skipped cases by reader.
    """
    own = written.partition_by("reader", as_dict=True) if len(written) else {}
    given = {str(reader): scores for (reader,), scores in own.items()}
    readers = [one.reader for one in assignments] + sorted({*given, *skipped})
    found = []
    for reader in dict.fromkeys(readers):
        mine = {one.case: one.order for one in assignments if one.reader == reader}
        scores = given.get(reader, written.clear())
        if assignments and not mine:  # what somebody scored without having been asked to
            mine = dict.fromkeys(scores["case"].to_list(), "")
        skips = skipped.get(reader, ())
        touched = {*scores["case"], *skips}
        required = engine.required([case for case in touched if not assignments or case in mine])
        states = case_states(required, scores, skips)
        orders = [mine[case] for case in engine.scorable(mine)]
        found.append(
            ReaderProgress(
                reader,
                orders.count("first"),
                orders.count("second"),
                progress_of(states, len(orders) if assignments else engine.n_scorable),
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
