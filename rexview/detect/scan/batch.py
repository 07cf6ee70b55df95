"""Run detectors on a batch of cases: the rows they are given, and what they find."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.box_labels import label_findings
from rexview.detect.detector import AnswerInCase, Detector
from rexview.detect.scan.finding_index import (
    Phrase,
    Places,
    find_answer_phrases,
    find_report_phrases,
    report_text_number,
)
from rexview.detect.score_failures import count_words, definite_words
from rexview.frames import AnswerRows, take_rows
from rexview.schema import (
    Case,
    Evidence,
    Flag,
    ReviewSet,
    Score,
    answer_from_row,
    case_from_row,
    score_from_row,
)
from rexview.text.findings import find_mentions
from rexview.vocab import FAILURES

Numbers = npt.NDArray[np.uint32]
"""Numbers of answers in ``ReviewSet.newest``."""

CASE_COLUMNS: Final = (
    *("question", "question_type", "category", "report", "images", "reference_boxes"),
    *("options", "correct", "question_boxes"),
)
"""Columns of a case that detectors may read."""
ANSWER_COLUMNS: Final = (
    *("text", "finish_reason", "finish_reason_raw", "input_tokens", "output_tokens"),
    *("max_output_tokens", "boxes", "images", "choice", "explanation", "error"),
)
"""Columns of an answer that detectors may read."""
_NOT_READ: Final = dict.fromkeys(("tags", "context"))
_CASES_AT_A_TIME: Final = 1_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Some cases with all their newest answers.

    Attributes
    ----------
    cases : polars.DataFrame
        ``case_row`` (Int32, row in ``ReviewSet.cases``), ``id``, :data:`CASE_COLUMNS`.
    answers : polars.DataFrame
        ``number`` (UInt32), ``case_row``, ``model``, :data:`ANSWER_COLUMNS`; by number.
    scores : dict of (str, str) to list of Score
        By case and model, in file order.
    wanted : array of uint32, or None
        The answers to scan; None for all.
    """

    cases: pl.DataFrame
    answers: pl.DataFrame
    scores: dict[tuple[str, str], list[Score]]
    wanted: Numbers | None = None

    def __len__(self) -> int:
        return len(self.answers) if self.wanted is None else len(self.wanted)

    @property
    def numbers(self) -> Numbers:
        """Numbers of the answers to scan."""
        return self.answers["number"].to_numpy() if self.wanted is None else self.wanted


CaseToScan = tuple[int, Case, list[tuple[int, AnswerInCase]]]
"""A case's row, the case, and by number those of its answers that are to be scanned."""


def load_batch(
    review_set: ReviewSet,
    case_rows: npt.NDArray[np.integer[Any]],
    wanted: Numbers | None = None,
    *,
    with_scores: bool = False,
) -> Batch:
    """Load some cases; with ``wanted``, only these of their answers are to be scanned."""
    newest = review_set.newest
    rows = np.asarray(case_rows, dtype=np.int64)
    numbers = answers_of_cases(newest, rows)
    cases = take_rows(review_set.cases.select("id", *CASE_COLUMNS), rows).select(
        pl.Series("case_row", rows, dtype=pl.Int32()), pl.all()
    )
    of_answers = review_set.answers.select("model", *ANSWER_COLUMNS)
    answers = take_rows(of_answers, newest.row[numbers]).select(
        pl.Series("number", numbers, dtype=pl.UInt32()),
        pl.Series("case_row", newest.case[numbers], dtype=pl.Int32()),
        pl.all(),
    )
    scores: dict[tuple[str, str], list[Score]] = {}
    if with_scores:
        given = review_set.scores.join(
            cases, left_on="case", right_on="id", how="semi", maintain_order="left"
        )
        for row in given.iter_rows(named=True):
            scores.setdefault((row["case"], row["model"]), []).append(score_from_row(row))
    return Batch(cases, answers, scores, wanted)


def answers_in_cases(batch: Batch) -> Iterator[CaseToScan]:
    """Yield the records of a batch in its order, cases without answers included."""
    wanted = None if batch.wanted is None else set(batch.wanted.tolist())
    rows: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for row in batch.answers.iter_rows(named=True):
        rows.setdefault(row["case_row"], []).append((row["number"], row))
    for row in batch.cases.iter_rows(named=True):
        case = case_from_row({**row, **_NOT_READ})
        given = [
            (number, answer_from_row({**answer, "case": case.id}))
            for number, answer in rows.get(row["case_row"], ())
        ]
        answers = [answer for _, answer in given]
        yield (
            row["case_row"],
            case,
            [
                (
                    number,
                    AnswerInCase(case, one, batch.scores.get((case.id, one.model), ()), answers),
                )
                for number, one in given
                if wanted is None or number in wanted
            ],
        )


def iterate_batches(review_set: ReviewSet) -> Iterator[Batch]:
    """Yield all cases in batches whose records fit in memory."""
    for start in range(0, len(review_set.cases), _CASES_AT_A_TIME):
        stop = min(start + _CASES_AT_A_TIME, len(review_set.cases))
        yield load_batch(review_set, np.arange(start, stop))


def answers_of_cases(newest: AnswerRows, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the numbers of all answers to some cases, case by case."""
    counts = newest.starts[rows + 1] - newest.starts[rows]
    before = np.cumsum(counts) - counts
    first = np.repeat(newest.starts[rows] - before, counts)
    return first + np.arange(len(first))


def add_case_and_model(frame: pl.DataFrame, review_set: ReviewSet) -> pl.DataFrame:
    """Replace the number ``answer`` by ``case`` and ``model`` (String)."""
    newest, numbers = review_set.newest, frame["answer"].to_numpy()
    rows = newest.row[numbers].astype(np.int64)
    named = review_set.answers.select("case", "model")[rows]
    whole: pl.DataFrame = named.hstack(frame.drop("answer"))
    return whole


# Traits of an answer that score rules need. They are kept so that new scores cost no reading.

HAS_CONTENT: Final = 1
"""The answer has content: no token limit, error, refusal or empty output."""
ENGLISH: Final = 2
"""The rules can read the answer's language."""
HAS_DRAWING: Final = 4
"""The answer has boxes or pictures."""
HAS_DEFINITE_WORDING: Final = 8
"""The wording leaves no doubt (:func:`rexview.detect.score_failures.definite_words`)."""
MOST_WORDS: Final = 2**32 - 1


def read_traits(one: AnswerInCase) -> tuple[int, int]:
    """Return the number of words of an answer, and its traits as bits."""
    traits = HAS_CONTENT if one.came else 0
    if one.language is None:
        traits |= ENGLISH
    if one.answer.boxes or one.answer.images:
        traits |= HAS_DRAWING
    if definite_words(one.text) is not None:
        traits |= HAS_DEFINITE_WORDING
    return min(count_words(one.text), MOST_WORDS), traits


# Running detectors on answers, and handling their faults.
#
# If a detector raises on an answer, only that answer is marked as not judged.

UNSCANNED: Final = 0
SCANNED: Final = 1
NOT_JUDGED: Final = 2
"""States of an answer. The last: a detector raised on it, or it killed a process."""

RESULT_SCHEMA: Final = pl.Schema(
    {
        "number": pl.UInt32(),
        "state": pl.UInt8(),  # LOOKED_AT or NOT_JUDGED
        "judged": pl.UInt32(),  # bit n where the detector at position n can judge it
        "words": pl.UInt32(),
        "traits": pl.UInt8(),  # bits of rexview.detect.scan.batch
    }
)
"""Columns of the results for each scanned answer, without its flags."""
FLAG_SCHEMA: Final = pl.Schema(
    {
        "answer": pl.UInt32(),  # its number
        "failure": pl.Enum(list(FAILURES)),
        "kind": pl.Categorical(),
        "finding": pl.Categorical(),  # id in the lexicon of what the flag is about
    }
)
"""Columns of the flags in memory."""
DETAILED_FLAG_SCHEMA: Final = pl.Schema(
    FLAG_SCHEMA | {"message": pl.String(), "evidence": pl.String()}  # evidence as JSON
)
"""Columns of flags with their messages and evidence."""
_BY_SIGNALS: Final = frozenset(
    ("finish_reason", "usage", "no_answer", "empty", "no_choice", "no_option")
)
_values: Final = attrgetter(*(field.name for field in fields(Evidence)))
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Results of detectors for some answers.

    Attributes
    ----------
    answers : polars.DataFrame
        Columns :data:`RESULT_SCHEMA`, each answer once.
    flags : polars.DataFrame
        Columns :data:`DETAILED_FLAG_SCHEMA`, answers in the order of ``answers``.
    reports : array of int32
        Rows of the cases whose report was read for the finding index.
    phrases, texts, phrase_places
        The findings that the texts mention, as in
        :class:`rexview.detect.scan.finding_index.FindingIndex`.
    """

    answers: pl.DataFrame
    flags: pl.DataFrame
    reports: Places
    phrases: tuple[Phrase, ...]
    texts: Places
    phrase_places: Places

    @property
    def numbers(self) -> Numbers:
        """Numbers of the answers."""
        return self.answers["number"].to_numpy()

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """State of each answer: :data:`SCANNED` or :data:`NOT_JUDGED`."""
        return self.answers["state"].to_numpy()

    @property
    def judged(self) -> npt.NDArray[np.uint32]:
        """For each answer, bit ``n`` is set if the detector at position ``n`` can judge it."""
        return self.answers["judged"].to_numpy()


def run_detectors(
    batch: Batch,
    detectors: Sequence[Detector],
    positions: Sequence[int] | None = None,
    *,
    index: bool = True,
) -> BatchResult:
    """Run the detectors at some positions, by default all, on the answers of a batch.

    With ``index``, add the texts of the answers and of all the cases' reports to the finding index.
    """
    positions = range(len(detectors)) if positions is None else positions
    looked: list[tuple[int, ...]] = []
    flags: list[tuple[Any, ...]] = []
    reports: list[int] = []
    places: dict[Phrase, int] = {}
    texts: list[int] = []
    phrase_places: list[int] = []

    def mentions(text: int, phrases: Sequence[Phrase]) -> None:
        found = [places.setdefault(one, len(places)) for one in phrases]
        texts.extend([text] * len(found))
        phrase_places.extend(found)

    for case_row, case, answers in answers_in_cases(batch):
        if index:
            reports.append(case_row)
            mentions(report_text_number(case_row), _of_report(case, case_row))
        for number, one in answers:
            found = _judge(number, one, detectors, positions)
            phrases = _of_answer(one, number) if index else ()
            traits = _traits_of(one, number)
            failed = found.failed or phrases is None or traits is None
            mentions(number, phrases or ())
            state = NOT_JUDGED if failed else SCANNED
            looked.append((number, state, found.judged, *(traits or (0, 0))))
            flags += found.flags
    return BatchResult(
        pl.DataFrame(looked, RESULT_SCHEMA, orient="row"),
        pl.DataFrame(flags, DETAILED_FLAG_SCHEMA, orient="row"),
        np.array(reports, dtype=np.int32),
        tuple(places),
        np.array(texts, dtype=np.int32),
        np.array(phrase_places, dtype=np.int32),
    )


def join_results(parts: Sequence[BatchResult]) -> BatchResult:
    """Join the results of different answers, by number, without their texts' findings."""
    none = np.zeros(0, dtype=np.int32)
    answers, flags = (
        pl.concat([empty, *frames]).sort(number, maintain_order=True)
        for empty, frames, number in (
            (RESULT_SCHEMA.to_frame(), [part.answers for part in parts], "number"),
            (DETAILED_FLAG_SCHEMA.to_frame(), [part.flags for part in parts], "answer"),
        )
    )
    return BatchResult(answers, flags, none, (), none, none)


def unjudged_result(batch: Batch) -> BatchResult:
    """Return the result of answers that killed processes: not judged."""
    rows = [(number, NOT_JUDGED, 0, 0, 0) for number in batch.numbers.tolist()]
    answers = pl.DataFrame(rows, RESULT_SCHEMA, orient="row")
    return replace(join_results(()), answers=answers, reports=batch.cases["case_row"].to_numpy())


@dataclass(slots=True)
class _Judgement:
    judged: int
    flags: list[tuple[Any, ...]]
    failed: bool


def _judge(
    number: int, one: AnswerInCase, detectors: Sequence[Detector], positions: Sequence[int]
) -> _Judgement:
    found = _Judgement(0, [], failed=False)
    for position in positions:
        detector = detectors[position]
        try:
            if detector.can_judge(one):
                found.flags += [_row(number, flag) for flag in detector.find(one)]
                found.judged |= 1 << position
        except Exception as error:
            _tell(detector.failure, number, error)
            found.failed = True
    return found


def _of_report(case: Case, case_row: int) -> tuple[Phrase, ...]:
    try:
        return find_report_phrases(case)
    except Exception as error:
        _log.warning("The report of case row %d cannot be read: %s", case_row, _kind(error))
        return ()


def _of_answer(one: AnswerInCase, number: int) -> tuple[Phrase, ...] | None:
    try:
        return find_answer_phrases(one)
    except Exception as error:
        _tell("finding index", number, error)
        return None


def _traits_of(one: AnswerInCase, number: int) -> tuple[int, int] | None:
    try:
        return read_traits(one)
    except Exception as error:
        _tell("answer traits", number, error)
        return None


def _tell(what: str, number: int, error: Exception) -> None:
    """Log a fault without the error's own message, which may contain a patient's words."""
    _log.warning("%s fails on answer number %d: %s", what, number, _kind(error))


def _kind(error: Exception) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f" in {last.tb_frame.f_code.co_name}, line {last.tb_lineno}" if last else ""
    return type(error).__name__ + where


def _row(number: int, flag: Flag) -> tuple[Any, ...]:
    evidence = json.dumps(list(map(_values, flag.evidence)), ensure_ascii=False)
    return number, flag.failure, flag.kind, flag_finding(flag), flag.message, evidence


def parse_evidence(row: str) -> tuple[Evidence, ...]:
    """Parse the evidence of a row of flags."""
    return tuple(
        Evidence(where, text, field, start, end, side, image, box and tuple(box))
        for where, text, field, start, end, side, image, box in json.loads(row)
    )


def flag_finding(flag: Flag) -> str | None:
    """Return the finding (id in the lexicon) that a detector's flag is about; None for none.

    Flags raised by the answer's signals have no finding: what their excerpt names is chance.
    Otherwise it is the first finding that the evidence names. Where one finding was confused with
    another, it is the one in the report, because that one was missed. For a missed or invented
    finding whose evidence is a number or a location, it is the one that the message names.
    """
    if flag.kind in _BY_SIGNALS:
        return None
    evidence = flag.evidence[::-1] if flag.failure == "wrong_type" else flag.evidence
    for item in evidence:
        if item.where in ("box", "reference_box"):
            named = sorted(label_findings(item.text))
        elif item.where in ("answer", "report", "question", "question_boxes"):
            named = [mention.finding for mention in find_mentions(item.text)]
        else:
            continue
        if named:
            return named[0]
    if flag.failure in ("omission", "hallucination"):
        return next((mention.finding for mention in find_mentions(flag.message)), None)
    return None
