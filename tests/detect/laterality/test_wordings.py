"""Pairs of texts in many wordings, one row of ``wordings.jsonl`` each: both ways on both sides.

``<S>``, ``<C>``, ``<U>``, ``<s>``, ``<L>``, ``<t>`` and ``<T>`` stand for a side (right, Right,
RIGHT, r, R, rt, RT), with an ``o`` for the other one. An answer with the report's side is no error,
with the other side it is.
"""

from __future__ import annotations

import json
from pathlib import Path

from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.detect.laterality.detector import Laterality
from rexview.schema import Answer, Case, Report

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("wordings.jsonl").read_text(encoding="utf-8").splitlines()
]
OTHER = {"right": "left", "left": "right"}


def on(side: str, text: str) -> str:
    for mark, name in (("", side), ("o", OTHER[side])):
        short = f"{name[0]}t"
        for key, said in (
            ("S", name),
            ("C", name.capitalize()),
            ("U", name.upper()),
            ("s", name[0]),
            ("L", name[0].upper()),
            ("t", short),
            ("T", short.upper()),
        ):
            text = text.replace(f"<{mark}{key}>", said)
    return text


def is_error(report: str, answer: str, question: str) -> bool:
    case = Case("c", question or "What is there?", report=Report(report))
    given = Answer("c", "m", text=answer)
    return bool(find_flags_for_answers(case, [given], detectors=[Laterality()]))


@each_row("side", ["right", "left"])
@each_row("row", ROWS, ids=[f"{n}" for n in range(len(ROWS))])
def test_the_side_of_the_report_is_none_and_the_other_is(row, side):
    report, question = on(side, row["report"]), on(side, row.get("question", ""))
    assert not is_error(report, on(side, row["answer"]), question)
    assert is_error(report, on(OTHER[side], row["answer"]), question)
