"""How a model is asked about questions in the making: the same for every step.

A :class:`Step` has a wording, reads a reply strictly and makes rows of what it says; it is asked
about :class:`QuestionSubject` by :mod:`rexview.models.running`, as cases are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from rexview.models.asking.prompts import fenced, fill
from rexview.models.asking.tokens import input_tokens
from rexview.models.backend import Parameters, Prompt, Reply, Request
from rexview.models.running.attempts import Asking, Unread
from rexview.models.running.spec import RunSpec

Row = dict[str, Any]


class Read(Protocol):
    """What a reply says, read without guessing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of how it was read."""
        ...


Found = TypeVar("Found", bound=Read)


@dataclass(frozen=True)
class QuestionSubject:
    """One thing that is asked about: a study, or a question proposed for it.

    ``about`` says more than the case does: the candidate, or where a study's text is from.
    ``values`` are filled into the wording: other values, another :attr:`id`.
    """

    case: str
    about: tuple[str, ...]
    values: Mapping[str, str]

    @property
    def id(self) -> str:
        """Names the case, what it is about, and by a digest what is sent."""
        said = json.dumps(dict(self.values), sort_keys=True)
        return json.dumps([self.case, *self.about, hashlib.sha256(said.encode()).hexdigest()[:16]])


def named_by(subject_id: str) -> tuple[str, tuple[str, ...]] | None:
    """Return case and ``about`` of the subject with an id; None where it is no such id."""
    try:
        parts = json.loads(subject_id)
    except ValueError:
        return None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return None
    return (parts[0], tuple(parts[1:-1])) if len(parts) > 1 else None


@dataclass(frozen=True)
class Step(Generic[Found]):
    """One kind of request about questions in the making.

    Attributes
    ----------
    table
        Which of the set's tables has what comes of it.
    wording
        Its texts are ``ask``, and where models that write JSON by a schema are told so in other
        words ``json`` and ``lines``.
    read
        Reads a reply; a sentence about what is wrong with it, where anything in it is.
    rows
        Makes rows of ``table`` of what was read for a case; who, when and in which run is added.
    told
        More notes about what was read, from what was asked.
    output_tokens
        Of an answer, until some have come.
    """

    name: str
    table: str
    wording: Prompt
    schema: Mapping[str, Any]
    read: Callable[[str], Found | str]
    rows: Callable[[Found, tuple[str, ...]], list[Row]]
    output_tokens: int
    told: Callable[[Found, QuestionSubject], tuple[str, ...]] = lambda found, subject: ()

    def asking(self, subjects: Iterable[QuestionSubject], spec: RunSpec) -> Asking[QuestionSubject]:
        """Return how a run asks about subjects and reads what comes."""
        by_id = {subject.id: subject for subject in subjects}
        return Asking(
            case=by_id.get,
            build=lambda subject, repeat: self.request(
                subject, spec.prompt, spec.parameters, repeat
            ),
            read=self._unread,
            input_tokens=lambda request: input_tokens(request, spec.card),
            output_tokens=self.output_tokens,
        )

    def request(
        self, subject: QuestionSubject, prompt: Prompt, parameters: Parameters, repeat: int = 1
    ) -> Request:
        """Make the request for one subject."""
        form = prompt.texts.get("json" if parameters.structured else "lines")
        text = fill(fenced(prompt.texts, subject.values)["ask"], subject.values)
        return Request(
            case=subject.id,
            repeat=repeat,
            system=prompt.system,
            parts=(f"{text}\n\n{form}" if form else text,),
            parameters=parameters,
            prompt_id=prompt.id,
            prompt_hash=prompt.hash,
            schema=self.schema,
        )

    def _unread(self, request: Request, reply: Reply, subject: QuestionSubject) -> Unread:
        """Keep a reply as it came; an answer that cannot be read is malformed, with why."""
        if reply.outcome != "answered":
            return Unread(reply.text, reply.outcome, ())
        found = self.read(reply.text)
        if isinstance(found, str):
            return Unread(reply.text, "malformed", (found,))
        return Unread(reply.text, "answered", (*found.notes, *self.told(found, subject)))
