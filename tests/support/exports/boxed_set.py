"""A review set whose boxes lie on a frontal film, a lateral and a prior, to be drawn."""

from support.review_folder import RAMP, named, write_review_set

BOXES = {
    "pa": [[10.5, 20.25, 30, 40], [80, 100, 60, 60], [0, 0, 100, 120]],
    "lat": [[33, 44, 20, 10]],
    "old": [[1, 1, 98, 118]],
}
"""By image, of model ``m``; of the second one on ``pa`` 20 x 20 pixels are on the film."""
OTHER_BOX = [60, 61, 7, 9]
"""Of model ``n``, on ``pa``."""
LONG = "\n\n".join(
    f"## Part {part}\nThere is **no** finding of kind {part}, as far as this film can tell. " * 4
    for part in range(60)
)
HOSTILE = "</a:t><script>alert(1)</script> \x07 _x0041_ =1+1 & 5 < 6 胸水 اليسار"


def write_boxed_set(folder, *, cases=1, notice="Simulated: made for a test."):
    """Write the set and return its folder; its cases differ by their ids and questions only."""
    images = [
        {"id": "pa", "path": "pa.png", "view": "PA", "width": 100, "height": 120, "key": True},
        {"id": "lat", "path": "lat.png", "view": "LATERAL", "width": 100, "height": 120},
        {"id": "old", "path": "lost.png", "view": "PA", "width": 100, "height": 120, "prior": True},
    ]
    drawn = [
        {"image": image, "label": f"{image} finding {number}", "box": box, "score": 0.5}
        for image, boxes in BOXES.items()
        for number, box in enumerate(boxes)
    ]
    rows, answers = [], []
    for number in range(1, cases + 1):
        case = f"k{number}"
        rows.append(
            {
                "id": case,
                "question": f"Question {number}: where is the effusion?",
                "images": images,
                "report": {"findings": "A small left effusion.", "impression": HOSTILE},
                "reference_boxes": [{"image": "pa", "label": "truth", "box": [5, 6, 7, 8]}],
            }
        )
        answers.append({"case": case, "model": "m", "text": LONG, "boxes": drawn})
        other = [{"image": "pa", "label": HOSTILE, "box": OTHER_BOX}]
        answers.append({"case": case, "model": "n", "text": HOSTILE, "boxes": other})
    return write_review_set(
        folder,
        info={
            "name": "Boxed set",
            "notice": notice,
            "models": named(m="Model M", n="Model N"),
            "readers": named(ra="Reader A"),
        },
        cases=rows,
        answers=answers,
        scores="case,model,reader,dimension,score\nk1,m,ra,process,5\nk1,m,ra,execution,2\n",
        pictures={"pa.png": RAMP, "lat.png": RAMP},
    )
