"""What a judge counts: every number opens its answers, agreement is the same under every filter."""

import pytest
from support.judge.judged_set import (
    DIMENSIONS,
    FAILURES,
    JUDGE,
    MODELS,
    OLDER,
    PROMPT,
    QUOTE,
    judged_parts,
    opinion,
    write_judged_set,
)

from rexview.analysis import CaseFilter
from rexview.analysis.case.judge_opinions import collect_opinions
from rexview.analysis.failures import build_failure_tables
from rexview.analysis.judges import (
    NEVER_COMPARED_NOTE,
    build_judge_tables,
    describe_failure_agreement,
    describe_score_agreement,
    failures_caption,
    scores_caption,
)
from rexview.analysis.query.filter.filter_text import describe_unknown_values, list_chips
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.reviewset import load_review_set
from rexview.stats.judge_agreement import Judge

ASKED = Judge(JUDGE, PROMPT)
FILTERS = (
    CaseFilter(),
    CaseFilter(models=("alpha-net",)),
    CaseFilter(opinions=(f"omission:yes:{PROMPT}:{JUDGE}",)),
    CaseFilter(failures=("laterality_error",), search="c0"),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return build_memory_engine(
        load_review_set(write_judged_set(tmp_path_factory.mktemp("judged") / "set"))
    )


def answers_of(engine, case_filter):
    """The answers that a filter leaves, as case and model."""
    rows = engine.selection(case_filter).rows
    return {(row["case"], row["model"]) for row in rows.iter_rows(named=True)}


@pytest.mark.parametrize("case_filter", FILTERS)
def test_every_number_opens_its_answers(engine, case_filter):
    tables = build_judge_tables(engine, case_filter, ASKED, resamples=0)
    for row in tables.failures:
        for count in (row.present, row.spoken):
            found = answers_of(engine, count.opens)
            assert len(found) == count.value
            assert {model for _, model in found} <= {row.model}
    for row in tables.scores:
        for count in (row.scored, row.by_readers):
            assert len(answers_of(engine, count.opens)) == count.value
    assert tables.failures or not engine.tally(case_filter).answers


def test_the_numbers_are_those_of_the_rows(engine):
    tables = build_judge_tables(engine, CaseFilter(), ASKED, resamples=0)
    rows = [row for row in judged_parts()["opinions"] if row["prompt_id"] == PROMPT]
    for one in tables.failures:
        said = [
            row["present"]
            for row in rows
            if (row.get("failure"), row["model"]) == (one.failure, one.model)
        ]
        assert (one.present.value, one.spoken.value) == (sum(said), len(said))
    for one in tables.scores:
        scores = [
            row["score"]
            for row in rows
            if (row.get("dimension"), row["model"]) == (one.dimension, one.model)
        ]
        assert one.mean == pytest.approx(sum(scores) / len(scores))
    assert {row.failure for row in tables.failures} == set(FAILURES)
    assert {row.dimension for row in tables.scores} == set(DIMENSIONS)


def test_agreement_is_the_same_under_every_filter(engine):
    found = [build_judge_tables(engine, one, ASKED, resamples=0).agreement for one in FILTERS]
    assert all(one == found[0] for one in found)
    assert found[0].failures["omission"].n == 48


def test_agreement_is_worked_out_once_for_a_set(engine):
    """Orders of Content and steps of a scan have engines of their own."""
    other = build_memory_engine(engine.table.review_set)
    assert other.judge_agreement(ASKED) is engine.judge_agreement(ASKED)


def test_all_conditions_on_judges_have_to_hold(engine):
    words = (f"omission:yes:{PROMPT}:{JUDGE}", f"hallucination:no:{PROMPT}:{JUDGE}")
    both = answers_of(engine, CaseFilter(opinions=words))
    each = [answers_of(engine, CaseFilter(opinions=(word,))) for word in words]
    assert both == each[0] & each[1]
    assert each[0] != both != each[1]


def test_a_judge_that_the_set_does_not_have_leaves_nothing_and_is_named(engine):
    wanted = CaseFilter(opinions=("omission:yes:p:nobody",))
    assert not len(engine.selection(wanted))
    assert describe_unknown_values(engine.facets(wanted), engine.facts, wanted) == [
        "This set has no judge “nobody (p)”."
    ]
    (chip,) = list_chips(engine.facts, wanted)
    assert chip.rest == CaseFilter()


def test_opinions_change_no_number_of_detectors_and_readers(engine, tmp_path):
    rows = [
        opinion(row["id"], model, failure=failure, present=True)
        for row in judged_parts()["cases"]
        for model in MODELS
        for failure in FAILURES
    ]
    others = build_memory_engine(load_review_set(write_judged_set(tmp_path / "set", opinions=rows)))
    for case_filter in (CaseFilter(), CaseFilter(failures=("omission",), sources=("reader",))):
        mine, theirs = (
            build_failure_tables(one, case_filter, resamples=0).rows for one in (engine, others)
        )
        assert mine == theirs
        for order in ("severity", "gap", "disagreement", "newest"):
            ordered = CaseFilter(sort=order)
            assert engine.page(ordered, 0, 50) == others.page(ordered, 0, 50)
        assert engine.facets(case_filter) == others.facets(case_filter)


def test_agreement_is_said_in_a_line(engine):
    found = engine.judge_agreement(ASKED)
    assert describe_failure_agreement(found.failures["omission"]) == (
        "agreement with readers: kappa 0.42 (0.20 to 0.70), 48 answers; "
        "precision 55% (31% to 81%), recall 73% (50% to 92%)"
    )
    assert describe_score_agreement(found.scores["process"]).startswith(
        "agreement with readers: weighted kappa 0."
    )
    older = engine.judge_agreement(Judge(JUDGE, OLDER))
    assert describe_failure_agreement(older.failures["omission"]) == (
        "compared with readers on 1 answer: too few to tell"
    )
    assert describe_failure_agreement(None) == describe_score_agreement(None) == NEVER_COMPARED_NOTE
    assert "a language model’s opinion" in failures_caption(found)


def test_what_is_not_counted_and_what_is_mixed_is_said(tmp_path):
    rows = judged_parts()["opinions"]
    for place, row in enumerate(rows):
        row["prompt_hash"] = f"{place % 2}" * 8
        if row["case"] == "c00":
            row["answer_digest"] = "0" * 64
    engine = build_memory_engine(load_review_set(write_judged_set(tmp_path / "set", opinions=rows)))
    for caption in (failures_caption, scores_caption):
        text = caption(engine.judge_agreement(ASKED))
        assert "16 opinions on earlier texts of answers are not counted." in text
        assert f"The wording {PROMPT} was changed but kept its name" in text
    assert engine.facts.judges == (ASKED, Judge(JUDGE, OLDER))  # of the other all are stale


def test_quotes_are_found_in_the_answer(engine, tmp_path):
    review_set = engine.table.review_set
    rows = [row for row in judged_parts()["opinions"] if row["case"] == "c00" and row.get("quote")]
    about = rows[0]
    found = collect_opinions(review_set, engine, "c00", review_set.answers_of("c00"), ASKED)
    said = {one.failure: one for one in found.of(about["model"]).failures}[about["failure"]]
    text = {one.model: one.text for one in review_set.answers_of("c00")}[about["model"]]
    assert " ".join(text[said.start : said.end].split()) == QUOTE
    assert (said.reason, said.quote_known) == (about["reason"], False)
    assert found.of("nobody").failures == ()


@pytest.mark.parametrize(("extra", "known"), [({"quote_found": True}, True), ({}, False)])
def test_words_that_are_not_in_the_answer_have_no_place(tmp_path, extra, known):
    rows = [
        opinion(
            "c00",
            "alpha-net",
            failure="omission",
            present=True,
            quote="Model B says so",
            extra=extra,
        )
    ]
    folder = write_judged_set(tmp_path / "set", opinions=rows)
    engine = build_memory_engine(load_review_set(folder))
    review_set = engine.table.review_set
    found = collect_opinions(review_set, engine, "c00", review_set.answers_of("c00"), ASKED)
    (said,) = found.of("alpha-net").failures
    assert (said.start, said.quote_known) == (None, known)


def test_words_of_the_explanation_are_in_the_answer(tmp_path):
    parts = judged_parts()
    parts["answers"][0] |= {"choice": 0, "explanation": "The heart is wide."}
    said = {"failure": "hallucination", "present": True, "quote": "heart is wide"}
    parts["opinions"] = [opinion("c00", "alpha-net", **said)]
    parts["cases"][0] |= {"question_type": "choice", "options": ["A", "B"]}
    engine = build_memory_engine(load_review_set(write_judged_set(tmp_path / "set", **parts)))
    review_set = engine.table.review_set
    found = collect_opinions(review_set, engine, "c00", review_set.answers_of("c00"), ASKED)
    (one,) = found.of("alpha-net").failures
    assert (one.start, one.quote_known) == (None, True)
