"""What ``curate`` says: what came of each step, and what is missing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from rexview.cli.output import as_json
from rexview.curation.asking import QuestionSubject, Step
from rexview.curation.questions import StepParts
from rexview.models.backend import OUTCOMES
from rexview.models.running.estimate import Estimate
from rexview.models.running.journal import KeptReply
from rexview.models.running.progress import Progress
from rexview.untrusted_input import printable
from rexview.vocab import counted

_NAMED: Final = 10
_ROW: Final = {
    "candidates": "question",
    "candidate_ratings": "score",
    "candidate_tags": "tagged question",
    "validations": "check",
}


@dataclass(frozen=True)
class StepTold:
    """What a step came to.

    ``message`` is why it was not begun, where it was not; ``untold`` counts studies that are left
    out as nothing is told of them.
    """

    step: Step[Any]
    subjects: Sequence[QuestionSubject] = ()
    said: Mapping[str, KeptReply] = field(default_factory=dict)
    written: StepParts = field(default_factory=lambda: StepParts((), {}, 0))
    ended: Progress | None = None
    untold: int = 0
    message: str | None = None

    def _of(self, *, answered: bool) -> list[tuple[QuestionSubject, KeptReply]]:
        both = [(one, self.said[one.id]) for one in self.subjects if one.id in self.said]
        return [(one, reply) for one, reply in both if reply.answered == answered]

    @property
    def unreadable(self) -> list[dict[str, str]]:
        """What came and cannot be read, with why."""
        return [_told(one, reply) for one, reply in self._of(answered=False)]

    @property
    def notes(self) -> list[dict[str, str]]:
        """What is to be known of answers that were read."""
        return [_told(one, reply) for one, reply in self._of(answered=True) if reply.why]

    @property
    def unasked(self) -> int:
        """What has no answer yet."""
        return sum(one.id not in self.said for one in self.subjects)

    @property
    def complete(self) -> bool:
        """Whether all that is asked about is answered and can be read."""
        return not (self.message or self.unasked or self.unreadable)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "step": self.step.name,
            "asked_about": len(self.subjects),
            "answered": len(self._of(answered=True)),
            "unreadable": self.unreadable,
            "unasked": self.unasked,
            "left_out": self.untold,
            "notes": self.notes,
            "table": self.step.table,
            "rows": self.written.rows,
            "elsewhere": self.written.elsewhere,
            "run": asdict(self.ended) if self.ended else None,
            "message": self.message,
        }


def _told(subject: QuestionSubject, reply: KeptReply) -> dict[str, str]:
    return {
        "case": subject.case,
        "about": ", ".join(subject.about),
        "outcome": reply.outcome,
        "why": reply.why,
    }


def tell(
    options: argparse.Namespace,
    steps: Sequence[StepTold],
    *,
    begun: bool,
    more: Mapping[str, Any] | None = None,
) -> int:
    """Say what came; return the exit status.

    ``begun`` says that no step was left out; ``more`` is said beside it as JSON.
    """
    status = 0 if begun and all(one.complete for one in steps) else 1
    if options.json:
        shown = {"steps": [one.as_json() for one in steps], "begun": begun, **(more or {})}
        as_values = {**shown, "exit": status}
        print(as_json(as_values))
        return status
    for one in steps:
        _tell_step(one)
    if not begun:
        print("The steps after it were not begun: give the same command with --resume.")
    return status


def _tell_step(one: StepTold) -> None:
    name = one.step.name
    if one.message:
        print(printable(f"{name}: {one.message}"), file=sys.stderr)
        return
    rows = sum(one.written.rows.values())
    many = counted(rows, _ROW[one.step.table])
    answered = len(one.subjects) - one.unasked - len(one.unreadable)
    print(f"{name}: {answered:,} of {len(one.subjects):,} answered. {many} in {one.step.table}/")
    if one.step.table == "candidates" and one.written.elsewhere:
        print(f"  {counted(one.written.elsewhere, 'question')} proposed before, left out")
    if one.ended and one.ended.message:
        print(printable(one.ended.message), file=sys.stderr)
    names: Mapping[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    for told in one.unreadable[:_NAMED]:
        outcome = names.get(told["outcome"], told["outcome"])
        words = f"  {told['case']}, {told['about']}: {outcome}. {told['why']}"
        print(printable(words.rstrip()), file=sys.stderr)
    for told in one.notes[:_NAMED]:
        print(printable(f"  {told['case']}, {told['about']}: {told['why']}"), file=sys.stderr)
    if one.unreadable:
        print(f"  {counted(len(one.unreadable), 'answer')} cannot be read: --again asks again.")
    if len(one.notes) > _NAMED:
        print(f"  {counted(len(one.notes), 'answer')} with a note: --json has all.")
    if one.unasked:
        print(f"  {one.unasked:,} without an answer: --resume asks about them.")


def tell_would_send(
    options: argparse.Namespace, steps: Sequence[tuple[Step[Any], Mapping[str, Any], Estimate]]
) -> int:
    """Say what would be sent."""
    if options.json:
        print(json.dumps({"steps": [{"step": s.name, **told} for s, told, _ in steps]}, indent=1))
        return 0
    for step, told, estimated in steps:
        if told["first_request"] is None:
            print(f"{step.name}: nothing is left that can be asked.")
            continue
        print(json.dumps(told["first_request"], indent=1))
        if told["continues"]:
            print(f"{step.name}: would go on with {told['continues']}.")
        print(f"{step.name}: {estimated}")
        for figure, source in estimated.sources.items():
            print(printable(f"  {figure}: {source}"))
    return 0
