"""What a model said in runs about other things than cases, read from their logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rexview.errors import RunError
from rexview.models.prompt import Prompt
from rexview.models.running.files.append_only import lines_of
from rexview.models.running.folder import RunFolder, runs_of
from rexview.models.running.spec import read_spec


@dataclass(frozen=True)
class KeptReply:
    """What a model said of one thing, as it was kept: how it ended, its text, when, in which run.

    ``why`` says what is wrong with an answer that cannot be read, or what is to be known of it.
    """

    outcome: str
    text: str
    created: str
    run: str
    why: str = ""

    @property
    def answered(self) -> bool:
        """Whether it can be read."""
        return self.outcome == "answered"


def replies_of(run: RunFolder) -> Iterator[tuple[str, KeptReply]]:
    """Yield the replies in a run's log in order, each behind the id of what it is about."""
    for _, line in lines_of(run.log, b'"replied"'):  # which has every reply, and first
        row = line.get("row") if line and line.get("event") == "replied" else None
        if isinstance(row, dict):
            yield str(row.get("case")), _kept(row, run.id)


def kept_replies(set_folder: Path, under: str, model: str, prompt: Prompt) -> dict[str, KeptReply]:
    """Return what a model said in all runs of a kind with this wording, by the id of what it is of.

    Of several answers the newest that can be read counts, else the newest.
    """
    found: dict[str, KeptReply] = {}
    for run in runs_of(set_folder, under):
        with suppress(RunError):
            spec = read_spec(run)
            if spec.parameters.model != model or spec.prompt.hash != prompt.hash:
                continue
            for subject, came in replies_of(run):
                before = found.get(subject)
                if before is None or _rank(came) > _rank(before):
                    found[subject] = came
    return found


def _kept(row: dict[str, Any], run: str) -> KeptReply:
    beside = row.get("extra")
    extra: dict[str, Any] = beside if isinstance(beside, dict) else {}
    text, created = str(row.get("text") or ""), str(row.get("created") or "")
    notes = extra.get("notes")
    why = " ".join(map(str, notes)) if isinstance(notes, list) else ""
    return KeptReply(str(extra.get("outcome")), text, created, run, why)


def _rank(one: KeptReply) -> tuple[bool, str]:
    return one.answered, one.created
