"""A connection to a Ray cluster, or to a Ray of our own on this machine.

A worker is an actor that is asked one batch at a time (:mod:`rexview.spread.ray_actors`), so that
no more is under way than there are workers. But for that actor nothing else imports ray.
"""

from __future__ import annotations

import copy
import logging
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from rexview.errors import ClusterError
from rexview.spread.ray_actors import Actors, RayWorker
from rexview.spread.workers import Job
from rexview.untrusted_input import printable

# Whether a Ray cluster can be reached and used from here, looked into by a process of its own.
#
# Ray's own connecting tries for many minutes where nothing answers, and nothing stops it. So
# another process connects first, and is ended after a time.

_LIMIT_S: Final = 90.0
"""So long connecting may take, on a machine that is busy; Ray itself gives up on a token sooner."""
_LISTENS_S: Final = 15.0
_PORTS: Final = 65_536
_SAID_BYTES: Final = 100_000
_CONNECT: Final = """
import logging, sys, ray
ray.init(sys.argv[1], log_to_driver=False, logging_level=logging.CRITICAL)
ray.shutdown()
"""


def check_cluster(address: str) -> None:
    """Connect to a cluster as Ray does, in a process that ends after a time, and leave it.

    Parameters
    ----------
    address : str
        ``HOST:PORT`` of the cluster's head, or ``auto``.

    Raises
    ------
    ClusterError
        It cannot be used; a sentence says why, and what to do.
    """
    if address != "auto":
        _listens(address)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", _CONNECT, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        try:
            with suppress(subprocess.TimeoutExpired):
                if process.wait(_LIMIT_S) == 0:
                    return
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        words = said.read(_SAID_BYTES).decode(errors="replace")
    raise ClusterError(cluster_refusal(address, words))


def _listens(address: str) -> None:
    """Look whether anything listens there; Ray would go on asking.

    Raises
    ------
    ClusterError
    """
    host, _, port = address.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port) < _PORTS):
        raise ClusterError("--address: give HOST:PORT of the cluster's head, or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _LISTENS_S).close()
    except (OSError, UnicodeError):
        raise ClusterError(cluster_refusal(address, "")) from None


def cluster_refusal(address: str, words: str) -> str:
    """Say why a cluster cannot be used, and what to do, by what Ray says of it."""
    where = f"the Ray cluster at {printable(address)}"
    if "InvalidAuthToken" in words or "AuthenticationError" in words:
        return (
            f"--address: {where} wants another token than is given here: set RAY_AUTH_MODE to "
            "token, and RAY_AUTH_TOKEN_PATH to the file that has it."
        )
    if "ersion mismatch" in words:
        own = f"Ray {version('ray')} and Python {platform.python_version()}"
        return (
            f"--address: {where} was started with other versions than {own}, which are here: "
            "install the same on every machine."
        )
    return (
        f"--address: {where} cannot be reached from here: is it running (ray start --head), "
        "and was this machine added to it (ray start --address HOST:PORT)?"
    )


INSTALL: Final = "pip install -r requirements-cluster.txt"
_STARTS: Final = 4
"""Ray gives itself 30 s to start, which may be too little on a busy machine."""
_STORE_BYTES: Final = 200_000_000
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


class RayCluster:
    """A connection to Ray; one at a time in a process. Use it in a ``with`` statement.

    Parameters
    ----------
    address : str or None
        ``HOST:PORT`` of the cluster's head, or ``auto`` for the one that this machine is part of;
        None begins a Ray of our own on this machine, which ends with the ``with`` statement and
        which nobody else reaches.
    workers : int, optional
        How many workers a job has, one for each processor at most; by default one for each
        processor of the cluster, or for each graphics card (without any, each machine) where it
        holds a model.

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
        self._actors: Final = Actors(ray)

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
        check_cluster(address)
        import ray

        try:
            self._init(address)
        except Exception as error:
            ray.shutdown()
            raise ClusterError(cluster_refusal(address, f"{_kind(error)}: {error}")) from None

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
        """Return how many workers a job has: as asked for, but no more than there are processors.

        Others may use these as well: then a worker begins when there is room for it, and until
        then the other workers of the job do its share.
        """
        if self._asked:
            fewer = self.fewer_processors()
            return self._asked if fewer is None else max(1, fewer)
        if not job.holds_model:
            return max(1, self._has("CPU"))
        return self._has("GPU") or max(1, len(self._actors.machines()))

    def fewer_processors(self) -> int | None:
        """Return how many processors a cluster has, where these are fewer than workers asked for.

        None where they are enough. A Ray of our own is begun with as many.
        """
        if self._asked is None or self.folder is not None:
            return None
        processors = self._has("CPU")
        return processors if processors < self._asked else None

    def _has(self, what: str) -> int:
        return int(self._ray.cluster_resources().get(what, 0))

    def with_workers(self, workers: int) -> RayCluster:
        """Return the same cluster with so many workers for a job; this one closes it."""
        other = copy.copy(self)
        other._asked = workers
        return other

    def worker(self, job: Job) -> RayWorker:
        """Return a worker that was not begun."""
        share = self._share(job) if job.holds_model else {"num_cpus": 1}
        return RayWorker(self._actors, job, share)

    def _share(self, job: Job) -> dict[str, Any]:
        """Say what a worker has that holds a model: a graphics card, or its part of a machine."""
        workers, machines = self.count(job), self._actors.machines()
        if self._has("GPU") >= workers:
            return {"num_cpus": 1, "num_gpus": 1}
        each = ceil(workers / max(1, len(machines)))
        least = min((one["Resources"]["CPU"] for one in machines), default=1)
        return {"num_cpus": max(1, int(least) // each), "scheduling_strategy": "SPREAD"}


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
