"""Load a review set into ClickHouse, whole or not at all: its columns and its records."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.case.blinding import find_plain_words
from rexview.analysis.query.clickhouse.database import ClickHouseDatabase
from rexview.analysis.query.clickhouse.loaded_set import (
    PEOPLE_TABLES,
    SetManifest,
    empty_people_tables,
)
from rexview.analysis.query.clickhouse.table_layout import (
    ANSWER_COLUMNS,
    CASE_COLUMNS,
    CASES_TABLE,
    FLAG_COLUMNS,
    LOADS_TABLE,
    RECORD_COLUMNS,
    RECORDS_TABLE,
    RIGHT_OPTION,
    STUDY_COLUMNS,
    TABLES_BY_CASE,
    create_tables,
    drop_version,
    encode_rows,
)
from rexview.analysis.query.memory.answer_table import AnswerTable, build_answer_table
from rexview.analysis.query.memory.memory_engine import find_differing_properties
from rexview.analysis.query.memory.selection import MISSING_DATE, REPEAT_EXPRESSIONS
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine
from rexview.detect import FAILURE_BITS
from rexview.detect.scan.batch import SCANNED
from rexview.detect.scan.scan import Scan
from rexview.detect.self_contradiction import REPEAT_COLUMNS, compare_repeats
from rexview.errors import EngineError, LoadRefused, SetNotLoaded
from rexview.metrics.identity import MetricId
from rexview.schema import ReviewSet
from rexview.stats.judge_agreement import collect_judge_opinions
from rexview.stats.multiple_choice import NO_CHOICE

# The columns of a set for ClickHouse, computed by the engine in memory.
#
# No rule is written a second time: severity, flags, outcomes and all other values come from the
# :class:`.AnswerTable` of the set's files and the detectors, without people's input.

NO_QUESTION: Final = -1
"""Right option of a case that is no choice question with a known right option."""
UNMARKED: Final = -2
"""Right option of a choice question that has none."""
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
            shard=hash_shards(cases["id"]),
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
        of_study = build_study_columns(self._some(first, stop))
        found = found.with_columns(texts.fill_null("")).select(*CASE_COLUMNS, RIGHT_OPTION)
        return pl.concat([found, of_study], how="horizontal")

    def _some(self, first: int, stop: int) -> ReviewSet:
        """Return the set with only some of its cases and their newest answers."""
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
    def _tags(self) -> ListColumn:
        parts = [
            pl.DataFrame(
                {"at": rows.astype(np.int64), "value": coded.words(np.arange(len(rows)))}
            ).cast({"value": pl.String})
            for rows, coded in self.table.columns.tag_codes.values()
        ]
        return ListColumn.of(parts, pl.String())

    @cached_property
    def _outcomes(self) -> ListColumn:
        parts = [
            pl.DataFrame({"at": rows.astype(np.int64)}).with_columns(value=pl.lit(str(outcome)))
            for outcome, rows in self.table.outcomes.cases_with()
        ]
        return ListColumn.of(parts, pl.String())

    @cached_property
    def _of_texts(self) -> pl.DataFrame:
        index = self.table.survey.scan.index
        named = {"at": index.texts.astype(np.int64), "value": index.phrase_places.astype(np.uint32)}
        return pl.DataFrame(named)

    @cached_property
    def _phrases_of_reports(self) -> ListColumn:
        of_reports = self._of_texts.filter(pl.col("at") < 0).with_columns(at=-1 - pl.col("at"))
        return ListColumn.of([of_reports], pl.UInt32())

    def _of_rows(self, rows: Numbers) -> pl.DataFrame:
        """Return the columns of some rows of the answer table, one row each."""
        table, columns = self.table, self.table.columns
        is_answer = rows < columns.n_answers
        given = columns.review_set.answers.select("text", "created")[
            columns.newest.row[rows[is_answer]]
        ]
        texts = np.full(len(rows), "", dtype=object)
        texts[is_answer] = given["text"].fill_null("").to_numpy()
        created = np.full(len(rows), MISSING_DATE, dtype=np.int64)
        created[is_answer] = (
            given["created"].to_physical().cast(pl.Int64).fill_null(MISSING_DATE).to_numpy()
        )
        state = np.full(len(rows), SCANNED, dtype=np.uint8)
        state[is_answer] = table.survey.scan.state[rows[is_answer]]
        choice = np.full(len(rows), NO_CHOICE, dtype=np.int16)
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
        return pl.DataFrame(flat).select(
            pl.col(name).cast(kind) for name, kind in ANSWER_COLUMNS.items()
        )

    @cached_property
    def _choice(self) -> npt.NDArray[np.int16]:
        chosen = self.table.chosen
        choice = np.full(self.table.columns.n_answers, NO_CHOICE, dtype=np.int16)
        there = chosen.number >= 0
        choice[chosen.number[there]] = chosen.option[there]
        return choice

    @cached_property
    def _named(self) -> npt.NDArray[np.uint32]:
        """Bits of each row's failures with a known finding."""
        named = np.zeros(len(self.table), dtype=np.uint32)
        found = self.table.flagged.findings
        bits = found["failure"].cast(pl.String).replace_strict(FAILURE_BITS, return_dtype=pl.UInt32)
        np.bitwise_or.at(named, found["row"].to_numpy(), bits.to_numpy())
        return named

    @cached_property
    def _lists(self) -> dict[str, ListColumn]:
        """Columns of lists by row."""
        return {
            "about": ListColumn.of([self._about], pl.String()),
            "phrases": ListColumn.of([self._of_texts.filter(pl.col("at") >= 0)], pl.UInt32()),
            "again": ListColumn.of(self._again, pl.String()),
            "opinions": ListColumn.of(self._opinions, pl.String()),
            "repeats": ListColumn.of([self._repeats], pl.UInt32()),
        }

    @property
    def _about(self) -> pl.DataFrame:
        source = pl.when("hint").then(pl.lit("hint")).otherwise(pl.lit("detector"))
        word = failure_finding_text(pl.col("failure").cast(pl.String), source, pl.col("finding"))
        return self.table.flagged.findings.select(
            pl.col("row").cast(pl.Int64).alias("at"), value=word
        )

    @cached_property
    def _asked_again(self) -> pl.DataFrame:
        return compare_repeats(self.table.review_set)

    @property
    def _again(self) -> Iterator[pl.DataFrame]:
        for word, condition in REPEAT_EXPRESSIONS.items():
            met = self._asked_again.filter(condition)
            yield met.select(at="number", value=pl.lit(word))

    @property
    def _repeats(self) -> pl.DataFrame:
        numbers = [name for name in REPEAT_COLUMNS if name != "number"]
        as_list = pl.concat_list(pl.col(name).cast(pl.UInt32) for name in numbers)
        return self._asked_again.select(at="number", value=as_list).explode("value")

    @property
    def _opinions(self) -> list[pl.DataFrame]:
        """Judges' opinions of answers, as texts of the filter's conditions."""
        judge = pl.concat_str(escape_column("prompt_id"), escape_column("judge"), separator=":")
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
class ListColumn:
    """A column of lists, most of them empty: ``values`` with their ``places``, which ascend."""

    places: Numbers
    values: pl.Series

    @classmethod
    def of(cls, parts: Any, kind: pl.DataType) -> ListColumn:
        """Join frames of ``at`` and ``value``; values at one place keep their order."""
        empty = pl.DataFrame(schema={"at": pl.Int64(), "value": kind})
        every = pl.concat([empty, *(part.cast(dict(empty.schema)) for part in parts)])
        every = every.sort("at", maintain_order=True)
        return cls(every["at"].to_numpy(), every["value"])

    def at(self, places: Numbers) -> pl.Series:
        """Return the lists at some places; empty where there are no values."""
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


def hash_shards(ids: pl.Series) -> pl.Series:
    """Return a hash of each id, which places a case on a cluster, the same in every version."""
    hashed = [
        int.from_bytes(hashlib.blake2b(one.encode(), digest_size=8).digest(), "big")
        for one in ids.to_list()
    ]
    return pl.Series(hashed, dtype=pl.UInt64)


def escape_column(name: str) -> pl.Expr:
    """Return a column escaped like :func:`rexview.analysis.query.filter.conditions.escape_id`."""
    text = pl.col(name).cast(pl.String)
    return text.str.replace_all("%", "%25", literal=True).str.replace_all(":", "%3A", literal=True)


def failure_finding_text(failure: pl.Expr, source: pl.Expr, finding: pl.Expr) -> pl.Expr:
    """Return the text for an answer's failure with its finding."""
    return pl.concat_str(failure, source, finding.cast(pl.String), separator="|")


def build_study_columns(review_set: ReviewSet) -> pl.DataFrame:
    """Return the readers' work in each case of a set, in order: :data:`.STUDY_COLUMNS`."""
    engine, ids = MemoryStudyEngine(review_set), review_set.cases["id"].to_list()
    counts = (engine.of_task(task, ids) for task in ("score", "answer", "correct"))
    columns = ([found.get(case, 0) for case in ids] for found in counts)
    return pl.DataFrame(dict(zip(STUDY_COLUMNS, columns, strict=True)), schema=STUDY_COLUMNS)


# The records of a set: rows of its files by case, and the detectors' results.


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
                "shard": hash_shards(cases["id"]),
                "case_row": places.astype(np.uint32),
                "id": cases["id"],
                "patient": columns.cluster[first:stop].astype(np.uint32),
                "record": encode_rows(cases),
            }
        )
        for name in TABLES_BY_CASE:
            found = found.with_columns(self._rows_of_tables(name, first, stop).alias(name))
        flags = ListColumn.of([self._flags(first, stop)], pl.String()).at(places)
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
        ).select(pl.col(name).cast(kind) for name, kind in RECORD_COLUMNS.items())

    @cached_property
    def phrases(self) -> ListColumn:
        """Phrases of each text, by answer number; reports are numbered as in the finding index."""
        index = self.table.survey.scan.index
        named = {"at": index.texts.astype(np.int64), "value": index.phrase_places.astype(np.uint32)}
        return ListColumn.of([pl.DataFrame(named)], pl.UInt32())

    @cached_property
    def _rows(self) -> dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """By table, its rows sorted by case, in the order of the file, and the rows' cases."""
        review_set, found = self.table.columns.review_set, {}
        for name in TABLES_BY_CASE:
            of_case = review_set.case_rows(getattr(review_set, name)["case"])
            order = np.argsort(of_case, kind="stable")
            found[name] = order, of_case[order]
        return found

    def _rows_of_tables(self, name: str, first: int, stop: int) -> pl.Series:
        """Return the rows of a table as JSON, a list for each of some cases."""
        rows, of_case = self._rows[name]
        low, high = np.searchsorted(of_case, [first, stop])
        given = getattr(self.table.columns.review_set, name)[rows[low:high]]
        part = pl.DataFrame({"at": of_case[low:high], "value": encode_rows(given)})
        return ListColumn.of([part], pl.String()).at(np.arange(first, stop))

    def _flags(self, first: int, stop: int) -> pl.DataFrame:
        told = self.table.survey.scan.told_without_scores(first, stop)
        newest = self.table.columns.newest
        numbers = told["answer"].to_numpy()
        case_row = newest.case[numbers]
        flags = told.with_columns(place=pl.Series(numbers - newest.starts[case_row]))
        rows = flags.select(pl.col(name).cast(kind) for name, kind in FLAG_COLUMNS.items())
        return pl.DataFrame({"at": case_row.astype(np.int64), "value": encode_rows(rows)})


# Load a review set into ClickHouse: whole or not at all.
#
# A new version is written next to the current one. Only when it is complete does one row make it
# the current version. The next load removes what an interrupted load has left.

_CASES_AT_A_TIME: Final = 5_000
_KEPT_VERSIONS: Final = 2
"""Versions of a set that are kept, because a server may still show the previous one."""
_INTERRUPTED_AFTER_H: Final = 24
"""Hours after its start when an unfinished load counts as interrupted."""
LoadProgressCallback = Callable[[int, int], None]


def load_set(
    database: ClickHouseDatabase,
    name: str,
    review_set: ReviewSet,
    scan: Scan,
    show: LoadProgressCallback | None = None,
) -> SetManifest:
    """Load a set under a name and make it the current version.

    ``review_set`` is the set of the files, ``scan`` the detectors' results on all of it. ``show``
    is called with the number of loaded cases and of all cases.

    Raises
    ------
    LoadRefused
        Detectors have not run on all answers.
    EngineUnreachable
        ClickHouse does not answer. The current version does not change.
    """
    if not scan.is_complete:
        raise LoadRefused(
            "The search for failures has not looked at all answers of this set.",
            "Run: python -m rexview failures SET --keep",
        )
    create_tables(database)
    _remove_interrupted(database, name)
    version = secrets.token_hex(8)
    bare = replace(review_set, **empty_people_tables(review_set))
    table = build_answer_table(bare, scan=scan)
    manifest = _build_manifest(version, review_set, table)
    _record_load(database, name, manifest, "begun")
    try:
        _write_tables(database, table, version, show)
        _record_load(database, name, manifest, "shown")
    except BaseException:
        _drop_quietly(database, version)
        raise
    _remove_old(database, name)
    return manifest


def read_current_version(database: ClickHouseDatabase, name: str) -> SetManifest:
    """Return the manifest of a set's current version.

    Raises
    ------
    SetNotLoaded
        There is none, or another version of rexview wrote it.
    EngineUnreachable
    """
    create_tables(database)
    found = database.query(
        f"SELECT manifest FROM {LOADS_TABLE} WHERE review_set = {{name:String}} AND state = "
        "'shown' "
        "ORDER BY at DESC, version LIMIT 1",
        {"name": name},
    )
    if found.is_empty():
        raise SetNotLoaded("This set is not in the tables.", "Load it: python -m rexview load SET")
    manifest = SetManifest.of_json(found.item())
    if manifest is None:
        raise SetNotLoaded(
            "Another version of rexview loaded this set.", "Load it: python -m rexview load SET"
        )
    return manifest


def find_current_version(database: ClickHouseDatabase, name: str) -> SetManifest | None:
    """Return the manifest of a set's current version, None if there is none.

    Raises
    ------
    EngineUnreachable
    """
    try:
        return read_current_version(database, name)
    except SetNotLoaded:
        return None


def find_current_version_id(database: ClickHouseDatabase, name: str) -> str:
    """Return the id of a set's current version, empty if there is none."""
    found = database.query(
        f"SELECT version FROM {LOADS_TABLE} WHERE review_set = {{name:String}} AND state = 'shown' "
        "ORDER BY at DESC, version LIMIT 1",
        {"name": name},
    )
    return "" if found.is_empty() else str(found.item())


def _build_manifest(version: str, review_set: ReviewSet, table: AnswerTable) -> SetManifest:
    columns, index = table.columns, table.survey.scan.index
    opinions = collect_judge_opinions(review_set, columns.cluster)
    judges = (
        (one, opinions.stale.get(one, 0), opinions.wordings.get(one, 0)) for one in opinions.judges
    )
    properties = find_differing_properties(columns)
    return SetManifest(
        version=version,
        fingerprint=review_set.fingerprint.partition("-")[0],  # of the files alone
        models=tuple(model.id for model in review_set.models),
        n_cases=columns.n_cases,
        n_answers=columns.n_answers,
        n_images=columns.n_images,
        words={name: coded.values for name, coded in columns.case_codes.items()},
        tags={name: coded.values for name, (_, coded) in columns.tag_codes.items()},
        properties=tuple((one.key, one.name, one.field) for one in properties),
        phrases=index.phrases,
        metrics=table.metric_ids,
        metrics_in_set=tuple(_count_values(table, one) for one in table.metric_ids),
        raters=table.chosen.raters,
        judges=tuple(judges),
        plain_words=tuple(sorted(find_plain_words(review_set))),
        people={
            name: tuple(encode_rows(getattr(review_set, name)).to_list()) for name in PEOPLE_TABLES
        },
    )


def _count_values(table: AnswerTable, metric: MetricId) -> tuple[int, tuple[int, ...]]:
    """Return the number of a metric's values, and the numbers of values computed together."""
    values = table.metrics.of(metric)
    return len(values), tuple(np.unique(values.together[values.together > 0]).tolist())


def _write_tables(
    database: ClickHouseDatabase,
    table: AnswerTable,
    version: str,
    show: LoadProgressCallback | None,
) -> None:
    columns, records = SetColumnsByCase(table, version), SetRecordsByCase(table, version)
    every = table.columns.n_cases
    for first in range(0, every, _CASES_AT_A_TIME):
        stop = min(first + _CASES_AT_A_TIME, every)
        database.insert(CASES_TABLE, columns.of_cases(first, stop))
        database.insert(RECORDS_TABLE, records.of_cases(first, stop))
        if show:
            show(stop, every)


def _record_load(
    database: ClickHouseDatabase, name: str, manifest: SetManifest, state: str
) -> None:
    row = {
        "review_set": name,
        "version": manifest.version,
        "state": state,
        "fingerprint": manifest.fingerprint,
        "manifest": manifest.as_json() if state == "shown" else "",
    }
    database.insert(LOADS_TABLE, pl.DataFrame([row]))


def _remove_interrupted(database: ClickHouseDatabase, name: str) -> None:
    """Remove loads that started long ago and never ended."""
    _remove_versions(
        database,
        name,
        "GROUP BY version HAVING NOT has(groupArray(state), 'shown') "
        f"AND max(at) < now64(6) - INTERVAL {_INTERRUPTED_AFTER_H} HOUR",
    )


def _remove_old(database: ClickHouseDatabase, name: str) -> None:
    """Remove all but the newest complete versions."""
    shown_before = (
        f"AND state = 'shown' ORDER BY at DESC, version LIMIT 1000 OFFSET {_KEPT_VERSIONS}"
    )
    _remove_versions(database, name, shown_before)


def _remove_versions(database: ClickHouseDatabase, name: str, which: str) -> None:
    """Remove versions of a set; ``which`` is the end of a query of its loads."""
    left = database.query(
        f"SELECT version FROM {LOADS_TABLE} WHERE review_set = {{name:String}} {which}",
        {"name": name},
    )
    for version in left["version"].to_list():
        drop_version(database, version)


def _drop_quietly(database: ClickHouseDatabase, version: str) -> None:
    try:
        drop_version(database, version)
    except EngineError:
        return  # not reachable: the next load removes this
