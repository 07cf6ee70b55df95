"""Whether a Ray cluster can be reached and used from here, looked into by a process of its own.

Ray's own connecting tries for many minutes where nothing answers, and nothing stops it. So another
process connects first, and is ended after a time.
"""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import version
from typing import Final

from rexview.bounded import printable
from rexview.errors import ClusterError

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


def look_at(address: str) -> None:
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
    raise ClusterError(refusal(address, words))


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
        raise ClusterError(refusal(address, "")) from None


def refusal(address: str, words: str) -> str:
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
