"""The report of a whole review set: its fields, its words, and its numbers against pandas."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import wilcoxon
from support import ROOT
from support.documented_fields import documented

from rexview import cli
from rexview.cli.results import with_computed_metrics
from rexview.curation.coverage import coverage_rows
from rexview.detect import judged_answers, survey
from rexview.detect.self_contradiction import compare_repeats
from rexview.metrics.identity import RECIPROCALS, known_metric
from rexview.reviewset import load_review_set
from rexview.stats.report.document import build_statistics_report
from rexview.stats.report.lists import generated_report_rows
from rexview.stats.report.text import report_text
from rexview.vocab import TEXT_DIMENSIONS

DEMO = ROOT / "assets" / "demo"
LISTS = (
    *("scores", "tests", "gap", "readers", "no_answer", "friedman", "alpha"),
    *("failures", "failure_tests", "choices", "choice_raters", "choice_readers"),
    *("choice_tests", "choice_kappa", "self_contradiction"),
    *("curation_agreement", "curation_coverage", "unfinished"),
)
REPORT_LISTS = ("boards", "site_ranks", "correlations", "error_free", "preferences")
JUDGE_LISTS = ("judge_failures", "judge_scores")
FIRST = {  # what other programs may rely on, in this order
    "scores": "dimension model n mean sd ci_low ci_high share_5 share_below_3",
    "tests": "dimension model_a model_b n_pairs statistic p p_adj effect",
    "gap": "model n mean ci_low ci_high share_flagged",
    "readers": "dimension n qwk mad exact within_one mean_a sd_a mean_b sd_b",
    "no_answer": "model n by_reason",
    "choices": "model task category n correct failed accuracy low high",
}


def demo_report():
    review_set = load_review_set(DEMO)
    found = survey(review_set)
    return build_statistics_report(
        review_set,
        gap_threshold=2,
        judged=judged_answers(found),
        verdicts=found.verdicts,
        coverage=coverage_rows(review_set),
        again=compare_repeats(review_set),
        generated=generated_report_rows(
            with_computed_metrics(review_set), known_metric, not_averaged=RECIPROCALS
        ),
    )


@pytest.fixture(scope="module")
def demo():
    return demo_report()


@pytest.fixture(scope="module")
def three(make_set):
    """Three models, three readers, one case without a score, one answer that never came."""
    random = np.random.default_rng(4)
    answers = [{"case": f"c{case}", "model": model} for case in range(6) for model in "gmx"]
    answers[0]["finish_reason"] = "length"
    again = [{"case": "c5", "model": "x", "repeat": 2, "_newest": False, "_repeated": True}]
    scores = [
        {**answer, "reader": reader, "dimension": dimension, "score": int(random.integers(1, 6))}
        for answer in answers[:15]
        for reader in "abc"
        for dimension in TEXT_DIMENSIONS
    ]
    for score in scores:
        score.pop("finish_reason", None)
    cases = [{"id": f"c{case}"} for case in range(6)]
    flags = [{"case": "c1", "model": "g", "reader": "a", "failure": "verbose"}]
    given = make_set(cases=cases, answers=answers + again, scores=scores, flags=flags)
    begun = given.scores.filter(pl.col("reader") == "b", pl.col("case") == "c4")
    judged = judged_answers(survey(given))
    given = replace(given, unfinished=begun)
    return build_statistics_report(
        given, gap_threshold=2, judged=judged, again=compare_repeats(given)
    )


@pytest.mark.parametrize("section", LISTS)
def test_every_field_is_documented_in_its_order(three, demo, section):
    rows = three[section] or demo[section]  # of choice questions the demo has readers' answers
    assert rows
    for row in rows:
        assert list(row) == documented(section)


def test_the_rest_of_the_document_is_true(three):
    curation = ("curation_agreement", "curation_coverage")
    assert list(three) == [*LISTS[:-3], *REPORT_LISTS, *JUDGE_LISTS, *LISTS[-3:], "about"]
    others = (*REPORT_LISTS, *JUDGE_LISTS, *curation)  # no reports, no judge, no candidates
    assert not any(three[section] for section in others)
    assert list(three["about"]) == documented("about")
    assert three["about"]["resamples"] == 9_999
    assert list(three["about"]["versions"]["scipy"])


@pytest.mark.parametrize("section", FIRST)
def test_the_fields_that_programs_rely_on_come_first(three, section):
    for row in three[section]:
        assert list(row)[: len(FIRST[section].split())] == FIRST[section].split()


def test_every_model_pair_and_reader_pair_has_its_rows(three):
    assert len(three["scores"]) == 5 * 3
    assert len(three["tests"]) == 5 * 3
    assert len(three["readers"]) == 4 * 3
    assert len(three["friedman"]) == 5
    assert len(three["alpha"]) == 4
    lost = {row["model"]: (row["n"], row["answers"]) for row in three["no_answer"]}
    assert lost == {"g": (1, 6), "m": (0, 6), "x": (0, 6)}


def test_it_is_the_same_every_time_and_never_nan(three, demo):
    again = demo_report()
    assert json.dumps(again, allow_nan=False) == json.dumps(demo, allow_nan=False)
    assert json.loads(json.dumps(three, allow_nan=False)) == three


def test_what_is_null_says_why(demo, three):
    nulls = {"mean", "sd", "ci_low", "p", "p_adj", "effect", "qwk", "qwk_ci_low", "alpha"}
    for tables in (demo, three):
        for section in LISTS:
            for row in tables[section]:
                if any(row.get(name, 0) is None for name in nulls):
                    assert row["why"], row


def test_a_set_without_scores_or_answers_has_tables_without_numbers(make_set):
    unscored = build_statistics_report(
        make_set(answers=[{"case": "c", "model": "g"}]), gap_threshold=2
    )
    assert [row["n"] for row in unscored["scores"]] == [0] * 5
    assert all(row["why"] for row in unscored["scores"] + unscored["gap"])
    assert unscored["tests"] == unscored["readers"] == unscored["alpha"] == []
    empty = build_statistics_report(make_set(), gap_threshold=2)
    assert all(empty[section] == [] for section in LISTS)
    assert "Content:" in report_text(empty)


def test_the_demo_against_pandas(demo):
    """The same numbers from the files themselves: one mark a row, no code of ours."""
    answers = pd.read_json(DEMO / "answers.jsonl", lines=True)
    limit = answers["model"].map({"medical-4b": 512})  # one answer says "stop" at the limit
    whole = (answers["finish_reason"] == "stop") & ~(answers["usage"].str["output_tokens"] >= limit)
    came = answers[whole][["case", "model"]]
    given = pd.read_csv(DEMO / "scores.csv").merge(came, on=["case", "model"])
    text = given[given["dimension"].isin(TEXT_DIMENSIONS)]
    assert not text.duplicated(["case", "model", "reader", "dimension"]).any()
    final = text.pivot_table(index=["case", "model"], columns="dimension", values="score")
    parts = ["process", "execution", "synthesis"]
    final["content"] = final[parts].min(axis=1).where(final[parts].notna().all(axis=1))
    final["gap"] = final["process"] - final["execution"]
    for row in demo["scores"] + [{**row, "dimension": "gap"} for row in demo["gap"]]:
        if row["dimension"].startswith("image"):
            continue
        values = final.xs(row["model"], level="model")[row["dimension"]].dropna()
        assert row["n"] == len(values)
        assert row["mean"] == pytest.approx(values.mean(), rel=1e-12)
        assert row["sd"] == pytest.approx(values.std(), rel=1e-12)
        if row["dimension"] == "gap":
            assert row["flagged"] == (values >= 2).sum()
        else:
            assert row["share_5"] == pytest.approx((values == 5).mean())
            assert row["share_below_3"] == pytest.approx((values < 3).mean())
    assert len(demo["tests"]) == 5
    for row in demo["tests"]:
        both = final[row["dimension"]].unstack()
        difference = (both[row["model_a"]] - both[row["model_b"]]).dropna()
        expected = wilcoxon(difference)
        assert row["n_pairs"] == len(difference)
        assert row["statistic"] == expected.statistic
        assert row["p"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert row["mean_difference"] == pytest.approx(difference.mean(), rel=1e-12)
    lost = answers[~whole].groupby("model").size()
    assert {row["model"]: row["n"] for row in demo["no_answer"] if row["n"]} == lost.to_dict()


def test_failures_say_what_could_be_judged_and_who_says_so(demo):
    sides = {row["model"]: row for row in demo["failures"] if row["failure"] == "laterality_error"}
    assert [(row["flagged"], row["n"]) for row in sides.values()] == [(6, 56), (5, 40)]
    for row in demo["failures"]:
        parts = row["rule_only"] + row["reader_only"] + row["rule_and_reader"]
        assert parts == row["flagged"] <= row["n"]
    (test,) = [row for row in demo["failure_tests"] if row["failure"] == "laterality_error"]
    assert (test["n_pairs"], test["only_a"], test["only_b"], test["both"]) == (39, 4, 4, 1)
    assert test["p"] == pytest.approx(1.0)  # four against four: nothing to choose


def test_the_text_has_every_table_and_reason(three, make_set):
    text = report_text(three)
    for title in ("Final scores", "Between models", "Friedman", "Gap", "Between readers", "alpha"):
        assert title in text
    for title in ("Failures", "Failures between models", "Not finished, in no table"):
        assert title in text
    assert "9,999 resamples" in text
    row = next(row for row in three["scores"] if row["model"] == "m")
    line = next(line for line in text.splitlines() if re.match(r"Content +m ", line))
    assert f"{row['mean']:.2f}" in line
    assert f"{row['ci_low']:.2f} to {row['ci_high']:.2f}" in line
    hostile = make_set(answers=[{"case": "c", "model": "a\x1b[2Jb\n"}])
    shown = report_text(build_statistics_report(hostile, gap_threshold=2))
    assert "\x1b" not in shown
    assert "No answer has a value." in shown


def test_the_command_prints_json_and_text(demo, capsys):
    assert cli.main(["stats", str(DEMO), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert all(printed[name] for name in REPORT_LISTS)  # the demo asks for reports
    assert printed == demo
    assert cli.main(["stats", str(DEMO)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Demonstration\n")
    assert not {"nan", "None"} & set(printed.split())
    assert cli.main(["stats", str(DEMO), "--json", "--order", "minimum_first"]) == 0
    other = json.loads(capsys.readouterr().out)
    assert other["about"]["content_order"] == "minimum_first"
    changed = {
        new["dimension"]
        for old, new in zip(demo["scores"], other["scores"], strict=True)
        if old != new
    }
    assert changed <= {"content"}
    with pytest.raises(SystemExit):
        cli.main(["stats", str(DEMO), "--order", "sideways"])


def test_a_folder_that_is_no_review_set_is_told(tmp_path, capsys):
    assert cli.main(["stats", str(tmp_path / "none")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err
