"""deploy/nginx.conf in a real nginx: a browser stays with its server until that is gone."""

import http.client
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from support import ROOT

from tools.programs import find

COOKIE = "rexview_server"


class Answers(BaseHTTPRequestHandler):
    """Says who answers, how it was asked and what was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        upgrade = self.headers.get("Upgrade", "")
        words = f"{self.server.name} {self.command} {self.headers['Host']} {upgrade} {sent}"
        elsewhere = self.path == f"/rexview/meeting/of-{self.server.name}"
        self.send_response(503 if self.path == "/busy" or elsewhere else 200)
        self.send_header("Content-Length", str(len(words)))
        self.end_headers()
        self.wfile.write(words.encode())

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@contextmanager
def server(name, port):
    """Run one of the two, as long as a ``with``."""
    one = ThreadingHTTPServer(("127.0.0.1", port), Answers)
    one.name, one.daemon_threads = name, True
    thread = Thread(target=one.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        one.shutdown()
        one.server_close()
        thread.join()


def write_certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def free_ports(count):
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    """nginx with deploy/nginx.conf, but for ports and folders: its port, and those of the two."""
    program = find("nginx")
    if program is None:
        pytest.skip("There is no nginx here; tools/programs.py installs it.")
    folder = tmp_path_factory.mktemp("nginx")
    write_certificate(folder)
    https, plain, one, two = free_ports(4)
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    changes = {
        "/tmp/": f"{folder}/",
        "app-1:8501": f"127.0.0.1:{one}",
        "app-2:8501": f"127.0.0.1:{two}",
        "listen 8443": f"listen 127.0.0.1:{https}",
        "listen 8080": f"listen 127.0.0.1:{plain}",
        "/run/secrets": str(folder),
        "/dev/stdout": str(folder / "access.log"),
        "worker_processes auto": "worker_processes 1",
        "proxy_connect_timeout 2s": "proxy_connect_timeout 10s",  # on a busy machine
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    conf = folder / "nginx.conf"
    conf.write_text(text, encoding="utf-8")
    folder.chmod(0o755)
    command = [program, "-p", str(folder), "-c", str(conf), "-e", "stderr"]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr
    process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    try:
        wait_for(https)
        yield https, plain, one, two, folder / "access.log"
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(port):
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("nginx does not answer")


class Browser:
    """Asks nginx and keeps the cookie."""

    def __init__(self, port):
        self.port, self.cookie, self.given = port, None, 0

    def ask(self, method="GET", path="/", body=None, **headers):
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=60, context=context
        )
        if self.cookie:
            headers["Cookie"] = f"{COOKIE}={self.cookie}"
        connection.request(
            method, path, body, headers={"Host": "review.example.org:1234", **headers}
        )
        answer = connection.getresponse()
        words = answer.read().decode()
        if cookie := answer.getheader("Set-Cookie"):
            self.given += 1
            assert {"HttpOnly", "Secure", "SameSite=Lax"} <= set(cookie.split("; "))
            self.cookie = cookie.partition(";")[0].removeprefix(f"{COOKIE}=")
        connection.close()
        return answer.status, words


def test_a_browser_stays_with_its_server_and_moves_when_that_is_gone(nginx):
    https, _, one, two, _ = nginx
    ports = {"one": one, "two": two}
    browser = Browser(https)
    with server("two", two):
        with server("one", one):
            seen = set()
            while len(seen) < 2:  # chosen by chance for who comes new
                browser = Browser(https)
                seen.add(browser.ask()[1].split()[0])
                assert browser.given == 1
            browser.cookie = "one"
            for path in ("/", "/rexview/pixels/x", "/media/a.csv", "/_stcore/upload_file/a/b"):
                assert browser.ask("POST", path, "text")[1].split() == [
                    "one",
                    "POST",
                    "review.example.org:1234",
                    "text",
                ]
            assert browser.ask(Upgrade="websocket", Connection="upgrade")[1].split()[3] == (
                "websocket"
            )
            assert browser.given == 1, "not set again while nothing changed"
        status, words = browser.ask("POST", "/rexview/write", "a score")
        assert (status, words.split()) == (
            200,
            ["two", "POST", "review.example.org:1234", "a", "score"],
        )
        assert browser.cookie == "two"
        with server("one", ports["one"]):
            assert browser.ask()[1].split()[0] == "two", "not sent back: its pages are open there"
            assert browser.given == 2
        assert browser.ask(path="/busy")[0] == 503, "what the app itself says is passed on"
    status, words = browser.ask()
    assert status == 503
    assert words.startswith("No rexview server answers. What you wrote is kept")


def test_a_meeting_is_asked_for_at_the_server_that_holds_it(nginx):
    https, _, one, two, _ = nginx
    browser = Browser(https)
    browser.cookie = "two"
    with server("one", one), server("two", two):
        for not_by, by in (("one", "two"), ("two", "one")):
            path = f"/rexview/meeting/of-{not_by}"
            status, words = browser.ask("POST", path, "a vote")
            assert (status, words.split()[0], words[-6:]) == (200, by, "a vote")
    assert browser.cookie == "two", "the pages stay where they are"


def test_a_cookie_of_ones_own_making_leads_nowhere_else(nginx):
    https, _, one, two, _ = nginx
    with server("one", one), server("two", two):
        for made in ("app-1:8501", "http://evil.example", "@other", "one two"):
            browser = Browser(https)
            browser.cookie = made
            assert browser.ask()[1].split()[0] in ("one", "two")
            assert browser.cookie in ("one", "two")


def test_plain_http_leads_to_https_and_the_log_names_no_case(nginx):
    https, plain, one, two, log = nginx
    connection = http.client.HTTPConnection("127.0.0.1", plain, timeout=60)
    connection.request("GET", "/case?case=c1", headers={"Host": "review.example.org"})
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Location")) == (
        301,
        "https://review.example.org/case?case=c1",
    )
    connection.close()
    with server("one", one), server("two", two):
        assert Browser(https).ask(path="/case?case=c7")[0] == 200
    assert " GET /case 200 " in log.read_text(encoding="utf-8")
    assert "c7" not in log.read_text(encoding="utf-8")
