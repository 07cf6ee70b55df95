"""Who works on a run: real processes, some of them killed."""

import json
import os
import socket
import subprocess
import sys

import pytest
from support import ROOT

from rexview.errors import RunRefused
from rexview.models.running.run_folder import RunFolder, RunLock, is_active_run

HOLD = """
import sys
from pathlib import Path
from rexview.models.running.run_folder import RunFolder
from rexview.models.running.run_folder import RunLock
lock = RunLock(RunFolder(Path(sys.argv[1]), sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
lock.release()
"""


@pytest.fixture
def run(tmp_path):
    found = RunFolder(tmp_path, "20261123-101500-gpt-5-mini-a1b2")
    found.path.mkdir(parents=True)
    return found


@pytest.fixture
def holder(run):
    command = [sys.executable, "-c", HOLD, str(run.set_folder), run.id]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_another_process_is_named(run, holder):
    assert is_active_run(run)
    with pytest.raises(RunRefused, match=rf"Process {holder.pid} on {socket.gethostname()} "):
        RunLock(run)


def test_a_process_that_was_killed_holds_nothing(run, holder):
    holder.kill()
    holder.wait()
    assert not is_active_run(run)
    lock = RunLock(run)
    assert lock.left_behind is not None
    assert lock.left_behind.pid == holder.pid
    assert is_active_run(run)
    lock.release()


def test_a_lock_that_was_given_back_is_free(run, holder):
    holder.communicate()
    assert not is_active_run(run)
    lock = RunLock(run)
    assert lock.left_behind is None
    words = json.loads(run.lock.read_text())
    assert (words["host"], words["pid"]) == (socket.gethostname(), os.getpid())
    lock.release()
    assert run.lock.read_text() == ""


def test_a_process_on_another_machine_cannot_be_seen_so_it_counts(run):
    run.lock.write_text(json.dumps({"host": "elsewhere", "pid": 7, "started": "2026-11-23"}))
    with pytest.raises(RunRefused, match=r"Process 7 on elsewhere .* remove lock"):
        RunLock(run)
    run.lock.write_text("{damaged")
    RunLock(run).release()
