"""What becomes of a case that is asked: its request, the attempts, and what is written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from rexview.errors import RexviewError
from rexview.models.backend import Backend
from rexview.models.reply import AttemptFailed, Outcome, Reply
from rexview.models.request import Request
from rexview.models.running.folder import RunFolder
from rexview.models.running.gate import Gate, Pass, backoff_s
from rexview.models.running.journal import Item, Journal
from rexview.models.running.money import Spent, billed, priced
from rexview.models.running.rows import Parts, answer_row, save_pictures
from rexview.models.running.spec import RunSpec
from rexview.models.running.tally import Tally
from rexview.models.running.to_do import Entry, ToDo
from rexview.schema import AnswerBox

MOST_TRIES: Final = 6
"""Of one request that the server or the network failed on; a busy server is asked without bound."""

_CHANGED: Final = (
    "The case or its images have changed since they were sent: boxes may lie elsewhere."
)


Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Asking(Generic[Subject]):
    """How what is asked about becomes a request, and a reply an answer.

    That is a case, or another thing with an id: a judge is asked about two texts. ``case`` finds it
    by its id. ``build`` raises :class:`.AttemptFailed` where it cannot be asked. ``input_tokens``
    estimates what a request is, ``output_tokens`` what an answer will be, until some have come.
    """

    case: Callable[[str], Subject | None]
    build: Callable[[Subject, int], Request]
    read: Callable[[Request, Reply, Subject], Parts]
    input_tokens: Callable[[Request], int]
    output_tokens: int


@dataclass(frozen=True)
class Unread:
    """A reply as it came: its raw text, and why nothing was read out of it."""

    text: str
    outcome: Outcome
    notes: tuple[str, ...]
    boxes: tuple[AnswerBox, ...] = ()
    choice: int | None = None
    explanation: str | None = None


@dataclass(frozen=True)
class Attempts:
    """Asks and settles entries; several threads may do so at once.

    ``images`` is the folder for pictures that models return, None for one in the run's own folder.
    """

    spec: RunSpec
    run: RunFolder
    asking: Asking[Any]
    backend: Backend
    images: Path | None
    journal: Journal
    gate: Gate
    to_do: ToDo
    tally: Tally

    def ask(self, entries: Sequence[Entry]) -> None:
        """Ask some entries at once and settle each: done, back into the queue, or given up.

        Raises
        ------
        OSError
            The disk did not take what is to be kept.
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

    def _is_built(self, entry: Entry) -> bool:
        """Make the request of an entry; whether that was possible."""
        if entry.request is None:
            try:
                entry.request = self.built(entry.item)
            except AttemptFailed as failure:
                self.give_up_on(entry, failure)
        return entry.request is not None

    def built(self, item: Item) -> Request:
        """Make the request of an item.

        Raises
        ------
        AttemptFailed
            It cannot be made, for whatever reason: one case must not take the others down.
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

    def expected(self, request: Request) -> Spent:
        """Estimate what a request will take."""
        output = self.gate.mean_output() or self.asking.output_tokens
        return priced(self.asking.input_tokens(request), output, self.spec.card.price)

    def note_request(
        self, event: str, item: Item, request: Request, expected: Spent, **more: Any
    ) -> None:
        """Write down what is sent, pictures as digest, size and placement."""
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
            **_named(item),
            **more,
            key=request.key,
            expected=expected.as_json(),
            images=images,
        )

    def _came(self, requests: Sequence[Request]) -> Sequence[Reply | AttemptFailed]:
        try:
            came = self.backend.ask(requests)
            if len(came) != len(requests):
                raise ValueError("another number of replies than of requests")
        except Exception as error:  # a backend raises nothing, but for errors of its own
            return [_own_error(error)] * len(requests)
        return came

    def _give_back(self, leave: Pass, case: str, came: Sequence[Reply | AttemptFailed]) -> None:
        replies = [one for one in came if isinstance(one, Reply)]
        failures = [one for one in came if isinstance(one, AttemptFailed)]
        if replies:
            bills = [billed(one.usage, self.spec.card.price) for one in replies]
            known = [one for one in bills if one is not None]
            spent = sum(known, Spent()) if len(known) == len(bills) else None
            self.gate.replied(leave, spent, replies[-1].limits, len(replies))
        elif failures:
            self.gate.failed(leave, failures[0], case)

    def collected(self, entry: Entry, reply: Reply, key: str | None = None) -> None:
        """Write down a reply to a request of long ago, even where that cannot be made again.

        Of a case that is no longer in the set there is no row: it stands in the log, and is written
        by going on when the case is there again. ``key`` is the digest of what was sent, if known.

        Raises
        ------
        OSError
            The disk did not take it.
        """
        item, spec = entry.item, self.spec
        parts: Parts | None = None
        try:
            request = self.built(item)
            if key is not None and request.key != key:
                reply = replace(reply, notes=(*reply.notes, _CHANGED))
        except AttemptFailed as failure:
            prompt = spec.prompt
            request = Request(
                item.case, item.repeat, "", (), spec.parameters, prompt.id, prompt.hash
            )
            note = f"This is its raw text, as the request cannot be made again: {failure}"
            self.tally.say(f"{item.case}: {note}")
            parts = Unread(reply.text, reply.outcome, (note,))
        self.answered(entry, request, reply, parts)

    def answered(
        self, entry: Entry, request: Request, reply: Reply, parts: Parts | None = None
    ) -> None:
        """Write down a reply: log, pictures, row. ``parts`` is what it says, where that is known.

        Raises
        ------
        OSError
            The disk did not take it.
        """
        spent = billed(reply.usage, self.spec.card.price)
        pictures = save_pictures(self.run, self.images, request, reply.pictures)
        is_known = parts is None or self.asking.case(request.case) is not None
        parts = parts or self._read(request, reply)
        shown = pictures if self.images else []
        usd = spent.usd if spent else None
        row = answer_row(self.spec, request, reply, parts, pictures=shown, usd=usd)
        self.journal.note(
            "replied",
            **_named(entry.item),
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

    def _read(self, request: Request, reply: Reply) -> Parts:
        try:
            case = self.asking.case(request.case)
            if case is not None:
                return self.asking.read(request, reply, case)
            note = "The case is no longer in the review set."
        except Exception as error:  # the text is paid for, whatever is wrong with it
            note = f"The reply could not be read ({type(error).__name__}): this is its raw text."
        self.tally.say(f"{request.case}: {note}")
        return Unread(reply.text, reply.outcome, (note,))

    def _failed_attempt(self, entry: Entry, failure: AttemptFailed) -> None:
        """Try again, at once or later, or give the entry up."""
        busy = failure.kind == "rate_limit"
        if busy and failure.again:
            self._note_failed(entry, failure, final=False)
            entry.tries = 0
            self.to_do.put_back(entry)  # the gate rests for all of them
        elif failure.again and entry.tries < MOST_TRIES:
            self._note_failed(entry, failure, final=False)
            wait = max(failure.retry_after_s or 0.0, backoff_s(entry.tries))
            self.to_do.put_back(entry, after_s=wait)
        else:
            self.give_up_on(entry, failure)

    def give_up_on(self, entry: Entry, failure: AttemptFailed) -> None:
        """Write down that an entry has no answer, and why.

        Raises
        ------
        OSError
            The disk did not take it.
        """
        self._note_failed(entry, failure, final=True)
        self.tally.failed(failure.kind, f"{entry.item.case}: {failure}")
        self.to_do.done(entry)

    def _note_failed(self, entry: Entry, failure: AttemptFailed, *, final: bool) -> None:
        self.journal.note(
            "failed",
            **_named(entry.item),
            kind=failure.kind,
            message=str(failure),
            final=final,
            maybe_paid=failure.maybe_paid,
            raw=failure.raw,
        )


def _named(item: Item) -> dict[str, Any]:
    return item._asdict()


def _own_error(error: Exception) -> AttemptFailed:
    """Say that rexview itself failed on one case; what was wrong names no patient."""
    return AttemptFailed("setup", f"rexview failed on this case ({type(error).__name__}).")


def _reply_json(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain values, without its pictures' bytes."""
    values = {**vars(reply), "usage": vars(reply.usage)}
    values["limits"] = vars(reply.limits) if reply.limits else None
    values.pop("pictures")
    return values
