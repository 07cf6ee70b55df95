"""Build the request to a judge for one answer, in our wording or that of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from rexview.errors import SettingsError
from rexview.imaging import DiskCache
from rexview.judge.opinions import missing_quotes, read_opinion
from rexview.judge.subjects import JudgeSubject, join_report_sections
from rexview.models.asking.prompts import (
    PROMPTS_FOLDER,
    fence_values,
    fill_template,
    prompt_file,
    with_hash,
)
from rexview.models.asking.request_builder import (
    context_lines,
    context_texts,
    question_values,
    with_captions,
)
from rexview.models.asking.request_images import choose_images, encode_images
from rexview.models.asking.token_estimate import input_tokens
from rexview.models.asking.yaml_values import number, raise_problems, read_entry, read_mapping, text
from rexview.models.backend import (
    AttemptFailed,
    ModelRequest,
    Prompt,
    Reply,
    SentImage,
    closed_object_schema,
)
from rexview.models.running.attempts import RunTask, UnreadReply
from rexview.models.running.run_spec import RunSpec
from rexview.reviewset import find_image_file
from rexview.rubric import RubricDimension
from rexview.schema import Answer, ReviewSet
from rexview.settings import Settings
from rexview.untrusted_input import read_untrusted_yaml
from rexview.vocab import SCORE_MAX, SCORE_MIN

OUTPUT_TOKENS: Final = 500
"""Estimated tokens of a reply until the first ones arrive: a sentence for each item."""


class RequestBuilder(Protocol):
    """Builds the request for one subject, with pictures as they are sent."""

    def __call__(
        self,
        subject: JudgeSubject,
        pictures: Sequence[SentImage],
        spec: RunSpec,
        repeat: int = 1,
        notes: tuple[str, ...] = (),
    ) -> ModelRequest:
        """Return the request."""


def build_opinion_asking(
    review_set: ReviewSet, subjects: Iterable[JudgeSubject], spec: RunSpec, settings: Settings
) -> RunTask[JudgeSubject]:
    """Return how a run makes requests for subjects and reads the replies."""
    shown = create_request_builder(review_set, spec, settings, build_opinion_request)
    return build_judge_asking(subjects, spec, shown, read_opinion_reply, OUTPUT_TOKENS)


def create_request_builder(
    review_set: ReviewSet, spec: RunSpec, settings: Settings, make: RequestBuilder
) -> Callable[[JudgeSubject, int], ModelRequest]:
    """Return a function that builds requests with a subject's pictures.

    Pictures as sent are kept in the cache folder.
    """
    cache = DiskCache(settings.cache_folder / "images", settings.cache_mb * 1_000_000)
    most = settings.max_megapixels * 1_000_000

    def build(subject: JudgeSubject, repeat: int) -> ModelRequest:
        images, notes = choose_images(subject.case, spec.card)
        pictures = encode_images(
            *(images, lambda image: find_image_file(review_set, image.path), spec.card, cache),
            max_pixels=most,
        )
        return make(subject, pictures, spec, repeat, tuple(notes))

    return build


def build_judge_asking(
    subjects: Iterable[JudgeSubject],
    spec: RunSpec,
    build: Callable[[JudgeSubject, int], ModelRequest],
    read: Callable[[ModelRequest, Reply, JudgeSubject], UnreadReply],
    output_tokens: int,
) -> RunTask[JudgeSubject]:
    """Return how a run makes requests for subjects, from functions for requests and replies."""
    return RunTask(
        case={subject.id: subject for subject in subjects}.get,
        build=build,
        read=read,
        input_tokens=lambda request: input_tokens(request, spec.card),
        output_tokens=output_tokens,
    )


def build_opinion_request(
    subject: JudgeSubject,
    pictures: Sequence[SentImage],
    spec: RunSpec,
    repeat: int = 1,
    notes: tuple[str, ...] = (),
) -> ModelRequest:
    """Build the request for one answer.

    Raises
    ------
    AttemptFailed
        Of kind ``request``, if there is neither picture nor report to judge by, or the question
        cannot be written.
    """
    case, report = subject.case, join_report_sections(subject.case.report)
    given = {
        **question_values(case),
        "lines": context_lines(case),
        "report": report,
        "answer": subject.text,
        "boxes": _boxes(subject.answer, pictures),
    }
    prompt = replace(spec.prompt, texts=fence_values(spec.prompt.texts, given))
    texts = prompt.texts
    if not pictures and not report:
        raise AttemptFailed(
            "request",
            "There is neither a picture nor a report to judge the answer by: ask a judge that "
            "takes pictures.",
        )
    parts = [
        *([] if pictures else [texts["no_picture"]]),
        *context_texts(case, prompt),
        fill_template(texts[case.question_type], given),
        fill_template(texts["reference"], given) if report else texts["no_reference"],
        fill_template(texts["answer"], given),
    ]
    if given["boxes"]:
        parts.append(fill_template(texts["boxes"], given))
    if subject.failures:
        meanings = prompt.fields["failures"]
        listed = "\n".join(f'- "{name}": {meanings[name]}' for name in subject.failures)
        parts.append(fill_template(texts["failures"], {"failures": listed}))
    if subject.dimensions:
        rubric = "\n".join(_anchors(subject.rubric[name]) for name in subject.dimensions)
        parts.append(fill_template(texts["scores"], {"rubric": rubric}))
    parts.append(fill_template(texts["json"], {"form": _form(subject)}))
    schema = _schema(subject)
    return build_judge_request(subject, pictures, spec, parts, schema, repeat=repeat, notes=notes)


def build_judge_request(
    subject: JudgeSubject,
    pictures: Sequence[SentImage],
    spec: RunSpec,
    parts: Sequence[str],
    schema: Mapping[str, Any],
    *,
    repeat: int,
    notes: tuple[str, ...],
) -> ModelRequest:
    """Build a request of pictures and texts below each other; strict servers get the schema."""
    prompt = spec.prompt
    return ModelRequest(
        case=subject.id,
        repeat=repeat,
        system=prompt.system,
        parts=(*with_captions(pictures, prompt), "\n\n".join(parts)),
        parameters=spec.parameters,
        prompt_id=prompt.id,
        prompt_hash=prompt.hash,
        schema=schema if spec.parameters.structured else None,
        notes=notes,
    )


def _boxes(answer: Answer, pictures: Sequence[SentImage]) -> str:
    """Return the boxes in pixels of the pictures as sent; the position may be unknown."""
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


def _form(subject: JudgeSubject) -> str:
    """Return an example of the form of a reply."""
    failure = {"present": "true or false", "reason": "...", "quote": "..."}
    score = {"score": f"{SCORE_MIN} to {SCORE_MAX}", "reason": "..."}
    whole = _grouped(subject, failure, score)
    shown = json.dumps(whole, indent=1)
    for words in (failure["present"], score["score"]):  # true, false and numbers are not strings
        shown = shown.replace(f'"{words}"', words)
    return shown


def _schema(subject: JudgeSubject) -> dict[str, Any]:
    """Return the JSON schema of a reply, in the subset that strict servers accept."""
    text = {"type": "string"}
    levels = list(range(SCORE_MIN, SCORE_MAX + 1))
    failure = closed_object_schema({"present": {"type": "boolean"}, "reason": text, "quote": text})
    score = closed_object_schema({"score": {"type": "integer", "enum": levels}, "reason": text})
    groups = _grouped(subject, failure, score)
    return closed_object_schema({name: closed_object_schema(one) for name, one in groups.items()})


def _grouped(
    subject: JudgeSubject, failure: Mapping[str, Any], score: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    groups = {
        "failures": dict.fromkeys(subject.failures, failure),
        "scores": dict.fromkeys(subject.dimensions, score),
    }
    return {name: dict(one) for name, one in groups.items() if one}


def read_opinion_reply(request: ModelRequest, reply: Reply, subject: JudgeSubject) -> UnreadReply:
    """Return a reply as received; if it is not as requested, it is malformed, with the reason."""
    if reply.outcome != "answered":
        return UnreadReply(reply.text, reply.outcome, request.notes)
    found = read_opinion(reply.text, subject.asked)
    if isinstance(found, str):
        return UnreadReply(reply.text, "malformed", (*request.notes, found))
    said = (*request.notes, *missing_quotes(found, subject.text))
    return UnreadReply(reply.text, "answered", said)


# Wordings of requests to judges: our own, or those in files of the review set.

_BUILT_IN: Final = Path(__file__).with_name("judge-2.yaml")
OWN: Final = "judge"
"""Folder in a set's folder ``prompts`` with its own wordings for judges."""
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_LONGEST: Final = 20_000


@cache
def load_built_in_wording() -> Prompt:
    """Return our wording."""
    values: Any = read_untrusted_yaml(_BUILT_IN)
    return with_hash(Prompt(id=_BUILT_IN.stem, **values))


def find_wording(name: str | None, folder: Path) -> Prompt:
    """Return a wording by its name: ``prompts/judge/NAME.yaml`` of the review set, or ours.

    A file contains the differences from ours: any of ``system``, ``texts`` and the meaning of each
    failure (``fields``: ``failures``), with the same placeholders as ours.

    Raises
    ------
    SettingsError
        If there is none with that name, or its file cannot be used; every problem is listed.
    """
    ours = load_built_in_wording()
    if name is None or name == ours.id:
        return ours
    path = prompt_file(f"{name}", folder)
    path = path.parent / OWN / path.name
    label = f"{PROMPTS_FOLDER}/{OWN}/{path.name}"
    raw = read_mapping(path, label)
    if raw is None:
        raise SettingsError(
            f"There is no wording {name!r:.80} for judges: there is {ours.id}, and what lies in "
            f"{PROMPTS_FOLDER}/{OWN}/ of the review set."
        )
    readers = {
        "name": text(200),
        "version": number(1, 1_000_000, whole=True),
        "source": text(1_000),
        "system": text(_LONGEST),
        "texts": lambda value: _texts(value, ours.texts),
        "fields": lambda value: _fields(value, ours.fields),
    }
    problems: list[str] = []
    found = read_entry(raw, readers, label, problems)
    problems += [
        f"{label}, {one}: it is missing. Write it." for one in ("name", "version") if one not in raw
    ]
    raise_problems(problems)
    texts = {**ours.texts, **found.pop("texts", {})}
    fields = {**ours.fields, **found.pop("fields", {})}
    return with_hash(replace(ours, **{"source": "", **found}, id=name, texts=texts, fields=fields))


def _texts(value: Any, ours: Mapping[str, str]) -> dict[str, str]:
    """Read texts by name; each must have the placeholders of ours, so that everything is sent."""
    if not isinstance(value, Mapping):
        raise ValueError(f"texts by name: {', '.join(ours)}")
    problems: list[str] = []
    found = read_entry(value, dict.fromkeys(ours, text(_LONGEST)), "in it", problems)
    for name, template in found.items():
        given, wanted = set(_PLACE.findall(template)), set(_PLACE.findall(ours[name]))
        problems += [
            f"in it, {name}: {{{one}}} cannot be filled in. There are "
            f"{', '.join(f'{{{each}}}' for each in sorted(wanted)) or 'none'}."
            for one in sorted(given - wanted)
        ]
        problems += [
            f"in it, {name}: {{{one}}} is missing. Write where it goes."
            for one in sorted(wanted - given - {"line"})  # without it each value gets its own lines
        ]
    if problems:
        raise SettingsError(*problems)
    return found


def _fields(value: Any, ours: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    failures = value.get("failures") if isinstance(value, Mapping) else None
    if not isinstance(failures, Mapping) or value.keys() - ours.keys():
        raise ValueError("failures: what each means")
    problems: list[str] = []
    meanings = dict.fromkeys(ours["failures"], text(1_000))
    found = read_entry(failures, meanings, "in it, failures", problems)
    if problems:
        raise SettingsError(*problems)
    return {"failures": {**ours["failures"], **found}}
