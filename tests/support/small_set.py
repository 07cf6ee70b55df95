"""A small review set with real files: a good image, a missing one, a broken one."""

import json

import cv2
import numpy as np

CASES = [
    {
        "id": f"c{number}",
        "question": f"Question {number}: is there an effusion?",
        "question_type": "open",
        "category": "broad_abnormality",
        "images": [{"id": "i", "path": path, "view": "PA", "width": 100, "height": 120}],
        "report": {"findings": "Right pleural effusion.", "impression": "Effusion."},
    }
    for number, path in ((1, "one.png"), (2, "missing.png"), (3, "broken.png"))
]
ANSWERS = [
    {
        "case": "c1",
        "model": "m",
        "text": "**Left** effusion <script>alert(1)</script>",
        "finish_reason": "stop",
        "boxes": [{"image": "i", "label": "left effusion", "box": [5, 60, 30, 30]}],
    },
    {"case": "c1", "model": "n", "text": "The heart is", "finish_reason": "length"},
    {"case": "c2", "model": "m", "text": "No effusion.", "finish_reason": "stop"},
]
SCORES = "case,model,reader,dimension,score\n" + "".join(
    f"c1,m,ra,{dimension},{score}\n"
    for dimension, score in (("process", 5), ("execution", 2), ("synthesis", 3), ("language", 4))
)


def write_set(folder, *, name="Small set", notice="Made for a test.", cases=CASES):
    (folder / "images").mkdir(parents=True)
    picture = np.tile(np.linspace(0, 255, 100, dtype=np.uint8), (120, 1))
    cv2.imwrite(str(folder / "images" / "one.png"), picture)
    (folder / "images" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    lines = {"cases": cases, "answers": ANSWERS}
    for table, rows in lines.items():
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{table}.jsonl").write_text(text, encoding="utf-8")
    (folder / "scores.csv").write_text(SCORES, encoding="utf-8")
    (folder / "reviewset.yaml").write_text(
        f"format: 1\nname: {name}\nnotice: {notice}\n"
        "models: [{id: m, name: Model M}, {id: n, name: Model N}]\n"
        "readers: [{id: ra, name: Reader A}]\n",
        encoding="utf-8",
    )
    return folder
