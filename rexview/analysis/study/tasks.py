"""What a reader can do besides scoring: answer questions, correct reports, compare two of them.

Each task has a worklist of its own. What is corrected or compared is one of several things of a
case, so their worklists are of *items*: the place of the thing in its case, from 1, and the case.
Which report or pair that is, is worked out from a hash that is keyed as for letters
(:func:`rexview.analysis.study.worklist.keyed_hash`), so that no order tells a model.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Final, Literal

from rexview.analysis.study.worklist import by_keyed_hash, keyed_hash, needs_scores
from rexview.schema import Answer, ReviewSet
from rexview.words import tr

Task = Literal["score", "answer", "correct", "compare"]
TASKS: Final[dict[Task, str]] = {
    "score": tr("Score answers"),
    "answer": tr("Answer questions"),
    "correct": tr("Correct reports"),
    "compare": tr("Compare reports"),
}
OF_SEVERAL: Final = frozenset[Task](("correct", "compare"))
"""Tasks whose worklists are of items: of several things of a case."""

_PLACE: Final = re.compile("[1-9][0-9]{0,4}")  # each written in one way, so that no item is two


def item_of(place: int, case: str) -> str:
    """Name the thing at a place of a case, from 1.

    >>> item_of(2, "r 7"), place_and_case("2 r 7")
    ('2 r 7', (2, 'r 7'))
    """
    return f"{place} {case}"


def place_and_case(item: str) -> tuple[int, str]:
    """Return the place, 0 if it is none, and the case of an item."""
    place, _, case = item.partition(" ")
    return (int(place) if _PLACE.fullmatch(place) else 0), case


def case_of_item(task: Task, item: str) -> str:
    """Return the case of what is on a task's worklist: there it is an item, or the case itself."""
    return place_and_case(item)[1] if task in OF_SEVERAL else item


def models_of_people(review_set: ReviewSet) -> frozenset[str]:
    """Return the models that stand for readers: their answers are no model's."""
    return frozenset(model.id for model in review_set.models if model.kind == "reader")


def reports_of(review_set: ReviewSet, case: str) -> dict[str, Answer]:
    """Return the reports of a case that readers correct and compare, by model: whole ones."""
    people = models_of_people(review_set)
    return {
        answer.model: answer
        for answer in review_set.answers_of(case)
        if answer.model not in people and needs_scores(answer) and (answer.text or "").strip()
    }


def report_order(models: list[str], *, case: str, reader: str, key: bytes) -> list[str]:
    """Return the models of a case in the order in which one reader corrects their reports."""
    return by_keyed_hash(models, key, "reports", reader, case)


def pair_order(models: list[str], *, case: str, reader: str, key: bytes) -> list[tuple[str, str]]:
    """Return every pair of models in the order in which one reader compares their reports.

    The first of each stands on the left.
    """
    pairs = [
        tuple(by_keyed_hash(pair, key, "sides", reader, case, *pair))
        for pair in combinations(sorted(models), 2)
    ]
    return sorted(
        ((left, right) for left, right in pairs),
        key=lambda pair: keyed_hash(key, "pairs", reader, case, *sorted(pair)),
    )
