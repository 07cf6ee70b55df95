"""Looking at single answers: once, and again only where a score has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.core.detector import Detector, find_in
from rexview.detect.core.finding_index import FindingIndex, IndexBuilder
from rexview.detect.core.flag_findings import flag_finding
from rexview.detect.core.records import case_records
from rexview.schema import ReviewSet

ANSWER: Final = ("case", "model")
FOUND: Final = pl.Schema(
    {"case": pl.String(), "model": pl.String(), "kind": pl.String(), "finding": pl.String()}
)
_SCORE: Final = ("case", "model", "reader", "dimension", "image", "score", "comment")


@dataclass(frozen=True, eq=False)
class Looks:
    """What detectors said of the answers of one state of a review set, without readers' words.

    ``said`` holds what each detector's ``survey`` gave, ``found`` the flags of the single looks
    that it asked for (columns :data:`FOUND`), both in the order of ``detectors``. ``index`` is what
    the texts speak of, which scores do not change.
    """

    detectors: tuple[Detector, ...]
    said: tuple[pl.DataFrame, ...]
    found: tuple[pl.DataFrame, ...]
    scores: pl.DataFrame
    index: FindingIndex


def look(
    review_set: ReviewSet, detectors: Sequence[Detector], before: Looks | None = None
) -> Looks:
    """Let detectors go through all answers and look at those that they ask to see.

    All detectors look at a case while it is in memory, so that its texts are read once. ``before``
    is a state of the same files with other scores: a detector that reads no scores says the same
    again, the others look again only at answers whose scores changed.
    """
    if before is None or before.detectors != tuple(detectors):
        first = [detector.survey(review_set) for detector in detectors]
        nothing = [FOUND.to_frame()] * len(first)
        index = before.index if before else None
        return _with_looks(review_set, detectors, first, list(map(_asked, first)), nothing, index)
    changed = _changed(before.scores, review_set.scores)
    if changed.is_empty():
        return before
    said: list[pl.DataFrame] = []
    asked: list[pl.DataFrame] = []
    kept: list[pl.DataFrame] = []
    for detector, about, found in zip(detectors, before.said, before.found, strict=True):
        if not detector.reads_scores:
            said.append(about)
            asked.append(changed.clear())
            kept.append(found)
            continue
        now = detector.survey(review_set)
        wanted, known = _asked(now), _asked(about)
        again = pl.concat([changed, wanted.join(known, on=ANSWER, how="anti")]).unique()
        said.append(now)
        asked.append(wanted.join(again, on=ANSWER, how="semi"))
        same = found.join(wanted, on=ANSWER, how="semi", maintain_order="left")
        kept.append(same.join(again, on=ANSWER, how="anti", maintain_order="left"))
    return _with_looks(review_set, detectors, said, asked, kept, before.index)


def _asked(about: pl.DataFrame) -> pl.DataFrame:
    return about.filter("look").select(ANSWER).unique()


def _changed(before: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return the answers with a score that was not there before, or is there no longer."""
    if before is now:
        return now.select(ANSWER).clear()
    both = [(before, now), (now, before)]
    return (
        pl.concat(
            one.select(_SCORE).join(other.select(_SCORE), on=_SCORE, how="anti", nulls_equal=True)
            for one, other in both
        )
        .select(ANSWER)
        .unique()
    )


def _with_looks(
    review_set: ReviewSet,
    detectors: Sequence[Detector],
    said: Sequence[pl.DataFrame],
    asked: Sequence[pl.DataFrame],
    kept: Sequence[pl.DataFrame],
    index: FindingIndex | None,
) -> Looks:
    """Look at the answers that are asked for, and put what is found beside what is kept.

    Without an ``index`` all cases are gone through, and one is made on the way.
    """
    pairs = [set(one.iter_rows()) for one in asked]
    rows: list[list[tuple[str | None, ...]]] = [[] for _ in asked]
    builder = IndexBuilder() if index is None else None
    wanted_cases = review_set.cases.select(case="id") if builder else pl.concat(asked)
    for record in case_records(review_set, wanted_cases):
        if builder:
            builder.add(record)
        for answer in record.answers:
            scores = record.scores_of(answer.model)
            for detector, wanted, found in zip(detectors, pairs, rows, strict=True):
                if (answer.case, answer.model) in wanted:
                    flags = find_in(detector, record.case, answer, record.answers, scores)
                    found += [
                        (flag.case, flag.model, flag.kind, flag_finding(flag)) for flag in flags
                    ]
    seen = [pl.DataFrame(found, schema=FOUND, orient="row") for found in rows]
    found_all = tuple(pl.concat(parts) for parts in zip(kept, seen, strict=True))
    index = builder.index() if builder else index
    assert index is not None
    return Looks(tuple(detectors), tuple(said), found_all, review_set.scores, index)
