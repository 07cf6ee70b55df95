"""Scores are read where they belong, or the whole reply is not taken."""

import json

import pytest
from support.rows import each_row

from rexview.curation.rating import read_rating
from rexview.vocab import CRITERIA

LINES = """Score of the question
Clinical relevance: 5 - an effusion changes what is done, in 2 of 3 patients.
Answerability from the image: 4 - grade 3 blunting is seen.
Complexity of reasoning: 3 - two steps.
Clarity and precision: 4 - plain.
Risk flag: No - nothing is given away.
Conclusion: total 16 out of 20"""
GIVEN = {"relevance": 5, "answerability": 4, "complexity": 3, "clarity": 4}


def read(text):
    found = read_rating(text)
    assert not isinstance(found, str), found
    return found


def test_the_form_that_is_asked_for():
    found = read(LINES)
    assert found.scores == GIVEN
    assert (found.risk, found.stated_total, found.notes) == (False, 16, ())
    assert found.reasons["relevance"].startswith("an effusion changes")
    assert found.risk_reason == "nothing is given away."


@each_row(
    ("before", "after"),
    [
        (": ", " – "),
        (": ", " — "),
        (": ", ": **"),
        (" - ", ". "),
        (": 5", ": five"),
        (": 5", ": 5/5"),
        (": 5", ": 5 out of 5"),
        (": 5", " (1-5): 5"),
        (": 5", " (5/5):"),
        (": 5", ": Score: 5"),
        (": 5", " — 5/5."),
        (": 5", " ..... 5"),
        (": 5", ": ★★★★★"),
        (": 5", ": 5.0"),
        ("Clinical relevance", "1. **Clinical Relevance**"),
        ("Clinical relevance", "- __Relevance__"),
        ("Clinical relevance", "> ### Clinical relevance"),
        ("Score of the question", "Sure! Here is the score:"),
        ("Score of the question", "<think>Relevance: 2? No.</think>"),
    ],
)
def test_habits_of_models_change_nothing(before, after):
    assert read(LINES.replace(before, after)).scores == GIVEN


@each_row(
    ("before", "after"),
    [
        (": 5 - an", ": 4.5 - an"),
        (": 5 - an", ": 4,5 - an"),
        (": 5 - an", ": 4½ - an"),
        (": 5 - an", ": 4-5 - an"),
        (": 5 - an", ": 4 – 5"),
        (": 5 - an", ": 4 to 5 - an"),
        (": 5 - an", ": 4 or 5 - an"),
        (": 5 - an", ": ~5 - an"),
        (": 5 - an", ": 5+ - an"),
        (": 5 - an", ": 6 - an"),
        (": 5 - an", ": 2 steps follow from an"),
        (": 5 - an", ": 3 of the 5 words name an"),
        (": 5 - an", ": 0 - an"),
        (": 5 - an", ": 5/10 - an"),
        (": 5 - an", ": 100% - an"),
        (": 5 - an", ": high - an"),
        (": 5 - an", ": N/A - an"),
        (": 5 - an", ": - an"),
        (": 5 - an", ": 5 → 4 - an"),
        (": 5 - an", ": ~~5~~ 4 - an"),
        (": 5 - an", ": 5 - an effusion, so the score is 4/5, an"),
        ("Clinical relevance: 5", "Five is the number of"),
        ("Conclusion", "Clinical relevance: 4\nConclusion"),
        ("Conclusion", "On reflection I would lower this to 2.\nConclusion"),
        ("Conclusion", "Clarity should be 3.\nConclusion"),
        ("Conclusion", "Question 2\nClinical relevance: 5\nConclusion"),
        ("Conclusion", "Risk flag: Yes\nConclusion"),
        ("Score of the question", "<think>It is 4."),
        ("Clarity and precision", "Precision: 2\nClarity"),
    ],
)
def test_what_is_unclear_makes_the_reply_unreadable(before, after):
    assert before in LINES
    assert isinstance(read_rating(LINES.replace(before, after, 1)), str)


@pytest.mark.parametrize("criterion", CRITERIA.values())
def test_a_missing_criterion_makes_the_reply_unreadable(criterion):
    kept = [line for line in LINES.splitlines() if not line.startswith(criterion)]
    assert criterion.lower() in read_rating("\n".join(kept))


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "{}", "[]", "[1, 2, 3, 4]"])
def test_what_holds_no_scores_is_told(text):
    assert isinstance(read_rating(text), str)


@pytest.mark.parametrize(
    ("words", "risk"),
    [
        ("No", False),
        ("none identified", False),
        ("**NO** - yet it is long", False),
        ("not flagged", False),
        ("Yes – it gives the answer away", True),
        ("⚠️ Yes", True),
        ("Yes/No", None),
        ("possibly", None),
        ("N/A", None),
        ("[ ] Yes [x] No", False),
    ],
)
def test_the_risk_flag_is_yes_or_no_or_not_known(words, risk):
    found = read(LINES.replace("No - nothing is given away.", words))
    assert (found.scores, found.risk) == (GIVEN, risk)


@pytest.mark.parametrize(
    ("words", "total"),
    [
        ("Total: 17/20", 17),
        ("Conclusion: 5 + 4 + 3 + 4 = 16", 16),
        ("Total (5+4+3+4): 16", 16),
        ("Sum out of 20: 16", 16),
        ("Total: 16/20, no: 15/20", None),
        ("A good question.", None),
        ("Average: 4.0", None),
    ],
)
def test_the_stated_sum_is_kept_beside_ours_right_or_not(words, total):
    found = read(LINES.replace("Conclusion: total 16 out of 20", words))
    assert (found.scores, found.stated_total) == (GIVEN, total)


def test_a_sum_that_is_wrong_is_said():
    assert "the sum is 17; it is 16" in " ".join(read(LINES.replace("16 out", "17 out")).notes)


def test_tables_are_read_by_their_headings():
    names = list(CRITERIA.values())
    rows = "\n".join(f"| {name} | 5 | {GIVEN[key]} | why {key} |" for key, name in CRITERIA.items())
    header = "| Criterion | Max | Score | Reason |\n|---|---|---|---|\n"
    found = read(f"{header}{rows}\n| Risk flag | | No | fine |\n| Total | | 16 | |")
    assert (found.scores, found.risk, found.stated_total) == (GIVEN, False, 16)
    across = f"| {' | '.join(names)} |\n|---|---|---|---|\n| 5 | 4 | 3 | 4 |"
    assert read(across).scores == GIVEN
    beside = (
        f"| | {' | '.join(names)} |\n|---|\n| Score | 5 | 4 | 3 | 4 |\n| Reason | 1 | 2 | 3 | 4 |"
    )
    assert read(beside).scores == GIVEN
    assert isinstance(read_rating(beside.replace("Reason", "Second")), str)
    twice = header.replace("Max", "First score").replace("| Score", "| Second score")
    assert isinstance(read_rating(f"{twice}{rows}"), str)


def in_json(**changed):
    scores = {name: {"score": n, "reason": f"why {name}"} for name, n in GIVEN.items()}
    return {**scores, "risk": {"flag": False, "reason": "fine"}, "total": 16, **changed}


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "Here it is:\n```\n{}\n```\nDone."])
def test_json_is_read_as_it_stands(fence):
    found = read(fence.replace("{}", json.dumps(in_json())))
    assert (found.scores, found.risk, found.stated_total) == (GIVEN, False, 16)
    assert found.reasons["clarity"] == "why clarity"


@pytest.mark.parametrize(
    "changed",
    [
        {"clarity": {"score": 4.5}},
        {"clarity": {"score": True}},
        {"clarity": {"score": None}},
        {"clarity": {"score": "high"}},
        {"clarity": None},
        {"clarity": {"score": 3, "rating": 4}},
        {"Clarity and precision": 3},
    ],
)
def test_json_with_another_value_is_unreadable(changed):
    assert isinstance(read_rating(json.dumps(in_json(**changed))), str)


def test_json_that_is_broken_or_has_a_part_twice_is_not_mended():
    text = json.dumps(in_json())
    assert isinstance(read_rating(text[:-20]), str)
    assert isinstance(read_rating(text.replace('"total"', '"relevance"')), str)
    assert isinstance(read_rating(json.dumps([in_json(), in_json()])), str)


def test_words_beside_json_must_say_the_same():
    text = f"```json\n{json.dumps(in_json())}\n```\n"
    assert read(f"{text}All fine.").scores == GIVEN
    assert isinstance(read_rating(f"{text}Clarity and precision: 2 - I was too kind."), str)


def test_json_that_quotes_an_end_of_thinking_is_read():
    each = {"score": 4, "reason": "It says </think> and <think>."}
    value = {**dict.fromkeys(CRITERIA, each), "risk": {"flag": False, "reason": ""}, "total": 16}
    for before in ("", "<think>It says </think>, so 2.</think>\n", "Hm.</think>"):
        found = read(before + json.dumps(value))
        assert found.scores == dict.fromkeys(CRITERIA, 4)
        assert found.reasons["relevance"] == each["reason"]


@pytest.mark.parametrize(
    "quote",
    ['"</think>"', "“Normal.</think> Ignore this. <think>”", "`</think>`", "</think>", "<think>"],
)
@pytest.mark.parametrize("before", ["", "<think>It says QUOTE, so 2.</think>\n"])
def test_lines_that_quote_an_end_of_thinking_are_read(quote, before):
    before = before.replace("QUOTE", quote)
    found = read(before + LINES.replace("an effusion changes", f"it says {quote} and changes"))
    assert found.scores == GIVEN
    assert found.reasons["relevance"].startswith(f"it says {quote.strip(chr(96))} and changes")


@pytest.mark.parametrize(
    "text",
    [
        f"{LINES}\n</think>\nI cannot say.",
        f"{LINES} Hm.</think> I cannot say.",
        f"<think>{LINES}",
        f'<think>It says "</think>".\n{LINES}',
    ],
)
def test_thinking_that_ends_without_an_answer_is_no_answer(text):
    assert isinstance(read_rating(text), str)
