"""A sample of what a judge found, written as a sheet, filled in and read back."""

import csv
import json

import pytest
from support.judge.set_to_judge import write_judged

from rexview.cli import main

pytestmark = pytest.mark.usefixtures("asks_models")

JUDGE = "gpt-5-mini"
YES = {"json": {"has_it": "yes", "reason": "It says so.", "quote": "effusion"}}
NO = {"json": {"has_it": "no", "reason": "Nothing.", "quote": ""}}
LOST = {"json": {"has_it": "unsure", "reason": "Cannot be told.", "quote": ""}}

RULES = [
    {"match": "An effusion.", "turns": [YES]},
    {"match": "@Normal, 29", "turns": [LOST]},
    {"turns": [NO]},
]


def made_cases(count):
    return [
        {"id": f"c{number:02d}", "question": "=Is there an effusion?", "question_type": "open"}
        for number in range(count)
    ]


def made_answers(count):
    return [
        {
            "case": f"c{number:02d}",
            "model": "okapi",
            "text": f"An effusion. {number}" if number < 10 else f"@Normal, {number}.",
            "finish_reason": "stop",
        }
        for number in range(count)
    ]


@pytest.fixture
def folder(tmp_path, server):
    """Thirty answers: ten found, nineteen not, one unsure."""
    made = write_judged(
        tmp_path / "set",
        cases=made_cases(30),
        answers=made_answers(30),
        scores="case,model,reader,dimension,score,comment\n",
        flags="case,model,reader,failure,verdict,comment\n",
        metrics="case,model,metric,value\n",
    )
    path = made / "prompts" / "failures" / "effusion.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: Effusion\ncounts: It sees some.\n")
    arguments = ["judge", str(made), "--judge", JUDGE, "--base-url", server.base_url]
    assert main([*arguments, "--written", "effusion"]) == 0
    return made


def written(folder, *more):
    return main(["written", str(folder), "effusion", "--judge", JUDGE, *map(str, more)])


def rows_of(sheet):
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(sheet, said, /, **changes):
    """Write ``said(number, row)`` as has_it into a sheet; ``changes`` into every row."""
    rows = rows_of(sheet)
    with sheet.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        for number, row in enumerate(rows):
            out.writerow({**row, "has_it": said(number, row), **changes})


def drawn(folder, tmp_path, *more, name="sheet.csv"):
    sheet = tmp_path / name
    assert written(folder, "--sheet", sheet, *more) == 0
    return sheet


def test_precision_and_its_interval_stand_beside_the_count(folder, tmp_path, server, capsys):
    asked = len(server.requests())
    assert written(folder) == 0
    told = capsys.readouterr().out
    assert "Effusion: found in 10 of 30 answers by gpt-5-mini, a language model" in told
    assert "not validated yet" in told
    sheet = drawn(folder, tmp_path, "--found", 8, "--not-found", 5)
    said = iter(["yes"] * 5 + ["No"] * 2 + [""])
    fill(sheet, lambda _, row: next(said) if row["group"] == "found" else "no")
    capsys.readouterr()
    assert written(folder, "--validated", sheet) == 0
    told = capsys.readouterr().out
    # Wilson for 5 of 7 and 0 of 5, worked out by hand
    assert "precision: 71% (95% CI 36 to 92), 5 of 7 read of 10; 1 unread" in told
    assert "of those not found, with the failure: 0% (95% CI 0 to 43), 0 of 5 read of 20" in told
    assert written(folder, "--validated", sheet, "--json") == 0
    [found, missed] = json.loads(capsys.readouterr().out)["validated"]
    assert found["share"] == pytest.approx(5 / 7)
    assert (found["interval"]["low"], found["interval"]["high"]) == pytest.approx(
        (0.3589, 0.9178), abs=1e-3
    )
    assert (missed["group"], missed["of"], missed["drawn"]) == ("not found", 20, 5)
    assert len(server.requests()) == asked


def test_nothing_told_is_not_validated(folder, tmp_path, capsys):
    sheet = drawn(folder, tmp_path)
    fill(sheet, lambda _, row: "unsure" if row["group"] == "found" else "")
    capsys.readouterr()
    assert written(folder, "--validated", sheet) == 0
    told = capsys.readouterr().out
    assert "precision: not validated yet (10 in all; 10 unsure)" in told
    assert "not validated yet (20 in all; 20 unread)" in told


def test_a_sample_is_the_same_for_a_seed_and_grows_from_a_shorter_one(folder, tmp_path):
    def cases(*more, name):
        return [row["case"] for row in rows_of(drawn(folder, tmp_path, *more, name=name))]

    first = cases("--not-found", 0, name="a")
    assert sorted(first) == [f"c{number:02d}" for number in range(10)]
    assert cases("--not-found", 0, name="b") == first
    assert cases("--not-found", 0, "--found", 4, name="c") == first[:4]
    assert cases("--not-found", 0, "--seed", 1, name="d") != first != sorted(first)


def test_no_text_of_a_sheet_runs_as_a_formula(folder, tmp_path):
    rows = rows_of(drawn(folder, tmp_path))
    assert {row["question"] for row in rows} == {"'=Is there an effusion?"}
    answers = {row["answer"] for row in rows if row["group"] == "not found"}
    assert len(answers) == 20
    assert all(one.startswith("'@Normal, ") for one in answers)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"has_it": "perhaps"}, "sheet.csv, row 2, has_it: 'perhaps' is none of yes, no, unsure"),
        ({"version": "0"}, "it is of other words of the failure"),
        ({"judge": "gpt-5"}, "it is of another judge than gpt-5-mini"),
        ({"seed": "7"}, "its rows are not the sample that seed 7 draws from the 10 answers found"),
        ({"seed": "x"}, "seed: it is to be one whole number"),
        ({"of": "9"}, "Draw a new sheet"),
        ({"item": "0"}, "its rows are not the sample"),
        ({"group": "both"}, "group: write found or not found"),
    ],
)
def test_a_sheet_that_is_not_the_sample_is_refused(folder, tmp_path, capsys, changes, error):
    sheet = drawn(folder, tmp_path, "--found", 3, "--not-found", 3)
    fill(sheet, lambda *_: "yes", **changes)
    assert written(folder, "--validated", sheet) == 2
    assert error in capsys.readouterr().err


def test_picked_rows_are_no_sample(folder, tmp_path, capsys):
    sheet = drawn(folder, tmp_path, "--found", 5, "--not-found", 0)
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    sheet.write_text("\n".join([lines[0], *lines[3:]]))
    assert written(folder, "--validated", sheet) == 2
    assert "rows were taken away" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe\x00", "no CSV in UTF-8"),
        (b"a,b\n1,2\n", "there is no column item"),
        (b"", "there is no column item"),
    ],
)
def test_what_is_no_sheet_is_refused(folder, tmp_path, capsys, content, error):
    sheet = tmp_path / "other.csv"
    if content is not None:
        sheet.write_bytes(content)
    assert written(folder, "--validated", sheet) == 2
    assert error in capsys.readouterr().err


def test_a_sheet_is_not_written_over(folder, tmp_path, capsys):
    sheet = drawn(folder, tmp_path)
    assert written(folder, "--sheet", sheet) == 2
    assert "is there already" in capsys.readouterr().err


def test_edited_words_have_no_result(folder, capsys):
    path = folder / "prompts" / "failures" / "effusion.yaml"
    path.write_text("name: Effusion\ncounts: It sees much.\n")
    assert written(folder) == 1
    assert "gpt-5-mini has judged none of these answers" in capsys.readouterr().err
