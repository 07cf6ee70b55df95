"""A review set whose answers a judge is asked about, and much that the judge must not see."""

from support.review_folder import RAMP, write_review_set

REPORT = {"findings": "Small right pleural effusion of the report.", "impression": "Effusion."}
IMAGE = {"id": "pa", "path": "one.png", "view": "PA", "width": 100, "height": 120, "key": True}
CASES = [
    {
        "id": f"case-{number}",
        "question": f"Question {number}: is there an effusion?",
        "category": "broad_abnormality",
        "tags": {"region": ["hidden tag"]},
        "difficulty": "hidden difficulty",
        "patient_id": "hidden patient",
        "study_id": "hidden study",
        "site": "hidden site",
        "context": {"age": "64", "sex": "F", "indication": "Dyspnoea."},
        "report": REPORT,
        "images": [IMAGE],
        "reference_boxes": [
            {"image": "pa", "label": "hidden reference box", "box": [1, 2, 3, 4], "side": "right"}
        ],
        "more": "hidden field",
    }
    for number in (1, 2)
] + [
    {
        "id": "case-3",
        "question": "Which of these is seen?",
        "question_type": "choice",
        "options": ["Pneumothorax", "Cardiomegaly"],
        "correct": 0,
        "explanation": "hidden explanation of the truth",
        "report": REPORT,
        "images": [IMAGE],
    }
]
ANSWERS = [
    {
        "case": "case-1",
        "model": "zebu-7b",
        "text": "As Zebu 7B I see a LEFT pleural\neffusion, “large”. GPT-4o would agree.",
        "finish_reason": "stop",
        "usage": {"output_tokens": 777_777},
        "boxes": [{"image": "pa", "label": "effusion by Zebu 7B", "box": [10, 60, 30, 30]}],
        "run_id": "hidden-run",
        "prompt_id": "hidden-prompt",
        "more": "hidden field",
    },
    {"case": "case-1", "model": "okapi", "text": "Normal, says okapi.", "finish_reason": "stop"},
    {"case": "case-2", "model": "zebu-7b", "text": "The heart is", "finish_reason": "length"},
    {"case": "case-2", "model": "okapi", "text": "", "finish_reason": "error", "error": "hidden"},
    {
        "case": "case-3",
        "model": "okapi",
        "text": "B, as I said.",
        "choice": 1,
        "explanation": "The heart is wide, says Okapi.",
        "finish_reason": "stop",
    },
]
HIDDEN = (
    *("zebu", "okapi", "gpt-4o", "hidden", "777777", "777,777", "Peer Reader", "length"),
    *("case-1", "case-2", "case-3", "detector", "metric", "one.png"),
)
"""None of it may be sent, in capitals or not."""
SCORES = "case,model,reader,dimension,score,comment\n" + "".join(
    f"case-1,zebu-7b,peer,{one},5,hidden comment\n" for one in ("process", "execution")
)
FLAGS = (
    "case,model,reader,failure,verdict,comment\n"
    "case-1,zebu-7b,peer,laterality_error,confirmed,hidden comment\n"
)
METRICS = "case,model,metric,value\ncase-1,zebu-7b,hidden_metric,0.123\n"


def write_judged(folder, *, protocol=None, **tables):
    """Write the set; ``protocol`` are rules of the study, ``tables`` are added or replaced."""
    info = {
        "name": "Judged hidden set",
        "models": [{"id": "zebu-7b", "name": "Zebu 7B"}, {"id": "okapi", "name": "Okapi"}],
        "readers": [{"id": "peer", "name": "Peer Reader"}],
        **({"protocol": protocol} if protocol else {}),
    }
    parts = {
        "cases": CASES,
        "answers": ANSWERS,
        "scores": SCORES,
        "flags": FLAGS,
        "metrics": METRICS,
        **tables,
    }
    return write_review_set(folder, info=info, pictures={"one.png": RAMP}, **parts)


def opinion(failures=(), scores=4, **changes):
    """Return what a judge says: these failures, by name with a quote; one score for all."""
    found = dict(failures)
    names = ("laterality_error", "hallucination", "omission", "token_limit")
    said = {
        "failures": {
            one: {"present": one in found, "reason": f"Of {one}.", "quote": found.get(one, "")}
            for one in names
        },
        "scores": {
            one: {"score": scores, "reason": f"Of {one}."}
            for one in ("process", "execution", "synthesis", "language")
        },
    }
    return said | changes
