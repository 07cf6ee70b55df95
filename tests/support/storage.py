"""Real storage on localhost: S3 (rclone), a DICOMweb archive (Orthanc), what spoils their answers.

None of them is asked for by name; each listens on a port that was free.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.programs import DICOMWEB_PLUGIN, find

KEY, SECRET = "test-key", "test-secret"
USER, PASSWORD = "reader", "open sesame"
S3_VARIABLES = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
_START_S = 60


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail(f"{process.args!r} does not listen")


class S3Server:
    """A server of the S3 protocol: buckets are the folders in ``folder``, objects their files."""

    def __init__(self, folder: Path) -> None:
        beside = Path(sys.executable).with_name("rclone")
        self._program = str(beside) if beside.is_file() else shutil.which("rclone")
        if not self._program:
            pytest.skip("rclone is not there")
        pytest.importorskip("botocore")
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, again on the port that it had."""
        command = (self._program, "serve", "s3", str(self.folder), "--addr")
        options = (f"127.0.0.1:{self.port}", "--auth-key", f"{KEY},{SECRET}")
        cached = ("--config", os.devnull, "--dir-cache-time", "0s", "--vfs-cache-mode", "off")
        self._process = subprocess.Popen(
            [*command, *options, *cached],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self.folder.parent)},
        )
        wait_for(self.port, self._process)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class Archive:
    """Orthanc with its DICOMweb plugin, and a user with a password."""

    def __init__(self, folder: Path) -> None:
        program = find("Orthanc")
        if not program or not DICOMWEB_PLUGIN.is_file():
            pytest.skip("Orthanc with its DICOMweb plugin is not there")
        self.port = free_port()
        settings = {
            "StorageDirectory": str(folder),
            "IndexDirectory": str(folder),
            "HttpPort": self.port,
            "DicomServerEnabled": False,
            "RemoteAccessAllowed": False,
            "AuthenticationEnabled": True,
            "RegisteredUsers": {USER: PASSWORD},
            "Plugins": [str(DICOMWEB_PLUGIN)],
            "DicomWeb": {"Enable": True, "Root": "/dicom-web/"},
        }
        config = folder / "orthanc.json"
        config.write_text(json.dumps(settings), encoding="utf-8")
        self._process = subprocess.Popen(
            [program, str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(self.port, self._process)

    @property
    def base(self) -> str:
        """Address of the service, as it stands in tables."""
        return f"dicomweb+http://127.0.0.1:{self.port}/dicom-web"

    def store(self, *datasets: object) -> None:
        """Put instances in (STOW-RS), with another client than ours."""
        requests = pytest.importorskip("requests")
        client = pytest.importorskip("dicomweb_client.api")
        session = requests.Session()
        session.auth = (USER, PASSWORD)
        url = self.base.removeprefix("dicomweb+")
        client.DICOMwebClient(url, session=session).store_instances(list(datasets))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


Spoil = Callable[["SpoiltAnswer"], bool]


class SpoiltAnswer(BaseHTTPRequestHandler):
    """Passes a request on, or answers it as the test wants."""

    server: SpoilingServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.close_connection = True
        self.server.asked.append(self.path)
        if self.server.spoil is not None and self.server.spoil(self):
            return
        self.pass_on()

    def pass_on(self, *, most: int | None = None) -> None:
        """Give the answer of the server behind, or its first bytes only, under its full length."""
        behind = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        behind.request("GET", self.path, headers=dict(self.headers.items()))
        answer = behind.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if most is None else body[:most])
        behind.close()

    def say(self, status: int, body: bytes = b"", **headers: str) -> bool:
        """Answer by itself."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return True

    def log_message(self, *_: object) -> None:
        pass


class SpoilingServer(ThreadingHTTPServer):
    """Stands before a server; ``spoil`` is asked first, and says whether it has answered."""

    daemon_threads = True

    def __init__(self, behind: int) -> None:
        super().__init__(("127.0.0.1", 0), SpoiltAnswer)
        self.behind = behind
        self.spoil: Spoil | None = None
        self.asked: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        pass  # a client that has enough closes its connection

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextmanager
def spoiling(behind: int) -> Iterator[SpoilingServer]:
    """Run a server that spoils answers of the one on a port."""
    server = SpoilingServer(behind)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
