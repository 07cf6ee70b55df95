"""One more machine for a Ray that runs: on this computer, as Ray's own tests have several.

It is begun by a process of its own, as what Ray leaves open would fail the tests of this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from support.spread.fragile import MACHINE

_LONG = 120.0


@contextmanager
def added(ray: Any, address: str, machines: Path) -> Iterator[None]:
    """Add a machine of one processor, which :class:`.Fragile` finds in the folder ``machines``."""
    number = len(ray.nodes())
    file = machines / f"machine-{number}"
    with subprocess.Popen(
        [sys.executable, __file__, address],
        env={**os.environ, MACHINE: str(file)},
        stdin=subprocess.PIPE,
    ) as process:
        assert process.stdin
        try:
            end = time.monotonic() + _LONG
            while len(ray.nodes()) == number:  # lost ones are among them
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
            file.touch()
            yield
        finally:
            process.stdin.close()
            assert process.wait(_LONG) == 0


@contextmanager
def others_at_work(ray: Any, processors: int) -> Iterator[None]:
    """Let others use so many processors of a machine."""

    class Other:
        def begun(self) -> bool:
            return True

    other = ray.remote(num_cpus=processors)(Other).remote()
    assert ray.get(other.begun.remote(), timeout=_LONG)
    try:
        yield
    finally:
        ray.kill(other)


if __name__ == "__main__":
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    cluster.head_node = SimpleNamespace(gcs_address=sys.argv[1])
    node = cluster.add_node(wait=False, num_cpus=1)
    sys.stdin.read()
    node.kill_all_processes(check_alive=False, wait=True)
