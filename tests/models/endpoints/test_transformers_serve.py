"""A real server with a real, tiny model behind it: ``transformers serve``, over both APIs."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from support.model_server.asked import make_request
from support.models.tiny_model import make_tiny_model

from rexview.models.backend import AttemptFailed, Parameters, Reply
from rexview.models.endpoints.endpoint import Endpoint

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@pytest.fixture(name="served", scope="module")
def served_fixture(tmp_path_factory):
    """Serve the model; the base URL and its name there."""
    for package in ("torch", "transformers", "fastapi", "accelerate"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("served")
    model = make_tiny_model(folder / "tiny")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "home")}
    log = folder / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
    try:
        for _ in range(1200):
            assert process.poll() is None, log.read_text(encoding="utf-8")[-2000:]
            if answers(f"http://127.0.0.1:{port}/health"):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1", str(model)
    finally:
        process.terminate()
        process.wait(30)


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def ask(served, api, **more):
    base_url, model = served
    parameters = Parameters(**{"model": model, "api": api, "base_url": base_url, **more})
    endpoint = Endpoint(parameters)
    try:
        (came,) = endpoint.ask([make_request(parameters, schema=SCHEMA)])
        return came
    finally:
        endpoint.close()


def test_a_picture_and_a_question_are_answered(served, api):
    reply = ask(served, api, max_output_tokens=12)
    assert isinstance(reply, Reply), reply
    assert reply.usage.output == 12
    assert reply.usage.input > 60
    assert len(reply.text) > 0
    assert reply.model_served.startswith(served[1])
    # it says "completed" of a response that was cut at the limit
    assert reply.outcome == "cut_off"
    assert reply.finish_reason == ("length" if api == "chat" else "completed")


def test_a_schema_that_it_leaves_aside_does_no_harm(served, api):
    reply = ask(served, api, max_output_tokens=12, structured=True, temperature=0.0)
    assert isinstance(reply, Reply), reply


def test_another_model_than_it_has(served, api):
    failure = ask(served, api, model="another", max_output_tokens=12)
    assert isinstance(failure, AttemptFailed)
    assert (failure.kind, failure.stops_all) == ("model", True)
