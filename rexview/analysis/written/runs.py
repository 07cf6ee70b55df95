"""The runs in which judges looked for failures in words, and how far their logs are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rexview.errors import RunError
from rexview.judge.written.words import is_written
from rexview.models.backend import Prompt
from rexview.models.running.folder import JUDGING, RunFolder, is_worked_on, runs_of
from rexview.models.running.spec import read_spec


@dataclass(frozen=True)
class WrittenRun:
    """A run, its judge and the words that it asked with."""

    folder: RunFolder
    judge: str
    prompt: Prompt


def written_runs(set_folder: Path) -> list[WrittenRun]:
    """Return the runs of a set about failures in words, newest first."""
    found = []
    for run in runs_of(set_folder, JUDGING):
        try:
            changed = run.spec.stat().st_mtime_ns
        except OSError:
            continue
        if (known := _known(run, changed)) is not None:
            found.append(known)
    return found


@lru_cache(maxsize=512)
def _known(run: RunFolder, changed: int) -> WrittenRun | None:
    try:
        spec = read_spec(run)
    except RunError:
        return None
    if not is_written(spec.prompt):
        return None
    return WrittenRun(run, spec.parameters.model, spec.prompt)


def results_state(
    set_folder: Path, about: tuple[str, str] | None = None
) -> tuple[tuple[str, int], ...]:
    """Name what the logs hold by now: another state, other results.

    ``about`` are the digest of words and a judge: then it is of what that judge said of them.

    The log of a run that is at work names a new one after each tenth or so of growth: what pages
    work out of it is not made anew with every answer.
    """
    return tuple(
        (run.folder.id, _size(run.folder))
        for run in written_runs(set_folder)
        if about in (None, (run.prompt.hash, run.judge))
    )


def _size(run: RunFolder) -> int:
    try:
        size = run.log.stat().st_size
    except OSError:
        return 0
    step: int = 10 ** (len(str(size)) - 2) if size > 1_000 else 1
    return -(size // step) if is_worked_on(run) else size
