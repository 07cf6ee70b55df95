"""Workers on a Ray cluster, or on a Ray of our own on this machine. Nothing else imports ray.

A worker is an actor: it is begun once, and is asked one batch at a time, so that no more is under
way than there are workers. Where a worker or its machine is lost, Ray begins it elsewhere and asks
once more (that is what Ray retries: never what a batch itself did). A batch over which two workers
died is the asker's to look into: :class:`.ProcessDied`.
"""

from __future__ import annotations

import copy
import logging
import os
import pickle
import secrets
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from rexview import __version__
from rexview.bounded import printable
from rexview.errors import ClusterError
from rexview.spread import remote_worker
from rexview.spread.reached import look_at, refusal
from rexview.spread.remote_worker import Package, RemoteWorker, Said
from rexview.spread.workers import Job, ProcessDied, ProcessUnusable

INSTALL: Final = "pip install -r requirements-cluster.txt"
_TRIES_AGAIN: Final = 1
_LOOKS_EVERY_S: Final = 20.0
"""So long nothing came, and it is asked whether the cluster has any processors left."""
_STARTS: Final = 4
"""Ray gives itself 30 s to start, which may be too little on a busy machine."""
_STORE_BYTES: Final = 200_000_000
_NICE: Final = {"first": 0, "behind": 10, "idle": 19}
_ROOT: Final = Path(__file__).resolve().parents[2]
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # it would print to standard output what its workers do
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_LOCAL: Final = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # its way of saying: listen on loopback only
    "RAY_enable_metrics_collection": "0",
    "RAY_AUTH_MODE": "token",
}
_LOG: Final = logging.getLogger(__name__)


class RayCluster:
    """A connection to Ray; one at a time in a process. Use it in a ``with`` statement.

    Parameters
    ----------
    address : str or None
        ``HOST:PORT`` of the cluster's head, or ``auto`` for the one that this machine is part of;
        None begins a Ray of our own on this machine, which ends with the ``with`` statement and
        which nobody else reaches.
    workers : int, optional
        How many workers a job has; by default one for each processor of the cluster, or for each
        graphics card (without any, each machine) where it holds a model.

    Raises
    ------
    ClusterError
        There is none, or none that can be used; a sentence says what to do.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if find_spec("ray") is None:
            raise ClusterError(f"--engine ray needs ray, not installed here: {INSTALL}")
        if address is not None and address.startswith("ray://"):
            raise ClusterError(
                "--address: Ray's client (ray://) is not supported. Start this on a machine of the "
                "cluster, with HOST:PORT of its head, or with auto."
            )
        self._asked = workers
        self.folder: Path | None = None
        os.environ.update(_QUIET)
        if address is None:
            self._begin_here(workers or os.cpu_count() or 1)
        else:
            self._connect(address)
        import ray

        self._ray = ray
        ray.cloudpickle.register_pickle_by_value(remote_worker)
        self._actor = ray.remote(RemoteWorker)

    def _begin_here(self, processors: int) -> None:
        os.environ.update(_LOCAL)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        import ray

        self.folder = Path(tempfile.mkdtemp(prefix="rexview-"))  # short: a socket lies in it
        for left in reversed(range(_STARTS)):
            try:
                self._init(
                    "local",
                    num_cpus=processors,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    _temp_dir=str(self.folder),
                )
            except Exception as error:
                ray.shutdown()
                if not left:
                    self.close()
                    words = f"Ray cannot be started on this machine ({_kind(error)})."
                    raise ClusterError(words) from None
            else:
                return

    def _connect(self, address: str) -> None:
        look_at(address)
        import ray

        try:
            self._init(address)
        except Exception as error:
            ray.shutdown()
            raise ClusterError(refusal(address, f"{_kind(error)}: {error}")) from None

    def _init(self, address: str, **given: Any) -> None:
        import ray

        with _nothing_printed():
            ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL, **given)

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; end the Ray that was begun here, with its folder."""
        import ray

        ray.shutdown()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def count(self, job: Job) -> int:
        """Return how many workers a job has."""
        if self._asked:
            return self._asked
        resources = self._ray.cluster_resources()
        if not job.holds_model:
            return max(1, int(resources.get("CPU", 1)))
        return int(resources.get("GPU", 0)) or max(1, len(self._machines()))

    def with_workers(self, workers: int) -> RayCluster:
        """Return the same cluster with so many workers for a job; this one closes it."""
        other = copy.copy(self)
        other._asked = workers
        return other

    def _machines(self) -> list[Any]:
        return [one for one in self._ray.nodes() if one["Alive"]]

    def is_empty(self) -> bool:
        """Whether no machine of the cluster is left that could do anything."""
        return bool(self._ray.cluster_resources().get("CPU", 0) < 1)

    def worker(self, job: Job) -> RayWorker:
        """Return a worker that was not begun."""
        return RayWorker(self, job)

    def actor(self, job: Job) -> Any:
        """Begin an actor for a job; it waits at the cluster until there is room for it."""
        options: dict[str, Any] = {
            "num_cpus": 1,
            "max_restarts": -1,
            "max_task_retries": _TRIES_AGAIN,
        }
        if job.holds_model:
            options |= self._share(job)
        package = Package(
            str(_ROOT),
            __version__,
            pickle.dumps(job.expected()),
            pickle.dumps((job.begin, job.first)),
            job.seconds,
            _NICE[job.rank],
        )
        return self._actor.options(**options).remote(pickle.dumps(tuple(package)))

    def _share(self, job: Job) -> dict[str, Any]:
        """Say what a worker has that holds a model: a graphics card, or its part of a machine."""
        machines = self._machines()
        if self._ray.cluster_resources().get("GPU", 0) >= self.count(job):
            return {"num_gpus": 1}
        each = ceil(self.count(job) / max(1, len(machines)))
        least = min((one["Resources"].get("CPU", 1) for one in machines), default=1)
        return {"num_cpus": max(1, int(least) // each), "scheduling_strategy": "SPREAD"}

    def exchange(self, call: Any, request: bytes | None = None) -> Said:
        """Call a method of an actor and wait for what it says.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        errors = self._ray.exceptions
        try:
            reference = call.remote() if request is None else call.remote(self._ray.put(request))
            while not self._ray.wait([reference], timeout=_LOOKS_EVERY_S)[0]:
                if self.is_empty():
                    raise ProcessUnusable("No machine of the cluster is left that does anything.")
            return Said(*self._ray.get(reference))
        except (errors.RayActorError, errors.WorkerCrashedError, errors.ObjectLostError):
            raise ProcessDied("A worker of the cluster was lost.") from None
        except (errors.RayError, ConnectionError, RuntimeError) as error:
            raise ProcessUnusable(f"The cluster failed ({type(error).__name__}).") from None

    def end(self, actor: Any) -> None:
        """End an actor now, whatever it does."""
        if self._ray.is_initialized():
            self._ray.kill(actor)


class RayWorker:
    """An actor that answers requests; see :class:`rexview.spread.workers.Worker`."""

    def __init__(self, cluster: RayCluster, job: Job) -> None:
        self._cluster, self._job = cluster, job
        self._lock = threading.Lock()
        self._actor: Any = None
        self._ended = False
        self.pid: int | None = None
        self.host = ""

    def begin(self) -> None:
        """Begin the actor, and look whether it can answer."""
        self._begun()

    def ask(self, request: Any) -> Any:
        """Return the answer to a request."""
        actor = self._begun()
        package = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        said = self._heard(self._cluster.exchange(actor.ask, package))
        if said.answer is None:
            _LOG.warning("A worker of the cluster failed on a batch: %s.", printable(said.words))
            raise ProcessDied("A worker of the cluster failed.")
        return pickle.loads(said.answer)  # noqa: S301 - of our own program

    def _begun(self) -> Any:
        with self._lock:
            if self._ended:
                raise ProcessDied("The worker was ended.")
            if self._actor is not None:
                return self._actor
            actor = self._actor = self._cluster.actor(self._job)
        self._heard(self._cluster.exchange(actor.begun))
        return actor

    def _heard(self, said: Said) -> Said:
        """Take in what the worker says of itself."""
        self.pid, self.host = said.pid, said.host
        for name, level, message in said.logged:
            logging.getLogger(name).log(level, "%s", message)
        if said.state != "ready":
            raise ProcessUnusable(_unusable(said, self._job))
        return said

    def kill(self) -> None:
        """End the actor now, for good; any thread may call this."""
        with self._lock:
            self._ended = True
            actor, self._actor = self._actor, None
        if actor is not None:
            self._cluster.end(actor)

    def close(self) -> None:
        """End the actor and forget it."""
        with self._lock:
            actor, self._actor, self.pid = self._actor, None, None
        if actor is not None:
            self._cluster.end(actor)


def _unusable(said: Said, job: Job) -> str:
    """Say why a worker cannot do what it was begun for, and what to do."""
    host, words = printable(said.host), printable(said.words)
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


@contextmanager
def _nothing_printed() -> Iterator[None]:
    """Print nothing meanwhile, whoever wants to: what failed is told in a sentence."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = [os.dup(stream) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, was in zip((1, 2), before, strict=True):
            os.dup2(was, stream)
            os.close(was)
        os.close(nowhere)


def _kind(error: Exception) -> str:
    return type(error).__name__
