"""Measure a Ray on this machine against our own processes: ``bench cluster``.

All detectors run over the same simulated set without stored results, with one and two workers of
each kind, in turn. Workers are started each time, as in a command. Ray itself is started once,
which has its own row.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from bench.made_set import MadeSet, make_set
from bench.measure import Measured, Row, in_turn, missing, result
from bench.scale_parts import looking_s
from rexview.detect import DETECTORS
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.spread.workers import LocalProcesses, WorkerProvider

CASES: Final = 150
_MODELS: Final = 8
_ROUNDS: Final = 3
_WORKERS: Final = (1, 2)
_PROCESSES: Final = "our own processes"


def run(cases: int = CASES, rounds: int = _ROUNDS) -> Measured:
    """Scan a simulated set of ``cases`` cases with eight answers each."""
    if (reason := missing("ray")) is not None:
        return Measured([result("the search for failures over Ray", None, "s", note=reason)])
    from rexview.spread.ray_cluster import RayCluster

    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place) / "set"
        make_set(MadeSet(cases, _MODELS, pictures=0, parquet=True), folder)
        review_set = load_review_set(folder)
        begin = time.perf_counter()
        with RayCluster(None, max(_WORKERS)) as cluster:
            began = time.perf_counter() - begin
            rows = _rows(review_set, cluster.with_workers, rounds)
    return Measured([*rows, result("Ray begins on this machine", began, "s")])


def _rows(
    review_set: ReviewSet, cluster_of: Callable[[int], WorkerProvider], rounds: int
) -> list[Row]:
    spreads = [(n, cluster_of(n), LocalProcesses(n)) for n in _WORKERS]
    measures = [
        partial(looking_s, review_set, DETECTORS, spread=one)
        for _, *both in spreads
        for one in both
    ]
    took = iter(in_turn(*measures, rounds=rounds))
    answers = len(review_set.newest)
    return [
        result(
            f"{answers:,} answers looked at over Ray, workers: {n}",
            next(took),
            "s",
            alternative=next(took),
            name=_PROCESSES,
        )
        for n, *_ in spreads
    ]
