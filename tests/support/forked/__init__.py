"""Servers of the app that begin with their imports done.

To import Streamlit and rexview takes 4 s of processor time, and the tests start the app hundreds of
times. A process of :mod:`support.forked.template` imports it all once; a server is forked from it,
and then goes the way of ``python -m streamlit run``: with a process, a port, an environment and a
log of its own. What asks something of the start itself begins a plain process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from support import ROOT

TEMPLATE: Final = Path(__file__).with_name("template.py")
MODULES: Final = ("streamlit",)
"""What a forked process may run with ``python -m``."""
_START_LIMIT_S: Final = 180


class Template:
    """The process that servers are forked from; begun when the first is asked for."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._one_at_a_time = threading.Lock()

    def begin(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        stdout: BinaryIO,
        stderr: int,
        env: Mapping[str, str],
    ) -> subprocess.Popen[bytes] | ForkedProcess:
        """Begin a process as ``subprocess.Popen`` does: forked where that comes to the same."""
        if not _can_be_forked(command, env, stderr):
            return subprocess.Popen(command, cwd=cwd, stdout=stdout, stderr=stderr, env=env)
        told = {"arguments": command[3:], "module": command[2], "cwd": str(cwd), "env": dict(env)}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with self._one_at_a_time, theirs:
            control = self._control or self._begin()
            fds = [theirs.fileno(), stdout.fileno()]
            socket.send_fds(control, [json.dumps(told).encode()], fds)
        return ForkedProcess(command, ours)

    def _begin(self) -> socket.socket:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, str(TEMPLATE), str(number), str(ROOT)], pass_fds=[number]
            )
        return self._control

    def end(self) -> None:
        """End the process, and the servers that still run."""
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait()
            self._control = self._process = None


class ForkedProcess:
    """A process that was forked: of ``subprocess.Popen`` what servers need."""

    def __init__(self, command: Sequence[str], told: socket.socket) -> None:
        self.args = command
        self.returncode: int | None = None
        self._told = told
        self.pid: Final = self._next(_START_LIMIT_S)

    def _next(self, seconds: float | None) -> int:
        """Return the next number from the template: the process's id, then what it returned."""
        if not select.select([self._told], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired(list(self.args), seconds or 0)
        said = self._told.recv(64)
        if not said:
            raise RuntimeError("The process that servers are forked from has ended.")
        return int(said)

    def poll(self) -> int | None:
        """Return what the process returned, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; the number of a signal that ended it is negative."""
        if self.returncode is None:
            self.returncode = self._next(timeout)
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _can_be_forked(command: Sequence[str], env: Mapping[str, str], stderr: int) -> bool:
    """Say whether a forked process would be the same: Python itself begins no other way."""
    if sys.platform != "linux" or stderr != subprocess.STDOUT:
        return False
    if list(command[:2]) != [sys.executable, "-m"] or command[2] not in MODULES:
        return False
    named = {name for name in {*env, *os.environ} if name.startswith("PYTHON")} - {"PYTHONPATH"}
    folders = [Path(one) for one in env.get("PYTHONPATH", "").split(os.pathsep) if one]
    return all(env.get(name) == os.environ.get(name) for name in named) and not any(
        (folder / "sitecustomize.py").exists() for folder in folders
    )
