"""Answers to adjudicate: those on which readers are far apart, worst first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rexview.analysis.engine import Engine
from rexview.analysis.filter.case_filter import CaseFilter, Range
from rexview.analysis.filter.linked_count import Count, refined
from rexview.analysis.readers.records import DisputedAnswer
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS
from rexview.words import tr

if TYPE_CHECKING:
    import pandas as pd

_NEARLY = 1e-9


@dataclass(frozen=True)
class Dispute:
    """One dimension of an answer on which readers are apart.

    ``scores`` has each reader's score by reader id (the mean over pictures if there are several);
    ``comments`` are pairs of reader id and what was written beside the score.
    """

    dimension: str
    apart: float
    scores: Mapping[str, float]
    comments: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Name of the dimension on screen."""
        return DIMENSION_NAMES[self.dimension]


@dataclass(frozen=True)
class ToAdjudicate:
    """One answer with its disputes, the furthest apart first; ``apart`` is the largest."""

    case: str
    model: str
    question: str
    apart: float
    disputes: tuple[Dispute, ...]


@dataclass(frozen=True, eq=False)
class Adjudication:
    """The answers to adjudicate for one filter and threshold.

    ``answers`` counts them and opens them in Browse, in ``cases`` cases; ``opens`` of it is also
    the filter within which the Case page walks them.
    """

    threshold: float
    answers: Count
    cases: int
    _engine: Engine

    def part(self, start: int, size: int) -> list[ToAdjudicate]:
        """Return some of the answers, worst first: a page of a long list."""
        if not self.answers.value:
            return []
        return [
            ToAdjudicate(
                answer.case,
                answer.model,
                answer.question,
                answer.apart,
                _disputes(answer, self.threshold),
            )
            for answer in self._engine.disputed(self.answers.opens, start, size)
        ]

    def frame(self, readers: Mapping[str, str]) -> pd.DataFrame:
        """Return the whole list as a table: one row for each answer and disputed dimension.

        Parameters
        ----------
        readers : mapping of str to str
            Name on screen by reader id, no two alike: two columns each, score and comment.
        """
        import pandas as pd  # takes a third of a second: all pages import this module

        columns = [tr("Case"), tr("Model"), tr("Question"), tr("Dimension"), tr("Points apart")]
        columns += [
            f"{word}: {name}" for name in readers.values() for word in (tr("Score"), tr("Comment"))
        ]
        rows = []
        for answer in self.part(0, self.answers.value):
            model = self._engine.facts.models.get(answer.model, answer.model)
            for dispute in answer.disputes:
                row: list[object] = [answer.case, model, answer.question, dispute.name]
                row.append(dispute.apart)
                for reader in readers:
                    comments = [text for writer, text in dispute.comments if writer == reader]
                    row += [dispute.scores.get(reader), " | ".join(comments)]
                rows.append(row)
        return pd.DataFrame(rows, columns=columns)


def adjudication(engine: Engine, case_filter: CaseFilter, threshold: float) -> Adjudication:
    """Find the answers that a filter leaves on which two readers are ``threshold`` or more apart.

    ``threshold`` is in points on one dimension, above 0.
    """
    limits = refined(case_filter, disagreement=Range(threshold, None))
    if limits is None:  # the filter asks for answers that are closer than that
        none = replace(case_filter, disagreement=Range(threshold, None))
        return Adjudication(threshold, Count(0, none), 0, engine)
    limits = replace(limits, sort="disagreement")
    tally = engine.tally(limits)
    return Adjudication(threshold, Count(tally.answers, limits), tally.cases, engine)


def _disputes(answer: DisputedAnswer, threshold: float) -> tuple[Dispute, ...]:
    """Gather the dimensions on which the readers of one answer are apart."""
    found = []
    for dimension in DIMENSIONS:
        by_reader: dict[str, list[int]] = {}
        scores = [score for score in answer.scores if score.dimension == dimension]
        for score in scores:
            by_reader.setdefault(score.reader, []).append(score.score)
        means = {reader: sum(values) / len(values) for reader, values in by_reader.items()}
        apart = max(means.values(), default=0.0) - min(means.values(), default=0.0)
        if len(means) > 1 and apart >= threshold - _NEARLY:
            comments = tuple(
                (score.reader, text) for score in scores if (text := score.comment.strip())
            )
            found.append(Dispute(dimension, round(apart, 9), means, comments))
    return tuple(sorted(found, key=lambda dispute: -dispute.apart))
