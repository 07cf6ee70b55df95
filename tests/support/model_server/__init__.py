"""A model's server that does as it is told: both OpenAI APIs, files and batches, over real HTTP.

``started(rules)`` runs it in a thread, ``started_apart(rules)`` in a process of its own; by hand
``PYTHONPATH=tests python -m support.model_server --port 9701 --script rules.yaml``. Rules are those
of :mod:`support.model_server.script`, options those of
:class:`support.model_server.service.Options`. All of it is also there over HTTP, so that whoever
runs in another process can use it: ``GET /ledger``, ``POST /script``, ``/options``, ``/reset``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support import ROOT
from support.model_server.http import serve
from support.model_server.service import Options, Service

Rules = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ModelServer:
    """A server that runs, spoken to over HTTP."""

    address: str

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{self.address}/v1"

    def ledger(self) -> dict[str, Any]:
        """Return ``requests``, each with what was asked and billed, and ``totals``."""
        return self._call("/ledger")

    def requests(self) -> list[dict[str, Any]]:
        """Return what was asked so far, in order."""
        return self.ledger()["requests"]

    def script(self, rules: Rules) -> None:
        """Follow other rules from now on."""
        self._call("/script", rules)

    def options(self, **options: Any) -> None:
        """Be another kind of server from now on; what is not named is as usual."""
        self._call("/options", options)

    def reset(self) -> None:
        """Forget what was asked."""
        self._call("/reset", None)

    def _call(self, path: str, *told: Any) -> Any:
        data = json.dumps(told[0]).encode() if told else None
        with urllib.request.urlopen(self.address + path, data, timeout=60) as response:
            return json.load(response)


async def run(rules: Rules, options: Options, port: int, ready: Any) -> None:
    """Serve until cancelled; ``ready`` is called with the address."""
    service = Service(rules, options)
    server = await serve(service.handle, port)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    ready(address)
    try:
        await asyncio.Event().wait()
    finally:
        server.close()


@contextmanager
def started(rules: Rules = (), port: int = 0, **options: Any) -> Iterator[ModelServer]:
    """Run it in a thread of this process."""
    told = Options.read(options)
    known: list[Any] = []  # the address, the loop and the task
    begun = threading.Event()

    def ready(address: str) -> None:
        known[:] = address, asyncio.get_running_loop(), asyncio.current_task()
        begun.set()

    def serving() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(run(rules, told, port, ready))

    thread = threading.Thread(target=serving, daemon=True)
    thread.start()
    assert begun.wait(30), "the server did not start"
    address, loop, task = known
    try:
        yield ModelServer(address)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)


@contextmanager
def started_apart(rules: Rules = (), port: int = 0, **options: Any) -> Iterator[ModelServer]:
    """Run it in a process of its own, so that its work is not counted as ours."""
    command = [sys.executable, "-m", "support.model_server", "--port", str(port)]
    command += ["--rules", json.dumps(list(rules)), "--options", json.dumps(options)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://"), "the server did not start"
            yield ModelServer(address)
        finally:
            process.terminate()
