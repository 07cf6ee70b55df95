import os

import pytest

from rexview.errors import ReviewSetError
from rexview.reviewset import check_review_set, fingerprint, load_review_set


class TestTables:
    def test_two_files_for_one_table(self, small):
        small.answer()
        small.text("answers.csv", "case,model\nc1,m1\n")
        problem = small.only_problem()
        assert problem.severity == "error"
        assert "answers.csv and answers.jsonl" in problem.message
        assert "into a folder answers/" in problem.remedy

    def test_a_folder_without_parts_is_no_table(self, small):
        (small.folder / "answers").mkdir()
        (small.folder / "answers" / "notes.txt").touch()
        assert small.only_problem().severity == "warning"

    def test_a_folder_where_a_file_is_expected(self, small):
        (small.folder / "answers.jsonl").mkdir()
        problem = small.only_problem()
        assert (problem.severity, problem.file) == ("error", "answers.jsonl")

    def test_a_link_to_nowhere(self, small):
        (small.folder / "answers.jsonl").symlink_to(small.folder / "gone.jsonl")
        assert small.only_problem().severity == "error"

    @pytest.mark.parametrize("ending", ["json", "xlsx", "tsv", "ndjson"])
    def test_endings_that_are_not_read(self, small, ending):
        small.text(f"answers.{ending}", "x")
        problem = small.only_problem()
        assert (problem.severity, problem.file) == ("warning", f"answers.{ending}")
        assert "answers." in problem.remedy

    def test_upper_case_names(self, small):
        (small.folder / "cases.jsonl").rename(small.folder / "Cases.JSONL")
        assert small.load().cases.height == 1

    def test_other_files_are_nobodys_business(self, small):
        small.text("README.md", "x").text("notes.csv", "x")
        assert small.problems() == []

    def test_no_cases(self, small):
        (small.folder / "cases.jsonl").unlink()
        small.answer()
        problem = small.only_problem()
        assert (problem.severity, problem.file) == ("error", "cases")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read(self, small):
        small.answer()
        (small.folder / "answers.jsonl").chmod(0)
        assert "cannot be read" in small.only_problem().message


class TestFolder:
    def test_there_is_none(self, tmp_path):
        with pytest.raises(ReviewSetError) as raised:
            load_review_set(tmp_path / "nowhere")
        (problem,) = raised.value.problems
        assert "not there" in problem.message

    def test_a_file(self, tmp_path):
        (tmp_path / "set.zip").touch()
        (problem,) = check_review_set(tmp_path / "set.zip")
        assert "a file" in problem.message

    def test_an_empty_one(self, tmp_path):
        files = [problem.file for problem in check_review_set(tmp_path)]
        assert files == ["reviewset.yaml", "cases"]


class TestFingerprint:
    def test_stays_when_nothing_changes(self, small):
        before = fingerprint(small.folder)
        assert small.load().fingerprint == before
        (small.folder / "images" / "a" / "pa.png").write_bytes(b"other")
        assert fingerprint(small.folder) == before

    @pytest.mark.parametrize(
        "change",
        [
            lambda folder: (folder / "cases.jsonl").write_text("{}"),
            lambda folder: (folder / "reviewset.yaml").write_text("format: 1"),
            lambda folder: (folder / "answers.csv").touch(),
            lambda folder: (folder / "cases.jsonl").unlink(),
            lambda folder: (folder / "cases.jsonl").rename(folder / "cases.csv"),
            lambda folder: (folder / "scores" / "1.parquet").touch(),
            lambda folder: (folder / "scores" / "1.csv").touch(),
            lambda folder: (folder / "scores" / "1.jsonl").touch(),
            lambda folder: (folder / "scores" / "0.parquet").write_bytes(b"x"),
            lambda folder: (folder / "mine.yaml").touch(),
            lambda folder: os.utime(folder / "cases.jsonl", ns=(1, 1)),
        ],
    )
    def test_changes_with_every_file(self, small, change):
        (small.folder / "scores").mkdir()
        (small.folder / "scores" / "0.parquet").touch()
        before = fingerprint(small.folder)
        change(small.folder)
        assert fingerprint(small.folder) != before

    def test_a_file_put_in_the_place_of_another(self, small):
        path = small.folder / "cases.jsonl"
        before, stat = fingerprint(small.folder), path.stat()
        other = small.folder / "new"
        other.write_bytes(path.read_bytes()[::-1])
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        other.replace(path)
        assert fingerprint(small.folder) != before

    def test_a_folder_that_is_not_there_has_one(self, tmp_path):
        assert fingerprint(tmp_path / "nowhere") == fingerprint(tmp_path / "elsewhere")
