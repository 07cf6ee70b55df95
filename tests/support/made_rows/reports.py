"""Rows of a small set of generated reports whose numbers can be worked out by hand.

Six cases of five patients at two sites, three models. By BLEU-2 (findings) model a is best, b and c
follow; RadCliQ-v1, of which lower is better, says the same of a and has b and c the other way.
No case has a reference report, so that the app computes no metric of its own.
"""

from __future__ import annotations

from typing import Any

MODELS = ("a", "b", "c")
CASES: list[dict[str, Any]] = [
    {
        "id": f"r{number}",
        "question": "Write the report.",
        "question_type": "report",
        "patient_id": patient,
        "site": site,
        "normal": normal,
    }
    for number, (patient, site, normal) in enumerate(
        (
            ("p1", "North", True),
            ("p1", "North", False),
            ("p2", "North", False),
            ("p3", "South", True),
            ("p4", "South", False),
            ("p5", "South", None),
        ),
        start=1,
    )
]
ANSWERS = [
    {"case": case["id"], "model": model, "text": f"Report of {model} on {case['id']}."}
    for case in CASES
    for model in MODELS
]
BLEU = {
    "a": (0.9, 0.7, 0.8, 0.6, 0.9, 0.3),
    "b": (0.5, 0.6, 0.4, 0.7, 0.5, 0.3),
    "c": (0.1, 0.2, 0.3, 0.2, 0.1),  # no value for the last case
}
RADCLIQ = {
    "a": (0.5, 0.5, 0.5, 0.5, 0.5, 0.5),
    "b": (2.0, 2.0, 2.0, 2.0, 2.0, 2.0),
    "c": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
}
_IDENTITY = {"implementation": "radeval", "version": "2.0", "scope": "findings"}
METRICS: list[dict[str, Any]] = [
    {"case": case["id"], "model": model, "metric": metric, "value": value, "n": n, **_IDENTITY}
    for metric, given, n in (("bleu_2", BLEU, None), ("radcliq_v1", RADCLIQ, 6))
    for model, values in given.items()
    for case, value in zip(CASES, values, strict=False)
]
METRICS += [
    {"case": "r1", "model": "a", "metric": "bleu_2", "value": 0.2, "implementation": "rexview"},
    {"case": "r1", "model": "a", "metric": "green", "value": None, **_IDENTITY},
]
EDITS = [
    {"case": case, "model": model, "reader": reader, "line": 1, "action": action, "severity": grade}
    for case, model, reader, action, grade in (
        ("r1", "a", "ra", "keep", None),
        ("r2", "a", "ra", "substitute", 1),
        ("r3", "a", "ra", "delete", 3),
        ("r3", "a", "ra", "insert", 2),
        ("r1", "b", "ra", "insert", 4),
        ("r1", "a", "fineradscore:gpt", "substitute", 2),
    )
]
PREFERENCES = [
    {"case": case, "first": first, "second": second, "reader": reader, "preferred": preferred}
    for case, first, second, reader, preferred in (
        ("r1", "a", "b", "ra", "first"),
        ("r1", "b", "a", "rb", "second"),
        ("r2", "a", "b", "ra", "second"),
        ("r3", "a", "b", "ra", "tie"),
        ("r4", "b", "c", "ra", "first"),
        ("r5", "b", "c", "ra", "second"),
    )
]
TABLES = {
    "cases": CASES,
    "answers": ANSWERS,
    "metrics": METRICS,
    "edits": EDITS,
    "preferences": PREFERENCES,
}
