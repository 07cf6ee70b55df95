"""Columns of a review set's cases and answers, from its files, as arrays of small numbers.

Each newest answer has a **row**, by its number (:class:`rexview.frames`). Each case without answers
has a row after those. Nothing here depends on scores or flags, so that every answer table of the
same files shares it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.query.filter.case_filter import ANSWER_STATUSES, STUDIES
from rexview.frames import AnswerRows, query_all_rows
from rexview.schema import ReviewSet
from rexview.stats import status_code_expression
from rexview.stats.failure_rates import find_clusters
from rexview.vocab import CATEGORIES, DIFFICULTIES, QUESTION_TYPES

# Coded columns: small numbers in place of words make counting fast.

Codes = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
_MAX_COMPARED_WORDS: Final = 4
"""Up to this many words, comparing each word is faster than looking up each code."""
WORD_BITS: Final = 64
"""Most words of a column with a bit each in one number."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of words as ``codes``, indices into ``values``; ``len(values)`` means none."""

    codes: Codes
    values: tuple[str, ...]

    @classmethod
    def of(cls, column: pl.Series) -> CodedColumn:
        """Encode an Enum column, in the smallest integer type that holds its words."""
        assert isinstance(column.dtype, pl.Enum)
        values = tuple(column.dtype.categories.to_list())
        codes = column.to_physical().cast(pl.UInt32).fill_null(len(values)).to_numpy()
        return cls(codes.astype(np.min_scalar_type(len(values))), values)

    def among(self, chosen: Sequence[str]) -> Mask:
        """Return a mask of the rows whose word is among the chosen ones."""
        places = [place for place, value in enumerate(self.values) if value in chosen]
        if len(places) > _MAX_COMPARED_WORDS:
            allowed = np.zeros(len(self.values) + 1, dtype=np.bool_)
            allowed[places] = True
            return np.asarray(allowed[self.codes])
        found = np.zeros(len(self.codes), dtype=np.bool_)
        for place in places:
            found |= self.codes == place
        return found

    def counts(self, rows: Mask) -> Iterator[tuple[str, int]]:
        """Count each word in some rows."""
        counts = np.bincount(self.codes[rows], minlength=len(self.values) + 1)
        return zip(self.values, counts.tolist(), strict=False)

    def bits(self, first: int = 0) -> Codes:
        """Return a bit by row for the words from index ``first`` on, at most :data:`WORD_BITS`."""
        n = min(len(self.values) - first, WORD_BITS)
        kind = np.dtype(f"uint{next(size for size in (8, 16, 32, 64) if n <= size)}")
        bit_of = np.zeros(len(self.values) + 1, dtype=kind)
        bit_of[first : first + n] = [1 << place for place in range(n)]
        return np.asarray(bit_of[self.codes])

    def words(self, rows: Codes) -> pl.Series:
        """Return the words of some rows as an Enum column."""
        places = pl.Series(self.codes[rows])
        known = places.set(places >= len(self.values), None)
        words = pl.Series([*self.values, None], dtype=pl.Enum(self.values))
        return words.gather(known)


def bit_counts(bits: Codes) -> list[int]:
    """Count how often each bit is set in an array of unsigned numbers, the lowest bit first."""
    words = np.ascontiguousarray(bits).view(np.uint16).reshape(-1, bits.itemsize // 2)
    found: list[int] = []
    for word in words.T:
        counts = np.bincount(word, minlength=1 << 16)
        found += (int(counts.reshape(-1, 2, 1 << bit)[:, 1].sum()) for bit in range(16))
    return found


def cast_to_enum(column: pl.Series, first: Sequence[str] = ()) -> pl.Series:
    """Cast a String column to an Enum: ``first`` in their order, then the rest by alphabet."""
    met = set(column.drop_nulls().unique().to_list())
    known = [word for word in first if word in met]
    rest = sorted(met - set(known), key=lambda word: (word.casefold(), word))
    return column.cast(pl.Enum([*known, *rest]))


def has_different_values(coded: CodedColumn, n: int) -> bool:
    """True if the rows of a column do not all have the same word, or all none."""
    return n > 0 and bool((coded.codes != coded.codes[0]).any())


def pair_counts(rows: Codes, columns: Codes, n_rows: int, n_columns: int) -> npt.NDArray[np.int64]:
    """Count pairs of codes; codes of no word are left out."""
    pairs = rows.astype(np.int64) * (n_columns + 1) + columns
    counts = np.bincount(pairs, minlength=(n_rows + 1) * (n_columns + 1))
    return counts.reshape(-1, n_columns + 1)[:n_rows, :n_columns]


def counts_by_value(values: Sequence[str], counts: npt.NDArray[np.int64]) -> dict[str, int]:
    """Return the counts above 0 by word."""
    return {value: int(n) for value, n in zip(values, counts.tolist(), strict=True) if n}


Numbers = npt.NDArray[np.int64]
_NOT_RUN: Final = list(ANSWER_STATUSES).index("not_run")


@dataclass(frozen=True, eq=False)
class SetColumns:
    """The columns of the answers and cases of one state of a set's files.

    Attributes
    ----------
    review_set : ReviewSet
        Any set with these files; what people wrote is not used.
    newest : AnswerRows
        The set's newest answers by number.
    without_answers : array of int64
        Rows of ``ReviewSet.cases`` of the cases without answers.
    """

    review_set: ReviewSet
    newest: AnswerRows
    without_answers: Numbers

    @classmethod
    def of(cls, review_set: ReviewSet) -> SetColumns:
        """Return the columns of a set."""
        newest = review_set.newest
        return cls(review_set, newest, np.flatnonzero(np.diff(newest.starts) == 0))

    def is_of(self, review_set: ReviewSet) -> bool:
        """True if a set has the same cases and answers."""
        mine = self.review_set
        return mine.cases is review_set.cases and mine.answers is review_set.answers

    @property
    def n_answers(self) -> int:
        """Number of rows that are answers; they come first."""
        return len(self.newest)

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.review_set.cases)

    def __len__(self) -> int:
        return len(self.newest) + len(self.without_answers)

    @cached_property
    def case_row(self) -> Codes:
        """Row in ``ReviewSet.cases`` of each row."""
        return self.with_the_others(self.newest.case, self.without_answers)

    @cached_property
    def model(self) -> CodedColumn:
        """The model of each row."""
        models = tuple(model.id for model in self.review_set.models)
        return CodedColumn(self.with_the_others(self.newest.model, len(models)), models)

    @cached_property
    def status(self) -> CodedColumn:
        """The status of each row, one of :data:`ANSWER_STATUSES`."""
        found = query_all_rows(
            self.review_set.answers, lambda rows: rows.select(status_code_expression())
        )
        codes = self.of_answers(found.to_series())
        return CodedColumn(self.with_the_others(codes, _NOT_RUN), tuple(ANSWER_STATUSES))

    @cached_property
    def case_codes(self) -> Mapping[str, CodedColumn]:
        """Coded columns of the cases."""
        cases = self.review_set.cases
        study = pl.when("normal").then(pl.lit("normal")).otherwise(pl.lit("abnormal"))
        studies = cases.select(study=pl.when(pl.col("normal").is_not_null()).then(study))
        categories = [word for words in CATEGORIES.values() for word in words]
        columns = {
            "question_type": cast_to_enum(cases["question_type"], list(QUESTION_TYPES)),
            "category": cast_to_enum(cases["category"], categories),
            "difficulty": cast_to_enum(cases["difficulty"], DIFFICULTIES),
            "site": cast_to_enum(cases["site"]),
            "study": cast_to_enum(studies["study"], list(STUDIES)),
        }
        return {name: CodedColumn.of(column) for name, column in columns.items()}

    @cached_property
    def tag_codes(self) -> Mapping[str, tuple[Codes, CodedColumn]]:
        """By tag name, the rows of the cases with the tag, and the coded ``name:value``."""

        def named_values(rows: pl.LazyFrame) -> pl.LazyFrame:
            return (
                rows.filter(pl.col("tags").list.len() > 0)
                .explode("tags")
                .unnest("tags")
                .filter(pl.col("values").list.len() > 0)
                .explode("values")
                .drop_nulls()
                .with_columns(pl.col("name").str.replace_all(":", " "))
                .select("row", "name", tag=pl.format("{}:{}", "name", "values"))
                .unique(["row", "tag"], maintain_order=True)
                .with_columns(pl.col("name", "tag").cast(pl.Categorical))
            )

        long = query_all_rows(
            self.review_set.cases.select("tags").with_row_index("row"), named_values
        )
        parts = long.partition_by("name", as_dict=True, maintain_order=True)
        return {
            str(name): (part["row"].to_numpy(), CodedColumn.of(cast_to_enum(part["tag"])))
            for (name,), part in parts.items()
        }

    @cached_property
    def n_images(self) -> int:
        """Number of different images."""
        images = self.review_set.cases["images"].explode().struct.field("path")
        return images.drop_nulls().n_unique()

    @cached_property
    def cluster(self) -> Numbers:
        """Number of each case's patient, from 0."""
        numbers = find_clusters(self.review_set.cases)["cluster"].to_numpy()
        return np.unique(numbers, return_inverse=True)[1]

    @property
    def answered(self) -> Mask:
        """Mask of the rows that are answers; the others are cases without any."""
        answered = np.zeros(len(self), dtype=np.bool_)
        answered[: self.n_answers] = True
        return answered

    def rows_of(self, case_row: int) -> range:
        """Return the rows of a case."""
        rows = self.newest.of_case(case_row)
        if rows:
            return rows
        row = self.n_answers + int(np.searchsorted(self.without_answers, case_row))
        return range(row, row + 1)

    def of_answers(self, column: pl.Series) -> npt.NDArray[Any]:
        """Return a column of ``ReviewSet.answers`` by answer number."""
        return np.asarray(column.to_numpy()[self.newest.row])

    def with_the_others(self, of_answers: Codes, of_cases: Any) -> Codes:
        """Return a column by row from the values of answers and of cases without answers."""
        if not len(self.without_answers):
            return of_answers
        column = np.empty(len(self), dtype=of_answers.dtype)
        column[: self.n_answers] = of_answers
        column[self.n_answers :] = of_cases
        return column

    def of_rows(self, of_case: Codes) -> Codes:
        """Return the value of each row's case."""
        return np.asarray(of_case[self.case_row])

    def any_of_case(self, rows: Mask) -> Mask:
        """Return a mask of the cases with a row in a mask."""
        return self.bits_of_case(rows.view(np.uint8)).view(np.bool_)

    def bits_of_case(self, bits: Codes) -> Codes:
        """Combine the bits of all rows of each case by "or"."""
        return self.gather(np.bitwise_or, bits)

    def gather(self, how: np.ufunc, of_row: Codes) -> Codes:
        """Reduce the values of each case's rows to one value a case."""
        first = self.newest.starts[:-1]
        if not len(self.without_answers):
            return np.asarray(how.reduceat(of_row, first)) if len(first) else of_row[:0]
        found = np.empty(self.n_cases, dtype=of_row.dtype)
        found[self.without_answers] = of_row[self.n_answers :]
        if self.n_answers:
            has_any = np.diff(self.newest.starts) > 0
            found[has_any] = how.reduceat(of_row[: self.n_answers], first[has_any])
        return found


class RowMaskIndex:
    """A mask of rows, indexed by case because much is combined by case."""

    def __init__(self, columns: SetColumns, mask: Mask) -> None:
        self.columns, self.mask = columns, mask
        self._rows: Numbers | None = None
        if np.count_nonzero(mask) * _MAX_COMPARED_WORDS < len(mask):
            self._rows = np.flatnonzero(mask)
            cases = columns.case_row[self._rows]
            # the rows of a case are adjacent: a case starts where the number changes
            self._first = np.flatnonzero(np.diff(cases, prepend=-1))
            self._cases = cases[self._first]

    @cached_property
    def any_of_case(self) -> Mask:
        """Mask of the cases with any of these rows."""
        if self._rows is None:
            return self.columns.any_of_case(self.mask)
        found = np.zeros(self.columns.n_cases, dtype=np.bool_)
        found[self._cases] = True
        return found

    def bits_of_case(self, bits: Codes) -> Codes:
        """Combine the bits of these rows of each case by "or"."""
        if self._rows is None:
            return self.columns.bits_of_case(bits * self.mask)
        found = np.zeros(self.columns.n_cases, dtype=bits.dtype)
        if len(self._rows):
            found[self._cases] = np.bitwise_or.reduceat(bits[self._rows], self._first)
        return found
