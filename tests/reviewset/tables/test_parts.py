"""A table in several files: one file, a folder of parts, or both, read and checked together."""

import json
import os
from contextlib import suppress

import polars as pl
import pytest

from rexview.errors import ImportSourceError, ReviewSetError
from rexview.importers import import_source
from rexview.reviewset import fingerprint, load_review_set, save_review_set, set_files
from rexview.reviewset.write import rewrite_review_set


def line(model, text="A text.", **more):
    return json.dumps({"case": "c1", "model": model, "text": text, **more}) + "\n"


@pytest.fixture(name="parts")
def parts_fixture(small):
    """Four answers: two in the file, one in a CSV part, one in a JSON Lines part."""
    small.text("answers.jsonl", line("m1") + "\n" + line("m2"))
    (small.folder / "answers").mkdir()
    small.text("answers/b.csv", "case,model,text,run_id\nc1,m1,from b,run b\n")
    small.text("answers/c.jsonl", line("m2", "from c", run_id="run c"))
    return small


def test_the_file_comes_first_then_the_parts_by_name(parts):
    parquet = {"case": ["c1"], "model": ["m1"], "text": ["from a"], "run_id": ["run a"]}
    pl.DataFrame(parquet).write_parquet(parts.folder / "answers" / "a.parquet")
    assert parts.problems() == []
    texts = parts.load().answers["text"].to_list()
    assert texts == ["A text.", "A text.", "from a", "from b", "from c"]


def test_parts_alone_are_a_table(parts):
    (parts.folder / "answers.jsonl").unlink()
    assert parts.load().answers["text"].to_list() == ["from b", "from c"]


@pytest.mark.parametrize("table", ["cases", "scores", "metrics"])
def test_every_table_may_have_parts(small, table):
    small.answer()
    rows = {
        "cases": "id,question\nc2,Where?\n",
        "scores": "case,model,reader,dimension,score\nc1,m1,r1,process,3\n",
        "metrics": "case,model,metric,value\nc1,m1,bleu,0.5\n",
    }
    before = getattr(small.load(), table).height
    (small.folder / table).mkdir()
    small.text(f"{table}/one.csv", rows[table])
    assert small.problems() == []
    assert getattr(small.load(), table).height == before + 1


def test_a_problem_names_the_part_and_its_row(parts):
    parts.text("answers/c.jsonl", "\n" + line("m2", choice="x", run_id="c") + "no json\n")
    found = [(one.file, one.row, one.field) for one in parts.problems()]
    assert sorted(found, key=lambda one: one[1]) == [
        ("answers/c.jsonl", 2, "choice"),
        ("answers/c.jsonl", 3, None),
    ]


def test_a_column_that_a_part_lacks_and_one_that_is_not_known(parts):
    parts.text("answers/b.csv", "case,finish_reasn\nc1,x\n")
    problems = {one.severity: one for one in parts.problems()}
    assert (problems["error"].file, problems["error"].field) == ("answers/b.csv", "model")
    assert (problems["warning"].file, problems["warning"].field) == (
        "answers/b.csv",
        "finish_reasn",
    )


def test_a_damaged_part_does_not_make_its_cases_unknown(small):
    small.answer(case="c2")
    (small.folder / "cases").mkdir()
    small.text("cases/more.parquet", "PAR1 not really")
    assert (small.only_problem().file, small.only_problem().severity) == (
        "cases/more.parquet",
        "error",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_part_that_may_not_be_read(parts):
    (parts.folder / "answers" / "b.csv").chmod(0)
    assert "cannot be read" in parts.only_problem().message


def test_rows_that_are_in_two_parts(parts):
    parts.text("answers/d.jsonl", line("m2") + line("m2", "other words", run_id="run c"))
    problems = parts.problems()
    assert [(one.severity, one.file, one.row) for one in problems] == [
        ("error", "answers/d.jsonl", 2),
        ("warning", "answers/d.jsonl", 1),
    ]
    assert "as row 1 of answers/c.jsonl" in problems[0].message
    assert "repeats row 3 of answers.jsonl" in problems[1].message


def test_two_folders_for_one_table(parts):
    (parts.folder / "Answers").mkdir()
    parts.text("Answers/e.jsonl", line("m3"))
    assert "several" in parts.problems()[0].message


def test_what_is_no_part(parts):
    for name in (".hidden.jsonl", "_x.jsonl", "x.jsonl.tmp", "notes.txt", "README.md"):
        parts.text(f"answers/{name}", "not a row")
    (parts.folder / "runs" / "one").mkdir(parents=True)
    parts.text("runs/one/log.jsonl", "not a row")
    assert parts.problems() == []
    (parts.folder / "answers" / "deeper").mkdir()
    parts.text("answers/x.json", "[]")
    assert {one.file for one in parts.problems()} == {"answers/deeper/", "answers/x.json"}
    assert parts.load().answers.height == 4


def test_more_parts_than_can_be_opened(parts, monkeypatch):
    monkeypatch.setattr(set_files, "MAX_TABLE_PARTS", 1)
    assert "more than can be opened" in parts.only_problem().message


CUT = [
    line("m1", run_id="cut")[:30].encode(),
    line("m1", "ä", run_id="cut").encode().replace(b"\\u00e4", "ä".encode())[:34],
    b"{",
]


@pytest.mark.parametrize("cut", CUT)
def test_a_line_that_is_being_written_is_passed_over(parts, cut):
    path = parts.folder / "answers" / "c.jsonl"
    path.write_bytes(path.read_bytes() + cut)
    problem = parts.only_problem()
    assert (problem.severity, problem.file, problem.row) == ("warning", "answers/c.jsonl", 2)
    assert "python -m rexview run" in problem.remedy
    assert parts.load().answers.height == 4


def test_a_whole_last_line_counts_without_its_end(parts):
    parts.text("answers/d.jsonl", line("m1", "from d", run_id="d").rstrip())
    assert parts.problems() == []
    assert parts.load().answers.height == 5


@pytest.mark.parametrize("name", ["answers.jsonl", "cases/more.jsonl", "answers/c.jsonl"])
def test_elsewhere_a_line_that_is_not_whole_is_an_error(parts, name):
    path = parts.folder / name
    path.parent.mkdir(exist_ok=True)
    end = "\n" if name == "answers/c.jsonl" else ""  # one with an end was not being written
    path.write_text(line("m1", run_id="cut")[:30] + end)
    assert "error" in {one.severity for one in parts.problems() if one.file == name}


class TestWriting:
    def test_a_copy_has_one_file_a_table(self, parts, tmp_path):
        save_review_set(parts.load(), tmp_path / "copy", images="refer")
        assert not (tmp_path / "copy" / "answers").exists()
        assert (
            load_review_set(tmp_path / "copy").answers["text"].equals(parts.load().answers["text"])
        )

    def test_adding_to_a_set_keeps_all_parts(self, parts, tmp_path):
        source = tmp_path / "more.csv"
        source.write_text("case,model,reader,dimension,score\nc1,m1,r1,process,4\n")
        before = parts.load().answers
        import_source("auto", [source], parts.folder, into=True)
        after = parts.load()
        assert after.answers["text"].equals(before["text"])
        assert after.scores.height == 1
        assert not (parts.folder / "answers").exists()
        (backup,) = tmp_path.glob("small-before-*")
        assert load_texts(backup) == ["A text.", "A text.", "from b", "from c"]

    def test_a_set_in_which_a_run_is_at_work_is_left_alone(self, parts, tmp_path):
        lock = parts.folder / "runs" / "20250101-101500-m" / "lock"
        lock.parent.mkdir(parents=True)
        lock.write_text('{"pid": 1}')
        source = tmp_path / "more.csv"
        source.write_text("case,model,reader,dimension,score\nc1,m1,r1,process,4\n")
        with pytest.raises(ImportSourceError, match="20250101-101500-m is at work"):
            import_source("auto", [source], parts.folder, into=True)
        assert parts.load().scores.is_empty()
        lock.write_text("")  # given back
        import_source("auto", [source], parts.folder, into=True)
        assert parts.load().scores.height == 1

    def test_a_set_that_grew_meanwhile_is_left_alone(self, parts):
        review_set = parts.load()
        parts.text("answers/d.jsonl", line("m1", "of a run", run_id="d"))
        state = fingerprint(parts.folder)
        with pytest.raises(ReviewSetError, match="changed meanwhile"):
            rewrite_review_set(review_set, base="images/", state=review_set.fingerprint)
        assert fingerprint(parts.folder) == state


def load_texts(backup):
    """The texts of the answers in a folder that has the tables only."""
    return load_review_set(backup).answers["text"].to_list()


def test_the_share_that_was_read_is_told(parts):
    parts.text("scores.jsonl", '{"case": "c1", "model": "m1", "reader": "r", "score": 3}\n')
    shares = []
    with suppress(ReviewSetError):
        load_review_set(parts.folder, shares.append)
    assert shares == sorted(shares)
    assert len(shares) >= 5, "after each part"
    assert 0 < shares[0] < 1
    assert shares[-1] == 1
