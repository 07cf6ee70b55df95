"""A model on this machine as a page begins it: what it takes is known before, and obeyed."""

import json
import os
import signal
import time

import pytest
from support.models.tiny_model import make_tiny_model
from support.runs.killed_run import write_cases

from rexview.analysis.run_models.jobs import read_current_progress, start_detached_run
from rexview.analysis.run_models.local_memory import estimate_local_memory
from rexview.analysis.run_models.run_request import RunRequest, plan_run
from rexview.reviewset import load_review_set

LIMIT_S = 180


@pytest.fixture(name="model")
def model_fixture(tmp_path, monkeypatch):
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return make_tiny_model(tmp_path / "gemma-3-tiny")


def planned(tmp_path, model, **more):
    folder = write_cases(tmp_path / "set", 2)
    wanted = RunRequest(model=str(model), api="transformers", prompt="expert-1", **more)
    return plan_run(load_review_set(folder), wanted)


def ended(run):
    limit = time.monotonic() + LIMIT_S
    while (found := read_current_progress(run)).at_work and time.monotonic() < limit:
        time.sleep(0.2)
    return found


def test_a_model_that_fits_is_said_to_and_runs(tmp_path, model):
    plan = planned(tmp_path, model, max_output_tokens=8)
    found = estimate_local_memory(plan.spec)
    assert found.fits
    assert found.batch == plan.spec.concurrency
    weights = sum(path.stat().st_size for path in model.glob("*.safetensors"))
    assert 0 < found.weights < 2 * weights
    start_detached_run(plan, {})
    end = ended(plan.run)
    assert (end.state, end.done) == ("finished", 2), (end.message, end.failed)


def test_one_that_does_not_fit_is_loaded_only_if_somebody_insists(tmp_path, model):
    config = json.loads((model / "config.json").read_text())
    config["text_config"]["max_position_embeddings"] = 10**9
    (model / "config.json").write_text(json.dumps(config))
    plan = planned(tmp_path, model, concurrency=500, max_output_tokens=900_000_000)
    assert not estimate_local_memory(plan.spec).fits
    start_detached_run(plan, {})
    refused = ended(plan.run)
    assert refused.state == "broken"
    assert "more than is free" in refused.message
    again = planned(tmp_path / "again", model, concurrency=500, max_output_tokens=900_000_000)
    start_detached_run(again, {}, insists=True)
    limit = time.monotonic() + LIMIT_S
    while (
        found := read_current_progress(again.run)
    ).state == "starting" and time.monotonic() < limit:
        time.sleep(0.1)
    if found.pid:
        os.kill(found.pid, signal.SIGKILL)  # its answers would be very long
    assert found.state == "running", found.message
