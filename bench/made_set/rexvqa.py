"""Write a simulated set as ReXVQA's own files: metadata, and predictions of models and readers.

Field names are those of ReXVQA's metadata; tasks are as frequent as in its private test questions
(table 1 of the paper). Everything is simulated.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from bench.made_set.studies import CATEGORIES, NORMAL, Films, made_cases
from bench.made_set.writing import made_answers, model_ids

_PRIVATE_TEST: Final = {
    "presence_assessment": 14_452,
    "location_and_distribution": 2_383,
    "negation_assessment": 15_408,
    "differential_diagnosis": 8_585,
    "geometric_information": 179,
}
_PRESENCE, _NEGATION = "presence_assessment", "negation_assessment"


def _shares() -> tuple[float, ...]:
    """Return the task shares to draw: in normal studies all but negation become presence."""
    total = sum(_PRIVATE_TEST.values())
    drawn = {task: n / total / (1 - NORMAL) for task, n in _PRIVATE_TEST.items()}
    drawn[_NEGATION] = _PRIVATE_TEST[_NEGATION] / total
    drawn[_PRESENCE] = 1 - sum(share for task, share in drawn.items() if task != _PRESENCE)
    return tuple(drawn[task] for task in CATEGORIES)


_RADIOLOGICAL: Final = (
    *("Lung & Pleural Opacity", "Heart", "Tubes and Lines", "Lung & Pleural Lucency", "Rib"),
    *("Aorta", "Lung Volume", "Infectious Disease", "Spine", "Quality of Exams"),
)
"""Categories that questions have in turn, as in table 3 of the paper."""
READERS: Final = 3
READ: Final = 200
"""Number of questions in the reader study."""
_LETTERS: Final = "ABCD"


def write_rexvqa(folder: Path, *, questions: int, models: int, seed: int = 1) -> list[Path]:
    """Write the files; return their paths, the metadata first.

    Models take turns in the format of predictions: ``{id: text}``, JSON Lines, CSV, and two models
    in one ``{model: {id: text}}``. Readers write letters.
    """
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    cases = made_cases(random, 0, questions, Films(0, 2048, 2500), shares=_shares())
    metadata = folder / "test_vqa_data.json"
    metadata.write_text(json.dumps(dict(_entries(cases.table))), encoding="utf-8")
    answers = made_answers(random, cases, models, Films(0, 2048, 2500))
    paths, pair = [metadata], dict[str, dict[str, str | None]]()
    for place, name in enumerate(model_ids(models)):
        own = answers.filter(pl.col("model") == name)
        texts = dict(zip(own["case"], own["text"], strict=True))
        form = place % 5
        path = folder / f"predictions_{name}.{('json', 'jsonl', 'csv')[min(form, 2)]}"
        if form > 2:
            pair[name] = texts
            continue
        _WRITERS[form](path, texts)
        paths.append(path)
    if pair:
        paths.append(folder / "predictions_of_two.json")
        paths[-1].write_text(json.dumps(pair), encoding="utf-8")
    asked = cases.table["id"].to_list()[:READ]
    right = cases.table["correct"].to_list()
    for reader in range(READERS):
        chosen = np.where(random.random(len(asked)) < 0.7, right[: len(asked)], 0)
        letters = {case: _LETTERS[at] for case, at in zip(asked, chosen.tolist(), strict=True)}
        paths.append(folder / f"reader_{reader + 1}.json")
        paths[-1].write_text(json.dumps(letters), encoding="utf-8")
    return paths


def _entries(cases: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, row in enumerate(cases.iter_rows(named=True)):
        tags = {tag["name"]: tag["values"][0] for tag in row["tags"]}
        options = zip(_LETTERS, row["options"], strict=True)
        yield (
            row["id"],
            {
                "question": row["question"],
                "options": [f"{letter}. {words}" for letter, words in options],
                "correct_answer": _LETTERS[row["correct"]],
                "correct_answer_explanation": row["explanation"],
                "task_name": row["category"],
                "category": _RADIOLOGICAL[number % len(_RADIOLOGICAL)],
                "subcategory": tags["subcategory"],
                "class": tags["class"],
                "study_id": row["study_id"],
                "StudyInstanceUid": f"1.2.826.0.1.{row['study_id'].rpartition('-')[2]}",
                "PatientID": row["patient_id"],
                "PatientAge": f"{int(row['context']['age']):03d}Y",
                "PatientSex": row["context"]["sex"],
                "StudyDate": "20200101",
                "Indication": row["context"]["indication"],
                "Findings": row["report"]["findings"],
                "Impression": row["report"]["impression"],
                "ImagePath": [f"../deid_png/{image['path']}" for image in row["images"]],
                "ImageModality": ["DX" for _ in row["images"]],
                "ImageViewPosition": [image["view"] for image in row["images"]],
            },
        )


def _as_json(path: Path, texts: dict[str, str | None]) -> None:
    path.write_text(json.dumps(texts), encoding="utf-8")


def _as_lines(path: Path, texts: dict[str, str | None]) -> None:
    lines = (json.dumps({"id": case, "prediction": text}) for case, text in texts.items())
    path.write_text("\n".join(lines), encoding="utf-8")


def _as_csv(path: Path, texts: dict[str, str | None]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "prediction"))
        writer.writerows(texts.items())


_WRITERS: Final = (_as_json, _as_lines, _as_csv)
