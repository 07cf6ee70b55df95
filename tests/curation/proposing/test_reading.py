"""Questions are read where they stand; what is none is left out and said."""

import json

import pytest
from support.rows import each_row

from rexview.curation.proposing import Proposal, read_proposals

BROAD = Proposal("Which abnormalities are there in the left lung?", "broad_abnormality")
WHY = Proposal("What do the findings speak for? Give a reason.", "diagnostic_reasoning")
WIDE = Proposal("Measure the width of the heart.", "measurement_temporal")
THREE = (BROAD, WHY, WIDE)
AS_JSON = {"questions": [{"question": one.question, "category": one.category} for one in THREE]}


def read(text):
    found = read_proposals(text)
    assert not isinstance(found, str), found
    return found


@each_row(
    "text",
    [
        json.dumps(AS_JSON),
        f"```json\n{json.dumps(AS_JSON)}\n```",
        f"Sure! Here you are:\n{json.dumps(AS_JSON['questions'], indent=1)}\nShall I go on?",
        json.dumps({one.category: [one.question] for one in THREE}),
        json.dumps([{"category": o.category, "questions": [o.question]} for o in THREE]),
        "\n".join(f"{n}. [{o.category}] {o.question}" for n, o in enumerate(THREE, 1)),
        "\n".join(f"{n}) {o.question} ({o.category})" for n, o in enumerate(THREE, 1)),
        "\n".join(f"- **{o.category}:** {o.question}" for o in THREE),
        "\n\n".join(f"## {o.category}\n1. {o.question}" for o in THREE),
        "\n\n".join(f"**{o.category}**\n* {o.question}\n  *Rationale:* Is it so?" for o in THREE),
        "\n".join(f"{n}. {o.question}\n   Category: {o.category}" for n, o in enumerate(THREE)),
        "\n".join(f"Category: {o.category}\nQuestion: {o.question}\n" for o in THREE),
        "\n".join(f"- [{o.category}] {o.question}" for o in THREE).replace("in the", "in\n  the"),
        "| # | Category | Question |\n|---|---|---|\n"
        + "\n".join(f"| 1 | {o.category} | {o.question} |" for o in THREE),
        "<think>1. Is this one?</think>\n"
        + "\n".join(f"{n}. [{o.category}] {o.question}" for n, o in enumerate(THREE, 1))
        + "\n\nWould you like me to write more questions?",
    ],
)
def test_the_same_questions_however_they_are_written(text):
    assert read(text).questions == THREE


def test_what_is_left_out_is_said():
    rows = [*AS_JSON["questions"], {"question": "", "category": "x"}, AS_JSON["questions"][0]]
    found = read(json.dumps({"questions": [*rows, {"question": "string", "category": "x"}]}))
    assert found.questions == THREE
    assert found.notes == (
        "1 item left out: empty.",
        "1 item left out: proposed twice in it.",
        "Left out, no question: “string”.",
    )


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Is there anything in the left lung that explains the fever?", True),
        ("Survey the pleura of both sides for fluid and air.", True),
        ("Go through tubes and lines one by one, with their tips.", True),
        ("Both lungs are opaque. Weigh oedema and pneumonia against each other.", True),
        ("The heart is enlarged.", False),
        ("There is a right effusion.", False),
        ("Is there anything else I can help with?", False),
        ("Would you like me to write more questions?", False),
    ],
)
def test_in_json_all_counts_but_what_only_says_something(text, asks):
    found = read(json.dumps({"questions": [*AS_JSON["questions"], {"question": text}]}))
    assert (text in [one.question for one in found.questions]) == asks
    assert any(text[:40] in note for note in found.notes) != asks


def test_a_category_that_is_none_of_the_three_is_not_guessed():
    found = read(json.dumps({"questions": [{"question": WHY.question, "category": "Laterality"}]}))
    assert found.questions == (Proposal(WHY.question),)
    assert found.notes == ("The category 'Laterality' is none of the three.",)
    both = "Broad abnormality / Diagnostic reasoning"
    found = read(json.dumps([{"question": WHY.question, "category": both}]))
    assert found.questions[0].category is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'm sorry, I can't help with that.",
        "Could you share the findings of the report?",
        "There is an effusion. It is on the left.",
        "{}",
        '{"questions": []}',
        '{"questions": [{"question": ""}]}',
        json.dumps(AS_JSON)[:-30],
        "<think>1. Is there an effusion?",
        json.dumps([{"question": f"Is there a nodule in zone {n}?"} for n in range(60)]),
    ],
)
def test_what_holds_no_questions_is_told(text):
    assert isinstance(read_proposals(text), str)


def test_half_of_a_letter_is_no_text_that_can_be_kept():
    text = '{"questions": [{"question": "Is there \\ud800 an effusion?", "category": "broad"}]}'
    assert read_proposals(text) == "The answer is broken JSON."
    assert read_proposals(text.replace("\\ud800", "\\ud83d\\ude00")).questions  # a whole one
