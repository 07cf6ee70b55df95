"""Tags are read dimension by dimension, or the whole reply is not taken."""

import json

import pytest
from support.rows import each_row

from rexview.curation.tagging import read_tags
from rexview.vocab import QUESTION_TAGS

GIVEN = {
    "anatomical_region": ("Pleura",),
    "pathology_type": ("Infection", "Malignancy"),
    "imaging_finding": ("Air-fluid level",),
    "laterality": ("Left",),
    "diagnostic_intent": ("Detection",),
    "temporal_context": ("None",),
    "question_type": ("Open description",),
    "subtype": ("Cause",),
}
LINES = "\n".join(f"{QUESTION_TAGS[name]}: {' - '.join(words)}" for name, words in GIVEN.items())


def read(text):
    found = read_tags(text)
    assert not isinstance(found, str), found
    return found.tags


@each_row(
    ("before", "after"),
    [
        (" - ", " – "),
        (" - ", "—"),
        (" - ", ", "),
        (" - ", "; "),
        (": ", ":** "),
        (": ", " - "),
        ("Anatomical region", "1. **Anatomical region**"),
        ("Anatomical region", "Sure! Here are the tags:\n\n- Anatomy"),
        ("Subtype", "Sub-type"),
        ("None", "N/A"),
        ("None", "—"),
        ("Air-fluid", "Air‑fluid"),
        ("Left", "`Left`"),
        ("Infection - Malignancy", "Infection-Malignancy"),
    ],
)
def test_habits_of_models_change_nothing(before, after):
    assert before in LINES
    assert read(LINES.replace(before, after)) == GIVEN


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("Follow-up", ("Follow-up",)),
        ("Kerley B-lines - Well-defined mass", ("Kerley B-lines", "Well-defined mass")),
        ("right-left", ("right", "left")),
        ("Ribs (4-7)", ("Ribs (4-7)",)),
        ("Right lower lobe – right middle lobe", ("Right lower lobe", "right middle lobe")),
        ("Left - left", ("Left",)),
        ("A1 - B2 - C3 - D4", ("A1", "B2", "C3", "D4")),
        ("A1 - B2 - C3 - D4 - E5", ("Multiple",)),
        ("Multiple", ("Multiple",)),
    ],
)
def test_values_are_split_at_dashes_between_them_and_not_within(written, values):
    assert read(LINES.replace("Cause", written))["subtype"] == values


def test_words_that_multiple_stands_for_are_kept():
    found = read_tags(LINES.replace("Cause", "a - b - c - d - e"))
    assert found.more_than_four == {"subtype": ("a", "b", "c", "d", "e")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Cause", ""),
        ("Subtype: Cause", ""),
        ("Cause", "Cause\nSubtype: Extent"),
        ("Cause", "Cause - because the question wants to know why the fluid is there"),
        ("Cause", "What is the cause?"),
        ("Cause", "None - as it says"),
        ("Left", "Left - as stated in the question"),
        ("Cause", "Zoonotic-Iatrogenic"),
        ("Anatomical region", "<think>\nAnatomical region"),
    ],
)
def test_what_is_unclear_makes_the_reply_unreadable(before, after):
    assert isinstance(read_tags(LINES.replace(before, after)), str)


@pytest.mark.parametrize(
    "text", ["", "I cannot tag this.", "{}", "[]", "Pleura - Infection - Left"]
)
def test_what_holds_no_tags_is_told(text):
    assert isinstance(read_tags(text), str)


def test_lists_tables_and_json():
    table = "| Dimension | Values |\n|---|---|\n"
    table += "\n".join(f"| {QUESTION_TAGS[n]} | {' - '.join(w)} |" for n, w in GIVEN.items())
    assert read(table) == GIVEN
    below = "\n".join(
        f"### {QUESTION_TAGS[n]}\n" + "\n".join(f"- {word}" for word in w) for n, w in GIVEN.items()
    )
    assert read(below) == GIVEN
    values = {n: [] if w == ("None",) else list(w) for n, w in GIVEN.items()}
    assert read(json.dumps(values)) == GIVEN
    assert read(f"```json\n{json.dumps({'tags': values})}\n```") == GIVEN
    assert isinstance(read_tags(json.dumps({**values, "subtype": 3})), str)
    apart = {**values, "subtype": ["Right lower lobe - posterior", "Left"]}
    assert read(json.dumps(apart))["subtype"] == ("Right lower lobe - posterior", "Left")
    joined = {**values, "subtype": "Cause - Extent"}
    assert read(json.dumps(joined))["subtype"] == ("Cause", "Extent")
    assert isinstance(read_tags(json.dumps(values)[:-9]), str)


def test_lines_that_quote_an_end_of_thinking_are_read():
    assert (
        read(f'<think>It says "</think>".</think>\nThe report says "</think>".\n{LINES}') == GIVEN
    )
