"""A run by the Batch API: everything is sent in files, and answered within a day."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from rexview.models.endpoints.batch import Batches, Wish
from rexview.models.endpoints.batch_log import Job, jobs_of
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.reply import AttemptFailed, Reply
from rexview.models.request import Request
from rexview.models.running.attempts import Attempts
from rexview.models.running.files.append_only import lines_of
from rexview.models.running.gate import Pass, Rest, Stop
from rexview.models.running.journal import Item, Past
from rexview.models.running.money import Spent, billed
from rexview.models.running.to_do import Entry
from rexview.vocab import counted

_LOOKS_EVERY_S: Final = 0.25


def ask_in_batches(attempts: Attempts, entries: Sequence[Entry], past: Past) -> None:
    """Have entries answered, and settle each; what is at the server already is not sent again.

    Where the run is stopped, what is at the server goes on there, and is collected by going on;
    where it is told to withdraw it, the server stops, and what was done is collected.

    Raises
    ------
    OSError
        The disk did not take what is to be kept.
    """
    driven = _Driven(attempts, entries, past)
    try:
        driven.work()
    except AttemptFailed as failure:
        attempts.gate.stop(Stop("broken", str(failure)))
    finally:
        driven.close()


class _Driven:
    """What is at the server, what it will cost, and what the person is told of it."""

    def __init__(self, attempts: Attempts, entries: Sequence[Entry], past: Past) -> None:
        endpoint = attempts.backend
        assert isinstance(endpoint, Endpoint)
        self._attempts, self._gate = attempts, attempts.gate
        self._entries = {_name(entry.item): entry for entry in entries}
        self._done = {_name(item) for item in past.outcomes}
        self._before = [
            line
            for _, line in lines_of(attempts.run.log)
            if line and str(line.get("event")).startswith("batch_")
        ]
        self._sent: dict[str, tuple[str, Spent]] = {}  # digest of what was sent, what it may cost
        self._filed: dict[str, Spent] = {}  # what is in a file that has not gone out yet
        self._to_go_out = Spent()  # the sum of it
        self._planned: dict[str, Job] = {}
        self._at_server: dict[str, Pass] = {}  # by shard
        self._begun = 0
        for line in self._before:
            if line["event"] == "batch_request":
                name = _name(Item(str(line["case"]), int(line["repeat"])))
                self._sent[name] = str(line["key"]), Spent.from_json(line["expected"])
        for job in jobs_of(self._before)[0]:
            self._sent_off(job)
        self._batches = Batches(
            endpoint,
            lambda name: attempts.built(_item(name)),
            attempts.run.path / "shard.jsonl",
            self._note,
            self._wait,
            wish=self._wish,
            room=self._room,
        )

    def close(self) -> None:
        """Give back connections, and say what is still at the server."""
        self._batches.close()
        self._attempts.tally.rest = None
        if self._at_server:
            many = counted(len(self._at_server), "batch")
            self._attempts.tally.say(f"{many} still at the server: --resume collects the answers.")

    def work(self) -> None:
        """Send and collect, until nothing is left or the run is stopped."""
        missing = set(self._entries)
        for name, came in self._batches.results(list(self._entries), self._before, self._done):
            missing.discard(name)
            entry = self._entries.get(name) or Entry(_item(name))
            if isinstance(came, Reply):
                self._answered(name, entry, came)
            else:
                if came.maybe_paid:
                    self._gate.replied(self._leave_of(name), None, None)
                self._attempts.give_up_on(entry, came)
        if missing and not self._gate.stopped:
            budget = self._attempts.spec.budget
            self._gate.stop(Stop("cancelled", f"Budget reached ({budget})."))

    def _answered(self, name: str, entry: Entry, reply: Reply) -> None:
        attempts = self._attempts
        spent = billed(reply.usage, attempts.spec.card.price)
        self._gate.replied(self._leave_of(name), spent, None)
        attempts.collected(entry, reply, self._sent[name][0] if name in self._sent else None)

    def _leave_of(self, name: str) -> Pass:
        """Return what a request that is no longer under way was expected to take."""
        return Pass(self._sent[name][1] if name in self._sent else Spent(), time.monotonic())

    def _room(self, name: str, request: Request) -> bool:
        """Set aside what a request may cost, and write it down; False where the budget ends."""
        if name in self._filed:  # the file that it was in did not go out
            self._filed.clear()
            self._to_go_out = Spent()
        expected = self._attempts.expected(request)
        if not self._gate.has_room(self._to_go_out + expected):
            return False
        self._filed[name] = expected
        self._to_go_out += expected
        self._sent[name] = request.key, expected
        self._attempts.note_request("batch_request", _item(name), request, expected)
        return True

    def _note(self, event: str, **values: Any) -> None:
        """Write an event to the log, and count it."""
        self._attempts.journal.note(event, **values)
        shard = values["shard"]
        if event == "batch_planned":
            self._planned[shard] = Job(shard, tuple(values["names"]))
        elif event == "batch_created":
            if shard in self._planned:
                self._sent_off(self._planned.pop(shard))
            requests = counted(self._at_server[shard].requests, "request")
            self._attempts.tally.say(f"A batch is at the server: {values['batch']}, {requests}.")
        elif event == "batch_ended":
            self._gate.given_back(self._at_server.pop(shard))
            if values["status"] != "completed":
                batch, status = values["batch"], values["status"]
                self._attempts.tally.say(f"The server ended {batch}: {status}.")

    def _sent_off(self, job: Job) -> None:
        """Set aside what a shard may cost."""
        for name in job.names:
            self._filed.pop(name, None)
        self._to_go_out = sum(self._filed.values(), Spent())
        each = [self._sent[name][1] for name in job.names if name in self._sent]
        self._at_server[job.shard] = self._gate.sent_off(sum(each, Spent()), len(job.names))
        self._begun += 1

    def _wish(self) -> Wish:
        stopped = self._gate.stopped
        if stopped and stopped.withdraw:
            return "cancel"
        return "hold" if stopped or self._gate.paused else "send"

    def _wait(self, seconds: float) -> bool:
        """Wait, and tell what for; something else that is wanted is waited for no longer."""
        wish, until = self._wish(), time.monotonic() + seconds
        self._attempts.tally.rest = Rest(time.time() + seconds, self._in_words())
        while time.monotonic() < until and self._wish() == wish and not self._is_over():
            time.sleep(_LOOKS_EVERY_S)
        self._attempts.tally.rest = None
        return not self._is_over()

    def _is_over(self) -> bool:
        return self._gate.is_stopped() and self._wish() != "cancel"

    def _in_words(self) -> str:
        """Say what is waited for."""
        if not self._at_server:
            return "Nothing is at the server"
        of = counted(self._begun, "batch")
        words = f"{len(self._at_server)} of {of} at the server"
        if self._wish() == "cancel":
            words += ", being cancelled"
        asked = sum(total for total, _, _ in self._batches.counts.values())
        done = sum(good + bad for _, good, bad in self._batches.counts.values())
        return f"{words}, {done:,} of {counted(asked, 'request')} done" if asked else words


def _name(item: Item) -> str:
    return f"{item.repeat}:{item.case}"


def _item(name: str) -> Item:
    repeat, _, case = name.partition(":")
    return Item(case, int(repeat))
