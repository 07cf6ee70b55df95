"""Names of models: what is here is used without asking anybody, and nothing is fetched unasked."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rexview.models.backend import AttemptFailed
from rexview.models.local.model_files import find_model_files

NAME = "someone/a-model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"model_type": "gemma3"}',
    "model.safetensors": b"\x02\0\0\0\0\0\0\0{}",
    "code.py": b"raise SystemExit",
    "pytorch_model.bin": b"a pickle",
}


class Hub(BaseHTTPRequestHandler):
    """As much of huggingface.co as one model takes."""

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, *, body):
        self.server.asked.append(self.path)
        if fault := self.server.fault:
            self.say(fault[0], b"{}", {"X-Error-Code": fault[1], "X-Error-Message": "no"}, body)
        elif "/resolve/" in self.path:
            content = FILES[self.path.rpartition("/")[2]]
            tag = hashlib.sha1(content).hexdigest()
            self.say(200, content, {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT}, body)
        elif "/tree/" in self.path:
            sizes = {name: len(content) for name, content in FILES.items()}
            tree = [
                {"type": "file", "path": name, "size": size, "oid": COMMIT}
                for name, size in sizes.items()
            ]
            self.say(200, json.dumps(tree).encode(), {}, body)
        else:
            files = [{"rfilename": name} for name in FILES]
            known = {"id": NAME, "modelId": NAME, "sha": COMMIT, "siblings": files}
            self.say(200, json.dumps(known).encode(), {}, body)

    def say(self, status, content, headers, body):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": len(content)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def hub(tmp_path, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked, server.fault = [], None
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.partition("/{repo_id}")
    ours = f"{constants.ENDPOINT}{template[1]}{template[2]}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", ours)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    yield server
    server.shutdown()
    server.server_close()


def refused(**more):
    with pytest.raises(AttemptFailed) as caught:
        find_model_files(NAME, **more)
    assert caught.value.stops_all
    return caught.value.kind, str(caught.value)


def test_nothing_is_fetched_unasked(hub):
    kind, said = refused()
    assert kind == "model"
    assert "--download" in said
    assert "licence" in said
    assert hub.asked == []


def test_what_was_asked_for_is_fetched_and_then_used_without_asking(hub):
    found = find_model_files(NAME, download=True)
    assert found.commit == COMMIT
    assert {path.name for path in found.folder.iterdir()} == {"config.json", "model.safetensors"}
    asked = len(hub.asked)
    assert asked
    assert find_model_files(NAME) == found
    assert len(hub.asked) == asked


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ((403, "GatedRepo"), "key", "wants its licence accepted: do that on"),
        ((404, "RepoNotFound"), "model", "There is no model someone/a-model"),
        ((401, "RepoNotFound"), "model", "or it is private"),
        ((400, "Bad"), "network", "cannot be reached, or failed"),
    ],
)
def test_why_it_cannot_be_fetched(hub, fault, kind, words):
    hub.fault = fault
    found, said = refused(download=True)
    assert found == kind
    assert words in said


def test_without_a_connection(hub, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    kind, said = refused(download=True)
    assert kind == "network"
    assert "cannot be reached, or failed" in said
