"""What stands before a real storage (rclone, Orthanc) and spoils its answers."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
        with closing(http.client.HTTPConnection("127.0.0.1", self.server.behind)) as behind:
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
