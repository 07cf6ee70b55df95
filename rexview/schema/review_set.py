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
from rexview.frames.answer_rows import AnswerRows, answer_rows
from rexview.schema.records import (
    Answer,
    Case,
    Model,
    ReaderFlag,
    Score,
    SetInfo,
    answer_from_row,
    case_from_row,
    reader_flag_from_row,
    score_from_row,
)


@dataclass(frozen=True, eq=False)
class ReviewSet:
    """An open review set: what was given, checked and normalised. Never changed.

    ``fingerprint`` changes when any of its files does; ``warnings`` did not keep it from opening.
    ``unfinished`` has the scores that ``scores`` lacks as their reader has not finished the case;
    ``stale_scores`` and ``stale_flags`` are of earlier answers and count nowhere. ``find_picture``
    gives a returned picture's file by its path, None at an address.
    """

    folder: Path
    info: SetInfo
    cases: pl.DataFrame
    answers: pl.DataFrame
    scores: pl.DataFrame
    flags: pl.DataFrame
    metrics: pl.DataFrame
    edits: pl.DataFrame
    warnings: tuple[Problem, ...] = ()
    fingerprint: str = ""
    unfinished: pl.DataFrame = field(default_factory=frames.SCORES.to_frame)
    stale_scores: pl.DataFrame = field(default_factory=frames.SCORES.to_frame)
    stale_flags: pl.DataFrame = field(default_factory=frames.FLAGS.to_frame)
    find_picture: Callable[[str], Path | None] = lambda path: None

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """Declared models in their order, then those only met in the answers."""
        declared = {model.id: model for model in self.info.models}
        for model_id in self.answers["model"].unique(maintain_order=True):
            declared.setdefault(model_id, Model(id=model_id, name=model_id))
        return tuple(declared.values())

    @cached_property
    def model_names(self) -> dict[str, str]:
        """Name on screen by model id; models of the same name are told apart by their id."""
        times = Counter(model.name for model in self.models)
        return {
            model.id: model.name if times[model.name] == 1 else f"{model.name} ({model.id})"
            for model in self.models
        }

    @cached_property
    def reader_names(self) -> dict[str, str]:
        """Name on screen by reader id, declared or only met in scores and flags."""
        names = {reader.id: reader.name for reader in self.info.readers}
        met = pl.concat([self.scores["reader"], self.flags["reader"]]).drop_nulls()
        return names | {one: names.get(one, one) for one in met.unique(maintain_order=True)}

    @cached_property
    def newest(self) -> AnswerRows:
        """The newest answers by number."""
        return answer_rows(self.cases, self.answers, [model.id for model in self.models])

    def numbers_of(self, named: pl.DataFrame) -> npt.NDArray[np.int64]:
        """Return the number of the newest answer that each row names, -1 where there is none.

        ``named`` has the columns ``case`` and ``model`` (String).
        """
        # only the cases that are named are joined: a table of all ids would take long to make
        of_named = self.cases.select(case="id").with_row_index("row")
        of_named = of_named.filter(pl.col("case").is_in(named["case"].unique().implode()))
        rows = named.select("case").join(of_named, on="case", how="left", maintain_order="left")
        places = {model.id: place for place, model in enumerate(self.models)}
        models = named["model"].replace_strict(places, default=-1, return_dtype=pl.Int64)
        return self.newest.numbers(
            rows["row"].cast(pl.Int64).fill_null(-1).to_numpy(), models.fill_null(-1).to_numpy()
        )

    @cached_property
    def _case_rows(self) -> dict[str, int]:
        return {case_id: row for row, case_id in enumerate(self.cases["id"].to_list())}

    def case(self, case_id: str) -> Case | None:
        """The case with that id, or None."""
        row = self._case_rows.get(case_id)
        return None if row is None else case_from_row(self.cases.row(row, named=True))

    def answers_of(self, case_id: str, *, all_runs: bool = False) -> tuple[Answer, ...]:
        """Answers to one case in the order of :attr:`models`; only the newest runs by default."""
        wanted = self.answers.filter(pl.col("case") == case_id, all_runs or pl.col("_newest"))
        order = {model.id: place for place, model in enumerate(self.models)}
        answers = [answer_from_row(row) for row in wanted.iter_rows(named=True)]
        return tuple(sorted(answers, key=lambda answer: order[answer.model]))

    def scores_of(self, case_id: str, *, stale: bool = False) -> tuple[Score, ...]:
        """All scores given to answers of one case, or to earlier ones, in file order."""
        wanted = (self.stale_scores if stale else self.scores).filter(pl.col("case") == case_id)
        return tuple(score_from_row(row) for row in wanted.iter_rows(named=True))

    def flags_of(self, case_id: str, *, stale: bool = False) -> tuple[ReaderFlag, ...]:
        """All reader flags on answers of one case, or on earlier ones, in file order."""
        wanted = (self.stale_flags if stale else self.flags).filter(pl.col("case") == case_id)
        return tuple(reader_flag_from_row(row) for row in wanted.iter_rows(named=True))
