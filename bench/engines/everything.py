"""A small simulated set with rows of every kind, many gaps, and difficult values."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from rexview.analysis.case.comments import CommentCount
from rexview.vocab import DIMENSIONS, EDIT_ACTIONS, EDIT_KINDS, FAILURES, IMAGE_DIMENSIONS

Row = dict[str, Any]
MODELS: Final = ("g", "m", "x:1", "it's \\ %")
READING_MODEL: Final = "dr model"
"""A model of kind reader: its answers are a person's."""
READERS: Final = ("r1", "r2", "z:%", "g")
"""The last one has the same id as a model."""
OPTIONS: Final = (
    ("Left pleural effusion", "Right pleural effusion", "No effusion", "Pneumothorax"),
    ("Yes", "No"),
)
_CATEGORIES: Final = ("broad_abnormality", "diagnostic_reasoning", "own 'words'")
_SITES: Final = ("A", "b", "B", "Zürich \\ 'x'", "漢字")
_TAGS: Final = {
    "region": ("pleura", "lung: left", "heart"),
    "sign": ("air", "flu'id"),
    "a:b": ("1",),
}
_TEXTS: Final = (
    "There is a right pleural effusion.",
    "Left pneumothorax. No effusion.",
    "The heart is large (see box). 100 % sure_ly.",
    "Possible left nodule. ÖDEM, straße, K 3.",
    "No right pneumothorax, no fracture. [a-z] \\d+ .* 'quoted'",
    "Bilateral effusions; ſee the left side. 😀 <b>bold</b>",
    "",
    None,
)
_REPORTS: Final = ("Left pleural effusion.", "Right pneumothorax. Heart normal.", "Normal. É", None)
_QUESTIONS: Final = ("Any effusion?", "What is wrong with the heart?", "Draw a box. No (see)?")
_METRICS: Final = (
    ("bleu_2", "rexview", "1", "findings"),
    ("bleu_2", None, None, None),
    ("radcliq_v1", "radeval", "2.0", "findings"),
    ("own 'metric'", "x", None, "impression"),
)
_JUDGES: Final = (("judge-x", "judge-1"), ("judge:y%", "judge-1"), ("judge-x", "judge-0"))


class EverythingSet:
    """Rows of a simulated set, the same for each seed. Half of the cases have readers' entries."""

    def __init__(self, cases: int = 120, seed: int = 11) -> None:
        self._random = random.Random(seed)  # noqa: S311 - not a secret
        self.tables: dict[str, list[Row]] = {
            name: []
            for name in (
                *("cases", "answers", "scores", "flags", "metrics", "edits", "choices"),
                *("preferences", "opinions", "decisions"),
            )
        }
        self.comments: dict[str, CommentCount] = {}
        for number in range(cases):
            self._add_case(f"c{number:03d}" if number % 9 else f"c'{number}\\ %: ö")

    def write(self, folder: Path) -> Path:
        """Write the set's files, and return its folder."""
        (folder / "images").mkdir(parents=True)
        models: list[Row] = [{"id": name, "name": f"Model {name}"} for name in MODELS]
        models.append({"id": READING_MODEL, "name": "Dr Model", "kind": "reader"})
        readers = [{"id": name, "name": "Dr Same"} for name in READERS]
        info = {"format": 1, "name": "Everything", "models": models, "readers": readers}
        (folder / "reviewset.yaml").write_text(json.dumps(info), encoding="utf-8")
        ramp = np.tile(np.arange(64, dtype=np.uint8), (48, 1))
        (folder / "images" / "a.png").write_bytes(cv2.imencode(".png", ramp)[1].tobytes())
        for name, rows in self.tables.items():
            kept = ({key: value for key, value in row.items() if value is not None} for row in rows)
            text = "".join(f"{json.dumps(row)}\n" for row in kept)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        return folder

    def _add(self, table: str, **row: Any) -> None:
        self.tables[table].append(row)

    def _maybe(self, share: float) -> bool:
        return self._random.random() < share

    def _one(self, values: Iterable[Any]) -> Any:
        return self._random.choice(tuple(values))

    def _when(self, month: int) -> str | None:
        day = f"2026-{month:02d}-{self._random.randint(1, 9):02d}T23:30:00+00:00"
        return None if self._maybe(0.3) else day

    def _add_case(self, case: str) -> None:
        kind = self._one(("open", "choice", "choice", "report", "report"))
        options = self._one(OPTIONS) if kind == "choice" else None
        row: Row = {
            "id": case,
            "question": self._one(_QUESTIONS),
            "question_type": kind,
            "category": self._one((*_CATEGORIES, None)),
            "difficulty": self._one(("easy", "hard", "own words", None)),
            "site": self._one((*_SITES, None)),
            "normal": self._one((True, False, None)),
            "patient_id": self._one((*(f"p{n}" for n in range(25)), None)),
            "study_id": self._one(("s1", "s2", None)),
            "report": {"findings": self._one(_REPORTS), "impression": self._one(_REPORTS)},
            "images": [{"id": "i", "path": "a.png", "view": "PA", "width": 64, "height": 48}],
            "options": list(options) if options else None,
            "correct": self._random.randrange(len(options))
            if options and self._maybe(0.85)
            else None,
            "tags": {
                name: self._random.sample(values, self._random.randint(1, len(values)))
                for name, values in _TAGS.items()
                if self._maybe(0.5)
            },
        }
        self._add("cases", **row)
        models = self._random.sample(MODELS, self._random.choice((0, 1, 2, 3, 4, 4)))
        models += [READING_MODEL] if self._maybe(0.3) else []
        looked_at = self._maybe(0.5)
        for model in models:
            self._add_answers(row, model)
            if looked_at:
                self._add_said_of_answer(row, model)
            self._add_values(row, model)
        if looked_at:
            self._add_said_of_case(row, models)

    def _add_answers(self, case: Row, model: str) -> None:
        about = {"case": case["id"], "model": model}
        pictures = ["a.png"] * self._one((0, 0, 0, 1, 2))
        for run in range(self._one((1, 1, 2))):
            for repeat in range(1, 1 + self._one((1, 1, 1, 3))):
                choice = self._random.randrange(5) if case["options"] and self._maybe(0.8) else None
                if choice is not None and self._maybe(0.4):
                    choice = case["correct"]
                self._add(
                    "answers",
                    **about,
                    run_id=f"run {run}",
                    repeat=repeat,
                    text=self._one(_TEXTS),
                    choice=choice,
                    finish_reason=self._one(("stop",) * 6 + ("length", "error", "refused")),
                    created=f"2026-0{run + 1}-{self._random.randint(1, 28):02d}T08:00:00+00:00",
                    images=pictures or None,
                    boxes=[{"image": "i", "label": "effusion", "box": [9, 9, 20, 20]}]
                    if self._maybe(0.2)
                    else None,
                )
        self._pictures = len(pictures)

    def _add_said_of_answer(self, case: Row, model: str) -> None:
        about = {"case": case["id"], "model": model}
        for reader in self._random.sample(READERS, self._random.randint(0, 3)):
            self._add_scores(about, reader, self._pictures)
            for failure in self._random.sample(tuple(FAILURES)[:9], self._random.randint(0, 2)):
                verdict = self._one(("confirmed", "confirmed", "rejected"))
                self._add("flags", **about, reader=reader, failure=failure, verdict=verdict)
        if case["question_type"] == "report":
            self._add_edits(about)

    def _add_values(self, case: Row, model: str) -> None:
        about = {"case": case["id"], "model": model}
        if case["question_type"] == "report":
            self._add_metrics(about)
        if self._maybe(0.4):
            self._add_opinions(about)

    def _add_scores(self, about: Row, reader: str, pictures: int) -> None:
        when = self._when(3)
        for dimension in DIMENSIONS:
            places: Iterable[int | None] = (None,)
            if dimension in IMAGE_DIMENSIONS:
                places = range(pictures)
            for place in places:
                if self._maybe(0.8):
                    score = self._random.randint(1, 5) if self._maybe(0.95) else None
                    comment = "own 'words'" if self._maybe(0.1) else None
                    given = {"dimension": dimension, "score": score, "image": place}
                    self._add(
                        "scores", **about, reader=reader, **given, created=when, comment=comment
                    )

    def _add_metrics(self, about: Row) -> None:
        for metric, implementation, version, scope in _METRICS:
            if self._maybe(0.7):
                value = self._one((None, *(round(self._random.random(), 3) for _ in range(6))))
                named = {"implementation": implementation, "version": version, "scope": scope}
                together = self._one((None, 30, 60)) if scope else None
                self._add("metrics", **about, metric=metric, value=value, **named, n=together)

    def _add_edits(self, about: Row) -> None:
        for reader in self._random.sample((*READERS, None, "fineradscore:gpt"), 2):
            for line in range(self._one((0, 1, 3))):
                action = self._one(EDIT_ACTIONS)
                severity = self._one((None, 0, 1, 2, 3, 4)) if action != "keep" else None
                kind = self._one((*EDIT_KINDS, "own 'kind'", None)) if action != "keep" else None
                given = {"line": line + 1, "action": action, "severity": severity, "kind": kind}
                self._add("edits", **about, reader=reader, **given, created=self._when(4))

    def _add_opinions(self, about: Row) -> None:
        for judge, prompt in _JUDGES:
            named = {**about, "judge": judge, "prompt_id": prompt, "created": self._when(5)}
            for failure in self._random.sample(tuple(FAILURES)[:4], 2):
                self._add("opinions", **named, failure=failure, present=self._maybe(0.5))
            for dimension in self._random.sample(DIMENSIONS[:3], 1):
                self._add(
                    "opinions", **named, dimension=dimension, score=self._random.randint(1, 5)
                )

    def _add_said_of_case(self, case: Row, models: list[str]) -> None:
        about = {"case": case["id"]}
        if self._maybe(0.6):
            self.comments[case["id"]] = CommentCount(
                self._random.randint(1, 3), self._random.randint(0, 1)
            )
        if case["options"]:
            for reader in self._random.sample(READERS, self._random.randint(0, 2)):
                choice = self._random.randrange(len(case["options"]))
                self._add("choices", **about, reader=reader, choice=choice)
        elif case["question_type"] == "report" and len(models) > 1:
            for reader in self._random.sample(READERS, 2):
                first, second = self._random.sample(models, 2)
                preferred = self._one(("first", "second", "tie"))
                named = {"first": first, "second": second, "reader": reader}
                self._add("preferences", **about, **named, preferred=preferred)
        for meeting in ("m1", "m' 2"):
            if self._maybe(0.2):
                named = {"meeting": meeting, "meeting_name": f"Meeting {meeting}", "reader": "r1"}
                self._add(
                    "decisions",
                    **about,
                    model=self._one((None, *models)),
                    **named,
                    decision=self._one(("retrain", "accept", "Ask: the 'vendor'", None)),
                    failure=self._one(("none", "hallucination", None)),
                    severity=self._one((None, 2)),
                    done=self._one((True, False, None)),
                )
