"""A small review set with real files: a good image, a missing one, a broken one."""

from support.review_folder import RAMP, named, write_review_set

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
    """Write the set; tests change its files and add to them."""
    write_review_set(
        folder,
        info={
            "name": name,
            "notice": notice,
            "models": named(m="Model M", n="Model N"),
            "readers": named(ra="Reader A"),
        },
        cases=cases,
        answers=ANSWERS,
        scores=SCORES,
        pictures={"one.png": RAMP},
    )
    (folder / "images" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    return folder
