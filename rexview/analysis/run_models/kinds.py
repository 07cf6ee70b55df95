"""What runs of models are about: answers to cases, or judging, proposing, scoring, checking."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Literal

from rexview.judge.written.words import is_written, name_of
from rexview.models.running.folder import CURATING, JUDGING, RUNS, RunFolder, runs_of
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.words import tr

Command = Literal["run", "curate", "judge", "metrics"]
_VERSION: Final = 12
_DIGEST: Final = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True)
class Kind:
    """One kind of run.

    Attributes
    ----------
    name
        What its model does.
    unit
        What one request is about, as :func:`.vocab.counted` takes it.
    command
        What begins it on the command line, and goes on with it.
    more
        What that command needs beside model and run.
    """

    name: str
    unit: str
    command: Command
    more: tuple[str, ...] = ()


ANSWERS: Final = Kind(tr("Answers"), "case", "run")
OPINIONS: Final = Kind(tr("Second opinion"), "answer", "judge")
WRITTEN: Final = Kind(tr("Written failure"), "answer", "judge")
CORRECTIONS: Final = Kind(tr("Corrections of reports"), "report", "metrics")
_OTHER: Final = Kind(tr("Questions"), "request", "curate")
_CURATING: Final[Mapping[str, Kind]] = {
    "propose": Kind(tr("Questions proposed"), "study", "curate"),
    "rate": Kind(tr("Questions scored"), "question", "curate"),
    "tag": Kind(tr("Questions tagged"), "question", "curate"),
    "propose-choice": Kind(tr("Multiple choice questions"), "study", "curate", ("--choice",)),
    "validate-choice": Kind(tr("Multiple choice checked"), "question", "curate", ("--choice",)),
}
"""By the name of the wording, without its number."""
FOLDERS: Final = (RUNS, CURATING, JUDGING)


def kind_of(run: RunFolder, spec: RunSpec) -> Kind:
    """Return what a run is about: its folder says so, and its wording, no other part of it."""
    wording = spec.prompt.id.rpartition("-")[0]
    if run.under == JUDGING and is_written(spec.prompt):
        words = f"{name_of(spec.prompt)}@{spec.prompt.hash[:_VERSION]}"
        return replace(WRITTEN, more=(f"--written={words}",))
    if run.under == JUDGING:
        return CORRECTIONS if wording == "fineradscore" else OPINIONS
    return _CURATING.get(wording, _OTHER) if run.under == CURATING else ANSWERS


def all_runs(review_set: ReviewSet, folders: tuple[str, ...] = FOLDERS) -> list[RunFolder]:
    """Return the runs of a set of all kinds, or of those in some folders, newest first."""
    found = chain.from_iterable(runs_of(review_set.folder, under) for under in folders)
    return sorted(found, key=lambda run: run.id, reverse=True)


def named(subject_id: str) -> tuple[str, str]:
    """Return the case that a request is about, and in words what of it.

    Where a model is asked about something else than cases, the id is a list in JSON: the case, what
    of it, and a digest.
    """
    try:
        parts = json.loads(subject_id)
    except (ValueError, RecursionError):
        return subject_id, ""
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return subject_id, ""
    more = [part for part in parts[1:] if isinstance(part, str) and not _DIGEST.fullmatch(part)]
    return parts[0], ", ".join(more)
