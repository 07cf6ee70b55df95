"""Multiple choice questions made and checked on the command line, over real HTTP."""

import json

import pytest
from support import model_server
from support.review_folder import RAMP, write_review_set

from rexview.cli import main
from rexview.reviewset import load_review_set

pytestmark = pytest.mark.usefixtures("asks_models")

WRITER, CHECKER = "writer-1", "checker-1"
GOOD = {
    "statement": "Small left pleural effusion.",
    "question": "On which side is the pleural effusion?",
    "options": ["On the right", "On the left", "On both sides", "Nowhere"],
    "answer": "B",
    "explanation": "The left costophrenic angle is blunted.",
    "category": "location_and_distribution",
    "difficulty": "easy",
}
THREE = {**GOOD, "question": "Where does fluid lie?", "options": ["Left", "Right", "Both"]}
DOUBTFUL = {
    **GOOD,
    "question": "Which finding is present?",
    "options": ["Pneumothorax", "Pleural effusion", "Lung mass", "Rib fracture"],
    "category": "presence_assessment",
    "difficulty": "medium",
}
FINE = {"fault": False, "reason": "Fine."}
SOUND = {
    "several_valid": FINE,
    "needs_comparison": FINE,
    "invented": FINE,
    "contradicts_report": FINE,
    "clinically_doubtful": FINE,
    "identifies": {"probability": 0.01, "reason": "Nobody."},
}
FAULTY = {**SOUND, "clinically_doubtful": {"fault": True, "reason": "Nobody asks so."}}
RULES = [
    {"model": CHECKER, "match": "Which finding is present?", "turns": [{"json": FAULTY}]},
    {"model": CHECKER, "turns": [{"json": SOUND}]},
    {"match": "Small left", "turns": [{"json": {"questions": [GOOD, THREE, DOUBTFUL]}}]},
    {"match": "Mass", "turns": [{"refusal": "I cannot."}, {"json": {"questions": [GOOD]}}]},
]
REXVQA = {
    "task_name": "presence_assessment",
    "question": "Which finding is present?",
    "options": ["A. Pneumothorax", "B. Mass", "C. Fracture", "D. None of the above"],
    "correct_answer": "A",
    "correct_answer_explanation": "The pleural line is seen by Dr. Miller.",
    "ImagePath": ["../deid_png/p/s/one.png"],
}


def case(name, findings, study=None):
    """A case whose study has a report."""
    return {
        "id": name,
        "question": "Report.",
        "study_id": study or name,
        "report": {"findings": findings},
        "images": [{"id": "now", "path": "one.png", "view": "PA"}],
    }


@pytest.fixture
def folder(tmp_path):
    cases = [
        case("c1", "Small left pleural effusion. No pneumothorax."),
        case("c2", "Small left pleural effusion. No pneumothorax.", study="c1"),
        case("c3", "Mass in the right upper lobe."),
        {**case("c4", ""), "report": {}},
    ]
    return write_review_set(
        tmp_path / "set", pictures={"one.png": RAMP}, info={"name": "Set"}, cases=cases
    )


def curated(folder, server, *more):
    about = ("--choice", "--model", WRITER, "--base-url", server.base_url)
    return main(["curate", str(folder), *about, *more])


def checks(folder, question, source=None):
    """Return the checks of a question by name and source: passed, defect, comment."""
    given = load_review_set(folder)
    [name] = given.candidates.filter(question=question)["candidate"].unique()
    rows = given.validations.filter(candidate=name).iter_rows(named=True)
    return {
        row["check"]: (row["passed"], row["defect"], row["comment"])
        for row in rows
        if source in (None, row["source"])
    }


def test_questions_are_made_once_a_study_and_checked_by_rules(folder, server, capsys):
    assert curated(folder, server, "--json") == 1  # one model refused
    told = json.loads(capsys.readouterr().out)
    [step] = told["steps"]
    assert (step["asked_about"], step["answered"], step["left_out"]) == (2, 1, 1)
    assert [one["outcome"] for one in step["unreadable"]] == ["refused"]
    rows = list(load_review_set(folder).candidates.iter_rows(named=True))
    assert [(row["case"], row["question_type"], row["correct"]) for row in rows] == [
        ("c1", "choice", 1)
    ] * 3
    assert {row["by"] for row in rows} == {WRITER}
    first = next(row for row in rows if row["question"] == GOOD["question"])
    assert first["candidate"].startswith("m-")
    assert len(first["candidate"]) == 14
    assert (first["statement"], first["difficulty"]) == (GOOD["statement"], "easy")
    found = checks(folder, THREE["question"])
    assert found["option_count"][:2] == (False, "other")
    by_rules = checks(folder, GOOD["question"])
    assert [name for name, (passed, *_) in by_rules.items() if passed is False] == []
    assert by_rules["clinically_doubtful"][0] is None
    assert told["questions"]["passed"] == 0
    assert (told["questions"]["failed"], told["questions"]["untold"]) == (1, 2)
    assert not [one for one in load_review_set(folder).warnings if "no answers" not in one.message]


def test_a_validator_settles_what_rules_cannot_tell(folder, server, capsys):
    assert curated(folder, server, "--validator", CHECKER, "--again") == 1
    assert curated(folder, server, "--validator", CHECKER, "--again", "--json") == 0
    told = json.loads(capsys.readouterr().out.split("\n{", 1)[-1].join(("{", "")))
    assert [step["step"] for step in told["steps"]] == ["choice", "validate"]
    found = checks(folder, GOOD["question"], "model")
    assert found["clinically_doubtful"] == (True, None, "Fine.")
    assert found["identifies"][0] is True
    bad = checks(folder, DOUBTFUL["question"], "model")
    assert bad["clinically_doubtful"] == (False, "clinically_doubtful", "Nobody asks so.")
    assert told["questions"]["failed_checks"]["clinically_doubtful"] == 1
    rows = load_review_set(folder).validations.filter(source="model")
    assert set(rows["by"]) == {CHECKER}
    assert set(rows["prompt_id"]) == {"validate-choice-2"}


def test_nothing_doubles_and_nobody_is_asked_twice(folder, server):
    curated(folder, server, "--validator", CHECKER, "--again")
    curated(folder, server, "--validator", CHECKER, "--again")
    asked, before = len(server.requests()), load_review_set(folder)
    assert curated(folder, server, "--validator", CHECKER) == 0
    assert len(server.requests()) == asked
    after = load_review_set(folder)
    assert after.candidates.equals(before.candidates)
    assert after.validations.equals(before.validations)


def test_alike_questions_are_dropped_and_the_first_one_is_named(folder, server):
    same = {**GOOD, "question": "On which side is the pleural effusion ?"}
    rules = [
        {"match": "Small left", "turns": [{"json": {"questions": [GOOD]}}]},
        {"match": "Mass", "turns": [{"json": {"questions": [same]}}]},
    ]
    with model_server.started(rules) as other:
        assert curated(folder, other) == 0
        [first] = load_review_set(folder).candidates.filter(case="c1")["candidate"]
        passed, defect, comment = checks(folder, same["question"])["alike"]
        assert (passed, defect) == (False, "other")
        assert first in comment
        assert "c1" in comment
        assert checks(folder, GOOD["question"])["alike"][0] is True
        assert curated(folder, other, "--embeddings", "vectors-1") == 0
        rows = load_review_set(folder).validations.filter(check="alike").iter_rows(named=True)
        assert {json.loads(row["extra"])["compared_by"] for row in rows} == {"vectors-1"}


def test_a_server_without_embeddings_is_told_and_the_questions_stay(folder, capsys):
    with model_server.started(RULES, embeds=False) as other:
        assert curated(folder, other, "--embeddings", "vectors-1") == 2
    assert "--embeddings" in capsys.readouterr().err
    assert load_review_set(folder).candidates.height == 3


def test_a_dry_run_sends_nothing(folder, server, capsys):
    assert curated(folder, server, "--validator", CHECKER, "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [step["step"] for step in told["steps"]] == ["choice", "validate"]
    assert server.requests() == []
    assert not (folder / "curating").exists()


def test_a_set_of_a_researcher_is_checked_and_nothing_written(tmp_path, capsys):
    choice = {
        **case("q1", "No pneumothorax."),
        "question_type": "choice",
        "question": "Which finding is present?",
        "options": ["Pneumothorax", "A mass", "The mass", "None of the above"],
        "correct": 0,
        "explanation": "The pleural line is seen by Dr. Miller.",
    }
    folder = write_review_set(
        tmp_path / "set", pictures={"one.png": RAMP}, info={"name": "Set"}, cases=[choice]
    )
    before = sorted(path.name for path in folder.rglob("*"))
    assert main(["curate", str(folder), "--validate-only", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    [one] = told["questions"]
    failed = {name for name, check in one["checks"].items() if check["passed"] is False}
    assert failed == {
        *("duplicate_options", "all_or_none_of_the_above", "contradicts_report", "identifies"),
    }
    assert told["checks"]["option_count"] == {"passed": 1, "failed": 0, "untold": 0}
    assert sorted(path.name for path in folder.rglob("*")) == before
    file = tmp_path / "questions.json"  # as ReXVQA has them
    file.write_text(json.dumps({"q1": REXVQA}))
    assert main(["curate", str(file), "--validate-only"]) == 1
    shown = capsys.readouterr()
    assert "1 multiple choice question, checked by rules" in shown.out
    assert "Miller" not in shown.out + shown.err


def test_a_file_is_checked_by_vectors_and_what_is_left_out_is_told(tmp_path, capsys):
    file = tmp_path / "questions.csv"
    rows = ("1,Which side?,left,right,both,none", "2,Describe the film.,,,,")
    file.write_text("\n".join(("id,question,A,B,C,D", *rows)))
    with model_server.started([]) as other:
        asked = ("--embeddings", "vectors-1", "--base-url", other.base_url)
        assert main(["curate", str(file), "--validate-only", *asked]) == 1
    shown = capsys.readouterr()
    assert "1 multiple choice question, checked" in shown.out
    assert "1 case left out: no multiple choice question" in shown.err
