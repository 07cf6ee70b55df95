import json
from dataclasses import asdict

import pytest

from bench import detectors
from bench.corpus import laterality_pairs
from bench.detectors import Outcome, Tally, wrong
from bench.reading import speed
from rexview import cli


@pytest.fixture(scope="module")
def measured():
    """All of the bench, with shorter texts and an eighth of the pairs for the speed."""
    speed_of = speed.sentence_speed_rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(speed, "sentence_speed_rows", lambda pairs: speed_of(pairs[::8]))
        patch.setattr(speed, "LARGE", 2_000)
        patch.setattr(speed, "MIDDLE", 1_000)
        patch.setattr(speed, "ROUNDS", 1)
        patch.setattr(speed, "SAMPLE", 20)
        patch.setattr(speed, "ROUNDS", 1)
        patch.setattr(speed, "SENTENCES", 20)
        return detectors.run()


def test_every_form_has_a_row_and_every_rate_that_is_asked_for(measured):
    table = [row for row in measured.details["By form of the text"] if row["split"] == "dev"]
    assert {row.form for row in laterality_pairs()} <= {row["form"] for row in table}
    wholes = {row["what"]: row for row in table if row["form"] == "all"}
    dev = [row for row in laterality_pairs() if row.split == "dev"]
    both = [wholes["laterality, easy"], wholes["laterality, hard"]]
    assert sum(row["n"] for row in both) == len(dev)
    assert sum(row["errors"] for row in both) == sum(row.expected == "error" for row in dev)
    asked = {row.what: row for row in measured.rows if row.what.endswith(", dev")}
    assert list(asked) == [
        "laterality, easy: recall, dev",
        "laterality, easy: specificity, dev",
        "laterality, hard: precision, dev",
        "laterality, hard: recall, dev",
        "laterality, hard: specificity, dev",
        "boxes: precision, dev",
        "boxes: recall, dev",
        "token limit: specificity, dev",
        "token limit, answers of the pairs: specificity, dev",
        "habits, laterality, plain: recall, dev",
        "habits, laterality, plain: specificity, dev",
        "habits, laterality, hard: precision, dev",
        "habits, laterality, hard: recall, dev",
        "habits, laterality, hard: specificity, dev",
        "habits, laterality: precision, dev",
        "habits, laterality: recall, dev",
        "habits, laterality: specificity, dev",
        "habits, missed findings: precision, dev",
        "habits, missed findings: recall, dev",
        "habits, invented findings: precision, dev",
        "habits, invented findings: recall, dev",
        "habits, missed findings, each judged: precision, dev",
        "habits, invented findings, each judged: precision, dev",
        "habits, token limit: recall, dev",
        "habits, token limit: specificity, dev",
    ]
    for what, row in asked.items():
        task, rate = what.removesuffix(", dev").split(": ")
        assert row.ours == pytest.approx(wholes[task][rate], abs=1e-3)
        assert row.met is (row.ours >= float(row.goal.removeprefix("ours >= ")))


def test_speed_is_measured_on_every_hard_text_and_the_slowest_at_full_length(measured):
    grown = [row for row in measured.rows if row.name == "a tenth of the text"]
    of = [row.what.partition(" characters of ")[2] for row in grown]
    tried = len(speed.HARD_TEXT)
    assert of[:tried] == list(speed.HARD_TEXT)
    assert len(set(of[tried:])) == speed.SLOWEST
    speeds = [row for row in measured.rows if row.what.startswith("pairs a second")]
    assert len(speeds) == 2
    assert all(row.ours > 0 for row in [*grown, *speeds])


def test_json_and_tables_come_from_the_command_line(measured, monkeypatch, capsys):
    monkeypatch.setattr(detectors, "run", lambda: measured)
    assert cli.main(["bench", "detectors", "--json"]) == 0
    given = json.loads(capsys.readouterr().out)
    assert given["bench"] == "detectors"
    assert given["rows"] == [asdict(row) for row in measured.rows]
    assert given["details"]["By form of the text"] == measured.details["By form of the text"]
    assert cli.main(["bench", "detectors"]) == 0
    printed = capsys.readouterr().out
    assert "pseudo_negation" in printed
    assert "pairs a second" in printed
    assert "What these figures do not show" in printed
    assert not {"nan", "None"} & set(printed.split())


def test_a_review_set_gives_shares_of_its_answers(capsys):
    assert cli.main(["bench", "detectors", "assets/demo", "--json"]) == 0
    (rows,) = json.loads(capsys.readouterr().out)["details"].values()
    assert "token_limit" in {row["failure"] for row in rows}
    for row in rows:
        assert 0 < row["answers"] <= row["of"]
        assert row["share"] == pytest.approx(row["answers"] / row["of"], abs=1e-4)


def test_other_benches_take_no_folder(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "filters", "assets/demo"])
    assert ended.value.code == 2
    assert "unrecognized arguments: assets/demo" in capsys.readouterr().err


def test_a_wrong_label_is_named(monkeypatch):
    row = next(row for row in laterality_pairs() if row.expected == "error")
    missed = Outcome(row, wanted=True, flagged=False, kinds=())
    alarm = Outcome(row, wanted=False, flagged=True, kinds=("report",))
    right = Outcome(row, wanted=True, flagged=True, kinds=("report",))
    assert wrong([missed, alarm, right]) == [
        f"{row.id}: missed",
        f"{row.id}: false alarm (report)",
    ]
    assert Tally.of([missed, alarm, right]) == Tally(1, 1, 1, 0)


def test_answers_and_sentences_are_timed_and_the_lack_of_medspacy_is_told(measured):
    first, known, several, sentence = measured.rows[-4:]
    assert first.what.endswith("first read")
    assert known.what.endswith("known sentences")
    assert first.ours > 0
    assert known.ours > 0
    assert several.what.endswith("8 models")
    assert several.ours > 0
    assert sentence.what.startswith("sentence")
    assert sentence.ours > 0
    if sentence.alternative is None:
        assert sentence.met is None
        assert "pip install medspacy" in sentence.note
    else:
        assert sentence.ratio == pytest.approx(sentence.ours / sentence.alternative, rel=1e-2)


def test_a_python_without_medspacy_is_no_error(monkeypatch):
    monkeypatch.setenv(speed.PYTHON, "/no/such/python")
    with speed._medspacy(["effusion"], ["No effusion."]) as reader:
        assert reader is None
