"""What a step of a meeting shows: nothing of any later step, for every demo case and any order."""

import json
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import chain, combinations, permutations

from support import ROOT
from support.rows import each_row

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.meeting_steps import assign_letters, build_step_case
from rexview.analysis.meetings import FIRST_STEP, Meeting
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.written_failures import FailureWording, MarkedAnswer
from rexview.judge.written import build_written_wording
from rexview.reviewset import load_review_set
from rexview.schema import AnswerBox, FailureMark, ReferenceBox, Report, Score
from rexview.vocab import MEETING_STEPS

KEY = bytes(32)
NOW = datetime(2026, 3, 2, tzinfo=UTC)
LATER = tuple(step for step in MEETING_STEPS if step != FIRST_STEP)
SUBSETS = list(chain.from_iterable(combinations(LATER, n) for n in range(len(LATER) + 1)))
"""What is shown follows from which steps are, not from their order: these stand for all orders."""
DEMO = load_review_set(ROOT / "assets" / "demo")
ENGINE = build_memory_engine(DEMO)
CASES = DEMO.cases["id"].to_list()


@cache
def whole(case):
    return build_case_page(DEMO, case, ENGINE)


def meeting(*steps, name="m1"):
    return Meeting(name, "Chest", None, None, (FIRST_STEP, *steps), (), False, (), {}, {})


def shown(case, steps, later=(), page=None):
    """What is shown of a case once some steps were gone through, others being still to come."""
    held = meeting(*steps, *later)
    return build_step_case(DEMO, page or whole(case), held, len(steps), KEY)


def letters(case, held):
    models = [answer.model for answer in whole(case).answers]
    given = assign_letters(held, case, models, KEY)
    assert given == assign_letters(held, case, models[::-1], KEY)
    return given


def strings(value):
    """All words in a record, with the names of its fields left out."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list | tuple):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


def sentences(*texts):
    return [
        part.strip()
        for text in texts
        if text
        for part in re.split(r"[.\n]", text)
        if len(part) > 20
    ]


def words_of(page):
    """The words of a case by the step that shows them; what is shown at once under its first."""
    case, report = page.case, page.case.report
    asked = (case.question, case.question_boxes, *case.options, case.context.indication)
    labels = [box.label for answer in page.answers for box in answer.boxes]
    return {
        FIRST_STEP: [text for text in asked if text],
        "answers": sentences(
            *(text for one in page.answers for text in (one.text, one.explanation))
        ),
        "boxes": [*labels, *(box.label for box in case.reference_boxes)],
        "report": sentences(report.findings, report.impression, case.explanation),
        "scores": sentences(*(score.comment for score in page.scores)),
        "flags": sentences(*(flag.message for flag in page.flags)),
    }


@each_row("case", CASES)
def test_nothing_of_a_later_step_is_told(case):
    by_step = {
        step: [one.lower() for one in words] for step, words in words_of(whole(case)).items()
    }
    for steps in SUBSETS:
        record = shown(case, steps).to_json()
        page, text = record["page"], "\n".join(strings(record)).lower()
        for hidden in by_step.keys() - {FIRST_STEP, *steps}:
            others = "\n".join(one for step in by_step if step != hidden for one in by_step[step])
            assert not [one for one in by_step[hidden] if one in text and one not in others]
        if "models" not in steps:
            for model in DEMO.models:
                assert model.id.lower() not in text
                assert model.name.lower() not in text
            assert not record["models"]
        for answer in page["answers"]:
            assert "boxes" in steps or not (answer["boxes"] or answer["images"])
            given = [answer[name] for name in ("text", "choice", "choice_read", "explanation")]
            assert "answers" in steps or not any(one is not None for one in given)
        assert {"boxes", "report"} <= set(steps) or not page["case"]["reference_boxes"]
        assert "report" in steps or page["case"]["correct"] is None
        assert "scores" in steps or not (page["scores"] or page["finals"] or page["choices"])
        assert "flags" in steps or not (page["flags"] or page["reader_flags"])
        assert set(steps) - {"report"} or not page["answers"]


CHANGES = {
    "answers": lambda page: replace(
        page, answers=tuple(replace(one, text="Other words.", choice=None) for one in page.answers)
    ),
    "boxes": lambda page: replace(
        page,
        answers=tuple(
            replace(one, boxes=(AnswerBox("x", "other", (1.0, 2.0, 3.0, 4.0)),) * 3)
            for one in page.answers
        ),
        case=replace(page.case, reference_boxes=(ReferenceBox("x", "other", (1.0, 2, 3, 4)),)),
    ),
    "report": lambda page: replace(
        page, case=replace(page.case, report=Report("Other.", "Words."), correct=0, explanation="Y")
    ),
    "scores": lambda page: replace(
        page, scores=(Score(page.case.id, page.answers[0].model, "r", "process", 1),), finals={}
    ),
    "flags": lambda page: replace(page, flags=(), reader_flags=(), not_judged=frozenset()),
}


@each_row("case", CASES[::6])
@each_row("step", CHANGES)
def test_what_is_to_come_changes_nothing_of_what_is_shown(case, step):
    """No length, number, id or order depends on it: whatever comes later, all is the same."""
    changed = CHANGES[step](whole(case))
    if not whole(case).answers:
        return
    for steps in SUBSETS:
        if step not in steps and not (step == "answers" and "flags" in steps):
            other = shown(case, steps, page=changed)
            assert other.to_json() == shown(case, steps).to_json(), steps


MARKED_FROM = {"answers", "boxes", "report", "flags", "models"}


def marked(page, **more):
    """A case of which people say that each answer has a failure in words."""
    value = {"name": "It names TITLEWORD", "counts": "COUNTWORD counts."}
    words = FailureWording(build_written_wording("f", value, "f"), by="ann", at=NOW, value=value)
    marks = [
        FailureMark(page.case.id, one.model, "r", "f", words.prompt.hash, "WHYWORD", NOW, **more)
        for one in page.answers
    ]
    return replace(page, marks=tuple(MarkedAnswer(mark, words) for mark in marks))


def test_a_failure_in_words_is_shown_once_its_title_can_tell_nothing_more():
    page = whole("c02")
    for steps in SUBSETS:
        before, record = shown("c02", steps), shown("c02", steps, page=marked(page))
        if set(steps) < MARKED_FROM or not set(steps) >= MARKED_FROM:
            assert record.to_json() == before.to_json(), steps
            continue
        text = json.dumps(record.to_json())
        assert all(word in text for word in ("TITLEWORD", "COUNTWORD", "WHYWORD"))
        letters = {one.model for one in record.page.answers}
        assert {one.mark.model for one in record.page.marks} == letters
        assert shown("c02", steps, page=marked(page, stale=True)).to_json() == before.to_json()


def test_the_order_of_the_steps_changes_only_when_something_is_shown():
    case = next(one for one in CASES if len(whole(one).answers) > 1)
    for order in list(permutations(LATER))[::7]:
        for number in range(len(order) + 1):
            first, rest = order[:number], order[number:]
            usual = [step for step in LATER if step in first]
            assert shown(case, first, rest).page == shown(case, usual).page
    assert build_step_case(DEMO, whole(case), meeting(*LATER), 99, KEY).shown == (
        FIRST_STEP,
        *LATER,
    )
    assert build_step_case(DEMO, whole(case), meeting(*LATER), -3, KEY).shown == (FIRST_STEP,)


def test_everything_is_there_in_the_end():
    case = next(one for one in CASES if whole(one).flags and whole(one).scores)
    page, last = whole(case), shown(case, LATER)
    assert last.models == letters(case, meeting())
    assert last.page.case.report == page.case.report
    assert len(last.page.scores) == len(page.scores)
    by_model = {last.models[one.model]: one for one in last.page.answers}
    for answer in page.answers:
        assert (by_model[answer.model].text, by_model[answer.model].boxes) == (
            answer.text,
            answer.boxes,
        )
    assert Counter(one.message for one in last.page.flags) == Counter(
        one.message for one in page.flags
    )


def test_letters_stay_in_a_meeting_and_follow_no_order():
    several = [one for one in CASES if len(whole(one).answers) > 1]
    given = [letters(case, meeting("answers")) for case in several]
    assert given == [letters(case, meeting(*LATER)) for case in several]
    first = Counter(one["A"] for one in given)
    assert len(first) > 1
    assert min(first.values()) > len(several) / 5
    assert given != [letters(case, meeting(name="m2")) for case in several]


def test_words_that_name_a_model_are_covered_and_evidence_moves_with_them(make_set):
    given = make_set(
        cases=[
            {
                "id": "c1",
                "question": "Where is the effusion?",
                "report": {"findings": "Right pleural effusion.", "impression": None},
            }
        ],
        answers=[
            {
                "case": "c1",
                "model": "large",
                "text": "As Medical 4B I see a left pleural effusion.",
                "boxes": [{"image": "i", "label": "Generalist box", "box": [1.0, 1, 2, 2]}],
                "explanation": "Medical 4B knows.",
                "error": "500 from api.SECRET.com",
                "run_id": "SECRET",
                "output_tokens": 999_983,
            },
            {"case": "c1", "model": "g", "text": "Right."},
        ],
        scores=[
            {"case": "c1", "model": "g", "reader": "r", "dimension": "process", "score": 2,
             "comment": "Typical of Generalist"},
        ],
    )  # fmt: skip
    page = build_case_page(given, "c1", build_memory_engine(given))
    steps = tuple(step for step in LATER if step != "models")
    held = meeting(*steps)
    record = build_step_case(given, page, held, len(steps), KEY)
    assert len(record.page.scores) == 1
    text = json.dumps(record.to_json())
    for secret in ("Medical", "Generalist", "SECRET", "999983"):
        assert secret not in text
    masked = next(one for one in record.page.answers if "effusion" in (one.text or ""))
    evidence = [
        item
        for flag in record.page.flags
        for item in flag.evidence
        if flag.model == masked.model and item.where == "answer" and item.start is not None
    ]
    assert evidence
    for item in evidence:
        assert masked.text[item.start : item.end] == item.text
