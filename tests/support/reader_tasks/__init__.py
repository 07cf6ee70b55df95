"""A small set with a choice question and a report, for what readers do besides scoring."""

import json

from support.small_set import ANSWERS, CASES, write_set

OPTIONS = ["A. Left", "B. Right", "C. Both"]
CHOICE = {
    **CASES[0],
    "id": "q1",
    "question_type": "choice",
    "category": "presence_assessment",
    "options": OPTIONS,
    "correct": 1,
    "explanation": "Blunted on the right.",
}
REPORT = {**CASES[0], "id": "r1", "question_type": "report", "category": None}
REPORTS = [
    {"case": "r1", "model": "m", "text": "Clear lungs.\nNo effusion.", "finish_reason": "stop"},
    {"case": "r1", "model": "n", "text": "Left effusion.", "finish_reason": "stop"},
]


def write_tasks(folder, *, choices=(CHOICE,), reports=REPORTS, more=(), rules=""):
    """Write the set, or what is changed of it; ``more`` are further answers."""
    if not folder.exists():
        write_set(folder)
    cases = [*CASES, *choices, REPORT]
    for name, rows in (("cases", cases), ("answers", [*ANSWERS, *reports, *more])):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    with (folder / "reviewset.yaml").open("a", encoding="utf-8") as file:
        file.write(rules)
    return folder
