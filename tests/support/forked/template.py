"""The process that servers are forked from: ``python template.py SOCKET ROOT``.

Each message on the socket says what to run, and brings two files: a socket that is told the id of
the new process and then what it returned, and the log that it prints to. No thread of ours runs
here and nothing is computed, so that a process forked from it is as one that has just imported
everything. It ends, with what still runs, when the socket is closed.
"""

from __future__ import annotations

import gc
import json
import os
import random
import runpy
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

_LONGEST = 1 << 18
_POOLS = ("polars-", "rayon", "tokio")
_NO_POOL = ("polars-ooc",)


def main() -> dict[str, Any] | None:
    """Fork what is asked for until there is nobody who asks; return in each child what it runs."""
    control = socket.socket(fileno=int(sys.argv[1]))
    root = sys.argv[2]
    sys.path[0] = root
    own = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    plain = [path for path in sys.path[1:] if path not in own]
    _import_all()
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    running: dict[int, socket.socket] = {}
    gc.collect()
    gc.freeze()  # what is there stays shared with the children
    while True:
        asked, _, _ = select([control, wake], [], [])
        if wake in asked:
            wake.recv(1024)
            _tell_of_ended(running)
        if control not in asked:
            continue
        message, files, _, _ = socket.recv_fds(control, _LONGEST, 2)
        if not message:
            break
        told, log = socket.socket(fileno=files[0]), files[1]
        pools = _pools()
        assert not pools, f"{pools} run: a forked process would wait for them"
        if pid := os.fork():
            os.close(log)
            running[pid] = told
            told.send(str(pid).encode())
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (control, wake, woken, told, *running.values()):
            one.close()
        return _become(json.loads(message), log, plain)
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return None


def _import_all() -> None:
    """Import what a server does, at its start, for its pages and when they first need it."""
    import alembic.command  # noqa: F401
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import streamlit.web.bootstrap
    import streamlit.web.cli
    import uvicorn  # noqa: F401

    from rexview.detect import read_word_lists
    from rexview.ui.web.server import failure_scans, warm_up

    warm_up._import_all_of()
    read_word_lists()
    failure_scans.MAX_SCAN_WAIT_S = (
        60.0  # tests see all that few answers show, however slow the machine
    )
    configured = streamlit.config._config_options
    assert configured is None, "Streamlit has read its options, which every server does for itself"


def _pools() -> list[str]:
    """Return the names of threads that compute: such a pool is not there in a forked process."""
    threads = Path("/proc/self/task").iterdir()
    names = [(thread / "comm").read_text(encoding="utf-8").strip() for thread in threads]
    return [name for name in names if name.startswith(_POOLS) and not name.startswith(_NO_POOL)]


def _tell_of_ended(running: dict[int, socket.socket]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with running.pop(pid) as told, suppress(OSError):  # nobody may want to know any more
            told.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(told: dict[str, Any], log: int, plain: list[str]) -> dict[str, Any]:
    """Be as a new process is: its folder, environment, output and places to import from."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in ((0, nothing), (1, log), (2, log)):
        os.dup2(file, number)
    os.close(nothing)
    os.close(log)
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["cwd"])
    places = [path for path in told["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [told["cwd"], *places, *plain]
    sys.argv[1:] = told["arguments"]
    time.tzset()
    random.seed()
    return told


if __name__ == "__main__":
    if to_run := main():
        runpy.run_module(to_run["module"], run_name="__main__", alter_sys=True)
