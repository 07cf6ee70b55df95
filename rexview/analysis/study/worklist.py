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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal
from weakref import WeakKeyDictionary

import polars as pl

from rexview.detect import box_request, cases_asking_for_boxes, models_without_boxes
from rexview.rubric import RubricDimension, load_rubric
from rexview.schema import Answer, Case, ReviewSet
from rexview.stats import answer_status, status_of
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS, TEXT_DIMENSIONS

CaseState = Literal["open", "begun", "done", "skipped"]
BUILT_IN_RUBRIC: Final = "rexecution"
_WITHOUT_BOXES: Final = "image_style"
"""What is scored of the picture where boxes were asked for and none came."""
ITEM: Final = ("case", "model", "dimension", "picture")
"""Columns that name one thing to be scored; ``picture`` counts from 0, null for none."""


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
        items += [Item(name) for name in shown if name == _WITHOUT_BOXES]
    return tuple(items)


def boxes_expected(review_set: ReviewSet, case: Case | None) -> frozenset[str]:
    """Return the models of whose answers to a case boxes were asked: those that can draw."""
    if case is None or box_request(case.question) is None:
        return frozenset()
    return frozenset(review_set.model_names) - models_without_boxes(review_set.models)


def needs_scores(answer: Answer) -> bool:
    """Whether a reader has to score the answer: one that never came in full needs no score."""
    return status_of(answer) == "answered"


_REQUIRED: Final[WeakKeyDictionary[ReviewSet, pl.DataFrame]] = WeakKeyDictionary()


def required_scores(review_set: ReviewSet) -> pl.DataFrame:
    """Return everything that one reader has to score in a review set, worked out once.

    Columns :data:`ITEM`: the items that :func:`items_of` gives for the newest answers that came in
    full, of choice questions only where the study's rules say so. In the order of the answers.
    """
    if review_set not in _REQUIRED:
        _REQUIRED[review_set] = _required(review_set, tuple(rubric_of(review_set)))
    return _REQUIRED[review_set]


def _required(review_set: ReviewSet, dimensions: Sequence[str]) -> pl.DataFrame:
    came = review_set.answers.filter("_newest").filter(answer_status() == "answered")
    if not review_set.info.protocol.choice_cases:
        choices = review_set.cases.filter(pl.col("question_type") == "choice").select(case="id")
        came = came.join(choices, on="case", how="anti", maintain_order="left")
    pictures = pl.col("images").list.len().fill_null(0).cast(pl.Int64)
    boxes = pl.col("boxes").list.len().fill_null(0)
    has_text = pl.col("text").fill_null("").str.contains(r"\S") | pl.col("choice").is_not_null()
    counted = came.select(
        "case", "model", has_text.alias("_text"), pictures.alias("_n"), (boxes > 0).alias("_boxes")
    ).with_row_index("_answer")
    none = pl.lit(None, dtype=pl.Int64).alias("picture")
    texts = _each(counted.filter("_text"), TEXT_DIMENSIONS, dimensions, none)
    numbered = counted.filter(pl.col("_n") > 0).with_columns(
        pl.int_ranges(pl.col("_n")).alias("picture")
    )
    numbered = numbered.explode("picture", empty_as_null=False, keep_nulls=False)
    shown = _each(numbered, IMAGE_DIMENSIONS, dimensions, pl.col("picture"))
    drawn = counted.filter((pl.col("_n") == 0) & pl.col("_boxes"))
    boxed = _each(drawn, IMAGE_DIMENSIONS, dimensions, none)
    undrawn = counted.filter((pl.col("_n") == 0) & ~pl.col("_boxes") & pl.col("_text")).filter(
        ~pl.col("model").is_in(list(models_without_boxes(review_set.models)))
    )
    asked = undrawn.join(cases_asking_for_boxes(review_set), on="case", how="semi")
    lacking = _each(asked, [_WITHOUT_BOXES], dimensions, none)
    return (
        pl.concat([texts, shown, boxed, lacking]).sort("_answer", maintain_order=True).select(ITEM)
    )


def _each(
    answers: pl.DataFrame, names: Iterable[str], known: Collection[str], picture: pl.Expr
) -> pl.DataFrame:
    wanted = pl.DataFrame({"dimension": [name for name in names if name in known]})
    wanted = wanted.cast({"dimension": pl.String})
    return answers.join(wanted, how="cross").select(
        "_answer", "case", "model", "dimension", picture
    )


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


def worklist_cases(
    review_set: ReviewSet, assigned: Collection[str] | None, *, reader: str
) -> tuple[str, ...]:
    """Return a reader's worklist: the cases with something to score, in their own order.

    ``assigned`` holds the ids of the cases assigned to the reader; None means that nobody has been
    assigned anything, and that every case is theirs.
    """
    scorable = required_scores(review_set)["case"].unique(maintain_order=True).to_list()
    wanted = None if assigned is None else set(assigned)
    cases = [case for case in scorable if wanted is None or case in wanted]
    seed = review_set.info.protocol.seed
    return reading_order(cases, reader=reader, seed=seed)


def case_states(
    worklist: Sequence[str],
    required: pl.DataFrame,
    given: pl.DataFrame,
    skipped: Collection[str],
) -> dict[str, CaseState]:
    """Say of every case of a worklist how far the reader is with it.

    ``required`` is as :func:`required_scores` returns it. ``given`` has the reader's own current
    scores (columns :data:`rexview.frames.SCORES`); rows without a score do not count. A ``skipped``
    case that was scored in full after all is done.
    """
    own = given.filter(pl.col("score").is_not_null()).select(
        "case", "model", "dimension", pl.col("image").cast(pl.Int64).alias("picture")
    )
    met = required.join(own.unique(), on=list(ITEM), how="semi", nulls_equal=True)
    begun = dict(met.group_by("case").len().iter_rows())
    few = required.filter(pl.col("case").is_in(list(begun))) if begun else required.clear()
    wanted = dict(few.group_by("case").len().iter_rows())
    left_out = set(skipped)
    states: dict[str, CaseState] = {}
    for case in worklist:
        if begun.get(case) and begun[case] == wanted[case]:
            states[case] = "done"
        elif case in left_out:
            states[case] = "skipped"
        else:
            states[case] = "begun" if begun.get(case) else "open"
    return states


def progress_of(states: Mapping[str, CaseState]) -> Progress:
    """Count the cases of :func:`case_states`."""
    found = list(states.values())
    return Progress(found.count("done"), found.count("skipped"), len(found))


def resume_at(
    worklist: Sequence[str], states: Mapping[str, CaseState], last: str | None = None
) -> str | None:
    """Return the case to go on with; None when every case is scored or skipped.

    It is the case last worked on if that is not finished, else the first unfinished one after it,
    else the first unfinished one of all.
    """
    start = worklist.index(last) if last in states else 0
    for case in (*worklist[start:], *worklist[:start]):
        if states[case] in ("open", "begun"):
            return case
    return None


def share_of_cases(strata: Mapping[str, str], share: float, *, seed: int) -> tuple[str, ...]:
    """Draw a share of cases at random, each stratum giving its part: for the second reader.

    ``strata`` has the stratum of each case (:func:`strata_of`), ``share`` is between 0 and 1. The
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


def strata_of(review_set: ReviewSet, cases: Iterable[str]) -> dict[str, str]:
    """Return the stratum of each case: kind of question, category, normal or not where known."""
    normal = pl.col("normal").cast(pl.String).fill_null("")
    frame = review_set.cases.select("id", "question_type", pl.col("category").fill_null(""), normal)
    known = {case: "/".join(words) for case, *words in frame.iter_rows()}
    return {case: known[case] for case in cases if case in known}


def _by_hash(names: Iterable[str], *about: str | int) -> list[str]:
    """Order names by a hash of what it is about and the name."""
    return sorted(names, key=lambda name: plain_hash(*about, name))


def plain_hash(*parts: str | int) -> str:
    """Return what puts things in an order that looks like chance and is the same everywhere."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()
