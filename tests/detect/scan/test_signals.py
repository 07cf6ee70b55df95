"""Token-limit failures and execution gaps, from what an answer and its scores carry."""

from __future__ import annotations

from typing import Any

import pytest

from rexview.detect import find_flags, find_flags_for_answers, judged_answers, survey
from rexview.detect.score_failures import ExecutionGap
from rexview.detect.token_limit import TokenLimit
from rexview.schema import answer_from_row

LONG = "The heart is normal. " * 10 + "There is a right pleural eff"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"text": LONG, "finish_reason": "length"}, "finish_reason"),
        ({"text": LONG, "output_tokens": 512, "max_output_tokens": 512}, "usage"),
        ({"text": LONG, "output_tokens": 511, "max_output_tokens": 512}, None),
        ({"text": LONG, "output_tokens": 512}, "truncated_suspected"),
        ({"text": LONG, "finish_reason": "unknown"}, "truncated_suspected"),
        ({"text": LONG, "finish_reason": "unknown", "error": "HTTP 503"}, None),
        ({"text": LONG, "finish_reason": "content_filter"}, None),
        ({"text": "The lungs are clear. " * 20, "finish_reason": "unknown"}, "repetition"),
        (
            {"text": "The lungs are clear. " * 20, "output_tokens": 90, "max_output_tokens": 99},
            None,
        ),
        ({"text": "I cannot interpret medical images.", "finish_reason": "unknown"}, None),
        ({"text": "<think>Let me look.</think>", "finish_reason": "unknown"}, "empty"),
        ({"text": "", "output_tokens": 512, "max_output_tokens": 512}, "no_answer"),
        ({"text": None, "finish_reason": "length"}, "no_answer"),
        ({"text": "", "finish_reason": "unknown"}, "empty"),
        ({"text": "", "finish_reason": "unknown", "error": "HTTP 503"}, None),
        ({"text": "", "finish_reason": "unknown", "output_tokens": 3}, None),
        ({"text": "", "finish_reason": "stop"}, "empty"),
        ({"text": "", "output_tokens": 3, "max_output_tokens": 512}, None),
        ({"text": "", "finish_reason": "content_filter"}, None),
        ({"text": None, "finish_reason": "unknown", "choice": 2}, None),
        ({"text": "Clear lungs", "finish_reason": "unknown"}, None),
    ],
)
def test_token_limit(make_set: Any, answer: dict[str, Any], kind: str | None) -> None:
    review_set = make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g", **answer}])
    detector = TokenLimit()
    surveyed = find_flags(review_set, detectors=[detector])["kind"].to_list()
    assert surveyed == ([kind] if kind else [])
    record = answer_from_row(review_set.answers.row(0, named=True))
    flags = find_flags_for_answers(review_set.case("c"), [record], detectors=[detector])
    assert [flag.kind for flag in flags] == ([kind] if kind else [])
    for flag in flags:
        assert flag.message.endswith(".")
        assert flag.evidence[0].where == "usage"


def test_a_cut_answer_shows_its_end(make_set: Any) -> None:
    answer = {"case": "c", "model": "g", "text": LONG + " \n", "finish_reason": "length"}
    answer |= {"finish_reason_raw": "MAX_TOKENS", "output_tokens": 2048, "max_output_tokens": 2048}
    review_set = make_set(cases=[{"id": "c"}], answers=[answer])
    record = review_set.answers_of("c")[0]
    (flag,) = find_flags_for_answers(review_set.case("c"), [record], detectors=[TokenLimit()])
    assert flag.message == "The answer is cut off: all 2,048 output tokens were used."
    usage, tail = flag.evidence
    assert usage.text == "finish reason MAX_TOKENS, 2,048 output tokens of 2,048"
    assert tail.text.endswith("pleural eff")
    assert record.text[tail.start : tail.end] == tail.text


def test_what_can_be_judged_by_signals(make_set: Any) -> None:
    answers = [
        {"case": "c1", "model": "g"},
        {"case": "c2", "model": "g", "finish_reason": "unknown"},
        {"case": "c3", "model": "g", "finish_reason": "unknown", "text": ""},
        {"case": "c4", "model": "g", "_newest": False},
        {"case": "c5", "model": "g", "finish_reason": "unknown", "text": None, "choice": 1},
    ]
    cases = [{"id": answer["case"]} for answer in answers]
    judged = judged_answers(
        survey(make_set(cases=cases, answers=answers), detectors=[TokenLimit()])
    )
    assert judged["case"].to_list() == ["c1", "c2", "c3"]


def scores(case: str, process: list[int], execution: list[int]) -> list[dict[str, Any]]:
    return [
        {"case": case, "model": "g", "reader": reader, "dimension": dimension, "score": value}
        for dimension, values in (("process", process), ("execution", execution))
        for reader, value in zip("abc", values, strict=False)
    ]


@pytest.mark.parametrize(
    ("process", "execution", "threshold", "flagged"),
    [
        ([5], [3], 2.0, True),
        ([5], [4], 2.0, False),
        ([4, 4, 5], [2, 2, 3], 2.0, True),  # 13/3 - 7/3, exactly 2
        ([5, 4], [3, 3], 2.0, False),  # 1.5
        ([5, 4], [3, 3], 1.5, True),
        ([1], [5], 2.0, False),
        ([5], [], 2.0, False),
    ],
)
def test_gap(
    make_set: Any, process: list[int], execution: list[int], threshold: float, flagged: bool
) -> None:
    review_set = make_set(
        cases=[{"id": "c"}],
        answers=[{"case": "c", "model": "g"}],
        scores=scores("c", process, execution),
    )
    detector = ExecutionGap(threshold)
    surveyed = survey(review_set, detectors=[detector])
    assert len(surveyed.flags) == flagged
    flags = find_flags_for_answers(
        review_set.case("c"),
        [review_set.answers_of("c")[0]],
        review_set.scores_of("c"),
        detectors=[detector],
    )
    assert len(flags) == flagged
    assert len(judged_answers(surveyed)) == bool(execution)


def test_a_gap_is_said_in_words(make_set: Any) -> None:
    review_set = make_set(
        cases=[{"id": "c"}],
        answers=[{"case": "c", "model": "g"}],
        scores=scores("c", [5, 4], [2, 2]),
    )
    (flag,) = find_flags_for_answers(
        review_set.case("c"),
        [review_set.answers_of("c")[0]],
        review_set.scores_of("c"),
        detectors=[ExecutionGap()],
    )
    assert flag.message.startswith("Process 4.5 but Execution 2, a gap of 2.5:")
    assert [item.field for item in flag.evidence] == ["process", "execution"]


def test_an_answer_cut_off_has_no_gap(make_set: Any) -> None:
    review_set = make_set(
        cases=[{"id": "c"}],
        answers=[{"case": "c", "model": "g", "finish_reason": "length"}],
        scores=scores("c", [5], [1]),
    )
    detector = ExecutionGap()
    assert judged_answers(survey(review_set, detectors=[detector])).is_empty()
    assert not find_flags_for_answers(
        review_set.case("c"),
        [review_set.answers_of("c")[0]],
        review_set.scores_of("c"),
        detectors=[detector],
    )
