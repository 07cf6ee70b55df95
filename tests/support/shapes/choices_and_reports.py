"""Multiple choice, report generation, and folders of texts."""

import json
from pathlib import Path

from support.shapes.shape import (
    QUESTION,
    answer,
    put,
    put_csv,
    put_json,
    put_lines,
    put_picture,
    shape,
)

OPTIONS = ["effusion", "nodule", "fracture", "none of these"]
REPORT = "FINAL REPORT\n INDICATION: Cough.\n FINDINGS:\n Small nodule.\n IMPRESSION:\n Nodule.\n"
THREE = ("s1", "s2", "s3")


@shape("choices-long", "table", cases=2, models={"GPT-4o": 2, "LLaVA-Med": 2}, rows_in=4)
def _(folder: Path) -> None:
    said = ["(A)", "The answer is B.", "**A. effusion**\n\nThe sign is clear.", "I cannot tell."]
    rows = [
        [f"q{n // 2}", QUESTION, json.dumps(OPTIONS), "A", ("GPT-4o", "LLaVA-Med")[n % 2], said[n]]
        for n in range(4)
    ]
    columns = "qid|question|options|correct_answer|model|model_answer"
    put_csv(folder / "mcq_long.csv", columns, *rows)


@shape("choices-wide", "table", cases=3, models={"gpt4o": 3, "medgemma": 3}, rows_in=3)
def _(folder: Path) -> None:
    rows = [[1000 + n, QUESTION, *OPTIONS, "A", "A", "(b)"] for n in range(3)]
    columns = "ID|Question|option_A|option_B|option_C|option_D|answer|gpt4o|medgemma"
    put_csv(folder / "mcq_wide.csv", columns, *rows)


@shape("choices-by-number", "table", cases=3, models={"Lingshu-7B": 3}, rows_in=3)
def _(folder: Path) -> None:
    rows = [
        {
            "question_id": f"vqa-{n}",
            "question": QUESTION,
            "choices": OPTIONS,
            "gold_idx": n,
            "model": "Lingshu-7B",
            "raw_output": "<think>Option C is tempting.</think>\n<answer>A</answer>",
            "parsed": "A",
        }
        for n in range(3)
    ]
    put_lines(folder / "preds.jsonl", rows)


@shape(
    "rexvqa",
    *("rexvqa", "table", "images"),
    cases=2,
    models={"MedGemma": 2},
    rows_in=4,
    images_found=2,
    identity={"StudyDate", "StudyInstanceUid"},
)
def _(folder: Path) -> None:
    data = {}
    for n in (1, 2):
        path = f"deid_png/s{n}/0.png"
        put_picture(folder / path)
        data[f"s{n}_q0"] = {
            "question": QUESTION,
            "options": ["A. Yes", "B. No"],
            "correct_answer": "A",
            "task_name": "Presence Assessment",
            "category": "Presence Assessment",
            "study_id": f"s{n}",
            "StudyInstanceUid": f"1.2.826.{n}",
            "PatientID": f"Pt{n}",
            "PatientAge": "061Y",
            "PatientSex": "F",
            "StudyDate": "20170310",
            "Findings": "Small effusion.",
            "Impression": "Effusion.",
            "ImagePath": [f"../{path}"],
            "ImageViewPosition": ["PA"],
        }
    put_json(folder / "metadata/test_vqa_data.json", data)
    rows = [{"id": name, "model": "MedGemma", "prediction": "(A)"} for name in data]
    put_lines(folder / "predictions.jsonl", rows)


@shape(
    "rexrank",
    "rexrank",
    cases=3,
    models={"medversa": 2, "maira": 2},
    rows_in=8,
    unused=1,
    not_run={"maira": 1},
)
def _(folder: Path) -> None:
    data = {
        name: {
            "key_image_path": f"{name}/0.png",
            "image_path": [f"{name}/0.png"],
            "report": "Findings: Clear. Impression: Normal.",
            "section_findings": "Clear.",
            "section_impression": "None",
            "context": "Indication: Cough. Comparison: None.",
            "frontal_lateral": ["Frontal"],
        }
        for name in THREE
    }
    put_json(folder / "ReXRank_IUXray_valid.json", data)
    said = {name: {**one, "model_prediction": answer(name, "x")} for name, one in data.items()}
    put_json(folder / "medversa.json", {name: said[name] for name in THREE[:2]})
    put_json(
        folder / "maira.json", {**said, "s3": {**said["s3"], "model_prediction": float("nan")}}
    )


@shape(
    "predictions-by-id",
    *("table", "predictions"),
    cases=3,
    models={"llava-rad": 2},
    rows_in=6,
    unused=1,
    not_run={"llava-rad": 1},
)
def _(folder: Path) -> None:
    rows = [[name, QUESTION, "Cough."] for name in THREE]
    put_csv(folder / "cases.csv", "case_id|question|indication", *rows)
    texts = {"s1": answer("s1", "llava"), "s2": "", "s3": None}
    put_json(folder / "predictions_llava-rad.json", texts)


@shape("predictions-by-model", "predictions", cases=3, models={"gpt-4.1": 3, "maira": 1}, rows_in=4)
def _(folder: Path) -> None:
    texts = {name: answer(name, "gpt") for name in THREE}
    put_json(folder / "all.json", {"gpt-4.1": texts, "maira": {"s1": answer("s1", "maira")}})


@shape(
    "reports-in-folders",
    "reports",
    cases=2,
    models={"model_a": 2, "model_b": 2},
    rows_in=6,
)
def _(folder: Path) -> None:
    for source in ("reference", "model_a", "model_b"):
        for name in ("s1", "s2"):
            put(folder / f"reports/{source}/{name}.txt", f"FINDINGS: {source} says {name}.\n")


@shape(
    "mimic-folders",
    *("images", "metadata", "reports"),
    cases=2,
    rows_in=4,
    images_found=2,
    kept={"study_id"},
    identity={"StudyDate"},
    texts=["Small nodule."],
    unread={"mimic/LICENSE.txt"},
)
def _(folder: Path) -> None:
    root = folder / "mimic"
    rows = []
    for n in (1, 2):
        study = f"files/p10/p1000003{n}/s5041426{n}"
        put_picture(root / study / f"aaaa-{n}.jpg", 60 + n)
        put(root / f"{study}.txt", REPORT)
        rows.append([f"aaaa-{n}", f"1000003{n}", f"5041426{n}", "PA", "21800506"])
    columns = "dicom_id|subject_id|study_id|ViewPosition|StudyDate"
    put_csv(root / "mimic-cxr-2.0.0-metadata.csv", columns, *rows)
    put(root / "LICENSE.txt", "Invented data; you may use them.\n")
