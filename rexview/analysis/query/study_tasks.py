"""Readers' tasks and worklists: what each reader scores, in which order, and their progress."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Final, Literal, Protocol

import numpy as np
import polars as pl

from rexview.analysis.query.engine import Position
from rexview.detect import box_request, models_with_boxes, models_without_boxes
from rexview.rubric import RubricDimension, load_rubric
from rexview.schema import Answer, Case, ReviewSet
from rexview.stats import find_status
from rexview.stats.multiple_choice import measure_choice_kappa
from rexview.store import Assignment
from rexview.vocab import DIMENSIONS, IMAGE_DIMENSIONS, TEXT_DIMENSIONS
from rexview.words import tr

CaseState = Literal["open", "begun", "done", "skipped"]
BUILT_IN_RUBRIC: Final = "rexecution"
DIMENSION_WITHOUT_BOXES: Final = "image_style"
"""The dimension of the picture that is scored when boxes were requested and none came."""
SCORE_ITEM_COLUMNS: Final = ("case", "model", "dimension", "picture")
"""Columns that identify one score to give; ``picture`` counts from 0, null for none."""
_HASH_SEPARATOR: Final = "\x1f"
"""Separates the parts of a text that is hashed."""


@dataclass(frozen=True)
class ScoreItem:
    """One score to give on an answer; ``picture`` is the index in ``Answer.images``, or None."""

    dimension: str
    picture: int | None = None


@dataclass(frozen=True)
class WorklistProgress:
    """A reader's progress in cases: ``done + skipped + remaining == total``."""

    done: int
    skipped: int
    total: int

    @property
    def remaining(self) -> int:
        """Cases that are neither scored in full nor skipped."""
        return self.total - self.done - self.skipped


def read_study_rubric(review_set: ReviewSet) -> dict[str, RubricDimension]:
    """Return the dimensions that this study scores, with their anchors, in the usual order.

    These are the dimensions of the set's rubric that take a score, see
    :data:`rexview.vocab.DIMENSIONS`.
    """
    name = review_set.info.rubric
    path = None if name in ("", BUILT_IN_RUBRIC) else review_set.folder / name
    return _known_dimensions(path)


@cache
def _known_dimensions(path: Path | None) -> dict[str, RubricDimension]:
    rubric = load_rubric(path)
    return {name: rubric[name] for name in DIMENSIONS if name in rubric}


def list_score_items(
    answer: Answer, dimensions: Collection[str] = DIMENSIONS, *, lacks_boxes: bool = False
) -> tuple[ScoreItem, ...]:
    """Return the scores that can be given on an answer.

    The text dimensions are scored if there is text or a choice. Image Content and Image Style are
    scored once for each picture that the model returned, else once for its boxes. With neither,
    Image Style is scored with the text if boxes were requested (``lacks_boxes``, see
    :func:`find_models_expected_to_draw`).
    """
    items: list[ScoreItem] = []
    has_text = bool((answer.text or "").strip()) or answer.choice is not None
    if has_text:
        items += [ScoreItem(name) for name in TEXT_DIMENSIONS if name in dimensions]
    shown = [name for name in IMAGE_DIMENSIONS if name in dimensions]
    if answer.images:
        items += [ScoreItem(name, place) for place in range(len(answer.images)) for name in shown]
    elif answer.boxes:
        items += [ScoreItem(name) for name in shown]
    elif has_text and lacks_boxes:
        items += [ScoreItem(name) for name in shown if name == DIMENSION_WITHOUT_BOXES]
    return tuple(items)


def find_models_expected_to_draw(review_set: ReviewSet, case: Case | None) -> frozenset[str]:
    """Return the models whose answers to a case should have boxes.

    If the question itself requests boxes: all models but those declared not to draw. If the case
    has ``question_boxes``: the models declared to draw.
    """
    if case is None:
        return frozenset()
    if box_request(case.question):
        return frozenset(review_set.model_names) - models_without_boxes(review_set.models)
    return models_with_boxes(review_set.models) if case.question_boxes else frozenset()


def needs_scores(answer: Answer) -> bool:
    """True if a reader has to score the answer; a missing or incomplete one needs no score."""
    return find_status(answer) == "answered"


def assign_slots(case_id: str, models: Iterable[str], *, reader: str, key: bytes) -> dict[str, str]:
    """Return the models of a case by the letter that one reader sees, A first.

    ``key`` is the set's secret: :meth:`rexview.store.Reviews.letter_key`. The order of the models
    does not matter.
    """
    shuffled = sort_by_keyed_hash(models, key, "letters", reader, case_id)
    return {format_slot(place): model for place, model in enumerate(shuffled)}


def keyed_hash(key: bytes, *parts: str) -> str:
    """Return 64 hexadecimal digits that cannot be computed from the parts without the key."""
    return hmac.new(key, json.dumps(parts).encode(), hashlib.sha256).hexdigest()


def sort_by_keyed_hash(names: Iterable[str], key: bytes, *about: str) -> list[str]:
    """Sort names by a keyed hash of the ``about`` parts and the name."""
    return sorted(names, key=lambda name: keyed_hash(key, *about, name))


def format_slot(place: int) -> str:
    """Return the letter of an index counted from 0: A to Z, then AA, AB.

    >>> format_slot(0), format_slot(25), format_slot(26)
    ('A', 'Z', 'AA')
    """
    name = ""
    while place >= 0:
        name = chr(ord("A") + place % 26) + name
        place = place // 26 - 1
    return name


def order_cases(cases: Iterable[str], *, reader: str, seed: int) -> tuple[str, ...]:
    """Return the cases in this reader's own order, fixed by the seed."""
    return tuple(_sort_by_hash(cases, seed, reader, "order"))


def find_case_states(
    required: pl.DataFrame, given: pl.DataFrame, skipped: Collection[str]
) -> dict[str, CaseState]:
    """Return a reader's state (done, skipped or begun) for each case with scores or skipped.

    ``required`` is what :meth:`.required` returns for the
    cases that the reader scored or skipped. ``given`` has the reader's own current scores
    (columns :data:`rexview.frames.SCORES`); rows without a score do not count. A ``skipped`` case
    that was later scored in full is done.
    """
    own = given.filter(pl.col("score").is_not_null()).select(
        "case", "model", "dimension", pl.col("image").cast(pl.Int64).alias("picture")
    )
    met = required.join(own.unique(), on=list(SCORE_ITEM_COLUMNS), how="semi", nulls_equal=True)
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


def count_progress(states: Mapping[str, CaseState], total: int) -> WorklistProgress:
    """Count the states of :func:`find_case_states`; ``total`` cases are on the worklist."""
    found = list(states.values())
    return WorklistProgress(found.count("done"), found.count("skipped"), total)


def draw_second_reader_cases(
    strata: Mapping[str, str], share: float, *, seed: int
) -> tuple[str, ...]:
    """Draw a stratified random share of the cases, for the second reader.

    ``strata`` has the stratum of each case
    (:attr:`.strata`), ``share`` is between 0 and 1. The
    number drawn is this share of all cases, rounded half up. Each stratum gives its part; cases
    left over by rounding come from the strata with the largest remainders. The same seed draws the
    same cases, in the order of ``strata``.
    """
    members: dict[str, list[str]] = {}
    for case, stratum in strata.items():
        members.setdefault(stratum, []).append(case)
    total = int(len(strata) * min(max(share, 0.0), 1.0) + 0.5)
    quota = {name: total * len(cases) / len(strata) for name, cases in members.items()}
    taken = {name: int(part) for name, part in quota.items()}
    rest = total - sum(taken.values())
    by_chance = {name: place for place, name in enumerate(_sort_by_hash(quota, seed, "strata"))}
    largest = sorted(quota, key=lambda name: (taken[name] - quota[name], by_chance[name]))
    for name in largest[:rest]:
        taken[name] += 1
    drawn: set[str] = set()
    for name, cases in members.items():
        drawn.update(_sort_by_hash(cases, seed, "second", name)[: taken[name]])
    return tuple(case for case in strata if case in drawn)


def _sort_by_hash(names: Iterable[str], *about: str | int) -> list[str]:
    """Sort names by a hash of the ``about`` parts and the name."""
    return sorted(names, key=lambda name: plain_hash(*about, name))


def plain_hash(*parts: str | int) -> str:
    """Return a hash for an order that looks random and is the same on every machine."""
    return hashlib.sha256(_HASH_SEPARATOR.join(map(str, parts)).encode()).hexdigest()


def hash_prefix(*about: str | int) -> str:
    """Return the text that :func:`plain_hash` hashes before its last part."""
    return _HASH_SEPARATOR.join((*map(str, about), ""))


# Tasks besides scoring: answer questions, correct reports, compare two reports.
#
# Each task has a worklist of its own. A case has several reports and pairs to correct or compare,
# so these worklists hold *items*: a place in the case, from 1, and the case. The report or pair at
# a place follows from a hash that is keyed like the letters
# (:func:`rexview.analysis.query.study_tasks.keyed_hash`), so that no order reveals a model.

Task = Literal["score", "answer", "correct", "compare"]
TASKS: Final[dict[Task, str]] = {
    "score": tr("Score answers"),
    "answer": tr("Answer questions"),
    "correct": tr("Correct reports"),
    "compare": tr("Compare reports"),
}
ITEM_TASKS: Final = frozenset[Task](("correct", "compare"))
"""Tasks whose worklists hold items, several a case."""

_PLACE_PATTERN: Final = re.compile(
    "[1-9][0-9]{0,4}"
)  # no leading zero: each place has one spelling


def make_item_id(place: int, case: str) -> str:
    """Return the id of the item at a place of a case, from 1.

    >>> make_item_id(2, "r 7"), parse_item_id("2 r 7")
    ('2 r 7', (2, 'r 7'))
    """
    return f"{place} {case}"


def parse_item_id(item: str) -> tuple[int, str]:
    """Return the place and the case of an item; the place is 0 if it is not valid."""
    place, _, case = item.partition(" ")
    return (int(place) if _PLACE_PATTERN.fullmatch(place) else 0), case


def find_item_case(task: Task, item: str) -> str:
    """Return the case of an entry on a task's worklist, which is an item or the case itself."""
    return parse_item_id(item)[1] if task in ITEM_TASKS else item


def find_reader_models(review_set: ReviewSet) -> frozenset[str]:
    """Return the models that represent readers: their answers are people's."""
    return frozenset(model.id for model in review_set.models if model.kind == "reader")


def find_reports(review_set: ReviewSet, case: str) -> dict[str, Answer]:
    """Return the complete reports of a case by model, which readers correct and compare."""
    people = find_reader_models(review_set)
    return {
        answer.model: answer
        for answer in review_set.answers_of(case)
        if answer.model not in people and needs_scores(answer) and (answer.text or "").strip()
    }


def order_reports(models: list[str], *, case: str, reader: str, key: bytes) -> list[str]:
    """Return the models of a case in the order in which one reader corrects their reports."""
    return sort_by_keyed_hash(models, key, "reports", reader, case)


def order_report_pairs(
    models: list[str], *, case: str, reader: str, key: bytes
) -> list[tuple[str, str]]:
    """Return every pair of models in the order in which one reader compares their reports.

    The first report of each pair is shown on the left.
    """
    pairs = [
        tuple(sort_by_keyed_hash(pair, key, "sides", reader, case, *pair))
        for pair in combinations(sorted(models), 2)
    ]
    return sorted(
        ((left, right) for left, right in pairs),
        key=lambda pair: keyed_hash(key, "pairs", reader, case, *sorted(pair)),
    )


# The study engine: which cases are scored, and each reader's order.
#
# Scoring does not wait for detectors, so this engine is separate from
# :mod:`rexview.analysis.query.engine`. The same rule applies: code above it lists no cases.
# :mod:`rexview.analysis.query.memory.study_engine` keeps everything in memory.


class Worklist(Protocol):
    """The cases that one reader has to score, in the reader's own order."""

    def __len__(self) -> int:
        """Number of cases."""

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return up to ``size`` case ids from index ``start`` on."""

    def position(self, case: str) -> Position:
        """Return the position of a case, and its neighbours."""

    def in_order(self, cases: Iterable[str]) -> tuple[str, ...]:
        """Return the given cases that are on the list, each once, in its order."""

    def next_open(self, closed: Collection[str], last: str | None = None) -> str | None:
        """Return the case to continue with; None when all cases are ``closed``.

        This is the ``last`` case worked on if it is open, else the next open case after it, else
        the first open case of all.
        """


class StudyEngine(Protocol):
    """The queries of a study. A case is to be scored when one of its answers is."""

    def worklist(self, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return the cases that a reader has to score.

        ``assigned`` has the cases assigned to the reader. None means that the study has no
        assignments and every reader has every case.
        """

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks that the cases of the set offer to readers."""

    def task_list(self, task: Task, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return a reader's worklist for a task: cases, or items of reports and pairs.

        The reports of a case follow each other. The pairs come in rounds: the second pair of a case
        comes after every case's first. ``assigned`` is as for :meth:`worklist`.
        """

    def of_task(self, task: Task, cases: Collection[str]) -> Mapping[str, int]:
        """Return the number of a task's entries for each of the given cases that has any."""

    def chosen(self, cases: Collection[str]) -> pl.DataFrame:
        """Return ``case``, ``model`` and ``choice`` of the models' newest answers to some cases."""

    @property
    def n_scorable(self) -> int:
        """Number of cases to be scored."""

    def scorable(self, cases: Collection[str]) -> frozenset[str]:
        """Return the given cases that are to be scored."""

    def required(self, cases: Collection[str]) -> pl.DataFrame:
        """Return every score that one reader has to give in some cases.

        Columns :data:`rexview.analysis.query.study_tasks.SCORE_ITEM_COLUMNS`: the items that
        :func:`.list_score_items` returns for the newest complete answers.
        Choice questions are included only where the study's rules require it.
        """

    @property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each case to be scored: question type, category, normal or not.

        Only this query returns all cases: assigning them writes an entry for each anyway.
        """


# Progress of each reader of a study: counts of cases, never scores.


@dataclass(frozen=True)
class ReaderProgress:
    """One reader's progress, and their numbers of cases as first and as second reader.

    ``begun`` counts cases with some scores but not all; ``progress`` counts them as remaining.
    """

    reader: str
    first: int
    second: int
    progress: WorklistProgress
    begun: int


def count_readers_progress(
    engine: StudyEngine,
    assignments: Sequence[Assignment],
    written: pl.DataFrame,
    skipped: Mapping[str, Collection[str]],
) -> tuple[ReaderProgress, ...]:
    """Return the progress of every reader with assigned cases or scores from the app.

    Without assignments, every reader has every case. ``written`` has the scores written in the app
    (columns :data:`rexview.frames.SCORES`), ``skipped`` the ids of skipped cases by reader.
    """
    own = written.partition_by("reader", as_dict=True) if len(written) else {}
    given = {str(reader): scores for (reader,), scores in own.items()}
    readers = [one.reader for one in assignments] + sorted({*given, *skipped})
    found = []
    for reader in dict.fromkeys(readers):
        mine = {one.case: one.order for one in assignments if one.reader == reader}
        scores = given.get(reader, written.clear())
        if assignments and not mine:  # cases scored without an assignment
            mine = dict.fromkeys(scores["case"].to_list(), "")
        skips = skipped.get(reader, ())
        touched = {*scores["case"], *skips}
        required = engine.required([case for case in touched if not assignments or case in mine])
        states = find_case_states(required, scores, skips)
        orders = [mine[case] for case in engine.scorable(mine)]
        found.append(
            ReaderProgress(
                reader,
                orders.count("first"),
                orders.count("second"),
                count_progress(states, len(orders) if assignments else engine.n_scorable),
                list(states.values()).count("begun"),
            )
        )
    return tuple(found)


def find_started_cases(
    reader: str, written: pl.DataFrame, skipped: Mapping[str, Collection[str]]
) -> frozenset[str]:
    """Return the cases that a reader has scored, in part or in full, or has skipped."""
    scored = written.filter(pl.col("reader") == reader, pl.col("score").is_not_null())["case"]
    return frozenset(scored.to_list()) | frozenset(skipped.get(reader, ()))


# A reader's own result on choice questions, once the rules show it.

OWN_NAME: Final = tr("You")


def build_own_result(
    own: Mapping[str, int],
    right: Mapping[str, int],
    chosen: pl.DataFrame,
    names: Mapping[str, str],
) -> pl.DataFrame:
    """Compare a reader's choices with the models', over the questions the reader answered.

    Parameters
    ----------
    own, right : mapping of str to int
        The reader's option and the right one, from 0, by question; questions without a right
        option count for agreement only.
    chosen : polars.DataFrame
        ``case``, ``model`` and ``choice`` (null: none that can be used) of the models.
    names : mapping of str to str
        Names of the models, in the order of the rows.

    Returns
    -------
    polars.DataFrame
        ``Who``, ``Right``, ``Of`` and ``Accuracy`` (0 to 1; no usable choice is wrong), ``Same as
        you`` and ``Kappa`` (null where it is undefined).
    """
    by_model = {
        model: dict(rows.select("case", "choice").iter_rows())
        for (model,), rows in chosen.partition_by("model", as_dict=True).items()
    }
    judged = [case for case in own if case in right]
    raters = [(names[model], by_model[model]) for model in names if model in by_model]
    rows = []
    for place, (name, given) in enumerate([(OWN_NAME, own), *raters]):
        asked = [case for case in judged if case in given]
        hits = sum(given[case] == right[case] for case in asked)
        both = [(own[case], given[case]) for case in own if given.get(case) is not None]
        table = np.zeros((2 + max(map(max, both), default=0),) * 2, np.int64)
        for cell in both:
            table[cell] += 1
        agreed = measure_choice_kappa(None, 0, 1, table)
        rows.append(
            {
                "Who": name,
                "Right": hits,
                "Of": len(asked),
                "Accuracy": hits / len(asked) if asked else None,
                "Same as you": agreed.same if place else None,
                "Kappa": agreed.kappa if place else None,
            }
        )
    return pl.DataFrame(rows)
