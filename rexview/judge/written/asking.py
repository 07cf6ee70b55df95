"""The request about one answer and one written failure, and how its reply is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rexview.judge.asking import asking_by, request_of_parts, shown_to_judge
from rexview.judge.subjects import Subject, report_text
from rexview.judge.written.reading import SAID, read_found
from rexview.judge.written.words import words_of
from rexview.models.asking.build import context_lines, given_texts, question_words
from rexview.models.asking.prompts import fenced, fill
from rexview.models.backend import Reply, Request, SentImage, closed_object
from rexview.models.running.attempts import Asking, Unread
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.settings import Settings

OUTPUT_TOKENS: Final = 100
"""Of an answer, until some have come: a word, a sentence, a quote."""
NO_QUOTE: Final = "What it quotes does not stand in the answer."


def asking_of(
    review_set: ReviewSet, subjects: Iterable[Subject], spec: RunSpec, settings: Settings
) -> Asking[Subject]:
    """Return how a run asks about subjects and reads what comes."""
    shown = shown_to_judge(review_set, spec, settings, request_for)
    return asking_by(subjects, spec, shown, read_reply, OUTPUT_TOKENS)


def request_for(
    subject: Subject,
    pictures: Sequence[SentImage],
    spec: RunSpec,
    repeat: int = 1,
    notes: tuple[str, ...] = (),
) -> Request:
    """Make the request for one answer.

    Unlike a second opinion it needs neither picture nor report: words may define what is seen in
    the answer alone.

    Raises
    ------
    AttemptFailed
        Of kind ``request``: the question cannot be written.
    """
    case, report, asked = (
        subject.case,
        report_text(subject.case.report),
        question_words(subject.case),
    )
    given = {
        "question": asked["question"],
        "options": asked.get("options", ""),
        "report": report,
        "answer": subject.text,
        "failure": words_of(spec.prompt),
    }
    texts = fenced(spec.prompt.texts, {**given, "lines": context_lines(case)})
    prompt = replace(spec.prompt, texts=texts)
    form = json.dumps({"has_it": " | ".join(SAID), "reason": "...", "quote": "..."})
    parts = [
        *([] if pictures else [texts["no_picture"]]),
        *given_texts(case, prompt),
        fill(texts["question"], given),
        *([fill(texts["options"], given)] if given["options"] else []),
        fill(texts["reference"], given) if report else texts["no_reference"],
        fill(texts["answer"], given),
        fill(texts["failure"], given),
        fill(texts["json"], {"form": form}),
    ]
    text = {"type": "string"}
    schema = closed_object({"has_it": {**text, "enum": list(SAID)}, "reason": text, "quote": text})
    return request_of_parts(subject, pictures, spec, parts, schema, repeat=repeat, notes=notes)


def read_reply(request: Request, reply: Reply, subject: Subject) -> Unread:
    """Keep a reply as it came; one that is not what was asked for is malformed, with why."""
    if reply.outcome != "answered":
        return Unread(reply.text, reply.outcome, request.notes)
    found = read_found(reply.text)
    if isinstance(found, str):
        return Unread(reply.text, "malformed", (*request.notes, found))
    lost = (NO_QUOTE,) if found.quote_stands(subject.text) is False else ()
    return Unread(reply.text, "answered", (*request.notes, *lost))
