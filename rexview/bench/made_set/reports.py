"""A made set of generated reports with metric values: shaped as ReXrank's test sets are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from rexview.bench.made_set.writing import MadeSet, make_set

METRICS: Final = (
    *(("bleu_2", 0.2, 0.08), ("bertscore", 0.4, 0.1), ("sembscore", 0.43, 0.18)),
    *(("radgraph_f1", 0.19, 0.1), ("radcliq_v1", 1.1, 0.3), ("ratescore", 0.52, 0.1)),
    *(("green", 0.46, 0.2), ("fineradscore", 2.2, 0.9)),
)
"""Name, mean and spread of each metric, about as ReXrank prints them."""
_LOWER_IS_BETTER: Final = frozenset({"radcliq_v1", "fineradscore"})
_IDENTITY: Final = {"implementation": "made", "version": "1", "scope": "findings"}
_OF_CHOICES: Final = ("options", "correct", "explanation", "category")


def make_reports(folder: Path, studies: int, models: int, *, seed: int = 1) -> None:
    """Write a set of so many studies, each with a report of every model and all its metrics.

    Studies differ in how hard they are, and metrics of one report go together.
    """
    make_set(MadeSet(studies, models, pictures=0, seed=seed, scored=False), folder)
    cases = _rows(folder / "cases.jsonl")
    for number, case in enumerate(cases):  # each of a patient of its own: the most there is to draw
        case |= {"question": "Write the report.", "question_type": "report"}
        case |= {"study_id": f"study-{number:05d}", "patient_id": f"patient-{number:05d}"}
    _write(folder / "cases.jsonl", cases)
    answers = _rows(folder / "answers.jsonl")
    _write(folder / "answers.jsonl", answers)
    random = np.random.default_rng(seed)
    names = list(dict.fromkeys(answer["model"] for answer in answers))
    good = np.linspace(-0.5, 0.5, len(names))
    of_study = random.normal(0, 0.6, len(cases))
    values: list[dict[str, Any]] = []
    for case, hard in zip(cases, of_study, strict=True):
        for name, strength in zip(names, good, strict=True):
            own = strength - hard + random.normal(0, 0.6)
            for metric, mean, wide in METRICS:
                sign = -1 if metric in _LOWER_IS_BETTER else 1
                value = mean + wide * (sign * own + random.normal(0, 0.5))
                row = {"case": case["id"], "model": name, "metric": metric} | _IDENTITY
                values.append(row | {"value": round(max(float(value), 0.01), 4)})
    _write(folder / "metrics.jsonl", values)


def _rows(path: Path) -> list[dict[str, Any]]:
    """Read a table without what only choice questions have."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{key: row[key] for key in row if key not in (*_OF_CHOICES, "choice")} for row in rows]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
