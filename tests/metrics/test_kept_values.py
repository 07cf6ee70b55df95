"""Values that were worked out are parts of the set, and given files stay as they are."""

import csv
import json

import pytest
from support.reports.compared_reports import write_reports

from rexview.errors import MetricsError
from rexview.metrics.identity import MetricId
from rexview.metrics.kept_values import (
    MetricValues,
    part_file,
    write_edits,
    write_file,
    write_values,
)
from rexview.reviewset import load_review_set

IDENTITY = MetricId("green", "radeval", "2.2.1", "findings")
GIVEN = (
    "case,model,metric,value,implementation,version,scope\nr1,a,green,0.5,radeval,2.2.1,findings\n"
)


def found(*values):
    return MetricValues(IDENTITY, values)


def values_in(folder):
    rows = load_review_set(folder).metrics.select("case", "model", "value").iter_rows()
    return {(case, model): value for case, model, value in rows}


def keep(folder, *values, models=("a", "b")):
    return write_values(load_review_set(folder), IDENTITY, found(*values).rows, models)


def test_the_open_set_shows_them_and_given_files_are_as_they_were(tmp_path):
    folder = write_reports(tmp_path / "set", metrics=GIVEN)
    path, given = keep(folder, ("r1", "a", 0.9), ("r2", "a", 0.25), ("r1", "b", 1.0))
    assert given == 1  # what the set gives itself is not replaced
    assert values_in(folder) == {("r1", "a"): 0.5, ("r2", "a"): 0.25, ("r1", "b"): 1.0}
    assert (folder / "metrics.csv").read_text() == GIVEN
    assert path.parent == folder / "metrics"
    row = load_review_set(folder).metrics.row(1, named=True)
    assert [row[name] for name in MetricId._fields] == list(IDENTITY)
    assert not load_review_set(folder).warnings


def test_the_same_identity_takes_the_place_of_its_own_part(tmp_path):
    folder = write_reports(tmp_path / "set")
    first, _ = keep(folder, ("r1", "a", 0.1), ("r2", "a", 0.2), ("r1", "b", 0.3))
    again, given = keep(folder, ("r1", "a", 0.7), models=("a",))
    assert (again, given) == (first, 0)
    assert values_in(folder) == {("r1", "a"): 0.7, ("r1", "b"): 0.3}
    keep(folder, models=("a", "b"))
    assert not first.exists()
    assert values_in(folder) == {}


def test_values_of_an_earlier_answer_count_nowhere_and_are_written_anew(tmp_path):
    folder = write_reports(tmp_path / "set")
    keep(folder, ("r1", "a", 0.9), ("r2", "a", 0.25))
    answers = folder / "answers.jsonl"
    first, *others = answers.read_text().splitlines(keepends=True)
    answers.write_text("".join([first.replace("Heart size", "The heart"), *others]))
    assert values_in(folder) == {("r2", "a"): 0.25}
    _, given = keep(folder, ("r1", "a", 0.5), ("r2", "a", 0.25))
    assert given == 0
    assert values_in(folder) == {("r1", "a"): 0.5, ("r2", "a"): 0.25}
    assert not load_review_set(folder).warnings


def test_another_identity_has_a_part_of_its_own(tmp_path):
    names = {
        part_file(tmp_path, "metrics", MetricId(*words))
        for words in (
            ("green", "radeval", "2.2.1", "findings"),
            ("green", "radeval", "2.2.1", "findings+impression"),
            ("green", "radeval", "2.2.2", "findings"),
            ("green", "radeval", "2.2.1"),
            ("Green", "radeval", "2.2.1", "findings"),
            ("../../../etc/x", "/", "..", "\0"),
        )
    }
    assert len(names) == 6
    assert {path.parent for path in names} == {tmp_path / "metrics"}


def test_corrections_are_kept_by_judge_and_model(tmp_path):
    folder = write_reports(tmp_path / "set")
    row = {"reader": "fineradscore:x", "line": 1, "action": "keep"}
    for model in ("a", "b", "b"):
        rows = [{"case": "r1", "model": model, **row}]
        write_edits(load_review_set(folder), "fineradscore:x", rows, (model,))
    assert sorted(load_review_set(folder).edits["model"]) == ["a", "b"]


def test_a_damaged_part_is_told_and_not_written_over(tmp_path):
    folder = write_reports(tmp_path / "set")
    path, _ = keep(folder, ("r1", "a", 0.1))
    review_set = load_review_set(folder)
    for damage in ('{"case": "r1"', '["r1", "a"]\n', '{"case": "r1"}\n'):
        path.write_text(damage)
        with pytest.raises(MetricsError, match=rf"{path.name} cannot be read"):
            write_values(review_set, IDENTITY, found(("r1", "b", 0.5)).rows, ("b",))
        assert path.read_text() == damage


def test_a_set_that_cannot_be_written_is_told_with_what_to_do(tmp_path):
    folder = write_reports(tmp_path / "set")
    review_set = load_review_set(folder)
    (folder / "metrics").write_text("a file where a folder should be")
    with pytest.raises(MetricsError, match="--out FILE"):
        write_values(review_set, IDENTITY, found(("r1", "a", 0.5)).rows, ("a",))


def test_values_go_to_a_file_of_their_own(tmp_path):
    rows = MetricValues(IDENTITY, (("r1", "a", 0.1 + 0.2), ("r,2", 'a"b', -1.0)), 7).rows
    write_file(tmp_path / "x.csv", rows)
    with (tmp_path / "x.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [(row["case"], row["model"], float(row["value"])) for row in read] == [
        ("r1", "a", 0.1 + 0.2),
        ("r,2", 'a"b', -1.0),
    ]
    assert {row["n"] for row in read} == {"7"}
    write_file(tmp_path / "x.jsonl", rows)
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rows
    for name, words in (("x.csv", "already"), ("x.xlsx", "neither"), ("none/x.csv", "written")):
        with pytest.raises(MetricsError, match=words):
            write_file(tmp_path / name, rows)
