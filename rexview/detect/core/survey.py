"""The survey of a review set: what the detectors find, and what readers say about it.

A reader's verdict stands: an answer whose failure every reader who gave one rejected keeps the
detector's flag, marked as rejected, but it counts nowhere. Of several verdicts of one reader the
newest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexview.detect import registry
from rexview.detect.core.detector import AnswerInCase, Detector
from rexview.detect.core.reader_verdicts import (
    joint_verdict,
    verdicts_of_set,
    with_verdicts,
)
from rexview.detect.core.scan import ANSWER, Scan, scan
from rexview.detect.registry import DETECTORS
from rexview.detect.score_failures import DISAGREEMENT_THRESHOLD, GAP_THRESHOLD
from rexview.schema import Answer, Case, Evidence, Flag, ReaderFlag, ReviewSet, Score
from rexview.vocab import HINT_KINDS

FLAG_TABLE: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "failure": pl.String(),
        "source": pl.String(),  # detector or reader
        "kind": pl.String(),  # the detector's rule
        "reader": pl.String(),
        "verdict": pl.String(),  # of the readers on a detector's flag, of the reader on their own
        "stands": pl.Boolean(),  # not rejected
        "hint": pl.Boolean(),  # a detector's hint: counted apart from flags
    }
)
"""Columns of the frame of :func:`find_flags`."""
_KEY: Final = (*ANSWER, "failure")
_VERDICTS: Final = pl.Schema({name: FLAG_TABLE[name] for name in (*_KEY, "reader", "verdict")})


@dataclass(frozen=True, eq=False)
class Survey:
    """What detectors and readers say about all newest answers.

    Attributes
    ----------
    flags : polars.DataFrame
        Columns :data:`FLAG_TABLE`, one row a flag: detectors' flags first, then one row for each
        reader's newest verdict. With message and evidence they are :meth:`flags_of`.
    judged : polars.DataFrame
        Columns ``case``, ``model``, ``failure``: the answers about which something can be said for
        that failure, because a detector could judge them or a reader gave a verdict. Not unique.
    findings : polars.DataFrame
        ``case``, ``model``, ``failure``, ``finding`` (id in the lexicon), ``hint``: which findings
        the detectors' flags are about, rejected ones included. Flags without one have no row.
    scan : Scan
        What the detectors alone found, for the next survey of the same files.
    """

    flags: pl.DataFrame
    judged: pl.DataFrame
    findings: pl.DataFrame
    scan: Scan

    def flags_of(
        self, case_id: str, answers: Iterable[Answer], reader_flags: Sequence[ReaderFlag]
    ) -> list[Flag]:
        """Return all flags on some answers to one case, with evidence.

        ``reader_flags`` is what readers said about that case, in file order.

        Returns
        -------
        list of Flag
            In the order of the answers, then of :data:`rexview.vocab.FAILURES`, detectors before
            readers. ``verdict`` of a detector's flag is what the readers said, None when there is
            none; rejected flags are included.
        """
        found = self.scan.flags_by_answer(case_id)
        flags: list[Flag] = []
        for answer in answers:
            answer_verdicts = (flag for flag in reader_flags if flag.model == answer.model)
            flags += with_verdicts(found.get((case_id, answer.model), ()), answer_verdicts)
        return flags


def survey(
    review_set: ReviewSet,
    *,
    detectors: Sequence[Detector] | None = None,
    scanned: Scan | None = None,
    before: Survey | None = None,
) -> Survey:
    """Ask detectors (all of them, by default) and readers about all newest answers.

    ``scanned`` is what detectors have found by now of the same files, perhaps with other scores.
    ``before`` is a survey of the same files with other scores or reader flags: then only what may
    have changed is looked at again, and the outcome is the same.
    """
    if detectors is None:
        detectors = registry.detectors(models=review_set.models)
    found = scan(review_set, detectors, scanned or (before.scan if before else None))
    judged = [
        found.judged.filter(pl.col("judged") & (1 << place) != 0).select(
            *ANSWER, failure=pl.lit(detector.failure)
        )
        for place, detector in enumerate(found.detectors)
    ]
    verdicts = verdicts_of_set(review_set)
    by_reader = pl.DataFrame(
        [(one.case, one.model, one.failure, one.reader, one.verdict) for one in verdicts],
        _VERDICTS,
        orient="row",
    )
    joint: dict[tuple[str, str, str], list[ReaderFlag]] = {}
    for one in verdicts:
        joint.setdefault((one.case, one.model, one.failure), []).append(one)
    of_readers = pl.DataFrame(
        [(*key, joint_verdict(given)) for key, given in joint.items()],
        {name: FLAG_TABLE[name] for name in (*_KEY, "verdict")},
        orient="row",
    )
    is_hint = pl.col("kind").is_in(HINT_KINDS).fill_null(False)
    by_detector = found.flags.select(
        *_KEY, "kind", pl.lit("detector").alias("source"), is_hint.alias("hint")
    ).join(of_readers, on=_KEY, how="left", maintain_order="left")
    flags = pl.concat(
        [
            pl.DataFrame(schema=FLAG_TABLE),
            by_detector,
            by_reader.with_columns(source=pl.lit("reader"), hint=pl.lit(False)),
        ],
        how="diagonal",
    ).with_columns(stands=pl.col("verdict").ne("rejected").fill_null(True))
    about = found.flags.filter(pl.col("finding").is_not_null())
    return Survey(
        flags,
        pl.concat([*judged, by_reader.select(_KEY)]),
        about.select(*_KEY, "finding", is_hint.alias("hint")).unique(),
        found,
    )


def find_flags(
    review_set: ReviewSet, *, detectors: Sequence[Detector] | None = None
) -> pl.DataFrame:
    """Find all flags on the newest answers: :attr:`Survey.flags`."""
    return survey(review_set, detectors=detectors).flags


def judged_answers(survey: Survey) -> pl.DataFrame:
    """List every answer that can be judged, once for each failure that it can be judged for.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``failure``, ``detected`` (a detector's flag that stands),
        ``reader_flagged`` (a reader says so), ``hinted`` (a detector's hint that stands), all
        Boolean.
    """
    by_detector = pl.col("source") == "detector"
    flagged = (
        survey.flags.filter("stands")
        .group_by(_KEY)
        .agg(
            (by_detector & ~pl.col("hint")).any().alias("detected"),
            (~by_detector).any().alias("reader_flagged"),
            pl.col("hint").any().alias("hinted"),
        )
    )
    judged = survey.judged.unique(maintain_order=True)
    return judged.join(flagged, on=_KEY, how="left", maintain_order="left").with_columns(
        pl.col("detected", "reader_flagged", "hinted").fill_null(False)
    )


def flags_for(
    case: Case,
    answers: Sequence[Answer],
    scores: Sequence[Score] = (),
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> list[Flag]:
    """Let detectors look at some answers to one case, which need not be in a review set.

    Each answer is compared with the others. ``scores`` are those of the case.

    Returns
    -------
    list of Flag
        In the order of the answers, then of the detectors.
    """
    return [
        flag
        for answer in answers
        for one in [
            AnswerInCase(case, answer, [s for s in scores if s.model == answer.model], answers)
        ]
        for detector in detectors
        if detector.can_judge(one)
        for flag in detector.find(one)
    ]


def flag_rows(
    review_set: ReviewSet,
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
) -> list[dict[str, Any]]:
    """List every failure that stands, as records for JSON.

    Returns
    -------
    list of dict
        ``case``, ``model``, ``failure``, ``source``, ``kind``, ``message``, ``evidence``, in the
        order of cases and models. A hint is told by its ``kind``
        (:data:`rexview.vocab.HINT_KINDS`).
        Each piece of evidence is a dict with ``where`` (``answer``, ``report``, ``question``,
        ``option``, ``box``, ``usage``, ``scores``), ``start``, ``end``, ``text``, ``side``, ``box``
        (None where they do not apply) and, where there is one, the ``field`` (of an option: its
        number from 0) and the ``image`` that it is of; a reference box and the correct option
        carry ``reference``. Readers' flags carry ``reader``, and a detector's
        flag that a reader confirmed carries ``verdict``.

    Examples
    --------
    In a notebook::

        from rexview.detect import flag_rows
        from rexview.reviewset import load

        rows = flag_rows(load("assets/demo"))
        [(row["case"], row["model"], row["message"]) for row in rows[:5]]
    """
    active = registry.detectors(
        gap_threshold=gap_threshold,
        disagreement_threshold=disagreement_threshold,
        models=review_set.models,
    )
    found = scan(review_set, active).flags_by_answer()
    verdicts: dict[tuple[str, str], list[ReaderFlag]] = {}
    for verdict in verdicts_of_set(review_set):
        verdicts.setdefault((verdict.case, verdict.model), []).append(verdict)
    answers = [
        (case, model.id)
        for case in review_set.cases.sort("_row")["id"]
        for model in review_set.models
    ]
    return [
        _as_row(flag)
        for answer in answers
        for flag in with_verdicts(found.get(answer, ()), verdicts.get(answer, ()))
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
        "evidence": [_evidence_row(item) for item in flag.evidence],
    }
    if flag.reader:
        row["reader"] = flag.reader
    if flag.verdict:
        row["verdict"] = flag.verdict
    return row


def _evidence_row(item: Evidence) -> dict[str, Any]:
    reference = _REFERENCES.get(item.where)
    row: dict[str, Any] = {
        "where": reference or item.where,
        "start": item.start,
        "end": item.end,
        "text": item.text,
        "side": item.side,
        "box": None if item.box is None else list(item.box),
    }
    row.update({name: value for name in ("field", "image") if (value := getattr(item, name))})
    return {**row, "reference": True} if reference else row


_REFERENCES: Final = {"reference_box": "box", "correct_option": "option"}
"""What evidence of the reference is called in a row, which then carries ``reference``."""
