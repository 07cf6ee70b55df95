"""All flags of a review set: what the detectors find, and what readers say about it.

A reader's word stands: an answer whose failure every reader who spoke rejected keeps the detector's
flag, marked as rejected, but it counts nowhere. Of several words of one reader the newest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexview.detect.answer_length import AnswerLength
from rexview.detect.answer_text.ending import text_ending
from rexview.detect.answer_text.token_limit import TokenLimit
from rexview.detect.boxes.misplaced import BoxMisplaced
from rexview.detect.boxes.missing import BoxesMissing
from rexview.detect.boxes.unrelated import BoxUnrelated
from rexview.detect.certainty import Overconfident
from rexview.detect.choices import FailedExtraction
from rexview.detect.core.detector import Detector, find_in
from rexview.detect.core.flag_findings import mislabelled_findings
from rexview.detect.core.incremental_scan import ANSWER, Looks, look
from rexview.detect.core.reader_verdicts import joint_verdicts, reader_words, with_words
from rexview.detect.core.records import case_records
from rexview.detect.disagreement import DISAGREEMENT_THRESHOLD, Disagreement
from rexview.detect.finding_hints import InventedFinding, MissedFinding, WrongAbnormality
from rexview.detect.findings import find_mentions
from rexview.detect.gap import GAP_THRESHOLD, ExecutionGap
from rexview.detect.laterality.detector import Laterality
from rexview.schema import Answer, Case, Evidence, Flag, Model, ReaderFlag, ReviewSet, Score
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
FINDING_TABLE: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "failure": pl.String(),
        "finding": pl.String(),  # id in the lexicon
        "hint": pl.Boolean(),  # only a hint says so
    }
)
"""Columns of :attr:`Survey.findings`."""
_JUDGED: Final = pl.Schema({"case": pl.String(), "model": pl.String(), "failure": pl.String()})


def detectors(
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    models: Iterable[Model] = (),
) -> tuple[Detector, ...]:
    """Return all detectors, with the settings that can be adjusted.

    Parameters
    ----------
    gap_threshold, disagreement_threshold : float
        Differences of scores from which an execution gap, a disagreement of readers is flagged.
    models : iterable of Model
        The models of the review set: those that draw no boxes (``draws_boxes: false``) miss none.
    """
    undrawing = frozenset(model.id for model in models if model.draws_boxes is False)
    return (
        Laterality(),
        TokenLimit(),
        ExecutionGap(threshold=gap_threshold),
        InventedFinding(),
        MissedFinding(),
        WrongAbnormality(),
        BoxesMissing(undrawing),
        BoxMisplaced(),
        BoxUnrelated(),
        Overconfident(),
        AnswerLength("verbose"),
        AnswerLength("terse"),
        FailedExtraction(),
        Disagreement(threshold=disagreement_threshold),
    )


DETECTORS: Final = detectors()
"""All detectors with their default settings."""


def read_word_lists() -> None:
    """Read the lexicon and the other word lists now, not when the first text is looked at."""
    find_mentions("No effusion.")
    text_ending("No effusion")


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
    looks : Looks
        What the detectors alone said, for the next survey of the same files.
    findings : polars.DataFrame
        Columns :data:`FINDING_TABLE`: which findings the detectors' flags are about, rejected ones
        included. Flags without a finding have no row.
    """

    flags: pl.DataFrame
    judged: pl.DataFrame
    looks: Looks
    findings: pl.DataFrame


def survey(
    review_set: ReviewSet,
    *,
    detectors: Sequence[Detector] = DETECTORS,
    before: Survey | None = None,
) -> Survey:
    """Ask all detectors and readers about all newest answers, for counting and filtering.

    ``before`` is a survey of the same files with other scores or reader flags: then only what may
    have changed is looked at again, and the outcome is the same.
    """
    looks = look(review_set, detectors, before.looks if before else None)
    said, looked = looks.said, looks.found
    found = [pl.DataFrame(schema=FLAG_TABLE)]
    findings = [pl.DataFrame(schema=FINDING_TABLE)]
    is_hint = pl.col("kind").is_in(HINT_KINDS).fill_null(False)
    judged = [pl.DataFrame(schema=_JUDGED)]
    for detector, about, seen in zip(detectors, said, looked, strict=True):
        failure = pl.lit(detector.failure).alias("failure")
        judged.append(about.select("case", "model", failure))
        clear = _clear(about)
        flags = pl.concat([clear, seen.select(clear.columns)])
        found.append(flags.with_columns(failure, source=pl.lit("detector")))
        named = seen.filter(pl.col("finding").is_not_null())
        findings.append(
            named.with_columns(failure, is_hint.alias("hint")).select(list(FINDING_TABLE))
        )
        if detector.failure == "laterality_error":  # its flags on boxes need no look
            labelled = mislabelled_findings(review_set, clear).with_columns(failure, hint=False)
            findings.append(labelled.select(list(FINDING_TABLE)))
    words = reader_words(review_set)
    judged.append(words.select("case", "model", "failure"))
    detected = (
        pl.concat(found, how="diagonal")
        .drop("verdict")
        .join(joint_verdicts(words), on=list(_JUDGED), how="left", maintain_order="left")
    )
    both = pl.concat([detected, words.with_columns(source=pl.lit("reader"))], how="diagonal")
    stands = pl.col("verdict").ne("rejected").fill_null(True)
    hint = (pl.col("source") == "detector") & is_hint
    flagged = both.with_columns(stands=stands, hint=hint).select(list(FLAG_TABLE))
    return Survey(flagged, pl.concat(judged), looks, pl.concat(findings).unique())


def find_flags(review_set: ReviewSet, *, detectors: Sequence[Detector] = DETECTORS) -> pl.DataFrame:
    """Find all flags on the newest answers: :attr:`Survey.flags`."""
    return survey(review_set, detectors=detectors).flags


def _clear(said: pl.DataFrame) -> pl.DataFrame:
    """Return ``case``, ``model`` and ``kind`` of the flags that need no look."""
    unclear = said.filter("look").select(ANSWER).unique()
    return (
        said.filter(pl.col("kind").is_not_null())
        .join(unclear, on=ANSWER, how="anti", maintain_order="left")
        .select("case", "model", "kind")
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
        Answers to that case, one a model; they are also what each is compared with.
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
    flags: list[Flag] = []
    for answer in answers:
        own = [score for score in scores if score.model == answer.model]
        words = [word for word in reader_flags if word.model == answer.model]
        found = [
            flag for detector in detectors for flag in find_in(detector, case, answer, answers, own)
        ]
        flags += with_words(found, words)
    return flags


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
    active = detectors(
        gap_threshold=gap_threshold,
        disagreement_threshold=disagreement_threshold,
        models=review_set.models,
    )
    flagged = find_flags(review_set, detectors=active).filter("stands")
    return [
        _as_row(flag)
        for record in case_records(review_set, flagged.select("case"))
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
        "evidence": [_evidence_row(item) for item in flag.evidence],
    }
    if flag.reader:
        row["reader"] = flag.reader
    if flag.verdict:
        row["verdict"] = flag.verdict
    return row


def _evidence_row(item: Evidence) -> dict[str, Any]:
    shown = _REFERENCES.get(item.where)
    row: dict[str, Any] = {
        "where": shown or item.where,
        "start": item.start,
        "end": item.end,
        "text": item.text,
        "side": item.side,
        "box": None if item.box is None else list(item.box),
    }
    row.update({name: value for name in ("field", "image") if (value := getattr(item, name))})
    return {**row, "reference": True} if shown else row


_REFERENCES: Final = {"reference_box": "box", "correct_option": "option"}
"""What evidence of the reference is called in a row, which then carries ``reference``."""
