"""A set whose models were asked the same several times, and contradict themselves in part."""

import json

from support.review_folder import RAMP, named, write_review_set

OPTIONS = ["Pneumothorax", "Cardiomegaly"]
IMAGE = {"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}
CASES = [
    {"id": "c1", "question": "Is there an effusion?", "images": [IMAGE], "patient_id": "p1"},
    {"id": "c2", "question": "Which?", "question_type": "choice", "options": OPTIONS, "correct": 0},
    {"id": "c3", "question": "Is there an opacity?"},
    {"id": "c4", "question": "Is there a fracture?"},
    {"id": "c5", "question": "Which?", "question_type": "choice", "options": OPTIONS, "correct": 1},
]
TEXTS = {
    ("c1", "m"): [
        "Left pleural effusion.",
        "**Right** pleural effusion <b>!</b>",
        "Left effusion.",
    ],
    ("c1", "n"): ["Right pleural effusion."],
    ("c2", "m"): [0, 1, None],
    ("c2", "n"): [0, 0, None],
    ("c3", "m"): ["Left opacity.", "No right opacity.", "Bilateral opacities."],
    ("c3", "n"): ["Left rib fracture.", "Right pneumothorax.", "No left effusion."],
    ("c4", "m"): ["Right rib fracture."],
    ("c5", "m"): [1, 1, 1],
}
"""What was said each time, by case and model: a text, or the option chosen."""
OPPOSED = {("c1", "m")}
CHANGED = {("c2", "m")}


def write_repeated(folder, **info):
    """Write the set: the newest run as parts of ``answers/``, an older one in the file."""
    write_review_set(
        folder,
        info={"name": "Asked again", "models": named(m="Model M", n="Model N"), **info},
        cases=CASES,
        answers=list(_rows("old", "2025-01-01", reverse=True)),
        pictures={"one.png": RAMP},
    )
    (folder / "answers").mkdir()
    for model in ("m", "n"):
        rows = [row for row in _rows("new", "2025-02-01") if row["model"] == model]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / "answers" / f"{model}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _rows(run, created, *, reverse=False):
    for (case, model), given in TEXTS.items():
        for repeat, said in enumerate(reversed(given) if reverse else given, start=1):
            row = {"case": case, "model": model, "run_id": run, "created": created}
            row |= {"text": said} if isinstance(said, str) else {"text": "", "choice": said}
            if isinstance(said, int):
                row["text"] = OPTIONS[said]
            yield row | ({"repeat": repeat} if repeat > 1 else {}) | {"finish_reason": "stop"}
