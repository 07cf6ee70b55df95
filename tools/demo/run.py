"""Make the demonstration's run: a simulated model is asked four cases twice by the app's own code.

The tests' scripted server answers. Place and time of the run are removed afterwards, so that the
same input gives the same files.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rexview.analysis.run_models.run_request import RunRequest, build_run_task, plan_run
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.running.model_run import ModelRun, start_run
from rexview.models.running.run_folder import RunFolder
from rexview.reviewset import load_review_set
from rexview.settings import Settings

MODEL: Final = "medical-4b"
RUN: Final = "20260302-120000-medical-4b-demo"
WHEN: Final = "2026-03-02T12:00:00+00:00"
PORT: Final = 9700
"""Port of the scripted server: the address is a part of the request, so it stays the same."""
AGAIN: Final = {
    "c10": "There is a 2.5 cm nodule in the right upper lobe. CT chest is recommended.",
    "c25": "Consolidation of the left upper lobe, suggestive of pneumonia. No effusion.",
    "c27": "Small left pleural effusion. No pneumothorax.",
    "c35": "Moderate right pleural effusion, not significantly changed.",
}
"""The second answers, by case; the first ones are those already in the demo, so that nothing shown
or scored changes."""


def write_run(folder: Path, *, port: int = PORT) -> None:
    """Make the run again in a demonstration set that has its tables and pictures.

    With another port of the scripted server, the address and everything derived from it differ.
    """
    for part in ("answers", "runs"):
        shutil.rmtree(folder / part, ignore_errors=True)
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "set"
        shutil.copytree(folder, made)
        run = _asked(made, Path(place) / "cache", port)
        run.lock.unlink()
        run.control.unlink()
        for name in (f"answers/{RUN}.jsonl", f"runs/{RUN}/log.jsonl"):
            lines = (made / name).read_text("utf-8").splitlines()
            rows = [json.dumps(_told(json.loads(line)), ensure_ascii=False) for line in lines]
            _put(folder / name, "".join(f"{row}\n" for row in rows))
        for name in ("run.json", "progress.json"):
            value = _told(json.loads((run.path / name).read_text("utf-8")))
            _put(folder / "runs" / RUN / name, json.dumps(value, indent=1) + "\n")


def _asked(made: Path, cache: Path, port: int) -> RunFolder:
    """Ask the scripted server; return the run's folder."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    from support import model_server

    review_set = load_review_set(made)
    rules = []
    for case_id, second in AGAIN.items():
        case = review_set.case(case_id)
        if case is None:
            raise KeyError(case_id)
        first = next(one.text for one in review_set.answers_of(case_id) if one.model == MODEL)
        rules.append({"match": case.question, "turns": [{"text": first}, {"text": second}]})
    with model_server.started(rules, port) as server:
        wanted = RunRequest(
            model=MODEL,
            api="chat",
            base_url=server.base_url,
            cases=tuple(AGAIN),
            repeats=2,
            concurrency=1,
            max_output_tokens=512,
        )
        plan = plan_run(review_set, wanted)
        spec = replace(plan.spec, id=RUN, created=WHEN, started_by="Demonstration (simulated)")
        plan = replace(plan, spec=spec, run=RunFolder(made, RUN))
        asking = build_run_task(review_set, spec, 100, Settings(cache_folder=cache))
        endpoint = Endpoint(spec.parameters)
        lock = start_run(plan)
        try:
            ended = ModelRun(spec, plan.run, asking, endpoint).work()
        finally:
            lock.release()
            endpoint.close()
    if ended.done != ended.total:
        raise RuntimeError(f"the run did not end: {ended}")
    return plan.run


_FIXED: Final[dict[str, Any]] = {
    **dict.fromkeys(("at", "started", "updated"), WHEN),
    "latency_s": 1.0,
    "pid": 1,
    "host": "simulated",
    "per_minute": None,
}


def _told(value: Any) -> Any:
    """Remove place and time from JSON."""
    if isinstance(value, list):
        return [_told(one) for one in value]
    if not isinstance(value, dict):
        return value
    told = {}
    for name, one in value.items():
        if name == "created":
            told[name] = WHEN if isinstance(one, str) else 1_772_452_800
        elif name == "seconds_left":
            told[name] = None
        elif name in _FIXED and one is not None:
            told[name] = _FIXED[name]
        else:
            told[name] = _told(one)
    return told


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
