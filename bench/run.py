"""Measure what a run adds to asking a model: ``python -m rexview bench run``.

The alternative is a bare loop that sends the same bodies with the openai package, as many at once,
and discards the replies. Ours also finds the cases, makes requests and pictures, enforces budget
and limits, writes log and rows to the disk, and reads the answers. The server is a separate
process.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from bench.asking.fast_server import fast_server
from bench.made_set import MadeSet, make_set
from bench.measure import Measured, at_most, in_turn, missing, result
from rexview.analysis.run_models.run_request import RunRequest, build_run_task, plan_run
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.running.model_run import ModelRun, start_run
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.settings import Settings

CASES: Final = 1000
AT_ONCE: Final = 32
ROUNDS: Final = 3
MOST_MS: Final = 10.0
"""Goal for the extra time of a case."""
_PICTURES: Final = 8
_ANSWER_TOKENS: Final = 20


def run(cases: int = CASES, at_once: int = AT_ONCE, rounds: int = ROUNDS) -> Measured:
    """Measure a run of ``cases`` cases, ``at_once`` of them at a time."""
    if why := missing("openai"):
        return Measured([result("asking a case", None, "ms", note=why)])
    with tempfile.TemporaryDirectory() as place, fast_server() as base_url:
        folder = Path(place) / "set"
        make_set(MadeSet(cases, 1, _PICTURES), folder)
        review_set = load_review_set(folder)
        settings = Settings(cache_folder=Path(place) / "cache")
        wanted = RunRequest("bench", "responses", base_url, concurrency=at_once)
        asked = _Asked(review_set, wanted, settings, cases)
        clocks = (time.process_time, time.perf_counter)
        measures = [way(clock) for clock in clocks for way in (asked.ours, asked.bare)]
        try:
            processor, bare_processor, clock, bare_clock = in_turn(*measures, rounds=rounds)
        finally:
            asked.close()
    name = "openai's client in a loop"
    what = f"a case of {cases:,}, {at_once} at once"
    rows = [
        result(f"{what}, processor", processor, "ms", alternative=bare_processor, name=name),
        result(f"{what}, by the clock", clock, "ms", alternative=bare_clock, name=name),
        result(
            f"{what}, our own part",
            max(0.0, processor - bare_processor),
            "ms",
            goal=at_most(MOST_MS),
            note="processor time beyond that of the loop",
        ),
    ]
    notes = "The loop has its bodies ready; pictures as sent are kept after the first round."
    return Measured(rows, notes=notes)


class _Asked:
    """The cases of a set, asked by a run and by a loop; each measure returns ms a case."""

    def __init__(
        self, review_set: ReviewSet, wanted: RunRequest, settings: Settings, cases: int
    ) -> None:
        self._set, self._wanted, self._settings, self._n = review_set, wanted, settings, cases
        spec = plan_run(review_set, wanted).spec
        self._endpoint = Endpoint(spec.parameters, connections=spec.concurrency)
        asking = build_run_task(review_set, spec, _ANSWER_TOKENS, settings)
        found = (review_set.case(case) for case in spec.cases)
        self._bodies = [self._endpoint.body_of(asking.build(case, 1)) for case in found if case]
        self._at_once = spec.concurrency

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _run(self) -> None:
        plan = plan_run(self._set, self._wanted)
        asking = build_run_task(self._set, plan.spec, _ANSWER_TOKENS, self._settings)
        lock = start_run(plan)
        try:
            ended = ModelRun(plan.spec, plan.run, asking, self._endpoint).work()
        finally:
            lock.release()
        assert ended.done == self._n, ended

    def _bare(self) -> None:
        create: Any = self._endpoint.client.responses.create
        with ThreadPoolExecutor(self._at_once) as threads:
            for _ in threads.map(lambda body: create(**body), self._bodies):
                pass

    def ours(self, clock: Callable[[], float]) -> Callable[[], float]:
        """Return a measure of a run by a clock."""
        return lambda: self._timed(self._run, clock)

    def bare(self, clock: Callable[[], float]) -> Callable[[], float]:
        """Return a measure of the loop by a clock."""
        return lambda: self._timed(self._bare, clock)

    def _timed(self, work: Callable[[], None], clock: Callable[[], float]) -> float:
        start = clock()
        work()
        return 1000 * (clock() - start) / self._n
