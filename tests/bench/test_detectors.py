import json

import pytest

from rexview import cli
from rexview.bench import detector_speed, detectors
from rexview.bench.corpus import laterality_pairs


@pytest.fixture(scope="module")
def rows():
    """All rows of the bench, with shorter texts for the speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detector_speed, "LARGE", 2_000)
        patch.setattr(detector_speed, "MIDDLE", 1_000)
        patch.setattr(detector_speed, "ROUNDS", 1)
        patch.setattr(detector_speed, "SAMPLE", 20)
        return detectors.run()


def test_every_form_and_every_target_has_a_row(rows):
    forms = {row["form"] for row in rows if row.get("split") == "dev"}
    assert {row.form for row in laterality_pairs()} <= forms
    wholes = {row["what"]: row for row in rows if row.get("split") == "dev" and row["target"]}
    assert list(wholes) == [
        "laterality, easy",
        "laterality, hard",
        "boxes",
        "token limit",
        "token limit, answers of the pairs",
    ]
    dev = [row for row in laterality_pairs() if row.split == "dev"]
    both = [wholes["laterality, easy"], wholes["laterality, hard"]]
    assert sum(row["n"] for row in both) == len(dev)
    assert sum(row["errors"] for row in both) == sum(row.expected == "error" for row in dev)
    for row in wholes.values():
        assert row["reached"] in {"yes", "no"}


def test_speed_is_measured_on_every_hard_text_and_the_slowest_at_full_length(rows):
    speeds = [row["speed"].rpartition(": ")[2] for row in rows if "speed" in row]
    tried = len(detector_speed.HARD_TEXT)
    assert speeds[2 : 2 + tried] == list(detector_speed.HARD_TEXT)
    assert len(set(speeds[2 + tried :])) == detector_speed.SLOWEST
    assert all(row["value"] >= 0 for row in rows if "speed" in row)


def test_json_and_tables_come_from_the_command_line(rows, monkeypatch, capsys):
    monkeypatch.setattr(detectors, "run", lambda: rows)
    assert cli.main(["bench", "detectors", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows
    assert cli.main(["bench", "detectors"]) == 0
    printed = capsys.readouterr().out
    assert "pseudo_negation" in printed
    assert "pairs a second" in printed
    assert "What these figures do not show" in printed
    assert not {"nan", "None"} & set(printed.split())


def test_a_review_set_gives_shares_of_its_answers(capsys):
    assert cli.main(["bench", "detectors", "assets/demo", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert "token_limit" in {row["failure"] for row in rows}
    for row in rows:
        assert 0 < row["answers"] <= row["of"]
        assert row["share"] == pytest.approx(row["answers"] / row["of"], abs=1e-4)


def test_other_benches_take_no_folder(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "queries", "assets/demo"])
    assert ended.value.code == 2
    assert "unrecognized arguments: assets/demo" in capsys.readouterr().err


def test_a_wrong_label_is_named(monkeypatch):
    row = next(row for row in laterality_pairs() if row.expected == "error")
    missed = detectors.Outcome(row, wanted=True, flagged=False, kinds=())
    alarm = detectors.Outcome(row, wanted=False, flagged=True, kinds=("report",))
    right = detectors.Outcome(row, wanted=True, flagged=True, kinds=("report",))
    assert detectors.wrong([missed, alarm, right]) == [
        f"{row.id}: missed",
        f"{row.id}: false alarm (report)",
    ]
    assert detectors.Tally.of([missed, alarm, right]) == detectors.Tally(1, 1, 1, 0)
