"""Measure multiple choice at the size of ReXVQA's test questions: ``bench choices``.

A simulated set in ReXVQA's own files (task frequencies of the paper, eight models, three readers)
is imported, opened, filtered, and laid out as on the page. The alternative for a filter's numbers
is what a notebook does, pandas grouped by model and task. Both must count the same.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from bench.made_set.rexvqa import write_rexvqa
from bench.measure import Measured, Row, at_most, in_turn, milliseconds, result
from rexview.analysis.multiple_choice import (
    TASK,
    build_choice_groups,
    build_choice_tables,
    build_kappa_map,
    compare_raters,
    list_choice_groupings,
)
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.detect import create_detectors
from rexview.detect.scan.scan import create_empty_scan
from rexview.importers import import_source
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.stats.multiple_choice import NO_CHOICE

QUESTIONS: Final = 40_826
MODELS: Final = 8
ROUNDS: Final = 3
IMPORT_GOAL: Final = at_most(60)
FILTER_GOAL: Final = at_most(300)
PAGE_GOAL: Final = at_most(2_000)
FILTERS: Final = (
    CaseFilter(categories=("negation_assessment",)),
    CaseFilter(outcomes=("wrong:model-01",)),
    CaseFilter(models=("model-02", "model-03")),
)
_MOST: Final = 40


def run(questions: Sequence[int] = (QUESTIONS,)) -> Measured:
    """Measure with sets of these numbers of questions.

    Raises
    ------
    AssertionError
        Pandas counts differently.
    """
    rows = [row for size in questions for row in _of_size(size)]
    return Measured(rows, notes="Each filter is new to the engine; intervals are drawn anew.")


def _of_size(questions: int) -> Iterator[Row]:
    about = f"{questions:,} questions, {MODELS} models"
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place)
        files = write_rexvqa(folder / "files", questions=questions, models=MODELS)
        imported, cpu = _seconds(lambda: import_source("rexvqa", files, folder / "set"))
        note = f"{cpu:.0f} s of the processor"
        yield result(f"import, {about}", imported, "s", goal=IMPORT_GOAL, note=note)
        opened, cpu = _seconds(lambda: load_review_set(folder / "set"))
        note = f"{cpu:.0f} s of the processor"
        yield result(f"opening with nothing kept, {about}", opened, "s", note=note)
        review_set = load_review_set(folder / "set")
        engine = _engine(review_set)
        yield _beside_pandas(engine, review_set, about)
        for case_filter in FILTERS:
            words = (f"{key}={'+'.join(word)}" for key, word in case_filter.to_query().items())
            took, _ = _seconds(partial(_counted, engine, case_filter))
            name = f"filter {', '.join(words)}, {about}"
            yield result(name, 1000 * took, "ms", goal=FILTER_GOAL)
        yield from _page(engine, about)


def _engine(review_set: ReviewSet) -> MemoryEngine:
    """Make an engine without detectors' results, as a page does."""
    return build_memory_engine(
        review_set, scan=create_empty_scan(review_set, create_detectors(models=review_set.models))
    )


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall-clock and processor seconds of one call."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - cpu


def _beside_pandas(engine: MemoryEngine, review_set: ReviewSet, about: str) -> Row:
    """Measure the time of counting right choices by rater and task, ours and pandas'."""
    import pandas as pd

    chosen = engine.table.chosen
    question, rater = np.nonzero(chosen.option != NO_CHOICE)
    frame = pd.DataFrame(
        {
            "task": review_set.cases["category"].gather(chosen.case_row).to_numpy()[question],
            "rater": rater,
            "right": chosen.option[question, rater] == chosen.right[question],
        }
    )

    def ours() -> dict[tuple[str, int], int]:
        found, _ = engine.choice_groups(CaseFilter(), TASK, _MOST)
        return {
            (group.value, place): tally.patients.total
            for group in found
            for place, tally in enumerate(group.tallies)
            if tally.patients.n
        }

    def theirs() -> dict[tuple[str, int], int]:
        return dict(frame.groupby(["task", "rater"])["right"].sum())

    assert ours() == theirs(), "pandas counts differently"
    mine, others = in_turn(milliseconds(ours), milliseconds(theirs), rounds=ROUNDS)
    what = f"right by rater and task, {about}"
    note = "ours with what intervals by patient need"
    return result(what, mine, "ms", alternative=others, name="pandas", note=note)


def _counted(engine: MemoryEngine, case_filter: CaseFilter) -> None:
    """Ask the engine for the data of the page's first table."""
    engine.choice_counts(case_filter)
    engine.choice_tallies(case_filter)
    engine.choice_groups(case_filter, TASK, _MOST)


def _page(engine: MemoryEngine, about: str) -> Iterator[Row]:
    """Measure the parts of the page, with their intervals and tests."""
    every = CaseFilter()
    by = {choice.key: choice for choice in list_choice_groupings(engine)}
    parts: dict[str, Callable[[], object]] = {
        "first table with intervals": lambda: build_choice_tables(engine, every),
        "by category": lambda: build_choice_groups(engine, every, by["tag:category"]),
        "models compared": lambda: compare_raters(engine, every).of_models,
        "kappa map": lambda: build_kappa_map(engine, every),
    }
    for name, part in parts.items():
        took, _ = _seconds(part)
        yield result(f"page: {name}, {about}", 1000 * took, "ms", goal=PAGE_GOAL)
