"""Serve a Streamlit app for a benchmark or a test: a real server on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rexview.errors import RexviewError

ROOT: Final = Path(__file__).resolve().parents[1]
_START_LIMIT_S: Final = 180
_STOP_LIMIT_S: Final = 20
_PORTS_TRIED: Final = 3
begin_process: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen
"""Starts a server process; tests replace it by one with finished imports."""


class BenchUnavailable(RexviewError):
    """The benchmark cannot run here."""


def start(
    script: Path,
    *arguments: str | Path,
    options: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    port: int | None = None,
    cwd: Path = ROOT,
) -> tuple[subprocess.Popen[bytes], str]:
    """Start ``streamlit run script -- arguments``; once it answers, return the process and its URL.

    Parameters
    ----------
    script : Path
    *arguments : str or Path
        Arguments after ``--``.
    options : mapping, optional
        Streamlit options, such as ``{"server.baseUrlPath": "x"}``.
    environment : mapping, optional
        Added to this process's environment.
    log : Path, optional
        File to which the server's output is appended; discarded by default.
    port : int, optional
        By default a free one.
    cwd : Path
        The working folder, where it finds ``rexview.yaml`` and ``.streamlit``.

    Raises
    ------
    BenchUnavailable
        The server ended repeatedly, or did not answer within three minutes.
    """
    given = {"server.headless": "true", **(options or {})}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [f"--{name}={value}" for name, value in given.items()]
    after = ["--", *map(str, arguments)] if arguments else []
    # A free port may be taken before the server uses it: after such an end another is tried.
    for _ in range(1 if port else _PORTS_TRIED):
        used = port or free_port()
        with (log or Path(os.devnull)).open("ab") as output:
            process = begin_process(
                [*command, f"--server.port={used}", *after],
                cwd=cwd,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
            )
        url = f"http://localhost:{used}/{given.get('server.baseUrlPath', '')}".rstrip("/")
        try:
            if _started(process, url):
                return process, url
        except BaseException:
            stop(process)
            raise
        ended = process.poll() is not None
        stop(process)
        if not ended:
            break
    raise BenchUnavailable(f"{script.name} did not start.")


@contextmanager
def serve(script: Path, *arguments: str | Path, **more: Any) -> Iterator[str]:
    """Run an app until the block ends; yield its URL. Arguments and errors: see :func:`start`."""
    process, url = start(script, *arguments, **more)
    try:
        yield url
    finally:
        stop(process)


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server, by force if needed."""
    process.terminate()
    try:
        process.wait(_STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _started(process: subprocess.Popen[bytes], url: str) -> bool:
    """Wait until the server answers; False if it has ended or takes too long."""
    limit = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < limit:
        healthy = _healthy(url)
        if process.poll() is not None:
            return False  # another server answers there
        if healthy:
            return True
        time.sleep(0.02)  # short, as benchmarks measure the start
    return False


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
