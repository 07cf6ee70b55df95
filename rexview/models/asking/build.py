"""The request for a case: what a model is told and shown, and nothing of what the truth is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexview.imaging import MAX_PIXELS, DiskCache
from rexview.models.asking.boxes import in_words
from rexview.models.asking.pictures import FindImage, choose_images, send_images
from rexview.models.asking.prompts import fill
from rexview.models.backend import (
    AttemptFailed,
    Card,
    Parameters,
    Prompt,
    Request,
    SentImage,
    closed_object,
)
from rexview.schema import Case
from rexview.text.choices.option_words import options_of
from rexview.text.written_boxes import BoxForm
from rexview.vocab import SIDES, VIEWS

BOXES: Final = "boxes"
ANSWER: Final = "answer"
_MOST_OPTIONS: Final = 26


def build_request(
    case: Case,
    find_image: FindImage,
    card: Card,
    prompt: Prompt,
    parameters: Parameters,
    repeat: int = 1,
    *,
    cache: DiskCache | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Request:
    """Make the request for a case; the same case gives the same request.

    Of the case only questions, options, context and images are looked at: never the report, the
    right option, explanations, reference boxes or what readers wrote. Where boxes are asked for,
    the question is the one with an instruction to draw them, if the case has one.

    Parameters
    ----------
    find_image : callable
        Gives the file of an image.
    cache : DiskCache, optional
        Keeps the pictures, for repeats and other runs.

    Raises
    ------
    AttemptFailed
        Of kind ``image`` for images that cannot be sent, ``request`` for a case that cannot be
        asked.
    """
    images, notes = choose_images(case, card)
    pictures = send_images(images, find_image, card, cache, max_pixels=max_pixels)
    # choices and reports are compared by their words: only open questions are about places
    boxes = prompt.asks_for_boxes and bool(pictures) and case.question_type == "open"
    if boxes and not card.draws_boxes:
        boxes = False
        notes.append("No boxes were asked for: by its card this model draws none.")
    fields = prompt.fields[case.question_type]
    schema = _schema(case, fields, card.boxes if boxes else None, len(pictures))
    structured = parameters.structured
    texts = [
        *given_texts(case, prompt),
        fill(prompt.texts[case.question_type], question_words(case, boxes=boxes)),
    ]
    if boxes:
        texts.append(fill(prompt.texts["boxes"], {"form": in_words(card.boxes)}))
    if structured:
        each = f"a list of boxes, each {_box_words(card.boxes, pictures)}"
        described = dict(fields) | ({BOXES: each} if boxes else {})
        lines = "\n".join(f'- "{name}": {meaning}' for name, meaning in described.items())
        texts.append(fill(prompt.texts["json"], {"fields": lines}))
    elif boxes:
        form = _box_words(card.boxes, pictures)
        texts.append(fill(prompt.texts["boxes_in_text"], {"form": form}))
    return Request(
        case=case.id,
        repeat=repeat,
        system=prompt.system,
        parts=(*captioned(pictures, prompt), "\n\n".join(texts)),
        parameters=parameters,
        prompt_id=prompt.id,
        prompt_hash=prompt.hash,
        schema=schema if structured else None,
        notes=tuple(notes),
        asks_for_boxes=boxes,
    )


def captioned(pictures: Sequence[SentImage], prompt: Prompt) -> list[str | SentImage]:
    """Return pictures as they are sent, each after its caption."""
    parts: list[str | SentImage] = []
    for number, picture in enumerate(pictures, start=1):
        parts += [_caption(prompt, picture, number), picture]
    return parts


def _caption(prompt: Prompt, picture: SentImage, number: int) -> str:
    values = {
        "number": str(number),
        "view": _view(picture.view),
        "size": f"{picture.width} x {picture.height} pixels",
    }
    return fill(prompt.texts["prior" if picture.prior else "current"], values)


def _view(view: str) -> str:
    name = VIEWS.get(view, VIEWS["UNKNOWN"])
    return name if view in ("PA", "AP") else name.lower()


def given_texts(case: Case, prompt: Prompt) -> list[str]:
    """Return what the requester said, if anything."""
    lines = context_lines(case)
    return [fill(prompt.texts["context"], {"lines": lines})] if lines else []


def context_lines(case: Case) -> str:
    """Return what the requester said of a case, a line each; empty where it is nothing."""
    context = case.context
    said = {
        "Age": context.age,
        "Sex": context.sex,
        "Indication": context.indication,
        "Comparison": context.comparison,
    }
    return "\n".join(f"{name}: {words}" for name, words in said.items() if words)


def question_words(case: Case, *, boxes: bool = False) -> dict[str, str]:
    """Return what is filled into the wording of a question; ``boxes``: these are asked for.

    Raises
    ------
    AttemptFailed
        As :func:`labels_of`.
    """
    if case.question_type != "choice":
        return {"question": (boxes and case.question_boxes) or case.question}
    labels = labels_of(case)
    return {
        "question": case.question,
        "options": "\n".join(lettered(case.options, labels)),
        "letters": ", ".join(labels),
    }


def labels_of(case: Case) -> tuple[str, ...]:
    """Return the labels of a question's options: their own, or A, B, C.

    Raises
    ------
    AttemptFailed
        There are no options, or more than there are letters.
    """
    if not case.options or len(case.options) > _MOST_OPTIONS:
        raise AttemptFailed(
            "request",
            f"A choice question needs 1 to {_MOST_OPTIONS} options, this one has "
            f"{len(case.options)}: mend the case.",
        )
    return options_of(case.options).labels


def lettered(options: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Write options with their labels, those that carry them already as they are.

    >>> lettered(("Effusion", "None"), ("A", "B")), lettered(("1) Yes", "2) No"), ("1", "2"))
    (['A. Effusion', 'B. None'], ['1) Yes', '2) No'])
    """
    pairs = list(zip(labels, options, strict=True))
    own = all(re.match(rf"\s*\(?{label}[.):]\s", option, re.I) for label, option in pairs)
    return [option if own else f"{label}. {option}" for label, option in pairs]


def _schema(
    case: Case, fields: Mapping[str, str], boxes: BoxForm | None, pictures: int
) -> dict[str, Any]:
    """Return the JSON schema of an answer, in the part of it that strict servers take."""
    properties: dict[str, Any] = {
        name: {"type": "string", "description": meaning} for name, meaning in fields.items()
    }
    if case.question_type == "choice":
        properties[ANSWER] |= {"enum": list(labels_of(case))}
    if boxes is not None:
        four = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
        parts: dict[str, Any] = {
            "label": {"type": "string"},
            "side": {"type": "string", "enum": list(SIDES)},
            boxes.key: four | {"description": in_words(boxes)},
        }
        if pictures > 1:
            parts["image"] = {"type": "integer", "enum": list(range(1, pictures + 1))}
        properties[BOXES] = {"type": "array", "items": closed_object(parts)}
    return closed_object(properties)


def _box_words(form: BoxForm, pictures: Sequence[SentImage]) -> str:
    """Show a model what a box looks like."""
    numbers = in_words(form).partition("]")[0] + "]"
    image = ', "image": the number of its image' if len(pictures) > 1 else ""
    return (
        f'{{"label": the finding, "side": one of {", ".join(SIDES)}, '
        f'"{form.key}": {numbers}{image}}}'
    )
