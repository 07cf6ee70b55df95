"""An open review set: its tables, and one case at a time as records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview import frames
from rexview.errors import Problem
from rexview.frames import AnswerRows, SharedIndex, TableIndex
from rexview.schema.records import (
    Answer,
    Case,
    CorrectedReference,
    Edit,
    FailureMark,
    MetricValue,
    Model,
    ReaderChoice,
    ReaderFlag,
    Score,
    SetInfo,
    WrittenFailure,
    answer_from_row,
    case_from_row,
    corrected_reference_from_row,
    edit_from_row,
    metric_value_from_row,
    reader_choice_from_row,
    reader_flag_from_row,
    score_from_row,
)


@dataclass(frozen=True, eq=False)
class ReviewSet:
    """An open review set: the given data, checked and normalised. Immutable.

    ``fingerprint`` changes when any of its files does. ``warnings`` are problems that did not
    prevent opening. ``unfinished`` has the scores that ``scores`` lacks because their reader has
    not finished the case. Tables named ``stale_...`` are about earlier answers or options and count
    nowhere. ``find_picture`` returns a returned picture's file by its path, None at an address. A
    large set opens before its texts were checked: ``later_warnings`` does that, and returns all
    warnings, including ``warnings``, or None while the check runs. ``written_failures`` are the
    current failures in people's own words, ``marks`` the answers that people marked with one,
    including removed failures. ``plain_words`` are the words in models' names that people also use
    in questions and reports, if the set has only some of its cases; None means to search these
    cases.
    """

    folder: Path
    info: SetInfo
    cases: pl.DataFrame
    answers: pl.DataFrame
    scores: pl.DataFrame
    flags: pl.DataFrame
    metrics: pl.DataFrame
    edits: pl.DataFrame
    choices: pl.DataFrame = field(default_factory=frames.CHOICES.to_frame)
    preferences: pl.DataFrame = field(default_factory=frames.PREFERENCES.to_frame)
    references: pl.DataFrame = field(default_factory=frames.REFERENCES.to_frame)
    opinions: pl.DataFrame = field(default_factory=frames.OPINIONS.to_frame)
    comments: pl.DataFrame = field(default_factory=frames.COMMENTS.to_frame)
    decisions: pl.DataFrame = field(default_factory=frames.DECISIONS.to_frame)
    candidates: pl.DataFrame = field(default_factory=frames.CANDIDATES.to_frame)
    candidate_ratings: pl.DataFrame = field(default_factory=frames.CANDIDATE_RATINGS.to_frame)
    candidate_tags: pl.DataFrame = field(default_factory=frames.CANDIDATE_TAGS.to_frame)
    selections: pl.DataFrame = field(default_factory=frames.SELECTIONS.to_frame)
    validations: pl.DataFrame = field(default_factory=frames.VALIDATIONS.to_frame)
    written_failures: tuple[WrittenFailure, ...] = ()
    marks: tuple[FailureMark, ...] = ()
    warnings: tuple[Problem, ...] = ()
    fingerprint: str = ""
    unfinished: pl.DataFrame = field(default_factory=frames.SCORES.to_frame)
    stale_scores: pl.DataFrame = field(default_factory=frames.SCORES.to_frame)
    stale_flags: pl.DataFrame = field(default_factory=frames.FLAGS.to_frame)
    stale_metrics: pl.DataFrame = field(default_factory=frames.METRICS.to_frame)
    stale_edits: pl.DataFrame = field(default_factory=frames.EDITS.to_frame)
    stale_opinions: pl.DataFrame = field(default_factory=frames.OPINIONS.to_frame)
    stale_choices: pl.DataFrame = field(default_factory=frames.CHOICES.to_frame)
    stale_preferences: pl.DataFrame = field(default_factory=frames.PREFERENCES.to_frame)
    plain_words: frozenset[str] | None = None
    find_picture: Callable[[str], Path | None] = lambda path: None
    later_warnings: Callable[[], tuple[Problem, ...] | None] | None = None
    shared_index: SharedIndex = field(default_factory=SharedIndex, repr=False)

    @cached_property
    def index(self) -> TableIndex:
        """The positions of cases and answers; states of a set with the same tables share them."""
        declared = [model.id for model in self.info.models]
        return self.shared_index.of(self.cases, self.answers, declared)

    def all_warnings(self) -> tuple[Problem, ...] | None:
        """Every warning; None while the texts of a large set are being checked."""
        return self.later_warnings() if self.later_warnings else self.warnings

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """Declared models in their order, then those found only in the answers."""
        declared = {model.id: model for model in self.info.models}
        return tuple(declared.get(one) or Model(id=one, name=one) for one in self.index.models)

    @cached_property
    def model_names(self) -> dict[str, str]:
        """Display name by model id; models of the same name are distinguished by their id."""
        times = Counter(model.name for model in self.models)
        return {
            model.id: model.name if times[model.name] == 1 else f"{model.name} ({model.id})"
            for model in self.models
        }

    @cached_property
    def reader_names(self) -> dict[str, str]:
        """Display name by reader id, declared or found only in readers' rows."""
        names = {reader.id: reader.name for reader in self.info.readers}
        gave = (self.scores, self.flags, self.choices, self.preferences, self.references)
        met = pl.concat([table["reader"] for table in gave]).drop_nulls()
        return names | {one: names.get(one, one) for one in met.unique(maintain_order=True)}

    @property
    def newest(self) -> AnswerRows:
        """The newest answers by number."""
        return self.index.newest

    @property
    def first_case(self) -> str | None:
        """The id of the first case in the files' order; None if there is no case."""
        return str(self.cases["id"][0]) if self.cases.height else None

    def case_row(self, case_id: str) -> int | None:
        """The row of a case in :attr:`cases`, or None."""
        return self.index.case_row(case_id)

    def case_rows(self, case_ids: pl.Series) -> npt.NDArray[np.int64]:
        """Return the rows of some cases in :attr:`cases`, -1 for unknown cases."""
        named = case_ids.rename("case").to_frame()
        known = self.index.case_rows(case_ids)
        rows = named.join(known, on="case", how="left", maintain_order="left")["case_row"]
        return rows.cast(pl.Int64).fill_null(-1).to_numpy()

    def numbers_of(self, named: pl.DataFrame) -> npt.NDArray[np.int64]:
        """Return the number of the newest answer that each row names, -1 if there is none.

        ``named`` has the columns ``case`` and ``model`` (String).
        """
        places = {model.id: place for place, model in enumerate(self.models)}
        models = named["model"].replace_strict(places, default=-1, return_dtype=pl.Int64)
        return self.newest.numbers(self.case_rows(named["case"]), models.fill_null(-1).to_numpy())

    def case(self, case_id: str) -> Case | None:
        """Return the case with that id, or None."""
        row = self.case_row(case_id)
        return None if row is None else case_from_row(self.cases.row(row, named=True))

    def answers_of(self, case_id: str, *, all_runs: bool = False) -> tuple[Answer, ...]:
        """Return answers to one case, in the order of :attr:`models`.

        Only answers of the newest runs are returned by default.
        """
        rows = self.index.answer_rows(case_id, all_runs=all_runs)
        return tuple(answer_from_row(self.answers.row(row, named=True)) for row in rows)

    def repeats_of(self, case_id: str, model: str) -> tuple[Answer, ...]:
        """Return the other answers of the run to which a model's newest answer to a case belongs.

        They are in the order of their numbers; empty if the run has no repeats.
        """
        at = self.case_row(case_id)
        if at is None or model not in self.index.models:
            return ()
        number = self.newest.number(at, self.index.models.index(model))
        rows = [] if number is None else self.index.repeats(number)
        return tuple(answer_from_row(self.answers.row(row, named=True)) for row in rows)

    def scores_of(self, case_id: str, *, stale: bool = False) -> tuple[Score, ...]:
        """Return all scores of one case's answers, or of earlier answers, in file order."""
        wanted = (self.stale_scores if stale else self.scores).filter(pl.col("case") == case_id)
        return tuple(score_from_row(row) for row in wanted.iter_rows(named=True))

    def flags_of(self, case_id: str, *, stale: bool = False) -> tuple[ReaderFlag, ...]:
        """Return all reader flags on one case's answers, or on earlier ones, in file order."""
        wanted = (self.stale_flags if stale else self.flags).filter(pl.col("case") == case_id)
        return tuple(reader_flag_from_row(row) for row in wanted.iter_rows(named=True))

    def choices_of(self, case_id: str, *, stale: bool = False) -> tuple[ReaderChoice, ...]:
        """Return readers' own answers to one choice question, or to its earlier options.

        They are in file order.
        """
        wanted = (self.stale_choices if stale else self.choices).filter(pl.col("case") == case_id)
        return tuple(reader_choice_from_row(row) for row in wanted.iter_rows(named=True))

    def edits_of(self, case_id: str, *, stale: bool = False) -> tuple[Edit, ...]:
        """Return all corrections of one case's reports, or of earlier ones, in file order."""
        wanted = (self.stale_edits if stale else self.edits).filter(pl.col("case") == case_id)
        return tuple(edit_from_row(row) for row in wanted.iter_rows(named=True))

    def metric_values_of(self, case_id: str) -> tuple[MetricValue, ...]:
        """Return all given metric values of one case's reports, in file order."""
        wanted = self.metrics.filter(pl.col("case") == case_id)
        return tuple(metric_value_from_row(row) for row in wanted.iter_rows(named=True))

    def references_of(self, case_id: str) -> tuple[CorrectedReference, ...]:
        """Return all corrected reports stored for one case, in file order."""
        wanted = self.references.filter(pl.col("case") == case_id)
        return tuple(corrected_reference_from_row(row) for row in wanted.iter_rows(named=True))
