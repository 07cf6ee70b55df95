"""Ask about one item: build its request, repeat failed attempts, and store the outcome."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import json
import os
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from rexview.errors import RexviewError
from rexview.models.backend import (
    AttemptFailed,
    Backend,
    FailureCause,
    ModelRequest,
    Outcome,
    Reply,
)
from rexview.models.running.request_gate import RequestGate, SendingPause, SendPermit, backoff_s
from rexview.models.running.run_folder import RUNS_FOLDER, RunFolder
from rexview.models.running.run_journal import Journal, RunItem
from rexview.models.running.run_spec import RunCost, RunSpec, billed_cost, price_tokens
from rexview.schema import AnswerBox

# A reply as a row of the table ``answers``.

_LONGEST_NAME: Final = 40
_MOST_TEXT_BYTES: Final = 11_000_000
"""Limit for a text in a row, as JSON: tables read no line over 16 MB. The log has the whole
text."""
_SURELY_FITS: Final = 900_000
"""Number of characters that always fit; one takes at most twelve bytes."""
_MOST_BESIDE: Final = 100_000
_MOST_WORD: Final = 1_000
_ENDINGS: Final = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"RIFF": ".webp"}


class ReplyParts(Protocol):
    """Content of a reply, read from its text: boxes in pixels of the stored image."""

    @property
    def text(self) -> str:
        """The answer, or the raw text if it is not in the requested form."""

    @property
    def boxes(self) -> Sequence[AnswerBox]:
        """The boxes that the model drew."""

    @property
    def choice(self) -> int | None:
        """The index of the chosen option, from 0."""

    @property
    def explanation(self) -> str | None:
        """The reason for the choice."""

    @property
    def outcome(self) -> Outcome:
        """The outcome of the request."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes for a person on how the reply was read."""


def answer_row(
    spec: RunSpec,
    request: ModelRequest,
    reply: Reply,
    parts: ReplyParts,
    *,
    pictures: Sequence[str] = (),
    usd: float | None = None,
) -> dict[str, Any]:
    """Return a row of ``answers`` as plain values, without unknown ones."""
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
        "model_served": _shorten_text(reply.model_served, _MOST_WORD),
        "request_id": _shorten_text(reply.request_id, _MOST_WORD),
        "cost_usd": usd,
        "reasoning_tokens": reply.usage.reasoning,
        "refusal": _shorten_text(reply.refusal, _MOST_BESIDE),
        "notes": list(dict.fromkeys(notes)) or None,
    }
    row = {
        "case": request.case,
        "model": spec.parameters.model,
        "text": text,
        "finish_reason": _shorten_text(reply.finish_reason, _MOST_WORD),
        "usage": _without_unknown(usage),
        "boxes": [_without_unknown(_box_fields(box)) for box in parts.boxes],
        "images": list(pictures),
        "choice": parts.choice,
        "explanation": _shorten_text(parts.explanation, _MOST_BESIDE),
        "latency_s": reply.latency_s,
        "created": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "prompt_id": spec.prompt.id,
        "run_id": spec.id,
        "repeat": request.repeat,
        "extra": _without_unknown(extra),
    }
    return _without_unknown(row)


def _box_fields(box: AnswerBox) -> dict[str, Any]:
    return {**asdict(box), "box": list(box.box)}


def _shorten_text(words: str | None, most: int) -> str | None:
    return words[:most] if words else words


def _without_unknown(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out unknown values."""
    return {name: value for name, value in values.items() if value is not None}


def save_pictures(
    run: RunFolder, images: Path | None, request: ModelRequest, pictures: Sequence[bytes]
) -> list[str]:
    """Write the pictures of a reply to files, and return their paths.

    They are stored below the set's images folder, where ``answers.images`` finds them, and the
    paths are relative to it. Without such a folder (``images`` is None) they are stored in the
    run's folder, and the paths are relative to that.

    Raises
    ------
    OSError
        The files cannot be written.
    """
    place = Path(RUNS_FOLDER) / run.id if images else Path("pictures")
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


# Counts of a run at work.

_RATE_OVER_S: Final = 60.0
_LINES: Final = 8


class RunTally:
    """Counts of answers and failures, the rate, and the last messages.

    Parameters
    ----------
    outcomes
        Outcomes of earlier answers.
    masked
        Removes keys from a text.

    Attributes
    ----------
    rest
        The wait between two checks of the server's batches, None outside it.
    """

    def __init__(self, outcomes: Iterable[str], masked: Callable[[str], str]) -> None:
        self._lock = threading.Lock()
        self._masked = masked
        self._outcomes = Counter(outcomes)
        self._failed: Counter[str] = Counter()
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._replies: deque[float] = deque()
        self._began = time.monotonic()
        self.rest: SendingPause | None = None

    def answered(self, outcome: str) -> None:
        """Count an answer."""
        with self._lock:
            self._outcomes[outcome] += 1
            self._replies.append(time.monotonic())

    def failed(self, kind: FailureCause, line: str) -> None:
        """Count a failure, and keep its message."""
        with self._lock:
            self._failed[kind] += 1
            self._lines.append(self._masked(line))

    def say(self, line: str) -> None:
        """Keep a message for the user."""
        with self._lock:
            self._lines.append(self._masked(line))

    @property
    def outcomes(self) -> dict[str, int]:
        """Counts of answers by outcome."""
        with self._lock:
            return dict(self._outcomes)

    @property
    def failures(self) -> dict[str, int]:
        """Counts of failures by kind."""
        with self._lock:
            return dict(self._failed)

    @property
    def lines(self) -> tuple[str, ...]:
        """The last messages, oldest first."""
        with self._lock:
            return tuple(self._lines)

    def per_minute(self) -> float | None:
        """Return the recent number of answers a minute; None if there was none."""
        with self._lock:
            now = time.monotonic()
            while self._replies and now - self._replies[0] > _RATE_OVER_S:
                self._replies.popleft()
            over = min(_RATE_OVER_S, now - self._began)
            return 60 * len(self._replies) / over if self._replies and over > 0 else None


# Items that are still to be asked, shared by the threads of a run.


@dataclass(eq=False)
class PendingItem:
    """One item, its number of tries, and its request once that is built."""

    item: RunItem
    tries: int = 0
    request: ModelRequest | None = field(default=None, repr=False)


class ItemQueue:
    """A queue whose entries can be put back, at once or after a delay."""

    def __init__(self, items: Iterable[RunItem]) -> None:
        self._turn = threading.Condition()
        self._next = deque(PendingItem(item) for item in items)
        self._later: list[tuple[float, int, PendingItem]] = []
        self._numbers = itertools.count()
        self._taken = 0
        self._stopped = False

    def __len__(self) -> int:
        """Return the number of entries that are neither done nor taken."""
        return len(self._next) + len(self._later)

    def take(self, most: int) -> list[PendingItem]:
        """Wait for entries and return up to ``most``; an empty list if none will come."""
        with self._turn:
            while not self._stopped:
                now = time.monotonic()
                while self._later and self._later[0][0] <= now:
                    self._next.appendleft(heapq.heappop(self._later)[2])
                if self._next:
                    count = min(most, len(self._next))
                    self._taken += count
                    return [self._next.popleft() for _ in range(count)]
                if not self._later and not self._taken:
                    break
                self._turn.wait(self._later[0][0] - now if self._later else None)
        return []

    def put_back(self, entry: PendingItem, *, after_s: float = 0.0) -> None:
        """Put an entry back: at the front, or after some seconds."""
        with self._turn:
            self._taken -= 1
            if after_s > 0:
                entry.request = None  # frees the memory of its pictures
                when = time.monotonic() + after_s
                heapq.heappush(self._later, (when, next(self._numbers), entry))
            else:
                self._next.appendleft(entry)
            self._turn.notify_all()

    def done(self, entry: PendingItem) -> None:
        """Mark a taken entry as done."""
        with self._turn:
            entry.request = None
            self._taken -= 1
            if not self._taken:
                self._turn.notify_all()

    def stop(self) -> None:
        """Hand out no more entries."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()


MAX_REQUEST_TRIES: Final = 6
"""Limit for a request on which server or network failed; a busy server is asked without limit."""

_CHANGED_NOTE: Final = (
    "The case or its images have changed since they were sent: boxes may lie elsewhere."
)


Subject = TypeVar("Subject")


@dataclass(frozen=True)
class RunTask(Generic[Subject]):
    """How a subject becomes a request, and a reply an answer.

    A subject is a case, or another thing with an id: a judge reads two texts. ``case`` finds it by
    its id. ``build`` raises :class:`.AttemptFailed` if it cannot be asked. ``input_tokens``
    estimates the tokens of a request, ``output_tokens`` those of an answer until some have arrived.
    """

    case: Callable[[str], Subject | None]
    build: Callable[[Subject, int], ModelRequest]
    read: Callable[[ModelRequest, Reply, Subject], ReplyParts]
    input_tokens: Callable[[ModelRequest], int]
    output_tokens: int


@dataclass(frozen=True)
class UnreadReply:
    """A reply that could not be read: its raw text, and the reason."""

    text: str
    outcome: Outcome
    notes: tuple[str, ...]
    boxes: tuple[AnswerBox, ...] = ()
    choice: int | None = None
    explanation: str | None = None


@dataclass(frozen=True)
class Attempts:
    """Asks for entries and stores the outcomes; several threads may use it at once.

    ``images`` is the folder for pictures that models return, None for one in the run's folder.
    """

    spec: RunSpec
    run: RunFolder
    asking: RunTask[Any]
    backend: Backend
    images: Path | None
    journal: Journal
    gate: RequestGate
    to_do: ItemQueue
    tally: RunTally

    def ask(self, entries: Sequence[PendingItem]) -> None:
        """Ask for entries at once, and mark each as done, put it back, or give it up.

        Raises
        ------
        OSError
            A reply or a failure cannot be stored.
        """
        ready = [entry for entry in entries if self._is_built(entry)]
        requests = [entry.request for entry in ready if entry.request]
        if not requests:
            return
        each = [self.expected(one) for one in requests]
        leave = self.gate.enter(sum(each[1:], each[0]))
        if leave is None:
            for entry in ready:
                self.to_do.put_back(entry)
            return
        for entry, request, expected in zip(ready, requests, each, strict=True):
            entry.tries += 1
            self.note_request("sent", entry.item, request, expected, attempt=entry.tries)
        came = self._came(requests)
        self._give_back(leave, requests[0].case, came)
        for entry, request, reply in zip(ready, requests, came, strict=True):
            if isinstance(reply, Reply):
                self.answered(entry, request, reply)
            else:
                self._failed_attempt(entry, reply)

    def _is_built(self, entry: PendingItem) -> bool:
        """Build the request of an entry; return whether that succeeded."""
        if entry.request is None:
            try:
                entry.request = self.built(entry.item)
            except AttemptFailed as failure:
                self.give_up_on(entry, failure)
        return entry.request is not None

    def built(self, item: RunItem) -> ModelRequest:
        """Build the request of an item.

        Raises
        ------
        AttemptFailed
            It cannot be built, for any reason: one case must not stop the others.
        """
        try:
            case = self.asking.case(item.case)
            if case is None:
                raise AttemptFailed("setup", "The case is no longer in the review set.")
            return self.asking.build(case, item.repeat)
        except AttemptFailed:
            raise
        except RexviewError as error:
            raise AttemptFailed("request", str(error)) from None
        except Exception as error:
            raise _own_error(error) from error

    def expected(self, request: ModelRequest) -> RunCost:
        """Estimate the cost of a request."""
        output = self.gate.mean_output() or self.asking.output_tokens
        return price_tokens(self.asking.input_tokens(request), output, self.spec.card.price)

    def note_request(
        self, event: str, item: RunItem, request: ModelRequest, expected: RunCost, **more: Any
    ) -> None:
        """Log a request, its pictures as digest, size and placement."""
        images = [
            {
                "image": image.image,
                "sha256": image.sha256,
                "media_type": image.media_type,
                "width": image.width,
                "height": image.height,
                "detail": image.detail,
                "placement": vars(image.placement),
            }
            for image in request.images
        ]
        self.journal.note(
            event,
            sync=False,
            **_item_fields(item),
            **more,
            key=request.key,
            expected=expected.as_json(),
            images=images,
        )

    def _came(self, requests: Sequence[ModelRequest]) -> Sequence[Reply | AttemptFailed]:
        try:
            came = self.backend.ask(requests)
            if len(came) != len(requests):
                raise ValueError("another number of replies than of requests")
        except Exception as error:  # a backend raises only for bugs
            return [_own_error(error)] * len(requests)
        return came

    def _give_back(
        self, leave: SendPermit, case: str, came: Sequence[Reply | AttemptFailed]
    ) -> None:
        replies = [one for one in came if isinstance(one, Reply)]
        failures = [one for one in came if isinstance(one, AttemptFailed)]
        if replies:
            bills = [billed_cost(one.usage, self.spec.card.price) for one in replies]
            known = [one for one in bills if one is not None]
            spent = sum(known, RunCost()) if len(known) == len(bills) else None
            self.gate.replied(leave, spent, replies[-1].limits, len(replies))
        elif failures:
            self.gate.failed(leave, failures[0], case)

    def collected(self, entry: PendingItem, reply: Reply, key: str | None = None) -> None:
        """Store a reply to an earlier request, even if that request cannot be rebuilt.

        For a case that is no longer in the set there is no row. The reply is in the log, and a
        resumed run writes the row once the case is back. ``key`` is the digest of what was sent, if
        known.

        Raises
        ------
        OSError
            The reply cannot be stored.
        """
        item, spec = entry.item, self.spec
        parts: ReplyParts | None = None
        try:
            request = self.built(item)
            if key is not None and request.key != key:
                reply = replace(reply, notes=(*reply.notes, _CHANGED_NOTE))
        except AttemptFailed as failure:
            prompt = spec.prompt
            request = ModelRequest(
                item.case, item.repeat, "", (), spec.parameters, prompt.id, prompt.hash
            )
            note = f"This is its raw text, as the request cannot be made again: {failure}"
            self.tally.say(f"{item.case}: {note}")
            parts = UnreadReply(reply.text, reply.outcome, (note,))
        self.answered(entry, request, reply, parts)

    def answered(
        self,
        entry: PendingItem,
        request: ModelRequest,
        reply: Reply,
        parts: ReplyParts | None = None,
    ) -> None:
        """Store a reply: log, pictures, row. ``parts`` is its content, if that has been read.

        Raises
        ------
        OSError
            The reply cannot be stored.
        """
        spent = billed_cost(reply.usage, self.spec.card.price)
        pictures = save_pictures(self.run, self.images, request, reply.pictures)
        is_known = parts is None or self.asking.case(request.case) is not None
        parts = parts or self._read(request, reply)
        shown = pictures if self.images else []
        usd = spent.usd if spent else None
        row = answer_row(self.spec, request, reply, parts, pictures=shown, usd=usd)
        self.journal.note(
            "replied",
            **_item_fields(entry.item),
            reply=_reply_json(reply),
            outcome=parts.outcome,
            spent=spent.as_json() if spent else None,
            pictures=pictures,
            pictures_in="images folder" if self.images else "run folder",
            row=row,
            row_now=is_known,
        )
        if is_known:
            self.tally.answered(parts.outcome)
        self.to_do.done(entry)

    def _read(self, request: ModelRequest, reply: Reply) -> ReplyParts:
        try:
            case = self.asking.case(request.case)
            if case is not None:
                return self.asking.read(request, reply, case)
            note = "The case is no longer in the review set."
        except Exception as error:  # the text is paid for, whatever is wrong with it
            note = f"The reply could not be read ({type(error).__name__}): this is its raw text."
        self.tally.say(f"{request.case}: {note}")
        return UnreadReply(reply.text, reply.outcome, (note,))

    def _failed_attempt(self, entry: PendingItem, failure: AttemptFailed) -> None:
        """Try again, at once or later, or give the entry up."""
        busy = failure.kind == "rate_limit"
        if busy and failure.again:
            self._note_failed(entry, failure, final=False)
            entry.tries = 0
            self.to_do.put_back(entry)  # the gate makes all threads wait
        elif failure.again and entry.tries < MAX_REQUEST_TRIES:
            self._note_failed(entry, failure, final=False)
            wait = max(failure.retry_after_s or 0.0, backoff_s(entry.tries))
            self.to_do.put_back(entry, after_s=wait)
        else:
            self.give_up_on(entry, failure)

    def give_up_on(self, entry: PendingItem, failure: AttemptFailed) -> None:
        """Record that an entry has no answer, and why.

        Raises
        ------
        OSError
            The failure cannot be stored.
        """
        self._note_failed(entry, failure, final=True)
        self.tally.failed(failure.kind, f"{entry.item.case}: {failure}")
        self.to_do.done(entry)

    def _note_failed(self, entry: PendingItem, failure: AttemptFailed, *, final: bool) -> None:
        self.journal.note(
            "failed",
            **_item_fields(entry.item),
            kind=failure.kind,
            message=str(failure),
            final=final,
            maybe_paid=failure.maybe_paid,
            raw=failure.raw,
        )


def _item_fields(item: RunItem) -> dict[str, Any]:
    return item._asdict()


def _own_error(error: Exception) -> AttemptFailed:
    """Return the failure for a bug in rexview on one case; the message names no patient."""
    return AttemptFailed("setup", f"rexview failed on this case ({type(error).__name__}).")


def _reply_json(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain values, without the bytes of its pictures."""
    values = {**vars(reply), "usage": vars(reply.usage)}
    values["limits"] = vars(reply.limits) if reply.limits else None
    values.pop("pictures")
    return values
