"""Build the request for a case from its questions and images, never from its truth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexview.imaging import MAX_PIXELS, DiskCache
from rexview.models.asking.box_coordinates import describe_box_form
from rexview.models.asking.prompts import fill_template
from rexview.models.asking.request_images import ImageFinder, choose_images, encode_images
from rexview.models.backend import (
    AttemptFailed,
    Card,
    ModelRequest,
    Parameters,
    Prompt,
    SentImage,
    closed_object_schema,
)
from rexview.schema import Case
from rexview.text.choices.option_words import parse_options
from rexview.text.written_boxes import BoxForm
from rexview.vocab import SIDES, VIEWS

BOXES_FIELD: Final = "boxes"
ANSWER_FIELD: Final = "answer"
_MOST_OPTIONS: Final = 26


def build_request(
    case: Case,
    find_image: ImageFinder,
    card: Card,
    prompt: Prompt,
    parameters: Parameters,
    repeat: int = 1,
    *,
    cache: DiskCache | None = None,
    max_pixels: int = MAX_PIXELS,
) -> ModelRequest:
    """Make the request for a case; the same case gives the same request.

    Only questions, options, context and images of the case are used: never the report, the right
    option, explanations, reference boxes or what readers wrote. If boxes are wanted, the question
    that instructs to draw them is used, where the case has one.

    Parameters
    ----------
    find_image : callable
        Returns the path of an image's file.
    cache : DiskCache, optional
        Caches the encoded pictures for repeats and other runs.

    Raises
    ------
    AttemptFailed
        Of kind ``image`` if an image cannot be sent; of kind ``request`` if the case cannot be
        asked.
    """
    images, notes = choose_images(case, card)
    pictures = encode_images(images, find_image, card, cache, max_pixels=max_pixels)
    # choices and reports are compared by their words: only open questions ask for places
    boxes = prompt.asks_for_boxes and bool(pictures) and case.question_type == "open"
    if boxes and not card.draws_boxes:
        boxes = False
        notes.append("No boxes were asked for: by its card this model draws none.")
    fields = prompt.fields[case.question_type]
    schema = _schema(case, fields, card.boxes if boxes else None, len(pictures))
    structured = parameters.structured
    texts = [
        *context_texts(case, prompt),
        fill_template(prompt.texts[case.question_type], question_values(case, boxes=boxes)),
    ]
    if boxes:
        texts.append(fill_template(prompt.texts["boxes"], {"form": describe_box_form(card.boxes)}))
    if structured:
        each = f"a list of boxes, each {_box_example(card.boxes, pictures)}"
        described = dict(fields) | ({BOXES_FIELD: each} if boxes else {})
        lines = "\n".join(f'- "{name}": {meaning}' for name, meaning in described.items())
        texts.append(fill_template(prompt.texts["json"], {"fields": lines}))
    elif boxes:
        form = _box_example(card.boxes, pictures)
        texts.append(fill_template(prompt.texts["boxes_in_text"], {"form": form}))
    return ModelRequest(
        case=case.id,
        repeat=repeat,
        system=prompt.system,
        parts=(*with_captions(pictures, prompt), "\n\n".join(texts)),
        parameters=parameters,
        prompt_id=prompt.id,
        prompt_hash=prompt.hash,
        schema=schema if structured else None,
        notes=tuple(notes),
        asks_for_boxes=boxes,
    )


def with_captions(pictures: Sequence[SentImage], prompt: Prompt) -> list[str | SentImage]:
    """Return the pictures in order, each after its caption."""
    parts: list[str | SentImage] = []
    for number, picture in enumerate(pictures, start=1):
        parts += [_caption(prompt, picture, number), picture]
    return parts


def _caption(prompt: Prompt, picture: SentImage, number: int) -> str:
    values = {
        "number": str(number),
        "view": _view_name(picture.view),
        "size": f"{picture.width} x {picture.height} pixels",
    }
    return fill_template(prompt.texts["prior" if picture.prior else "current"], values)


def _view_name(view: str) -> str:
    name = VIEWS.get(view, VIEWS["UNKNOWN"])
    return name if view in ("PA", "AP") else name.lower()


def context_texts(case: Case, prompt: Prompt) -> list[str]:
    """Return the clinical context as texts of the request, if there is any."""
    lines = context_lines(case)
    return [fill_template(prompt.texts["context"], {"lines": lines})] if lines else []


def context_lines(case: Case) -> str:
    """Return the clinical context of a case, one line each; empty if there is none."""
    context = case.context
    said = {
        "Age": context.age,
        "Sex": context.sex,
        "Indication": context.indication,
        "Comparison": context.comparison,
    }
    return "\n".join(f"{name}: {words}" for name, words in said.items() if words)


def question_values(case: Case, *, boxes: bool = False) -> dict[str, str]:
    """Return the values for the template of a question; ``boxes``: the question asks for boxes.

    Raises
    ------
    AttemptFailed
        As :func:`option_labels`.
    """
    if case.question_type != "choice":
        return {"question": (boxes and case.question_boxes) or case.question}
    labels = option_labels(case)
    return {
        "question": case.question,
        "options": "\n".join(label_options(case.options, labels)),
        "letters": ", ".join(labels),
    }


def option_labels(case: Case) -> tuple[str, ...]:
    """Return the labels of a question's options: its own, or A, B, C.

    Raises
    ------
    AttemptFailed
        There are no options, or more options than letters.
    """
    if not case.options or len(case.options) > _MOST_OPTIONS:
        raise AttemptFailed(
            "request",
            f"A choice question needs 1 to {_MOST_OPTIONS} options, this one has "
            f"{len(case.options)}: mend the case.",
        )
    return parse_options(case.options).labels


def label_options(options: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return options with their labels; options that already carry them are unchanged.

    >>> (
    ...     label_options(("Effusion", "None"), ("A", "B")),
    ...     label_options(("1) Yes", "2) No"), ("1", "2")),
    ... )
    (['A. Effusion', 'B. None'], ['1) Yes', '2) No'])
    """
    pairs = list(zip(labels, options, strict=True))
    own = all(re.match(rf"\s*\(?{label}[.):]\s", option, re.I) for label, option in pairs)
    return [option if own else f"{label}. {option}" for label, option in pairs]


def _schema(
    case: Case, fields: Mapping[str, str], boxes: BoxForm | None, pictures: int
) -> dict[str, Any]:
    """Return the JSON schema of an answer, limited to what strict servers accept."""
    properties: dict[str, Any] = {
        name: {"type": "string", "description": meaning} for name, meaning in fields.items()
    }
    if case.question_type == "choice":
        properties[ANSWER_FIELD] |= {"enum": list(option_labels(case))}
    if boxes is not None:
        four = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
        parts: dict[str, Any] = {
            "label": {"type": "string"},
            "side": {"type": "string", "enum": list(SIDES)},
            boxes.key: four | {"description": describe_box_form(boxes)},
        }
        if pictures > 1:
            parts["image"] = {"type": "integer", "enum": list(range(1, pictures + 1))}
        properties[BOXES_FIELD] = {"type": "array", "items": closed_object_schema(parts)}
    return closed_object_schema(properties)


def _box_example(form: BoxForm, pictures: Sequence[SentImage]) -> str:
    """Return an example of a box for the prompt."""
    numbers = describe_box_form(form).partition("]")[0] + "]"
    image = ', "image": the number of its image' if len(pictures) > 1 else ""
    return (
        f'{{"label": the finding, "side": one of {", ".join(SIDES)}, '
        f'"{form.key}": {numbers}{image}}}'
    )
