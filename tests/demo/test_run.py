"""The demonstration's run: simulated, repeatable, and nothing that was shown before has changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from support import ROOT

from rexview.models.running.run_folder import list_runs
from rexview.models.running.run_progress import read_progress
from rexview.models.running.run_spec import read_run_spec
from rexview.reviewset import load_review_set
from tools.demo.run import AGAIN, MODEL, write_run

DEMO = ROOT / "assets/demo"
WHAT = ("event", "case", "repeat", "outcome", "spent")


def told(folder: Path) -> tuple[list[str], list[Any], list[Any]]:
    """Return the files of a run, its answers, and what its log says happened.

    Digests in the log depend on who compresses the pictures, and on the scripted server's port.
    """
    files = sorted(path.relative_to(folder).as_posix() for path in (folder / "runs").rglob("*"))
    [run] = list_runs(folder)
    answers, log = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in (run.rows, run.log)
    )
    return files, answers, [{name: line.get(name) for name in WHAT} for line in log]


def test_the_run_comes_out_again(tmp_path: Path) -> None:
    shutil.copytree(DEMO, tmp_path / "demo")
    write_run(tmp_path / "demo", port=0)
    assert told(tmp_path / "demo") == told(DEMO)


def test_it_is_finished_and_says_that_it_is_simulated() -> None:
    [run] = list_runs(DEMO)
    spec, progress = read_run_spec(run), read_progress(run)
    names = {model.id: model.name for model in load_review_set(DEMO).models}
    assert "simulated" in spec.started_by
    assert "simulated" in names[spec.parameters.model]
    assert (progress.state, progress.done, progress.total) == ("finished", 8, 8)


def test_what_is_shown_is_what_was_said_before() -> None:
    review_set = load_review_set(DEMO)
    lines = (DEMO / "answers.jsonl").read_text("utf-8").splitlines()
    before = {(row["case"], row["model"]): row["text"] for row in map(json.loads, lines)}
    for case, second in AGAIN.items():
        shown = next(one for one in review_set.answers_of(case) if one.model == MODEL)
        assert shown.text == before[case, MODEL]
        assert shown.run_id == list_runs(DEMO)[0].id
        assert second in [one.text for one in review_set.repeats_of(case, MODEL)]
