"""Connect to a Ray cluster, or start Ray on this machine.

A worker is an actor that is asked for one batch at a time (:mod:`rexview.spread.ray_actors`), so
that the batches under way never outnumber the workers. Only this module and that actor import ray.
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
from rexview.spread.ray_actors import RayActors, RayWorker
from rexview.spread.workers import WorkerJob
from rexview.untrusted_input import printable_text

# Check from a separate process whether a Ray cluster can be reached and used.
#
# If nothing answers, Ray tries to connect for many minutes and cannot be stopped. So another
# process connects first, and is ended after a time limit.

_LIMIT_S: Final = 90.0
"""Time limit for connecting from a busy machine; Ray itself gives up on a token sooner."""
_LISTENS_S: Final = 15.0
_PORTS: Final = 65_536
_SAID_BYTES: Final = 100_000
_CONNECT: Final = """
import logging, sys, ray
ray.init(sys.argv[1], log_to_driver=False, logging_level=logging.CRITICAL)
ray.shutdown()
"""


def check_cluster(address: str) -> None:
    """Connect to a cluster from a process with a time limit, and disconnect.

    Parameters
    ----------
    address : str
        ``HOST:PORT`` of the cluster's head, or ``auto``.

    Raises
    ------
    ClusterError
        It cannot be used; a sentence gives the reason and what to do.
    """
    if address != "auto":
        _check_listening(address)
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


def _check_listening(address: str) -> None:
    """Check that something listens at the address; Ray itself would wait.

    Raises
    ------
    ClusterError
        Nothing listens there.
    """
    host, _, port = address.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port) < _PORTS):
        raise ClusterError("--address: give HOST:PORT of the cluster's head, or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _LISTENS_S).close()
    except (OSError, UnicodeError):
        raise ClusterError(cluster_refusal(address, "")) from None


def cluster_refusal(address: str, words: str) -> str:
    """Return why a cluster cannot be used and what to do, from Ray's message."""
    where = f"the Ray cluster at {printable_text(address)}"
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


INSTALL_RAY: Final = "pip install -r requirements-cluster.txt"
_MAX_STARTS: Final = 4
"""Tries: Ray gives itself 30 s to start, which may be too little on a busy machine."""
_STORE_BYTES: Final = 200_000_000
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # otherwise its workers' output would be printed
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_LOCAL: Final = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray's switch for: listen on loopback only
    "RAY_enable_metrics_collection": "0",
    "RAY_AUTH_MODE": "token",
}


class RayCluster:
    """A connection to Ray, one at a time in a process; use it in a ``with`` statement.

    Parameters
    ----------
    address : str or None
        ``HOST:PORT`` of the cluster's head, or ``auto`` for the cluster of this machine. None
        starts Ray on this machine, for this process only; it ends with the ``with`` statement.
    workers : int, optional
        Workers for a job, limited to the number of processors. The default is one for each
        processor of the cluster. If a worker loads a model, it is one for each graphics card, or
        for each machine without any.

    Raises
    ------
    ClusterError
        There is no usable cluster; a sentence says what to do.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if find_spec("ray") is None:
            raise ClusterError(f"--engine ray needs ray, not installed here: {INSTALL_RAY}")
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
        self._actors: Final = RayActors(ray)

    def _begin_here(self, processors: int) -> None:
        os.environ.update(_LOCAL)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        import ray

        self.folder = Path(tempfile.mkdtemp(prefix="rexview-"))  # short: it contains a socket
        for left in reversed(range(_MAX_STARTS)):
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
                    words = f"Ray cannot be started on this machine ({_error_kind(error)})."
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
            raise ClusterError(cluster_refusal(address, f"{_error_kind(error)}: {error}")) from None

    def _init(self, address: str, **given: Any) -> None:
        import ray

        with _discard_output():
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
        """Disconnect; end a Ray that was started here, and delete its folder."""
        import ray

        ray.shutdown()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def count(self, job: WorkerJob) -> int:
        """Return the number of workers for a job: as requested, limited by the processors.

        Others may use the same processors. Then a worker starts once there is room, and until then
        the job's other workers do its share.
        """
        if self._asked:
            fewer = self.fewer_processors()
            return self._asked if fewer is None else max(1, fewer)
        if not job.holds_model:
            return max(1, self._has("CPU"))
        return self._has("GPU") or max(1, len(self._actors.machines()))

    def fewer_processors(self) -> int | None:
        """Return the cluster's processors if they are fewer than the requested workers.

        None if they are enough. A Ray of our own is started with enough.
        """
        if self._asked is None or self.folder is not None:
            return None
        processors = self._has("CPU")
        return processors if processors < self._asked else None

    def _has(self, what: str) -> int:
        return int(self._ray.cluster_resources().get(what, 0))

    def with_workers(self, workers: int) -> RayCluster:
        """Return the same cluster with another number of workers; this object closes it."""
        other = copy.copy(self)
        other._asked = workers
        return other

    def worker(self, job: WorkerJob) -> RayWorker:
        """Return a worker that is not started yet."""
        share = self._share(job) if job.holds_model else {"num_cpus": 1}
        return RayWorker(self._actors, job, share)

    def _share(self, job: WorkerJob) -> dict[str, Any]:
        """Return a model worker's resources: a graphics card, or its part of a machine."""
        workers, machines = self.count(job), self._actors.machines()
        if self._has("GPU") >= workers:
            return {"num_cpus": 1, "num_gpus": 1}
        each = ceil(workers / max(1, len(machines)))
        least = min((one["Resources"]["CPU"] for one in machines), default=1)
        return {"num_cpus": max(1, int(least) // each), "scheduling_strategy": "SPREAD"}


@contextmanager
def _discard_output() -> Iterator[None]:
    """Discard all output inside the block; errors are reported in a sentence instead."""
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


def _error_kind(error: Exception) -> str:
    return type(error).__name__
