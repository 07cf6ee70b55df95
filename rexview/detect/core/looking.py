"""Looking at some answers with some detectors: what comes of it, and what is done about faults.

A detector that raises on an answer costs that answer its verdict, never the others theirs.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.boxes.labels import label_findings
from rexview.detect.core.answer_traits import traits_of
from rexview.detect.core.batch import Batch, Numbers, answers_in_cases
from rexview.detect.core.detector import AnswerInCase, Detector
from rexview.detect.core.finding_index import (
    Phrase,
    Places,
    phrases_of_answer,
    phrases_of_report,
    text_of_report,
)
from rexview.detect.findings import find_mentions
from rexview.schema import Case, Evidence, Flag
from rexview.vocab import FAILURES

NOT_YET: Final = 0
LOOKED_AT: Final = 1
NOT_JUDGED: Final = 2
"""States of an answer. The last: a detector raised on it, or a process died over it."""

LOOKED: Final = pl.Schema(
    {
        "number": pl.UInt32(),
        "state": pl.UInt8(),  # LOOKED_AT or NOT_JUDGED
        "judged": pl.UInt32(),  # bit n where the detector at position n can judge it
        "words": pl.UInt32(),
        "traits": pl.UInt8(),  # bits of rexview.detect.core.answer_traits
    }
)
"""Columns of what is known of the answers that were looked at, but for their flags."""
FLAGS: Final = pl.Schema(
    {
        "answer": pl.UInt32(),  # its number
        "failure": pl.Enum(list(FAILURES)),
        "kind": pl.Categorical(),
        "finding": pl.Categorical(),  # id in the lexicon of what the flag is about
    }
)
"""Columns of the flags that are in memory."""
TOLD_FLAGS: Final = pl.Schema(
    FLAGS | {"message": pl.String(), "evidence": pl.String()}  # evidence as JSON
)
"""Columns of flags with what is told of them."""
_BY_SIGNALS: Final = frozenset(
    ("finish_reason", "usage", "no_answer", "empty", "no_choice", "no_option")
)
_values: Final = attrgetter(*(field.name for field in fields(Evidence)))
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Looked:
    """What came of looking at some answers.

    Attributes
    ----------
    answers : polars.DataFrame
        Columns :data:`LOOKED`, each answer once.
    flags : polars.DataFrame
        Columns :data:`TOLD_FLAGS`, answers in the order of ``answers``.
    reports : array of int32
        Rows of the cases whose report was read for the finding index.
    phrases, texts, phrase_places
        What the texts mention, as in :class:`rexview.detect.core.finding_index.FindingIndex`.
    """

    answers: pl.DataFrame
    flags: pl.DataFrame
    reports: Places
    phrases: tuple[Phrase, ...]
    texts: Places
    phrase_places: Places

    @property
    def numbers(self) -> Numbers:
        """The answers' numbers."""
        return self.answers["number"].to_numpy()

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """Of each answer, :data:`LOOKED_AT` or :data:`NOT_JUDGED`."""
        return self.answers["state"].to_numpy()

    @property
    def judged(self) -> npt.NDArray[np.uint32]:
        """Of each answer, bit ``n`` where the detector at position ``n`` can judge it."""
        return self.answers["judged"].to_numpy()


def look(
    batch: Batch,
    detectors: Sequence[Detector],
    positions: Sequence[int] | None = None,
    *,
    index: bool = True,
) -> Looked:
    """Let the detectors at some positions, by default all, look at the answers of a batch.

    With ``index`` the texts are taken into the finding index, and the reports of all its cases.
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
            mentions(text_of_report(case_row), _of_report(case, case_row))
        for number, one in answers:
            found = _judge(number, one, detectors, positions)
            phrases = _of_answer(one, number) if index else ()
            traits = _traits_of(one, number)
            failed = found.failed or phrases is None or traits is None
            mentions(number, phrases or ())
            state = NOT_JUDGED if failed else LOOKED_AT
            looked.append((number, state, found.judged, *(traits or (0, 0))))
            flags += found.flags
    return Looked(
        pl.DataFrame(looked, LOOKED, orient="row"),
        pl.DataFrame(flags, TOLD_FLAGS, orient="row"),
        np.array(reports, dtype=np.int32),
        tuple(places),
        np.array(texts, dtype=np.int32),
        np.array(phrase_places, dtype=np.int32),
    )


def in_order(parts: Sequence[Looked]) -> Looked:
    """Join what was found of different answers, by number, without what the texts mention."""
    none = np.zeros(0, dtype=np.int32)
    answers, flags = (
        pl.concat([empty, *frames]).sort(number, maintain_order=True)
        for empty, frames, number in (
            (LOOKED.to_frame(), [part.answers for part in parts], "number"),
            (TOLD_FLAGS.to_frame(), [part.flags for part in parts], "answer"),
        )
    )
    return Looked(answers, flags, none, (), none, none)


def given_up(batch: Batch) -> Looked:
    """Return what is known of answers that processes died over: that they cannot be judged."""
    rows = [(number, NOT_JUDGED, 0, 0, 0) for number in batch.numbers.tolist()]
    answers = pl.DataFrame(rows, LOOKED, orient="row")
    return replace(in_order(()), answers=answers, reports=batch.cases["case_row"].to_numpy())


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
        return phrases_of_report(case)
    except Exception as error:
        _log.warning("The report of case row %d cannot be read: %s", case_row, _kind(error))
        return ()


def _of_answer(one: AnswerInCase, number: int) -> tuple[Phrase, ...] | None:
    try:
        return phrases_of_answer(one)
    except Exception as error:
        _tell("finding index", number, error)
        return None


def _traits_of(one: AnswerInCase, number: int) -> tuple[int, int] | None:
    try:
        return traits_of(one)
    except Exception as error:
        _tell("answer traits", number, error)
        return None


def _tell(what: str, number: int, error: Exception) -> None:
    """Log a fault without the error's own words, which may hold a patient's."""
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


def evidence_from(row: str) -> tuple[Evidence, ...]:
    """Read the evidence of a row of flags."""
    return tuple(
        Evidence(where, text, field, start, end, side, image, box and tuple(box))
        for where, text, field, start, end, side, image, box in json.loads(row)
    )


def flag_finding(flag: Flag) -> str | None:
    """Return the finding (id in the lexicon) that a detector's flag is about; None for none.

    None too for flags that the answer's signals raise: what its shown end names is chance. Else it
    is the first that its evidence names. Where one finding was taken for another it is the one
    that the report has: what was missed. Of a finding missed or invented whose evidence is a number
    or a place, it is the one that the message names.
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
