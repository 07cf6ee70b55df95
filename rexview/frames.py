"""Columns and types of the tables of an open review set (polars).

They are the declared columns of the files (:mod:`rexview.columns`), except for changes that spare
every query from parsing. ``usage`` is split into three columns, raw spellings have columns of their
own (``finish_reason_raw``, ``view_raw``), and scores are small numbers. Columns with a leading
underscore come from loading. ``_row`` is the row in the file from 1. ``_newest`` marks an answer of
the newest run of its case and model, the one shown by default. ``_repeated`` marks further answers
of that run to the same question. ``_choice_read`` is how a choice was read from the text
(:data:`rexview.text.choices.METHODS`) and where. ``_origin`` is ``file`` for data given with the
set and ``app`` for data entered in the app.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview import columns, vocab

_RAW: Final = {"view": "view_raw", "finish_reason": "finish_reason_raw"}
_SMALL: Final = frozenset(("score", "severity", *vocab.CRITERIA))
_LOADED: Final[dict[str, dict[str, pl.DataType]]] = {
    "answers": {
        "_newest": pl.Boolean(),
        "_repeated": pl.Boolean(),
        "_choice_read": pl.Struct({"method": pl.String(), "start": pl.Int64(), "end": pl.Int64()}),
    },
    "scores": {"_origin": pl.String()},
    "flags": {"_origin": pl.String()},
    "edits": {"_origin": pl.String()},
    "choices": {"_origin": pl.String()},
    "preferences": {"_origin": pl.String()},
    "references": {"_origin": pl.String()},
    "comments": {"_origin": pl.String()},
    "decisions": {"_origin": pl.String()},
    "candidates": {"_origin": pl.String()},
    "candidate_ratings": {"_origin": pl.String()},
    "candidate_tags": {"_origin": pl.String()},
    "selections": {"_origin": pl.String()},
    "validations": {"_origin": pl.String()},
}


def _types(declared: Iterable[columns.DeclaredColumn]) -> dict[str, pl.DataType]:
    found: dict[str, pl.DataType] = {}
    for column in declared:
        if column.name == "usage":
            continue
        found[column.name] = column.dtype
        if column.kind == "integer" and column.name in _SMALL:
            found[column.name] = pl.Int8()
        if column.kind == "records":
            found[column.name] = pl.List(pl.Struct(_types(column.fields)))
        if column.name in _RAW:
            found[_RAW[column.name]] = pl.String()
    return found


TABLES: Final[dict[str, pl.Schema]] = {
    name: pl.Schema(_types(table.columns) | {"_row": pl.UInt32()} | _LOADED.get(name, {}))
    for name, table in columns.TABLES.items()
}
CASES: Final = TABLES["cases"]
ANSWERS: Final = TABLES["answers"]
SCORES: Final = TABLES["scores"]
FLAGS: Final = TABLES["flags"]
METRICS: Final = TABLES["metrics"]
EDITS: Final = TABLES["edits"]
CHOICES: Final = TABLES["choices"]
PREFERENCES: Final = TABLES["preferences"]
REFERENCES: Final = TABLES["references"]
OPINIONS: Final = TABLES["opinions"]
COMMENTS: Final = TABLES["comments"]
DECISIONS: Final = TABLES["decisions"]
CANDIDATES: Final = TABLES["candidates"]
CANDIDATE_RATINGS: Final = TABLES["candidate_ratings"]
CANDIDATE_TAGS: Final = TABLES["candidate_tags"]
SELECTIONS: Final = TABLES["selections"]
VALIDATIONS: Final = TABLES["validations"]


def given_choice_expr() -> pl.Expr:
    """Return the choices given with the answers, without those read from their texts."""
    read = pl.col("_choice_read").struct.field("method").is_not_null()
    return pl.when(~read).then("choice").alias("choice")


IMAGE: Final[pl.Struct] = CASES["images"].inner  # type: ignore[attr-defined]


# The newest answers of a review set by number, shared by detectors, filters and counts.
#
# A number identifies an answer in arrays of one small value each; its case and model as words would
# take a hundred times the memory.


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Newest answers, numbered from 0 by case in file order, then by model in the set's order.

    Attributes
    ----------
    case : array of int32, one an answer
        Row of its case in ``ReviewSet.cases``; never decreases.
    model : array of uint16, one an answer
        Index of its model in ``ReviewSet.models``.
    row : array of uint32, one an answer
        Its row in ``ReviewSet.answers``.
    starts : array of int64, one a case and one more
        The answers to the case in row ``n`` are those from ``starts[n]`` to ``starts[n + 1]``.
    """

    case: npt.NDArray[np.int32]
    model: npt.NDArray[np.uint16]
    row: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.case)

    def of_case(self, case_row: int) -> range:
        """Return the numbers of the answers to the case in a row of ``ReviewSet.cases``."""
        return range(int(self.starts[case_row]), int(self.starts[case_row + 1]))

    def number(self, case_row: int, model_place: int) -> int | None:
        """Return the number of a model's answer to a case, None without one."""
        numbers = self.of_case(case_row)
        found = np.flatnonzero(self.model[numbers.start : numbers.stop] == model_place)
        return numbers.start + int(found[0]) if len(found) else None

    def numbers(
        self, case_rows: npt.NDArray[np.int64], model_places: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the numbers of some models' answers to some cases, -1 if there is none.

        Both have shape (k,), with -1 for an unknown case or model.
        """
        found = np.full(len(case_rows), -1, dtype=np.int64)
        if not len(self):
            return found
        known = (case_rows >= 0) & (model_places >= 0)
        case_rows = np.where(known, case_rows, 0)
        first, last = self.starts[case_rows], self.starts[case_rows + 1]
        for step in range(int((last - first).max(initial=0))):
            number = np.minimum(first + step, len(self) - 1)
            met = known & (first + step < last) & (self.model[number] == model_places)
            found[met] = number[met]
        return found


def number_answers(cases: pl.DataFrame, answers: pl.DataFrame, models: Sequence[str]) -> AnswerRows:
    """Number the newest answers of checked tables; ``models`` are the ids in the set's order."""
    order = cases.select(case="id", case_row=pl.int_range(pl.len(), dtype=pl.Int32()))
    newest = (
        answers.select("case", "model", "_newest", row=pl.int_range(pl.len(), dtype=pl.UInt32()))
        .filter("_newest", pl.col("model").is_not_null())
        .select("case", pl.col("model").cast(pl.Enum(list(models))).to_physical(), "row")
        .join(order, on="case", how="inner", maintain_order="left")
        .sort("case_row", "model", maintain_order=True)
    )
    case_row = newest["case_row"].to_numpy()
    counts = np.bincount(case_row, minlength=len(cases))
    return AnswerRows(
        case=case_row,
        model=newest["model"].to_numpy().astype(np.uint16),
        row=newest["row"].to_numpy(),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


# Arrow files as tables, mapped into memory: only the parts in use are loaded.
#
# Pages of a mapped file count as memory of this process until the system needs it. After a pass
# through a whole file, such as a search, they are released at once: the system still has the file's
# pages, and the next reader gets them from there.

_MAPS: Final[WeakSet[mmap.mmap]] = WeakSet()
"""The files that some table still uses."""
_SLICE: Final = 100_000
"""Rows that a thread takes at a time."""
_MEMORY: Final = Path("/proc/self/statm")
_RELEASE_ABOVE: Final = 400_000_000
"""Bytes of mapped files, including libraries, above which a process releases those of tables."""


def map_arrow_file(path: Path) -> pl.DataFrame:
    """Map an uncompressed Arrow file.

    Raises
    ------
    OSError, ValueError
        There is no such file, or it is not an Arrow file.
    """
    import pyarrow as pa  # takes 30 MB: only where a large set is cached

    with path.open("rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        frame = pl.from_arrow(pa.ipc.open_file(pa.py_buffer(pages)).read_all())
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error
    assert isinstance(frame, pl.DataFrame)
    _MAPS.add(pages)
    return frame


def query_all_rows(
    frame: pl.DataFrame, asked: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> pl.DataFrame:
    """Run a query on all rows of a table, a slice at a time, and release the memory.

    Slices go to all cores. A query on the whole would copy columns that are in several pieces.
    """
    starts = range(0, max(1, len(frame)), _SLICE)
    found = pl.concat(pl.collect_all([asked(frame.lazy().slice(at, _SLICE)) for at in starts]))
    release_mapped_memory()
    return found


def take_rows(frame: pl.DataFrame, rows: npt.NDArray[np.integer[Any]]) -> pl.DataFrame:
    """Return some rows of a table in the given order, copied without their neighbours' texts.

    Rows that polars gathers refer to the memory of the whole column, and take all of it to another
    process. A column in many pieces is first joined into one.
    """
    if not len(rows):
        return frame.clear()
    slices = rows // _SLICE
    order = np.argsort(slices, kind="stable")
    parts = []
    for own in np.split(order, np.flatnonzero(np.diff(slices[order])) + 1):
        start = int(slices[own[0]]) * _SLICE
        parts.append(frame.slice(start, _SLICE)[rows[own].astype(np.int64) - start])
    found = pl.concat(parts)[np.argsort(order)] if len(parts) > 1 else parts[0]
    # Arrow's older layout stores texts without their neighbours
    copy = io.BytesIO()
    found.write_ipc(copy, compat_level=pl.CompatLevel.oldest())
    copy.seek(0)
    release_mapped_memory_if_large()
    return pl.read_ipc(copy)


def release_mapped_memory_if_large() -> None:
    """Release the memory of mapped files if it has grown large.

    For scattered reads: around each position that is read, the system maps up to megabytes.
    """
    with suppress(OSError):  # if the size is unknown, memory is left to the system
        shared = int(_MEMORY.read_text("ascii").split()[2]) * mmap.PAGESIZE
        if shared > _RELEASE_ABOVE:
            release_mapped_memory()


def release_mapped_memory() -> None:
    """Release the memory of mapped files; nothing in use is lost."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for pages in list(_MAPS):
            # these pages are never written to, so their content is in the file
            pages.madvise(mmap.MADV_DONTNEED)


# Positions of cases and answers in the tables of a set, found without reading a column.
#
# A lookup of one case costs the same in a set of a hundred and of a million.

_SEARCH_UP_TO: Final = 1000
"""Up to this number, ids are searched one by one; more are joined."""


class TableIndex:
    """The order of cases, and of the answers to each.

    Parameters
    ----------
    cases, answers : polars.DataFrame
        Tables of a set that opens. In a set with errors, missing or duplicate ids are not found.
    declared : sequence of str
        Ids of the models that ``reviewset.yaml`` declares, in its order.
    """

    def __init__(self, cases: pl.DataFrame, answers: pl.DataFrame, declared: Sequence[str]) -> None:
        self.cases: Final = cases
        self.answers: Final = answers
        self.declared: Final = tuple(declared)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Ids of the declared models, then of those found only in the answers."""
        met = self.answers["model"].unique(maintain_order=True).drop_nulls().to_list()
        return tuple(dict.fromkeys([*self.declared, *met]))

    @cached_property
    def newest(self) -> AnswerRows:
        """The newest answers by number."""
        return number_answers(self.cases, self.answers, self.models)

    @cached_property
    def order(self) -> npt.NDArray[np.uint32]:
        """Rows of the cases in the order of their ids, without cases that lack one."""
        ids = self.cases["id"]
        return ids.arg_sort(nulls_last=True).head(len(ids) - ids.null_count()).to_numpy()

    @cached_property
    def repeated(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """Numbers of the newest answers with repeats, and the row of each repeat.

        Both have one value per repeat; the numbers never decrease.
        """
        again = self.answers.select(
            *("case", "model", "repeat", "_repeated"), row=pl.int_range(pl.len(), dtype=pl.UInt32)
        ).filter("_repeated")
        cases = again.join(
            self.case_rows(again["case"]), on="case", how="left", maintain_order="left"
        )
        places = {model: place for place, model in enumerate(self.models)}
        numbers = self.newest.numbers(
            cases["case_row"].cast(pl.Int64).fill_null(-1).to_numpy(),
            again["model"].replace_strict(places, default=-1, return_dtype=pl.Int64).to_numpy(),
        )
        found = pl.DataFrame({"number": numbers, "row": again["row"], "repeat": again["repeat"]})
        found = found.filter(pl.col("number") >= 0).sort("number", "repeat", "row")
        return found["number"].to_numpy(), found["row"].to_numpy()

    def repeats(self, number: int) -> list[int]:
        """Return the rows of the other repeats in the run of a newest answer."""
        numbers, rows = self.repeated
        first, last = np.searchsorted(numbers, [number, number + 1])
        return rows[first:last].tolist()  # type: ignore[no-any-return]

    @cached_property
    def _older(self) -> pl.DataFrame:
        """Rows of the answers that are not the newest: ``row`` and ``case``."""
        numbered = self.answers.select(
            "case", "_newest", row=pl.int_range(pl.len(), dtype=pl.UInt32)
        )
        return numbered.filter(~pl.col("_newest")).drop("_newest")

    def case_row(self, case_id: str) -> int | None:
        """Return the row of a case, None without one."""
        ids, order = self.cases["id"], self.order
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if ids[int(order[middle])] < case_id:
                low = middle + 1
            else:
                high = middle
        if low == len(order) or ids[int(order[low])] != case_id:
            return None
        return int(order[low])

    def case_rows(self, case_ids: pl.Series) -> pl.DataFrame:
        """Return ``case`` and ``case_row`` (UInt32) for those of many cases that exist."""
        different = case_ids.drop_nulls().unique(maintain_order=True).alias("case")
        schema = {"case": pl.String(), "case_row": pl.UInt32()}
        if len(different) <= _SEARCH_UP_TO:
            found = [(one, self.case_row(one)) for one in different.to_list()]
            return pl.DataFrame(found, schema=schema, orient="row").drop_nulls()
        rows = self.cases.select(case="id", case_row=pl.int_range(pl.len(), dtype=pl.UInt32))
        return rows.join(different.to_frame(), on="case", how="semi")

    def answers_to(self, case_ids: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
        """Return the newest answers to many cases, with some of their columns."""
        at, rows = self.case_rows(case_ids)["case_row"].to_numpy(), self.newest
        numbers = [np.arange(*rows.starts[one : one + 2]) for one in at.tolist()]
        answers = self.answers.select(columns)
        return take_rows(answers, rows.row[np.concatenate([np.zeros(0, np.int64), *numbers])])

    def answer_rows(self, case_id: str, *, all_runs: bool = False) -> list[int]:
        """Return the rows of the answers to a case, in the order of their models, then of rows."""
        at = self.case_row(case_id)
        if at is None:
            return []
        numbers = self.newest.of_case(at)
        rows: list[int] = self.newest.row[numbers.start : numbers.stop].tolist()
        release_mapped_memory_if_large()  # of other cases that were read
        older = self._older.filter(pl.col("case") == case_id)["row"].to_list() if all_runs else []
        if not older:
            return rows
        place = {model: n for n, model in enumerate(self.models)}
        models = self.answers["model"]
        return sorted([*rows, *older], key=lambda row: (place[models[row]], row))


class SharedIndex:
    """The index shared by all states of a set, made when first needed."""

    def __init__(self, index: TableIndex | None = None) -> None:
        self._index = index
        self._lock = Lock()

    def of(self, cases: pl.DataFrame, answers: pl.DataFrame, declared: Sequence[str]) -> TableIndex:
        """Return the index of these tables, which may differ from those of the original set."""
        with self._lock:
            known = self._index
            asked = (cases, answers, tuple(declared))
            if (
                known
                and known.cases is cases
                and known.answers is answers
                and known.declared == asked[2]
            ):
                return known
            found = TableIndex(*asked)
            self._index = self._index or found
            return found
