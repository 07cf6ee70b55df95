"""The engine that keeps every answer in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.case.case_cards import (
    SCAN_STATES,
    AnswerSummary,
    CardBox,
    CaseCard,
    describe_harm,
)
from rexview.analysis.case.comments import CommentCount
from rexview.analysis.query.engine import (
    CaseProperty,
    DisputedAnswer,
    Facets,
    FailureTally,
    FilterTally,
    ModelTally,
    Position,
    PropertyCounts,
    ReaderPairCases,
    ReaderScore,
    ScanProgress,
    SetFacts,
    make_position,
)
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.conditions import MetricOrder
from rexview.analysis.query.filter.filter_text import to_sentence_case
from rexview.analysis.query.memory.answer_table import (
    AnswerTable,
    build_answer_table,
    change_content_order,
    replace_scan,
)
from rexview.analysis.query.memory.evaluation_tallies import (
    ChoiceTallies,
    JudgeTallies,
    ReportTallies,
)
from rexview.analysis.query.memory.facets import count_facets
from rexview.analysis.query.memory.failure_index import SOURCE_OFFSETS
from rexview.analysis.query.memory.score_index import FINAL_NUMBERS, filter_by_mask
from rexview.analysis.query.memory.selection import (
    CASE_FACETS,
    FilterSelection,
    apply_filter,
    without_flag_conditions,
)
from rexview.analysis.query.memory.set_columns import (
    CodedColumn,
    Codes,
    SetColumns,
    bit_counts,
    counts_by_value,
    has_different_values,
    pair_counts,
)
from rexview.detect import DISAGREEMENT_THRESHOLD, FAILURE_BITS, GAP_THRESHOLD
from rexview.detect.scan.batch import NOT_JUDGED, UNSCANNED
from rexview.detect.scan.scan import Scan
from rexview.detect.self_contradiction import is_usable
from rexview.frames import release_mapped_memory_if_large
from rexview.schema import (
    Answer,
    AnswerBox,
    Case,
    Flag,
    ReaderFlag,
    ReferenceBox,
    ReviewSet,
    answer_from_row,
    case_from_row,
)
from rexview.stats import ContentOrder
from rexview.stats.failure_rates import PairTally, PatientTally, tally_model_pairs, tally_patients
from rexview.stats.judge_agreement import list_judges
from rexview.stats.reader_agreement import (
    PairTables,
    ScorePatterns,
    count_pair_tables,
    count_score_patterns,
    join_shared_units,
    number_units,
)
from rexview.stats.reader_drift import count_score_days
from rexview.stats.score_finals import Finals, list_unfinished_work
from rexview.stats.score_summaries import ScoreTallies, tally_scores
from rexview.stats.self_contradiction import RepeatTally
from rexview.vocab import DIMENSIONS, HEADLINE_FAILURES
from rexview.words import tr

# Case cards, from the answer table and the set's records.

_FIELDS_NOT_ON_CARDS: Final = dict.fromkeys(("text", "explanation", "extra"))
"""Fields of an answer that no card shows."""


def build_case_cards(
    selection: FilterSelection, cases: Sequence[str], order: MetricOrder | None = None
) -> Iterator[CaseCard]:
    """Yield the cards of some cases of the set, in the order given.

    With the ``order`` by which the cases are sorted, each answer has its value of the metric.

    Raises
    ------
    KeyError
        The set has no such case.
    """
    table, review_set = selection.table, selection.table.review_set
    columns = table.columns
    places = [_find_case_row(review_set, case_id) for case_id in cases]
    rows = np.array([row for place in places for row in columns.rows_of(place)], dtype=np.int64)
    # all at once: the number of records hardly affects the cost
    records = iter(table.records(rows).rows(named=True))
    mask = selection.row_mask
    values = _metric_values_by_row(table, order, rows)
    for case_id, place in zip(cases, places, strict=True):
        case = case_from_row(review_set.cases.row(place, named=True))
        numbers = columns.newest.of_case(place)
        answers = [
            answer_from_row({**review_set.answers.row(row, named=True), **_FIELDS_NOT_ON_CARDS})
            for row in columns.newest.row[numbers.start : numbers.stop].tolist()
        ]
        shown = [(next(records), bool(mask[row])) for row in columns.rows_of(place)]
        states = table.survey.scan.state[numbers.start : numbers.stop].tolist()
        more = [
            {
                "metric": values.get(row["row"]),
                "marked": table.marked_titles.get((case_id, answer.model), ()),
                **_chosen_option(case, answer),
            }
            for (row, _), answer in zip(shown, answers, strict=False)
        ]
        left = [row for row, is_chosen in shown if is_chosen]
        worst = max(left, key=lambda row: float(row["severity"]), default=None)
        harm, meaning, level = _describe_row_harm(worst, table) if worst else ("", "", None)
        yield CaseCard(
            case,
            case.key_image,
            tuple(_card_boxes(case, answers)),
            tuple(
                replace(_answer_summary(row, table, SCAN_STATES[state], chosen=is_chosen), **added)
                for (row, is_chosen), state, added in zip(shown, states, more, strict=False)
            ),
            table.comments.get(case_id),
            harm,
            meaning,
            worst["model"] if worst else "",
            level,
        )
    release_mapped_memory_if_large()  # the cases may be anywhere in a large mapped set


def _metric_values_by_row(
    table: AnswerTable, order: MetricOrder | None, rows: Codes
) -> dict[int, float]:
    """Return the values of the metric by which cases are sorted, by row."""
    if order is None:
        return {}
    numbers, values = table.values_of(order.metric)
    shown = np.isin(numbers, rows)
    return dict(zip(numbers[shown].tolist(), values[shown].tolist(), strict=True))


def _find_case_row(review_set: ReviewSet, case_id: str) -> int:
    row = review_set.case_row(case_id)
    if row is None:
        raise KeyError(case_id)
    return row


def _card_boxes(case: Case, answers: Sequence[Answer]) -> Iterator[CardBox]:
    """Yield the boxes on the key image; if it is the case's only image, boxes may omit its name."""
    image = case.key_image
    drawn: list[tuple[AnswerBox | ReferenceBox, str | None]]
    drawn = [(box, None) for box in case.reference_boxes]
    drawn += [(box, answer.model) for answer in answers for box in answer.boxes]
    for box, model in drawn:
        if image and (box.image == image.id or (len(case.images) == 1 and not box.image)):
            yield CardBox(box.label, box.box, model)


def _answer_summary(
    row: Mapping[str, Any], table: AnswerTable, looked_at: str, *, chosen: bool
) -> AnswerSummary:
    sources = {(True, True): "both", (False, True): "reader", (True, False): "detector"}
    failures, hints = [], []
    for failure, bit in FAILURE_BITS.items():
        said = bool(row["detected"] & bit), bool(row["reader_flagged"] & bit)
        if said in sources:
            failures.append((failure, sources[said]))
        elif row["hinted"] & bit:
            hints.append((failure, "hint"))
    finals = {name: row[name] for name in FINAL_NUMBERS}
    every = (*failures, *hints)
    harm, *_ = _describe_row_harm(row, table)
    return AnswerSummary(row["model"], row["status"], finals, every, chosen, harm, looked_at)


def _chosen_option(case: Case, answer: Answer) -> dict[str, Any]:
    """Return the option that an answer chose and, if the right one is known, its outcome."""
    if case.question_type != "choice":
        return {}
    choice = answer.choice if is_usable(case, answer) else None
    if case.correct is None:
        return {"choice": choice}
    outcome = "failed" if choice is None else "right" if choice == case.correct else "wrong"
    return {"choice": choice, "outcome": outcome}


def _describe_row_harm(row: Mapping[str, Any], table: AnswerTable) -> tuple[str, str, int | None]:
    """Return the text of a row's harm, the meaning of its level of harm, and the level."""
    level = row["harm"] if row["harm_failure"] else None
    if row["harm_hinted"] and not row["harm"]:
        level = table.harm.of(row["hinted_failure"], row["hinted_finding"])
    meaning = "" if level is None else table.harm.meaning_of(level)
    return describe_harm(row, table.harm), meaning, level


# Progress of detectors among the answers that may match a filter.

_MAX_NEXT_TO_SCAN: Final = 50_000
"""Most cases that are returned at a time as the next to scan."""


def count_scanned(table: AnswerTable, case_filter: CaseFilter) -> ScanProgress:
    """Count the scanned answers: see :class:`rexview.analysis.query.engine.Engine`."""
    state = table.survey.scan.state
    asked = without_flag_conditions(case_filter)
    if asked.active:
        state = state[apply_filter(table, asked).answer_mask]
    counts = np.bincount(state, minlength=NOT_JUDGED + 1)
    return ScanProgress(len(state), len(state) - int(counts[UNSCANNED]), int(counts[NOT_JUDGED]))


def list_not_judged(
    table: AnswerTable, case_filter: CaseFilter, most: int
) -> tuple[tuple[str, str], ...]:
    """Return case and model of the first answers on which a detector failed."""
    numbers, columns = _answers_in_state(table, case_filter, NOT_JUDGED)[:most], table.columns
    cases = columns.review_set.cases["id"].gather(columns.newest.case[numbers])
    models = (columns.model.values[place] for place in columns.newest.model[numbers])
    return tuple(zip(cases, models, strict=True))


def list_next_to_scan(
    table: AnswerTable, case_filter: CaseFilter, first: Sequence[str]
) -> list[int]:
    """Return rows of cases to scan next: see :class:`rexview.analysis.query.engine.Engine`."""
    named = [row for case in first if (row := table.review_set.case_row(case)) is not None]
    if not case_filter.active:  # the scan visits all others in order anyway
        return named
    rows = table.columns.newest.case[_answers_in_state(table, case_filter, UNSCANNED)]
    rows = rows[np.flatnonzero(np.diff(rows, prepend=-1))]  # rows ascend
    others: list[int] = rows[:_MAX_NEXT_TO_SCAN].tolist()
    return [*named, *others]


def _answers_in_state(
    table: AnswerTable, case_filter: CaseFilter, state: int
) -> npt.NDArray[np.int64]:
    """Return the numbers of the answers in a scan state, among those that may match a filter."""
    found = table.survey.scan.state == state
    asked = without_flag_conditions(case_filter)
    if asked.active and found.any():
        found &= apply_filter(table, asked).answer_mask
    return np.flatnonzero(found)


_PROPERTIES: Final = {
    "category": ("categories", tr("Question category")),
    "study": ("studies", tr("Normal or abnormal study")),
    "site": ("sites", tr("Site")),
    "difficulty": ("difficulties", tr("Difficulty")),
    "type": ("question_types", tr("Question type")),
}
"""Field of the filter and name on screen, by key in links."""
_TAG: Final = "tag:"
_SELECTIONS_KEPT: Final = 16
_FEWEST_KEPT: Final = 4
_MASK_BYTES: Final = 40_000_000
"""Most bytes for the masks of cached selections; a mask takes a byte a row."""
_FRAMES_KEPT: Final = 2


class MemoryEngine(ChoiceTallies, ReportTallies, JudgeTallies):
    """An engine on one answer table (:class:`rexview.analysis.query.engine.Engine`).

    The selections of the latest filters are cached.
    """

    def __init__(self, table: AnswerTable) -> None:
        self.table = table
        kept = max(_FEWEST_KEPT, min(_SELECTIONS_KEPT, _MASK_BYTES // (len(table) + 1)))
        self._select = lru_cache(maxsize=kept)(self._selected)
        self.tally = lru_cache(maxsize=_SELECTIONS_KEPT)(self._tally)
        self.scanned = lru_cache(maxsize=_SELECTIONS_KEPT)(self._scanned)
        self._finals = lru_cache(maxsize=_FRAMES_KEPT)(self._filtered_finals)
        self._scores = lru_cache(maxsize=_FRAMES_KEPT)(self._filtered_scores)

    def _selected(self, case_filter: CaseFilter) -> FilterSelection:
        return apply_filter(self.table, case_filter)

    def selection(self, case_filter: CaseFilter) -> FilterSelection:
        """Return the cases and answers that match a filter."""
        return self._select(case_filter)

    @cached_property
    def facts(self) -> SetFacts:
        """Facts of the set that no filter changes."""
        table = self.table
        return SetFacts(
            models=table.models,
            readers=table.scores.readers,
            n_cases=table.columns.n_cases,
            n_images=table.columns.n_images,
            n_readers=table.n_readers,
            properties=find_differing_properties(table.columns),
            gap_threshold=table.gap_threshold,
            content_order=table.content_order,
            harm=table.harm,
            metrics=table.metric_ids,
            judges=list_judges(table.review_set),
            meetings={one.meeting: one.meeting_name for one in table.decisions},
            written_failures=table.written_failures,
        )

    def in_content_order(self, content_order: ContentOrder) -> MemoryEngine:
        """Return an engine on the same answers that computes Content in another order."""
        if content_order == self.table.content_order:
            return self
        return MemoryEngine(change_content_order(self.table, content_order))

    def with_scan(self, scan: Scan) -> MemoryEngine:
        """Return an engine on the same answers with the detectors' latest results."""
        if scan is self.table.survey.scan:
            return self
        return MemoryEngine(replace_scan(self.table, scan))

    def _scanned(self, case_filter: CaseFilter) -> ScanProgress:
        """Count the answers that detectors have run on, among those that may match."""
        return count_scanned(self.table, case_filter)

    def not_judged(self, case_filter: CaseFilter, most: int) -> tuple[tuple[str, str], ...]:
        """Return case and model of the first answers on which a detector failed."""
        return list_not_judged(self.table, case_filter, most)

    def not_looked_at(self, case_filter: CaseFilter, first: Sequence[str]) -> Sequence[int]:
        """Return the rows in the set of the cases to scan next: see :class:`.Engine`."""
        return list_next_to_scan(self.table, case_filter, first)

    def facets(self, case_filter: CaseFilter) -> Facets:
        """Count the cases of every value of every condition."""
        return count_facets(self.table, self.facts, case_filter)

    def page(self, case_filter: CaseFilter, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases in the filter's order."""
        found = self.selection(case_filter)
        return tuple(found.ids(found.case_rows[start : start + size]))

    def position(self, case_filter: CaseFilter, case: str) -> Position:
        """Find a case in the filter's order, and its neighbours."""
        found = self.selection(case_filter)
        row = self.table.review_set.case_row(case)
        places = np.flatnonzero(found.case_rows == (-1 if row is None else row))
        place = int(places[0]) if len(places) else None
        return make_position(place, len(found), partial(self.page, case_filter))

    def cards(self, case_filter: CaseFilter, cases: Sequence[str]) -> tuple[CaseCard, ...]:
        """Return the cards of some cases of the set, in the order given."""
        order = case_filter.metric_order
        return tuple(build_case_cards(self.selection(case_filter), cases, order))

    def flags(
        self, case: str, answers: Iterable[Answer], reader_flags: Sequence[ReaderFlag]
    ) -> tuple[Flag, ...]:
        """Return all flags on some answers to one case, with evidence."""
        return tuple(self.table.survey.flags_of(case, answers, reader_flags))

    def not_judged_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models on whose answers to a case a detector failed."""
        return self.table.survey.not_judged_of(case, answers)

    def not_yet_of(self, case: str, answers: Sequence[Answer]) -> frozenset[str]:
        """Return the models on whose answers to a case no detector has run yet."""
        return self.table.survey.not_yet_of(case, answers)

    def _tally(self, case_filter: CaseFilter) -> FilterTally:
        """Count cases and answers."""
        found, columns, scores = self.selection(case_filter), self.table.columns, self.table.scores
        answers, model, status = found.answers, columns.model, columns.status
        models, n_models = columns.newest.model[answers], len(model.values)
        of_status = status.codes[: columns.n_answers][answers]
        statuses = pair_counts(models, of_status, n_models, len(status.values))
        scored = scores.finals.filter(pl.Series(found.row_mask[scores.scored]))
        of_scored = model.codes[scored["row"].to_numpy()]
        weakest = CodedColumn.of(scored["weakest"])
        by_weakest = pair_counts(of_scored, weakest.codes, n_models, len(weakest.values))
        counted = [
            np.bincount(of_scored[scored[name].is_not_null().to_numpy()], minlength=n_models)
            for name in ("n_readers", "content", "spread")
        ]
        by_model = tuple(
            ModelTally(
                name,
                int(statuses[place].sum()),
                counts_by_value(status.values, statuses[place]),
                counts_by_value(weakest.values, by_weakest[place]),
                *(int(counts[place]) for counts in counted),
            )
            for place, name in enumerate(model.values)
            if statuses[place].any()
        )
        unfinished = list_unfinished_work(self.table.review_set)
        begun = self.table.review_set.case_rows(unfinished["case"])
        has_answer = np.zeros(columns.n_cases, dtype=np.bool_)
        has_answer[columns.newest.case[answers]] = True
        return FilterTally(len(found), int(has_answer[begun].sum()), by_model)

    def property_counts(self, case_filter: CaseFilter, by: CaseProperty) -> PropertyCounts:
        """Count the cases by a property; of a tag that the filter names, only its named values."""
        chosen = self.selection(case_filter).case_mask
        if by.field != "tags":
            counts = dict(self.table.columns.case_codes[CASE_FACETS[by.field]].counts(chosen))
            return PropertyCounts(counts, sum(counts.values()))
        tag = by.key.removeprefix(_TAG)
        rows, coded = self.table.columns.tag_codes[tag]
        named = [value for value in case_filter.tags if value.partition(":")[0] == tag]
        left = chosen[rows] & coded.among(named or coded.values)
        counts = dict(coded.counts(left))
        shown = {value: n for value, n in counts.items() if not named or value in named}
        return PropertyCounts(shown, len(np.unique(rows[left])))

    def _filtered_finals(self, case_filter: CaseFilter) -> Finals:
        return self.table.scores.finals_left(self.selection(case_filter).row_mask)

    def score_tallies(self, case_filter: CaseFilter) -> ScoreTallies:
        """Count the final scores."""
        came = {
            model.model: model.by_status.get("answered", 0)
            for model in self.tally(case_filter).by_model
        }
        counted = tally_scores(self._finals(case_filter))
        return replace(counted, answers={model: n for model, n in came.items() if n})

    def final_scores(self, case_filter: CaseFilter, dimension: str) -> pl.DataFrame:
        """Return one final score of a dimension for each answer."""
        values: pl.DataFrame = self._finals(case_filter).by_answer(dimension)
        return values.with_columns(pl.col("case").cast(pl.Categorical()).to_physical())

    def _filtered_scores(self, case_filter: CaseFilter) -> pl.DataFrame:
        return filter_by_mask(self.table.scores.frame, self.selection(case_filter).row_mask)

    def readers(self, case_filter: CaseFilter) -> tuple[str, ...]:
        """Return the ids of the readers who scored any of the answers."""
        met = set(self._scores(case_filter)["reader"].unique())
        return tuple(reader for reader in self.facts.readers if reader in met)

    def pair_tables(self, case_filter: CaseFilter) -> PairTables:
        """Count what each two readers both scored, by their scores."""
        return count_pair_tables(self._scores(case_filter), self.readers(case_filter))

    def pair_cases(
        self, case_filter: CaseFilter, pair: tuple[str, str]
    ) -> dict[str, ReaderPairCases]:
        """Count the cases in which two readers both scored an answer or picture, by dimension."""
        scores, apart = self._scores(case_filter), (pl.col("score") - pl.col("score_b")).abs()
        found = {}
        for dimension in DIMENSIONS:
            both = join_shared_units(number_units(scores, dimension), pair)
            by_scores = both.group_by("score", "score_b").agg(pl.col("case").n_unique())
            shared, same, close, differing = (
                both.filter(some)["case"].n_unique()
                for some in (pl.lit(True), apart == 0, apart <= 1, apart > 0)
            )
            cells = {(a, b): cases for a, b, cases in by_scores.iter_rows()}
            found[dimension] = ReaderPairCases(shared, same, close, differing, cells)
        return found

    def score_patterns(self, case_filter: CaseFilter) -> dict[str, ScorePatterns]:
        """Count the combinations of all readers' scores."""
        return count_score_patterns(self._scores(case_filter))

    def score_days(
        self, case_filter: CaseFilter, dimension: str, reader: str, other: str
    ) -> pl.DataFrame:
        """Count a reader's scores by day."""
        return count_score_days(self._scores(case_filter), dimension, reader, other)

    def disputed(
        self, case_filter: CaseFilter, start: int, size: int
    ) -> tuple[DisputedAnswer, ...]:
        """Return a page of answers, those on which readers are furthest apart first."""
        scores, review_set = self.table.scores, self.table.review_set
        rows = (
            filter_by_mask(scores.finals, self.selection(case_filter).row_mask)
            .select("row", "case", "model", "spread")
            .filter(pl.col("spread").is_not_null())
            .sort("spread", descending=True, maintain_order=True)[start : start + size]
        )
        given: dict[int, list[ReaderScore]] = {}
        for row in scores.frame.join(rows, on="row", how="semi", maintain_order="left").iter_rows(
            named=True
        ):
            score = ReaderScore(row["reader"], row["dimension"], row["score"], row["comment"] or "")
            given.setdefault(row["row"], []).append(score)
        cases = self.table.columns.case_row[rows["row"].to_numpy()]
        questions = review_set.cases["question"].gather(cases).fill_null("")
        return tuple(
            DisputedAnswer(case, model, question, spread, tuple(given.get(row, ())))
            for (row, case, model, spread), question in zip(rows.rows(), questions, strict=True)
        )

    def failure_tallies(self, case_filter: CaseFilter) -> tuple[FailureTally, ...]:
        """Count failures of each model with answers: headline failures, and others that occur."""
        columns, flagged = self.table.columns, self.table.flagged
        answers = self.selection(case_filter).answers
        models = columns.newest.model[answers]
        by_source = flagged.by_source[: columns.n_answers][answers]
        judged, spoken = (
            bits[: columns.n_answers][answers] for bits in (flagged.judged, flagged.spoken)
        )
        found: dict[str, list[FailureTally]] = {failure: [] for failure in FAILURE_BITS}
        for place in np.flatnonzero(np.bincount(models)):
            own = models == place
            of_judged, said = bit_counts(judged[own]), bit_counts(by_source[own])
            of_spoken = bit_counts(spoken[own])
            for n, (failure, tallies) in enumerate(found.items()):
                by = {source: said[first + n] for source, first in SOURCE_OFFSETS.items()}
                model = columns.model.values[place]
                tallies.append(
                    FailureTally(failure, model, of_judged[n], **by, spoken=of_spoken[n])
                )
        return tuple(
            tally
            for failure, tallies in found.items()
            if failure in HEADLINE_FAILURES or any(map(_has_any, tallies))
            for tally in tallies
        )

    def failure_findings(self, failure: str) -> tuple[str, ...]:
        """Return the findings that one failure is about anywhere in the set, sorted."""
        known = self.table.flagged.findings.filter(pl.col("failure") == failure)
        return tuple(known["finding"].unique().cast(pl.String).sort().to_list())

    def judged_tallies(
        self,
        case_filter: CaseFilter,
        failures: Sequence[str],
        sources: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> dict[tuple[str, str], PatientTally]:
        """Count patients by their answers that can be judged for a failure, and flagged ones."""
        chosen = self.selection(case_filter).answer_mask
        parts = self.table.flagged.judged_by_model(chosen, failures, sources, findings)
        every = (named for part in parts for named in part.items())
        return {about: tally_patients(one.flagged, one.patients) for about, one in every}

    def judged_pairs(
        self, case_filter: CaseFilter, failures: Sequence[str], sources: Sequence[str] = ()
    ) -> dict[tuple[str, str, str], PairTally]:
        """Count the cases in which two models can be judged."""
        chosen = self.selection(case_filter).answer_mask
        models = [model.model for model in self.tally(case_filter).by_model]
        parts = self.table.flagged.judged_by_model(chosen, failures, sources)
        found: dict[tuple[str, str, str], PairTally] = {}
        for failure, judged in zip(failures, parts, strict=True):
            found |= tally_model_pairs(judged, models, (failure,))
        return found

    def repeat_tallies(self, case_filter: CaseFilter) -> tuple[RepeatTally, ...]:
        """Count the answers that one run requested more than once, by model that has any."""
        return self.selection(case_filter).repeat_tallies

    def patients(self, case_filter: CaseFilter) -> tuple[int, int]:
        """Count the cases with matching answers, and their patients."""
        columns = self.table.columns
        has_answer = np.zeros(columns.n_cases, dtype=np.bool_)
        has_answer[columns.newest.case[self.selection(case_filter).answers]] = True
        return int(has_answer.sum()), int(
            np.count_nonzero(np.bincount(columns.cluster[has_answer]))
        )


def build_memory_engine(
    review_set: ReviewSet,
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    content_order: ContentOrder = "mean_first",
    scan: Scan | None = None,
    before: MemoryEngine | None = None,
    comments: Mapping[str, CommentCount] | None = None,
) -> MemoryEngine:
    """Return the engine of an open set; parameters as of :func:`build_answer_table`.

    ``scan`` has the detectors' latest results; without one they run on everything first.
    ``before`` is an engine on the same files with other scores or reader flags.
    """
    return MemoryEngine(
        build_answer_table(
            review_set,
            gap_threshold=gap_threshold,
            disagreement_threshold=disagreement_threshold,
            content_order=content_order,
            scan=scan,
            before=before.table if before else None,
            comments=comments,
        )
    )


def find_differing_properties(columns: SetColumns) -> tuple[CaseProperty, ...]:
    """Return the properties in which the cases of a set differ."""
    found = [
        CaseProperty(key, name, field)
        for key, (field, name) in _PROPERTIES.items()
        if has_different_values(columns.case_codes[CASE_FACETS[field]], columns.n_cases)
    ]
    found += [
        CaseProperty(f"{_TAG}{tag}", tr("{tag} (tag)").format(tag=to_sentence_case(tag)), "tags")
        for tag, (rows, coded) in columns.tag_codes.items()
        if len(coded.values) > 1 or len(rows) < columns.n_cases
    ]
    return tuple(found)


def _has_any(tally: FailureTally) -> bool:
    return bool(tally.detector or tally.reader or tally.both or tally.hint)
