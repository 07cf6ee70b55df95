"""Which run is begun or continued, and what is left of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from rexview.errors import RunError, RunRefused
from rexview.models.running.files.lock import RunLock
from rexview.models.running.folder import RUNS, RunFolder, run_folder, runs_of, write_json
from rexview.models.running.journal import Item, Past, read_past
from rexview.models.running.run import disk_words, items_of
from rexview.models.running.spec import RunSpec, newest_alike, read_spec
from rexview.schema import ReviewSet


@dataclass(frozen=True)
class Plan:
    """A run that may begin or go on.

    ``spec`` is what is asked now; ``before`` what ``run.json`` says so far, None for a new run.
    """

    spec: RunSpec
    run: RunFolder
    past: Past
    before: RunSpec | None = None

    @property
    def left(self) -> list[Item]:
        """What has no reply yet."""
        return [item for item in items_of(self.spec) if item not in self.past.outcomes]


def known_cases(review_set: ReviewSet) -> dict[str, int]:
    """Return the ids of a set's cases in their order, each with its place."""
    return {case: place for place, case in enumerate(review_set.cases["id"].to_list())}


def unanswered(review_set: ReviewSet, model: str) -> tuple[str, ...]:
    """Return the cases of a set that a model has not answered, in their order."""
    answered = review_set.answers.filter(pl.col("model") == model)["case"].unique()
    ids = review_set.cases["id"]
    return tuple(ids.filter(~ids.is_in(answered.implode())))


def new_plan(set_folder: Path, spec: RunSpec, under: str = RUNS) -> Plan:
    """Plan a new run in the folder of its kind; nothing is written yet."""
    return Plan(spec, RunFolder(set_folder, spec.id, under), Past())


def resumed(
    set_folder: Path,
    spec: RunSpec | None,
    run_id: str | None,
    known: Collection[str],
    *,
    cases: tuple[str, ...] | None = None,
    under: str = RUNS,
) -> Plan | None:
    """Plan to go on with a run; None when no run asks as ``spec`` does.

    Parameters
    ----------
    set_folder, run_id
        The set, and the run if one was named.
    spec
        What was asked for now: the newest run that asks the same in the same way is taken.
    known
        The ids of the set's cases, or of what else can be asked about.
    cases
        Those that were named now. Without them a run of all cases goes on with all that there are
        now, another one with its own.
    under
        The folder of the run's kind.

    Raises
    ------
    RunRefused
        The run that was named is not there, or cannot be read.
    """
    try:
        run = run_folder(set_folder, run_id, under) if run_id else None
        if run is None and spec is not None:
            run = newest_alike(runs_of(set_folder, under), spec)
        if run is None:
            return None
        before = read_spec(run)
        past = read_past(run)
    except RunError as error:
        raise RunRefused(str(error)) from None
    except OSError as error:
        raise RunRefused(disk_words(error)) from None
    if cases is None:
        cases = tuple(known) if before.selected == "all" else before.cases
    left = tuple(case for case in cases if case in known)
    return Plan(replace(before, cases=left), run, past, before)


def begin(plan: Plan) -> RunLock:
    """Take the run's lock and write ``run.json``; cases that were asked before stay in it.

    Raises
    ------
    RunRefused
        Another process works on the run.
    RunError
        Nothing can be written there.
    """
    spec, before = plan.spec, plan.before
    if before is not None:
        cases = tuple(dict.fromkeys((*before.cases, *spec.cases)))
        repeats = max(before.repeats, spec.repeats)
        spec = replace(spec, cases=cases, repeats=repeats, selected=before.selected)
    try:
        plan.run.path.mkdir(parents=True, exist_ok=before is not None)
        lock = RunLock(plan.run)
        try:
            write_json(plan.run.spec, spec.as_json())
        except BaseException:
            lock.release()
            raise
    except OSError as error:
        raise RunError(disk_words(error)) from None
    return lock
