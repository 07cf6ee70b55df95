"""What all checks together mean, which questions experts read, and what they found."""

from math import ceil

import pytest
from support.review_folder import write_review_set
from support.rows import each_row
from support.textbook import wilson

from rexview.curation.choice.expert_sample import count_expert_verdicts, draw_expert_sample
from rexview.curation.choice.validation import (
    CHECKS,
    combine_all_checks,
    combine_checks,
    write_rules,
)
from rexview.curation.curated_set import build_curated_set
from rexview.reviewset import load_review_set
from rexview.schema import case_from_row

CATEGORIES = ("presence_assessment", "negation_assessment", "geometric_information")


def row(check, passed, source="rule", by="rules", defect=None):
    """A row of validations."""
    return {"check": check, "passed": passed, "source": source, "by": by, "defect": defect}


ALL = [row(check, True) for check in CHECKS]


def all_but(name):
    """All checks passed, and one not made."""
    return [one for one in ALL if one["check"] != name]


@each_row(
    ("rows", "state"),
    [
        (ALL, "passed"),
        ([], "untold"),
        (ALL[1:], "untold"),
        ([*ALL[1:], row("option_count", None)], "untold"),
        ([*ALL, row("option_count", None, "model", "m")], "passed"),
        ([*ALL, row("invented", False, "model", "m")], "failed"),
        ([*ALL, row("expert", False, "reader", "anna", "unclear")], "failed"),
        ([*ALL, row("expert", None, "reader", "anna", "unclear")], "failed"),
        ([*ALL, row("expert", None, "reader", "anna")], "passed"),
        ([*all_but("invented"), row("expert", True, "reader", "anna")], "passed"),
        ([*all_but("option_count"), row("expert", True, "reader", "anna")], "untold"),
        ([*all_but("identifies"), row("expert", True, "reader", "anna")], "untold"),
        ([*all_but("alike"), row("expert", True, "reader", "anna")], "untold"),
        ([row("expert", True, "reader", "anna")], "untold"),
        ([*ALL, row("invented", False), row("expert", True, "reader", "anna")], "failed"),
        (
            [
                *ALL,
                row("expert", True, "reader", "a"),
                row("expert", False, "reader", "b", "other"),
            ],
            "failed",
        ),
    ],
)
def test_all_must_pass(rows, state):
    assert combine_checks("c1", "m-1", rows).state == state


def candidate(number, case="c1"):
    """A sound question of its own; which side and place differ, so that none are alike."""
    return {
        "case": case,
        "candidate": f"m-{number:012x}",
        "question": f"Which finding is present in place {number * 7919:,} of the left lung?",
        "question_type": "choice",
        "category": CATEGORIES[number % 3 if number % 10 else 0],
        "options": [f"Finding {number}-{place * 31 + number * 17}" for place in range(4)],
        "correct": 1,
        "explanation": "It is dense there.",
        "source": "model",
        "by": "writer",
        "created": "2026-01-01T00:00:00Z",
    }


@pytest.fixture
def make(tmp_path):
    """Return a set with so many questions, what rules cannot tell settled but for the last two."""

    def make_set(many, words=(), seed=1):
        candidates = [candidate(number) for number in range(many)]
        checks = [
            {"case": "c1", "candidate": one["candidate"], **given}
            for one in candidates
            for given in ALL
        ]
        if many > 2:
            bad = {"case": "c1", "candidate": candidates[-1]["candidate"]}
            checks.append({**bad, **row("invented", False, "model", "checker", "invented")})
        folder = write_review_set(
            tmp_path / f"set{many}-{seed}-{len(words)}",
            info={"name": "Set", "protocol": {"seed": seed}},
            cases=[{"id": "c1", "question": "Report.", "report": {"findings": "Clear lungs."}}],
            candidates=candidates,
            validations=[*checks, *words],
        )
        return load_review_set(folder)

    return make_set


@pytest.mark.parametrize("many", [1, 9, 40, 101, 203])
def test_a_tenth_rounded_up_is_read(make, many):
    given = make(many)
    open_to = many - (many > 2)  # the last one failed
    sample = draw_expert_sample(given)
    assert len(sample) == ceil(open_to / 10) == len(set(sample))
    if many > 2:
        assert ("c1", candidate(many - 1)["candidate"]) not in sample


def test_categories_are_as_frequent_as_in_all(make):
    given = make(203)
    category = dict(given.candidates.select("candidate", "category").iter_rows())
    drawn = [category[name] for _, name in draw_expert_sample(given)]
    for name in CATEGORIES:
        share = sum(category[candidate(n)["candidate"]] == name for n in range(202)) / 202
        assert abs(drawn.count(name) - share * len(drawn)) <= 1


def test_it_is_the_same_each_time_and_another_by_another_seed(make):
    assert draw_expert_sample(make(203)) == draw_expert_sample(
        load_review_set(make(203, seed=2).folder.parent / "set203-1-0")
    )
    assert draw_expert_sample(make(203, seed=3)) != draw_expert_sample(make(203, seed=4))


def test_what_experts_say_does_not_change_the_sample_and_is_counted(make):
    first = draw_expert_sample(make(101))
    words = [
        {"case": case, "candidate": name, **row("expert", passed, "reader", by, defect)}
        for (case, name), (passed, by, defect) in zip(
            [*first[:4], first[3]],
            [
                *((True, "anna", None), (False, "anna", "several_valid")),
                *((None, "anna", None), (False, "anna", "several_valid")),
                (False, "ben", "unclear"),
            ],
            strict=True,
        )
    ]
    given = make(101, words)
    assert draw_expert_sample(given) == first
    result = count_expert_verdicts(given)
    assert (result.of, len(result.sample), len(result.read), result.unsure) == (100, 10, 3, 1)
    shares = {one.defect: one for one in result.defects}
    assert [shares[name].found for name in (None, "several_valid", "unclear", "invented")] == [
        *(2, 2, 1, 0)
    ]
    low, high = wilson(2, 3)
    assert shares[None].interval.low == pytest.approx(low)
    assert shares[None].interval.high == pytest.approx(high)


def test_nothing_to_read(make):
    result = count_expert_verdicts(make(1))
    assert result.read == ()
    assert result.defects[0].share is None


def test_those_that_passed_become_cases_and_the_others_are_counted(make):
    given = make(11)
    curated = build_curated_set(given, choice=True)
    assert curated.states == {"passed": 10, "failed": 1}
    one = case_from_row(curated.review_set.cases.row(0, named=True))
    assert one.id == "c1-m-000000000000"
    assert (one.question_type, one.correct, len(one.options)) == ("choice", 1, 4)
    assert one.report.findings == "Clear lungs."
    made = one.extra["curation"]
    assert (made["case"], made["by"], made["checked_by"]) == ("c1", "writer", ["rules"])


def test_rules_write_one_part_that_stays_the_same(make):
    given = make(11)
    path = write_rules(given)
    assert path == given.folder / "validations" / "rules.jsonl"
    before = path.read_bytes()
    again = load_review_set(given.folder)
    assert write_rules(again) is None
    assert path.read_bytes() == before
    assert {one.state for one in combine_all_checks(again).values()} <= {
        "passed",
        "failed",
        "untold",
    }
