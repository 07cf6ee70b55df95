"""The demonstration's reports: what readers corrected and preferred; numbers worked out by hand."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict

import pytest
from support import ROOT

from rexview.metrics.answer_metrics import compute_bleu_2
from rexview.metrics.identity import known_metric
from rexview.metrics.report_lines import report_lines
from rexview.reviewset import load_review_set
from rexview.stats.report.lists import generated_report_rows
from rexview.vocab import EDIT_ACTIONS, EDIT_KINDS
from tools.demo.corrections import edit_rows

DEMO = load_review_set(ROOT / "assets/demo")
MODELS = ("generalist", "medical-4b")
CASES = {row["id"]: row for row in DEMO.cases.rows(named=True)}
NEW = [name for name in CASES if name.startswith("r")]
TEXTS = {
    (row["case"], row["model"]): row["text"]
    for row in DEMO.answers.select("case", "model", "text").rows(named=True)
}


def _table(name: str) -> list[dict[str, str]]:
    with (ROOT / f"assets/demo/{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


EDITS, PREFERENCES = _table("edits"), _table("preferences")
TABLES = generated_report_rows(DEMO, known_metric, resamples=99)
CORRECTED = defaultdict[tuple[str, str, str], list[dict[str, str]]](list)
for edit in EDITS:
    CORRECTED[edit["case"], edit["model"], edit["reader"]].append(edit)


def test_twelve_reports_normal_and_not_from_three_hospitals() -> None:
    assert [f"r{number:02}" for number in range(1, 13)] == NEW
    assert [name for name in NEW if CASES[name]["normal"]] == ["r02", "r09", "r12"]
    assert len({CASES[name]["site"] for name in NEW}) == 3
    assert all(CASES[name]["question_type"] == "report" for name in NEW)


def test_a_patient_belongs_to_one_hospital() -> None:
    sites = defaultdict(set)
    for case in CASES.values():
        sites[case["patient_id"]].add(case["site"])
    assert all(len(of_patient) == 1 for of_patient in sites.values())
    assert all("Simulated" in site for of_patient in sites.values() for site in of_patient)


def test_corrections_are_of_the_lines_of_the_report() -> None:
    for (case, model, reader), rows in CORRECTED.items():
        lines = {line.number: line.text for line in report_lines(TEXTS[case, model])}
        given = [row for row in rows if row["action"] != "insert"]
        assert {int(row["line"]): row["original"] for row in given} == lines, (case, model, reader)
        for row in rows:
            kept = row["action"] == "keep"
            assert kept == (row["original"] == row["edited"])
            assert bool(row["kind"] and row["significance"]) is not kept
            assert (row["action"] == "delete") == (not row["edited"])
            assert (row["action"] == "insert") == (not row["original"])
            assert int(row["line"]) in lines


def test_every_kind_of_correction_occurs() -> None:
    assert {row["action"] for row in EDITS} == set(EDIT_ACTIONS)
    assert {row["kind"] for row in EDITS} - {""} == set(EDIT_KINDS)
    assert {row["severity"] for row in EDITS} == set("01234")
    assert {row["significance"] for row in EDITS} == {"", "negligible", "significant"}


def test_an_edit_that_names_no_line_or_several_is_refused() -> None:
    for beginning, found in (("A right", 0), ("No ", 2)):
        text = {"id": "x", "edits": {"m": {"r": [{"line": beginning, "severity": 1}]}}}
        with pytest.raises(ValueError, match=f"^{found} lines begin with"):
            list(edit_rows(text, "m", "No fluid. No air.", "r", None))  # type: ignore[arg-type]


def test_error_free_reports_as_counted_by_hand() -> None:
    """Of reader A, who corrected all: reports without an edit of this severity or more."""
    worst = {
        (case, model): max(int(row["severity"]) for row in rows)
        for (case, model, reader), rows in CORRECTED.items()
        if reader == "reader_a"
    }
    assert len(worst) == 24
    free = {
        (model, limit): [case for case in NEW if worst[case, model] < limit]
        for model in MODELS
        for limit in (2, 3)
    }
    assert free["generalist", 2] == ["r03", "r05", "r08", "r09", "r12"]
    assert free["medical-4b", 2] == ["r01", "r02", "r07", "r09", "r11"]
    assert set(NEW) - set(free["generalist", 3]) == {"r01", "r02", "r10"}
    assert set(NEW) - set(free["medical-4b", 3]) == {"r03", "r04", "r06", "r12"}
    for row in TABLES["error_free"]:
        if (row["reader"], row["studies"]) == ("reader_a", None) and row["free_of_severity"] > 1:
            by_hand = free[row["model"], row["free_of_severity"]]
            assert (row["free"], row["n"]) == (len(by_hand), 12)
    both = {case for case, _, reader in CORRECTED if reader == "reader_b"}
    assert both == {"r01", "r02", "r03", "r04", "r05", "r06", "r11"}


def test_preferences_as_counted_by_hand() -> None:
    """Reader A: 7 to 5; reader B: 6 to 3 and 3 ties; each saw both models first."""
    assert len(PREFERENCES) == 24
    won = Counter((row["reader"], row.get(row["preferred"], "tie")) for row in PREFERENCES)
    assert won == {
        ("reader_a", "generalist"): 7,
        ("reader_a", "medical-4b"): 5,
        ("reader_b", "generalist"): 6,
        ("reader_b", "medical-4b"): 3,
        ("reader_b", "tie"): 3,
    }
    assert Counter(row["first"] for row in PREFERENCES) == dict.fromkeys(MODELS, 12)
    generalist, medical = TABLES["preferences"]
    assert [generalist[name] for name in ("n", "won", "tied", "lost")] == [24, 13, 3, 8]
    apart = generalist["strength"] - medical["strength"]
    assert apart == pytest.approx(math.log((13 + 1.5) / (8 + 1.5)), abs=1e-6)
    assert all({row["first"], row["second"]} == set(MODELS) for row in PREFERENCES)


def test_a_corrected_report_stands_beside_the_given_one() -> None:
    (kept,) = _table("references")
    given = CASES[kept["case"]]["report"]
    assert kept["case"] == "r12"
    for added in ("without nodules or reticular shadowing", "does not exclude sarcoidosis"):
        assert added in kept["findings"] + kept["impression"]
        assert added not in given["findings"] + given["impression"]


@pytest.mark.parametrize(
    ("case", "model", "words", "expected", "single", "pairs"),
    [
        # enlarged cardiothoracic ratio 0 with a left border no are . (thrice);
        # cardiothoracic ratio, with a, left border
        ("r08", "generalist", 27, 40, 13, 3),
        # the (twice) lungs are clear consolidation, effusion pneumothorax normal no . (thrice);
        # the lungs, lungs are, are clear, pneumothorax ., . the, . no
        ("r02", "medical-4b", 25, 28, 13, 6),
    ],
)
def test_bleu_2_of_the_findings_as_counted_by_hand(
    case: str, model: str, words: int, expected: int, single: int, pairs: int
) -> None:
    """Matched single words and pairs of words; the report is shorter than the reference."""
    by_hand = math.exp(1 - expected / words) * math.sqrt(single / words * pairs / (words - 1))
    question = DEMO.case(case)
    assert question is not None
    (answer,) = [one for one in DEMO.answers_of(case) if one.model == model]
    assert compute_bleu_2(question, answer) == pytest.approx(by_hand)
