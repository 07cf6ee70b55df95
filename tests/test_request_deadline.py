"""A server that never comes to an end is given up, whatever it sends meanwhile."""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from io import BytesIO

import httpx
import pytest

from rexview.addresses import parse_address as read_storage
from rexview.errors import StorageAway
from rexview.models.backend import ModelRequest, Parameters
from rexview.models.endpoints.endpoint import Endpoint
from rexview.remote import http_storage, s3
from rexview.remote.http_storage import DownloadSink
from rexview.request_deadline import limit_request_time

LIMIT_S = 0.6
PATIENCE_S = 20.0
"""Longer than the limit on any machine, and far shorter than what these servers take."""


def one_by_one(connection, text):
    for byte in text:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def drip_header(connection):
    one_by_one(connection, b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 2000)


def go_on_continuing(connection):
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.05)


def drip_body(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n")
    one_by_one(connection, b"x" * 2000)


def drip_tunnel(connection):
    one_by_one(connection, b"HTTP/1.1 200 Connection established" + b" " * 2000)


KINDS = {one.__name__: one for one in (drip_header, go_on_continuing, drip_body)}


@contextmanager
def server(answer):
    """Run a server that answers every connection in its own way."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection):
        with suppress(OSError), connection:
            connection.recv(65_536)
            answer(connection)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def ended(work):
    """Do something in a thread; return what it raised, or fail if it goes on and on."""
    raised = []

    def run():
        try:
            work()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "it was not given up"
    return raised[0] if raised else None


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_ends_at_its_deadline(kind):
    with server(KINDS[kind]) as port, httpx.Client(timeout=5) as client:
        limit_request_time(client, LIMIT_S)
        error = ended(lambda: client.get(f"http://127.0.0.1:{port}/"))
        assert isinstance(error, httpx.TimeoutException)
        again = ended(lambda: client.get(f"http://127.0.0.1:{port}/"))
        assert isinstance(again, httpx.TimeoutException), "each request has its own time"


def test_a_proxy_of_the_environment_ends_at_the_deadline_too(monkeypatch):
    with server(drip_tunnel) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        with httpx.Client(timeout=5) as client:
            limit_request_time(client, LIMIT_S)
            error = ended(lambda: client.get("https://models.example/"))
    assert isinstance(error, httpx.TimeoutException)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_models_is_given_up(kind):
    with server(KINDS[kind]) as port:
        told = Parameters("m", "chat", f"http://127.0.0.1:{port}/v1", timeout_s=LIMIT_S)
        endpoint = Endpoint(told)
        request = ModelRequest(
            "c1", 1, "You are careful.", ("What is seen?",), told, "expert-1", "0"
        )
        found = []
        assert ended(lambda: found.extend(endpoint.ask([request]))) is None
        endpoint.close()
    assert "did not answer within 0.6 s" in str(found[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_storage_is_given_up(kind, monkeypatch):
    monkeypatch.setattr(http_storage, "MAX_DOWNLOAD_SECONDS", LIMIT_S)
    http_storage._client.cache_clear()
    try:
        with server(KINDS[kind]) as port:
            address = read_storage(f"http://127.0.0.1:{port}/a.png")

            def ask():
                with http_storage.open_response(address, address.url, {}) as answer:
                    answer.read()

            assert isinstance(ended(ask), StorageAway)
    finally:
        http_storage._client.cache_clear()


@pytest.fixture
def bucket(monkeypatch):
    """Return a function that gives the address of a file in a bucket of a server on a port."""

    def at(port):
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{port}")
        s3._client.cache_clear()
        return read_storage("s3://bucket/a.png")

    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(s3, "MAX_DOWNLOAD_SECONDS", LIMIT_S)
    yield at
    s3._client.cache_clear()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ask", ["fetch", "listed"])
def test_a_bucket_is_given_up(kind, ask, bucket):
    pytest.importorskip("botocore")
    with server(KINDS[kind]) as port:
        address = bucket(port)
        work = {
            "fetch": lambda: s3.fetch_object(
                address, "", DownloadSink(BytesIO(), most_seconds=None)
            ),
            "listed": lambda: s3.list_objects(address, 10),
        }
        assert isinstance(ended(work[ask]), StorageAway)


def test_a_file_of_a_bucket_is_read_whole_in_time(bucket, monkeypatch):
    pytest.importorskip("botocore")
    monkeypatch.setattr(s3, "MAX_DOWNLOAD_SECONDS", PATIENCE_S)
    file = BytesIO()

    def answer(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nETag: t\r\nContent-Length: 5\r\n\r\nhello")

    with server(answer) as port:
        assert s3.fetch_object(bucket(port), "", DownloadSink(file)) == "t"
    assert file.getvalue() == b"hello"


def test_an_answer_in_time_is_read_whole():
    def answer(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    with server(answer) as port, httpx.Client(timeout=5) as client:
        limit_request_time(client, PATIENCE_S)
        assert client.post(f"http://127.0.0.1:{port}/", content=b"x" * 100_000).text == "hello"
