"""Read a reply: its text for a reader, its boxes, and the chosen option, without guessing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from rexview.models.asking.box_coordinates import place_boxes
from rexview.models.asking.request_builder import (
    ANSWER_FIELD,
    BOXES_FIELD,
    label_options,
    option_labels,
)
from rexview.models.backend import Card, ModelRequest, Outcome, Reply
from rexview.schema import AnswerBox, Case
from rexview.text.written_boxes import ParsedBoxes, boxes_in_text, boxes_in_value
from rexview.vocab import english_count

# Separate a model's thinking from its answer.

_NAMES: Final = "think|thinking|thought|reasoning|analysis|scratchpad"
THINKING_START: Final = re.compile(rf"<(?:{_NAMES})>|◁think▷|\[THINK\]|<unused94>", re.IGNORECASE)
THINKING_END: Final = re.compile(rf"</(?:{_NAMES})>|◁/think▷|\[/THINK\]|<unused95>", re.IGNORECASE)


def possible_answers(text: str) -> Iterator[str]:
    """Yield possible answers of a reply: all of it, then the text after each end of thinking.

    An end-of-thinking mark may also be a quote from a given text, in the thinking or in the answer.
    Callers take the first part that is an answer with no such mark after it.

    >>> list(possible_answers("<think>Yes.</think>No.")), list(possible_answers("No."))
    (['No.'], ['No.'])
    """
    if THINKING_START.match(text.lstrip()) is None:
        yield text
    for found in THINKING_END.finditer(text):
        yield text[found.end() :]


_FENCE: Final = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_MAX_JSON: Final = 2_000_000
_MAX_PARTS: Final = 40
"""Number of thinking ends after which an object is searched for."""


@dataclass(frozen=True)
class AnswerParts:
    """The parts of an answer that its row stores.

    ``text`` is for the reader: the parts of a JSON answer under their names, without boxes;
    otherwise the whole raw text. ``boxes`` are in pixels of the stored image. ``choice`` counts
    from 0; None if only the text can show it. ``notes`` are sentences for a person.
    """

    text: str
    boxes: tuple[AnswerBox, ...] = ()
    choice: int | None = None
    explanation: str | None = None
    outcome: Outcome = "answered"
    notes: tuple[str, ...] = ()


def read_answer(request: ModelRequest, reply: Reply, case: Case, card: Card) -> AnswerParts:
    """Read a reply; parts that cannot be read stay in ``text`` unchanged."""
    value = json_object(reply.text) if request.schema is not None else None
    if value is None:
        return _read_free_text(request, reply, card)
    boxes, notes = _placed_boxes(boxes_in_value(value.get(BOXES_FIELD), card.boxes), request, card)
    parts = {name: one for name, one in value.items() if name != BOXES_FIELD}
    missing = [name for name in (request.schema or {}).get("required", ()) if name not in value]
    if missing:
        notes = (*notes, f"Missing in the answer: {', '.join(missing)}.")
    choice = explanation = None
    if case.question_type == "choice":
        choice, text = _read_choice(parts, case)
        explanation = next(
            (_value_text(one) for name, one in parts.items() if name != ANSWER_FIELD), None
        )
        if choice is None:
            notes = (*notes, "The answer names none of the options.")
    else:
        text = "\n\n".join(
            f"{_heading(name)}\n{_value_text(one)}" for name, one in parts.items() if one
        )
    return AnswerParts(
        text or reply.text,
        boxes,
        choice,
        explanation,
        reply.outcome,
        (*request.notes, *notes),
    )


def _read_free_text(request: ModelRequest, reply: Reply, card: Card) -> AnswerParts:
    """Read an answer that is no JSON object: its text is the answer, unchanged."""
    found = ParsedBoxes()
    if card.draws_boxes and request.images:
        found = boxes_in_text(reply.text, card.boxes, bare=request.asks_for_boxes)
    boxes, notes = _placed_boxes(found, request, card)
    outcome = reply.outcome
    # the prompt asks for JSON too, so a server that takes no schema is no excuse
    if request.schema is not None and outcome == "answered":
        outcome = "malformed"
    return AnswerParts(reply.text, boxes, outcome=outcome, notes=(*request.notes, *notes))


def _placed_boxes(
    found: ParsedBoxes, request: ModelRequest, card: Card
) -> tuple[tuple[AnswerBox, ...], tuple[str, ...]]:
    boxes, notes = place_boxes(found.boxes, request, card.boxes)
    if found.unread:
        many = english_count(found.unread, "box").capitalize()
        notes = (*notes, f"{many} could not be read: not four numbers, or too many boxes.")
    return boxes, notes


def json_object(text: str) -> Mapping[str, Any] | None:
    """Return a text as a JSON object, with or without a code fence; None if it is none.

    An object with a duplicate key is contradictory, so it counts as none.
    """
    if len(text) > _MAX_JSON:
        return None
    fenced = _FENCE.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_list(text: str, name: str, most: int) -> list[Any] | str:
    """Return the list ``name`` of a JSON object; otherwise a sentence on why there is none.

    The model's thinking is skipped.

    >>> read_list('{"questions": [1, 2]}', "questions", 5)
    [1, 2]
    """
    parts = islice(possible_answers(text[:_MAX_JSON]), _MAX_PARTS)
    value = next((one for part in parts if (one := json_object(part.strip())) is not None), None)
    if value is None:
        return "The answer is no JSON object."
    given = value.get(name)
    if not isinstance(given, list):
        return f"The answer has no list of {name}."
    if len(given) > most:
        return f"The answer has {len(given):,} {name}; at most {most} are read."
    return given


class DuplicateKeyError(ValueError):
    """A JSON object with a duplicate key: which value is meant cannot be known."""


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dict from key-value pairs in which each key occurs once.

    Raises
    ------
    DuplicateKeyError
        A key occurs twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DuplicateKeyError
    return found


def _read_choice(parts: Mapping[str, Any], case: Case) -> tuple[int | None, str]:
    """Return the chosen option's index, and the answer as text for a reader."""
    labels = option_labels(case)
    said = _value_text(parts.get(ANSWER_FIELD))
    letter = said.strip().strip("().:").upper()
    choice = labels.index(letter) if letter in labels else None
    first = said if choice is None else label_options(case.options, labels)[choice]
    others = [_value_text(one) for name, one in parts.items() if name != ANSWER_FIELD and one]
    return choice, "\n\n".join(one for one in (first, *others) if one)


def _heading(name: str) -> str:
    return f"{name.replace('_', ' ').capitalize()}:"


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
