"""A small review set as plain files, which each test spoils in its own way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rexview.errors import Problem
from rexview.reviewset import check_review_set, load_review_set
from rexview.schema import ReviewSet

INFO = """\
format: 1
name: Small set
models:
- {id: m1, name: Model 1, max_output_tokens: 512}
- {id: m2, name: Model 2}
readers:
- {id: r1, name: Reader 1}
"""
CASE: dict[str, Any] = {
    "id": "c1",
    "question": "Is there an effusion?",
    "images": [{"id": "pa", "path": "a/pa.png", "view": "PA", "width": 1000, "height": 1200}],
}
ANSWER: dict[str, Any] = {"case": "c1", "model": "m1", "text": "Left effusion."}


class SetFolder:
    """A folder with a review set that has no problems until a test changes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "images" / "a").mkdir(parents=True)
        (folder / "images" / "a" / "pa.png").write_bytes(b"not looked into")
        self.text("reviewset.yaml", INFO)
        self.jsonl("cases", [CASE])

    def text(self, name: str, content: str) -> SetFolder:
        (self.folder / name).write_text(content, encoding="utf-8", newline="")
        return self

    def jsonl(self, table: str, rows: Iterable[Mapping[str, Any]]) -> SetFolder:
        return self.text(f"{table}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def case(self, **changes: Any) -> SetFolder:
        return self.jsonl("cases", [CASE | changes])

    def answer(self, **changes: Any) -> SetFolder:
        return self.jsonl("answers", [ANSWER | changes])

    def load(self) -> ReviewSet:
        return load_review_set(self.folder)

    def problems(self) -> list[Problem]:
        return check_review_set(self.folder)

    def only_problem(self) -> Problem:
        (problem,) = self.problems()
        return problem


@pytest.fixture
def small(tmp_path: Path) -> SetFolder:
    """A review set of one case without problems."""
    folder = tmp_path / "small"
    folder.mkdir()
    return SetFolder(folder)
