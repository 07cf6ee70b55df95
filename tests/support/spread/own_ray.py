"""A Ray that rexview begins on this machine, in a process of its own: its address, then it waits.

What Ray leaves open of its own processes would fail the tests of whatever process began it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support import ROOT

TOKEN = "0123456789abcdef" * 4
REACHED = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": TOKEN,
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
"""What somebody has in the environment who connects to it."""


class OwnRay(NamedTuple):
    """A Ray that is running: where it is reached, and the folder that it works in."""

    address: str
    folder: Path


@contextmanager
def begun(workers: int, *paths: Path) -> Iterator[OwnRay]:
    """Begin a Ray whose workers find modules on some paths; it ends at the end."""
    path = os.pathsep.join(map(str, (ROOT, *paths)))
    with (
        pytest.MonkeyPatch.context() as patch,
        subprocess.Popen(
            [sys.executable, __file__, str(workers)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, "RAY_AUTH_TOKEN": TOKEN},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        for name, value in {**REACHED, "PYTHONPATH": path}.items():
            patch.setenv(name, value)
        assert process.stdout
        assert process.stdin
        try:
            address, folder = json.loads(process.stdout.readline())
            yield OwnRay(address, Path(folder))
        finally:
            process.stdin.close()
            assert process.wait(120) == 0
    assert not Path(folder).exists()


@contextmanager
def of_another_version(cluster: Any) -> Iterator[None]:
    """Let a cluster say meanwhile that another Ray began it, by what Ray itself wrote of that."""
    gcs = cluster._ray._private.worker.global_worker.gcs_client
    place = (b"CLUSTER_METADATA", b"cluster")
    written = gcs.internal_kv_get(*place)
    other = {**json.loads(written), "ray_version": "2.1.0"}
    gcs.internal_kv_put(place[0], json.dumps(other).encode(), True, place[1])
    try:
        yield
    finally:
        gcs.internal_kv_put(place[0], written, True, place[1])


if __name__ == "__main__":
    from rexview.spread.ray_cluster import RayCluster

    with RayCluster(None, int(sys.argv[1])) as cluster:
        import ray

        print(json.dumps([ray.get_runtime_context().gcs_address, str(cluster.folder)]), flush=True)
        sys.stdin.read()
