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


@contextmanager
def serve(
    script: Path,
    *arguments: str | Path,
    options: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    port: int | None = None,
) -> Iterator[str]:
    """Run ``streamlit run script -- arguments`` until the block ends; give its URL.

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
        File for what the server prints; thrown away by default.
    port : int, optional
        A free one by default.

    Raises
    ------
    BenchUnavailable
        The server did not start within a minute.
    """
    if port is None:
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            port = probe.getsockname()[1]
    given = {"server.headless": "true", "server.port": str(port), **(options or {})}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += [f"--{name}={value}" for name, value in given.items()]
    command += ["--", *map(str, arguments)] if arguments else []
    url = f"http://localhost:{port}/{given.get('server.baseUrlPath', '')}".rstrip("/")
    with (log or Path(os.devnull)).open("wb") as output:
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
        try:
            limit = time.monotonic() + _START_LIMIT_S
            while not _healthy(url):
                if process.poll() is not None or time.monotonic() > limit:
                    raise BenchUnavailable(f"{script.name} did not start.")
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            process.wait()


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
