"""A few cases of a loaded set, read as a review set with what detectors found in it.

What is asked of single cases, and all that people wrote, is answered by the engine in memory, on
such sets: the same records go through the same code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview import frames
from rexview.analysis.clickhouse.database.database import Database
from rexview.analysis.clickhouse.tables.definitions import BY_CASE, FLAG, OF_RECORDS, RECORDS
from rexview.analysis.clickhouse.tables.manifest import PEOPLE, Manifest
from rexview.analysis.clickhouse.tables.rows_as_json import decoded
from rexview.detect.core.batch import TOLD_FLAGS
from rexview.detect.core.detector import Detector
from rexview.detect.core.finding_index import FindingIndex
from rexview.detect.core.scan import Scan, TextFlags, ToldInMemory
from rexview.frames import SharedIndex
from rexview.schema import Model, ReviewSet

_AT_A_TIME: Final = 2_000
_FIELDS: Final = tuple(name for name in OF_RECORDS if name not in ("version", "shard"))


def records_of(database: Database, manifest: Manifest, cases: Sequence[str]) -> pl.DataFrame:
    """Return the records of those of some cases that the set has, in the order of the files.

    Raises
    ------
    EngineUnreachable
    """
    parts = [OF_RECORDS.to_frame().select(_FIELDS)]
    for start in range(0, len(cases), _AT_A_TIME):
        found = database.query(
            f"SELECT {', '.join(_FIELDS)} FROM {RECORDS} "
            "WHERE version = {version:String} AND id IN {ids:Array(String)}",
            {"version": manifest.version, "ids": list(cases[start : start + _AT_A_TIME])},
        )
        parts.append(found.select(pl.col(name).cast(OF_RECORDS[name]) for name in _FIELDS))
    return pl.concat(parts).sort("case_row")


@dataclass(frozen=True, eq=False)
class SmallSet:
    """Some cases of a loaded set.

    Attributes
    ----------
    manifest : Manifest
    records : polars.DataFrame
        As :func:`records_of` returns them, each case once.
    given : ReviewSet
        The cases with all their answers; ``model`` has the places of the whole set. Nothing that
        people gave is in it.
    """

    manifest: Manifest
    records: pl.DataFrame
    given: ReviewSet

    @classmethod
    def of(cls, manifest: Manifest, records: pl.DataFrame, empty: ReviewSet) -> SmallSet:
        """Make a set of records; ``empty`` is the set without any case (:func:`empty_set`)."""
        tables: dict[str, Any] = {"cases": decoded(records["record"], frames.CASES)}
        for name in BY_CASE:
            schema = frames.TABLES[name.removeprefix("stale_")]
            rows = records[name].explode(empty_as_null=False, keep_nulls=False)
            tables[name] = decoded(rows, schema).sort("_row", maintain_order=True)
        given = replace(empty, **tables, shared_index=SharedIndex())
        return cls(manifest, records, given)

    @property
    def case_rows(self) -> npt.NDArray[np.int64]:
        """The place in the files of each case."""
        return self.records["case_row"].cast(pl.Int64).to_numpy()

    @property
    def patients(self) -> npt.NDArray[np.int64]:
        """The number of the patient in the whole set, of each case."""
        return self.records["patient"].cast(pl.Int64).to_numpy()

    def scan(self, detectors: Sequence[Detector]) -> Scan:
        """Return what detectors found in these cases when the set was loaded."""
        newest, records = self.given.newest, self.records
        flags = records.select("flags").with_row_index("at").explode("flags").drop_nulls("flags")
        told = decoded(flags["flags"], FLAG)
        first = newest.starts[flags["at"].to_numpy()]
        numbers = pl.Series("answer", first, dtype=pl.UInt32) + told["place"]
        told = told.with_columns(answer=numbers).select(
            pl.col(name).cast(kind) for name, kind in TOLD_FLAGS.items()
        )
        found = TextFlags(
            state=_flat(records["looked_at"], pl.UInt8()).to_numpy(),
            judged=_flat(records["judged_by"], pl.UInt32()).to_numpy(),
            words=_flat(records["words"], pl.UInt32()).to_numpy(),
            traits=_flat(records["traits"], pl.UInt8()).to_numpy(),
            flags=told.drop("message", "evidence"),
            index=self._index(),
            reports=np.ones(len(records), dtype=np.bool_),
            told=ToldInMemory([told]),
        )
        return Scan(tuple(detectors), self.given, found)

    def _index(self) -> FindingIndex:
        of_reports = self.records.select(
            text=-1 - pl.int_range(pl.len(), dtype=pl.Int32), phrase="phrases_of_report"
        )
        of_answers = pl.DataFrame({"phrase": _flat(self.records["phrases"], pl.List(pl.UInt32()))})
        of_answers = of_answers.select(text=pl.int_range(pl.len(), dtype=pl.Int32), phrase="phrase")
        both = pl.concat([of_reports, of_answers]).explode("phrase").drop_nulls()
        places = both["phrase"].cast(pl.Int32).to_numpy(), both["text"].to_numpy()
        return FindingIndex(self.manifest.phrases, ((places[1], places[0]),))


def _flat(lists: pl.Series, kind: pl.DataType) -> pl.Series:
    return lists.explode(empty_as_null=False, keep_nulls=False).cast(kind)


def empty_set(read: ReviewSet, manifest: Manifest) -> ReviewSet:
    """Return a loaded set without its cases: what its folder says, and all that people gave.

    ``read`` has what ``reviewset.yaml`` says, and finds pictures.
    """
    declared = {model.id: model for model in read.info.models}
    models = tuple(declared.get(one) or Model(id=one, name=one) for one in manifest.models)
    return replace(
        read,
        info=replace(read.info, models=models),
        fingerprint=f"{manifest.fingerprint}.{manifest.version}",
        plain_words=frozenset(manifest.plain_words),
    )


def given_by_people(manifest: Manifest) -> dict[str, pl.DataFrame]:
    """Return the tables that came with the set and that people filled, by name."""
    return {
        name: decoded(manifest.people[name], frames.TABLES[name.removeprefix("stale_")])
        for name in PEOPLE
    }
