"""Servers as the tests begin them: with their imports done, and else as any other."""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from support.forked import ForkedProcess

from bench import serving

APP = """
import os, sys, time
print("argv", sys.argv[1:], "cwd", os.getcwd(), "told", os.environ.get("TOLD"), time.tzname[0])
print("path", sys.path[:2], "fds", len(os.listdir("/proc/self/fd")) < 20, flush=True)
from starlette.applications import Starlette
import streamlit as st
app = st.App(__file__)
"""


@pytest.fixture
def served(tmp_path):
    """Return a function that begins a small app and gives its process, its address and its log."""
    script = tmp_path / "app.py"
    script.write_text(APP, encoding="utf-8")
    begun = []

    def begin(name, **environment):
        log = tmp_path / f"{name}.txt"
        options = {"server.fileWatcherType": "none"}
        environment = {"TOLD": name, "TZ": "UTC+3", **environment}
        process, url = serving.start(
            script, "its-argument", options=options, environment=environment, log=log
        )
        begun.append(process)
        return process, url, log

    yield begin
    for process in begun:
        serving.stop(process)


@pytest.mark.skipif(sys.platform != "linux", reason="Processes are forked on Linux only.")
def test_a_forked_server_is_as_any_other(served, monkeypatch):
    said, ended = {}, {}
    for name, begins in (("forked", serving.begin_process), ("plain", subprocess.Popen)):
        monkeypatch.setattr(serving, "begin_process", begins)
        process, url, log = served(name)
        assert isinstance(process, ForkedProcess) == (name == "forked")
        assert process.poll() is None
        with urllib.request.urlopen(url) as answer:
            assert answer.status == 200
        process.terminate()
        ended[name] = process.wait(60)
        text = log.read_text(encoding="utf-8")
        said[name] = text.replace(url, "URL").replace(f"told {name}", "told")
        assert f"told {name}" in text
    assert said["forked"] == said["plain"]
    assert ended["forked"] == ended["plain"]


@pytest.mark.skipif(sys.platform != "linux", reason="Processes are forked on Linux only.")
def test_a_killed_and_a_halted_one_say_so(served):
    process, _, _ = served("one")
    other, _, _ = served("other")
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.2)
    process.kill()
    assert process.wait(60) == process.poll() == -signal.SIGKILL
    assert not Path(f"/proc/{process.pid}").exists(), "it was waited for"
    process.kill()
    assert other.poll() is None
    template = int(Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[1])
    assert os.getpgid(other.pid) == os.getpgid(template), "who ends the group ends it, too"


def test_one_that_python_begins_another_way_is_no_fork(served, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('customized')", encoding="utf-8")
    process, _, log = served("custom", PYTHONPATH=str(tmp_path))
    assert isinstance(process, subprocess.Popen)
    assert log.read_text(encoding="utf-8").startswith("customized")
