"""The rows of the files of a set, case by case, and what detectors said of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.clickhouse.loading.columns_of_set import Lists, shards
from rexview.analysis.clickhouse.tables.definitions import BY_CASE, FLAG, OF_RECORDS
from rexview.analysis.clickhouse.tables.rows_as_json import encoded
from rexview.analysis.memory.table import AnswerTable


@dataclass(frozen=True, eq=False)
class SetRecordsByCase:
    """The records of a set, some cases at a time."""

    table: AnswerTable
    version: str

    def of_cases(self, first: int, stop: int) -> pl.DataFrame:
        """Return the rows of the table ``records`` for some cases."""
        columns, scan = self.table.columns, self.table.survey.scan
        newest, cases = columns.newest, columns.review_set.cases[first:stop]
        places = np.arange(first, stop)
        low, high = int(newest.starts[first]), int(newest.starts[stop])
        numbers = np.arange(low, high)
        found = pl.DataFrame(
            {
                "version": [self.version] * len(cases),
                "shard": shards(cases["id"]),
                "case_row": places.astype(np.uint32),
                "id": cases["id"],
                "patient": columns.cluster[first:stop].astype(np.uint32),
                "record": encoded(cases),
            }
        )
        for name in BY_CASE:
            found = found.with_columns(self._rows_of_tables(name, first, stop).alias(name))
        flags = Lists.of([self._flags(first, stop)], pl.String()).at(places)
        of_answers = pl.DataFrame(
            {
                "at": newest.case[numbers].astype(np.int64),
                "looked_at": scan.found.state[numbers],
                "judged_by": scan.found.judged[numbers],
                "words": scan.found.words[numbers],
                "traits": scan.found.traits[numbers],
                "phrases": self.phrases.at(numbers),
            }
        )
        grouped = pl.DataFrame({"at": places}).join(
            of_answers.group_by("at", maintain_order=True).agg(pl.all()),
            on="at",
            how="left",
            maintain_order="left",
        )
        return found.with_columns(
            flags.alias("flags"),
            self.phrases.at(-1 - places).alias("phrases_of_report"),
            *(grouped[name].fill_null([]) for name in of_answers.columns if name != "at"),
        ).select(pl.col(name).cast(kind) for name, kind in OF_RECORDS.items())

    @cached_property
    def phrases(self) -> Lists:
        """What each text mentions: by number of the answer, reports as in the finding index."""
        index = self.table.survey.scan.index
        named = {"at": index.texts.astype(np.int64), "value": index.phrase_places.astype(np.uint32)}
        return Lists.of([pl.DataFrame(named)], pl.UInt32())

    @cached_property
    def _rows(self) -> dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Of each table the rows by case, in the order of the file, and those of the cases."""
        review_set, found = self.table.columns.review_set, {}
        for name in BY_CASE:
            of_case = review_set.case_rows(getattr(review_set, name)["case"])
            order = np.argsort(of_case, kind="stable")
            found[name] = order, of_case[order]
        return found

    def _rows_of_tables(self, name: str, first: int, stop: int) -> pl.Series:
        """Return the rows of a table as JSON, a list for each of some cases."""
        rows, of_case = self._rows[name]
        low, high = np.searchsorted(of_case, [first, stop])
        given = getattr(self.table.columns.review_set, name)[rows[low:high]]
        part = pl.DataFrame({"at": of_case[low:high], "value": encoded(given)})
        return Lists.of([part], pl.String()).at(np.arange(first, stop))

    def _flags(self, first: int, stop: int) -> pl.DataFrame:
        told = self.table.survey.scan.told_without_scores(first, stop)
        newest = self.table.columns.newest
        numbers = told["answer"].to_numpy()
        case_row = newest.case[numbers]
        flags = told.with_columns(place=pl.Series(numbers - newest.starts[case_row]))
        rows = flags.select(pl.col(name).cast(kind) for name, kind in FLAG.items())
        return pl.DataFrame({"at": case_row.astype(np.int64), "value": encoded(rows)})
