"""A loaded set: its manifest, its open tables, and its few cases in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview import frames
from rexview.analysis.query.clickhouse.database import ClickHouseDatabase
from rexview.analysis.query.clickhouse.table_layout import (
    FLAG_COLUMNS,
    LAYOUT_NUMBER,
    RECORD_COLUMNS,
    RECORDS_TABLE,
    TABLES_BY_CASE,
    decode_rows,
)
from rexview.detect.detector import Detector
from rexview.detect.scan.batch import DETAILED_FLAG_SCHEMA
from rexview.detect.scan.finding_index import FindingIndex, Phrase
from rexview.detect.scan.scan import InMemoryFlagDetails, Scan, TextFlags
from rexview.errors import EngineUnreachable
from rexview.frames import SharedIndex
from rexview.metrics.identity import MetricId
from rexview.schema import Model, ReviewSet
from rexview.stats.judge_agreement import Judge
from rexview.stats.multiple_choice import Rater

PEOPLE_TABLES: Final = (
    *("scores", "flags", "edits", "choices", "preferences", "references", "comments"),
    *("decisions", "candidates", "candidate_ratings", "candidate_tags", "selections"),
    *("validations", "stale_scores", "stale_flags", "stale_edits", "stale_choices"),
    "stale_preferences",
)
"""Tables of a review set that people fill: small, and kept in memory as a whole."""


@dataclass(frozen=True)
class SetManifest:
    """The manifest of one version of a set in ClickHouse.

    Attributes
    ----------
    version : str
        Letters and digits.
    fingerprint : str
        The state of the loaded files.
    models : tuple of str
        Ids in the set's order: ``model`` of the rows are indices into it.
    n_cases, n_answers, n_images : int
    words : mapping of str to tuple of str
        The values of the columns of cases, in the order of the facets.
    tags : mapping of str to tuple of str
        The values (``name:value``) of each tag, in order.
    properties : tuple of (str, str, str)
        The properties in which cases differ, see :class:`.CaseProperty`.
    phrases : tuple of Phrase
        ``phrases`` of rows are indices into it.
    metrics : tuple of MetricId
        The metrics of ``metric_values`` of rows.
    metrics_in_set : tuple of (int, tuple of int)
        For each metric, the number of answers with a value, and the numbers of answers that it was
        computed on together.
    raters : tuple of Rater
        Everyone with choices in the files.
    judges : tuple of (Judge, int, int)
        The judges that gave opinions, the newest first; the number of opinions on earlier texts of
        answers, and the number of versions of the prompt.
    plain_words : tuple of str
        Words of models' names that also occur in questions and reports.
    people : mapping of str to tuple of str
        Rows of :data:`PEOPLE_TABLES` as JSON.
    """

    version: str
    fingerprint: str
    models: tuple[str, ...]
    n_cases: int
    n_answers: int
    n_images: int
    words: Mapping[str, tuple[str, ...]]
    tags: Mapping[str, tuple[str, ...]]
    properties: tuple[tuple[str, str, str], ...]
    phrases: tuple[Phrase, ...]
    metrics: tuple[MetricId, ...]
    metrics_in_set: tuple[tuple[int, tuple[int, ...]], ...]
    raters: tuple[Rater, ...]
    judges: tuple[tuple[Judge, int, int], ...]
    plain_words: tuple[str, ...]
    people: Mapping[str, tuple[str, ...]]

    def as_json(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps({"layout": LAYOUT_NUMBER, **asdict(self)}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> SetManifest | None:
        """Return the manifest of a JSON text; None if another layout wrote it."""
        given: dict[str, Any] = json.loads(text)
        if given.pop("layout", None) != LAYOUT_NUMBER:
            return None
        made = {
            **given,
            "models": tuple(given["models"]),
            "words": _tuples(given["words"]),
            "tags": _tuples(given["tags"]),
            "properties": tuple(tuple(one) for one in given["properties"]),
            "phrases": tuple(Phrase(*one) for one in given["phrases"]),
            "metrics": tuple(MetricId(*one) for one in given["metrics"]),
            "metrics_in_set": tuple((n, tuple(of)) for n, of in given["metrics_in_set"]),
            "raters": tuple(Rater(**one) for one in given["raters"]),
            "judges": tuple((Judge(**one), stale, texts) for one, stale, texts in given["judges"]),
            "plain_words": tuple(given["plain_words"]),
            "people": _tuples(given["people"]),
        }
        return cls(**made)


def _tuples(given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in given.items()}


def empty_people_tables(review_set: ReviewSet) -> dict[str, Any]:
    """Return the tables that people fill, emptied; those of files and models are not returned."""
    return {name: getattr(review_set, name).clear() for name in PEOPLE_TABLES}


# A few cases of a loaded set, read as a review set with the detectors' results.
#
# The engine in memory answers queries about single cases and people's reviews, on such sets: the
# same records go through the same code.

_AT_A_TIME: Final = 2_000
_FIELDS: Final = tuple(name for name in RECORD_COLUMNS if name not in ("version", "shard"))


def fetch_records(
    database: ClickHouseDatabase, manifest: SetManifest, cases: Sequence[str]
) -> pl.DataFrame:
    """Return the records of the given cases that are in the set, in the order of the files.

    Raises
    ------
    EngineUnreachable
    """
    parts = [RECORD_COLUMNS.to_frame().select(_FIELDS)]
    for start in range(0, len(cases), _AT_A_TIME):
        found = database.query(
            f"SELECT {', '.join(_FIELDS)} FROM {RECORDS_TABLE} "
            "WHERE version = {version:String} AND id IN {ids:Array(String)}",
            {"version": manifest.version, "ids": list(cases[start : start + _AT_A_TIME])},
        )
        parts.append(found.select(pl.col(name).cast(RECORD_COLUMNS[name]) for name in _FIELDS))
    return pl.concat(parts).sort("case_row")


@dataclass(frozen=True, eq=False)
class CaseSubset:
    """Some cases of a loaded set.

    Attributes
    ----------
    manifest : SetManifest
    records : polars.DataFrame
        As :func:`fetch_records` returns them, each case once.
    given : ReviewSet
        The cases with all their answers; ``model`` has the indices of the whole set. Tables that
        people fill are empty.
    """

    manifest: SetManifest
    records: pl.DataFrame
    given: ReviewSet

    @classmethod
    def of(cls, manifest: SetManifest, records: pl.DataFrame, empty: ReviewSet) -> CaseSubset:
        """Return a set of records; ``empty`` is the set without cases (:func:`build_empty_set`)."""
        tables: dict[str, Any] = {"cases": decode_rows(records["record"], frames.CASES)}
        for name in TABLES_BY_CASE:
            schema = frames.TABLES[name.removeprefix("stale_")]
            rows = records[name].explode(empty_as_null=False, keep_nulls=False)
            tables[name] = decode_rows(rows, schema).sort("_row", maintain_order=True)
        given = replace(empty, **tables, shared_index=SharedIndex())
        return cls(manifest, records, given)

    @property
    def case_rows(self) -> npt.NDArray[np.int64]:
        """Row of each case in the files."""
        return self.records["case_row"].cast(pl.Int64).to_numpy()

    @property
    def patients(self) -> npt.NDArray[np.int64]:
        """Number of each case's patient in the whole set."""
        return self.records["patient"].cast(pl.Int64).to_numpy()

    def scan(self, detectors: Sequence[Detector]) -> Scan:
        """Return the detectors' results for these cases from when the set was loaded."""
        newest, records = self.given.newest, self.records
        flags = records.select("flags").with_row_index("at").explode("flags").drop_nulls("flags")
        told = decode_rows(flags["flags"], FLAG_COLUMNS)
        first = newest.starts[flags["at"].to_numpy()]
        numbers = pl.Series("answer", first, dtype=pl.UInt32) + told["place"]
        told = told.with_columns(answer=numbers).select(
            pl.col(name).cast(kind) for name, kind in DETAILED_FLAG_SCHEMA.items()
        )
        found = TextFlags(
            state=_flat(records["looked_at"], pl.UInt8()).to_numpy(),
            judged=_flat(records["judged_by"], pl.UInt32()).to_numpy(),
            words=_flat(records["words"], pl.UInt32()).to_numpy(),
            traits=_flat(records["traits"], pl.UInt8()).to_numpy(),
            flags=told.drop("message", "evidence"),
            index=self._index(),
            reports=np.ones(len(records), dtype=np.bool_),
            told=InMemoryFlagDetails([told]),
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


def build_empty_set(read: ReviewSet, manifest: SetManifest) -> ReviewSet:
    """Return a loaded set without its cases: the folder's settings and people's tables.

    ``read`` has the content of ``reviewset.yaml`` and finds pictures.
    """
    declared = {model.id: model for model in read.info.models}
    models = tuple(declared.get(one) or Model(id=one, name=one) for one in manifest.models)
    return replace(
        read,
        info=replace(read.info, models=models),
        fingerprint=f"{manifest.fingerprint}.{manifest.version}",
        plain_words=frozenset(manifest.plain_words),
    )


def read_people_tables(manifest: SetManifest) -> dict[str, pl.DataFrame]:
    """Return the tables filled by people that came with the set, by name."""
    return {
        name: decode_rows(manifest.people[name], frames.TABLES[name.removeprefix("stale_")])
        for name in PEOPLE_TABLES
    }


# An open loaded set: its tables, and its few cases in memory.

MAX_REVIEWED_CASES: Final = 50_000
"""Most reviewed cases, which are in memory."""
_PAGES_KEPT: Final = 32
_UNUSED_KEPT: Final = 2_000
"""Most unused cases in memory; when there are more, all of them are dropped."""


@dataclass(frozen=True, eq=False)
class _CachedRecords:
    """Records in memory, and their cases."""

    records: pl.DataFrame
    cases: frozenset[str]


class OpenClickHouseSet:
    """An open version of a set in ClickHouse. Safe for several threads.

    Parameters
    ----------
    database : ClickHouseDatabase
    manifest : SetManifest
        The version.
    read : ReviewSet
        The set without any case: its folder's settings, and how its pictures are found.
    """

    def __init__(
        self, database: ClickHouseDatabase, manifest: SetManifest, read: ReviewSet
    ) -> None:
        self.database: Final = database
        self.manifest: Final = manifest
        self.empty: Final = build_empty_set(read, manifest)
        self.people: Final = read_people_tables(manifest)
        self._known = _CachedRecords(fetch_records(database, manifest, []), frozenset())
        self._reading = Lock()
        self.of_cases = lru_cache(maxsize=_PAGES_KEPT)(self.small_set)

    def reviewed(self, written_about: Iterable[str] = ()) -> CaseSubset:
        """Return the cases that people reviewed, in the files or later, in the order of the files.

        ``written_about`` has the cases reviewed later. Only cases that are not in memory yet are
        fetched.

        Raises
        ------
        EngineUnreachable
            ClickHouse does not answer, or there are more than :data:`MAX_REVIEWED_CASES` such
            cases.
        """
        wanted = frozenset(written_about).union(*map(cases_in_table, self.people.values()))
        if len(wanted) > MAX_REVIEWED_CASES:
            raise EngineUnreachable(
                f"People have written about {len(wanted):,} cases of this set, and "
                f"{MAX_REVIEWED_CASES:,} fit beside tables on ClickHouse.",
                "Open it with the engine in memory.",
            )
        with self._reading:
            new = sorted(wanted - self._known.cases)
            if new:
                more = fetch_records(self.database, self.manifest, new)
                records = pl.concat([self._known.records, more]).sort("case_row")
                self._known = _CachedRecords(records, self._known.cases | wanted)
            known = self._known.records
            if len(self._known.cases) - len(wanted) > _UNUSED_KEPT:
                of_wanted = known.filter(pl.col("id").is_in(list(wanted)))
                self._known = _CachedRecords(of_wanted, wanted)
        records = known.filter(pl.col("id").is_in(list(wanted)))
        return self._set_of(records)

    def small_set(self, cases: Sequence[str]) -> CaseSubset:
        """Return the given cases that are in the set; :attr:`of_cases` caches the latest.

        Raises
        ------
        EngineUnreachable
        """
        return self._set_of(fetch_records(self.database, self.manifest, cases))

    def _set_of(self, records: pl.DataFrame) -> CaseSubset:
        return CaseSubset.of(self.manifest, records, self.empty)


def cases_in_table(table: pl.DataFrame) -> set[str]:
    """Return the cases that a table names."""
    return set(table["case"].drop_nulls()) if "case" in table.columns else set()


def add_people_tables(given: ReviewSet, people: dict[str, pl.DataFrame]) -> ReviewSet:
    """Return a set with the tables that people filled, which are about its cases."""
    known: dict[str, Any] = dict(people)
    return replace(given, **known)


def reviews_of_cases(written: ReviewSet, cases: Sequence[str]) -> dict[str, Any]:
    """Return people's input about some cases, by table."""
    named = pl.Series(list(cases), dtype=pl.String).implode()
    tables = {name: getattr(written, name) for name in (*PEOPLE_TABLES, "unfinished")}
    found: dict[str, Any] = {
        name: table.filter(pl.col("case").is_in(named)) if "case" in table.columns else table
        for name, table in tables.items()
    }
    wanted = frozenset(cases)
    found["marks"] = tuple(mark for mark in written.marks if mark.case in wanted)
    return found | {"written_failures": written.written_failures}
