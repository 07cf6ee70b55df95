"""What ClickHouse is given of a set: columns that the engine in memory has worked out.

No rule is written a second time: severity, flags, outcomes and all else are taken from the
:class:`.AnswerTable` of the set as its files and the detectors alone say it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.clickhouse.tables.definitions import OF_CASES, OF_ROWS, OF_STUDY, RIGHT_OPTION
from rexview.analysis.memory.selection import NO_DATE, REPEATS
from rexview.analysis.memory.study import MemoryStudyEngine
from rexview.analysis.memory.table import AnswerTable
from rexview.detect import FAILURE_BITS
from rexview.detect.core.batch import LOOKED_AT
from rexview.detect.self_contradiction import ASKED_AGAIN, asked_again
from rexview.schema import ReviewSet
from rexview.stats.multiple_choice.chosen import NOT_ASKED

NO_QUESTION: Final = -1
"""Instead of the right option: not a choice question whose right option is known."""
UNMARKED: Final = -2
"""Instead of the right option: a choice question without one."""
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SetColumnsByCase:
    """The columns of a set, some cases at a time."""

    table: AnswerTable
    version: str

    def of_cases(self, first: int, stop: int) -> pl.DataFrame:
        """Return the rows of the table ``cases`` for the cases in rows ``first`` to ``stop``."""
        rows = self._rows_of(first, stop)
        grouped = (
            self._of_rows(rows)
            .with_columns(case_row=pl.Series(self.table.columns.case_row[rows], dtype=pl.UInt32))
            .group_by("case_row", maintain_order=True)
            .agg(pl.all())
        )
        return self._of_cases(first, stop).join(
            grouped, on="case_row", how="left", maintain_order="left"
        )

    def _rows_of(self, first: int, stop: int) -> Numbers:
        """Return the rows of the answer table of some cases, case by case."""
        columns = self.table.columns
        low, high = columns.newest.starts[first], columns.newest.starts[stop]
        some, end = np.searchsorted(columns.without_answers, [first, stop])
        rows = np.concatenate(
            [np.arange(low, high), columns.n_answers + np.arange(some, end)]
        ).astype(np.int64)
        return np.asarray(rows[np.argsort(columns.case_row[rows], kind="stable")])

    def _of_cases(self, first: int, stop: int) -> pl.DataFrame:
        columns = self.table.columns
        cases = columns.review_set.cases[first:stop]
        report = pl.col("report").struct
        at = pl.Series("case_row", np.arange(first, stop), dtype=pl.UInt32)
        words = {
            name: coded.words(np.arange(first, stop)).cast(pl.String)
            for name, coded in columns.case_codes.items()
        }
        lists = {
            "tags": self._tags,
            "outcomes": self._outcomes,
            "phrases_of_report": self._phrases_of_reports,
        }
        found = cases.select(
            pl.lit(self.version).alias("version"),
            shard=shards(cases["id"]),
            case_row=at,
            id="id",
            patient=pl.Series(columns.cluster[first:stop], dtype=pl.UInt32),
            question="question",
            findings=report.field("findings"),
            impression=report.field("impression"),
            **{RIGHT_OPTION: pl.Series(self._right_option[first:stop], dtype=pl.Int16)},
        ).with_columns(**words)
        for name, pairs in lists.items():
            found = found.with_columns(pairs.at(np.arange(first, stop)).rename(name))
        texts = pl.col("question", "findings", "impression", *columns.case_codes)
        of_study = study_columns(self._some(first, stop))
        found = found.with_columns(texts.fill_null("")).select(*OF_CASES, RIGHT_OPTION)
        return pl.concat([found, of_study], how="horizontal")

    def _some(self, first: int, stop: int) -> ReviewSet:
        """Return the set with some of its cases and their newest answers, and no others."""
        newest, review_set = self.table.columns.newest, self.table.columns.review_set
        answers = review_set.answers[newest.row[newest.starts[first] : newest.starts[stop]]]
        return replace(review_set, cases=review_set.cases[first:stop], answers=answers)

    @cached_property
    def _right_option(self) -> npt.NDArray[np.int16]:
        chosen = self.table.chosen
        right = np.full(self.table.columns.n_cases, NO_QUESTION, dtype=np.int16)
        right[chosen.case_row] = chosen.right
        right[chosen.unmarked] = UNMARKED
        return right

    @cached_property
    def _tags(self) -> Lists:
        parts = [
            pl.DataFrame(
                {"at": rows.astype(np.int64), "value": coded.words(np.arange(len(rows)))}
            ).cast({"value": pl.String})
            for rows, coded in self.table.columns.tag_codes.values()
        ]
        return Lists.of(parts, pl.String())

    @cached_property
    def _outcomes(self) -> Lists:
        parts = [
            pl.DataFrame({"at": rows.astype(np.int64)}).with_columns(value=pl.lit(str(outcome)))
            for outcome, rows in self.table.outcomes.cases_with()
        ]
        return Lists.of(parts, pl.String())

    @cached_property
    def _of_texts(self) -> pl.DataFrame:
        index = self.table.survey.scan.index
        named = {"at": index.texts.astype(np.int64), "value": index.phrase_places.astype(np.uint32)}
        return pl.DataFrame(named)

    @cached_property
    def _phrases_of_reports(self) -> Lists:
        of_reports = self._of_texts.filter(pl.col("at") < 0).with_columns(at=-1 - pl.col("at"))
        return Lists.of([of_reports], pl.UInt32())

    def _of_rows(self, rows: Numbers) -> pl.DataFrame:
        """Return the columns of some rows of the answer table, one row each."""
        table, columns = self.table, self.table.columns
        is_answer = rows < columns.n_answers
        given = columns.review_set.answers.select("text", "created")[
            columns.newest.row[rows[is_answer]]
        ]
        texts = np.full(len(rows), "", dtype=object)
        texts[is_answer] = given["text"].fill_null("").to_numpy()
        created = np.full(len(rows), NO_DATE, dtype=np.int64)
        created[is_answer] = (
            given["created"].to_physical().cast(pl.Int64).fill_null(NO_DATE).to_numpy()
        )
        state = np.full(len(rows), LOOKED_AT, dtype=np.uint8)
        state[is_answer] = table.survey.scan.state[rows[is_answer]]
        choice = np.full(len(rows), NOT_ASKED, dtype=np.int16)
        choice[is_answer] = self._choice[rows[is_answer]]
        flat: dict[str, Any] = {
            "model": columns.model.codes[rows],
            "answered": is_answer,
            "status": columns.status.codes[rows],
            "created": created,
            "answer_text": pl.Series(texts, dtype=pl.String),
            "by_source": table.flagged.by_source[rows],
            "judged": table.flagged.judged[rows],
            "named": self._named[rows],
            "looked_at": state,
            "severity": table.severity.values[table.severity.ranks[rows]],
            "choice": choice,
        }
        for name, lists in self._lists.items():
            flat[name] = lists.at(rows)
        flat["metric_values"] = self._metric_values(rows)
        return pl.DataFrame(flat).select(pl.col(name).cast(kind) for name, kind in OF_ROWS.items())

    @cached_property
    def _choice(self) -> npt.NDArray[np.int16]:
        chosen = self.table.chosen
        choice = np.full(self.table.columns.n_answers, NOT_ASKED, dtype=np.int16)
        there = chosen.number >= 0
        choice[chosen.number[there]] = chosen.option[there]
        return choice

    @cached_property
    def _named(self) -> npt.NDArray[np.uint32]:
        """Bits of the failures of each row of which a finding is known."""
        named = np.zeros(len(self.table), dtype=np.uint32)
        found = self.table.flagged.findings
        bits = found["failure"].cast(pl.String).replace_strict(FAILURE_BITS, return_dtype=pl.UInt32)
        np.bitwise_or.at(named, found["row"].to_numpy(), bits.to_numpy())
        return named

    @cached_property
    def _lists(self) -> dict[str, Lists]:
        """What rows have several of, by column."""
        return {
            "about": Lists.of([self._about], pl.String()),
            "phrases": Lists.of([self._of_texts.filter(pl.col("at") >= 0)], pl.UInt32()),
            "again": Lists.of(self._again, pl.String()),
            "opinions": Lists.of(self._opinions, pl.String()),
            "repeats": Lists.of([self._repeats], pl.UInt32()),
        }

    @property
    def _about(self) -> pl.DataFrame:
        source = pl.when("hint").then(pl.lit("hint")).otherwise(pl.lit("detector"))
        word = about_word(pl.col("failure").cast(pl.String), source, pl.col("finding"))
        return self.table.flagged.findings.select(
            pl.col("row").cast(pl.Int64).alias("at"), value=word
        )

    @cached_property
    def _asked_again(self) -> pl.DataFrame:
        return asked_again(self.table.review_set)

    @property
    def _again(self) -> Iterator[pl.DataFrame]:
        for word, condition in REPEATS.items():
            met = self._asked_again.filter(condition)
            yield met.select(at="number", value=pl.lit(word))

    @property
    def _repeats(self) -> pl.DataFrame:
        numbers = [name for name in ASKED_AGAIN if name != "number"]
        as_list = pl.concat_list(pl.col(name).cast(pl.UInt32) for name in numbers)
        return self._asked_again.select(at="number", value=as_list).explode("value")

    @property
    def _opinions(self) -> list[pl.DataFrame]:
        """What judges say of answers, as the words that the filter asks for it with."""
        judge = pl.concat_str(escaped_column("prompt_id"), escaped_column("judge"), separator=":")
        present = pl.when("present").then(pl.lit("yes")).otherwise(pl.lit("no"))
        said = (
            pl.when(pl.col("failure").is_not_null())
            .then(present)
            .otherwise(pl.col("score").cast(pl.String))
        )
        about = pl.coalesce("failure", "dimension")
        rows = self.table.opinions.rows
        words = (
            pl.concat_str(about, one, judge, separator=":")
            for one in (pl.lit(""), said.cast(pl.String))
        )
        return [rows.select(at="number", value=word) for word in words]

    def _metric_values(self, rows: Numbers) -> pl.Series:
        metrics = self.table.metric_ids
        if not metrics:
            return pl.Series([[]], dtype=pl.List(pl.Float64())).new_from_index(0, len(rows))
        values = np.full((len(rows), len(metrics)), np.nan)
        for place, (numbers, of_numbers) in enumerate(self._by_metric):
            if len(numbers):
                near = np.minimum(np.searchsorted(numbers, rows), len(numbers) - 1)
                there = numbers[near] == rows
                values[there, place] = of_numbers[near[there]]
        return pl.Series(values, dtype=pl.Array(pl.Float64(), len(metrics))).arr.to_list()

    @cached_property
    def _by_metric(self) -> list[tuple[Numbers, npt.NDArray[np.float64]]]:
        found = []
        for one in self.table.metric_ids:
            numbers, values = self.table.values_of(one)
            order = np.argsort(numbers, kind="stable")
            found.append((numbers[order].astype(np.int64), values[order]))
        return found


@dataclass(frozen=True, eq=False)
class Lists:
    """What some of many things have several of: ``places`` of the things ascend."""

    places: Numbers
    values: pl.Series

    @classmethod
    def of(cls, parts: Any, kind: pl.DataType) -> Lists:
        """Gather frames of ``at`` and ``value``; the values of one keep their order."""
        empty = pl.DataFrame(schema={"at": pl.Int64(), "value": kind})
        every = pl.concat([empty, *(part.cast(dict(empty.schema)) for part in parts)])
        every = every.sort("at", maintain_order=True)
        return cls(every["at"].to_numpy(), every["value"])

    def at(self, places: Numbers) -> pl.Series:
        """Return the lists of some things; empty where they have none."""
        low, high = (np.searchsorted(self.places, places, side=side) for side in ("left", "right"))
        counts = high - low
        offsets = np.concatenate([[0], np.cumsum(counts)])
        inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        gathered = self.values.gather(np.repeat(low, counts) + inside)
        flat = pl.DataFrame({"at": np.repeat(np.arange(len(places)), counts), "value": gathered})
        lists = flat.group_by("at", maintain_order=True).agg("value")
        every = pl.DataFrame({"at": np.arange(len(places))}).join(
            lists, on="at", how="left", maintain_order="left"
        )
        return every["value"].fill_null([])


def shards(ids: pl.Series) -> pl.Series:
    """Return a hash of each id: where a case stands on a cluster, whatever version loads it."""
    hashed = [
        int.from_bytes(hashlib.blake2b(one.encode(), digest_size=8).digest(), "big")
        for one in ids.to_list()
    ]
    return pl.Series(hashed, dtype=pl.UInt64)


def escaped_column(name: str) -> pl.Expr:
    """Return a column as :func:`rexview.analysis.filter.conditions.escaped` writes words."""
    text = pl.col(name).cast(pl.String)
    return text.str.replace_all("%", "%25", literal=True).str.replace_all(":", "%3A", literal=True)


def about_word(failure: pl.Expr, source: pl.Expr, finding: pl.Expr) -> pl.Expr:
    """Return the word for a failure of an answer that is about a finding."""
    return pl.concat_str(failure, source, finding.cast(pl.String), separator="|")


def study_columns(review_set: ReviewSet) -> pl.DataFrame:
    """Return what there is to do in each case of a set, in their order: :data:`.OF_STUDY`."""
    engine, ids = MemoryStudyEngine(review_set), review_set.cases["id"].to_list()
    counts = (engine.of_task(task, ids) for task in ("score", "answer", "correct"))
    columns = ([found.get(case, 0) for case in ids] for found in counts)
    return pl.DataFrame(dict(zip(OF_STUDY, columns, strict=True)), schema=OF_STUDY)
