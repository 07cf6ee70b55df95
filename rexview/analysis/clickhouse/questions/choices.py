"""What the engine on ClickHouse answers about choices: :class:`.ChoiceQuestions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from rexview.analysis.clickhouse.loading.columns_of_set import UNMARKED
from rexview.analysis.clickhouse.parts import Parts
from rexview.analysis.clickhouse.questions.by_patient import (
    KNOWN,
    POINTS,
    cases_and_patients,
    known_of,
    never_together,
    pair_tallies,
    points_of,
    tallies,
)
from rexview.analysis.clickhouse.selection import Conditions
from rexview.analysis.clickhouse.tables.definitions import RIGHT_OPTION
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.memory.selection import CASE_FACETS
from rexview.analysis.multiple_choice.engine import ChoiceCounts, ChoiceGroup
from rexview.stats.bootstrap import Counts
from rexview.stats.failure_rates import NO_PATIENTS, PairTally, PatientTally
from rexview.stats.multiple_choice.accuracy import Pair
from rexview.stats.multiple_choice.chosen import NOT_ASKED, ChoiceTally, Chosen, Rater

if TYPE_CHECKING:
    from rexview.analysis.engine import CaseProperty

_TAG: Final = "tag:"
_ALL: Final = 0
"""Stands for all questions where they are counted by value: values follow from 1."""
Tallies = Mapping[tuple[int, int], PatientTally]


class ChoiceTallies(Parts):
    """Counts choices of what a filter leaves; part of the engine.

    Places of raters are those of :attr:`raters`. On ClickHouse only models have chosen, some of
    which are people: choices of readers are in memory.
    """

    @cached_property
    def raters(self) -> tuple[Rater, ...]:
        """Who chose anything in the set."""
        people = (one for one in self.reviewed.raters if not one.has_answers)
        return (*self.opened.manifest.raters, *people)

    @cached_property
    def _rater_of_model(self) -> str:
        """SQL that turns the place of a model into that of the rater."""
        places = {one.id: at for at, one in enumerate(self.opened.manifest.raters)}
        of_models = [places.get(model, -1) for model in self.opened.manifest.models]
        return f"[{', '.join(map(str, of_models))}][x_model + 1]"

    def _questions(self, left: Conditions, read_by_people: bool = False) -> str:
        """Return SQL of the questions that are left, each with ``raters``, ``chosen``, ``right``.

        ``met`` says of which raters the choices count.
        """
        rater = f"arrayMap(x_model -> toInt64({self._rater_of_model}), model)"
        asked = f"arrayMap((m, c) -> toUInt8(m AND c != {NOT_ASKED}), met, choice)"
        people = [at for at, one in enumerate(self.opened.manifest.raters) if one.is_reader]
        readers = ", ".join(map(str, people)) or "-1"
        read = f"arrayExists((r, c) -> r IN ({readers}) AND c != {NOT_ASKED}, raters, choice)"
        only = f" AND {read}" if read_by_people else ""
        return (
            f"(SELECT *, {rater} AS raters, {asked} AS asked, {RIGHT_OPTION} AS right, "
            f"{read} AS read_by_people FROM {left.from_left()} "
            f"WHERE {RIGHT_OPTION} >= 0 AND has(asked, 1){only})"
        )

    def _chosen_in_memory(self, case_filter: CaseFilter, *, read_by_people: bool = False) -> Chosen:
        """Return the questions of the part in memory, raters at their places in the whole set."""
        left = self.reviewed.choices_left(case_filter)
        if read_by_people:
            left = left.of(self.reviewed.read_by_people(left))
        places = {one.id: at for at, one in enumerate(self.raters)}
        shape = len(left), len(self.raters)
        option = np.full(shape, NOT_ASKED, dtype=np.int16)
        own = [places[one.id] for one in left.raters]
        option[:, own] = left.option
        return Chosen(
            raters=self.raters,
            case_row=left.case_row,
            right=left.right,
            patient=self.small.patients[left.case_row],
            option=option,
            number=np.full(shape, -1, dtype=np.int64),
            unmarked=left.unmarked,
        )

    def choice_counts(self, case_filter: CaseFilter) -> ChoiceCounts:
        """Count the questions."""
        left, in_memory = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        asked, read = self._questions(left), self.reviewed.read_by_people(in_memory)
        rows, of_memory = f"SELECT patient FROM {asked}", in_memory.patient
        questions, patients = cases_and_patients(self.ask, rows, left.parameters, of_memory)
        unmarked = self.n_of(left.from_left(), left, f"{RIGHT_OPTION} = {UNMARKED}")
        return ChoiceCounts(
            questions=questions,
            unmarked=unmarked + len(in_memory.unmarked),
            patients=patients,
            read_by_people=self.n_of(asked, left, "read_by_people") + int(np.count_nonzero(read)),
        )

    def choice_tallies(
        self, case_filter: CaseFilter, *, read_by_people: bool = False
    ) -> tuple[ChoiceTally, ...]:
        """Count the choices of each rater."""
        left = self.conditions(case_filter)
        chosen = self._chosen_in_memory(case_filter, read_by_people=read_by_people)
        found = self._tallies(
            left,
            self._questions(left, read_by_people),
            "[0]",
            [(_ALL, chosen)],
        )
        return self._by_rater(*found, _ALL)

    def _tallies(
        self,
        left: Conditions,
        questions: str,
        values: str,
        in_memory: Iterable[tuple[int, Chosen]],
    ) -> tuple[Tallies, Tallies]:
        """Count choices by value and rater: of all, and of those who chose an option.

        ``values`` is SQL of the places of the values that a question has; ``in_memory`` has the
        questions of the other part by value.
        """
        usable = []
        every = []
        for what, chosen in in_memory:
            rater, question = np.nonzero(chosen.option.T != NOT_ASKED)
            option = chosen.option[question, rater]
            right = option == chosen.right[question]
            rows = points_of(what, rater, chosen.patient[question], right) if len(rater) else None
            if rows is not None:
                every.append(rows)
                usable.append(rows.filter(pl.Series(option >= 0)))
        found = []
        for some, limit in ((every, NOT_ASKED + 1), (usable, 0)):
            rows_sql = (
                "SELECT what, who, patient, sum(x_choice = right) AS points, count() AS answers "
                f"FROM (SELECT patient, right, raters, choice, asked, {values} AS of_values "
                f"FROM {questions}) ARRAY JOIN raters AS who, choice AS x_choice, asked AS x_asked "
                f"ARRAY JOIN of_values AS what WHERE x_asked AND x_choice >= {limit} "
                "GROUP BY what, who, patient"
            )
            memory = pl.concat([POINTS.to_frame(), *some])
            found.append(tallies(self.ask, rows_sql, left.parameters, memory))
        return found[0], found[1]

    def _by_rater(self, every: Tallies, usable: Tallies, value: int) -> tuple[ChoiceTally, ...]:
        tallied = []
        for who in range(len(self.raters)):
            whole = every.get((value, who), NO_PATIENTS)
            read = usable.get((value, who), NO_PATIENTS)
            failed = whole.n - read.n
            tallied.append(ChoiceTally(whole, read if failed else whole, failed))
        return tuple(tallied)

    def choice_groups(
        self, case_filter: CaseFilter, by: CaseProperty, most: int
    ) -> tuple[tuple[ChoiceGroup, ...], int]:
        """Count choices by a property of the cases."""
        left, chosen = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        words, of_values = self._groups(left, case_filter, by)
        questions = self._questions(left)
        counted = self.ask(
            f"SELECT what, toInt64(count()) AS n FROM {questions} ARRAY JOIN {of_values} AS what "
            "GROUP BY what",
            left.parameters,
        )
        counts = {int(what): int(n) for what, n in counted.iter_rows()}
        in_memory = dict(self._groups_in_memory(chosen, case_filter, by, words))
        for what, some in in_memory.items():
            counts[what] = counts.get(what, 0) + len(some)
        known = sorted(what for what, n in counts.items() if n)
        largest = sorted(sorted(known, key=lambda what: -counts[what])[:most])
        only = f"arrayFilter(v -> v IN ({', '.join(map(str, largest)) or '-1'}), {of_values})"
        every, usable = self._tallies(
            left,
            questions,
            only,
            [(what, in_memory[what]) for what in largest if what in in_memory],
        )
        groups = tuple(
            ChoiceGroup(words[what - 1], counts[what], self._by_rater(every, usable, what))
            for what in largest
        )
        return groups, len(known) - len(largest)

    def _groups(
        self, left: Conditions, case_filter: CaseFilter, by: CaseProperty
    ) -> tuple[tuple[str, ...], str]:
        """Return the values of a property, and SQL of the places, from 1, that a case has."""
        if by.field == "tags":
            tag = by.key.removeprefix(_TAG)
            named = [value for value in case_filter.tags if value.partition(":")[0] == tag]
            words = tuple(
                word
                for word in self.opened.manifest.tags.get(tag, ())
                if not named or word in named
            )
            given = "tags"
        else:
            column = CASE_FACETS[by.field]
            words = self.opened.manifest.words[column]
            given = f"[{column}]"
        known = left.words(words)
        return words, (
            f"arrayFilter(v -> v > 0, arrayMap(w -> toInt64(indexOf({known}, w)), {given}))"
        )

    def _groups_in_memory(
        self, chosen: Chosen, case_filter: CaseFilter, by: CaseProperty, words: tuple[str, ...]
    ) -> Iterable[tuple[int, Chosen]]:
        for value, questions in self.reviewed.choice_values(chosen, by, case_filter):
            yield words.index(value) + 1, chosen.of(questions)

    def choice_pairs(self, case_filter: CaseFilter) -> dict[Pair, PairTally]:
        """Count the questions that every two raters answered."""
        left, chosen = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        rows = (
            f"SELECT toInt64({_ALL}) AS what, patient, arraySort(arrayFilter((x, t) -> t, arrayMap("
            "(r, c) -> (r, toInt64(c = right)), raters, choice), asked)) AS known "
            f"FROM {self._questions(left)}"
        )
        question, rater = np.nonzero(chosen.option != NOT_ASKED)
        right = chosen.option[question, rater] == chosen.right[question]
        parts = [KNOWN.to_frame()]
        if len(rater):
            parts.append(known_of(self.small, _ALL, rater, chosen.case_row[question], right))
        every, _ = self._tallies(left, self._questions(left), f"[{_ALL}]", [(_ALL, chosen)])
        counts = {about: one.n for about, one in every.items()}
        found = pair_tallies(self.ask, rows, left.parameters, pl.concat(parts), counts)
        return {
            (None, a, b): found.get((_ALL, a, b)) or never_together(counts, _ALL, a, b)
            for a, b in self._pairs
        }

    @property
    def _pairs(self) -> Iterable[tuple[int, int]]:
        return combinations(range(len(self.raters)), 2)

    def choice_agreement(self, case_filter: CaseFilter) -> dict[Pair, Counts]:
        """Count the questions by the options of every two raters."""
        left, chosen = self.conditions(case_filter), self._chosen_in_memory(case_filter)
        words = self.opened.manifest.words["category"]
        task = f"toInt64(indexOf({left.words(words)}, category))"
        questions = self._questions(left)
        largest = self.ask(
            f"SELECT task, toInt64(max(arrayMax(arrayMap((c, t) -> if(t, c, {NOT_ASKED}), "
            f"choice, asked)))) AS largest FROM (SELECT *, {task} AS task FROM {questions}) "
            "GROUP BY task",
            left.parameters,
        )
        cells = self.ask(
            "SELECT task, toInt64(pair.1) AS a, toInt64(pair.2) AS b, toInt64(pair.3) AS of_a, "
            "toInt64(pair.4) AS of_b, toInt64(count()) AS n FROM (SELECT task, arrayJoin("
            "arrayFlatten(arrayMap((x, i) -> arrayMap(y -> (x.1, y.1, x.2, y.2), "
            "arraySlice(known, i + 1)), known, arrayEnumerate(known)))) AS pair FROM ("
            f"SELECT {task} AS task, arraySort(arrayFilter((x, t) -> t AND x.2 >= 0, arrayMap("
            f"(r, c) -> (r, toInt64(c)), raters, choice), asked)) AS known FROM {questions})) "
            "GROUP BY task, a, b, of_a, of_b",
            left.parameters,
        )
        known = {int(place): int(option) for place, option in largest.iter_rows()}
        in_memory = self._tasks_in_memory(chosen, words)
        for place, part in in_memory.items():
            known[place] = max(known.get(place, NOT_ASKED), int(part.option.max()))
        sizes = {place: 1 + max(option, 0) for place, option in known.items()}
        every = 1 + max(0, *known.values()) if known else 1
        found = self._no_cells(
            {None: every} | {words[at - 1]: sizes[at] for at in sorted(sizes) if at}
        )
        for place, a, b, of_a, of_b, n in _cells(cells, in_memory):
            found[None, a, b][of_a, of_b] += n
            if place:
                found[words[place - 1], a, b][of_a, of_b] += n
        return found

    def _no_cells(self, sizes: Mapping[str | None, int]) -> dict[Pair, Counts]:
        return {
            (task, a, b): np.zeros((size, size), dtype=np.int64)
            for task, size in sizes.items()
            for a, b in self._pairs
        }

    def _tasks_in_memory(self, chosen: Chosen, words: tuple[str, ...]) -> dict[int, Chosen]:
        """Return the questions of the part in memory by task; 0 for those of none."""
        coded = self.reviewed.table.columns.case_codes["category"]
        own = coded.codes[chosen.case_row]
        found = {}
        for code in np.unique(own).tolist():
            place = words.index(coded.values[code]) + 1 if code < len(coded.values) else 0
            found[place] = chosen.of(np.flatnonzero(own == code))
        return found


def _cells(
    counted: pl.DataFrame, in_memory: Mapping[int, Chosen]
) -> Iterable[tuple[int, int, int, int, int, int]]:
    """Yield task, two raters, the option of each, and how many questions, of both parts."""
    yield from counted.iter_rows()
    for place, chosen in in_memory.items():
        for a, b in combinations(range(len(chosen.raters)), 2):
            of_a, of_b = chosen.option[:, a], chosen.option[:, b]
            both = (of_a >= 0) & (of_b >= 0)
            pairs: Any = zip(of_a[both].tolist(), of_b[both].tolist(), strict=True)
            for one, other in pairs:
                yield place, a, b, one, other, 1
