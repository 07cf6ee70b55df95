"""``python -m rexview metrics``: what is worked out, kept and told."""

import csv
import json
import os
import subprocess
import sys

import pytest
from support import ROOT
from support.reports.compared_reports import write_reports
from support.reports.metric_packages import write_packages

from rexview.cli import main
from rexview.metrics.answer_metrics import bleu_2
from rexview.reviewset import load_review_set


@pytest.fixture
def folder(tmp_path):
    return write_reports(tmp_path / "set")


def metrics(folder, *more):
    return main(["metrics", str(folder), *more])


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def values(folder, metric, scope):
    rows = load_review_set(folder).metrics.iter_rows(named=True)
    return {
        (row["case"], row["model"]): row["value"]
        for row in rows
        if (row["metric"], row["scope"]) == (metric, scope)
    }


def test_our_own_metrics_are_worked_out_for_both_scopes(folder, capsys):
    before = (folder / "answers.jsonl").read_bytes()
    assert metrics(folder, "--metric", "bleu_2", "--metric", "finding_agreement") == 0
    captured = capsys.readouterr()
    assert "BLEU-2 (rexview 1, findings): metrics/computed-bleu_2" in captured.out
    assert "findings: 2 reports left out: no findings in the answer." in captured.err
    report = load_review_set(folder).case("r1").report
    expected = bleu_2(report.findings, "Small left pleural effusion. Heart is normal.")
    found = values(folder, "bleu_2", "findings")
    assert found["r1", "b"] == expected
    assert set(found) == {("r1", "a"), ("r2", "a"), ("r3", "a"), ("r1", "b")}
    assert set(values(folder, "finding_agreement", "findings+impression")) == {
        *(("r1", "a"), ("r2", "a"), ("r1", "b"))
    }
    assert (folder / "answers.jsonl").read_bytes() == before
    assert main(["check", str(folder)]) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


def test_json_says_what_was_kept_and_what_is_missing(folder, capsys):
    scope = ("--scope", "findings+impression", "--model", "b")
    assert metrics(folder, "--metric", "bleu_2", *scope, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    [one] = told["values"]
    names = ("metric", "implementation", "version", "scope")
    assert [one[name] for name in names] == ["bleu_2", "rexview", "1", "findings+impression"]
    assert one["models"]["b"]["reports"] == 1
    assert (folder / one["file"]).is_file()
    missing = {row["why"]: row["reports"] for row in told["missing"]}
    assert missing == {
        "no findings or no impression in the answer": 1,
        "no findings or no impression in the reference": 1,
    }


def test_what_cannot_be_written_is_told_before_anything_is_worked_out(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("rexview.metrics.blocking_computation.compute_own_values", None)
    (tmp_path / "values.csv").touch()
    for name, words in (("values.csv", "already"), ("values.txt", "neither"), ("no/x.csv", "no")):
        assert metrics(folder, "--metric", "bleu_2", "--out", str(tmp_path / name)) == 1
        assert words in capsys.readouterr().err
    (folder / "metrics").touch()
    assert metrics(folder, "--metric", "bleu_2") == 1
    assert "metrics/ of the review set cannot be written" in capsys.readouterr().err


def test_values_go_to_a_file_and_nothing_into_the_set(folder, tmp_path, capsys):
    before = files(folder)
    out = tmp_path / "values.csv"
    assert metrics(folder, "--metric", "bleu_2", "--scope", "findings", "--out", str(out)) == 0
    with out.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 4
    assert files(folder) == before
    assert metrics(folder, "--metric", "bleu_2", "--out", str(out)) == 1
    assert "already" in capsys.readouterr().err


def test_a_corrected_reference_is_compared_under_a_scope_of_its_own(folder):
    references = "case,reader,findings,impression\nr1,ra,Small left pleural effusion.,\n"
    (folder / "references.csv").write_text(references)
    corrected = ("--reference", "corrected", "--scope", "findings")
    assert metrics(folder, "--metric", "bleu_2", *corrected) == 0
    found = values(folder, "bleu_2", "findings, corrected")
    assert set(found) == {("r1", "a"), ("r1", "b")}
    assert found["r1", "b"] > found["r1", "a"]
    assert values(folder, "bleu_2", "findings") == {}


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        (["--metric", "radcliq"], 1, "pip install radeval"),
        (["--metric", "bleu_2", "--metric", "crimson"], 1, "pip install crimson-score"),
        (["--metric", "nonsense"], 2, "There is no metric nonsense. There are bleu_2,"),
        (["--metric", "bleu_2", "--scope", "history"], 2, "no scope history"),
        (["--metric", "bleu_2", "--model", "gpt"], 2, "no model gpt"),
        (["--metric", "bleu_2", "--reference", "corrected"], 1, "No generated report"),
        (["--metric", "bleu_2", "--metric", "fineradscore"], 2, "asked for alone"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_made(folder, capsys, more, status, words):
    before = files(folder)
    assert metrics(folder, *more) == status
    said = capsys.readouterr().err.splitlines()
    assert words in said[-1]
    assert files(folder) == before


def test_packages_are_called_where_they_are_installed(folder, tmp_path):
    packages = write_packages(tmp_path / "packages")
    environment = {
        **os.environ,
        "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "REXVIEW_CACHE": str(tmp_path / "cache"),
        "POLARS_MAX_THREADS": "1",
    }

    def run(*more):
        command = [sys.executable, "-m", "rexview", "metrics", str(folder), *more]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True
        )

    done = run("--metric", "radcliq_v1", "--metric", "rouge", "--scope", "findings", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)  # whatever packages print goes elsewhere
    assert [one["metric"] for one in told["values"]] == [
        *("radcliq_v1", "rouge_1", "rouge_2", "rouge_l")
    ]
    rows = [
        row
        for row in load_review_set(folder).metrics.iter_rows(named=True)
        if row["metric"] == "radcliq_v1"
    ]
    # raw values a report, worked out for each model by itself
    assert {(row["case"], row["model"]): (row["value"], row["n"]) for row in rows} == {
        ("r1", "a"): (3.0, 3),
        ("r2", "a"): (9.0, 3),
        ("r3", "a"): (3.0, 3),
        ("r1", "b"): (7.0, 1),
    }
    assert len(values(folder, "rouge_l", "findings")) == 4
    before = files(folder)
    failed = run("--metric", "bertscore", "--metric", "radgraph_radcliq")
    assert failed.returncode == 1
    assert "radeval failed on radgraph_radcliq" in failed.stderr
    assert files(folder) == before
    assert not (tmp_path / "left-behind.txt").exists()
