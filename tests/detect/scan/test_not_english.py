"""Answers and reports that are not in English: not read, not judged, and not without failure."""

from __future__ import annotations

import pytest
from support.review_folder import named, write_review_set

from rexview.cli import main
from rexview.detect import (
    DETECTORS,
    find_flags_for_answers,
    flag_rows,
    judged_answers,
    list_unsupported_texts,
    survey,
)
from rexview.detect.detector import AnswerInCase
from rexview.detect.scan.finding_index import find_answer_phrases, find_report_phrases
from rexview.reviewset import check_review_set, load_review_set
from rexview.schema import Answer, AnswerBox, Case, Report, StudyImage

GERMAN = "Herz normal groß. Verschattung im linken Unterlappen, kein Pneumothorax, kein Erguss"
ENGLISH = "The heart is normal. There is an opacity in the left lower lobe and no pneumothorax."
REPORT = "There is an opacity in the right lower lobe."
FRENCH = "Opacité du lobe inférieur droit. Pas d'épanchement pleural ni de pneumothorax."
IMAGE = StudyImage(id="image-1", path="a.png", view="PA", width=100, height=100)


def judged(text: str, report: str = REPORT, case: Case | None = None, **more: object) -> set[str]:
    asked = "Draw a box around every finding."
    case = case or Case(id="c", question=asked, report=Report(findings=report), images=(IMAGE,))
    one = AnswerInCase(case, Answer(case="c", model="m", text=text, **more))  # type: ignore[arg-type]
    return {detector.failure for detector in DETECTORS if detector.can_judge(one)}


READING = {
    *("laterality_error", "token_limit", "hallucination", "omission", "wrong_type"),
    *("side_incomplete", "boxes_missing"),
}


def test_what_rests_on_the_words_is_judged_of_english_only() -> None:
    assert judged(ENGLISH) >= READING
    assert not judged(GERMAN) & READING
    assert judged(f"{ENGLISH} {ENGLISH} Im Brief steht: kein Erguss.") >= READING


def test_a_report_in_another_language_is_not_compared_with() -> None:
    told = judged(ENGLISH, FRENCH)
    assert told >= {"token_limit", "boxes_missing"}
    assert not told & {"hallucination", "omission", "wrong_type", "side_incomplete"}
    assert "laterality_error" not in told
    both = "Effusion on the left, none on the right."
    assert "laterality_error" in judged(both, FRENCH), "it may contradict itself"


def test_signals_and_boxes_are_judged_in_any_language() -> None:
    assert "token_limit" in judged(GERMAN, finish_reason="length")
    assert "token_limit" in judged(GERMAN, output_tokens=10, max_output_tokens=100)
    box = AnswerBox("image-1", "opacity on the left", (60, 10, 20, 20))
    told = judged(GERMAN, boxes=(box,))
    assert {"laterality_error", "box_misplaced"} <= told
    assert "box_unrelated" not in told
    assert "box_unrelated" in judged(ENGLISH, boxes=(box,))


def test_a_choice_that_could_not_be_read_is_not_judged() -> None:
    case = Case(id="c", question="Which?", question_type="choice", options=("a", "b"), correct=0)
    assert "failed_extraction" not in judged(GERMAN, case=case)
    assert "failed_extraction" in judged(GERMAN, case=case, choice=1)
    assert "failed_extraction" in judged(ENGLISH, case=case)


def test_german_words_that_look_english_are_no_findings() -> None:
    case = Case(id="c", question="", report=Report(findings=GERMAN))
    answer = Answer(case="c", model="m", text=GERMAN)
    assert find_flags_for_answers(case, [answer]) == []
    assert find_answer_phrases(AnswerInCase(case, answer)) == ()
    assert find_report_phrases(case) == ()


@pytest.fixture
def folder(tmp_path):
    cases = [
        {"id": f"c{n}", "question": "Describe.", "images": [], "report": {"findings": report}}
        for n, report in enumerate((REPORT, REPORT, FRENCH))
    ]
    answers = [
        {"case": f"c{n}", "model": model, "text": text}
        for n in range(3)
        for model, text in (("a", ENGLISH), ("b", GERMAN))
    ]
    info = {"name": "Mixed", "models": named(a="A", b="B")}
    return write_review_set(tmp_path / "set", info=info, cases=cases, answers=answers)


def test_shares_are_of_what_could_be_judged(folder) -> None:
    review_set = load_review_set(folder)
    table = judged_answers(survey(review_set))
    by_model = dict(table.filter(failure="token_limit").group_by("model").len().iter_rows())
    assert by_model == {"a": 3}, "those of b are neither cut off nor complete"
    assert {row["model"] for row in flag_rows(review_set)} == {"a"}


def test_records_say_what_was_not_read(folder, capsys) -> None:
    rows = list(list_unsupported_texts(load_review_set(folder)))
    assert [(row["case"], row["model"], row["kind"], row["language"]) for row in rows] == [
        ("c0", "b", "not_read", "German"),
        ("c1", "b", "not_read", "German"),
        ("c2", "a", "report_not_read", "French"),
        ("c2", "b", "not_read", "German"),
        ("c2", "b", "report_not_read", "French"),
    ]
    assert {row["failure"] for row in rows} == {None}
    assert rows[0]["message"] == "Not read by the rules: it looks German."
    assert main(["failures", str(folder)]) == 0
    assert (
        "3 answers not read (3 German); 2 answers not held against a report (2 French): the rules "
        "read English\n"
    ) in capsys.readouterr().out
    assert main(["failures", str(folder), "--json"]) == 0
    assert '"language": "German"' in capsys.readouterr().out


def test_check_warns_with_counts(folder) -> None:
    told = [
        problem.message
        for problem in check_review_set(folder)
        if "not in English" in problem.message
    ]
    assert told == [
        "3 answers of 6 are not in English (3 German): the rules that find failures do not read "
        "them.",
        "1 report of 3 is not in English (1 French): the rules that find failures do not read it.",
    ]
