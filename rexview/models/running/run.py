"""A run at work: its threads, what it is told, and how it ends."""

from __future__ import annotations

import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rexview.errors import RunError
from rexview.models.backend import Backend
from rexview.models.running.attempts import Asking, Attempts
from rexview.models.running.batches import ask_in_batches
from rexview.models.running.folder import RunFolder
from rexview.models.running.gate import Gate, Stop
from rexview.models.running.journal import Item, Journal, Past, read_past, write_missing_rows
from rexview.models.running.progress import Progress, State, tell, wish_of, write_progress
from rexview.models.running.spec import RunSpec
from rexview.models.running.tally import Tally
from rexview.models.running.to_do import ToDo
from rexview.vocab import counted

TOLD_FROM_S: Final = 60.0
"""A rest of so many seconds or more is said to the person."""
_GRACE_S: Final = 30.0
_WITHDRAW_S: Final = 900.0
"""OpenAI takes up to ten minutes to stop a batch and write down what was done."""
_LOOKS_EVERY_S: Final = 0.25
_WRITES_EVERY_S: Final = 0.5
_LOG: Final = logging.getLogger(__name__)


def items_of(spec: RunSpec) -> list[Item]:
    """Return everything that is asked: every case once, then every case again."""
    return [Item(case, n) for n in range(1, spec.repeats + 1) for case in spec.cases]


class Run:
    """A run at work. Whoever makes it holds its lock.

    Parameters
    ----------
    spec, run
        What is asked for, and where it is kept.
    images
        The folder for pictures that models return; None for one in the run's own folder.
    masked
        Takes keys out of a text.
    told
        Is given the progress a few times a second.

    Raises
    ------
    RunError
        The run's files cannot be opened.
    """

    def __init__(
        self,
        spec: RunSpec,
        run: RunFolder,
        asking: Asking[Any],
        backend: Backend,
        *,
        images: Path | None = None,
        masked: Callable[[str], str] = str,
        told: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._spec, self._run, self._masked, self._told = spec, run, masked, told
        self._started = _iso(time.time())
        self._rest_told = 0.0
        self._deadline: float | None = None
        self._given_up = False
        try:
            journal = Journal(run, masked)
            past = read_past(run)
            added = write_missing_rows(run, lambda case: asking.case(case) is not None)
            tell(run, "run")
        except OSError as error:
            raise RunError(disk_words(error)) from error
        asked = items_of(spec)
        tally = Tally((past.outcomes[one] for one in asked if one in past.outcomes), masked)
        _say_mended(tally, past, added)
        to_do = ToDo(item for item in asked if item not in past.outcomes)
        self._calls = backend.calls or spec.concurrency
        gate = Gate(self._calls, spec.budget, past.spent, past.unsure)
        self._journal, self._tally, self._to_do, self._gate = journal, tally, to_do, gate
        self._attempts = Attempts(spec, run, asking, backend, images, journal, gate, to_do, tally)
        self._batch, self._past = backend.batch, past

    def cancel(self, message: str = "Cancelled.", *, withdraw: bool = False) -> None:
        """Send nothing new; what is under way is waited for, for half a minute.

        Batches go on at the server, unless it is told to ``withdraw`` them: what was done of them
        is then waited for as long as a server takes for that.
        """
        until = time.monotonic() + (_WITHDRAW_S if withdraw else _GRACE_S)
        self._deadline = min(until, self._deadline or until)
        self._stop(Stop("cancelled", message, withdraw))

    def give_up(self) -> None:
        """Wait for nothing any more."""
        self._given_up = True

    def _stop(self, why: Stop) -> None:
        self._gate.stop(why)
        self._to_do.stop()

    def work(self) -> Progress:
        """Ask until nothing is left or something stops it; return how it ended."""
        threads = min(1 if self._spec.batch else self._calls, len(self._to_do))
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        try:
            me = {"pid": os.getpid(), "host": socket.gethostname()}
            self._journal.note("started", process=me, to_ask=len(self._to_do))
        except OSError as error:
            self._stop(Stop("broken", disk_words(error)))
        self._write_progress(self.progress())
        for worker in workers:
            worker.start()
        written = 0.0
        while (alive := [one for one in workers if one.is_alive()]) and not self._is_over():
            alive[0].join(_LOOKS_EVERY_S)
            self._look_up()
            if time.monotonic() - written >= _WRITES_EVERY_S:
                written = time.monotonic()
                self._write_progress(self.progress())
        return self._end()

    def _work(self) -> None:
        """Ask, one thread of several, until nothing is left."""
        in_batches = self._spec.batch
        while entries := self._to_do.take(len(self._to_do) if in_batches else self._batch):
            try:
                if in_batches:
                    ask_in_batches(self._attempts, entries, self._past)
                    break
                self._attempts.ask(entries)
            except OSError as error:
                self._stop(Stop("broken", disk_words(error)))
            except Exception as error:  # the other threads would wait for this one for ever
                words = f"rexview failed ({type(error).__name__}). Resume it (--resume)."
                self._stop(Stop("broken", words))
            if self._gate.stopped:
                self._to_do.stop()

    def _is_over(self) -> bool:
        late = self._deadline is not None and time.monotonic() > self._deadline
        return self._given_up or late

    def _look_up(self) -> None:
        """Look what is wanted of it, write rows that are due, and tell a long rest."""
        wish = wish_of(self._run)
        if wish == "cancel":
            self.cancel(withdraw=self._spec.batch)
        elif self._gate.paused != (wish == "pause"):
            self._gate.pause(wish == "pause")
        try:
            self._journal.write_rows()
            rest = self._gate.rest()
            if rest and rest.until - time.time() >= TOLD_FROM_S and rest.until > self._rest_told:
                self._rest_told = rest.until + 1.0
                at = datetime.fromtimestamp(rest.until).astimezone()
                self._journal.note("waiting", until=_iso(rest.until), why=rest.why)
                self._tally.say(f"Waiting until {at:%H:%M:%S}: {rest.why}")
        except OSError as error:
            self._stop(Stop("broken", disk_words(error)))

    def _end(self) -> Progress:
        stopped, under_way = self._gate.stopped, self._gate.under_way
        state, message = (stopped.state, stopped.message) if stopped else ("finished", None)
        try:
            self._journal.note("ended", state=state, message=message, under_way=under_way)
            self._journal.close()
        except OSError as error:
            self._stop(Stop("broken", disk_words(error)))
        ended = self.progress(ended=True)
        self._write_progress(ended)
        return ended

    def progress(self, *, ended: bool = False) -> Progress:
        """Return how far it is."""
        stopped, budget = self._gate.stopped, self._spec.budget
        rest = self._gate.rest() or self._tally.rest
        state: State = "running"
        if ended:
            state = stopped.state if stopped else "finished"
        elif self._gate.paused:
            state = "paused"
        elif rest:
            state = "waiting"
        outcomes, failed = self._tally.outcomes, self._tally.failures
        done, total = sum(outcomes.values()), len(self._spec.cases) * self._spec.repeats
        per_minute = self._tally.per_minute()
        left = total - done - sum(failed.values())
        return Progress(
            run=self._spec.id,
            model=self._spec.parameters.model,
            state=state,
            done=done,
            total=total,
            outcomes=outcomes,
            failed=failed,
            in_flight=self._gate.under_way,
            per_minute=per_minute,
            seconds_left=60 * left / per_minute if per_minute and not ended else None,
            spent=self._gate.spent.as_json(),
            unsure=self._gate.unsure.as_json(),
            budget=str(budget) if budget else None,
            waiting_for=self._masked(rest.why) if rest and not ended else None,
            waiting_until=_iso(rest.until) if rest and not ended else None,
            message=self._masked(stopped.message) if stopped else None,
            lines=self._tally.lines,
            pid=os.getpid(),
            host=socket.gethostname(),
            started=self._started,
            updated=_iso(time.time()),
        )

    def _write_progress(self, progress: Progress) -> None:
        try:
            write_progress(self._run, progress)
        except OSError as error:  # what is left may do for the log, which counts
            _LOG.warning("progress.json cannot be written: %s", error.strerror)
        self._told(progress)


def _say_mended(tally: Tally, past: Past, added: int) -> None:
    if past.unreadable:
        lines = ", ".join(map(str, past.unreadable[:5]))
        tally.say(f"log.jsonl, line {lines}: damaged, left out; what it says is asked again.")
    if added:
        tally.say(f"{counted(added, 'answer')} of the log written to the answers.")


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def disk_words(error: OSError) -> str:
    """Say what is wrong with the disk, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "There is no room left on the disk: make room, then resume (--resume)."
    reason = error.strerror or type(error).__name__
    return f"The review set's folder cannot be written ({reason}): mend that, then use --resume."
