"""Judges beside readers: worked by hand, and against scikit-learn and pandas on a made set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.documented_fields import documented
from support.judge.judged_set import (
    DIMENSIONS,
    FAILURES,
    JUDGE,
    OLDER,
    PROMPT,
    judged_parts,
    opinion,
    write_judged_set,
)

from rexview.answer_digest import digests_of
from rexview.cli.output import as_json
from rexview.detect import judged_answers, survey
from rexview.reviewset import load_review_set
from rexview.stats.judge_agreement import (
    MARKABLE_FAILURES,
    MIN_COMPARED_ANSWERS,
    Judge,
    cohens_kappa,
    collect_judge_opinions,
    quadratic_kappa_of_sums,
)
from rexview.stats.reader_agreement import quadratic_kappa
from rexview.stats.report.document import build_statistics_report
from rexview.stats.report.lists import LISTS
from rexview.stats.report.text import report_text


def tables_of(folder, **more):
    review_set = load_review_set(folder)
    found = survey(review_set)
    return build_statistics_report(
        review_set,
        gap_threshold=2,
        judged=judged_answers(found),
        verdicts=found.verdicts,
        **more,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write_judged_set(tmp_path_factory.mktemp("judged") / "set")


@pytest.fixture(scope="module")
def tables(made):
    return tables_of(made)


def rows_of(tables, name, **about):
    return [row for row in tables[name] if all(row[key] == value for key, value in about.items())]


def truth_of(parts, failure):
    """What readers say of every answer, with pandas: confirmed by any, else rejected or silent."""
    flags, scores = pd.DataFrame(parts["flags"]), pd.DataFrame(parts["scores"])
    marks_failures = set(flags.reader)
    said = flags[flags.failure == failure].groupby(["case", "model"]).verdict.agg(set)
    finished = scores[scores.reader.isin(marks_failures)].groupby(["case", "model"]).size()
    truth = dict.fromkeys(finished.index, False)
    truth |= {pair: "confirmed" in verdicts for pair, verdicts in said.items()}
    return truth


@pytest.mark.parametrize("section", LISTS)
def test_every_field_is_documented_in_its_order(tables, section):
    assert tables[section]
    for row in tables[section]:
        assert list(row) == documented(section)


def test_failures_are_those_of_scikit_learn(tables):
    from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

    parts = judged_parts()
    for failure in FAILURES:
        (row,) = rows_of(tables, "judge_failures", failure=failure, prompt_id=PROMPT)
        truth = truth_of(parts, failure)
        said = {
            (one["case"], one["model"]): one["present"]
            for one in parts["opinions"]
            if one.get("failure") == failure and one["prompt_id"] == PROMPT
        }
        pairs = sorted(truth.keys() & said.keys())
        readers, judge = [truth[pair] for pair in pairs], [said[pair] for pair in pairs]
        assert row["n"] == len(pairs) == row["opinions"]
        assert row["present"] == sum(judge)
        assert row["kappa"] == pytest.approx(cohen_kappa_score(readers, judge))
        assert row["precision"] == pytest.approx(precision_score(readers, judge))
        assert row["recall"] == pytest.approx(recall_score(readers, judge))
        assert row["ci_low"] < row["kappa"] < row["ci_high"]
        assert row["precision_ci_low"] < row["precision"] < row["precision_ci_high"]
        assert row["patients"] == 12
        cells = [row[name] for name in ("both", "only_judge", "only_readers", "neither")]
        assert sum(cells) == row["n"]
        spoken = {
            (one["case"], one["model"]) for one in parts["flags"] if one["failure"] == failure
        }
        assert row["silent"] == len(set(pairs) - spoken) > 0


def test_scores_are_those_of_scikit_learn(tables):
    """Final scores of one or two readers lie on half points: kappa of the doubled ones is it."""
    from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error

    parts = judged_parts()
    scores = pd.DataFrame(parts["scores"])
    for dimension in DIMENSIONS:
        (row,) = rows_of(tables, "judge_scores", dimension=dimension)
        final = scores[scores.dimension == dimension].groupby(["case", "model"]).score.mean()
        said = {
            (one["case"], one["model"]): one["score"]
            for one in parts["opinions"]
            if one.get("dimension") == dimension
        }
        judge = np.array([said[pair] for pair in final.index])
        doubled = (final.to_numpy() * 2).astype(int)
        assert (doubled % 2).any()
        kappa = cohen_kappa_score(
            judge * 2, doubled, labels=list(range(2, 11)), weights="quadratic"
        )
        assert row["qwk"] == pytest.approx(kappa)
        assert row["mad"] == pytest.approx(mean_absolute_error(final, judge))
        assert row["exact"] == pytest.approx(accuracy_score(doubled, judge * 2))
        assert row["judge_mean"] == pytest.approx(judge.mean())
        assert row["readers_mean"] == pytest.approx(final.mean())
        assert row["qwk_ci_low"] < row["qwk"] < row["qwk_ci_high"]
        (own,) = rows_of(tables, "readers", dimension=dimension)  # there are two readers only
        assert (row["readers_n"], row["readers_qwk"]) == (own["n"], pytest.approx(own["qwk"]))


def test_whole_scores_have_the_kappa_of_readers():
    random = np.random.default_rng(3)
    a, b = random.integers(1, 6, size=(2, 200))
    table = np.zeros((5, 5), dtype=np.int64)
    np.add.at(table, (a - 1, b - 1), 1)
    sums = np.array([[200, a.sum(), b.sum(), (a**2 + b**2).sum(), ((a - b) ** 2).sum()]])
    assert quadratic_kappa_of_sums(sums)[0] == pytest.approx(quadratic_kappa(table.ravel())[0])


def test_kappa_of_many_tables_is_that_of_each():
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(4)
    tables = random.integers(1, 30, size=(20, 4))
    wanted = [
        cohen_kappa_score([1, 1, 0, 0], [1, 0, 1, 0], sample_weight=cells) for cells in tables
    ]
    assert cohens_kappa(tables) == pytest.approx(wanted)
    assert np.isnan(cohens_kappa(np.array([[0, 0, 0, 9]]))[0])


def test_the_interval_draws_patients(tmp_path):
    """All answers of a patient ten times over say no more than once: the interval stays."""
    parts = judged_parts()
    once = tables_of(write_judged_set(tmp_path / "once"))
    copies = {name: [] for name in ("cases", "answers", "scores", "flags", "opinions")}
    for name, rows in copies.items():
        key = "id" if name == "cases" else "case"
        rows += [{**row, key: f"{row[key]}-{n}"} for row in parts[name] for n in range(3)]
    thrice = tables_of(write_judged_set(tmp_path / "thrice", **copies))
    for failure in FAILURES:
        (a,) = rows_of(once, "judge_failures", failure=failure, prompt_id=PROMPT)
        (b,) = rows_of(thrice, "judge_failures", failure=failure, prompt_id=PROMPT)
        assert b["n"] == 3 * a["n"]
        for name in ("kappa", "ci_low", "ci_high", "recall_ci_low"):
            assert b[name] == pytest.approx(a[name], abs=0.02), (failure, name)


def test_readers_who_never_mark_failures_are_not_taken_for_silent(tmp_path):
    parts = judged_parts()
    flags = [row for row in parts["flags"] if row["case"] == "c00"]
    anna = {row["reader"] for row in flags}
    assert anna == {"anna"}
    of_bob = [row for row in parts["scores"] if row["reader"] == "bob"]
    found = tables_of(write_judged_set(tmp_path / "set", flags=flags, scores=of_bob))
    rows = rows_of(found, "judge_failures", prompt_id=PROMPT)
    assert rows
    assert {(row["n"], row["silent"], row["kappa"]) for row in rows} == {(2, 0, None)}
    assert all(f"2, of at least {MIN_COMPARED_ANSWERS}" in row["why"] for row in rows)


def test_of_some_failures_silence_says_nothing(tmp_path):
    assert not {"failed_extraction", "disagreement", "boxes_missing"} & set(MARKABLE_FAILURES)
    rows = [
        opinion(case["id"], "alpha-net", failure=failure, present=True)
        for case in judged_parts()["cases"]
        for failure in ("wrong_explanation", "terse")
    ]
    found = tables_of(write_judged_set(tmp_path / "set", opinions=rows))
    n = {row["failure"]: row["n"] for row in found["judge_failures"]}
    assert n == {"wrong_explanation": 0, "terse": 24}
    (terse,) = rows_of(found, "judge_failures", failure="terse")
    assert terse["kappa"] is None
    assert "without variance" in terse["why"]
    assert (terse["precision"], terse["only_judge"]) == (0, 24)


def test_too_few_answers_have_no_number(tables):
    (row,) = rows_of(tables, "judge_failures", prompt_id=OLDER)
    assert row["n"] == 1
    assert [row[name] for name in ("kappa", "precision", "recall", "ci_low")] == [None] * 4
    assert "Too few" in row["why"]


def test_the_newest_judge_comes_first(made):
    found = collect_judge_opinions(load_review_set(made))
    assert found.judges == (Judge(JUDGE, PROMPT), Judge(JUDGE, OLDER))
    assert found.stale == {}


def test_opinions_on_earlier_texts_count_nowhere(tmp_path, tables):
    folder = write_judged_set(tmp_path / "set")
    review_set = load_review_set(folder)
    now = digests_of(review_set).of_all([("c00", "alpha-net")])["c00", "alpha-net"]
    rows = judged_parts()["opinions"]
    for row in rows:
        about = (row["case"], row["model"])
        row["answer_digest"] = now if about == ("c00", "alpha-net") else None
        if about == ("c01", "alpha-net"):
            row["answer_digest"] = "0" * 64
    found = tables_of(write_judged_set(tmp_path / "other", opinions=rows))
    (row,) = rows_of(found, "judge_failures", failure="omission", prompt_id=PROMPT)
    (before,) = rows_of(tables, "judge_failures", failure="omission", prompt_id=PROMPT)
    assert (before["n"], row["n"]) == (48, 47)
    assert collect_judge_opinions(load_review_set(tmp_path / "other")).stale == {
        Judge(JUDGE, PROMPT): 8
    }


def test_scores_of_an_answer_that_never_came_count_nowhere(tmp_path, tables):
    parts = judged_parts()
    parts["answers"][0]["finish_reason"] = "length"
    found = tables_of(write_judged_set(tmp_path / "set", **parts))
    for name, opinions in (("judge_scores", 47), ("judge_failures", 48)):
        for row in rows_of(found, name, prompt_id=PROMPT):
            assert row["opinions"] == opinions


def test_exchanging_all_opinions_changes_no_other_number(tmp_path, tables):
    rows = judged_parts()["opinions"]
    for row in rows:
        if "present" in row:
            row["present"] = not row["present"]
        else:
            row["score"] = 6 - row["score"]
    exchanged = tables_of(write_judged_set(tmp_path / "exchanged", opinions=rows))
    without = tables_of(write_judged_set(tmp_path / "without", opinions=[]))
    own = ("judge_failures", "judge_scores")
    rest = [as_json({k: v for k, v in one.items() if k not in own}) for one in (tables, exchanged)]
    assert rest[0] == rest[1]
    assert rest[0] == as_json({k: v for k, v in without.items() if k not in own})
    assert [without[name] for name in own] == [[], []]
    for name in own:
        assert tables[name] != exchanged[name]


def test_the_text_says_whose_opinion_it_is(tables):
    text = report_text(tables)
    assert "Judges beside readers: failures (a language model's opinion)" in text
    assert "judge-x" in text
    assert "Too few answers to compare" in text
