"""A review set with candidate questions: scored by a model and a person, some decided on."""

from rexview.vocab import CRITERIA
from support.review_folder import RAMP, named, write_review_set

QUESTION = "Which costophrenic angle is blunted, and what does it hold?"
COMPARING = "Has the effusion increased since the last radiograph?"
PICTURES = {"one.png": RAMP, "two.png": RAMP, "before.png": RAMP}
CASES = [
    {
        "id": f"c{number}",
        "question": "Describe the study.",
        "study_id": f"s{number}",
        "patient_id": f"p{number}",
        "context": {"age": "64", "indication": "Cough."} if number == 1 else {},
        "report": {"findings": "Right pleural effusion.", "impression": "Effusion."},
        "images": [{"id": "now", "path": "one.png", "view": "PA"}, *earlier],
        "reference_boxes": [{"image": "now", "label": "effusion", "box": [5, 60, 30, 30]}],
    }
    for number, earlier in (
        (1, []),
        (2, [{"id": "before", "path": "before.png", "view": "PA", "prior": True}]),
        (3, [{"id": "before", "path": "missing.png", "view": "PA", "prior": True}]),
        (4, [{"id": "before", "path": "before.png", "view": "LATERAL", "prior": True}]),
    )
]


def candidate(case, name, question, **more):
    """A row of candidates, proposed by a model."""
    given = {"source": "model", "by": "writer", "prompt_id": "propose-1", "run_id": "r1"}
    return {"case": case, "candidate": name, "question": question, **given, **more}


def rating(case, name, by, *scores, source="model", **more):
    """A row of candidate_ratings, its scores in the order of the criteria."""
    given = dict(zip(CRITERIA, scores, strict=False))
    return {"case": case, "candidate": name, "source": source, "by": by, **given, **more}


CANDIDATES = [
    candidate("c1", "q-low", "What is in the left apex?", category="broad_abnormality"),
    candidate("c1", "q-high", QUESTION, category="diagnostic_reasoning"),
    candidate("c1", "q-unscored", "Is the heart enlarged?", category="measurement_temporal"),
    *(candidate(f"c{n}", "q-compare", COMPARING) for n in (1, 2, 3, 4)),
    candidate("c2", "q-same", f"{QUESTION} Draw a bounding box around it."),
]
RATINGS = [
    rating("c1", "q-low", "scorer", 2, 3, 2, 4, stated_total=13, risk=True),
    rating("c1", "q-high", "scorer", 5, 4, 4, 5, stated_total=18, risk=False),
    rating("c1", "q-high", "anna", 4, 4, 3, 5, source="reader"),
    rating("c1", "q-compare", "scorer", 3, 3, 3, 3),
    rating("c2", "q-same", "scorer", 5, 4, 4, 4, stated_total=17),
]
TAGS = [
    {
        "case": "c1",
        "candidate": "q-high",
        "source": source,
        "by": by,
        "tags": {"laterality": sides, "subtype": ["None"]},
    }
    for source, by, sides in (("model", "scorer", ["Left"]), ("reader", "anna", ["Right", "Left"]))
]
SELECTIONS = [
    {
        "case": "c1",
        "candidate": "q-high",
        "reader": "anna",
        "decision": "chosen",
        "category": "broad_abnormality",
        "created": "2026-01-02T10:00:00Z",
    },
    {"case": "c1", "candidate": "q-low", "reader": "anna", "decision": "rejected"},
]


def write_candidate_set(folder, *, pictures=PICTURES, **tables):
    """Write the set; ``tables`` stand for those of the same name."""
    given = {
        "cases": CASES,
        "candidates": CANDIDATES,
        "candidate_ratings": RATINGS,
        "candidate_tags": TAGS,
        "selections": SELECTIONS,
    }
    info = {"name": "Candidates", "notice": "Made for a test.", "readers": named(anna="Anna")}
    return write_review_set(folder, info=info, pictures=pictures, **(given | tables))
