"""The app's own metrics of a set: the same in the process and beside it, kept, and ended."""

import gc
import json
import time

import polars as pl
import pytest

from rexview.cli import main
from rexview.disk_cache import FileCache
from rexview.frames import METRICS
from rexview.harm import load_harm
from rexview.metrics import background_computation
from rexview.metrics.answer_metrics import compute_answer_values
from rexview.metrics.background_computation import IMMEDIATE_REPORTS, computed_metrics
from rexview.reviewset import load_review_set

FINDINGS = "There is a right lower lobe consolidation. No pneumothorax."
TEXTS = (
    "Findings: Right lower lobe consolidation. Impression: Pneumonia.",
    "FINDINGS: Clear lungs.",
    "No pneumothorax. Small left pleural effusion.",
)


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    return tmp_path / "set"


def written(folder, cases, answers):
    """Write a review set and open it."""
    folder.mkdir(exist_ok=True)
    (folder / "reviewset.yaml").write_text("format: 1\nname: Reports\n")
    for name, rows in (("cases", cases), ("answers", answers)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return load_review_set(folder)


def reports(folder, n, texts=TEXTS):
    """Write a set of report cases, each with an answer of a model for every text."""
    report = {"findings": FINDINGS, "impression": "Right pneumonia."}
    case = {"question": "Report", "question_type": "report", "report": report}
    return written(
        folder,
        [{"id": f"r{i}", **case} for i in range(n)],
        [
            {"case": f"r{i}", "model": f"m{m}", "text": text}
            for i in range(n)
            for m, text in enumerate(texts)
        ],
    )


def finished(review_set, keep=None):
    deadline = time.monotonic() + 60
    while not (found := computed_metrics(review_set, keep)).finished:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def kept_in(folder):
    """Return the file that was kept: it is written once everything is worked out."""
    deadline = time.monotonic() + 60
    while not (found := list(folder.rglob("*.rxm"))):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found[0]


def keep_in(folder):
    return FileCache(folder, 10_000_000, ".rxm")


def test_few_reports_are_compared_at_once(folder):
    review_set = reports(folder, 2)
    found = computed_metrics(review_set)
    assert (found.done, found.answers, found.failed, found.finished) == (6, 6, 0, True)
    assert found.values.schema == METRICS
    rows = found.values.select("case", "model", "metric", "scope").rows()
    # the second and the third have no impression
    assert rows[:6] == [
        ("r0", "m0", "bleu_2", "findings"),
        ("r0", "m0", "finding_agreement", "findings"),
        ("r0", "m0", "bleu_2", "findings+impression"),
        ("r0", "m0", "finding_agreement", "findings+impression"),
        ("r0", "m1", "bleu_2", "findings"),
        ("r0", "m1", "finding_agreement", "findings"),
    ]
    assert set(found.values["implementation"]) == {"rexview"}
    assert computed_metrics(review_set) is found


def test_they_are_those_of_each_answer(folder):
    review_set = reports(folder, 1)
    found = computed_metrics(review_set).values
    case, harm = review_set.case("r0"), load_harm()
    for answer in review_set.answers_of("r0"):
        rows = found.filter(pl.col("model") == answer.model)
        expected = {
            (one.metric, one.scope): v
            for one, v in compute_answer_values(case, answer, harm).items()
        }
        assert {(m, s): v for m, s, v in rows.select("metric", "scope", "value").rows()} == expected


def test_what_cannot_be_compared_has_no_value(folder):
    cases = {
        "no report": {"question_type": "report"},
        "report": {"question_type": "report", "report": {"findings": FINDINGS}},
        "none": {"question_type": "report", "report": {"findings": "None", "impression": "None."}},
        "open": {"report": {"findings": FINDINGS}},
    }
    texts = {"a": "Clear lungs.", "b": "  ", "c": None}
    review_set = written(
        folder,
        [{"id": id, "question": "?", **case} for id, case in cases.items()],
        [{"case": id, "model": model, "text": t} for id in cases for model, t in texts.items()],
    )
    found = computed_metrics(review_set)
    assert {(case, model) for case, model in found.values.select("case", "model").rows()} == {
        ("report", "a")
    }
    assert (found.done, found.answers) == (2, 2)


def test_a_report_in_another_language_is_not_read_and_not_taken_for_an_empty_one(folder):
    german = "Kein Pneumothorax. Kleiner Erguss links, die Lunge ist sonst frei."
    reports = {"english": FINDINGS, "german": german}
    review_set = written(
        folder,
        [
            {"id": id, "question": "?", "question_type": "report", "report": {"findings": text}}
            for id, text in reports.items()
        ],
        [
            {"case": id, "model": model, "text": text}
            for id in reports
            for model, text in {"a": "Clear lungs.", "b": german}.items()
        ],
    )
    found = computed_metrics(review_set)
    with_value = found.values.filter(metric="finding_agreement").select("case", "model").rows()
    assert with_value == [("english", "a")]
    assert (found.done, found.not_read) == (4, 3)


def test_many_are_compared_beside_and_kept(folder, tmp_path):
    n = IMMEDIATE_REPORTS
    few = computed_metrics(reports(folder, 1)).values.drop("case")
    review_set = reports(folder, n)
    found = finished(review_set, keep_in(tmp_path / "kept"))
    assert (found.done, found.answers, found.message) == (3 * n, 3 * n, "")
    for case in ("r0", f"r{n - 1}"):
        assert found.values.filter(pl.col("case") == case).drop("case").equals(few)
    path = kept_in(tmp_path / "kept")
    kept = pl.read_parquet(path)
    assert len(kept) == 3 * n

    # another state of the files takes over what is the same; only the new text is compared
    pl.DataFrame(kept.with_columns(pl.lit(0.0123).alias("1"))).write_parquet(path)
    again = reports(folder, n, ("A right pneumothorax.", *TEXTS[1:]))
    values = finished(again, keep_in(tmp_path / "kept")).values.filter(metric="finding_agreement")
    of = {model: values.filter(model=model, scope="findings")["value"] for model in ("m0", "m1")}
    assert set(of["m1"]) == {0.0123}
    assert 0.0123 not in set(of["m0"])


@pytest.mark.parametrize("content", [b"", b"PAR1 nonsense"])
def test_what_was_kept_and_cannot_be_read_is_worked_out_anew(folder, tmp_path, content):
    keep = keep_in(tmp_path / "kept")
    first = finished(reports(folder, IMMEDIATE_REPORTS), keep)
    kept_in(tmp_path / "kept").write_bytes(content)
    assert finished(reports(folder, IMMEDIATE_REPORTS), keep).values.equals(first.values)


def test_an_answer_over_which_the_rules_fail_costs_no_other(folder, monkeypatch):
    review_set = reports(folder, 1)
    compute = background_computation.compute

    def fails(batch, harm):
        if any(answer.model == "m1" for _, answers in batch for answer in answers):
            raise RecursionError
        return compute(batch, harm)

    monkeypatch.setattr(background_computation, "compute", fails)
    found = computed_metrics(review_set)
    assert (found.done, found.answers, found.failed) == (3, 3, 1)
    assert set(found.values["model"]) == {"m0", "m2"}


def test_it_ends_with_the_set(folder):
    review_set = reports(folder, 10 * IMMEDIATE_REPORTS)
    found = computed_metrics(review_set)
    work = background_computation._KNOWN[review_set.index]
    assert not found.finished
    thread = work._thread
    del review_set, found
    gc.collect()
    thread.join(20)
    assert not thread.is_alive()
    assert not (work._state == 1).all()


def test_the_command_line_waits_for_all(folder, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    found = finished(reports(folder, IMMEDIATE_REPORTS)).values
    assert main(["stats", str(folder), "--json"]) == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    shown = {
        (row["model"], row["metric"], row["scope"]): (row["n"], row["mean"])
        for row in boards
        if row["implementation"] == "rexview"
    }
    for model, metric, scope, mean in (
        found.group_by("model", "metric", "scope").agg(pl.col("value").mean()).rows()
    ):
        assert shown[model, metric, scope] == (IMMEDIATE_REPORTS, pytest.approx(mean))
