"""Find models that contradict themselves when asked again: another side, or another option.

Two answers of one run to one case contradict each other about a finding if each asserts it on one
side only, one on the right and the other on the left. They contradict each other about the choice
if they chose different options. A finding that an answer only denies, repeats from the question, or
has on both sides contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from rexview.frames import TableIndex
from rexview.geometry import OTHER_SIDE
from rexview.schema import Answer, Case, ReviewSet, answer_from_row, case_from_row
from rexview.text.findings import Mention
from rexview.text.findings.mention_finder import asserted_mentions
from rexview.text.side_contradictions import has_side_words, join_sides, sided_by_family

REPEAT_COLUMNS: Final = pl.Schema(
    {
        "number": pl.Int64(),
        "times": pl.UInt32(),
        "side": pl.Boolean(),
        "is_choice": pl.Boolean(),
        "usable": pl.UInt32(),
        "choice": pl.Boolean(),
    }
)
"""One row for each newest answer (``number``) that its run requested several ``times``: whether two
of them assert opposite sides, or chose different options. ``usable`` of them chose an option.
"""


@dataclass(frozen=True)
class RepeatDifferences:
    """Differences between some answers to one case.

    ``sides`` are the findings that one answer has on the right and another on the left. Each maps
    its family to one mention with the side per answer, None where an answer has no such side.
    ``choices`` are the chosen options (from 0) if they differ, else empty.
    """

    sides: Mapping[str, tuple[Mention | None, ...]]
    choices: tuple[int, ...]


def find_repeat_differences(case: Case, answers: Sequence[Answer]) -> RepeatDifferences:
    """Compare one model's answers to one case, in the order given."""
    texts = [has_side_words(answer.text or "") for answer in answers]
    opposed: dict[str, tuple[Mention | None, ...]] = {}
    if any(right for right, _ in texts) and any(left for _, left in texts):
        sided = [_one_sided(case, answer) for answer in answers]
        for family in dict.fromkeys(family for one in sided for family in one):
            found = tuple(one.get(family) for one in sided)
            if {mention.side for mention in found if mention} == {"right", "left"}:
                opposed[family] = found
    chosen = {answer.choice for answer in answers if is_usable(case, answer)}
    choices = sorted(choice for choice in chosen if choice is not None)
    return RepeatDifferences(opposed, tuple(choices) if len(choices) > 1 else ())


def is_usable(case: Case, answer: Answer) -> bool:
    """True if an answer to a choice question chose one of the options."""
    is_choice = case.question_type == "choice" and answer.choice is not None
    return is_choice and 0 <= (answer.choice or 0) < len(case.options)


def _one_sided(case: Case, answer: Answer) -> dict[str, Mention]:
    """Return the findings that an answer asserts on only one side, by family."""
    families = sided_by_family(asserted_mentions(case, answer))
    return {
        family: mentions[0]
        for family, mentions in families.items()
        if join_sides(mentions) in OTHER_SIDE
    }


class _Comparison:
    """One comparison of all answers to a set's cases that were requested several times."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._thread: Thread | None = None
        self.found: pl.DataFrame | None = None

    def of(self, review_set: ReviewSet) -> pl.DataFrame:
        with self._lock:
            if self.found is None:
                self.found = _compared(review_set)
            return self.found

    def begin(self, review_set: ReviewSet) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = Thread(target=self.of, args=(review_set,), daemon=True, name="compare")
            self._thread.start()
            self._thread.join(_SETTLES_S)


def compare_repeats(review_set: ReviewSet) -> pl.DataFrame:
    """Compare all answers that the newest runs requested several times: :data:`REPEAT_COLUMNS`.

    The result is computed once for all states of a set that share its tables, in a millisecond or
    two per case.
    """
    return _comparison(review_set).of(review_set)


def start_comparing_repeats(review_set: ReviewSet) -> bool:
    """Start :func:`compare_repeats` in the background; return True if its result is ready."""
    comparison = _comparison(review_set)
    if comparison.found is None:
        comparison.begin(review_set)
    return comparison.found is not None


def _comparison(review_set: ReviewSet) -> _Comparison:
    with _LOCK:
        return _KNOWN.setdefault(review_set.index, _Comparison())


_SETTLES_S: Final = 0.3
"""Most sets are compared within this time; a page waits no longer."""
_LOCK: Final = Lock()
_KNOWN: Final[WeakKeyDictionary[TableIndex, _Comparison]] = WeakKeyDictionary()


def _compared(review_set: ReviewSet) -> pl.DataFrame:
    numbers, again = review_set.index.repeated
    newest, asked = review_set.newest, np.unique(numbers)
    if not len(asked):
        return REPEAT_COLUMNS.to_frame()
    rows = pl.DataFrame(
        {
            "number": np.concatenate([asked, numbers]),
            "row": np.concatenate([newest.row[asked], again]),
        }
    ).with_columns(pl.col("number").cast(pl.Int64))
    case_rows = newest.case[rows["number"].to_numpy()]
    cases = review_set.cases.select("question_type", "options")[case_rows]
    given = review_set.answers.select("text", "choice")[rows["row"].to_numpy()]
    is_choice = cases["question_type"] == "choice"
    options = cases["options"].list.len().cast(pl.Int64)
    usable = is_choice & (given["choice"] >= 0) & (given["choice"] < options)
    named = [has_side_words(text or "") for text in given["text"]]
    counted = (
        rows.with_columns(
            is_choice=is_choice.fill_null(False),
            usable=usable.fill_null(False),
            chosen=given["choice"],
            right=pl.Series([right for right, _ in named], dtype=pl.Boolean()),
            left=pl.Series([left for _, left in named], dtype=pl.Boolean()),
        )
        .group_by("number")
        .agg(
            pl.col("row"),
            times=pl.len().cast(pl.UInt32),
            is_choice=pl.col("is_choice").first(),
            usable=pl.col("usable").sum().cast(pl.UInt32),
            choice=pl.col("chosen").filter("usable").n_unique() > 1,
            may_differ=pl.col("right").any() & pl.col("left").any(),
        )
        .sort("number")
    )
    opposed = [
        number
        for number, answers in counted.filter("may_differ").select("number", "row").iter_rows()
        if _has_opposed(review_set, int(newest.case[number]), answers)
    ]
    return counted.with_columns(side=pl.col("number").is_in(opposed)).select(
        pl.col(name).cast(dtype) for name, dtype in REPEAT_COLUMNS.items()
    )


def _has_opposed(review_set: ReviewSet, case_row: int, rows: Sequence[int]) -> bool:
    case = case_from_row(review_set.cases.row(case_row, named=True))
    answers = [answer_from_row(review_set.answers.row(row, named=True)) for row in rows]
    return bool(find_repeat_differences(case, answers).sides)
