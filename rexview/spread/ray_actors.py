"""Run the workers of a job as actors at a Ray cluster, and notice lost machines.

Ray's own restarts and retries are off: they would hide which machine was lost. :class:`RayWorker`
restarts and retries instead.
"""

from __future__ import annotations

import logging
import pickle
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from rexview import __version__
from rexview.spread import remote_worker
from rexview.spread.remote_worker import RemoteWorker, WorkerArguments, WorkerReport
from rexview.spread.workers import ProcessDied, ProcessUnusable, WorkerJob
from rexview.untrusted_input import printable_text

CLUSTER_CHECK_INTERVAL_S: Final = 20.0
"""Time without results after which the cluster is checked for remaining processors."""
NO_PROCESSORS_LEFT: Final = (
    "No machine of the cluster is left that has a processor for this. Add one "
    "(ray start --address HOST:PORT), then start the same command again."
)
_ANSWERS_S: Final = 10.0
_NICE: Final = {"first": 0, "behind": 10, "idle": 19}
_ROOT: Final = Path(__file__).resolve().parents[2]


class ActorLost(Exception):
    """An actor is gone, alone or with its machine."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class RayActor:
    """An actor at the cluster; the holder of its turn may ask it.

    ``began`` is Ray's reference to its report after the start, ``machine`` Ray's id of its machine.
    It is ``ready`` from then on until it has ``ended``.
    """

    job: WorkerJob
    handle: Any
    began: Any
    turn: threading.Lock = field(default_factory=threading.Lock)
    machine: str = ""
    ready: bool = False
    ended: bool = False


class RayActors:
    """All actors of a connection.

    Parameters
    ----------
    ray : module
        The connected package.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._all: WeakSet[RayActor] = WeakSet()  # Ray ends actors without a reference
        self._lock = threading.Lock()
        ray.cloudpickle.register_pickle_by_value(remote_worker)
        self._class = ray.remote(RemoteWorker)

    def begin(self, job: WorkerJob, options: Mapping[str, Any]) -> RayActor:
        """Start an actor for a job; it waits at the cluster until there is room.

        Raises
        ------
        ProcessUnusable
        """
        package = WorkerArguments(
            str(_ROOT),
            __version__,
            pickle.dumps(job.expected()),
            pickle.dumps((job.begin, job.first)),
            job.seconds,
            _NICE[job.rank],
        )
        with self._failures_told():
            given = {"max_restarts": 0, "max_task_retries": 0, **options}
            handle = self._class.options(**given).remote(pickle.dumps(tuple(package)))
            actor = RayActor(job, handle, handle.begun.remote())
        with self._lock:
            self._all.add(actor)
        return actor

    def begun(self, actor: RayActor, seconds: float) -> WorkerReport | None:
        """Return an actor's report after the start; None if it has not started in time.

        Raises
        ------
        ActorLost, ProcessUnusable
        """
        with self._failures_told():
            if not self._ray.wait([actor.began], timeout=seconds)[0]:
                return None
            said = WorkerReport(*self._ray.get(actor.began))
        actor.machine, actor.ready = said.machine, True
        return said

    def ask(self, actor: RayActor, request: bytes) -> WorkerReport:
        """Return the reply to a pickled request.

        Raises
        ------
        ActorLost, ProcessUnusable
        """
        with self._failures_told():
            reference = actor.handle.ask.remote(self._ray.put(request))
            while not self._ray.wait([reference], timeout=CLUSTER_CHECK_INTERVAL_S)[0]:
                if self.is_empty():
                    raise ProcessUnusable(NO_PROCESSORS_LEFT)
            return WorkerReport(*self._ray.get(reference))

    def end(self, actor: RayActor) -> None:
        """End an actor now, even at work."""
        with self._lock:
            if actor.ended:
                return
            actor.ended = True
            self._all.discard(actor)
        if self._ray.is_initialized():
            self._ray.kill(actor.handle)

    def have_any(self, job: WorkerJob) -> bool:
        """Whether a job has an actor that can be asked."""
        return bool(self._ready(job))

    def idle(self, job: WorkerJob) -> RayActor | None:
        """Return an idle actor of a job, with its turn; None if there is none."""
        for one in self._ready(job):
            if one.turn.acquire(blocking=False):
                return one
        return None

    def _ready(self, job: WorkerJob) -> list[RayActor]:
        with self._lock:
            return [one for one in self._all if one.ready and one.job == job]

    def is_empty(self) -> bool:
        """Whether no usable machine is left in the cluster.

        Raises
        ------
        ProcessUnusable
        """
        with self._failures_told():
            return bool(self._ray.cluster_resources().get("CPU", 0) < 1)

    def machines(self) -> list[Any]:
        """Return Ray's records of the machines with processors."""
        return [
            one for one in self._ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
        ]

    def alive(self, machines: Sequence[str]) -> list[str]:
        """Return which of the machines are alive; each is called, as Ray notices losses late.

        Raises
        ------
        ProcessUnusable
        """
        with self._failures_told():
            known = {one["NodeID"]: one for one in self._ray.nodes() if one["Alive"]}
        return [one for one in machines if one in known and _takes_calls(known[one])]

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        """Turn Ray's errors inside the block into ours."""
        errors = self._ray.exceptions
        lost = (
            *(errors.RayActorError, errors.WorkerCrashedError, errors.NodeDiedError),
            *(errors.ObjectLostError, errors.OutOfMemoryError),
        )
        try:
            yield
        except lost:
            raise ActorLost from None
        except (errors.RayError, ConnectionError, RuntimeError) as error:
            raise ProcessUnusable(f"The cluster failed ({type(error).__name__}).") from None


def _takes_calls(machine: Mapping[str, Any]) -> bool:
    """Whether Ray's own process on a machine takes calls."""
    try:
        where = (machine["NodeManagerAddress"], machine["NodeManagerPort"])
        socket.create_connection(where, _ANSWERS_S).close()
    except OSError:
        return False
    return True


# A worker on a Ray cluster: its own actor, or another worker's while there is no room.
#
# If a worker is lost, its request goes to the next one. A request is only blamed if two workers
# died over it on machines that stay alive. A machine that is lost with its workers does not count,
# and their requests are asked elsewhere.

_MAX_DEATHS: Final = 2
"""Deaths of workers, on machines that stay alive, after which the request is blamed."""
_SETTLE_TIME_S: Final = 2.0
"""A failing machine may end its workers before it stops taking calls."""
_MAX_STARTS: Final = 4
_TURN_S: Final = 1.0
_ROOM_S: Final = 180.0
"""Longest time for a job's only worker to start; the work of others may have to end first."""
_NO_ROOM: Final = (
    "No worker could begin at the cluster: others use all of its processors, or its machines do "
    "not get to it. Wait until others have ended, then start the same command again."
)
_LOG: Final = logging.getLogger(__name__)


class RayWorker:
    """Answers requests at a cluster; see :class:`rexview.spread.workers.Worker`.

    Parameters
    ----------
    actors : RayActors
        Actors of the connection; actors of the same job stand in for each other.
    job : WorkerJob
    options : mapping
        Resources that an actor of the job needs, as options of Ray: ``num_cpus``.
    """

    def __init__(self, actors: RayActors, job: WorkerJob, options: Mapping[str, Any]) -> None:
        self._actors, self._job, self._options = actors, job, options
        self._lock = threading.Lock()
        self._actor: RayActor | None = None
        self._begins = 0
        self._ended = False
        self.pid: int | None = None
        self.host = ""

    def begin(self) -> None:
        """Start the actor, and check that it can answer."""
        self._with_turn().turn.release()

    def ask(self, request: Any) -> Any:
        """Return the answer to a request.

        Raises
        ------
        ProcessDied
            Two workers died over the request, or it raised.
        ProcessUnusable
            Also if no machine is left for it.
        """
        package = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        died_on: list[str] = []
        while (said := self._asked(package, died_on)) is None:
            if self._is_to_blame(died_on):
                raise ProcessDied("Two workers of the cluster died over it.")
        if said.answer is None:
            _LOG.warning(
                "A worker of the cluster failed on a batch: %s.", printable_text(said.words)
            )
            raise ProcessDied("A worker of the cluster failed.")
        return pickle.loads(said.answer)  # noqa: S301 - of our own program

    def _asked(self, package: bytes, died_on: list[str]) -> WorkerReport | None:
        """Ask an actor once; if it is lost, add its machine to ``died_on`` and return None."""
        actor = self._with_turn()
        try:
            return self._heard(self._actors.ask(actor, package))
        except ActorLost:
            if not actor.ended:  # not ended by this process
                died_on.append(actor.machine)
                self._actors.end(actor)
            return None
        finally:
            actor.turn.release()

    def _is_to_blame(self, died_on: list[str]) -> bool:
        """Whether workers died over a request while their machines stayed alive."""
        died_on[:] = self._actors.alive(died_on)
        if len(died_on) < _MAX_DEATHS:
            return False
        time.sleep(_SETTLE_TIME_S)
        died_on[:] = self._actors.alive(died_on)
        return len(died_on) >= _MAX_DEATHS

    def _with_turn(self) -> RayActor:
        """Wait for an actor that can answer, and return it with its turn.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        patience = _RoomWait(self._actors, self._job)
        while True:
            own = self._own()
            if self._is_ready(own):
                if own.turn.acquire(timeout=_TURN_S):
                    return own
            elif (other := self._actors.idle(self._job)) is not None:
                return other
            patience.look()

    def _own(self) -> RayActor:
        with self._lock:
            if self._ended:
                raise ProcessDied("The worker was ended.")
            if self._actor is None or self._actor.ended:
                self._actor = self._actors.begin(self._job, self._options)
            return self._actor

    def _is_ready(self, own: RayActor) -> bool:
        """Whether an actor can answer, after a short wait."""
        if own.ready:
            return True
        try:
            said = self._actors.begun(own, _TURN_S)
        except ActorLost:
            self._actors.end(own)
            self._begins += 1
            if self._begins >= _MAX_STARTS:
                words = f"No worker can be begun at the cluster that {self._job.purpose}."
                raise ProcessUnusable(words) from None
            return False
        if said is None:
            return False
        self._begins = 0
        try:
            self._heard(said)
        except ProcessUnusable:
            self._actors.end(own)  # it would take room from others
            raise
        return True

    def _heard(self, said: WorkerReport) -> WorkerReport:
        """Store an actor's report about itself, and pass on its log."""
        self.pid, self.host = said.pid, said.host
        for name, level, message in said.logged:
            logging.getLogger(name).log(level, "%s", message)
        if said.state != "ready":
            raise ProcessUnusable(_unusable_reason(said, self._job))
        return said

    def kill(self) -> None:
        """End the actor now and for good; any thread may call this."""
        self._end(for_good=True)

    def close(self) -> None:
        """End the actor."""
        self._end(for_good=False)
        self.pid = None

    def _end(self, *, for_good: bool) -> None:
        with self._lock:
            self._ended |= for_good
            actor, self._actor = self._actor, None
        if actor is not None:
            self._actors.end(actor)


class _RoomWait:
    """Limits how long a worker waits for room at the cluster.

    There is no limit while another actor of the job works: it also answers for this one when idle.
    """

    def __init__(self, actors: RayActors, job: WorkerJob) -> None:
        self._actors, self._job = actors, job
        self._since = self._looked = time.monotonic()

    def look(self) -> None:
        """Check whether to go on waiting.

        Raises
        ------
        ProcessUnusable
            There is nothing left to wait for.
        """
        now = time.monotonic()
        if self._actors.have_any(self._job):
            self._since = now
        elif now - self._since >= _ROOM_S:
            raise ProcessUnusable(_NO_ROOM)
        if now - self._looked >= CLUSTER_CHECK_INTERVAL_S:
            self._looked = now
            if self._actors.is_empty():
                raise ProcessUnusable(NO_PROCESSORS_LEFT)


def _unusable_reason(said: WorkerReport, job: WorkerJob) -> str:
    """Return why a worker cannot do its job, and what to do."""
    host, words = printable_text(said.host), printable_text(said.words)
    if said.state == "missing":
        what = f"the package {words}" if words else "rexview"
        return (
            f"A worker of the cluster ({host}) has not {what}: install rexview {__version__} with "
            "its requirements on every machine, and start Ray with PYTHONPATH at its folder."
        )
    if said.state == "other":
        return (
            f"A worker of the cluster ({host}) runs another rexview ({words}), or other rules or "
            f"packages, than this machine ({__version__}, {job.expected()}): install the same on "
            "every machine."
        )
    return f"A worker of the cluster ({host}) that {job.purpose} cannot be begun ({words})."
