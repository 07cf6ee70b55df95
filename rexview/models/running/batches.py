"""A run by the Batch API: everything is sent in files, and answered within a day."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from rexview.models.endpoints.batch import Batches
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.reply import AttemptFailed, Reply
from rexview.models.request import Request
from rexview.models.running.attempts import Attempts
from rexview.models.running.files.append_only import lines_of
from rexview.models.running.gate import Pass, Stop
from rexview.models.running.journal import Item, Past
from rexview.models.running.money import Spent, billed
from rexview.models.running.to_do import Entry

_LOOKS_EVERY_S: Final = 0.25


def ask_in_batches(attempts: Attempts, entries: Sequence[Entry], past: Past) -> None:
    """Have entries answered, and settle each; what is at the server already is not sent again.

    Where the run is stopped, what is at the server goes on there, and is collected by going on.

    Raises
    ------
    OSError
        The disk did not take what is to be kept.
    """
    endpoint = attempts.backend
    assert isinstance(endpoint, Endpoint)
    by_name = {_name(entry.item): entry for entry in entries}

    def build(name: str) -> Request:
        return attempts.built(_item(name))

    def note(event: str, **values: Any) -> None:
        attempts.journal.note(event, **values)
        if event == "batch_created":
            attempts.tally.say(f"A batch is at the server: {values['batch']}.")

    def wait(seconds: float) -> bool:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not attempts.gate.is_stopped():
            time.sleep(_LOOKS_EVERY_S)
        return not attempts.gate.is_stopped()

    before = [line for _, line in lines_of(attempts.run.log) if line and _of_batch(line)]
    done = {_name(item) for item in past.outcomes}
    batches = Batches(endpoint, build, attempts.run.path / "shard.jsonl", note, wait)
    try:
        for name, came in batches.results(list(by_name), before, done):
            entry = by_name.get(name) or Entry(_item(name))
            if isinstance(came, Reply):
                spent = billed(came.usage, attempts.spec.card.price)
                attempts.gate.replied(Pass(Spent(), time.monotonic()), spent, None)
                attempts.collected(entry, came)
            else:
                attempts.give_up_on(entry, came)
    except AttemptFailed as failure:
        attempts.gate.stop(Stop("broken", str(failure)))
    finally:
        batches.close()


def _of_batch(line: dict[str, Any]) -> bool:
    return str(line.get("event")).startswith("batch_")


def _name(item: Item) -> str:
    return f"{item.repeat}:{item.case}"


def _item(name: str) -> Item:
    repeat, _, case = name.partition(":")
    return Item(case, int(repeat))
