"""What a reader scores, in which order, and how far they are.

Everything here follows from the review set, the study's seed and the reader's id, so that a reader
who comes back, on whatever machine, finds the same cases in the same order and the same answer
under the same letter. Orders come from hashes and not from a random generator: adding a case leaves
the order of the others as it was. The hash that gives letters is keyed with a secret of the reviews
database: who knows the ids and the seed cannot work out whose answer has which letter.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import polars as pl

from rexview.detect import box_request, models_with_boxes, models_without_boxes
from rexview.rubric import RubricDimension, load_rubric
from rexview.schema import Answer, Case, ReviewSet
from rexview.stats import status_of
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS, TEXT_DIMENSIONS

CaseState = Literal["open", "begun", "done", "skipped"]
BUILT_IN_RUBRIC: Final = "rexecution"
WITHOUT_BOXES: Final = "image_style"
"""What is scored of the picture where boxes were asked for and none came."""
ITEM: Final = ("case", "model", "dimension", "picture")
"""Columns that name one thing to be scored; ``picture`` counts from 0, null for none."""
_BETWEEN: Final = "\x1f"
"""Between the parts of a text that is hashed."""


@dataclass(frozen=True)
class Item:
    """One score to give on an answer; ``picture`` is the place in ``Answer.images``, or None."""

    dimension: str
    picture: int | None = None


@dataclass(frozen=True)
class Progress:
    """How far a reader is, in cases: ``done + skipped + remaining == total``."""

    done: int
    skipped: int
    total: int

    @property
    def remaining(self) -> int:
        """Cases that are neither scored in full nor skipped."""
        return self.total - self.done - self.skipped


def rubric_of(review_set: ReviewSet) -> dict[str, RubricDimension]:
    """Return the dimensions that this study scores, with their anchors, in the usual order.

    They are those of the set's rubric that a score can be given for, see
    :data:`rexview.vocab.DIMENSIONS`.
    """
    name = review_set.info.rubric
    path = None if name in ("", BUILT_IN_RUBRIC) else review_set.folder / name
    return _known_dimensions(path)


@cache
def _known_dimensions(path: Path | None) -> dict[str, RubricDimension]:
    rubric = load_rubric(path)
    return {name: rubric[name] for name in DIMENSIONS if name in rubric}


def items_of(
    answer: Answer, dimensions: Collection[str] = DIMENSIONS, *, lacks_boxes: bool = False
) -> tuple[Item, ...]:
    """Return what can be scored on an answer.

    Text is scored where there is text or a choice. Image Content and Image Style are scored once
    for each picture that the model returned, else once for its boxes, else not at all: but where
    boxes were asked for and none came (``lacks_boxes``, see :func:`boxes_expected`) Image Style is
    scored beside the text.
    """
    items: list[Item] = []
    has_text = bool((answer.text or "").strip()) or answer.choice is not None
    if has_text:
        items += [Item(name) for name in TEXT_DIMENSIONS if name in dimensions]
    shown = [name for name in IMAGE_DIMENSIONS if name in dimensions]
    if answer.images:
        items += [Item(name, place) for place in range(len(answer.images)) for name in shown]
    elif answer.boxes:
        items += [Item(name) for name in shown]
    elif has_text and lacks_boxes:
        items += [Item(name) for name in shown if name == WITHOUT_BOXES]
    return tuple(items)


def boxes_expected(review_set: ReviewSet, case: Case | None) -> frozenset[str]:
    """Return the models of whose answers to a case boxes were asked.

    By the question itself of all but those declared not to draw; by its ``question_boxes`` of those
    declared to draw.
    """
    if case is None:
        return frozenset()
    if box_request(case.question):
        return frozenset(review_set.model_names) - models_without_boxes(review_set.models)
    return models_with_boxes(review_set.models) if case.question_boxes else frozenset()


def needs_scores(answer: Answer) -> bool:
    """Whether a reader has to score the answer: one that never came in full needs no score."""
    return status_of(answer) == "answered"


def slots_of(case_id: str, models: Iterable[str], *, reader: str, key: bytes) -> dict[str, str]:
    """Give each model that answered its letter in one case for one reader: A first.

    ``key`` is the secret of the set: :meth:`rexview.store.Reviews.letter_key`. The order of the
    models does not matter.
    """
    shuffled = by_keyed_hash(models, key, "letters", reader, case_id)
    return {slot_name(place): model for place, model in enumerate(shuffled)}


def keyed_hash(key: bytes, *parts: str) -> str:
    """Return 64 hexadecimal digits that nobody can work out from the parts without the key."""
    return hmac.new(key, json.dumps(parts).encode(), hashlib.sha256).hexdigest()


def by_keyed_hash(names: Iterable[str], key: bytes, *about: str) -> list[str]:
    """Order names by a keyed hash of what it is about and the name."""
    return sorted(names, key=lambda name: keyed_hash(key, *about, name))


def slot_name(place: int) -> str:
    """Return the letter of a place counted from 0: A to Z, then AA, AB.

    >>> slot_name(0), slot_name(25), slot_name(26)
    ('A', 'Z', 'AA')
    """
    name = ""
    while place >= 0:
        name = chr(ord("A") + place % 26) + name
        place = place // 26 - 1
    return name


def reading_order(cases: Iterable[str], *, reader: str, seed: int) -> tuple[str, ...]:
    """Return the cases in this reader's own order, fixed by the seed."""
    return tuple(_by_hash(cases, seed, reader, "order"))


def case_states(
    required: pl.DataFrame, given: pl.DataFrame, skipped: Collection[str]
) -> dict[str, CaseState]:
    """Say how far a reader is with the cases that are not open any more.

    ``required`` is what :meth:`rexview.analysis.study.engine.StudyEngine.required` returns of the
    cases that the reader has scores of or skipped. ``given`` has the reader's own current scores
    (columns :data:`rexview.frames.SCORES`); rows without a score do not count. A ``skipped`` case
    that was scored in full after all is done.
    """
    own = given.filter(pl.col("score").is_not_null()).select(
        "case", "model", "dimension", pl.col("image").cast(pl.Int64).alias("picture")
    )
    met = required.join(own.unique(), on=list(ITEM), how="semi", nulls_equal=True)
    begun = dict(met.group_by("case").len().iter_rows())
    states: dict[str, CaseState] = {}
    for case, wanted in required.group_by("case").len().iter_rows():
        if begun.get(case) == wanted:
            states[case] = "done"
        elif case in skipped:
            states[case] = "skipped"
        elif case in begun:
            states[case] = "begun"
    return states


def progress_of(states: Mapping[str, CaseState], total: int) -> Progress:
    """Count the cases of :func:`case_states`, of so many on the worklist."""
    found = list(states.values())
    return Progress(found.count("done"), found.count("skipped"), total)


def share_of_cases(strata: Mapping[str, str], share: float, *, seed: int) -> tuple[str, ...]:
    """Draw a share of cases at random, each stratum giving its part: for the second reader.

    ``strata`` has the stratum of each case
    (:attr:`rexview.analysis.study.engine.StudyEngine.strata`), ``share`` is between 0 and 1. The
    number drawn is this part of all cases, rounded, half up; what rounding leaves over goes to the
    strata with the largest remainders. The same seed draws the same cases, in the order of
    ``strata``.
    """
    members: dict[str, list[str]] = {}
    for case, stratum in strata.items():
        members.setdefault(stratum, []).append(case)
    total = int(len(strata) * min(max(share, 0.0), 1.0) + 0.5)
    quota = {name: total * len(cases) / len(strata) for name, cases in members.items()}
    taken = {name: int(part) for name, part in quota.items()}
    rest = total - sum(taken.values())
    by_chance = {name: place for place, name in enumerate(_by_hash(quota, seed, "strata"))}
    largest = sorted(quota, key=lambda name: (taken[name] - quota[name], by_chance[name]))
    for name in largest[:rest]:
        taken[name] += 1
    drawn: set[str] = set()
    for name, cases in members.items():
        drawn.update(_by_hash(cases, seed, "second", name)[: taken[name]])
    return tuple(case for case in strata if case in drawn)


def _by_hash(names: Iterable[str], *about: str | int) -> list[str]:
    """Order names by a hash of what it is about and the name."""
    return sorted(names, key=lambda name: plain_hash(*about, name))


def plain_hash(*parts: str | int) -> str:
    """Return what puts things in an order that looks like chance and is the same everywhere."""
    return hashlib.sha256(_BETWEEN.join(map(str, parts)).encode()).hexdigest()


def hashed_with(*about: str | int) -> str:
    """Return what stands before the last part in the text that :func:`plain_hash` hashes."""
    return _BETWEEN.join((*map(str, about), ""))
