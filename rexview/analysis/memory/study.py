"""The engine of a study that holds everything in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Final
from weakref import WeakKeyDictionary

import polars as pl

from rexview.analysis.engine import Position, position_at
from rexview.analysis.study.worklist import ITEM, WITHOUT_BOXES, reading_order, rubric_of
from rexview.detect import cases_asking_for_boxes, models_without_boxes
from rexview.schema import ReviewSet
from rexview.stats import answer_status
from rexview.vocab import IMAGE_DIMENSIONS, TEXT_DIMENSIONS

_WORKLISTS_KEPT: Final = 64


@dataclass(frozen=True, eq=False)
class MemoryWorklist:
    """What one reader has to score (:class:`rexview.analysis.study.engine.Worklist`)."""

    cases: tuple[str, ...]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case: place for place, case in enumerate(self.cases)}

    def __len__(self) -> int:
        return len(self.cases)

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases."""
        return self.cases[start : start + size]

    def position(self, case: str) -> Position:
        """Find a case, and its neighbours."""
        return position_at(self._places.get(case), len(self.cases), self.page)

    def next_open(self, closed: Collection[str], last: str | None = None) -> str | None:
        """Return the case to go on with."""
        start = self._places.get(last or "", 0)
        in_turn = chain(islice(self.cases, start, None), islice(self.cases, start))
        return next((case for case in in_turn if case not in closed), None)


class MemoryStudyEngine:
    """Answers from the files of a set (:class:`rexview.analysis.study.engine.StudyEngine`)."""

    def __init__(self, review_set: ReviewSet) -> None:
        self._review_set = review_set
        self.worklist = lru_cache(maxsize=_WORKLISTS_KEPT)(self._worklist)

    @cached_property
    def _scorable(self) -> dict[str, None]:
        return dict.fromkeys(required_scores(self._review_set)["case"].unique(maintain_order=True))

    def _worklist(self, reader: str, assigned: frozenset[str] | None) -> MemoryWorklist:
        cases = [case for case in self._scorable if assigned is None or case in assigned]
        seed = self._review_set.info.protocol.seed
        return MemoryWorklist(reading_order(cases, reader=reader, seed=seed))

    @property
    def n_scorable(self) -> int:
        """How many cases are to be scored."""
        return len(self._scorable)

    def scorable(self, cases: Collection[str]) -> frozenset[str]:
        """Return which of some cases are to be scored."""
        return frozenset(case for case in cases if case in self._scorable)

    def required(self, cases: Collection[str]) -> pl.DataFrame:
        """Return everything that one reader has to score in some cases."""
        return required_scores(self._review_set).filter(pl.col("case").is_in(list(cases)))

    @cached_property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each case to be scored."""
        return strata_of(self._review_set, self._scorable)


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
    lacking = _each(asked, [WITHOUT_BOXES], dimensions, none)
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


def strata_of(review_set: ReviewSet, cases: Iterable[str]) -> dict[str, str]:
    """Return the stratum of each case: kind of question, category, normal or not where known."""
    normal = pl.col("normal").cast(pl.String).fill_null("")
    frame = review_set.cases.select("id", "question_type", pl.col("category").fill_null(""), normal)
    known = {case: "/".join(words) for case, *words in frame.iter_rows()}
    return {case: known[case] for case in cases if case in known}
