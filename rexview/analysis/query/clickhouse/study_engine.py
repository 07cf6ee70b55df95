"""The study engine on ClickHouse (:class:`rexview.analysis.query.study_tasks.StudyEngine`).

Nothing of the set is kept here. A reader's order is that of hashes, which ClickHouse computes like
:func:`.order_cases`. The amount of work in a case was stored in its
row by the load. Its details come from the engine in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import polars as pl

from rexview.analysis.query.clickhouse.database import QueryParameter
from rexview.analysis.query.clickhouse.loaded_set import OpenClickHouseSet
from rexview.analysis.query.clickhouse.table_layout import CASES_TABLE
from rexview.analysis.query.engine import Position, make_position
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine
from rexview.analysis.query.study_tasks import ITEM_TASKS, TASKS, Task, Worklist, hash_prefix

_ENTRIES_SQL: Final[Mapping[Task, str]] = {
    "score": "to_score",
    "answer": "to_answer",
    "correct": "n_reports",
    "compare": "intDiv(n_reports * (n_reports - 1), 2)",
}
"""SQL of the number of a case's entries on the worklist, by task."""
_WORKLISTS_KEPT: Final = 64
_SETS_KEPT: Final = 8


@dataclass(frozen=True, eq=False)
class TableWorklist:
    """One reader's worklist for a task (:class:`rexview.analysis.query.study_tasks.Worklist`).

    Attributes
    ----------
    opened : OpenClickHouseSet
    task : Task
    before_case : str
        The text before the id in the hashed text by which the cases are sorted.
    assigned : polars.DataFrame or None
        The cases (``id``) of the reader; None for all.
    """

    opened: OpenClickHouseSet
    task: Task
    before_case: str
    assigned: pl.DataFrame | None

    def _ask(
        self,
        sql: str,
        parameters: Mapping[str, QueryParameter] | None = None,
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Query ``rows_to_do``: ``id``, ``place`` from 1, ``item``, ``at`` (the sort key)."""
        own = "" if self.assigned is None else "AND id GLOBAL IN (SELECT id FROM assigned)"
        of_case = "SHA256(concat({before_case:String}, id))"
        at = f"(place, {of_case})" if self.task == "compare" else f"({of_case}, place)"
        item = "concat(toString(place), ' ', id)" if self.task in ITEM_TASKS else "id"
        rows = (
            f"(SELECT id, arrayJoin(range(1, toUInt32({_ENTRIES_SQL[self.task]}) + 1)) AS place, "
            f"{item} AS item, {at} AS at FROM {CASES_TABLE} WHERE version = {{version:String}} "
            f"{own})"
        )
        sent = {} if self.assigned is None else {"assigned": self.assigned}
        return self.opened.database.query(
            sql.replace("rows_to_do", rows),
            {
                "version": self.opened.manifest.version,
                "before_case": self.before_case,
                **(parameters or {}),
            },
            {**sent, **(tables or {})},
        )

    @cached_property
    def _n(self) -> int:
        return int(self._ask("SELECT toInt64(count()) FROM rows_to_do").item())

    def __len__(self) -> int:
        return self._n

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return up to ``size`` cases or items from index ``start`` on."""
        limits = f"LIMIT {max(int(start), 0)}, {max(int(size), 0)}"
        found = self._ask(f"SELECT item FROM rows_to_do ORDER BY at {limits}")
        return tuple(found["item"].to_list())

    def position(self, case: str) -> Position:
        """Return the position of a case or item, and its neighbours."""
        return make_position(self._number(case), self._n, self.page)

    def in_order(self, cases: Iterable[str]) -> tuple[str, ...]:
        """Return the given cases or items that are on the list, in its order."""
        items = sorted(set(cases))
        if not items:
            return ()
        wanted = pl.DataFrame({"item": items}, schema={"item": pl.String})
        found = self._ask(
            "SELECT item FROM rows_to_do WHERE item GLOBAL IN (SELECT item FROM wanted) "
            "ORDER BY at",
            tables={"wanted": wanted},
        )
        return tuple(found["item"].to_list())

    def _number(self, item: str | None) -> int | None:
        """Return the index of an item in the list, from 0; None if it is not there."""
        if item is None or not self._is_there(item):
            return None
        found = self._ask(
            "SELECT toInt64(countIf(at < own.1)) FROM (SELECT at, (SELECT any((at, 1)) "
            "FROM rows_to_do WHERE item = {item:String}) AS own FROM rows_to_do)",
            {"item": item},
        )
        return int(found.item())

    def _is_there(self, item: str) -> bool:
        return (
            len(self._ask("SELECT id FROM rows_to_do WHERE item = {item:String}", {"item": item}))
            > 0
        )

    def next_open(self, closed: Collection[str], last: str | None = None) -> str | None:
        """Return the case or item to continue with."""
        start = self._number(last) or 0
        done = {"closed": pl.DataFrame({"item": list(closed)}, schema={"item": pl.String})}
        found = self._ask(
            "SELECT item FROM (SELECT item, at, row_number() OVER (ORDER BY at) > {start:Int64} "
            "AS is_next FROM rows_to_do) WHERE item GLOBAL NOT IN (SELECT item FROM closed) "
            "ORDER BY is_next DESC, at LIMIT 1",
            {"start": start},
            done,
        )
        return str(found.item()) if len(found) else None


class ClickHouseStudyEngine:
    """A study engine on a loaded set. Every query may raise ``EngineUnreachable``."""

    def __init__(self, opened: OpenClickHouseSet) -> None:
        self._opened = opened
        self.task_list = lru_cache(maxsize=_WORKLISTS_KEPT)(self._task_list)
        self._small = lru_cache(maxsize=_SETS_KEPT)(self._engine_of)
        self._items = MemoryStudyEngine(opened.small_set(()).given).required(()), frozenset[str]()

    def worklist(self, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return the cases that a reader has to score."""
        return self.task_list("score", reader, assigned)

    def _task_list(self, task: Task, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return a reader's worklist for a task."""
        seed = self._opened.empty.info.protocol.seed
        own = None
        if assigned is not None:
            own = pl.DataFrame({"id": sorted(assigned)}, schema={"id": pl.String})
        return TableWorklist(self._opened, task, hash_prefix(seed, reader, "order"), own)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks that the cases of the set offer to readers."""
        things = ", ".join(f"toInt64(max({_ENTRIES_SQL[task]})) AS {task}" for task in TASKS)
        most = self._ask(things).row(0, named=True)
        return tuple(task for task in TASKS if most[task])

    def _ask(
        self, columns: str, cases: Collection[str] | None = None, more: str = ""
    ) -> pl.DataFrame:
        """Select columns of all cases, or of the given ones."""
        tables = {}
        own = ""
        if cases is not None:
            tables["asked_for"] = pl.DataFrame({"id": list(cases)}, schema={"id": pl.String})
            own = "AND id GLOBAL IN (SELECT id FROM asked_for)"
        return self._opened.database.query(
            f"SELECT {columns} FROM {CASES_TABLE} WHERE version = {{version:String}} {own} {more}",
            {"version": self._opened.manifest.version},
            tables,
        )

    def of_task(self, task: Task, cases: Collection[str]) -> Mapping[str, int]:
        """Return the number of a task's entries for each of the given cases that has any."""
        things = _ENTRIES_SQL[task]
        found = self._ask(f"id, toInt64({things}) AS n", cases, f"AND {things} > 0")
        return dict(found.iter_rows())

    @cached_property
    def n_scorable(self) -> int:
        """Number of cases to be scored."""
        return int(self._ask("toInt64(countIf(to_score > 0))").item())

    def scorable(self, cases: Collection[str]) -> frozenset[str]:
        """Return the given cases that are to be scored."""
        return frozenset(self._ask("id", cases, "AND to_score > 0")["id"])

    @property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each case to be scored, in the order of the files."""
        normal = "multiIf(study = 'normal', 'true', study = 'abnormal', 'false', '')"
        found = self._ask(
            f"id, concat(question_type, '/', category, '/', {normal}) AS stratum",
            more="AND to_score > 0 ORDER BY case_row",
        )
        return dict(found.iter_rows())

    def chosen(self, cases: Collection[str]) -> pl.DataFrame:
        """Return ``case``, ``model`` and ``choice`` of the models' newest answers to some cases."""
        return self._small(frozenset(cases)).chosen(cases)

    def required(self, cases: Collection[str]) -> pl.DataFrame:
        """Return every score that one reader has to give in some cases; each is read once."""
        items, read = self._items
        if new := sorted(set(cases) - read):
            of_new = MemoryStudyEngine(self._opened.small_set(new).given).required(new)
            items, read = pl.concat([items, of_new]), read.union(new)
            self._items = items, read
        return items.filter(pl.col("case").is_in(list(cases)))

    def _engine_of(self, cases: frozenset[str]) -> MemoryStudyEngine:
        return MemoryStudyEngine(self._opened.of_cases(tuple(sorted(cases))).given)
