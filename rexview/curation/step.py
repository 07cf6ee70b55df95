"""Send questions to a model for curation, in the same way for every step.

A :class:`CurationStep` has a wording, parses a reply strictly and makes table rows of it.
:mod:`rexview.models.running` sends its :class:`QuestionSubject` items to a model, like cases.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from rexview.models.asking.prompts import fence_values, fill_template
from rexview.models.asking.token_estimate import input_tokens
from rexview.models.backend import ModelRequest, Parameters, Prompt, Reply
from rexview.models.running.attempts import RunTask, UnreadReply
from rexview.models.running.run_spec import RunSpec

Row = dict[str, Any]


class ParsedReply(Protocol):
    """Content of a reply, parsed without guessing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a person on how the reply was parsed."""
        ...


Found = TypeVar("Found", bound=ParsedReply)


@dataclass(frozen=True)
class QuestionSubject:
    """Subject of one request: a study, or a question proposed for it.

    ``about`` identifies it within the case: the candidate, or the source of a study's text.
    ``values`` are filled into the wording; other values give another :attr:`id`.
    """

    case: str
    about: tuple[str, ...]
    values: Mapping[str, str]

    @property
    def id(self) -> str:
        """Identifier from the case, ``about`` and a digest of what is sent."""
        said = json.dumps(dict(self.values), sort_keys=True)
        return json.dumps([self.case, *self.about, hashlib.sha256(said.encode()).hexdigest()[:16]])


def parse_question_subject_id(subject_id: str) -> tuple[str, tuple[str, ...]] | None:
    """Return case and ``about`` of the subject with an id; None if it is no such id."""
    try:
        parts = json.loads(subject_id)
    except ValueError:
        return None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return None
    return (parts[0], tuple(parts[1:-1])) if len(parts) > 1 else None


@dataclass(frozen=True)
class CurationStep(Generic[Found]):
    """One kind of request in the curation of questions.

    Attributes
    ----------
    table
        The set's table for its results.
    wording
        Its texts are ``ask``, and ``json`` and ``lines`` if models that follow a JSON schema get
        another instruction on the form.
    read
        Parses a reply; returns a sentence on what is wrong if anything is.
    rows
        Makes rows of ``table`` from a parsed reply on a case; author, time and run are added.
    told
        Further notes on a parsed reply, by comparison with its request.
    output_tokens
        Estimated tokens of a reply until the first ones arrive.
    """

    name: str
    table: str
    wording: Prompt
    schema: Mapping[str, Any]
    read: Callable[[str], Found | str]
    rows: Callable[[Found, tuple[str, ...]], list[Row]]
    output_tokens: int
    told: Callable[[Found, QuestionSubject], tuple[str, ...]] = lambda found, subject: ()

    def asking(
        self, subjects: Iterable[QuestionSubject], spec: RunSpec
    ) -> RunTask[QuestionSubject]:
        """Return how a run makes requests for subjects and reads the replies."""
        by_id = {subject.id: subject for subject in subjects}
        return RunTask(
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
    ) -> ModelRequest:
        """Build the request for one subject."""
        form = prompt.texts.get("json" if parameters.structured else "lines")
        text = fill_template(fence_values(prompt.texts, subject.values)["ask"], subject.values)
        return ModelRequest(
            case=subject.id,
            repeat=repeat,
            system=prompt.system,
            parts=(f"{text}\n\n{form}" if form else text,),
            parameters=parameters,
            prompt_id=prompt.id,
            prompt_hash=prompt.hash,
            schema=self.schema,
        )

    def _unread(self, request: ModelRequest, reply: Reply, subject: QuestionSubject) -> UnreadReply:
        """Return a reply as received; if it cannot be parsed, it is malformed, with the reason."""
        if reply.outcome != "answered":
            return UnreadReply(reply.text, reply.outcome, ())
        found = self.read(reply.text)
        if isinstance(found, str):
            return UnreadReply(reply.text, "malformed", (found,))
        return UnreadReply(reply.text, "answered", (*found.notes, *self.told(found, subject)))
