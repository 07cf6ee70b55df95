"""The actors of a job at a Ray cluster: begun, asked and ended, and whether their machines live.

Ray begins no actor again and asks nothing a second time by itself: it would do both without saying
which machine was lost. Whoever asks does that (:mod:`rexview.spread.ray_worker`).
"""

from __future__ import annotations

import pickle
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from rexview import __version__
from rexview.spread import remote_worker
from rexview.spread.remote_worker import Package, RemoteWorker, Said
from rexview.spread.workers import Job, ProcessUnusable

LOOKS_EVERY_S: Final = 20.0
"""So long nothing came, and it is asked whether the cluster has any processors left."""
NOTHING_LEFT: Final = (
    "No machine of the cluster is left that has a processor for this. Add one "
    "(ray start --address HOST:PORT), then start the same command again."
)
_ANSWERS_S: Final = 10.0
_NICE: Final = {"first": 0, "behind": 10, "idle": 19}
_ROOT: Final = Path(__file__).resolve().parents[2]


class ActorLost(Exception):
    """An actor is gone; whether by itself or with its machine is not known."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class Actor:
    """An actor at the cluster; whoever has its turn may ask it.

    ``began`` is Ray's reference to what it says once it began, ``machine`` Ray's id of where. It is
    ``ready`` after that, until it ``ended``.
    """

    job: Job
    handle: Any
    began: Any
    turn: threading.Lock = field(default_factory=threading.Lock)
    machine: str = ""
    ready: bool = False
    ended: bool = False


class Actors:
    """All actors of a connection.

    Parameters
    ----------
    ray : module
        Connected.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._all: WeakSet[Actor] = WeakSet()  # Ray ends what nobody holds any more
        self._lock = threading.Lock()
        ray.cloudpickle.register_pickle_by_value(remote_worker)
        self._class = ray.remote(RemoteWorker)

    def begin(self, job: Job, options: Mapping[str, Any]) -> Actor:
        """Begin an actor for a job; it waits at the cluster until there is room for it.

        Raises
        ------
        ProcessUnusable
        """
        package = Package(
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
            actor = Actor(job, handle, handle.begun.remote())
        with self._lock:
            self._all.add(actor)
        return actor

    def begun(self, actor: Actor, seconds: float) -> Said | None:
        """Return what an actor says once it began; None where it has not within so long.

        Raises
        ------
        ActorLost, ProcessUnusable
        """
        with self._failures_told():
            if not self._ray.wait([actor.began], timeout=seconds)[0]:
                return None
            said = Said(*self._ray.get(actor.began))
        actor.machine, actor.ready = said.machine, True
        return said

    def ask(self, actor: Actor, request: bytes) -> Said:
        """Have a pickled request answered.

        Raises
        ------
        ActorLost, ProcessUnusable
        """
        with self._failures_told():
            reference = actor.handle.ask.remote(self._ray.put(request))
            while not self._ray.wait([reference], timeout=LOOKS_EVERY_S)[0]:
                if self.is_empty():
                    raise ProcessUnusable(NOTHING_LEFT)
            return Said(*self._ray.get(reference))

    def end(self, actor: Actor) -> None:
        """End an actor now, whatever it does."""
        with self._lock:
            if actor.ended:
                return
            actor.ended = True
            self._all.discard(actor)
        if self._ray.is_initialized():
            self._ray.kill(actor.handle)

    def have_any(self, job: Job) -> bool:
        """Whether any actor of a job can be asked."""
        return bool(self._ready(job))

    def idle(self, job: Job) -> Actor | None:
        """Return an actor of a job that nobody asks, with its turn; None where there is none."""
        for one in self._ready(job):
            if one.turn.acquire(blocking=False):
                return one
        return None

    def _ready(self, job: Job) -> list[Actor]:
        with self._lock:
            return [one for one in self._all if one.ready and one.job == job]

    def is_empty(self) -> bool:
        """Whether no machine of the cluster is left that could do anything.

        Raises
        ------
        ProcessUnusable
        """
        with self._failures_told():
            return bool(self._ray.cluster_resources().get("CPU", 0) < 1)

    def machines(self) -> list[Any]:
        """Return what Ray says of each machine that has processors, as far as it knows."""
        return [
            one for one in self._ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
        ]

    def alive(self, machines: Sequence[str]) -> list[str]:
        """Return those of some machines that live; each is called, as Ray notes a loss late.

        Raises
        ------
        ProcessUnusable
        """
        with self._failures_told():
            known = {one["NodeID"]: one for one in self._ray.nodes() if one["Alive"]}
        return [one for one in machines if one in known and _answers(known[one])]

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        """Say in our words what Ray raises meanwhile."""
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


def _answers(machine: Mapping[str, Any]) -> bool:
    """Whether Ray's own process on a machine takes calls."""
    try:
        where = (machine["NodeManagerAddress"], machine["NodeManagerPort"])
        socket.create_connection(where, _ANSWERS_S).close()
    except OSError:
        return False
    return True
