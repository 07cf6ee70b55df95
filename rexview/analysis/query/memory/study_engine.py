"""The study engine that keeps everything in memory, and the scores of finished cases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.query.engine import Position, make_position
from rexview.analysis.query.study_tasks import (
    DIMENSION_WITHOUT_BOXES,
    SCORE_ITEM_COLUMNS,
    TASKS,
    Task,
    Worklist,
    find_reader_models,
    make_item_id,
    order_cases,
    parse_item_id,
    read_study_rubric,
)
from rexview.detect import cases_asking_for_boxes, models_with_boxes, models_without_boxes
from rexview.schema import ReviewSet
from rexview.stats import answer_status_expression
from rexview.vocab import IMAGE_DIMENSIONS, TEXT_DIMENSIONS

_WORKLISTS_KEPT: Final = 64
_MAX_ITEMS_PER_CASE: Final = 10_000
"""Most items of one case: more reports than any leaderboard has models."""


@dataclass(frozen=True, eq=False)
class MemoryWorklist:
    """The cases that one reader has to score (:class:`.Worklist`)."""

    cases: tuple[str, ...]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case: place for place, case in enumerate(self.cases)}

    def __len__(self) -> int:
        return len(self.cases)

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return up to ``size`` case ids from index ``start`` on."""
        return self.cases[start : start + size]

    def position(self, case: str) -> Position:
        """Return the position of a case, and its neighbours."""
        return make_position(self._places.get(case), len(self.cases), self.page)

    def in_order(self, cases: Iterable[str]) -> tuple[str, ...]:
        """Return the given cases that are on the list, in its order."""
        there = {case for case in cases if case in self._places}
        return tuple(sorted(there, key=self._places.__getitem__))

    def next_open(self, closed: Collection[str], last: str | None = None) -> str | None:
        """Return the case to continue with."""
        start = self._places.get(last or "", 0)
        in_turn = chain(islice(self.cases, start, None), islice(self.cases, start))
        return next((case for case in in_turn if case not in closed), None)


class ItemWorklist:
    """A worklist with several items a case, sorted by their keys, which are unique numbers.

    With ``by_place``, the first items of all cases come first, then the second ones. Else the items
    of a case follow each other.
    """

    def __init__(self, cases: Sequence[str], counts: Sequence[int], *, by_place: bool) -> None:
        self._cases, self._by_place = cases, by_place
        self._at = {case: at for at, case in enumerate(cases)}
        at = np.repeat(np.arange(len(cases)), counts)
        place = np.concatenate([np.arange(n) for n in counts]) if counts else at
        self._keys: npt.NDArray[np.int64] = np.sort(self._key(at, place))

    def _key(self, at: Any, place: Any) -> Any:
        return place * len(self._cases) + at if self._by_place else at * _MAX_ITEMS_PER_CASE + place

    def _item(self, key: int) -> str:
        if self._by_place:
            place, at = divmod(key, len(self._cases))
        else:
            at, place = divmod(key, _MAX_ITEMS_PER_CASE)
        return make_item_id(place + 1, self._cases[at])

    def _number(self, item: str | None) -> int | None:
        """Return the index of an item in the list, from 0; None if it is not there."""
        place, case = parse_item_id(item or "")
        if not 0 < place <= _MAX_ITEMS_PER_CASE or case not in self._at:
            return None
        key = self._key(self._at[case], place - 1)
        found = int(np.searchsorted(self._keys, key))
        return found if found < len(self._keys) and self._keys[found] == key else None

    def __len__(self) -> int:
        return len(self._keys)

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return up to ``size`` items from index ``start`` on."""
        return tuple(map(self._item, self._keys[start : start + size].tolist()))

    def position(self, case: str) -> Position:
        """Return the position of an item, and its neighbours."""
        return make_position(self._number(case), len(self), self.page)

    def in_order(self, cases: Iterable[str]) -> tuple[str, ...]:
        """Return the given items that are on the list, in its order."""
        numbers = {item: self._number(item) for item in cases}
        there = sorted((number, item) for item, number in numbers.items() if number is not None)
        return tuple(item for _, item in there)

    def next_open(self, closed: Collection[str], last: str | None = None) -> str | None:
        """Return the item to continue with."""
        start = self._number(last) or 0
        in_turn = chain(range(start, len(self)), range(start))
        items = (self._item(int(self._keys[number])) for number in in_turn)
        return next((item for item in items if item not in closed), None)


class MemoryStudyEngine:
    """A study engine on the files of a set (:class:`.StudyEngine`)."""

    def __init__(self, review_set: ReviewSet) -> None:
        self._review_set = review_set
        self.worklist = lru_cache(maxsize=_WORKLISTS_KEPT)(self._worklist)
        self.task_list = lru_cache(maxsize=_WORKLISTS_KEPT)(self._task_list)
        self._counts = lru_cache(maxsize=len(TASKS))(self._count)

    @cached_property
    def _scorable(self) -> dict[str, None]:
        return dict.fromkeys(
            list_required_scores(self._review_set)["case"].unique(maintain_order=True)
        )

    def _worklist(self, reader: str, assigned: frozenset[str] | None) -> MemoryWorklist:
        cases = [case for case in self._scorable if assigned is None or case in assigned]
        seed = self._review_set.info.protocol.seed
        return MemoryWorklist(order_cases(cases, reader=reader, seed=seed))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks that the cases of the set offer to readers."""
        return tuple(task for task in TASKS if self._counts(task))

    def _task_list(self, task: Task, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return a reader's worklist for a task."""
        if task == "score":
            return self.worklist(reader, assigned)
        counts = self._counts(task)
        cases = [case for case in counts if assigned is None or case in assigned]
        ordered = order_cases(cases, reader=reader, seed=self._review_set.info.protocol.seed)
        if task == "answer":
            return MemoryWorklist(ordered)
        return ItemWorklist(ordered, [counts[case] for case in ordered], by_place=task == "compare")

    def of_task(self, task: Task, cases: Collection[str]) -> Mapping[str, int]:
        """Return the number of a task's entries for each of the given cases that has any."""
        counts = self._counts(task)
        return {case: counts[case] for case in cases if case in counts}

    def _count(self, task: Task) -> Mapping[str, int]:
        if task == "score":
            return dict.fromkeys(self._scorable, 1)
        if task == "answer":
            asked = (pl.col("question_type") == "choice") & (pl.col("options").list.len() > 1)
            return dict.fromkeys(self._review_set.cases.filter(asked)["id"].to_list(), 1)
        reports = self._reports
        if task == "compare":
            reports = {case: n * (n - 1) // 2 for case, n in reports.items() if n > 1}
        return reports

    @cached_property
    def _reports(self) -> dict[str, int]:
        """Number of reports by case (:func:`rexview.analysis.query.study_tasks.find_reports`)."""
        reports = self._review_set.cases.filter(pl.col("question_type") == "report")
        if reports.is_empty():
            return {}
        people = list(find_reader_models(self._review_set))
        newest = self._review_set.answers.filter("_newest")
        came = newest.join(reports.select(case="id"), on="case", how="semi", maintain_order="left")
        has_text = pl.col("text").fill_null("").str.contains(r"\S")
        whole = came.filter(
            answer_status_expression() == "answered", has_text, ~pl.col("model").is_in(people)
        )
        counted = whole.group_by("case", maintain_order=True).len()
        return {case: min(n, _MAX_ITEMS_PER_CASE) for case, n in counted.iter_rows()}

    def chosen(self, cases: Collection[str]) -> pl.DataFrame:
        """Return ``case``, ``model`` and ``choice`` of the models' newest answers to some cases."""
        wanted = pl.Series(list(cases), dtype=pl.String)
        return self._review_set.index.answers_to(wanted, ["case", "model", "choice"])

    @property
    def n_scorable(self) -> int:
        """Number of cases to be scored."""
        return len(self._scorable)

    def scorable(self, cases: Collection[str]) -> frozenset[str]:
        """Return the given cases that are to be scored."""
        return frozenset(case for case in cases if case in self._scorable)

    def required(self, cases: Collection[str]) -> pl.DataFrame:
        """Return every score that one reader has to give in some cases."""
        return list_required_scores(self._review_set).filter(pl.col("case").is_in(list(cases)))

    @cached_property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each case to be scored."""
        return find_strata(self._review_set, self._scorable)


_REQUIRED: Final[WeakKeyDictionary[ReviewSet, pl.DataFrame]] = WeakKeyDictionary()


def list_required_scores(review_set: ReviewSet) -> pl.DataFrame:
    """Return every score that one reader has to give in a review set; computed once.

    Columns :data:`SCORE_ITEM_COLUMNS`: the items that :func:`items_of` returns for the newest
    complete answers, in the order of the answers. Choice questions are included only where the
    study's rules require it.
    """
    if review_set not in _REQUIRED:
        _REQUIRED[review_set] = _required(review_set, tuple(read_study_rubric(review_set)))
    return _REQUIRED[review_set]


def _required(review_set: ReviewSet, dimensions: Sequence[str]) -> pl.DataFrame:
    came = review_set.answers.filter("_newest").filter(answer_status_expression() == "answered")
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
    texts = _cross_dimensions(counted.filter("_text"), TEXT_DIMENSIONS, dimensions, none)
    numbered = counted.filter(pl.col("_n") > 0).with_columns(
        pl.int_ranges(pl.col("_n")).alias("picture")
    )
    numbered = numbered.explode("picture", empty_as_null=False, keep_nulls=False)
    shown = _cross_dimensions(numbered, IMAGE_DIMENSIONS, dimensions, pl.col("picture"))
    drawn = counted.filter((pl.col("_n") == 0) & pl.col("_boxes"))
    boxed = _cross_dimensions(drawn, IMAGE_DIMENSIONS, dimensions, none)
    undrawn = counted.filter((pl.col("_n") == 0) & ~pl.col("_boxes") & pl.col("_text")).filter(
        ~pl.col("model").is_in(list(models_without_boxes(review_set.models)))
    )
    by_question = pl.col("case").is_in(cases_asking_for_boxes(review_set)["case"].implode())
    with_boxes = review_set.cases.filter(pl.col("question_boxes").is_not_null())["id"]
    draws = pl.col("model").is_in(list(models_with_boxes(review_set.models)))
    asked = undrawn.filter(by_question | (draws & pl.col("case").is_in(with_boxes.implode())))
    lacking = _cross_dimensions(asked, [DIMENSION_WITHOUT_BOXES], dimensions, none)
    return (
        pl.concat([texts, shown, boxed, lacking])
        .sort("_answer", maintain_order=True)
        .select(SCORE_ITEM_COLUMNS)
    )


def _cross_dimensions(
    answers: pl.DataFrame, names: Iterable[str], known: Collection[str], picture: pl.Expr
) -> pl.DataFrame:
    wanted = pl.DataFrame({"dimension": [name for name in names if name in known]})
    wanted = wanted.cast({"dimension": pl.String})
    return answers.join(wanted, how="cross").select(
        "_answer", "case", "model", "dimension", picture
    )


def find_strata(review_set: ReviewSet, cases: Iterable[str]) -> dict[str, str]:
    """Return the stratum of each case: kind of question, category, normal or not where known."""
    normal = pl.col("normal").cast(pl.String).fill_null("")
    frame = review_set.cases.select("id", "question_type", pl.col("category").fill_null(""), normal)
    known = {case: "/".join(words) for case, *words in frame.iter_rows()}
    return {case: known[case] for case in cases if case in known}


# Scores of finished cases, the only ones that count.
#
# A reader in the middle of a case has given some of its scores and may change them. A mean, an
# agreement or an adjudication would use half a judgement. So scores written in the app count only
# when their reader has given every score that the case requires (:func:`list_required_scores`).
# Scores that came with the set always count, complete or not.

_WORK_COLUMNS: Final = ("reader", "case")
_SCORE_KEY: Final = ("case", "model", "reader", "dimension", "image")


def without_unfinished_scores(loaded: ReviewSet, review_set: ReviewSet) -> ReviewSet:
    """Return the set without scores of cases that their reader started in the app but not finished.

    ``loaded`` is the set of the files, ``review_set`` the same with everything written in the app
    (:func:`rexview.store.merged`). Where a removed score had replaced one of the files, that one
    counts again. The removed scores are in ``unfinished`` of the new set.
    """
    scored = review_set.scores.filter(pl.col("score").is_not_null())
    written = scored.filter(pl.col("_origin") == "app")
    if written.is_empty():
        return review_set
    begun = written.select(_WORK_COLUMNS).unique(maintain_order=True)
    required = list_required_scores(
        _select_cases(loaded, begun["case"])
    )  # for all cases it may be large
    required = begun.join(required, on="case", maintain_order="left")
    # scores of an earlier text of an answer count nowhere, but the work is not missing
    stale = review_set.stale_scores.filter(pl.col("score").is_not_null())
    scored_items = (
        pl.concat([scored, stale])
        .join(begun, on=list(_WORK_COLUMNS), how="semi")
        .select(
            "reader", "case", "model", "dimension", pl.col("image").cast(pl.Int64).alias("picture")
        )
    )
    item = ["reader", "case", "model", "dimension"]
    missing = required.join(scored_items, on=[*item, "picture"], how="anti", nulls_equal=True)
    # a score in the files need not name the picture if there is only one
    unnamed = scored_items.filter(pl.col("picture").is_null())
    missing = missing.join(unnamed, on=item, how="anti")
    unfinished = missing.select(_WORK_COLUMNS).unique(maintain_order=True)
    if unfinished.is_empty():
        return review_set
    is_written = (pl.col("_origin") == "app") & pl.col("score").is_not_null()
    left_out = review_set.scores.filter(is_written).join(
        unfinished, on=list(_WORK_COLUMNS), how="semi", maintain_order="left"
    )
    kept = review_set.scores.join(left_out.select("_row"), on="_row", how="anti")
    back = loaded.scores.join(left_out, on=list(_SCORE_KEY), how="semi", nulls_equal=True)
    return replace(
        review_set,
        scores=pl.concat([kept, back]).sort("_row", maintain_order=True),
        unfinished=left_out,
    )


def _select_cases(review_set: ReviewSet, case_ids: pl.Series) -> ReviewSet:
    """Return some cases of a set with their newest answers."""
    rows = review_set.index.case_rows(case_ids)["case_row"]
    answers = review_set.index.answers_to(case_ids, review_set.answers.columns)
    return replace(review_set, cases=review_set.cases[rows], answers=answers)
