"""A Streamlit app served for a benchmark or a test: a real server on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rexview.errors import RexviewError

ROOT: Final = Path(__file__).resolve().parents[2]
_START_LIMIT_S: Final = 60


class BenchUnavailable(RexviewError):
    """The benchmark cannot run here."""


def start(
    script: Path,
    *arguments: str | Path,
    options: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    port: int | None = None,
) -> tuple[subprocess.Popen[bytes], str]:
    """Start ``streamlit run script -- arguments``; return the process and its URL when it answers.

    Parameters
    ----------
    script : Path
    *arguments : str or Path
        What stands after ``--``.
    options : mapping, optional
        Streamlit options, such as ``{"server.baseUrlPath": "x"}``.
    environment : mapping, optional
        Added to the own environment.
    log : Path, optional
        File that what the server prints is added to; thrown away by default.
    port : int, optional
        A free one by default.

    Raises
    ------
    BenchUnavailable
        The server did not start within a minute.
    """
    given = {"server.headless": "true", "server.port": str(port or free_port()), **(options or {})}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [f"--{name}={value}" for name, value in given.items()]
    command += ["--", *map(str, arguments)] if arguments else []
    base = given.get("server.baseUrlPath", "")
    url = f"http://localhost:{given['server.port']}/{base}".rstrip("/")
    with (log or Path(os.devnull)).open("ab") as output:
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
    limit = time.monotonic() + _START_LIMIT_S
    try:
        while not _healthy(url):
            if process.poll() is not None or time.monotonic() > limit:
                raise BenchUnavailable(f"{script.name} did not start.")
            time.sleep(0.1)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process, url


@contextmanager
def serve(
    script: Path,
    *arguments: str | Path,
    options: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    port: int | None = None,
) -> Iterator[str]:
    """Run an app as :func:`start` does until the block ends; give its URL.

    Raises
    ------
    BenchUnavailable
        The server did not start within a minute.
    """
    process, url = start(
        script, *arguments, options=options, environment=environment, log=log, port=port
    )
    try:
        yield url
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
