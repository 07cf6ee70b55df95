"""The scan: all detectors go through all answers once, and their flags are kept with the evidence.

While the records of a case are in memory, every detector looks at its answers, and what the texts
mention goes into the finding index. When only scores have changed, the detectors that read scores
look again at the answers that were scored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final

import polars as pl

from rexview.detect.boxes.labels import label_findings
from rexview.detect.core.detector import Detector, answers_in_cases
from rexview.detect.core.finding_index import FindingIndex, IndexBuilder
from rexview.detect.findings import find_mentions
from rexview.schema import Evidence, Flag, ReviewSet

ANSWER: Final = ("case", "model")
_FLAGS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "failure": pl.String(),
        "kind": pl.String(),
        "finding": pl.String(),  # id in the lexicon of what the flag is about
        "message": pl.String(),
        "evidence": pl.String(),  # JSON: a tenth of what the records would take in memory
    }
)
_JUDGED: Final = pl.Schema(
    {"case": pl.String(), "model": pl.String(), "judged": pl.UInt32()}  # a bit for each detector
)
_SCORE: Final = ("case", "model", "reader", "dimension", "image", "score", "comment")
_BY_SIGNALS: Final = frozenset(
    ("finish_reason", "usage", "no_answer", "empty", "no_choice", "no_option")
)
_values: Final = attrgetter(*(field.name for field in fields(Evidence)))
_CHUNK: Final = 10_000
"""Rows that are gathered before they become a frame, which takes less memory."""


@dataclass(frozen=True, eq=False)
class Scan:
    """What detectors say of the answers of one state of a review set; readers are not asked.

    Attributes
    ----------
    detectors : tuple of Detector
    flags : polars.DataFrame
        One row a flag: ``case``, ``model``, ``failure``, ``kind``, ``finding``, ``message``,
        ``evidence``; see :meth:`flags_by_answer`.
    judged : polars.DataFrame
        ``case``, ``model`` of every newest answer, and ``judged``: bit ``n`` says that the detector
        at position ``n`` can judge it.
    scores : polars.DataFrame
        The scores of that state.
    index : FindingIndex
        Which findings the texts mention, which scores do not change.
    """

    detectors: tuple[Detector, ...]
    flags: pl.DataFrame
    judged: pl.DataFrame
    scores: pl.DataFrame
    index: FindingIndex

    def flags_by_answer(self, case_id: str | None = None) -> dict[tuple[str, str], list[Flag]]:
        """Return the flags with their evidence, of one case or of all, by case and model."""
        rows = self.flags if case_id is None else self.flags.filter(pl.col("case") == case_id)
        flags: dict[tuple[str, str], list[Flag]] = {}
        for case, model, failure, kind, _, message, evidence in rows.iter_rows():
            flags.setdefault((case, model), []).append(
                Flag(case, model, failure, "detector", message, kind, _evidence(evidence))
            )
        return flags


def scan(review_set: ReviewSet, detectors: Sequence[Detector], before: Scan | None = None) -> Scan:
    """Let all detectors go through all newest answers.

    ``before`` is the scan of the same files with other scores: what does not depend on scores is
    taken from it, and the outcome is the same.
    """
    detectors = tuple(detectors)
    if before is None or before.detectors != detectors:
        builder = IndexBuilder()
        every = review_set.cases.select(case="id")
        flags, judged = _look(review_set, every, detectors, range(len(detectors)), builder)
        return Scan(detectors, flags, judged, review_set.scores, builder.index())
    changed = _changed(before.scores, review_set.scores)
    if changed.is_empty():
        return before
    again = [position for position, detector in enumerate(detectors) if detector.reads_scores]
    flags, judged = _look(review_set, changed, detectors, again)
    outdated = pl.col("failure").is_in([detectors[position].failure for position in again])
    kept = pl.concat(
        [
            before.flags.filter(~outdated),
            before.flags.filter(outdated).join(changed, on=ANSWER, how="anti"),
        ]
    )
    others = sum(1 << position for position, one in enumerate(detectors) if not one.reads_scores)
    merged = before.judged.join(
        judged, on=ANSWER, how="left", suffix="_now", maintain_order="left"
    ).select(
        *ANSWER,
        pl.when(pl.col("judged_now").is_null())
        .then("judged")
        .otherwise((pl.col("judged") & others) | pl.col("judged_now")),
    )
    return Scan(detectors, pl.concat([kept, flags]), merged, review_set.scores, before.index)


def _look(
    review_set: ReviewSet,
    wanted: pl.DataFrame,
    detectors: Sequence[Detector],
    positions: Sequence[int],
    builder: IndexBuilder | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Let the detectors at some positions look at the answers of the cases in ``wanted``.

    Where ``wanted`` has a column ``model``, at those answers only. With a ``builder`` the texts of
    the cases are taken into the finding index.
    """
    chosen = set(wanted.select(ANSWER).iter_rows()) if "model" in wanted.columns else None
    flags, judged = [_FLAGS.to_frame()], [_JUDGED.to_frame()]
    flag_rows: list[tuple[Any, ...]] = []
    judged_rows: list[tuple[str, str, int]] = []
    for case, answers in answers_in_cases(review_set, wanted):
        if builder:
            builder.add(case, answers)
        for one in answers:
            if chosen is not None and (case.id, one.answer.model) not in chosen:
                continue
            bits = 0
            for position in positions:
                detector = detectors[position]
                if detector.can_judge(one):
                    bits |= 1 << position
                    flag_rows += map(_row, detector.find(one))
            judged_rows.append((case.id, one.answer.model, bits))
        if len(judged_rows) > _CHUNK:
            flags.append(pl.DataFrame(flag_rows, _FLAGS, orient="row"))
            judged.append(pl.DataFrame(judged_rows, _JUDGED, orient="row"))
            flag_rows, judged_rows = [], []
    flags.append(pl.DataFrame(flag_rows, _FLAGS, orient="row"))
    judged.append(pl.DataFrame(judged_rows, _JUDGED, orient="row"))
    return pl.concat(flags), pl.concat(judged)


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


def _row(flag: Flag) -> tuple[str | None, ...]:
    evidence = json.dumps(list(map(_values, flag.evidence)), ensure_ascii=False)
    finding = flag_finding(flag)
    return flag.case, flag.model, flag.failure, flag.kind, finding, flag.message, evidence


def _evidence(row: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(where, text, field, start, end, side, image, box and tuple(box))
        for where, text, field, start, end, side, image, box in json.loads(row)
    )


def flag_finding(flag: Flag) -> str | None:
    """Return the finding (id in the lexicon) that a detector's flag is about; None for none.

    None too for flags that the answer's signals raise: what its shown end names is chance. Else it
    is the first that its evidence names. Where one finding was taken for another it is the one
    that the report has: what was missed.
    """
    if flag.kind in _BY_SIGNALS:
        return None
    evidence = flag.evidence[::-1] if flag.failure == "wrong_type" else flag.evidence
    for item in evidence:
        if item.where in ("box", "reference_box"):
            named = sorted(label_findings(item.text))
        elif item.where in ("answer", "report", "question"):
            named = [mention.finding for mention in find_mentions(item.text)]
        else:
            continue
        if named:
            return named[0]
    return None
