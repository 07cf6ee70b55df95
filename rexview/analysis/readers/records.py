"""What readers gave, as an engine tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ReaderScore:
    """One reader's score of one dimension of an answer, with the comment beside it."""

    reader: str
    dimension: str
    score: int
    comment: str


@dataclass(frozen=True)
class DisputedAnswer:
    """An answer whose readers are ``apart`` points apart, with all scores that they gave."""

    case: str
    model: str
    question: str
    apart: float
    scores: tuple[ReaderScore, ...]


@dataclass(frozen=True)
class PairCases:
    """Cases with something that two readers both scored on one dimension.

    In ``same``, ``close`` and ``apart`` of them they gave any answer (picture) the same score,
    scores at most one point apart, and different ones. ``by_scores`` counts the cases by the score
    of each; a case may count several times.
    """

    shared: int
    same: int
    close: int
    apart: int
    by_scores: Mapping[tuple[int, int], int]
