"""The scan: the flags of all detectors on the newest answers of a review set, by number.

Every answer is first judged without scores, which depends on the files alone. Rules on scores are
then applied to columns, so new scores require no reading of texts. Their messages and evidence are
made only for the cases that a page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.detector import Detector, ScoringDetector
from rexview.detect.scan.batch import (
    DETAILED_FLAG_SCHEMA,
    ENGLISH,
    FLAG_SCHEMA,
    HAS_CONTENT,
    HAS_DEFINITE_WORDING,
    HAS_DRAWING,
    NOT_JUDGED,
    UNSCANNED,
    Batch,
    BatchResult,
    Numbers,
    iterate_batches,
    load_batch,
    parse_evidence,
    run_detectors,
)
from rexview.detect.scan.finding_index import FindingIndex, IndexBuilder, report_text_number
from rexview.frames import AnswerRows
from rexview.schema import Flag, ReviewSet
from rexview.stats import load_answer_finals
from rexview.vocab import DIMENSIONS

# Flags found without scores, collected in any order, and the state of each answer.


class FlagDetails(Protocol):
    """Source of the messages and evidence of flags."""

    def of(self, first: int, stop: int) -> pl.DataFrame | None:
        """Return the flags on the answers from ``first`` to ``stop``, columns ``TOLD_FLAGS``.

        Ordered by answer, then by detector. None if they are not available.
        """
        ...


class InMemoryFlagDetails:
    """Messages and evidence of all flags in memory, for sets that are scanned in one go."""

    def __init__(self, parts: Iterable[pl.DataFrame]) -> None:
        every = pl.concat([DETAILED_FLAG_SCHEMA.to_frame(), *parts])
        self._flags = every.sort("answer", maintain_order=True)
        self._answers = self._flags["answer"].to_numpy()

    def of(self, first: int, stop: int) -> pl.DataFrame:
        """Return the flags on some answers."""
        start, end = np.searchsorted(self._answers, (first, stop))
        return self._flags[int(start) : int(end)]


@dataclass(frozen=True, eq=False)
class TextFlags:
    """Flags of detectors on the answers of a review set, found without scores.

    Attributes
    ----------
    state : array of uint8, one an answer
        0 not scanned yet, 1 scanned, 2 not judged.
    judged : array of uint32, one an answer
        Bit ``n`` is set if the detector at position ``n`` could judge the answer.
    words : array of uint32, one an answer
    traits : array of uint8, one an answer
        Bits of :mod:`rexview.detect.scan.batch`.
    flags : polars.DataFrame
        Columns :data:`rexview.detect.scan.batch.FLAG_SCHEMA`, in no order.
    index : FindingIndex
    reports : array of bool, one a case
        True if the case's report was read.
    told : FlagDetails or None
        Source of messages and evidence, if there is one.
    """

    state: npt.NDArray[np.uint8]
    judged: npt.NDArray[np.uint32]
    words: npt.NDArray[np.uint32]
    traits: npt.NDArray[np.uint8]
    flags: pl.DataFrame
    index: FindingIndex
    reports: npt.NDArray[np.bool_]
    told: FlagDetails | None = None


class ScanAccumulator:
    """Collects the results of some answers at a time. Not safe for several threads at once.

    Parts are joined as in a merge sort: the last is never much smaller than the one before. So the
    cost of a part does not grow with the amount collected.
    """

    def __init__(self, answers: int, cases: int) -> None:
        self.state = np.zeros(answers, dtype=np.uint8)
        self.judged = np.zeros(answers, dtype=np.uint32)
        self.words = np.zeros(answers, dtype=np.uint32)
        self.traits = np.zeros(answers, dtype=np.uint8)
        self.looked = 0
        self.failed = 0
        self.reports = np.zeros(cases, dtype=np.bool_)
        self._flags = [FLAG_SCHEMA.to_frame()]
        self._index = IndexBuilder()

    def add(self, looked: BatchResult) -> BatchResult:
        """Add what is new in a part, and return the new results."""
        new = self._new(looked)
        numbers = new.numbers
        for name, of_all in self._of_answers().items():
            of_all[numbers] = new.answers[name].to_numpy()
        self.reports[new.reports] = True
        self.looked += len(new.numbers)
        self.failed += int(np.count_nonzero(new.state == NOT_JUDGED))
        self._add_flags(new.flags.select(FLAG_SCHEMA.names()))
        self._index.add(new.phrases, new.texts, new.phrase_places)
        return new

    def _of_answers(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays with one value per answer, by their names in :data:`.RESULT_SCHEMA`."""
        names = ("state", "judged", "words", "traits")
        return {name: getattr(self, name) for name in names}

    def take_over(self, found: TextFlags) -> None:
        """Start from another scan's results for the same answers. Call it before :meth:`add`."""
        for name, of_all in self._of_answers().items():
            of_all[:] = getattr(found, name)
        self.reports[found.reports] = True
        self.looked = int(np.count_nonzero(found.state))
        self.failed = int(np.count_nonzero(found.state == NOT_JUDGED))
        self._add_flags(found.flags)
        for texts, places in found.index.parts:
            self._index.add(found.index.phrases, texts, places)

    def _add_flags(self, flags: pl.DataFrame) -> None:
        if flags.is_empty():
            return
        parts = self._flags
        parts.append(flags)
        while len(parts) > 1 and len(parts[-2]) <= 2 * len(parts[-1]):
            parts[-2:] = [pl.concat(parts[-2:], rechunk=True)]

    def _new(self, looked: BatchResult) -> BatchResult:
        """Leave out known answers and reports: two threads may have scanned the same case."""
        old = self.state[looked.numbers] != UNSCANNED
        old_reports = self.reports[looked.reports]
        if not old.any() and not old_reports.any():
            return looked
        left = looked.numbers[~old]
        known = np.concatenate(
            [looked.numbers[old].astype(np.int32), report_text_number(looked.reports[old_reports])]
        )
        new_texts = ~np.isin(looked.texts, known)
        return BatchResult(
            looked.answers.filter(pl.Series(~old)),
            looked.flags.filter(pl.Series(np.isin(looked.flags["answer"].to_numpy(), left))),
            looked.reports[~old_reports],
            looked.phrases,
            looked.texts[new_texts],
            looked.phrase_places[new_texts],
        )

    def cases_left(self, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return a mask of the cases whose report or answers are not fully scanned yet."""
        left = np.concatenate([[0], np.cumsum(self.state == UNSCANNED)])
        return (left[starts[1:]] > left[starts[:-1]]) | ~self.reports

    def found(self, told: FlagDetails | None = None) -> TextFlags:
        """Return a snapshot; later results do not change it."""
        return TextFlags(
            flags=pl.concat(self._flags),
            index=self._index.index(),
            reports=self.reports.copy(),
            told=told,
            **{name: of_all.copy() for name, of_all in self._of_answers().items()},
        )


# Flags that follow from readers' scores: one pass over columns, which reads no text.
#
# The table of scored answers joins final scores with the traits of the answers' texts and boxes
# (:mod:`rexview.detect.scan.batch`). The :class:`ScoreRule` of each :class:`ScoringDetector` judges
# it. Messages and evidence are made when a case is shown.

_BITS: Final = {"english": ENGLISH, "drawn": HAS_DRAWING, "definite": HAS_DEFINITE_WORDING}


@dataclass(frozen=True, eq=False)
class ScoreFlags:
    """Flags that follow from the scores of a review set.

    Attributes
    ----------
    numbers : array of uint32, shape (n,)
        The answers with a final score, each once.
    judged : array of uint32, shape (n,)
        Bit ``k`` is set if its scores let the detector at position ``k`` judge the answer.
    flags : polars.DataFrame
        Columns :data:`rexview.detect.scan.batch.FLAG_SCHEMA`. None of them is about a finding.
    """

    numbers: npt.NDArray[np.uint32]
    judged: npt.NDArray[np.uint32]
    flags: pl.DataFrame


def score_flags(
    review_set: ReviewSet, found: TextFlags, detectors: Sequence[Detector]
) -> ScoreFlags:
    """Apply the rules of all detectors that use scores.

    Parameters
    ----------
    review_set : ReviewSet
        Its scores are read.
    found : TextFlags
        The results so far. Rules about texts and boxes wait for answers that are not scanned yet.
    detectors : sequence of Detector
    """
    if review_set.scores.is_empty():
        none = np.zeros(0, dtype=np.uint32)
        return ScoreFlags(none, none, FLAG_SCHEMA.to_frame())
    table = scored_answers(review_set, found)
    numbers = table["number"].to_numpy()
    judged = np.zeros(len(table), dtype=np.uint32)
    flags = [FLAG_SCHEMA.to_frame()]
    for position, detector in enumerate(detectors):
        if not isinstance(detector, ScoringDetector):
            continue
        rule = detector.score_rule()
        said = table.select(
            judged=rule.judged.fill_null(value=False),
            flagged=(rule.judged & rule.flagged).fill_null(value=False),
        )
        judged |= said["judged"].to_numpy().astype(np.uint32) << np.uint32(position)
        answers = pl.Series("answer", numbers).filter(said["flagged"])
        if len(answers):
            columns = {"failure": detector.failure, "kind": rule.kind, "finding": None}
            flags.append(
                answers.to_frame().with_columns(
                    pl.lit(value, FLAG_SCHEMA[name]).alias(name) for name, value in columns.items()
                )
            )
    return ScoreFlags(numbers, judged, pl.concat(flags))


def scored_answers(review_set: ReviewSet, found: TextFlags) -> pl.DataFrame:
    """Return the columns that score rules read, one row for each newest answer with a final score.

    Returns
    -------
    polars.DataFrame
        ``number`` (UInt32); the final scores by dimension, ``gap`` and ``spread`` (Float64, null
        where missing); ``comments`` (String, the comments beside its scores, null without any);
        ``words`` (Int64); ``usual_words`` (Float64, median of the other answers to the case that
        have content and words, null without any); ``english``, ``drawn``, ``definite`` (Boolean).
        The columns from ``words`` on are null for an answer that is not scanned yet.
    """
    finals = load_answer_finals(review_set)
    numbers = review_set.numbers_of(finals)
    known = numbers >= 0
    numbers = numbers[known]
    looked_at = found.state[numbers] != UNSCANNED
    traits, usual = found.traits[numbers], _usual_words(review_set.newest, found, numbers)
    of_texts = pl.DataFrame(
        {
            "number": numbers.astype(np.uint32),
            "_looked_at": looked_at,
            "words": found.words[numbers].astype(np.int64),
            "usual_words": pl.Series(usual, nan_to_null=True),
            **{name: (traits & bit) > 0 for name, bit in _BITS.items()},
        }
    ).with_columns(
        pl.when("_looked_at").then(pl.col("words", "usual_words", *_BITS)),
    )
    scored = finals.filter(pl.Series(known)).select("case", "model", *DIMENSIONS, "gap", "spread")
    with_comments = _with_comments(scored, review_set.scores)
    return pl.concat([of_texts.drop("_looked_at"), with_comments], how="horizontal")


def _with_comments(scored: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Add the readers' comments on their scores, and drop ``case`` and ``model``."""
    pair = ["case", "model"]
    written = (
        scores.filter(pl.col("comment").is_not_null())
        .group_by(pair)
        .agg(pl.col("comment").str.join("\n").alias("comments"))
    )
    return scored.join(written, on=pair, how="left", maintain_order="left").drop(pair)


def _usual_words(
    newest: AnswerRows, found: TextFlags, numbers: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the median length of the other answers to each answer's case, NaN without any.

    Only answers with content and words count.
    """
    counts = ((found.traits & HAS_CONTENT) > 0) & (found.words > 0)
    # the answers that count, by case, then by length
    those = np.flatnonzero(counts)
    those = those[np.lexsort((found.words[those], newest.case[those]))]
    words = found.words[those].astype(np.float64)
    place = np.full(len(newest), -1, dtype=np.int64)
    place[those] = np.arange(len(those))
    of_case = newest.case[numbers]
    first = np.searchsorted(newest.case[those], of_case, side="left")
    stop = np.searchsorted(newest.case[those], of_case, side="right")
    own = place[numbers]  # excluded; ranks after all others if it does not count
    others = stop - first - (own >= 0)
    own = np.where(own >= 0, own, stop)

    def nth(offset: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        at = first + offset
        at += at >= own
        found: npt.NDArray[np.float64] = words[np.minimum(at, len(words) - 1)]
        return found

    if not len(words):
        return np.full(len(numbers), np.nan)
    middle = (nth(np.maximum(others - 1, 0) // 2) + nth(others // 2)) / 2
    usual: npt.NDArray[np.float64] = np.where(others > 0, middle, np.nan)
    return usual


_CASES_KEPT: Final = 16


class OpenCaseScanner(Protocol):
    """Scanner of open cases in another process."""

    def looked(self, first: int, stop: int) -> BatchResult | None:
        """Return the results of the cases in some rows; None while there are none."""
        ...


@dataclass(frozen=True, eq=False)
class Scan:
    """Flags of detectors on the answers in one state of a review set, without readers' verdicts.

    Everything is by the numbers of ``review_set.newest``.

    Attributes
    ----------
    detectors : tuple of Detector
    review_set : ReviewSet
    found : TextFlags
        The flags found without scores.
    asked : OpenCaseScanner or None
        Scans an unscanned case when it is opened; None to scan it in this process.
    """

    detectors: tuple[Detector, ...]
    review_set: ReviewSet
    found: TextFlags
    asked: OpenCaseScanner | None = None

    @cached_property
    def by_scores(self) -> ScoreFlags:
        """The flags that follow from readers' scores."""
        return score_flags(self.review_set, self.found, self.detectors)

    @property
    def index(self) -> FindingIndex:
        """The index of findings in the texts scanned so far."""
        return self.found.index

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """State of each answer: 0 not scanned yet, 1 scanned, 2 not judged."""
        return self.found.state

    @cached_property
    def judged(self) -> npt.NDArray[np.uint32]:
        """For each answer, bit ``n`` is set if the detector at position ``n`` could judge it."""
        if not len(self.by_scores.numbers):
            return self.found.judged
        judged = self.found.judged.copy()
        judged[self.by_scores.numbers] |= self.by_scores.judged
        return judged

    @cached_property
    def flags(self) -> pl.DataFrame:
        """All flags: ``answer`` (UInt32), ``failure`` (Enum), ``kind``, ``finding``."""
        if self.by_scores.flags.is_empty():
            return self.found.flags
        return pl.concat([self.found.flags, self.by_scores.flags])

    @property
    def is_complete(self) -> bool:
        """True if every answer was scanned, or could not be."""
        return bool(self.found.state.all())

    def flags_of_case(self, case_row: int) -> dict[int, list[Flag]]:
        """Return the flags on the answers to a case with their evidence, by answer number.

        In the order of the detectors. They come from disk or memory if kept there; otherwise the
        case is scanned now, also for the first time. If another process does that, they may not be
        ready yet (:meth:`not_yet_of_case`).
        """
        return self.flags_of_cases(case_row, case_row + 1)

    def flags_of_cases(self, first: int, stop: int) -> dict[int, list[Flag]]:
        """Return the flags of the cases in some rows, from ``first`` to ``stop``."""
        rows = self.told(first, stop)
        if rows.is_empty():
            return {}
        newest, cases = self.review_set.newest, self.review_set.cases["id"]
        models = [model.id for model in self.review_set.models]
        places = {one.failure: place for place, one in enumerate(self.detectors)}
        place = rows["failure"].cast(pl.String).replace_strict(places, return_dtype=pl.Int64())
        flags: dict[int, list[Flag]] = {}
        for number, failure, kind, message, evidence in (
            rows.with_columns(_place=place)
            .sort("answer", "_place", maintain_order=True)
            .select("answer", "failure", "kind", "message", "evidence")
            .iter_rows()
        ):
            case, model = cases[int(newest.case[number])], models[newest.model[number]]
            flags.setdefault(number, []).append(
                Flag(case, model, failure, "detector", message, kind, parse_evidence(evidence))
            )
        return flags

    def told(self, first: int, stop: int) -> pl.DataFrame:
        """Return the flags of the cases in some rows with messages and evidence, ``TOLD_FLAGS``."""
        return pl.concat([self.told_without_scores(first, stop), self._told_by_scores(first, stop)])

    def told_without_scores(self, first: int, stop: int) -> pl.DataFrame:
        """Return those flags of :meth:`told` that need no scores."""
        low, high = self._numbers(first, stop)
        if not self.found.state[low:high].all():
            looked = self._now(first, stop)
            return DETAILED_FLAG_SCHEMA.to_frame() if looked is None else looked.flags
        flagged = self.found.flags.filter(pl.col("answer").is_between(low, high, closed="left"))
        if flagged.is_empty():
            return DETAILED_FLAG_SCHEMA.to_frame()
        told = self.found.told.of(low, high) if self.found.told else None
        if told is None or len(told) != len(flagged):  # gone, or overwritten by another process
            answers = flagged["answer"].unique().sort().to_numpy()
            told = run_detectors(self._batch_of(answers), self.detectors, index=False).flags
        return told

    def _numbers(self, first: int, stop: int) -> tuple[int, int]:
        """Return the first answer number of the cases in some rows, and one after the last."""
        starts = self.review_set.newest.starts
        return int(starts[first]), int(starts[stop])

    def _told_by_scores(self, first: int, stop: int) -> pl.DataFrame:
        """Return those flags of :meth:`told` that follow from readers' scores."""
        low, high = self._numbers(first, stop)
        flags = self.by_scores.flags.filter(pl.col("answer").is_between(low, high, closed="left"))
        if flags.is_empty():
            return DETAILED_FLAG_SCHEMA.to_frame()
        failures = set(flags["failure"].cast(pl.String))
        positions = [n for n, one in enumerate(self.detectors) if one.failure in failures]
        answers = flags["answer"].unique().sort().to_numpy()
        batch = self._batch_of(answers, with_scores=True)
        told = run_detectors(batch, self.detectors, positions, index=False).flags
        return told.join(flags, on=["answer", "failure", "kind"], how="semi", maintain_order="left")

    def _batch_of(self, answers: Numbers, *, with_scores: bool = False) -> Batch:
        """Load the cases of some answers that are to be scanned."""
        case_rows = np.unique(self.review_set.newest.case[answers]).astype(np.int64)
        return load_batch(self.review_set, case_rows, answers, with_scores=with_scores)

    def not_judged_of_case(self, case_row: int) -> frozenset[int]:
        """Return the numbers of the answers to a case that could not be judged."""
        return self._with_state(case_row, NOT_JUDGED)

    def not_yet_of_case(self, case_row: int) -> frozenset[int]:
        """Return the numbers of the answers to a case that are not scanned yet."""
        return self._with_state(case_row, UNSCANNED)

    def _with_state(self, case_row: int, wanted: int) -> frozenset[int]:
        numbers = self.review_set.newest.of_case(case_row)
        state = self.state[numbers.start : numbers.stop].copy()
        if not state.all() and (looked := self._now(case_row, case_row + 1)) is not None:
            known = looked.numbers.astype(np.int64) - numbers.start
            state[known] = np.maximum(state[known], looked.state)
        return frozenset(np.array(numbers)[state == wanted].tolist())

    def _now(self, first: int, stop: int) -> BatchResult | None:
        """Scan all answers to some cases that are not scanned yet."""
        return self.asked.looked(first, stop) if self.asked else self._here(first, stop)

    @cached_property
    def _here(self) -> Callable[[int, int], BatchResult]:
        """Scan in this process, and keep the latest results."""
        return lru_cache(maxsize=_CASES_KEPT)(
            lambda first, stop: run_detectors(
                load_batch(self.review_set, np.arange(first, stop)), self.detectors, index=False
            )
        )


def create_empty_scan(review_set: ReviewSet, detectors: Sequence[Detector]) -> Scan:
    """Return the empty scan of a review set."""
    none = ScanAccumulator(len(review_set.newest), len(review_set.cases)).found()
    return Scan(tuple(detectors), review_set, none)


def scan(review_set: ReviewSet, detectors: Sequence[Detector], before: Scan | None = None) -> Scan:
    """Run all detectors on all newest answers, now and in this process.

    ``before`` is a scan of the same files with other scores. Whatever does not depend on scores is
    taken from it; the result is the same.
    """
    detectors = tuple(detectors)
    if before is not None and before.detectors == detectors:
        return replace_scores(before, review_set)
    gatherer = ScanAccumulator(len(review_set.newest), len(review_set.cases))
    told = [
        gatherer.add(run_detectors(batch, detectors)).flags for batch in iterate_batches(review_set)
    ]
    return Scan(detectors, review_set, gatherer.found(InMemoryFlagDetails(told)))


def replace_scores(before: Scan, review_set: ReviewSet) -> Scan:
    """Return the scan with the scores of another state of the same files; it may be incomplete."""
    return replace(before, review_set=review_set)
