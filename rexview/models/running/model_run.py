"""Run a model over the items of a run: threads, control, and how it ends."""

from __future__ import annotations

import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview.errors import RunError, RunRefused
from rexview.models.backend import AttemptFailed, Backend, ModelRequest, Reply
from rexview.models.endpoints.batch_api import BatchAction, BatchClient, BatchShard, open_shards
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.running.attempts import Attempts, ItemQueue, PendingItem, RunTally, RunTask
from rexview.models.running.request_gate import RequestGate, SendingPause, SendPermit, StopReason
from rexview.models.running.run_folder import (
    RUNS_FOLDER,
    RunFolder,
    RunLock,
    find_run_folder,
    list_runs,
    write_json_atomically,
)
from rexview.models.running.run_journal import (
    Journal,
    RunHistory,
    RunItem,
    read_json_lines,
    read_run_history,
    write_missing_rows,
)
from rexview.models.running.run_progress import (
    RunProgress,
    RunState,
    read_run_command,
    send_run_command,
    write_progress,
)
from rexview.models.running.run_spec import (
    RunCost,
    RunSpec,
    billed_cost,
    newest_same_run,
    read_run_spec,
)
from rexview.schema import ReviewSet
from rexview.vocab import english_count

# A run by the Batch API: everything is sent in files and answered within a day.

_CHECK_INTERVAL_S: Final = 0.25


def run_in_batches(attempts: Attempts, entries: Sequence[PendingItem], past: RunHistory) -> None:
    """Answer entries through the Batch API and store each result; batches at the server are reused.

    If the run is stopped, batches go on at the server, and a resumed run collects them. If it is
    told to withdraw them, the server cancels them, and finished results are collected.

    Raises
    ------
    OSError
        A result cannot be stored.
    """
    driven = _BatchRun(attempts, entries, past)
    try:
        driven.work()
    except AttemptFailed as failure:
        attempts.gate.stop(StopReason("broken", str(failure)))
    finally:
        driven.close()


class _BatchRun:
    """Batches at the server, their expected cost, and messages about them."""

    def __init__(
        self, attempts: Attempts, entries: Sequence[PendingItem], past: RunHistory
    ) -> None:
        endpoint = attempts.backend
        assert isinstance(endpoint, Endpoint)
        self._attempts, self._gate = attempts, attempts.gate
        self._entries = {_name(entry.item): entry for entry in entries}
        self._done = {_name(item) for item in past.outcomes}
        self._before = [
            line
            for _, line in read_json_lines(attempts.run.log)
            if line and str(line.get("event")).startswith("batch_")
        ]
        self._sent: dict[str, tuple[str, RunCost]] = {}  # digest of the request, its expected cost
        self._filed: dict[str, RunCost] = {}  # in a file that is not uploaded yet
        self._to_go_out = RunCost()  # their sum
        self._planned: dict[str, BatchShard] = {}
        self._at_server: dict[str, SendPermit] = {}  # by shard
        self._begun = 0
        for line in self._before:
            if line["event"] == "batch_request":
                name = _name(RunItem(str(line["case"]), int(line["repeat"])))
                self._sent[name] = str(line["key"]), RunCost.from_json(line["expected"])
        for job in open_shards(self._before)[0]:
            self._sent_off(job)
        self._batches = BatchClient(
            endpoint,
            lambda name: attempts.built(_item(name)),
            attempts.run.path / "shard.jsonl",
            self._note,
            self._wait,
            wish=self._wish,
            room=self._room,
        )

    def close(self) -> None:
        """Close connections, and report batches still at the server."""
        self._batches.close()
        self._attempts.tally.rest = None
        if self._at_server:
            many = english_count(len(self._at_server), "batch")
            self._attempts.tally.say(f"{many} still at the server: --resume collects the answers.")

    def work(self) -> None:
        """Send and collect until nothing is left or the run stops."""
        missing = set(self._entries)
        for name, came in self._batches.results(list(self._entries), self._before, self._done):
            missing.discard(name)
            entry = self._entries.get(name) or PendingItem(_item(name))
            if isinstance(came, Reply):
                self._answered(name, entry, came)
            else:
                if came.maybe_paid:
                    self._gate.replied(self._leave_of(name), None, None)
                self._attempts.give_up_on(entry, came)
        if missing and not self._gate.stopped:
            budget = self._attempts.spec.budget
            self._gate.stop(StopReason("cancelled", f"Budget reached ({budget})."))

    def _answered(self, name: str, entry: PendingItem, reply: Reply) -> None:
        attempts = self._attempts
        spent = billed_cost(reply.usage, attempts.spec.card.price)
        self._gate.replied(self._leave_of(name), spent, None)
        attempts.collected(entry, reply, self._sent[name][0] if name in self._sent else None)

    def _leave_of(self, name: str) -> SendPermit:
        """Return a pass with the expected cost of a request."""
        return SendPermit(
            self._sent[name][1] if name in self._sent else RunCost(), time.monotonic()
        )

    def _room(self, name: str, request: ModelRequest) -> bool:
        """Reserve the cost of a request and log it; False if the budget is used up."""
        if name in self._filed:  # its file was not uploaded
            self._filed.clear()
            self._to_go_out = RunCost()
        expected = self._attempts.expected(request)
        if not self._gate.has_room(self._to_go_out + expected):
            return False
        self._filed[name] = expected
        self._to_go_out += expected
        self._sent[name] = request.key, expected
        self._attempts.note_request("batch_request", _item(name), request, expected)
        return True

    def _note(self, event: str, **values: Any) -> None:
        """Log an event, and update the counts."""
        self._attempts.journal.note(event, **values)
        shard = values["shard"]
        if event == "batch_planned":
            self._planned[shard] = BatchShard(shard, tuple(values["names"]))
        elif event == "batch_created":
            if shard in self._planned:
                self._sent_off(self._planned.pop(shard))
            requests = english_count(self._at_server[shard].requests, "request")
            self._attempts.tally.say(f"A batch is at the server: {values['batch']}, {requests}.")
        elif event == "batch_ended":
            self._gate.given_back(self._at_server.pop(shard))
            if values["status"] != "completed":
                batch, status = values["batch"], values["status"]
                self._attempts.tally.say(f"The server ended {batch}: {status}.")

    def _sent_off(self, job: BatchShard) -> None:
        """Reserve the cost of a shard."""
        for name in job.names:
            self._filed.pop(name, None)
        self._to_go_out = sum(self._filed.values(), RunCost())
        each = [self._sent[name][1] for name in job.names if name in self._sent]
        self._at_server[job.shard] = self._gate.sent_off(sum(each, RunCost()), len(job.names))
        self._begun += 1

    def _wish(self) -> BatchAction:
        stopped = self._gate.stopped
        if stopped and stopped.withdraw:
            return "cancel"
        return "hold" if stopped or self._gate.paused else "send"

    def _wait(self, seconds: float) -> bool:
        """Wait and report for what; return early when the wanted action changes."""
        wish, until = self._wish(), time.monotonic() + seconds
        self._attempts.tally.rest = SendingPause(time.time() + seconds, self._in_words())
        while time.monotonic() < until and self._wish() == wish and not self._is_over():
            time.sleep(_CHECK_INTERVAL_S)
        self._attempts.tally.rest = None
        return not self._is_over()

    def _is_over(self) -> bool:
        return self._gate.is_stopped() and self._wish() != "cancel"

    def _in_words(self) -> str:
        """Return words for what is waited for."""
        if not self._at_server:
            return "Nothing is at the server"
        of = english_count(self._begun, "batch")
        words = f"{len(self._at_server)} of {of} at the server"
        if self._wish() == "cancel":
            words += ", being cancelled"
        asked = sum(total for total, _, _ in self._batches.counts.values())
        done = sum(good + bad for _, good, bad in self._batches.counts.values())
        return f"{words}, {done:,} of {english_count(asked, 'request')} done" if asked else words


def _name(item: RunItem) -> str:
    return f"{item.repeat}:{item.case}"


def _item(name: str) -> RunItem:
    repeat, _, case = name.partition(":")
    return RunItem(case, int(repeat))


REPORTED_PAUSE_S: Final = 60.0
"""Rests of at least this many seconds are reported to the user."""
_GRACE_S: Final = 30.0
_WITHDRAW_S: Final = 900.0
"""OpenAI takes up to ten minutes to cancel a batch and write its results."""
_WRITE_INTERVAL_S: Final = 0.5
_LOG: Final = logging.getLogger(__name__)


def list_run_items(spec: RunSpec) -> list[RunItem]:
    """Return all items of a run: every case once, then every case again."""
    return [RunItem(case, n) for n in range(1, spec.repeats + 1) for case in spec.cases]


class ModelRun:
    """A run at work. The caller holds its lock.

    Parameters
    ----------
    spec, run
        What is asked for, and the folder that stores it.
    images
        Folder for pictures that models return; None for one in the run's folder.
    masked
        Removes keys from a text.
    told
        Called with the progress a few times a second.

    Raises
    ------
    RunError
        The run's files cannot be opened.
    """

    def __init__(
        self,
        spec: RunSpec,
        run: RunFolder,
        asking: RunTask[Any],
        backend: Backend,
        *,
        images: Path | None = None,
        masked: Callable[[str], str] = str,
        told: Callable[[RunProgress], None] = lambda progress: None,
    ) -> None:
        self._spec, self._run, self._masked, self._told = spec, run, masked, told
        self._started = _iso(time.time())
        self._rest_told = 0.0
        self._deadline: float | None = None
        self._given_up = False
        try:
            journal = Journal(run, masked)
            past = read_run_history(run)
            added = write_missing_rows(run, lambda case: asking.case(case) is not None)
            send_run_command(run, "run")
        except OSError as error:
            raise RunError(disk_error_text(error)) from error
        asked = list_run_items(spec)
        tally = RunTally((past.outcomes[one] for one in asked if one in past.outcomes), masked)
        _report_repairs(tally, past, added)
        to_do = ItemQueue(item for item in asked if item not in past.outcomes)
        self._calls = backend.calls or spec.concurrency
        gate = RequestGate(self._calls, spec.budget, past.spent, past.unsure)
        self._journal, self._tally, self._to_do, self._gate = journal, tally, to_do, gate
        self._attempts = Attempts(spec, run, asking, backend, images, journal, gate, to_do, tally)
        self._batch, self._past = backend.batch, past

    def cancel(self, message: str = "Cancelled.", *, withdraw: bool = False) -> None:
        """Send nothing new, and wait up to half a minute for requests under way.

        Batches go on at the server unless ``withdraw`` cancels them; then their finished results
        are waited for as long as a server needs for that.
        """
        until = time.monotonic() + (_WITHDRAW_S if withdraw else _GRACE_S)
        self._deadline = min(until, self._deadline or until)
        self._stop(StopReason("cancelled", message, withdraw))

    def give_up(self) -> None:
        """Stop waiting for anything."""
        self._given_up = True

    def _stop(self, why: StopReason) -> None:
        self._gate.stop(why)
        self._to_do.stop()

    def work(self) -> RunProgress:
        """Ask until nothing is left or the run stops; return the final progress."""
        threads = min(1 if self._spec.batch else self._calls, len(self._to_do))
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        try:
            me = {"pid": os.getpid(), "host": socket.gethostname()}
            self._journal.note("started", process=me, to_ask=len(self._to_do))
        except OSError as error:
            self._stop(StopReason("broken", disk_error_text(error)))
        self._write_progress(self.progress())
        for worker in workers:
            worker.start()
        written = 0.0
        while (alive := [one for one in workers if one.is_alive()]) and not self._is_over():
            alive[0].join(_CHECK_INTERVAL_S)
            self._look_up()
            if time.monotonic() - written >= _WRITE_INTERVAL_S:
                written = time.monotonic()
                self._write_progress(self.progress())
        return self._end()

    def _work(self) -> None:
        """Ask in one of several threads, until nothing is left."""
        in_batches = self._spec.batch
        while entries := self._to_do.take(len(self._to_do) if in_batches else self._batch):
            try:
                if in_batches:
                    run_in_batches(self._attempts, entries, self._past)
                    break
                self._attempts.ask(entries)
            except OSError as error:
                self._stop(StopReason("broken", disk_error_text(error)))
            except Exception as error:  # the other threads would wait for this one for ever
                words = f"rexview failed ({type(error).__name__}). Resume it (--resume)."
                self._stop(StopReason("broken", words))
            if self._gate.stopped:
                self._to_do.stop()

    def _is_over(self) -> bool:
        late = self._deadline is not None and time.monotonic() > self._deadline
        return self._given_up or late

    def _look_up(self) -> None:
        """Read the control file, write waiting rows, and report a long rest."""
        wish = read_run_command(self._run)
        if wish == "cancel":
            self.cancel(withdraw=self._spec.batch)
        elif self._gate.paused != (wish == "pause"):
            self._gate.pause(wish == "pause")
        try:
            self._journal.write_rows()
            rest = self._gate.rest()
            if (
                rest
                and rest.until - time.time() >= REPORTED_PAUSE_S
                and rest.until > self._rest_told
            ):
                self._rest_told = rest.until + 1.0
                at = datetime.fromtimestamp(rest.until).astimezone()
                self._journal.note("waiting", until=_iso(rest.until), why=rest.why)
                self._tally.say(f"Waiting until {at:%H:%M:%S}: {rest.why}")
        except OSError as error:
            self._stop(StopReason("broken", disk_error_text(error)))

    def _end(self) -> RunProgress:
        stopped, under_way = self._gate.stopped, self._gate.under_way
        state, message = (stopped.state, stopped.message) if stopped else ("finished", None)
        try:
            self._journal.note("ended", state=state, message=message, under_way=under_way)
            self._journal.close()
        except OSError as error:
            self._stop(StopReason("broken", disk_error_text(error)))
        ended = self.progress(ended=True)
        self._write_progress(ended)
        return ended

    def progress(self, *, ended: bool = False) -> RunProgress:
        """Return the current progress."""
        stopped, budget = self._gate.stopped, self._spec.budget
        rest = self._gate.rest() or self._tally.rest
        state: RunState = "running"
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
        return RunProgress(
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

    def _write_progress(self, progress: RunProgress) -> None:
        try:
            write_progress(self._run, progress)
        except OSError as error:  # a full disk may still take the log
            _LOG.warning("progress.json cannot be written: %s", error.strerror)
        self._told(progress)


def _report_repairs(tally: RunTally, past: RunHistory, added: int) -> None:
    if past.unreadable:
        lines = ", ".join(map(str, past.unreadable[:5]))
        tally.say(f"log.jsonl, line {lines}: damaged, left out; what it says is asked again.")
    if added:
        tally.say(f"{english_count(added, 'answer')} of the log written to the answers.")


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def disk_error_text(error: OSError) -> str:
    """Return words for a disk error, with what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "There is no room left on the disk: make room, then resume (--resume)."
    reason = error.strerror or type(error).__name__
    return f"The review set's folder cannot be written ({reason}): mend that, then use --resume."


# Plan a run: which run starts or continues, and what is left of it.


@dataclass(frozen=True)
class RunPlan:
    """A run that can start or continue.

    ``spec`` is what is asked now; ``before`` is the content of ``run.json``, None for a new run.
    """

    spec: RunSpec
    run: RunFolder
    past: RunHistory
    before: RunSpec | None = None

    @property
    def left(self) -> list[RunItem]:
        """Items without a reply."""
        return [item for item in list_run_items(self.spec) if item not in self.past.outcomes]


def case_positions(review_set: ReviewSet) -> dict[str, int]:
    """Return the ids of a set's cases in order, each with its position."""
    return {case: place for place, case in enumerate(review_set.cases["id"].to_list())}


def unanswered_cases(review_set: ReviewSet, model: str) -> tuple[str, ...]:
    """Return the cases of a set that a model has not answered, in order."""
    answered = review_set.answers.filter(pl.col("model") == model)["case"].unique()
    ids = review_set.cases["id"]
    return tuple(ids.filter(~ids.is_in(answered.implode())))


def new_plan(set_folder: Path, spec: RunSpec, under: str = RUNS_FOLDER) -> RunPlan:
    """Plan a new run in the folder for its kind; nothing is written yet."""
    return RunPlan(spec, RunFolder(set_folder, spec.id, under), RunHistory())


def plan_resume(
    set_folder: Path,
    spec: RunSpec | None,
    run_id: str | None,
    known: Collection[str],
    *,
    cases: tuple[str, ...] | None = None,
    under: str = RUNS_FOLDER,
) -> RunPlan | None:
    """Plan to continue a run; None if no run has the same questions as ``spec``.

    Parameters
    ----------
    set_folder, run_id
        The set, and the id of a run if the user named one.
    spec
        What is asked for now: the newest run with the same questions and parameters is taken.
    known
        The ids of the set's cases, or of other subjects.
    cases
        Cases that the user named. Without them a run of all cases continues with all current cases,
        any other run with its own.
    under
        The folder for the run's kind.

    Raises
    ------
    RunRefused
        The named run does not exist or cannot be read.
    """
    try:
        run = find_run_folder(set_folder, run_id, under) if run_id else None
        if run is None and spec is not None:
            run = newest_same_run(list_runs(set_folder, under), spec)
        if run is None:
            return None
        before = read_run_spec(run)
        past = read_run_history(run)
    except RunError as error:
        raise RunRefused(str(error)) from None
    except OSError as error:
        raise RunRefused(disk_error_text(error)) from None
    if cases is None:
        cases = tuple(known) if before.selected == "all" else before.cases
    left = tuple(case for case in cases if case in known)
    return RunPlan(replace(before, cases=left), run, past, before)


def start_run(plan: RunPlan) -> RunLock:
    """Take the run's lock and write ``run.json``, which keeps cases that were asked before.

    Raises
    ------
    RunRefused
        Another process works on the run.
    RunError
        The run's folder cannot be written.
    """
    spec, before = plan.spec, plan.before
    if before is not None:
        cases = tuple(dict.fromkeys((*before.cases, *spec.cases)))
        repeats = max(before.repeats, spec.repeats)
        spec = replace(spec, cases=cases, repeats=repeats, selected=before.selected)
    try:
        plan.run.path.mkdir(parents=True, exist_ok=before is not None)
        lock = RunLock(plan.run)
        try:
            write_json_atomically(plan.run.spec, spec.as_json())
        except BaseException:
            lock.release()
            raise
    except OSError as error:
        raise RunError(disk_error_text(error)) from None
    return lock
