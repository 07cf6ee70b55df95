"""The survey of a review set: the detectors' flags and the readers' verdicts on them.

A reader's verdict takes precedence. A failure rejected by every reader who gave a verdict keeps the
detector's flag, marked as rejected, but is not counted. Of several verdicts by one reader the
newest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect import registry
from rexview.detect.detector import AnswerInCase, Detector
from rexview.detect.registry import DETECTORS
from rexview.detect.scan.batch import FLAG_SCHEMA, add_case_and_model
from rexview.detect.scan.scan import Scan, scan
from rexview.detect.score_failures import DISAGREEMENT_THRESHOLD, GAP_THRESHOLD
from rexview.schema import (
    Answer,
    Case,
    Evidence,
    Flag,
    ReaderFlag,
    ReviewSet,
    Score,
    reader_flag_from_row,
)
from rexview.vocab import FAILURES, HINT_KINDS

# Readers' verdicts on failures: the newest of each reader, and the joint verdict.

_ORDER: Final = {failure: place for place, failure in enumerate(FAILURES)}
_UNDATED: Final = datetime.min.replace(tzinfo=UTC)


def newest_verdicts(flags: Iterable[ReaderFlag]) -> list[ReaderFlag]:
    """Return the newest verdict of each reader on each failure of an answer, oldest first.

    Of undated verdicts the last in file order counts, and any dated verdict is newer.
    """
    newest: dict[tuple[str, str, str, str], ReaderFlag] = {}
    for flag in sorted(flags, key=lambda flag: flag.created or _UNDATED):
        newest[flag.case, flag.model, flag.failure, flag.reader] = flag
    return list(newest.values())


def find_verdicts(review_set: ReviewSet) -> list[ReaderFlag]:
    """Return the newest verdicts on the newest answers of a review set."""
    known = pl.Series(review_set.numbers_of(review_set.flags) >= 0)
    flags = review_set.flags.filter(known)
    return newest_verdicts(map(reader_flag_from_row, flags.iter_rows(named=True)))


def joint_verdict(verdicts: Iterable[ReaderFlag]) -> str | None:
    """Return the joint verdict of readers on one failure of one answer; None without verdicts.

    It is ``rejected`` only if every reader rejects.
    """
    given = {one.verdict for one in verdicts}
    if not given:
        return None
    return "rejected" if given == {"rejected"} else "confirmed"


def join_verdicts(found: Iterable[Flag], reader_flags: Iterable[ReaderFlag]) -> list[Flag]:
    """Join readers' verdicts with the flags that detectors found on one answer.

    Returns
    -------
    list of Flag
        In the order of failures, detectors before readers. The ``verdict`` of a detector's flag is
        the joint verdict of the readers, None without one.
    """
    verdicts = newest_verdicts(reader_flags)
    judged = [
        replace(flag, verdict=joint_verdict(one for one in verdicts if one.failure == flag.failure))
        for flag in found
    ]
    flags = [*judged, *map(_as_flag, verdicts)]
    return sorted(flags, key=lambda flag: _ORDER.get(flag.failure, len(_ORDER)))


def _as_flag(verdict: ReaderFlag) -> Flag:
    """Turn a reader's verdict into a flag; its comment, if any, becomes the message."""
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


FAILURE_BITS: Final = {failure: 1 << place for place, failure in enumerate(FAILURES)}
"""Bit of each failure in :attr:`Survey.judged`."""
FLAG_TABLE: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "failure": pl.String(),
        "source": pl.String(),  # detector or reader
        "kind": pl.String(),  # the detector's rule
        "reader": pl.String(),
        "verdict": pl.String(),  # readers' joint verdict on a detector's flag, or the reader's own
        "stands": pl.Boolean(),  # not rejected
        "hint": pl.Boolean(),  # a detector's hint: counted apart from flags
    }
)
"""Columns of the table that :func:`find_flags` returns."""
_KEY: Final = ("answer", "failure")
_VERDICT: Final = pl.Enum(["confirmed", "rejected"])
_SURVEYED: Final = pl.Schema(
    {
        **{name: FLAG_SCHEMA[name] for name in _KEY},
        "source": pl.Enum(["detector", "reader"]),
        "kind": FLAG_SCHEMA["kind"],
        "reader": pl.Categorical(),
        "verdict": _VERDICT,
        "stands": pl.Boolean(),
        "hint": pl.Boolean(),
    }
)
_CASES_AT_A_TIME: Final = 2_000


@dataclass(frozen=True, eq=False)
class Survey:
    """Detectors' flags and readers' verdicts on all newest answers, by number.

    Attributes
    ----------
    flags : polars.DataFrame
        One row per flag: first detectors' flags, then each reader's newest verdict. ``answer``
        (UInt32, its number) and the other columns of :data:`FLAG_TABLE` as small codes.
        :meth:`flags_of` adds message and evidence.
    judged : array of uint32, one an answer
        Bits of :data:`FAILURE_BITS`: the failures that a detector could judge or a reader gave a
        verdict on.
    findings : polars.DataFrame
        ``answer``, ``failure``, ``finding`` (id in the lexicon), ``hint``: the findings that the
        detectors' flags are about, rejected ones included. Flags without a finding have no row.
    scan : Scan
        The detectors' results alone, for the next survey of the same files.
    """

    flags: pl.DataFrame
    judged: npt.NDArray[np.uint32]
    findings: pl.DataFrame
    scan: Scan

    @property
    def verdicts(self) -> pl.DataFrame:
        """The newest verdict of each reader: ``answer``, ``failure``, ``reader``, ``verdict``."""
        by_reader = self.flags.filter(pl.col("source") == "reader")
        return by_reader.select("answer", pl.col("failure", "reader", "verdict").cast(pl.String))

    def flags_of(
        self, case_id: str, answers: Iterable[Answer], reader_flags: Sequence[ReaderFlag]
    ) -> list[Flag]:
        """Return all flags on some answers to one case, with evidence.

        ``reader_flags`` are the readers' verdicts on that case, in file order.

        Returns
        -------
        list of Flag
            In the order of the answers, then of :data:`rexview.vocab.FAILURES`, detectors before
            readers. The ``verdict`` of a detector's flag is the readers' joint verdict, None
            without one. Rejected flags are included.
        """
        answers = tuple(answers)
        numbers = self._numbers(case_id, answers)
        known = [number for number in numbers if number >= 0]
        found: dict[int, list[Flag]] = {}
        if known:
            found = self.scan.flags_of_case(int(self.scan.review_set.newest.case[known[0]]))
        flags: list[Flag] = []
        for answer, number in zip(answers, numbers, strict=True):
            answer_verdicts = (flag for flag in reader_flags if flag.model == answer.model)
            flags += join_verdicts(found.get(number, ()), answer_verdicts)
        return flags

    def not_judged_of(self, case_id: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models whose answers to a case could not be judged by every detector."""
        return self._models_of(self.scan.not_judged_of_case, case_id, answers)

    def not_yet_of(self, case_id: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models whose answers to a case are not scanned yet."""
        return self._models_of(self.scan.not_yet_of_case, case_id, answers)

    def _models_of(
        self, numbers_of: Callable[[int], frozenset[int]], case_id: str, answers: Sequence[Answer]
    ) -> frozenset[str]:
        numbers = dict(zip(self._numbers(case_id, answers), answers, strict=True))
        known = [number for number in numbers if number >= 0]
        if not known:
            return frozenset()
        found = numbers_of(int(self.scan.review_set.newest.case[known[0]]))
        return frozenset(numbers[number].model for number in found & numbers.keys())

    def _numbers(self, case_id: str, answers: Sequence[Answer]) -> list[int]:
        named = pl.DataFrame(
            [(case_id, answer.model) for answer in answers],
            {"case": pl.String(), "model": pl.String()},
            orient="row",
        )
        numbers: list[int] = self.scan.review_set.numbers_of(named).tolist()
        return numbers


def survey(
    review_set: ReviewSet,
    *,
    detectors: Sequence[Detector] | None = None,
    before: Survey | None = None,
) -> Survey:
    """Survey all newest answers with detectors (all of them, by default) and readers' verdicts.

    ``before`` is a survey of the same files with other scores or reader flags. Then only what may
    have changed is computed again; the result is the same.
    """
    if detectors is None:
        detectors = registry.create_detectors(models=review_set.models)
    return survey_scan(scan(review_set, detectors, before.scan if before else None))


def survey_scan(found: Scan) -> Survey:
    """Join the readers' verdicts in a scan's review set with the flags found so far."""
    verdicts = find_verdicts(found.review_set)
    by_reader = _by_reader(found.review_set, verdicts)
    joint = by_reader.group_by(_KEY).agg(
        # rejected only if every reader rejects
        verdict=pl.when((pl.col("verdict") == "rejected").all())
        .then(pl.lit("rejected"))
        .otherwise(pl.lit("confirmed"))
        .cast(_VERDICT)
    )
    is_hint = pl.col("kind").is_in(list(HINT_KINDS)).fill_null(False)
    by_detector = found.flags.select(
        *_KEY,
        "kind",
        source=pl.lit("detector", _SURVEYED["source"]),
        hint=is_hint,
    ).join(joint, on=_KEY, how="left", maintain_order="left")
    flags = pl.concat(
        [
            _SURVEYED.to_frame(),
            by_detector,
            by_reader.with_columns(
                source=pl.lit("reader", _SURVEYED["source"]), hint=pl.lit(value=False)
            ),
        ],
        how="diagonal",
    ).with_columns(stands=pl.col("verdict").ne("rejected").fill_null(True))
    about = found.flags.filter(pl.col("finding").is_not_null())
    return Survey(
        flags,
        _judged(found, by_reader),
        about.select(*_KEY, "finding", hint=is_hint).unique(),
        found,
    )


def _by_reader(review_set: ReviewSet, verdicts: Sequence[ReaderFlag]) -> pl.DataFrame:
    """Return the verdicts as rows of :data:`_SURVEYED`, without the columns that all share."""
    columns = ("failure", "reader", "verdict")
    rows = [(one.case, one.model, one.failure, one.reader, one.verdict) for one in verdicts]
    schema = {"case": pl.String(), "model": pl.String()} | {
        name: _SURVEYED[name] for name in columns
    }
    named = pl.DataFrame(rows, schema, orient="row")
    numbers = pl.Series("answer", review_set.numbers_of(named))
    return named.select(numbers, *columns).filter(pl.col("answer") >= 0).cast({"answer": pl.UInt32})


def _judged(found: Scan, by_reader: pl.DataFrame) -> npt.NDArray[np.uint32]:
    """Convert bits of detectors to bits of failures, and add the failures with a verdict."""
    judged = np.zeros(len(found.judged), dtype=np.uint32)
    for place, detector in enumerate(found.detectors):
        said = (found.judged >> np.uint32(place)) & np.uint32(1)
        judged |= said * np.uint32(FAILURE_BITS[detector.failure])
    for failure, bit in FAILURE_BITS.items():
        spoken_of = by_reader.filter(pl.col("failure") == failure)["answer"].to_numpy()
        judged[spoken_of] |= np.uint32(bit)
    return judged


def name_flags(survey: Survey) -> pl.DataFrame:
    """Return :attr:`Survey.flags` with the columns :data:`FLAG_TABLE`, by answer in file order."""
    flags = survey.flags.sort("source", "answer", maintain_order=True)
    named = add_case_and_model(flags, survey.scan.review_set)
    return named.select(pl.col(name).cast(kind) for name, kind in FLAG_TABLE.items())


def find_flags(
    review_set: ReviewSet, *, detectors: Sequence[Detector] | None = None
) -> pl.DataFrame:
    """Find all flags on the newest answers: one row per flag, columns :data:`FLAG_TABLE`."""
    return name_flags(survey(review_set, detectors=detectors))


def judged_answers(survey: Survey) -> pl.DataFrame:
    """List every pair of an answer and a failure that it can be judged for.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``failure``, ``detected`` (a detector's flag, not rejected),
        ``reader_flagged`` (flagged by a reader), ``hinted`` (a detector's hint, not rejected) and
        ``spoken`` (a reader confirmed or rejected it), the last four Boolean.
    """
    by_detector = pl.col("source") == "detector"
    spoken = survey.flags.filter(~by_detector).select(*_KEY, spoken=pl.lit(value=True)).unique()
    flagged = (
        survey.flags.filter("stands")
        .group_by(_KEY)
        .agg(
            (by_detector & ~pl.col("hint")).any().alias("detected"),
            (~by_detector).any().alias("reader_flagged"),
            pl.col("hint").any().alias("hinted"),
        )
    )
    judged = pl.concat(
        pl.DataFrame(
            {"answer": np.flatnonzero(survey.judged & np.uint32(bit)).astype(np.uint32)}
        ).with_columns(failure=pl.lit(failure, FLAG_SCHEMA["failure"]))
        for failure, bit in FAILURE_BITS.items()
    )
    with_flags = judged.join(flagged, on=_KEY, how="left", maintain_order="left")
    whole = with_flags.join(spoken, on=_KEY, how="left", maintain_order="left").with_columns(
        pl.col("failure").cast(pl.String),
        pl.col("detected", "reader_flagged", "hinted", "spoken").fill_null(False),
    )
    return add_case_and_model(whole, survey.scan.review_set)


def find_flags_for_answers(
    case: Case,
    answers: Sequence[Answer],
    scores: Sequence[Score] = (),
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> list[Flag]:
    """Run detectors on some answers to one case, which need not be in a review set.

    Each answer is compared with the others. ``scores`` are the scores of the case.

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
    """List every failure that is not rejected, as records for JSON.

    Returns
    -------
    list of dict
        ``case``, ``model``, ``failure``, ``source``, ``kind``, ``message``, ``evidence``, in the
        order of cases and models. The ``kind`` identifies a hint
        (:data:`rexview.vocab.HINT_KINDS`). Each piece of evidence is a dict with ``where``
        (``answer``, ``report``, ``question``, ``option``, ``box``, ``usage``, ``scores``),
        ``start``, ``end``, ``text``, ``side``, ``box`` (None where they do not apply). Where they
        exist it has the ``field`` (of an option: its number from 0) and the ``image``. A reference
        box and the correct option have ``reference``. Readers' flags have ``reader``, and a
        detector's flag that a reader confirmed has ``verdict``.

    Examples
    --------
    In a notebook::

        from rexview.detect import flag_rows
        from rexview.reviewset import load_review_set

        rows = flag_rows(load_review_set("assets/demo"))
        [(row["case"], row["model"], row["message"]) for row in rows[:5]]
    """
    active = registry.create_detectors(
        gap_threshold=gap_threshold,
        disagreement_threshold=disagreement_threshold,
        models=review_set.models,
    )
    return list(iterate_flag_rows(scan(review_set, active)))


def iterate_flag_rows(found: Scan) -> Iterator[dict[str, Any]]:
    """List every failure in a scan that is not rejected, as :func:`flag_rows` does."""
    review_set = found.review_set
    verdicts: dict[int, list[ReaderFlag]] = {}
    given = find_verdicts(review_set)
    for verdict, number in zip(given, _by_reader(review_set, given)["answer"], strict=True):
        verdicts.setdefault(number, []).append(verdict)
    starts = review_set.newest.starts
    cases = len(review_set.cases)
    for first in range(0, cases, _CASES_AT_A_TIME):
        stop = min(first + _CASES_AT_A_TIME, cases)
        flags = found.flags_of_cases(first, stop)
        for number in range(int(starts[first]), int(starts[stop])):
            for flag in join_verdicts(flags.get(number, ()), verdicts.get(number, ())):
                if flag.verdict != "rejected":
                    yield _as_row(flag)


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
"""Names in a row for evidence from the reference, which also gets ``reference``."""
