"""A small review set of generated reports: metrics, corrections and a corrected reference."""

from support.review_folder import RAMP, named, write_review_set

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
"""What a text must never become: it stands in every text that comes from a file."""
CASES = [
    {
        "id": "r1",
        "question": "Write the report.",
        "question_type": "report",
        "images": [{"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}],
        "context": {"age": "64", "sex": "F", "indication": "Cough."},
        "report": {
            "findings": "The heart is normal in size. There is a small right pleural effusion. "
            "No pneumothorax. Left lower lobe consolidation.",
            "impression": "Right effusion and left lower lobe pneumonia.",
        },
    },
    {
        "id": "r2",
        "question": f"Write the report. {HOSTILE}",
        "question_type": "report",
        "images": [{"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}],
        "report": {"findings": f"Clear lungs. {HOSTILE}"},
    },
    {
        "id": "r3",
        "question": "Write the report.",
        "question_type": "report",
        "images": [{"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}],
    },
    {
        "id": "o1",
        "question": "Is there an effusion?",
        "question_type": "open",
        "images": [{"id": "i", "path": "one.png", "view": "PA", "width": 100, "height": 120}],
        "report": {"findings": "No effusion."},
    },
]
WRITTEN = {
    ("r1", "m"): "**Findings:** Cardiac silhouette unremarkable. Small left pleural effusion. "
    "No pneumothorax.\n\n**Impression:**\n1. Left effusion.\n2. Rib fracture on the right.",
    ("r1", "n"): "Heart size is normal. There is a small right pleural effusion, left lower lobe "
    "consolidation and no pneumothorax.",
    ("r2", "m"): f"The lungs are clear. {HOSTILE}",
    ("r3", "m"): "Clear lungs.",
    ("o1", "m"): "No effusion.",
}
ANSWERS = [
    {"case": case, "model": model, "text": text, "finish_reason": "stop"}
    for (case, model), text in WRITTEN.items()
]


def _edit(case, model, reader, line, action, original=None, edited=None):
    about = {"case": case, "model": model, "reader": reader, "line": line, "action": action}
    return {**about, "original": original, "edited": edited}


_LEFT = "Small left pleural effusion."
EDITS = [
    _edit("r1", "m", "ra", 1, "keep"),
    _edit("r1", "m", "ra", 2, "substitute", _LEFT, "Small right pleural effusion.")
    | {"severity": 3, "kind": "location", "significance": "significant"}
    | {"comment": "The film shows it on the right."},
    _edit("r1", "m", "ra", 5, "delete", "2. Rib fracture on the right.")
    | {"severity": 2, "kind": "false_finding", "significance": "significant"},
    _edit("r1", "m", "ra", 3, "insert", None, "Left lower lobe consolidation.")
    | {"severity": 4, "kind": "missing_finding", "significance": "significant"},
    _edit("r1", "m", "judge:x", 2, "substitute", _LEFT, "Small right effusion.")
    | {"severity": 2, "kind": "location"},
    _edit("r1", "n", "ra", None, "keep"),
    _edit("r2", "m", "ra", 1, "substitute", f"The lungs are clear. {HOSTILE}", HOSTILE)
    | {"severity": 1, "kind": "an <odd> kind", "significance": "odd <word>", "comment": HOSTILE},
    _edit("r2", "m", "ra", 99, "substitute", f"Gone. {HOSTILE}", HOSTILE),
]
METRICS = (
    "case,model,metric,value,implementation,version,scope,n\n"
    "r1,m,bleu_2,0.21,radeval,2.0,findings,3\n"
    "r1,n,bleu_2,0.64,radeval,2.0,findings,3\n"
    "r2,m,bleu_2,0.4,radeval,2.0,findings,3\n"
    "r1,m,radcliq_v1,1.72,,,,\n"
    "r1,n,radcliq_v1,0.31,,,,\n"
    f'r2,m,"<b>own</b>",-1,"<i>{HOSTILE}</i>",,,\n'
)
REFERENCES = [
    {
        "case": "r1",
        "reader": "ra",
        "findings": "The heart is enlarged. There is a small right pleural effusion. "
        "No pneumothorax. Left lower lobe consolidation.",
        "impression": "Right effusion and left lower lobe pneumonia.",
        "comment": "The heart is at the limit.",
    },
    {"case": "r2", "reader": "rb", "findings": HOSTILE, "comment": HOSTILE},
]


def write_reports(folder, **changes):
    """Write the set; ``changes`` are tables in place of its own."""
    parts = {
        "cases": CASES,
        "answers": ANSWERS,
        "edits": EDITS,
        "metrics": METRICS,
        "references": REFERENCES,
    }
    info = {
        "name": "Reports",
        "notice": "Made for a test.",
        "models": named(m="Model M", n="Model N"),
        "readers": named(ra="Reader A", rb=f"Reader B {HOSTILE}"),
    }
    return write_review_set(folder, info=info, pictures={"one.png": RAMP}, **(parts | changes))
