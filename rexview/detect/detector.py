"""What a detector is, and what it is given: one answer with all that it is judged by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar, runtime_checkable

import polars as pl

from rexview.schema import Answer, AnswerBox, Case, Evidence, Flag, Score
from rexview.stats import FinalScores, final_of_answer, status_of
from rexview.text.findings import Mention, asserted_mentions, report_mentions, report_text
from rexview.text.language import language_of

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class AnswerInCase:
    """One answer, its case, its scores, and all newest answers to the case.

    ``scores`` are those of this answer, in file order. What several detectors ask of it is worked
    out once.
    """

    case: Case
    answer: Answer
    scores: Sequence[Score] = ()
    answers: Sequence[Answer] = ()

    @property
    def text(self) -> str:
        """The answer's text, empty where it has none."""
        return self.answer.text or ""

    @cached_property
    def language(self) -> str | None:
        """The language of the text where the rules cannot read it; None for English."""
        return language_of(self.text)

    @cached_property
    def report_language(self) -> str | None:
        """The language of the report where the rules cannot read it; None for English."""
        return language_of(report_text(self.case))

    @property
    def sure_boxes(self) -> tuple[AnswerBox, ...]:
        """Its boxes, but for those of which it is not known how its model counts."""
        return tuple(box for box in self.answer.boxes if not box.unsure)

    @cached_property
    def came(self) -> bool:
        """Whether there is an answer: no token limit, error, refusal or empty output."""
        return status_of(self.answer) == "answered"

    @cached_property
    def final(self) -> FinalScores:
        """Its final scores; an answer that did not come in full has none."""
        return final_of_answer(self.scores if self.came else ())

    def once(self, ask: Callable[[AnswerInCase], _Found]) -> _Found:
        """Return what a function finds in this answer; it is asked the first time only."""
        known: dict[object, Any] = self.__dict__.setdefault("_asked", {})
        if ask not in known:
            known[ask] = ask(self)
        found: _Found = known[ask]
        return found

    @cached_property
    def mentions(self) -> Sequence[Mention]:
        """What the answer says of findings in its own words, on sides of the patient.

        Nothing where it is in another language than English.
        """
        return asserted_mentions(self.case, self.answer)

    @cached_property
    def report_mentions(self) -> Sequence[tuple[str, Mention]]:
        """What the report says of findings, each with the section that it stands in."""
        return report_mentions(self.case)


class Detector(Protocol):
    """Finds one kind of failure, deterministically, from what the review set carries.

    No detector reads an image file, nor other columns than those of
    :mod:`rexview.detect.scan.batch`; the other answers to the case only where scores matter to it.
    It is a frozen dataclass, whose fields are its settings; one that is a set holds ids of models.
    One that scores matter to is a :class:`ScoringDetector`.
    """

    @property
    def failure(self) -> str:
        """Id of the failure that it finds (:data:`rexview.vocab.FAILURES`)."""
        ...

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether the answer could show the failure: these answers are what rates are of.

        One that rests on a text in another language than English cannot be judged.
        """
        ...

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Return the flags on an answer that can be judged, with evidence."""
        ...


@dataclass(frozen=True)
class ScoreRule:
    """What a detector concludes from readers' scores, for all scored answers at once.

    The expressions are over the columns of :func:`rexview.detect.scan.scan.scored_answers`,
    so that no text is read again when scores change.

    Attributes
    ----------
    judged : polars.Expr
        Whether the scores let it judge the answer.
    flagged : polars.Expr
        Whether the scores make it flag the answer; counts only where ``judged`` holds.
    kind : str
        The kind of that flag. No other flag of the detector has it.
    """

    judged: pl.Expr
    flagged: pl.Expr
    kind: str = "scores"


@runtime_checkable
class ScoringDetector(Detector, Protocol):
    """A detector to which scores matter.

    Scores only add to what it finds: it judges and flags no less with scores than without. Its
    settings decide nothing about answers without scores. ``find`` and ``score_rule`` agree; a test
    compares both.
    """

    def score_rule(self) -> ScoreRule:
        """Return what it concludes from scores."""
        ...


def flag(
    detector: Detector, answer: Answer, kind: str, message: str, evidence: Sequence[Evidence]
) -> Flag:
    """Make a detector's flag on an answer."""
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
    """Point at the words of a text that mention a finding; ``section`` is the report's."""
    words = text[mention.start : mention.end]
    return Evidence(where, words, section, mention.start, mention.end, side=mention.side)
