"""The request to a judge for one answer, and how its reply is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from rexview.imaging import DiskCache
from rexview.judge.reading import missing_quotes, read_opinion
from rexview.judge.subjects import Subject, report_text
from rexview.models.asking.build import captioned, context_lines, given_texts, question_words
from rexview.models.asking.pictures import choose_images, send_images
from rexview.models.asking.prompts import fenced, fill
from rexview.models.asking.tokens import input_tokens
from rexview.models.backend import AttemptFailed, Reply, Request, SentImage, closed_object
from rexview.models.running.attempts import Asking, Unread
from rexview.models.running.spec import RunSpec
from rexview.reviewset import image_path
from rexview.rubric import RubricDimension
from rexview.schema import Answer, ReviewSet
from rexview.settings import Settings
from rexview.vocab import SCORE_MAX, SCORE_MIN

OUTPUT_TOKENS: Final = 500
"""Of an answer, until some have come: a sentence for each thing that is asked."""


class MakesRequest(Protocol):
    """Makes the request about one subject, of pictures as they are sent."""

    def __call__(
        self,
        subject: Subject,
        pictures: Sequence[SentImage],
        spec: RunSpec,
        repeat: int = 1,
        notes: tuple[str, ...] = (),
    ) -> Request:
        """Return the request."""


def asking_of(
    review_set: ReviewSet, subjects: Iterable[Subject], spec: RunSpec, settings: Settings
) -> Asking[Subject]:
    """Return how a run asks about subjects and reads what comes."""
    shown = shown_to_judge(review_set, spec, settings, request_for)
    return asking_by(subjects, spec, shown, read_reply, OUTPUT_TOKENS)


def shown_to_judge(
    review_set: ReviewSet, spec: RunSpec, settings: Settings, make: MakesRequest
) -> Callable[[Subject, int], Request]:
    """Return what builds requests with a subject's pictures.

    Pictures as they are sent are kept in the cache folder.
    """
    cache = DiskCache(settings.cache_folder / "images", settings.cache_mb * 1_000_000)
    most = settings.max_megapixels * 1_000_000

    def build(subject: Subject, repeat: int) -> Request:
        images, notes = choose_images(subject.case, spec.card)
        pictures = send_images(
            *(images, lambda image: image_path(review_set, image.path), spec.card, cache),
            max_pixels=most,
        )
        return make(subject, pictures, spec, repeat, tuple(notes))

    return build


def asking_by(
    subjects: Iterable[Subject],
    spec: RunSpec,
    build: Callable[[Subject, int], Request],
    read: Callable[[Request, Reply, Subject], Unread],
    output_tokens: int,
) -> Asking[Subject]:
    """Return how a run asks about subjects, by what builds requests and what reads replies."""
    return Asking(
        case={subject.id: subject for subject in subjects}.get,
        build=build,
        read=read,
        input_tokens=lambda request: input_tokens(request, spec.card),
        output_tokens=output_tokens,
    )


def request_for(
    subject: Subject,
    pictures: Sequence[SentImage],
    spec: RunSpec,
    repeat: int = 1,
    notes: tuple[str, ...] = (),
) -> Request:
    """Make the request for one answer.

    Raises
    ------
    AttemptFailed
        Of kind ``request``: there is neither picture nor report to judge by, or the question cannot
        be written.
    """
    case, report = subject.case, report_text(subject.case.report)
    given = {
        **question_words(case),
        "lines": context_lines(case),
        "report": report,
        "answer": subject.text,
        "boxes": _boxes(subject.answer, pictures),
    }
    prompt = replace(spec.prompt, texts=fenced(spec.prompt.texts, given))
    texts = prompt.texts
    if not pictures and not report:
        raise AttemptFailed(
            "request",
            "There is neither a picture nor a report to judge the answer by: ask a judge that "
            "takes pictures.",
        )
    parts = [
        *([] if pictures else [texts["no_picture"]]),
        *given_texts(case, prompt),
        fill(texts[case.question_type], given),
        fill(texts["reference"], given) if report else texts["no_reference"],
        fill(texts["answer"], given),
    ]
    if given["boxes"]:
        parts.append(fill(texts["boxes"], given))
    if subject.failures:
        meanings = prompt.fields["failures"]
        listed = "\n".join(f'- "{name}": {meanings[name]}' for name in subject.failures)
        parts.append(fill(texts["failures"], {"failures": listed}))
    if subject.dimensions:
        rubric = "\n".join(_anchors(subject.rubric[name]) for name in subject.dimensions)
        parts.append(fill(texts["scores"], {"rubric": rubric}))
    parts.append(fill(texts["json"], {"form": _form(subject)}))
    schema = _schema(subject)
    return request_of_parts(subject, pictures, spec, parts, schema, repeat=repeat, notes=notes)


def request_of_parts(
    subject: Subject,
    pictures: Sequence[SentImage],
    spec: RunSpec,
    parts: Sequence[str],
    schema: Mapping[str, Any],
    *,
    repeat: int,
    notes: tuple[str, ...],
) -> Request:
    """Make a request of pictures, and texts below each other; strict servers get the schema."""
    prompt = spec.prompt
    return Request(
        case=subject.id,
        repeat=repeat,
        system=prompt.system,
        parts=(*captioned(pictures, prompt), "\n\n".join(parts)),
        parameters=spec.parameters,
        prompt_id=prompt.id,
        prompt_hash=prompt.hash,
        schema=schema if spec.parameters.structured else None,
        notes=notes,
    )


def _boxes(answer: Answer, pictures: Sequence[SentImage]) -> str:
    """Return the boxes in pixels of the pictures as sent; where one lies may be unknown."""
    numbers = {picture.image: number for number, picture in enumerate(pictures, start=1)}
    lines = []
    for box in answer.boxes:
        number = numbers.get(box.image)
        where = "on an image that you are not shown" if number is None else f"image {number}, "
        if number is not None and box.unsure:
            where += "its place is not known"
        elif number is not None:
            place = pictures[number - 1].placement
            x, y, width, height = box.box
            edges = (
                x * place.scale_x + place.left,
                y * place.scale_y + place.top,
                (x + width) * place.scale_x + place.left,
                (y + height) * place.scale_y + place.top,
            )
            where += ", ".join(str(round(edge)) for edge in edges)
        lines.append(f"- {box.label or 'without a label'}: {where}")
    return "\n".join(lines)


def _anchors(dimension: RubricDimension) -> str:
    levels = sorted(dimension.anchors.items(), reverse=True)
    lines = "\n".join(f"  {level}: {meaning}" for level, meaning in levels)
    return f'- "{dimension.id}": {dimension.question}\n{lines}'


def _form(subject: Subject) -> str:
    """Show what an answer looks like."""
    failure = {"present": "true or false", "reason": "...", "quote": "..."}
    score = {"score": f"{SCORE_MIN} to {SCORE_MAX}", "reason": "..."}
    whole = _grouped(subject, failure, score)
    shown = json.dumps(whole, indent=1)
    for words in (failure["present"], score["score"]):  # no texts, but true, false and numbers
        shown = shown.replace(f'"{words}"', words)
    return shown


def _schema(subject: Subject) -> dict[str, Any]:
    """Return the JSON schema of an answer, in the part of it that strict servers take."""
    text = {"type": "string"}
    levels = list(range(SCORE_MIN, SCORE_MAX + 1))
    failure = closed_object({"present": {"type": "boolean"}, "reason": text, "quote": text})
    score = closed_object({"score": {"type": "integer", "enum": levels}, "reason": text})
    groups = _grouped(subject, failure, score)
    return closed_object({name: closed_object(one) for name, one in groups.items()})


def _grouped(
    subject: Subject, failure: Mapping[str, Any], score: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    groups = {
        "failures": dict.fromkeys(subject.failures, failure),
        "scores": dict.fromkeys(subject.dimensions, score),
    }
    return {name: dict(one) for name, one in groups.items() if one}


def read_reply(request: Request, reply: Reply, subject: Subject) -> Unread:
    """Keep a reply as it came; an answer that is not what was asked for is malformed, with why."""
    if reply.outcome != "answered":
        return Unread(reply.text, reply.outcome, request.notes)
    found = read_opinion(reply.text, subject.asked)
    if isinstance(found, str):
        return Unread(reply.text, "malformed", (*request.notes, found))
    said = (*request.notes, *missing_quotes(found, subject.text))
    return Unread(reply.text, "answered", said)
