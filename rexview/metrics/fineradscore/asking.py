"""What a judge is asked: two texts, without the patient, the images or the model's name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.metrics.fineradscore.reading import CORRECTING, read_corrections
from rexview.metrics.pairs import ReportPair
from rexview.metrics.report_lines import Line, report_lines
from rexview.models.asking.prompts import fill, fixed_wording
from rexview.models.asking.tokens import input_tokens
from rexview.models.backend import Parameters, Prompt, Reply, Request, closed_object
from rexview.models.running.attempts import Asking, Unread
from rexview.models.running.spec import RunSpec
from rexview.vocab import EDIT_KINDS, EDIT_SEVERITIES

_PROMPT: Final = Path(__file__).with_name("fineradscore-1.yaml")
OUTPUT_TOKENS: Final = 600
"""Of an answer, until some have come: a few corrections."""


@dataclass(frozen=True)
class Subject:
    """A generated report and the reference that it is judged by.

    ``lines`` are those of the answer's text that belong to the scope, with their numbers in it.
    """

    pair: ReportPair
    lines: tuple[Line, ...]

    @property
    def id(self) -> str:
        """Names case, model, scope and, by a digest, what both texts say: another text, another id.

        Only :attr:`lines` and the reference are sent.
        """
        said = json.dumps([self.pair.reference, [(line.number, line.text) for line in self.lines]])
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        return json.dumps([self.pair.case.id, self.pair.answer.model, self.pair.scope, digest])


def subject_of(pair: ReportPair) -> Subject:
    """Split a generated report into the lines that a judge may correct."""
    spans = [(part.start, part.start + len(part.text)) for part in pair.given]
    lines = report_lines(pair.answer.text)
    inside = (line for line in lines if any(a <= line.start < b for a, b in spans))
    return Subject(pair, tuple(inside))


@cache
def judging_prompt() -> Prompt:
    """Return the wording that judges are asked in."""
    return fixed_wording(_PROMPT)


def asking_of(subjects: Iterable[Subject], spec: RunSpec) -> Asking[Subject]:
    """Return how a run asks about subjects and reads what comes."""
    by_id = {subject.id: subject for subject in subjects}
    return Asking(
        case=by_id.get,
        build=lambda subject, repeat: request_for(subject, spec.prompt, spec.parameters, repeat),
        read=read_reply,
        input_tokens=lambda request: input_tokens(request, spec.card),
        output_tokens=OUTPUT_TOKENS,
    )


def request_for(
    subject: Subject, prompt: Prompt, parameters: Parameters, repeat: int = 1
) -> Request:
    """Make the request for one report."""
    values = {
        "reference": subject.pair.reference,
        "lines": "\n".join(f"[{one.number}] {' '.join(one.text.split())}" for one in subject.lines),
        "kinds": ", ".join(EDIT_KINDS),
    }
    return Request(
        case=subject.id,
        repeat=repeat,
        system=prompt.system,
        parts=(fill(prompt.texts["ask"], values),),
        parameters=parameters,
        prompt_id=prompt.id,
        prompt_hash=prompt.hash,
        schema=_schema(),
    )


def _schema() -> dict[str, Any]:
    """Return the JSON schema of an answer, in the part of it that strict servers take."""
    properties: dict[str, Any] = {
        "line": {"type": "integer"},
        "action": {"type": "string", "enum": list(CORRECTING)},
        "text": {"type": "string"},
        "kind": {"type": "string", "enum": list(EDIT_KINDS)},
        "severity": {"type": "integer", "enum": list(EDIT_SEVERITIES)},
        "comment": {"type": "string"},
    }
    correction = closed_object(properties)
    return closed_object({"corrections": {"type": "array", "items": correction}})


def read_reply(request: Request, reply: Reply, subject: Subject) -> Unread:
    """Keep a reply as it came; an answer that is not what was asked for is malformed, with why."""
    if reply.outcome != "answered":
        return Unread(reply.text, reply.outcome, ())
    found = read_corrections(reply.text, subject.lines)
    if isinstance(found, str):
        return Unread(reply.text, "malformed", (found,))
    return Unread(reply.text, "answered", ())
