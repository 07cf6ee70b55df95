"""Final scores of an answer: readers averaged, Content as the weakest link.

Definitions (docs: statistics):

- The **final score** of a dimension is the mean of the readers' scores for it. A reader who scored
  several returned pictures counts once, with the mean over the pictures.
- **Content** is the smallest of the final scores of process, execution and synthesis; missing if
  one of the three is. The other order (the smallest per reader, then the mean) is a choice of the
  caller.
- The **gap** is process minus execution; the **spread** is the largest difference between two
  readers on any dimension.
- An answer that is **missing or incomplete** (token limit, error, refusal, empty) has no final
  score. It counts as a failure and never as a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from weakref import WeakKeyDictionary

import polars as pl

from rexview.schema import ReviewSet, Score
from rexview.stats.answer_states import answer_status_expression
from rexview.vocab import CONTENT_PARTS, DIMENSIONS, IMAGE_DIMENSIONS, TEXT_DIMENSIONS
from rexview.words import tr

ContentOrder = Literal["mean_first", "minimum_first"]
CONTENT_ORDERS: Final[dict[ContentOrder, str]] = {
    "mean_first": tr("Minimum of the readers' means"),
    "minimum_first": tr("Mean of the readers' minimums"),
}

NO_WEAKEST_LINK: Final = "all_equal"
"""The weakest link if there is none, because all three parts of Content are equal."""
_DIGITS: Final = 12
"""Differences of means are rounded to this many digits, so that 13/3 - 7/3 is 2."""
_ANSWER: Final = ("case", "model")


def compute_final_scores(
    scores: pl.DataFrame,
    answers: pl.DataFrame | None = None,
    *,
    content_order: ContentOrder = "mean_first",
) -> pl.DataFrame:
    """Return the final scores of every answer that has any.

    Parameters
    ----------
    scores : polars.DataFrame
        Columns :data:`rexview.frames.SCORES`. Of several rows of one reader for the same
        dimension and picture, the newest counts (the last in the file if dates do not decide).
    answers : polars.DataFrame, optional
        Columns :data:`rexview.frames.ANSWERS`. If given, missing or incomplete answers are left
        out, and scores without an answer, too.
    content_order : str

    Returns
    -------
    polars.DataFrame
        One row per (case, model) with at least one score, in the order in which they first appear:
        ``process``, ``execution``, ``synthesis``, ``language``, ``image_content``,
        ``image_style``, ``content``, ``gap`` (Float64, null where missing), ``n_readers``
        (UInt32), ``spread`` (Float64, null unless two readers scored one dimension).
    """
    given = _scores_of_complete_answers(scores, answers)
    order = given.select(_ANSWER).unique(maintain_order=True).with_row_index("_answer")
    by_reader = _by_reader(given.join(order, on=_ANSWER, how="left", maintain_order="left"))
    content = (
        pl.min_horizontal(CONTENT_PARTS)
        if content_order == "mean_first"
        else pl.col("_smallest").round(_DIGITS)
    )
    complete = pl.all_horizontal(pl.col(part).is_not_null() for part in CONTENT_PARTS)
    smallest = pl.when(complete).then(pl.min_horizontal(CONTENT_PARTS))
    wide = (
        by_reader.with_columns(smallest.alias("_smallest"))
        .group_by("_answer")
        .agg(
            pl.col(*DIMENSIONS, "_smallest").mean(),
            *(
                (pl.col(name).max() - pl.col(name).min()).alias(f"{name}:range")
                for name in DIMENSIONS
            ),
            *(pl.col(name).count().alias(f"{name}:n") for name in DIMENSIONS),
            pl.len().alias("n_readers"),
        )
    )
    ranges = [pl.when(pl.col(f"{name}:n") > 1).then(f"{name}:range") for name in DIMENSIONS]
    return order.join(wide, on="_answer", how="left", maintain_order="left").select(
        *_ANSWER,
        *DIMENSIONS,
        pl.when(complete).then(content).alias("content"),
        (pl.col("process") - pl.col("execution")).round(_DIGITS).alias("gap"),
        "n_readers",
        pl.max_horizontal(ranges).round(_DIGITS).alias("spread"),
    )


def load_answer_finals(
    review_set: ReviewSet, *, content_order: ContentOrder = "mean_first"
) -> pl.DataFrame:
    """Return :func:`compute_final_scores` of the newest answers of a review set; computed once."""
    known = _FINALS.setdefault(review_set, {})
    if content_order not in known:
        known[content_order] = compute_final_scores(
            review_set.scores, review_set.answers, content_order=content_order
        )
    return known[content_order]


_FINALS: Final[WeakKeyDictionary[ReviewSet, dict[ContentOrder, pl.DataFrame]]] = WeakKeyDictionary()


def list_complete_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """Return (case, model) of the newest complete answers, in the order of the file."""
    return (
        answers.filter("_newest").filter(answer_status_expression() == "answered").select(_ANSWER)
    )


def select_newest_scores(scores: pl.DataFrame, answers: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the scores that count, one row for each answer, reader, dimension and picture.

    Scores that :func:`compute_final_scores` ignores are left out. The order is that of the file.
    """
    given = _scores_of_complete_answers(scores, answers).with_row_index("_number")
    order = given.select(_ANSWER).unique(maintain_order=True).with_row_index("_answer")
    newest = _newest(given.join(order, on=_ANSWER, how="left", maintain_order="left"))
    return given[newest["_number"].sort()].drop("_number")


def compute_picture_finals(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the final scores of every returned picture: the mean over its readers.

    ``scores`` come from :func:`select_newest_scores`. There is one row for each scored picture, in
    the order in which they first appear: ``case``, ``model``, ``image`` (Int64, null when the
    scores name none), then a column for each of :data:`rexview.vocab.IMAGE_DIMENSIONS` (Float64,
    null where missing).
    """
    return (
        scores.filter(pl.col("dimension").is_in(IMAGE_DIMENSIONS))
        .group_by(*_ANSWER, "image", maintain_order=True)
        .agg(
            pl.col("score").filter(pl.col("dimension") == name).mean().alias(name)
            for name in IMAGE_DIMENSIONS
        )
    )


def _scores_of_complete_answers(scores: pl.DataFrame, answers: pl.DataFrame | None) -> pl.DataFrame:
    """Return the scores with a value, of complete answers."""
    known = pl.col("score").is_not_null() & pl.col("dimension").is_in(DIMENSIONS)
    given = scores.filter(known)
    if answers is not None:
        # the status depends on the text: read it only if there are scores
        scored = given["case"].unique().implode()
        answers = answers.filter(pl.col("case").is_in(scored))
        given = given.join(
            list_complete_answers(answers), on=_ANSWER, how="semi", maintain_order="left"
        )
    return given


def _newest(given: pl.DataFrame) -> pl.DataFrame:
    """Return the scores that count, as numbers: the newest of a reader for one picture.

    ``_given`` numbers answer and reader; ``_number`` is kept if it exists.
    """
    if given["created"].null_count() < len(given):
        given = given.sort("created", nulls_last=False, maintain_order=True)
    dimension = pl.col("dimension").cast(pl.Enum(DIMENSIONS)).to_physical()
    coded = given.select(
        pl.col("_answer").cast(pl.Int64),
        pl.col("reader").cast(pl.Categorical()).to_physical().cast(pl.Int64).alias("_reader"),
        dimension.cast(pl.Int64).alias("_dimension"),
        (pl.col("image").fill_null(-1) + 1).alias("_picture"),
        "score",
        *(name for name in ("_number",) if name in given.columns),
    )
    readers, pictures = (pl.col(name).max() + 1 for name in ("_reader", "_picture"))
    by_given = coded.with_columns((pl.col("_answer") * readers + pl.col("_reader")).alias("_given"))
    in_all = pl.col("_given") * len(DIMENSIONS) + pl.col("_dimension")
    newest = by_given.with_columns((in_all * pictures + pl.col("_picture")).alias("_key"))
    if newest["_key"].n_unique() < len(newest):
        newest = newest.unique("_key", keep="last", maintain_order=True)
    return newest


def _by_reader(given: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each answer and reader: the mean over pictures of each dimension."""
    newest = _newest(given)
    spread_out = newest.select(
        "_given",
        "_answer",
        *(
            pl.when(pl.col("_dimension") == number).then("score").alias(name)
            for number, name in enumerate(DIMENSIONS)
        ),
    )
    return spread_out.group_by("_given").agg(pl.col("_answer").first(), pl.col(DIMENSIONS).mean())


def weakest_link_expression() -> pl.Expr:
    """Return the expression for the parts that set Content.

    Returns
    -------
    polars.Expr
        String over a frame with the columns of :func:`compute_final_scores`: the part with the
        smallest final score. Two parts are joined by ``_and_`` in the order process, execution,
        synthesis (``execution``, ``process_and_execution``). :data:`NO_WEAKEST_LINK` if all three
        are the same, because none is weaker than the others. Null if Content is missing.
    """
    smallest = pl.min_horizontal(CONTENT_PARTS)
    all_equal = pl.max_horizontal(CONTENT_PARTS) - smallest < 10**-_DIGITS
    names = [
        pl.when(pl.col(part) - smallest < 10**-_DIGITS).then(pl.lit(part)) for part in CONTENT_PARTS
    ]
    return (
        pl.when(pl.col("content").is_null())
        .then(None)
        .when(all_equal)
        .then(pl.lit(NO_WEAKEST_LINK))
        .otherwise(pl.concat_str(names, separator="_and_", ignore_nulls=True))
    )


@dataclass(frozen=True)
class FinalScores:
    """The final scores of one answer; None is missing, never 0."""

    by_dimension: Mapping[str, float]
    content: float | None
    gap: float | None
    n_readers: int
    spread: float | None


def compute_answer_finals(
    scores: Iterable[Score], *, content_order: ContentOrder = "mean_first"
) -> FinalScores:
    """Return the final scores of one answer from all its score records, in file order.

    The numbers equal the answer's row of :func:`compute_final_scores`, which would take fifty times
    as long because it makes a table. A test compares both.
    """
    newest: dict[tuple[str, str, int | None], int] = {}
    ordered = sorted(
        scores, key=lambda score: score.created.timestamp() if score.created else -1e18
    )
    for score in ordered:
        if score.score is not None and score.dimension in DIMENSIONS:
            newest[score.reader, score.dimension, score.image] = score.score
    pictures: dict[tuple[str, str], list[int]] = {}
    for (reader, dimension, _), value in newest.items():
        pictures.setdefault((reader, dimension), []).append(value)
    by_dimension: dict[str, dict[str, float]] = {}
    for (reader, dimension), values in pictures.items():
        by_dimension.setdefault(dimension, {})[reader] = sum(values) / len(values)
    final: dict[str, float] = {
        dimension: sum(by_dimension[dimension].values()) / len(by_dimension[dimension])
        for dimension in DIMENSIONS
        if dimension in by_dimension
    }
    readers = {reader for by_reader in by_dimension.values() for reader in by_reader}
    content = None
    if all(part in final for part in CONTENT_PARTS):
        content = min(final[part] for part in CONTENT_PARTS)
        if content_order == "minimum_first":
            smallest = [
                min(by_dimension[part][reader] for part in CONTENT_PARTS)
                for reader in readers
                if all(reader in by_dimension[part] for part in CONTENT_PARTS)
            ]
            content = round(sum(smallest) / len(smallest), _DIGITS) if smallest else None
    gap = None
    if "process" in final and "execution" in final:
        gap = round(final["process"] - final["execution"], _DIGITS)
    ranges = [
        max(by_reader.values()) - min(by_reader.values())
        for by_reader in by_dimension.values()
        if len(by_reader) > 1
    ]
    spread = round(max(ranges), _DIGITS) if ranges else None
    return FinalScores(final, content, gap, len(readers), spread)


def format_final_score(score: float) -> str:
    """Return a score or a difference of scores with at most one decimal: ``4``, ``3.5``."""
    return f"{score:.1f}".removesuffix(".0")


# Values for statistics: final scores by counted unit.
#
# Text dimensions, Content and the gap have one value for each complete answer. Image dimensions
# have one for each picture that a model returned. All averages are computed here.

SCORE_ORDER: Final = (
    "content",
    "language",
    "process",
    "execution",
    "synthesis",
    "image_content",
    "image_style",
)
"""Order of the dimensions in tables."""
TEXT_SCORES: Final = ("content", "language", "process", "execution", "synthesis")
"""Text scores, whose p values are adjusted together."""
SINGLE_SCORE_COLUMNS: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "image": pl.Int64(),
        "dimension": pl.String(),
        "reader": pl.String(),
        "score": pl.Int8(),
        "created": pl.Datetime("us", "UTC"),
        "comment": pl.String(),
    }
)
"""Columns of :func:`list_single_scores`."""
_PER_ANSWER: Final = (*TEXT_DIMENSIONS, "content", "gap")


@dataclass(frozen=True, eq=False)
class Finals:
    """The final scores of a review set; null is missing, never 0.

    ``answers`` has one row for each complete answer, in the order of the file: ``case``,
    ``model``, the text dimensions, ``content`` and ``gap`` (Float64). ``pictures`` has one row for
    each scored picture: ``case``, ``model``, ``image`` (Int64, null when the score names none),
    ``image_content`` and ``image_style`` (Float64).
    """

    answers: pl.DataFrame
    pictures: pl.DataFrame

    def of(self, dimension: str) -> pl.DataFrame:
        """Return the values of one dimension, ``content`` or ``gap``, without the missing ones.

        Columns ``case``, ``model``, for image dimensions ``image``, and ``value`` (Float64).
        """
        pictured = dimension in IMAGE_DIMENSIONS
        frame = self.pictures if pictured else self.answers
        unit = (*_ANSWER, "image") if pictured else _ANSWER
        return frame.select(*unit, pl.col(dimension).alias("value")).filter(
            pl.col("value").is_not_null()
        )

    def by_answer(self, dimension: str) -> pl.DataFrame:
        """Return the values like :meth:`of`, one for each answer: the mean over its pictures."""
        values = self.of(dimension)
        if "image" in values.columns:
            values = values.group_by(*_ANSWER, maintain_order=True).agg(pl.col("value").mean())
        return values

    def only(self, pairs: pl.DataFrame) -> Finals:
        """Return only the answers whose ``case`` and ``model`` are in the given frame."""
        return Finals(
            *(
                frame.join(pairs, on=_ANSWER, how="semi", maintain_order="left")
                for frame in (self.answers, self.pictures)
            )
        )


def load_finals(review_set: ReviewSet, *, content_order: ContentOrder = "mean_first") -> Finals:
    """Return the final scores of a review set's newest answers; computed once."""
    known = _VALUES_FINALS.setdefault(review_set, {})
    if content_order not in known:
        scored = load_answer_finals(review_set, content_order=content_order)
        answers = list_complete_answers(review_set.answers).join(
            scored.select(*_ANSWER, *_PER_ANSWER), on=_ANSWER, how="left", maintain_order="left"
        )
        known[content_order] = Finals(
            answers, compute_picture_finals(list_single_scores(review_set))
        )
    return known[content_order]


def list_single_scores(review_set: ReviewSet) -> pl.DataFrame:
    """Return the readers' single scores, with columns :data:`SINGLE_SCORE_COLUMNS`; computed once.

    Only scores of complete answers are included. Of several scores of one reader for the same
    answer, dimension and picture, only the newest is.
    """
    if review_set not in _SINGLE:
        scores = select_newest_scores(review_set.scores, review_set.answers)
        _SINGLE[review_set] = scores.select(SINGLE_SCORE_COLUMNS.names())
    return _SINGLE[review_set]


def list_unfinished_work(review_set: ReviewSet) -> pl.DataFrame:
    """Return ``reader`` and ``case`` of each case that a reader has started but not finished."""
    return review_set.unfinished.select("reader", "case").unique(maintain_order=True)


_VALUES_FINALS: Final[WeakKeyDictionary[ReviewSet, dict[ContentOrder, Finals]]] = (
    WeakKeyDictionary()
)
_SINGLE: Final[WeakKeyDictionary[ReviewSet, pl.DataFrame]] = WeakKeyDictionary()
