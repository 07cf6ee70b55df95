"""One small review set with every failure in it, and its twin without any, through the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.review_folder import score_rows, write_review_set

from rexview.cli import main
from rexview.vocab import FAILURES, HINT_KINDS, READER_ONLY_FAILURES

IMAGE = {"id": "i", "path": "gone.png", "view": "PA", "width": 1000, "height": 1000}
RIGHT, LEFT = [100, 500, 200, 300], [700, 500, 200, 300]
EFFUSION = {
    "question": "What is abnormal? Mark it with a box.",
    "images": [IMAGE],
    "report": {"findings": "Right pleural effusion. No pneumothorax."},
    "reference_boxes": [{"image": "i", "label": "Right pleural effusion", "box": RIGHT}],
}
GOOD = "There is a right pleural effusion. The heart is normal."
LONG = "The film was taken with the patient upright and the exposure is adequate. " * 2


def box(label: str, place: list[int]) -> dict[str, Any]:
    return {"image": "i", "label": label, "box": place}


WRONG: dict[str, dict[str, Any]] = {
    "laterality_error": {"text": "Left pleural effusion.", "boxes": [box("Effusion", RIGHT)]},
    "token_limit": {"text": "There is a right pleural eff", "finish_reason": None},
    "boxes_missing": {"text": GOOD, "boxes": []},
    "box_misplaced": {"text": GOOD, "boxes": [box("Right pleural effusion", [100, 0, 200, 200])]},
    "box_unrelated": {"text": GOOD, "boxes": [box("Rib fracture", RIGHT)]},
    "hallucination": {"text": GOOD + " There is a left pneumothorax."},
    "omission": {"text": "The heart is normal."},
    "wrong_type": {
        "text": "There is consolidation of the right lower lobe.",
        "boxes": [box("Opacity", RIGHT)],
    },
    "side_incomplete": {"text": "There are bilateral pleural effusions. The heart is normal."},
    "overconfident": {"text": GOOD + " This is definitely heart failure."},
    "verbose": {"text": " ".join([GOOD, *(LONG + f"Remark {n}." for n in range(9))])},
    "terse": {"text": "Right effusion."},
    "failed_extraction": {"text": "All of these.", "choice": None},
    "execution_gap": {"text": GOOD},
    "disagreement": {"text": GOOD},
}
SCORED = {
    "overconfident": {"synthesis": (1, 2)},
    "verbose": {"language": (2, 2)},
    "terse": {"language": (2, 2)},
    "execution_gap": {"process": (5, 5), "execution": (2, 2)},
    "disagreement": {"language": (5, 2)},
}


def write(folder: Path, *, wrong: bool) -> Path:
    """Write one case a failure: two models answer it, ``m`` well and ``g`` as given."""
    cases, answers, scores = [], [], []
    good = {
        "text": GOOD + " There is no pneumothorax. The film is slightly rotated to one side.",
        "finish_reason": "stop",
        "usage": {"output_tokens": 20, "max_output_tokens": 512},
        "boxes": [box("Right pleural effusion", RIGHT)],
    }
    for failure, given in WRONG.items():
        case = {"id": failure, **EFFUSION}
        if failure == "failed_extraction":
            case |= {"question_type": "choice", "options": ["a", "b"], "question": "Which?"}
            good = {**good, "choice": 1}
        cases.append(case)
        for model in "gm":
            answer = {**good, **(given if model == "g" and wrong else {})}
            answers.append({"case": failure, "model": model, **answer})
        for dimension, marks in SCORED.get(failure, {}).items():
            scores += [
                (failure, "g", reader, dimension, mark if wrong else 4)
                for reader, mark in zip("ab", marks, strict=True)
            ]
    answers = [
        {name: value for name, value in answer.items() if name != "usage"}
        if answer.get("finish_reason") is None
        else answer
        for answer in answers
    ]
    return write_review_set(
        folder, info={"name": "All"}, cases=cases, answers=answers, scores=score_rows(*scores)
    )


def failures(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["failures", str(folder), "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_every_failure_is_found_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = failures(write(tmp_path / "wrong", wrong=True), capsys)
    assert {row["failure"] for row in rows} == set(FAILURES) - READER_ONLY_FAILURES == set(WRONG)
    for failure in WRONG:
        own = [row for row in rows if row["case"] == failure == row["failure"]]
        assert own, failure
        assert {row["model"] for row in own} == {"g"}
        for row in own:
            assert list(row)[:7] == [
                *("case", "model", "failure", "source", "kind", "message", "evidence")
            ]
            assert row["message"].endswith(".")
            assert row["evidence"]
    hints = {row["failure"] for row in rows if row["kind"] in HINT_KINDS}
    assert hints >= {"hallucination", "omission", "wrong_type", "overconfident", "verbose", "terse"}


def test_the_twin_without_failures_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures(write(tmp_path / "right", wrong=False), capsys) == []


def test_lines_for_people_tell_hints_from_flags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "wrong", wrong=True)
    rows = failures(folder, capsys)
    assert main(["failures", str(folder)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    hints = sum(row["kind"] in HINT_KINDS for row in rows)
    assert last == f"{len(rows) - hints} flags, {hints} hints"
    assert sum("(suggested)" in line for line in lines) == hints
