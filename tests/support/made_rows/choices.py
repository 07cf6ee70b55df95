"""A review set of choice questions: models that fail now and then, and readers who answered some.

Everything in it is counted out, not drawn, so that a test can count along.
"""

from support.review_folder import named, write_review_set

OPTIONS = ["A. Left pleural effusion", "B. Right pleural effusion", "C. Nodule", "D. None of these"]
TASKS = ("presence_assessment", "location_and_distribution", "negation_assessment")
CATEGORIES = ("Lung & Pleural Opacity", "Heart", "Home-made category")
MODELS = {"gem": "Gem", "med": "Med", "res": "Resident 1"}
READERS = {"ra": "Reader A", "rb": "Reader B"}
RIGHT = {"gem": 3, "med": 4, "res": 5}
"""Of so many questions each model gets the last one wrong."""
FAILS = 11
"""Of so many questions Gem makes no usable choice in the last."""
READ = 12
"""The first questions, which the reader of kind ``reader`` and the two people answered."""


def write_choice_set(folder, *, questions=36):
    """Write the set; three questions a study, and one more elsewhere without a right option."""
    cases = [
        {
            "id": f"q{n}",
            "question": "Which finding is present?",
            "question_type": "choice",
            "category": TASKS[n % 3],
            "tags": {"category": [CATEGORIES[n // 2 % 3]], "class": [f"Class {n % 5}"]},
            "difficulty": ("easy", "hard")[n % 2],
            "site": ("north", "south")[n // 18 % 2],
            "study_id": f"s{n // 3}",
            "options": OPTIONS,
            "correct": n % 4,
        }
        for n in range(questions)
    ]
    cases.append({**cases[0], "id": "unmarked", "correct": None, "site": "elsewhere"})
    answers = []
    for n, case in enumerate(cases):
        for model, every in RIGHT.items():
            if model == "res" and n >= READ:
                continue
            choice = n % 4 if n % every < every - 1 else (n + 1) % 4
            text = OPTIONS[choice]
            if model == "gem" and n % FAILS == FAILS - 1:
                text = "I cannot tell."
            answers.append({"case": case["id"], "model": model, "text": text})
    choices = [
        {"case": f"q{n}", "reader": reader, "choice": (n + (n % 6 == place)) % 4}
        for place, reader in enumerate(READERS)
        for n in range(READ)
    ]
    models = [
        {"id": key, "name": name, "kind": "reader" if key == "res" else "medical"}
        for key, name in MODELS.items()
    ]
    info = {"name": "Choice questions", "notice": "Made for a test.", "models": models}
    info["readers"] = named(**READERS)
    return write_review_set(folder, info=info, cases=cases, answers=answers, choices=choices)
