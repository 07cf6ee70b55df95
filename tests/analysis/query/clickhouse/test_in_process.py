"""A process with chDB ends as others do, and so do those that are forked from it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support import ROOT

pytest.importorskip("chdb", reason="chDB is not installed")
_ASKS = """
import os, sys, threading
from rexview.analysis.query.clickhouse.database import ChdbDatabase
from rexview.errors import EngineUnreachable
database, begun = ChdbDatabase(None), threading.Event()
database.query("SELECT 1")
"""
_WHILE_THREADS_ASK = """
def ask():
    while True:
        begun.set()
        try:
            database.query("SELECT sum(sipHash64(number)) FROM numbers(3000000)")
        except EngineUnreachable:
            return
for _ in range(3):
    threading.Thread(target=ask, daemon=True).start()
begun.wait()
sys.exit(7)
"""
_IN_A_FORK = """
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
try:
    database.query("SELECT 1")
except EngineUnreachable as error:
    os._exit(7 if "closed" in str(error) else 1)
os._exit(2)
"""


@pytest.mark.parametrize("then", [_WHILE_THREADS_ASK, _IN_A_FORK], ids=["threads", "fork"])
def test_a_process_with_chdb_ends(then):
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _ASKS + then],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 7, ended.stderr
    assert not ended.stderr
