"""Define detectors and their input: one answer with everything needed to judge it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar, runtime_checkable

import polars as pl

from rexview.schema import Answer, AnswerBox, Case, Evidence, Flag, Score
from rexview.stats import FinalScores, compute_answer_finals, find_status
from rexview.text.findings import Mention, asserted_mentions, report_mentions, report_text
from rexview.text.language import detect_language

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class AnswerInCase:
    """One answer, its case, its scores, and all newest answers to the case.

    ``scores`` are those of this answer, in file order. Values that several detectors use are
    computed once.
    """

    case: Case
    answer: Answer
    scores: Sequence[Score] = ()
    answers: Sequence[Answer] = ()

    @property
    def text(self) -> str:
        """Text of the answer, empty if it has none."""
        return self.answer.text or ""

    @cached_property
    def language(self) -> str | None:
        """Language of the text if the rules cannot read it; None for English."""
        return detect_language(self.text)

    @cached_property
    def report_language(self) -> str | None:
        """Language of the report if the rules cannot read it; None for English."""
        return detect_language(report_text(self.case))

    @property
    def sure_boxes(self) -> tuple[AnswerBox, ...]:
        """Boxes of the answer, except those in an unknown coordinate convention of its model."""
        return tuple(box for box in self.answer.boxes if not box.unsure)

    @cached_property
    def came(self) -> bool:
        """True if the answer has content: no token limit, error, refusal or empty output."""
        return find_status(self.answer) == "answered"

    @cached_property
    def final(self) -> FinalScores:
        """Final scores of the answer; an answer that did not arrive in full has none."""
        return compute_answer_finals(self.scores if self.came else ())

    def once(self, ask: Callable[[AnswerInCase], _Found]) -> _Found:
        """Return the result of a function for this answer; it is called only the first time."""
        known: dict[object, Any] = self.__dict__.setdefault("_asked", {})
        if ask not in known:
            known[ask] = ask(self)
        found: _Found = known[ask]
        return found

    @cached_property
    def mentions(self) -> Sequence[Mention]:
        """The answer's own mentions of findings, with sides of the patient.

        Empty if its language is not English.
        """
        return asserted_mentions(self.case, self.answer)

    @cached_property
    def report_mentions(self) -> Sequence[tuple[str, Mention]]:
        """The report's mentions of findings, each with its section."""
        return report_mentions(self.case)


class Detector(Protocol):
    """Finds one kind of failure, deterministically, from the data in the review set.

    No detector reads an image file, or other columns than those of
    :mod:`rexview.detect.scan.batch`. It reads the other answers to the case only if it uses scores.
    A detector is a frozen dataclass whose fields are its settings; a setting that is a set contains
    ids of models. A detector that uses scores is a :class:`ScoringDetector`.
    """

    @property
    def failure(self) -> str:
        """Id of the failure that it finds (:data:`rexview.vocab.FAILURES`)."""
        ...

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if the answer could show the failure; these answers are the denominator of rates.

        A judgement that depends on a text in another language than English is not possible.
        """
        ...

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Return the flags on an answer that can be judged, with evidence."""
        ...


@dataclass(frozen=True)
class ScoreRule:
    """Conclusion that a detector draws from readers' scores, for all scored answers at once.

    The expressions use the columns of :func:`rexview.detect.scan.scan.scored_answers`, so no text
    is read again when scores change.

    Attributes
    ----------
    judged : polars.Expr
        True if the scores let the detector judge the answer.
    flagged : polars.Expr
        True if the scores make the detector flag the answer; used only where ``judged`` is true.
    kind : str
        The kind of that flag. No other flag of the detector has it.
    """

    judged: pl.Expr
    flagged: pl.Expr
    kind: str = "scores"


@runtime_checkable
class ScoringDetector(Detector, Protocol):
    """A detector that uses scores.

    Scores only add flags and judgements; they remove none. Its settings have no effect on answers
    without scores. ``find`` and ``score_rule`` must agree; a test compares both.
    """

    def score_rule(self) -> ScoreRule:
        """Return the conclusion that it draws from scores."""
        ...


def make_flag(
    detector: Detector, answer: Answer, kind: str, message: str, evidence: Sequence[Evidence]
) -> Flag:
    """Return a detector's flag on an answer."""
    return Flag(
        case=answer.case,
        model=answer.model,
        failure=detector.failure,
        source="detector",
        message=message,
        kind=kind,
        evidence=tuple(evidence),
    )


def mention_evidence(
    where: str, text: str, mention: Mention, section: str | None = None
) -> Evidence:
    """Return evidence for a mention in a text; ``section`` is that of a report."""
    words = text[mention.start : mention.end]
    return Evidence(where, words, section, mention.start, mention.end, side=mention.side)
