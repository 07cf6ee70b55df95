"""What raters chose as rows of plain data: the lists of ``stats --json`` beside ``choices``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.choices import FINDING_CATEGORY
from rexview.stats.failure_rates import PairTally
from rexview.stats.multiple_choice.accuracy import Pair, accuracy, choice_tests, pair_of
from rexview.stats.multiple_choice.chosen import (
    ChoiceTally,
    Chosen,
    Rater,
    choice_tally,
    chosen_in,
)
from rexview.stats.multiple_choice.kappa import kappa_of, option_table

Row = dict[str, Any]
_COLUMNS: Final = {"task": "category", "difficulty": "difficulty", "site": "site"}
"""Columns of the cases by what questions are laid out by."""
_TAGS: Final = {"category": FINDING_CATEGORY, "class": ("class",)}
"""Names of tags by the same, the first that a case has counts."""


def choice_lists(review_set: ReviewSet, *, resamples: int = RESAMPLES) -> dict[str, list[Row]]:
    """Work out the lists; all empty for a set in which nobody answered a choice question.

    Returns
    -------
    dict
        ``choice_raters`` (every rater over all questions, and by task, difficulty, site, category
        and class), ``choice_readers`` (the same over the questions that readers answered),
        ``choice_tests`` and ``choice_kappa``.
    """
    chosen = chosen_in(review_set)
    return {
        "choice_raters": [
            _counted(chosen.raters[place], tally, resamples, by=by, value=value)
            for by, value, part in _parts(chosen, review_set.cases)
            for place, tally in _tallies(part)
        ],
        "choice_readers": [
            _counted(chosen.raters[place], tally, resamples)
            for place, tally in _tallies(chosen.of(chosen.read_by_people))
        ],
        "choice_tests": [
            row for family in ("models", "readers") for row in _tests(chosen, family, resamples)
        ],
        "choice_kappa": list(_kappas(chosen, review_set.cases)),
    }


def _tallies(chosen: Chosen) -> Iterator[tuple[int, ChoiceTally]]:
    for place in range(len(chosen.raters)):
        tally = choice_tally(chosen, place)
        if tally.patients.n:
            yield place, tally


def _parts(chosen: Chosen, cases: pl.DataFrame) -> Iterator[tuple[str | None, str | None, Chosen]]:
    """Yield all questions, then those of each value of each property, in alphabetical order."""
    yield None, None, chosen
    asked = cases[chosen.case_row].select("tags", *_COLUMNS.values()).with_row_index("place")
    tag = pl.element().struct.field("name").str.to_lowercase().str.replace_all(r"[\s-]+", "_")
    found = {by: pl.concat_list(pl.col(name).cast(pl.String)) for by, name in _COLUMNS.items()}
    for by, names in _TAGS.items():
        lists = [
            pl.col("tags")
            .list.eval(pl.element().filter(tag == name).struct.field("values").explode())
            .list.drop_nulls()
            .list.unique()
            for name in names
        ]
        found[by] = pl.coalesce(pl.when(one.list.len() > 0).then(one) for one in lists)
    for by, values in found.items():
        one_each = asked.select("place", value=values).explode("value").drop_nulls("value")
        for (value,), part in one_each.sort("value").partition_by("value", as_dict=True).items():
            yield by, str(value), chosen.of(part["place"].sort().to_numpy())


def _counted(rater: Rater, tally: ChoiceTally, resamples: int, **about: str | None) -> Row:
    found = accuracy(tally, resamples=resamples)
    rate = found.rate
    return {
        "rater": rater.id,
        "kind": rater.kind,
        **about,
        "n": rate.n,
        "correct": rate.flagged,
        "failed": found.failed,
        "accuracy": rate.share,
        "low": rate.interval.low,
        "high": rate.interval.high,
        "accuracy_read": found.without_failed.share,
        "interval": rate.method,
        "patients": rate.clusters,
        "why": rate.interval.why,
    }


def _tests(chosen: Chosen, family: str, resamples: int) -> Iterator[Row]:
    """Yield the tests of one family: models among themselves, or each with each reader."""
    raters, readers = chosen.raters, int(family == "readers")
    pairs: dict[Pair, PairTally] = {
        (None, a, b): pair_of(chosen, a, b)
        for a, b in combinations(range(len(raters)), 2)
        if raters[a].is_reader + raters[b].is_reader == readers
    }
    shared = {about: pair for about, pair in pairs.items() if pair.by_patient.n}
    for test in choice_tests(shared, resamples=resamples):
        yield {
            "family": family,
            "rater_a": raters[test.rater_a].id,
            "rater_b": raters[test.rater_b].id,
            "n_pairs": test.n_pairs,
            "only_a": test.only_a,
            "only_b": test.only_b,
            "both": test.both,
            "difference": test.difference,
            "ci_low": test.interval.low,
            "ci_high": test.interval.high,
            "p": test.p,
            "p_adj": test.p_adj,
            "left_out": test.left_out,
            "why": test.why or test.interval.why,
        }


def _kappas(chosen: Chosen, cases: pl.DataFrame) -> Iterator[Row]:
    """Yield the agreement of every two raters that share any question, over all, then by task."""
    tasks = cases["category"].gather(chosen.case_row).fill_null("").to_numpy()
    every: list[tuple[str | None, Chosen]] = [(None, chosen)]
    every += [
        (str(task), chosen.of(np.flatnonzero(tasks == task))) for task in np.unique(tasks) if task
    ]
    for task, part in every:
        for a, b in combinations(range(len(part.raters)), 2):
            found = kappa_of(task, a, b, option_table(part, a, b))
            if found.n:
                yield {
                    "task": task,
                    "rater_a": part.raters[a].id,
                    "rater_b": part.raters[b].id,
                    "n": found.n,
                    "same": found.same,
                    "agreement": found.agreement,
                    "kappa": found.kappa,
                    "why": found.why,
                }
