"""A run on the command line that is killed again and again, and what is left of it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

from support import ROOT
from support.review_folder import RAMP, write_review_set

MODEL = "gpt-5-mini"


def write_cases(folder, n):
    """Write a review set of so many cases that share one picture."""
    image = {"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}
    cases = [
        {"id": f"c{number:04}", "question": f"Question of case c{number:04}?", "images": [image]}
        for number in range(1, n + 1)
    ]
    return write_review_set(folder, info={"name": "Run"}, cases=cases, pictures={"one.png": RAMP})


def command(folder, server, *more):
    """Return the command that asks the scripted server about all cases."""
    to = ("--model", MODEL, "--base-url", server.base_url)
    return [sys.executable, "-m", "rexview", "run", str(folder), *to, *more]


def environment(folder):
    """Return the environment of a run that leaves this machine's own folders alone."""
    beside = folder.parent
    return {
        **os.environ,
        "XDG_DATA_HOME": str(beside / "data"),
        "REXVIEW_CACHE": str(beside / "cache"),
        "POLARS_MAX_THREADS": "1",
    }


def run(folder, server, *more, **kwargs):
    """Run the command to its end."""
    return subprocess.run(
        command(folder, server, *more),
        cwd=ROOT,
        env={**environment(folder), **kwargs.pop("env", {})},
        capture_output=True,
        text=True,
        timeout=300,
        **kwargs,
    )


@dataclass
class Left:
    """What a run left: rows and logged replies by case, and what the server was asked."""

    rows: Counter
    replied: Counter
    asked: Counter
    billed: int
    kills: int
    status: int


def killed_run(folder, server, *, cases, kills, at_once, seed=1):
    """Kill a run at random moments, go on with it each time, and at last let it end."""
    draws = random.Random(seed)
    write_cases(folder, cases)
    more = ("--concurrency", str(at_once), "--resume", "--json")
    killed = 0
    while killed < kills:
        asked = len(server.requests())
        process = subprocess.Popen(
            command(folder, server, *more),
            cwd=ROOT,
            env=environment(folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # about evenly over the run; from before the first request to after the last one
        target = asked + draws.randint(0, max(at_once, 2 * (cases - asked) // (kills - killed)))
        while process.poll() is None and len(server.requests()) < target:
            time.sleep(0.005)
        time.sleep(draws.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        ended = process.wait()
        killed += 1
        if ended == 0:  # it was done before
            break
    last = run(folder, server, *more)
    lines = [
        json.loads(line)
        for path in folder.glob("runs/*/log.jsonl")
        for line in path.read_text().splitlines()
    ]
    rows = [
        json.loads(line)
        for path in folder.glob("answers/*.jsonl")
        for line in path.read_text().splitlines()
    ]
    sent = [one for one in server.requests() if one["status"] == 200]
    return Left(
        rows=Counter(row["case"] for row in rows),
        replied=Counter(line["case"] for line in lines if line["event"] == "replied"),
        asked=Counter(one["text"].split("Question of case ")[1][:5] for one in sent),
        billed=len(sent),
        kills=killed,
        status=last.returncode,
    )
