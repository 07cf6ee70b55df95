"""A reader's tasks besides scoring: the list, the progress, and the entries.

The Score page and the route that saves entries use this module. Data for a browser names no model:
a report or a pair is named by its place in the case, in an order that only the server can compute.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

from rexview.analysis.query.study_tasks import (
    ITEM_TASKS,
    CaseState,
    StudyEngine,
    Task,
    Worklist,
    WorklistProgress,
    count_progress,
    find_item_case,
    find_reports,
    keyed_hash,
    make_item_id,
    order_report_pairs,
    order_reports,
    parse_item_id,
)
from rexview.analysis.reader_exposure import REPORT_EXPOSURE, UNBLINDED_EXPOSURE
from rexview.answer_digest import digests_of
from rexview.schema import ReviewSet
from rexview.store import Reviews, StoredEntry
from rexview.ui.web.saving.reader_study import ReaderState, ReaderStudy, next_case_to_score

SOLUTION: Final = "solution"
"""What is shown of a solved question: the right option, and the models' answers."""
LEFT_OUT: Final = "out"
"""The value for an option or a side if the reader left the question or pair out."""
_CLOSED: Final = ("done", "skipped")


@dataclass(frozen=True)
class TaskList:
    """One reader's view of one task at one moment; its items are named as in its worklist."""

    study: ReaderStudy
    task: ClassVar[Task]
    kind: ClassVar[str]
    """The kind of entry that marks an item as done."""

    @cached_property
    def worklist(self) -> Worklist:
        """The reader's items; while no case of the task is assigned, everybody gets all."""
        study, assigned = self.study, self.study.assigned
        if assigned is not None:
            dealt = {one.case for one in study.reviews.assignments()}
            assigned = assigned if study.engine.of_task(self.task, dealt) else None
        return study.engine.task_list(self.task, study.person.id, assigned)

    def has(self, item: str) -> bool:
        """Return whether an item is on the list."""
        return bool(self.worklist.in_order([item]))

    def state(self, item: str) -> CaseState:
        """Return the reader's state for an item."""
        return self.states.get(item, "open")

    @cached_property
    def states(self) -> dict[str, CaseState]:
        """The state of each item that is no longer open."""
        touched = dict.fromkeys(self._item_of(row) for row in self._rows)
        there = self.worklist.in_order(item for item in touched if item)
        found = [(item, self._state(item)) for item in there]
        return {item: state for item, state in found if state != "open"}

    @property
    def progress(self) -> WorklistProgress:
        """The reader's progress over the whole list."""
        return count_progress(self.states, len(self.worklist))

    def resume(self) -> str | None:
        """Return the item to continue with; None if all are done or left out."""
        closed = {item for item, state in self.states.items() if state in _CLOSED}
        last = max(self._rows, key=lambda row: row.id, default=None)
        seen = {item for case in self.study.given.unblinded for item in self._may_be_items(case)}
        at = self._item_of(last) if last is not None else None
        return next_case_to_score(self.worklist, closed, seen - self.states.keys(), at)

    @property
    def is_begun(self) -> bool:
        """Whether the reader has any entry in the task."""
        return bool(self._rows)

    def case_of(self, item: str) -> str:
        """Return the case of an item."""
        return find_item_case(self.task, item)

    def _may_be_items(self, case: str) -> Iterable[str]:
        """Return possible names of a case's items: those of the list, and perhaps more."""
        n = len(self.study.review_set.model_names) if self.task in ITEM_TASKS else 0
        return [make_item_id(at, case) for at in range(1, 1 + max(n, math.comb(n, 2)))] or [case]

    @abstractmethod
    def shown(self, item: str) -> str:
        """Return an opaque id of the item's content, which the browser returns with an entry."""

    @abstractmethod
    def own(self, item: str) -> dict[str, Any]:
        """Return the reader's entries, for the browser."""

    def _is_another(self, case: str, model: str, digest: str | None) -> bool:
        """Return whether an answer has changed since a row recorded its digest."""
        now = self._digests.get((case, model))
        return digest is not None and now is not None and now != digest

    @cached_property
    def _digests(self) -> dict[tuple[str, str], str]:
        """The digests of all answers of the reader's rows, loaded at once."""
        about = [(row.case or "", model) for row in self._rows for model in _models(row)]
        return digests_of(self.study.review_set).of_all(about)

    @property
    def _rows(self) -> Sequence[StoredEntry]:
        """The reader's newest rows of the task."""
        return tuple(self.study.given.of(self.kind).values())

    @abstractmethod
    def _item_of(self, row: StoredEntry) -> str | None:
        """Return the item of a row."""

    @abstractmethod
    def _state(self, item: str) -> CaseState: ...

    def _key(self, *parts: str) -> str:
        return keyed_hash(self.study.letter_key, *parts)[:32]

    def _own(self, item: str) -> dict[str, Any]:
        case, given = self.case_of(item), self.study.given
        return {
            "shown": self.shown(item),
            "report": given.was_shown(case, REPORT_EXPOSURE),
            "unblinded": given.was_shown(case, UNBLINDED_EXPOSURE),
            "revision": given.state.revision,
        }


class QuestionTasks(TaskList):
    """Choice questions that the reader answers; an item is the case."""

    task = "answer"
    kind = "choose"

    def shown(self, item: str) -> str:
        """Return an opaque id of the question with its options."""
        case = self.study.review_set.case(item)
        texts = (case.question, *case.options) if case else ()
        return self._key("question", self.study.person.id, item, *texts)

    def row(self, item: str) -> StoredEntry | None:
        """Return the reader's newest row on a question."""
        return self.study.given.of(self.kind).get((item, None, None, None))

    def is_stale(self, row: StoredEntry) -> bool:
        """Return whether the text of the chosen option has changed."""
        case = self.study.review_set.case(row.case or "")
        value = row.value or {}
        choice = value.get("choice")
        options = case.options if case else ()
        return choice is not None and [*options[choice : choice + 1]] != [value.get("option")]

    def chosen(self, item: str) -> int | str | None:
        """Return the chosen option, :data:`LEFT_OUT`, or None if nothing is chosen yet."""
        row = self.row(item)
        if row is None or row.value is None or self.is_stale(row):
            return None
        choice = row.value.get("choice")
        return LEFT_OUT if choice is None else int(choice)

    def is_settled(self, item: str) -> bool:
        """Return whether the reader has gone on to another question after answering this one."""
        row = self.row(item)
        newest = max(self._rows, key=lambda one: one.id, default=None)
        return isinstance(self.chosen(item), int) and newest is not row

    def is_solved(self, item: str) -> bool:
        """Return whether the reader was shown the right option."""
        return self.study.given.was_shown(item, SOLUTION)

    def may_solve(self, item: str | None) -> bool:
        """Return whether the rules show the right option now; None: of all questions."""
        rule = self.study.review_set.info.protocol.reveal
        if item is None:
            return rule == "at_end" and self.progress.remaining == 0
        return rule == "per_case" and self.state(item) in _CLOSED

    def own(self, item: str) -> dict[str, Any]:
        """Return the reader's entries, for the browser."""
        row = self.row(item)
        value = (row.value if row else None) or {}
        return {
            **self._own(item),
            "value": self.chosen(item),
            "seconds": value.get("seconds"),
            "earlier": value.get("option") if row and self.is_stale(row) else None,
            "settled": self.is_settled(item),
            "solved": self.is_solved(item),
        }

    def _item_of(self, row: StoredEntry) -> str | None:
        return row.case

    def _state(self, item: str) -> CaseState:
        chosen = self.chosen(item)
        if chosen is None:  # options changed after the right one was shown: no answer is accepted
            return "skipped" if self.is_solved(item) else "open"
        return "skipped" if chosen == LEFT_OUT else "done"


SidePair = tuple[str, str]  # the models of the reports on the left and on the right


class ComparisonTasks(TaskList):
    """Pairs of reports of one case; an item is the place of a pair, and the case."""

    task = "compare"
    kind = "prefer"

    def pair(self, item: str) -> SidePair:
        """Return the models of an item; IndexError if the case has no such pair."""
        place, case = parse_item_id(item)
        return self._pairs(case)[place - 1]

    def shown(self, item: str) -> str:
        """Return an opaque id of the two reports and their sides."""
        case, pair = self.case_of(item), self.pair(item)
        digests = digests_of(self.study.review_set).of_all((case, model) for model in pair)
        sides = [part for model in pair for part in (model, digests[case, model])]
        return self._key("pair", self.study.person.id, item, *sides)

    def given(self, item: str) -> StoredEntry | None:
        """Return the reader's newest row on a pair."""
        return self._by_pair.get((self.case_of(item), frozenset(self.pair(item))))

    def is_stale(self, row: StoredEntry) -> bool:
        """Return whether one of the reports has changed since."""
        value, case = row.value or {}, row.case or ""
        return any(
            self._is_another(case, value[side], value.get(f"{side}_digest"))
            for side in ("first", "second")
        )

    def preferred(self, item: str) -> str | None:
        """Return ``left``, ``right``, ``tie``, :data:`LEFT_OUT`, or None if not given yet."""
        row = self.given(item)
        if row is None or row.value is None or self.is_stale(row):
            return None
        side = row.value["preferred"]
        if side in ("first", "second"):
            return "left" if row.value[side] == self.pair(item)[0] else "right"
        return side or LEFT_OUT

    def own(self, item: str) -> dict[str, Any]:
        """Return the reader's entries, for the browser."""
        row = self.given(item)
        value = (row.value if row else None) or {}
        return {
            **self._own(item),
            "value": self.preferred(item),
            "seconds": value.get("seconds"),
            "comment": value.get("comment") or "",
            "earlier": bool(row and value.get("preferred") and self.is_stale(row)),
        }

    @cached_property
    def _by_pair(self) -> dict[tuple[str | None, frozenset[str]], StoredEntry]:
        return {(row.case, _models(row)): row for row in self._rows}

    def _pairs(self, case: str) -> Sequence[SidePair]:
        return _pairs(self.study.review_set, case, self.study.person.id, self.study.letter_key)

    def _item_of(self, row: StoredEntry) -> str | None:
        case, models = row.case or "", _models(row)
        places = (at for at, pair in enumerate(self._pairs(case), 1) if set(pair) == models)
        return next((make_item_id(place, case) for place in places), None)

    def _state(self, item: str) -> CaseState:
        preferred = self.preferred(item)
        return "open" if preferred is None else "skipped" if preferred == LEFT_OUT else "done"


class CorrectionTasks(TaskList):
    """Reports that the reader corrects; an item is the place of a report, and the case."""

    task = "correct"
    kind = "corrected"

    def model(self, item: str) -> str:
        """Return the model of an item; IndexError if the case has no such report."""
        place, case = parse_item_id(item)
        return self._models(case)[place - 1]

    def shown(self, item: str) -> str:
        """Return an opaque id of the report."""
        case, model = self.case_of(item), self.model(item)
        digest = digests_of(self.study.review_set).of(case, model) or ""
        return self._key("report", self.study.person.id, item, model, digest)

    def row(self, item: str, place: str | None = None) -> StoredEntry | None:
        """Return the newest row on a line of a report, or on its completion."""
        kind = self.kind if place is None else "edit"
        about = (self.case_of(item), self.model(item), place, None)
        return self.study.given.of(kind).get(about)

    def edits(self, item: str) -> dict[str, StoredEntry]:
        """Return the newest rows on the lines of the current report, by place."""
        return {
            row.subject or "": row
            for row in self._edits(item)
            if row.value and not self._is_stale(row)
        }

    def is_done(self, item: str) -> bool:
        """Return whether the reader has marked the current report as corrected."""
        row = self.row(item)
        return bool(row and row.value and row.value.get("done") and not self._is_stale(row))

    def own(self, item: str) -> dict[str, Any]:
        """Return the reader's entries, for the browser: without the lines, which may hold names."""
        every, kept = self._edits(item), self.reference(item)
        return {
            **self._own(item),
            "lines": {
                place: {name: value for name, value in edit.items() if name != "original"}
                for place, row in self.edits(item).items()
                if (edit := row.value)
            },
            "done": self.is_done(item),
            "reference": kept and {"mine": kept.person == self.study.person.id},
            "earlier": sum(bool(row.value) and self._is_stale(row) for row in every),
        }

    def reference(self, item: str) -> StoredEntry | None:
        """Return the row of the corrected report that is kept as the case's reference."""
        every = self.study.given.state.of("reference", self.study.person.id)
        row = every.get((self.case_of(item), None, None, None))
        return row if row and row.value else None

    @property
    def _rows(self) -> Sequence[StoredEntry]:
        given = self.study.given
        return (*given.of("edit").values(), *given.of(self.kind).values())

    def _edits(self, item: str) -> list[StoredEntry]:
        return self._by_report[self.case_of(item), self.model(item)]

    def _is_stale(self, row: StoredEntry) -> bool:
        return self._is_another(row.case or "", row.model or "", row.answer_digest)

    @cached_property
    def _by_report(self) -> dict[tuple[str | None, str | None], list[StoredEntry]]:
        found = defaultdict[tuple[str | None, str | None], list[StoredEntry]](list)
        for row in self.study.given.of("edit").values():
            found[row.case, row.model].append(row)
        return found

    def _models(self, case: str) -> Sequence[str]:
        return _reports(self.study.review_set, case, self.study.person.id, self.study.letter_key)

    def _item_of(self, row: StoredEntry) -> str | None:
        case, models = row.case or "", self._models(row.case or "")
        return make_item_id(models.index(row.model) + 1, case) if row.model in models else None

    def _state(self, item: str) -> CaseState:
        return "done" if self.is_done(item) else "begun" if self.edits(item) else "open"


TASK_LISTS: Final[Mapping[Task, type[TaskList]]] = {
    one.task: one for one in (QuestionTasks, CorrectionTasks, ComparisonTasks)
}


def tasks_progress(
    review_set: ReviewSet, reviews: Reviews, engine: StudyEngine
) -> dict[str, dict[Task, WorklistProgress]]:
    """Count the finished items of each reader who has started a task, by reader and task.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    state, every = reviews.current_state(), reviews.assignments()
    found: dict[str, dict[Task, WorklistProgress]] = {}
    for person in state.people.values():
        theirs = frozenset(one.case for one in every if one.reader == person.id)
        given = ReaderState(person.id, state)
        # the models of the letters do not change a count
        study = ReaderStudy(
            review_set, person, reviews, given, engine, theirs if every else None, letter_key=b""
        )
        lists = {task: made(study) for task, made in TASK_LISTS.items()}
        begun = {task: tasks.progress for task, tasks in lists.items() if tasks.is_begun}
        if begun:
            found[person.id] = begun
    return found


def _models(row: StoredEntry) -> frozenset[str]:
    """Return the models of a row."""
    two = (str((row.value or {}).get(side)) for side in ("first", "second"))
    return frozenset({row.model} if row.model is not None else two)


@lru_cache(maxsize=4096)
def _reports(review_set: ReviewSet, case: str, reader: str, key: bytes) -> Sequence[str]:
    return order_reports([*find_reports(review_set, case)], case=case, reader=reader, key=key)


@lru_cache(maxsize=4096)
def _pairs(review_set: ReviewSet, case: str, reader: str, key: bytes) -> Sequence[SidePair]:
    return order_report_pairs([*find_reports(review_set, case)], case=case, reader=reader, key=key)
