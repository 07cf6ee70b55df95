"""A small review set of generated reports by two models, some of which cannot be compared."""

from support.review_folder import named, write_review_set

FINDINGS = "Small right pleural effusion. Heart size is normal."
IMPRESSION = "Right effusion."
CASES = [
    {
        "id": case,
        "question": "Write the report.",
        "question_type": "report",
        "patient_id": f"patient-of-{case}",
        "context": {"age": "64", "indication": "Dyspnoea after a fall."} if case == "r1" else {},
        "report": {"findings": FINDINGS} | ({} if case == "r3" else {"impression": IMPRESSION}),
    }
    for case in ("r1", "r2", "r3")
] + [{"id": "o1", "question": "Is there an effusion?", "report": {"findings": FINDINGS}}]
RIGHT = f"Findings: {FINDINGS} Impression: {IMPRESSION}"
LEFT = "Findings: Small left pleural effusion. Heart is normal. Impression: Left effusion."
WRITTEN = {
    ("r1", "a"): RIGHT,
    ("r2", "a"): LEFT,
    ("r3", "a"): RIGHT,
    ("o1", "a"): "Yes.",
    ("r1", "b"): LEFT,
    ("r2", "b"): "Impression: No effusion.",
    ("r3", "b"): "",
    ("r1", "person"): RIGHT,
}


def write_reports(folder, **tables):
    """Write the set; ``tables`` are added to it."""
    models = named(a="Model A", b="Model B", person="A person")
    models[2]["kind"] = "reader"
    answers = [
        {"case": case, "model": model, "text": text, "finish_reason": "stop"}
        for (case, model), text in WRITTEN.items()
    ]
    info = {"name": "Reports", "models": models, "readers": named(ra="Reader A", rb="Reader B")}
    return write_review_set(folder, info=info, cases=CASES, answers=answers, **tables)
