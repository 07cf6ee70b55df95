"""The row of an answer: what a reply becomes in the table ``answers``."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from rexview.models.reply import Outcome, Reply
from rexview.models.request import Request
from rexview.models.running.folder import RUNS, RunFolder
from rexview.models.running.spec import RunSpec
from rexview.schema import AnswerBox

_LONGEST_NAME: Final = 40
_MOST_TEXT_BYTES: Final = 11_000_000
"""Of a text in a row, as JSON: no table takes a line of more than 16 MB. The log has all of it."""
_SURELY_FITS: Final = 900_000
"""Letters; one is twelve bytes at most."""
_MOST_BESIDE: Final = 100_000
_MOST_WORD: Final = 1_000
_ENDINGS: Final = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"RIFF": ".webp"}


class Parts(Protocol):
    """What a reply says, read out of its text: boxes in pixels of the stored image."""

    @property
    def text(self) -> str:
        """The answer, or the raw text where it is not in the form that was asked for."""

    @property
    def boxes(self) -> Sequence[AnswerBox]:
        """What the model marked."""

    @property
    def choice(self) -> int | None:
        """The option chosen, from 0."""

    @property
    def explanation(self) -> str | None:
        """The reason for the choice."""

    @property
    def outcome(self) -> Outcome:
        """What became of the request."""

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know about how it was read."""


def answer_row(
    spec: RunSpec,
    request: Request,
    reply: Reply,
    parts: Parts,
    *,
    pictures: Sequence[str] = (),
    usd: float | None = None,
) -> dict[str, Any]:
    """Return a row of ``answers`` as plain values, without what is not known."""
    usage = {
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "max_output_tokens": spec.parameters.max_output_tokens,
    }
    notes = [*reply.notes, *parts.notes]
    text = parts.text
    if len(text) > _SURELY_FITS and len(json.dumps(text)) > _MOST_TEXT_BYTES:
        text = text[:_SURELY_FITS]
        notes.append(f"Cut after {_SURELY_FITS:,} letters: the whole text is in the run's log.")
    extra = {
        "outcome": parts.outcome,
        "model_asked": spec.parameters.model,
        "model_served": _cut(reply.model_served, _MOST_WORD),
        "request_id": _cut(reply.request_id, _MOST_WORD),
        "cost_usd": usd,
        "reasoning_tokens": reply.usage.reasoning,
        "refusal": _cut(reply.refusal, _MOST_BESIDE),
        "notes": list(dict.fromkeys(notes)) or None,
    }
    row = {
        "case": request.case,
        "model": spec.parameters.model,
        "text": text,
        "finish_reason": _cut(reply.finish_reason, _MOST_WORD),
        "usage": _given(usage),
        "boxes": [_given(_box(box)) for box in parts.boxes],
        "images": list(pictures),
        "choice": parts.choice,
        "explanation": _cut(parts.explanation, _MOST_BESIDE),
        "latency_s": reply.latency_s,
        "created": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "prompt_id": spec.prompt.id,
        "run_id": spec.id,
        "repeat": request.repeat,
        "extra": _given(extra),
    }
    return _given(row)


def _box(box: AnswerBox) -> dict[str, Any]:
    return {**asdict(box), "box": list(box.box)}


def _cut(words: str | None, most: int) -> str | None:
    return words[:most] if words else words


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not known."""
    return {name: value for name, value in values.items() if value is not None}


def save_pictures(
    run: RunFolder, images: Path | None, request: Request, pictures: Sequence[bytes]
) -> list[str]:
    """Write the pictures of a reply to files; return their paths.

    They go below the set's images folder, so that ``answers.images`` finds them, and the paths are
    relative to it. Without such a folder (``images`` is None) they go into the run's folder, and
    the paths are relative to that.

    Raises
    ------
    OSError
        The disk did not take them.
    """
    place = Path(RUNS) / run.id if images else Path("pictures")
    base = images or run.path
    digest = hashlib.sha256(request.case.encode()).hexdigest()[:8]
    plain = re.sub(r"[^\w-]+", "-", request.case, flags=re.ASCII).strip("-")[:_LONGEST_NAME]
    found = []
    for number, content in enumerate(pictures, start=1):
        ending = next((end for head, end in _ENDINGS.items() if content.startswith(head)), ".bin")
        path = place / f"{plain}-{digest}-{request.repeat}-{number}{ending}"
        (base / place).mkdir(parents=True, exist_ok=True)
        with (base / path).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        found.append(path.as_posix())
    return found
