"""A review set with readers' scores and verdicts, and opinions of judges on the same answers."""

from __future__ import annotations

import numpy as np

from support.review_folder import RAMP, named, write_review_set

MODELS = {"alpha-net": "Alpha Net", "beta-net": "Beta Net"}
READERS = {"anna": "Anna Reader", "bob": "Bob Reader"}
FAILURES = ("laterality_error", "hallucination", "omission", "token_limit")
DIMENSIONS = ("process", "execution", "synthesis", "language")
JUDGE, PROMPT, OLDER = "judge-x", "judge-1", "judge-0"
QUOTE = "the left costophrenic angle"
REASON = "Reasonwords: the report says right"


def _answers(cases):
    return [
        {
            "case": case,
            "model": model,
            "text": f"There is an effusion: the left  costophrenic\nangle is blunted ({case}).",
            "finish_reason": "stop",
        }
        for case in cases
        for model in MODELS
    ]


def opinion(case, model, *, judge=JUDGE, prompt=PROMPT, created="2026-03-02T10:00:00Z", **more):
    """Return a row of opinions."""
    return {
        "case": case,
        "model": model,
        "judge": judge,
        "prompt_id": prompt,
        "created": created,
        **more,
    }


def _near(random, score):
    return int(np.clip(score + random.integers(-1, 2), 1, 5))


def judged_parts(n_cases=24, seed=7):
    """Return the parts of the set: half the failures that readers saw, judges see too."""
    random = np.random.default_rng(seed)
    cases = [f"c{place:02d}" for place in range(n_cases)]
    scores, flags, opinions = [], [], []
    for place, case in enumerate(cases):
        for model in MODELS:
            about = {"case": case, "model": model}
            for failure in FAILURES:
                there = random.random() < 0.3
                seen = there if random.random() < 0.8 else not there
                if there or place % 6 == 0:  # of the others readers say nothing
                    verdict = "confirmed" if there else "rejected"
                    reader = "bob" if place % 2 else "anna"
                    flags.append(
                        {**about, "reader": reader, "failure": failure} | {"verdict": verdict}
                    )
                words = {"reason": REASON, "quote": QUOTE} if seen else {}
                opinions.append(opinion(case, model, failure=failure, present=bool(seen), **words))
            for dimension in DIMENSIONS:
                truth = int(random.integers(1, 6))
                for reader in READERS if place % 3 else ("anna",):
                    given = {"reader": reader, "dimension": dimension}
                    scores.append({**about, **given, "score": _near(random, truth)})
                opinions.append(
                    opinion(case, model, dimension=dimension, score=_near(random, truth))
                )
    older = {"prompt": OLDER, "created": "2026-03-01T10:00:00Z"}
    opinions.append(opinion("c00", "alpha-net", failure="omission", present=True, **older))
    return {
        "info": {
            "name": "Judged",
            "id": "judged",
            "notice": "Invented.",
            "models": named(**MODELS),
            "readers": named(**READERS),
        },
        "cases": [
            {
                "id": case,
                "question": f"Question {case}: is there an effusion?",
                "question_type": "open",
                "patient_id": f"p{place // 2}",
                "study_id": f"s{place}",
                "images": [{"id": "PA", "path": "one.png", "view": "PA"}],
                "report": {"findings": "Right effusion.", "impression": "Effusion."},
            }
            for place, case in enumerate(cases)
        ],
        "answers": _answers(cases),
        "scores": scores,
        "flags": flags,
        "opinions": opinions,
    }


def write_judged_set(folder, **changes):
    """Write the set and return its folder; ``changes`` replace parts."""
    return write_review_set(folder, pictures={"one.png": RAMP}, **{**judged_parts(), **changes})
