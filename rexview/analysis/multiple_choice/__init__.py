"""The numbers of the Multiple choice page, the categories of questions, and captions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from rexview.analysis.query.engine import CaseProperty, ChoiceCounts, Engine
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.filter_text import name_value
from rexview.analysis.query.filter.linked_count import LinkedCount, make_linked_count, refine_filter
from rexview.analysis.ranking import DisplayRanking, rank_for_display
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.stats.multiple_choice import (
    FINDING_CATEGORY_TAGS,
    ChoiceKappa,
    ChoiceTally,
    ChoiceTest,
    Rater,
    RaterAccuracy,
    compare_choices,
    measure_accuracy,
    measure_choice_kappa,
)
from rexview.untrusted_input import read_untrusted_yaml
from rexview.words import counted, tr, trn

# The categories of ReXVQA by group, as data (``taxonomy.yaml``).
#
# A set may have other categories: they are kept, under a heading of their own.

OTHER_CATEGORIES: Final = tr("Not in the paper's categories")
CATEGORY_TAGS: Final = tuple(f"tag:{name}" for name in FINDING_CATEGORY_TAGS)
"""Keys of the properties with a question's category; the first one found counts."""


def fold_category(name: str) -> str:
    """Return a category in one spelling: upper and lower case, "&" and spaces do not matter."""
    return re.sub(r"[\W_]+", " ", name.casefold().replace("&", " and ")).strip()


@cache
def _groups() -> dict[str, tuple[int, str]]:
    """Return order and group of each category, by its folded name."""
    groups = read_untrusted_yaml(Path(__file__).with_name("taxonomy.yaml"))["groups"]
    every = [(category, group) for group, categories in groups.items() for category in categories]
    return {
        fold_category(category): (place, group) for place, (category, group) in enumerate(every)
    }


def find_category_group(category: str) -> str:
    """Return the group of a category, :data:`OTHER_CATEGORIES` if the paper does not have it."""
    return _groups().get(fold_category(category), (0, OTHER_CATEGORIES))[1]


def find_category_order(category: str) -> int:
    """Return a sort key for the paper's order of categories; others come last."""
    return _groups().get(fold_category(category), (len(_groups()), ""))[0]


# The numbers of multiple choice, each with the filter that opens its questions.
#
# Raters are models and readers; readers are shown separately. Questions themselves are not kept.

_OUTCOMES: Final = ("right", "wrong", "failed")
NO_CONDITIONS: Final[Mapping[str, str]] = {}
TASK: Final = CaseProperty("category", tr("Task"), "categories")
MAX_CHOICE_GROUPS: Final = 40
"""Most groups in a table: those with the most questions."""
MAX_RESAMPLED_RATERS: Final = 8
"""Most raters whose differences have intervals; more have hundreds of pairs."""
SMALL_N: Final = 20
"""Shares of fewer questions are shown in grey, with a caption."""


@dataclass(frozen=True)
class ChoiceCell:
    """The counts of one rater: ``asked`` questions that are ``right``, ``wrong`` or ``failed``.

    ``place`` is the rater's index among the engine's raters.
    """

    place: int
    accuracy: RaterAccuracy
    asked: LinkedCount
    right: LinkedCount
    wrong: LinkedCount
    failed: LinkedCount

    @property
    def is_small(self) -> bool:
        """True if too few questions were answered for a reliable share."""
        return 0 < self.accuracy.rate.n < SMALL_N


@dataclass(frozen=True, eq=False)
class ChoiceGroupRow:
    """The questions with one value of a property, with all raters in the page's order.

    ``group`` is the paper's group of a category, else empty.
    """

    value: str
    name: str
    group: str
    questions: LinkedCount
    cells: tuple[ChoiceCell, ...]


@dataclass(frozen=True, eq=False)
class ChoiceGroups:
    """All raters by a property of the cases, without ``left_out`` values with fewer questions."""

    by: CaseProperty
    rows: tuple[ChoiceGroupRow, ...]
    left_out: int


@dataclass(frozen=True, eq=False)
class ChoiceTables:
    """Accuracies for one filter: over all questions, and by task.

    Attributes
    ----------
    raters : dict of int to Rater
        Raters with an answer, by index: models first, then readers.
    counts : ChoiceCounts
    total : tuple of ChoiceCell
        One cell for each rater, over all questions.
    tasks : tuple of ChoiceGroupRow
        By task, in the order of the vocabulary, then others.
    clustered : bool
        True if questions share a patient or study.
    noted : dict of str to LinkedCount
        Questions by outcome of all answers; keys are values of the filter's ``outcomes``.
    """

    raters: dict[int, Rater]
    counts: ChoiceCounts
    total: tuple[ChoiceCell, ...]
    tasks: tuple[ChoiceGroupRow, ...]
    clustered: bool
    noted: dict[str, LinkedCount]

    @property
    def ranking(self) -> DisplayRanking[ChoiceCell]:
        """Models by accuracy over all questions, the best first; few models in the set's order."""
        of_models = (cell for cell in self.total if not self.raters[cell.place].is_reader)
        return rank_for_display(of_models, lambda cell: cell.accuracy.rate.share)

    @property
    def shown(self) -> tuple[int, ...]:
        """Raters in charts: the first and last of many models, and all readers."""
        return tuple(cell.place for cell in self.ranking.shown) + tuple(self.readers)

    @property
    def models(self) -> dict[int, Rater]:
        """Raters that are models."""
        return {place: rater for place, rater in self.raters.items() if not rater.is_reader}

    @property
    def readers(self) -> dict[int, Rater]:
        """Raters that are people."""
        return {place: rater for place, rater in self.raters.items() if rater.is_reader}


@dataclass(frozen=True)
class RaterPairTest:
    """A test of two raters, with linked counts of questions that only one answered right."""

    test: ChoiceTest
    only_a: LinkedCount
    only_b: LinkedCount


@dataclass(frozen=True, eq=False)
class RaterComparisons:
    """Raters compared pair by pair: models with models, and models with readers.

    p values of each kind are adjusted separately. Each kind is computed on first use.
    """

    _of_models: Callable[[], tuple[RaterPairTest, ...]]
    _with_readers: Callable[[], tuple[RaterPairTest, ...]]

    @cached_property
    def of_models(self) -> tuple[RaterPairTest, ...]:
        """Tests of each two models."""
        return self._of_models()

    @cached_property
    def with_readers(self) -> tuple[RaterPairTest, ...]:
        """Tests of every model with every reader."""
        return self._with_readers()


@dataclass(frozen=True)
class KappaCell:
    """The agreement of two raters, with a linked count of questions on which both chose."""

    kappa: ChoiceKappa
    shared: LinkedCount


def build_choice_tables(
    engine: Engine, case_filter: CaseFilter | None = None, *, resamples: int = RESAMPLES
) -> ChoiceTables:
    """Return every rater's accuracy over the answers that match a filter, in all and by task."""
    base = case_filter or CaseFilter()
    counts, tallies = engine.choice_counts(base), engine.choice_tallies(base)
    order = _order(engine.raters, tallies)
    tasks = _build_groups(engine, base, TASK, order, resamples).rows
    noted = {
        word: make_linked_count(base, engine.tally(found).cases, counts.questions, outcomes=word)
        for word in ("all_wrong", "against_readers", "wrong_side")
        if (found := make_linked_count(base, 0, outcomes=word).opens) != base
    }
    return ChoiceTables(
        raters={place: engine.raters[place] for place in order},
        counts=counts,
        total=tuple(_cells(engine.raters, order, tallies, base, resamples)),
        tasks=tasks,
        clustered=counts.patients < counts.questions,
        noted=noted,
    )


def build_choice_groups(
    engine: Engine, case_filter: CaseFilter, by: CaseProperty, *, resamples: int = RESAMPLES
) -> ChoiceGroups:
    """Return accuracies by a property; the paper's categories are in its order, with its groups."""
    order = _order(engine.raters, engine.choice_tallies(case_filter))
    return _build_groups(engine, case_filter, by, order, resamples)


def list_choice_groupings(engine: Engine) -> tuple[CaseProperty, ...]:
    """Return the properties to group choices by, without the task: category and class first."""
    first = (*CATEGORY_TAGS, "tag:class", "difficulty", "site", "study")
    known = {one.key: one for one in engine.facts.properties if one.key not in ("category", "type")}
    ordered = [known[key] for key in first if key in known]
    return (*ordered, *(one for key, one in known.items() if key not in first))


def list_read_question_cells(
    engine: Engine, case_filter: CaseFilter, *, resamples: int = RESAMPLES
) -> tuple[ChoiceCell, ...]:
    """Return every rater's accuracy on the questions that readers answered."""
    tallies = engine.choice_tallies(case_filter, read_by_people=True)
    read = refine_filter(case_filter, outcomes="read") or case_filter
    order = _order(engine.raters, tallies)
    return tuple(_cell(engine.raters, place, tallies[place], read, resamples) for place in order)


def compare_raters(
    engine: Engine, case_filter: CaseFilter, *, resamples: int = RESAMPLES
) -> RaterComparisons:
    """Compare raters by McNemar's test, models among themselves and with readers."""
    raters = engine.raters
    pairs = {
        about: pair for about, pair in engine.choice_pairs(case_filter).items() if pair.by_patient.n
    }

    def tested(readers: int) -> tuple[RaterPairTest, ...]:
        chosen = {
            (task, a, b): pair
            for (task, a, b), pair in pairs.items()
            if raters[a].is_reader + raters[b].is_reader == readers
        }
        met = {place for _, a, b in chosen for place in (a, b)}
        few = len(met) <= MAX_RESAMPLED_RATERS
        return tuple(
            RaterPairTest(
                test,
                _only_right_count(raters, case_filter, test.rater_a, test.rater_b, test.only_a),
                _only_right_count(raters, case_filter, test.rater_b, test.rater_a, test.only_b),
            )
            for test in compare_choices(chosen, resamples=resamples if few else 0)
        )

    return RaterComparisons(lambda: tested(0), lambda: tested(1))


def build_kappa_map(
    engine: Engine, case_filter: CaseFilter
) -> dict[str | None, tuple[KappaCell, ...]]:
    """Return the agreement of each two raters, over all questions (None) and by task."""
    found: dict[str | None, list[KappaCell]] = {}
    for (task, a, b), table in engine.choice_agreement(case_filter).items():
        if not table.any():
            continue
        kappa = measure_choice_kappa(task, a, b, table)
        words = [
            f"{outcome}:{engine.raters[place].id}"
            for place in (a, b)
            for outcome in ("right", "wrong")
        ]
        shared = _count(case_filter, kappa.n, None, words, {TASK.field: task} if task else {})
        found.setdefault(task, []).append(KappaCell(kappa, shared))
    return {task: tuple(cells) for task, cells in found.items()}


def _order(raters: Sequence[Rater], tallies: Sequence[ChoiceTally]) -> tuple[int, ...]:
    """Return the indices of the raters with an answer: models, then readers."""
    there = [place for place, tally in enumerate(tallies) if tally.patients.n]
    return tuple(sorted(there, key=lambda place: raters[place].is_reader))


def _build_groups(
    engine: Engine, base: CaseFilter, by: CaseProperty, order: Sequence[int], resamples: int
) -> ChoiceGroups:
    found, left_out = engine.choice_groups(base, by, MAX_CHOICE_GROUPS)
    of_categories = by.key in CATEGORY_TAGS
    rows = []
    for group in found:
        of_group = {by.field: group.value}
        opens = _count(base, group.questions, None, ("answered",), of_group)
        cells = _cells(engine.raters, order, group.tallies, base, resamples, of_group)
        name = name_value(engine.facts, by.field, group.value)
        category = group.value.partition(":")[2]
        rows.append(
            ChoiceGroupRow(
                group.value,
                name if by.field != "tags" else category,
                find_category_group(category) if of_categories else "",
                opens,
                tuple(cells),
            )
        )
    if of_categories:
        rows.sort(key=lambda row: find_category_order(row.name))
        if all(row.group == OTHER_CATEGORIES for row in rows):
            rows = [
                ChoiceGroupRow(row.value, row.name, "", row.questions, row.cells) for row in rows
            ]
    return ChoiceGroups(by, tuple(rows), left_out)


def _cells(
    raters: Sequence[Rater],
    order: Sequence[int],
    tallies: Sequence[ChoiceTally],
    base: CaseFilter,
    resamples: int,
    of_group: Mapping[str, str] = NO_CONDITIONS,
) -> Iterator[ChoiceCell]:
    for place in order:
        yield _cell(raters, place, tallies[place], base, resamples, of_group)


def _cell(
    raters: Sequence[Rater],
    place: int,
    tally: ChoiceTally,
    base: CaseFilter,
    resamples: int,
    of_group: Mapping[str, str] = NO_CONDITIONS,
) -> ChoiceCell:
    """Return a rater's numbers with their filters, which open only a model's own answers."""
    found = measure_accuracy(tally, resamples=resamples)
    rater, n = raters[place], found.rate.n
    own = {**of_group, "models": rater.id} if rater.has_answers else of_group

    def opened(value: int, *outcomes: str) -> LinkedCount:
        return _count(base, value, n, [f"{outcome}:{rater.id}" for outcome in outcomes], own)

    return ChoiceCell(
        place,
        found,
        asked=opened(n, *_OUTCOMES),
        right=opened(found.rate.flagged, "right"),
        wrong=opened(found.wrong, "wrong"),
        failed=opened(found.failed, "failed"),
    )


def _only_right_count(
    raters: Sequence[Rater], base: CaseFilter, right: int, other: int, value: int
) -> LinkedCount:
    """Return a linked count of questions that one rater answered right and the other did not."""
    missed = raters[other].id
    words = [f"right:{raters[right].id}", f"wrong:{missed}", f"failed:{missed}"]
    return _count(base, value, None, words)


def _count(
    base: CaseFilter,
    value: int,
    of: int | None,
    outcomes: Sequence[str],
    of_group: Mapping[str, str] = NO_CONDITIONS,
) -> LinkedCount:
    return make_linked_count(base, value, of, outcomes=outcomes, **of_group)


# Captions under the numbers of choices: definitions, methods, counts.
#
# All captions are plain text.

ACCURACY_NOTE: Final = tr(
    "Right of all answers to questions whose right option is known. An "
    "answer without a usable choice counts as wrong; without them: right of "
    "the others."
)
KAPPA_NOTE: Final = tr(
    "Cohen's kappa of the options chosen (not weighted), over the questions in which both "
    "chose one: 1 is always the same option, 0 no more than by chance. It does not tell "
    "who is right."
)


def interval_caption(*, clustered: bool) -> str:
    """Return a caption on the method of intervals."""
    if clustered:
        return tr(
            "Questions share patients or studies: {level:.0%} intervals resample "
            "these (BCa, {resamples:,} resamples); where none is shared they are "
            "Wilson's, and a share of 0% or 100% has Wilson's with each patient "
            "counted once."
        ).format(level=LEVEL, resamples=RESAMPLES)
    return tr(
        "{level:.0%} intervals are Wilson's: no two questions share a patient or study."
    ).format(level=LEVEL)


def accuracy_caption(tables: ChoiceTables) -> str:
    """Return a caption on the table of accuracies."""
    words = [ACCURACY_NOTE, interval_caption(clustered=tables.clustered)]
    if tables.readers:
        words.append(
            tr("Readers are listed separately: they may have answered only some of the questions.")
        )
    if tables.counts.unmarked:
        unmarked = counted(tables.counts.unmarked, "question")
        words.append(
            tr("Not counted: {unmarked} without a right option.").format(unmarked=unmarked)
        )
    return " ".join([*words, small_caption()])


def small_caption() -> str:
    """Return a caption on grey numbers."""
    return tr("Grey: fewer than {small} questions, to be read as single cases.").format(
        small=SMALL_N
    )


def groups_caption(groups: ChoiceGroups) -> str:
    """Return a caption on the table by a property."""
    words = [ACCURACY_NOTE, tr("Under each share: right of answered, and the 95% interval.")]
    if groups.by.field == "tags":
        words.append(tr("A question with several values counts in each."))
    if groups.left_out:
        words.append(
            trn(
                "{left_out:,} value with fewer questions is left out.",
                "{left_out:,} values with fewer questions are left out.",
                groups.left_out,
            ).format(left_out=groups.left_out)
        )
    return " ".join([*words, small_caption()])


def comparison_caption(n_raters: int, *, readers: bool = False) -> str:
    """Return a caption on the comparison of two raters."""
    who = tr("a model and a reader") if readers else tr("two models")
    words = tr(
        "Over the questions that {who} both answered, failed choices as wrong: McNemar's "
        "exact test, p adjusted by Benjamini-Hochberg over all pairs here; it treats "
        "questions as independent. The difference is A minus B, in percentage points"
    ).format(who=who)
    if n_raters > MAX_RESAMPLED_RATERS:
        return tr("{words}, with more than {most_resampled} raters without intervals.").format(
            words=words, most_resampled=MAX_RESAMPLED_RATERS
        )
    return tr("{words}, with intervals as above.").format(words=words)


def read_caption(questions: int) -> str:
    """Return a caption on the questions for the comparison of models and readers."""
    return tr(
        "The {questions:,} questions that a reader answered. Each rater's n is the number "
        "of them that this rater answered; readers are people, not models."
    ).format(questions=questions)
