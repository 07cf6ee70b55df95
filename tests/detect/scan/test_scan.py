"""Scores that change are taken in without reading the texts again, with the same outcome."""

import random
from dataclasses import replace

import polars as pl
import pytest

from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.detect import (
    DETECTORS,
    create_detectors,
    find_flags,
    find_flags_for_answers,
    name_flags,
    survey,
)
from rexview.detect.detector import ScoringDetector
from rexview.detect.scan import scan
from rexview.detect.scan.batch import add_case_and_model
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER
from rexview.vocab import DIMENSIONS, FAILURES

_SHOWN = ["case", "model", "failure", "source", "kind", "reader", "verdict", "stands", "hint"]


@pytest.fixture(scope="module")
def demo():
    return load_review_set(DEMO_FOLDER)


def rescored(review_set, seed):
    """The set with some scores changed, some removed, some added."""
    chance = random.Random(seed)
    rows = [row for row in review_set.scores.to_dicts() if chance.random() > 0.05]
    for row in rows:
        if chance.random() < 0.1:
            row["score"] = chance.choice([1, 2, 3, 4, 5, None])
        if chance.random() < 0.02:
            row["comment"] = "Far too long."
    answers = review_set.answers.filter("_newest").select("case", "model").rows()
    for case, model in chance.sample(answers, 15):
        for dimension in DIMENSIONS:
            rows.append(
                dict.fromkeys(review_set.scores.columns)
                | {"case": case, "model": model, "reader": "new", "dimension": dimension}
                | {"score": chance.randint(1, 5), "_row": len(rows) + 1, "_origin": "app"}
            )
    scores = pl.DataFrame(rows, schema=review_set.scores.schema)
    return replace(review_set, scores=scores)


def same(one, other):
    assert name_flags(one).sort(_SHOWN).equals(name_flags(other).sort(_SHOWN))
    assert one.judged.tolist() == other.judged.tolist()


def test_the_outcome_is_that_of_looking_at_everything(demo):
    known = survey(demo)
    for seed in range(4):
        changed = rescored(demo, seed)
        known = survey(changed, before=known)  # each builds on the one before
        whole = survey(changed)
        same(known, whole)
        assert not name_flags(known).equals(find_flags(demo)), "the change must matter"


def test_the_evidence_that_is_kept_is_what_the_detectors_give(demo):
    whole = survey(demo)
    order = {failure: place for place, failure in enumerate(FAILURES)}
    for case_id in demo.cases["id"]:
        answers = demo.answers_of(case_id)
        given = find_flags_for_answers(
            demo.case(case_id),
            answers,
            demo.scores_of(case_id),
            detectors=create_detectors(models=demo.models),
        )
        models = [answer.model for answer in answers]
        given.sort(key=lambda flag: (models.index(flag.model), order[flag.failure]))
        assert whole.flags_of(case_id, answers, ()) == given


def test_scores_can_all_go(demo):
    bare = replace(demo, scores=demo.scores.clear())
    same(survey(bare, before=survey(demo)), survey(bare))


def test_new_scores_cost_no_reading_of_texts(demo, monkeypatch):
    known = survey(demo)
    (case, model) = demo.scores.row(0)[:2]
    changed = demo.scores.with_columns(
        pl.when((pl.col("case") == case) & (pl.col("model") == model))
        .then(pl.lit(1, pl.Int8))
        .otherwise("score")
        .alias("score")
    )
    seen = []
    for kind in {type(one) for one in DETECTORS}:

        def noted(self, one, original=kind.can_judge):
            seen.append((self, one.answer.case, one.answer.model))
            return original(self, one)

        monkeypatch.setattr(kind, "can_judge", noted)
    again = survey(replace(demo, scores=changed), before=known)
    assert not seen
    for one_case in demo.cases["id"]:
        again.flags_of(one_case, demo.answers_of(one_case), ())
    scoring = {one.failure for one in DETECTORS if isinstance(one, ScoringDetector)}
    by_scores = again.scan.by_scores.flags
    shown = set(add_case_and_model(by_scores, demo).select("case", "model").rows())
    assert {(of_case, of_model) for _, of_case, of_model in seen} == shown
    assert {one.failure for one, _, _ in seen} <= scoring


def test_without_a_change_nothing_is_looked_at(demo, monkeypatch):
    known = survey(demo)
    monkeypatch.setattr(scan, "run_detectors", None)
    again = survey(replace(demo, scores=demo.scores.clone()), before=known)
    same(again, known)


def test_other_settings_are_not_taken_from_before(demo):
    other = tuple(
        replace(one, threshold=1.0) if one.failure == "execution_gap" else one for one in DETECTORS
    )
    same(survey(demo, detectors=other, before=survey(demo)), survey(demo, detectors=other))


@pytest.mark.parametrize(
    "one",
    [one for one in DETECTORS if not isinstance(one, ScoringDetector)],
    ids=lambda one: one.failure,
)
def test_who_says_it_reads_no_scores_reads_none(demo, one):
    changed = rescored(demo, 7)
    bare = replace(demo, scores=demo.scores.clear())
    kept = ["case", "model", "failure", "kind"]
    found = [
        find_flags(some, detectors=(one,)).filter(pl.col("source") == "detector").select(kept)
        for some in (demo, changed, bare)
    ]
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


def test_the_table_of_answers_is_the_same_either_way(demo):
    changed = rescored(demo, 3)
    built = build_memory_engine(changed, before=build_memory_engine(demo))
    assert built.table.rows.equals(build_memory_engine(changed).table.rows)
