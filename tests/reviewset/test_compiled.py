"""Large sets are kept as they were read: the same in every respect, and never trusted blindly."""

import json
import logging
import os
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from rexview import frames
from rexview.answer_digest import digests_of
from rexview.detect import flag_rows
from rexview.disk_cache import open_cache
from rexview.errors import ReviewSetError
from rexview.reviewset import check_review_set, load_review_set, set_cache
from rexview.settings import DEMO_FOLDER, load_settings
from rexview.stats.report.document import build_statistics_report

CASES = 60


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch, tmp_path):
    """Sets of a few rows are kept, in a cache folder of the test."""
    monkeypatch.setattr(set_cache, "LARGE_ROWS", 40)
    monkeypatch.setattr(set_cache, "LARGE_BYTES", 1)
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))


@pytest.fixture(name="large")
def large_fixture(tmp_path):
    """A set of Parquet parts that differ in their columns, with scores of an earlier answer."""
    folder = tmp_path / "set"
    (folder / "answers").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "reviewset.yaml").write_text(
        "format: 1\nname: Large\nmodels: [{id: b}, {id: a}]\nreaders: [{id: r}]\n"
    )
    ids = [f"c{number:03}" for number in reversed(range(CASES))]
    image = {"id": "pa", "path": "missing.png", "view": "PA", "width": 100, "height": 100}
    pl.DataFrame(
        {
            "id": ids,
            "question": [f"What of {one}?" for one in ids],
            "report": [{"findings": f"Finding {one}.", "impression": None} for one in ids],
            "images": [[image]] * CASES,
            "tags": [json.dumps({"region": [one]}) for one in ids],
            "other": range(CASES),
        }
    ).write_parquet(folder / "cases.parquet")
    texts = [f"A text of {one} that is longer than a few letters, with ä." for one in ids]
    plain = pl.DataFrame({"case": ids, "model": "a", "text": texts})
    box = {"image": "pa", "label": "x", "box": [1.0, 2.0, 3.0, 4.0], "score": 0.5}
    plain.write_parquet(folder / "answers" / "1.parquet")
    plain.with_columns(model=pl.lit("b"), run_id=pl.lit("old")).with_columns(
        error=pl.lit("none came"), boxes=pl.Series([[box]] * CASES)
    ).write_parquet(folder / "answers" / "2.parquet")
    pl.DataFrame({"case": ids[:3], "model": "b", "run_id": "new", "text": "Again."}).write_parquet(
        folder / "answers" / "3.parquet"
    )
    pl.DataFrame(
        {
            "case": ids[:2],
            "model": "a",
            "reader": "r",
            "dimension": "process",
            "score": [2, 4],
            "answer_digest": ["0" * 64, None],
        }
    ).write_parquet(folder / "scores.parquet")
    return folder


def opened(folder):
    """Open a set and wait until it is kept."""
    review_set = load_review_set(folder)
    for thread in threading.enumerate():
        if thread.name == "keep a set":
            thread.join()
    return review_set


def entries():
    return open_cache("sets", load_settings()).entries()


def is_kept(review_set):
    """Whether a set was opened from what is kept."""
    return review_set.later_warnings is not None


def assert_alike(one, other):
    for name, schema in frames.TABLES.items():
        assert getattr(one, name).schema == schema
        assert getattr(one, name).equals(getattr(other, name)), name
    assert one.stale_scores.equals(other.stale_scores)
    assert one.info == other.info
    assert one.models == other.models
    assert one.fingerprint == other.fingerprint
    for array in ("case", "model", "row", "starts"):
        assert (getattr(one.newest, array) == getattr(other.newest, array)).all()
    for case_id in one.cases["id"]:
        assert one.case(case_id) == other.case(case_id)
        for all_runs in (False, True):
            assert one.answers_of(case_id, all_runs=all_runs) == other.answers_of(
                case_id, all_runs=all_runs
            )
        for model in ("a", "b"):
            assert one.repeats_of(case_id, model) == other.repeats_of(case_id, model)
    pairs = list(one.answers.select("case", "model").unique().iter_rows())
    assert digests_of(one).of_all(pairs) == digests_of(other).of_all(pairs)


def all_warnings(review_set):
    review_set.all_warnings()
    for thread in threading.enumerate():
        if thread.name == "look for warnings":
            thread.join()
    return list(review_set.all_warnings())


def test_what_is_kept_is_the_set_itself(large, monkeypatch):
    first, second = opened(large), opened(large)
    assert is_kept(first)
    assert is_kept(second)
    monkeypatch.setattr(set_cache, "LARGE_ROWS", 10**9)
    monkeypatch.setattr(set_cache, "LARGE_BYTES", 10**9)
    plain = load_review_set(large)
    assert not is_kept(plain)
    assert plain.stale_scores.height == 1
    assert_alike(first, plain)
    assert_alike(second, plain)
    assert second.warnings == first.warnings


def test_parts_of_all_formats_and_repeats(large, monkeypatch):
    row = {"case": "c054", "model": "a", "text": "Asked again."}
    (large / "answers" / "4.jsonl").write_text(json.dumps(row | {"repeat": 3}) + "\n")
    (large / "answers" / "5.csv").write_text("case,model,text,repeat\nc054,a,Once more.,2\n")
    kept = [opened(large) for _ in range(2)]
    assert all(map(is_kept, kept))
    monkeypatch.setattr(set_cache, "LARGE_BYTES", 10**9)
    plain = load_review_set(large)
    texts = [one.text for one in plain.repeats_of("c054", "a")]
    assert texts == ["Once more.", "Asked again."]
    assert_alike(kept[0], plain)
    assert_alike(kept[1], plain)


def test_warnings_come_later_and_are_those_of_check(large):
    pl.DataFrame(
        {"case": [f"c{n:03}" for n in range(CASES)], "model": "a", "text": "Always the same."}
    ).write_parquet(large / "answers" / "1.parquet")
    first = opened(large)
    assert not any("answers of" in one.message for one in first.warnings)
    assert all_warnings(first) == check_review_set(large)
    assert any("answers of" in one.message for one in first.all_warnings())
    again = load_review_set(large)
    assert list(again.all_warnings()) == check_review_set(large)  # at once, as they are kept


def test_a_changed_file_is_read(large):
    opened(large)
    pl.DataFrame({"case": ["c001"], "model": "a", "run_id": "9", "text": "New."}).write_parquet(
        large / "answers" / "4.parquet"
    )
    assert load_review_set(large).answers.height == 2 * CASES + 4


def test_pictures_that_come_are_noticed(large):
    assert any("no image file" in one.message for one in opened(large).warnings)
    (large / "images" / "missing.png").write_bytes(b"here")
    assert not any("no image file" in one.message for one in load_review_set(large).warnings)


def test_another_version_of_the_code_reads_anew(large, monkeypatch):
    opened(large)
    monkeypatch.setattr(set_cache, "set_reader_version", lambda: "another")
    opened(large)
    assert len(entries()) == 2


@pytest.mark.parametrize(
    "name",
    [
        *("answers.arrow", "answers-settled.arrow", "answers-0001.arrow"),
        *("row.npy", "contents.json"),
    ],
)
@pytest.mark.parametrize("damage", ["cut", "gone", "scribble"])
def test_what_is_damaged_is_read_again(large, caplog, name, damage):
    opened(large)
    path = entries()[0][2] / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.write_bytes(b"x" * len(content))
    caplog.set_level(logging.WARNING)
    assert load_review_set(large).answers.height == 2 * CASES + 3
    assert "damaged" in caplog.text


def test_a_disk_that_takes_nothing_costs_nothing_else(large, tmp_path, caplog):
    (tmp_path / "cache").write_text("in the way")
    review_set = load_review_set(large)
    assert review_set.answers.height == 2 * CASES + 3
    assert len(caplog.records) == 1
    assert all_warnings(review_set) == check_review_set(large)


def test_a_disk_that_gets_full_costs_nothing_else(large, monkeypatch, caplog):
    def fails(frame, path):
        if path.name != "cases-0000.arrow":
            raise OSError(28, "No space left on device")
        return write(frame, path)

    write = set_cache._write_ipc
    monkeypatch.setattr(set_cache, "_write_ipc", fails)
    review_set = opened(large)
    assert review_set.answers_of("c001")[0].text.startswith("A text of c001")
    assert "No space left" in caplog.text
    assert entries() == []
    assert not list(Path(os.environ["REXVIEW_CACHE"]).rglob("*.part"))


@pytest.mark.parametrize("name", ["cases-settled.arrow", "answers-settled.arrow"])
def test_what_is_written_beside_the_checks_fails_alone(large, monkeypatch, caplog, name):
    """The thread's fault is told where the set is kept; nothing half written stays."""

    def fails(frame, path):
        if path.name == name:
            raise OSError(28, "No space left on device")
        return write(frame, path)

    write = set_cache._write_ipc
    monkeypatch.setattr(set_cache, "_write_ipc", fails)
    review_set = opened(large)
    assert review_set.answers.height == 2 * CASES + 3
    assert "No space left" in caplog.text
    assert entries() == []
    assert not list(Path(os.environ["REXVIEW_CACHE"]).rglob("*.part"))


def test_a_set_that_is_larger_than_may_be_kept_opens_all_the_same(large, monkeypatch, caplog):
    """A megabyte may be kept, and a small file stands for more text."""
    monkeypatch.setenv("REXVIEW_KEPT_MB", "1")
    ids = [f"c{number:03}" for number in range(CASES)]
    long = pl.DataFrame({"case": ids, "model": "x", "text": [one * 10_000 for one in ids]})
    long.write_parquet(large / "answers" / "4.parquet", compression="zstd")
    assert sum(file.stat().st_size for file in large.rglob("*.parquet")) < 1_000_000
    assert opened(large).answers.height == 3 * CASES + 3
    assert "larger than may be kept" in caplog.text
    assert entries() == []


def test_a_set_with_errors_is_not_kept(large):
    pl.DataFrame({"case": ["nowhere"], "model": "a"}).write_parquet(large / "answers" / "4.parquet")
    with pytest.raises(ReviewSetError, match="1 error"):
        opened(large)
    assert entries() == []
    assert not list(Path(os.environ["REXVIEW_CACHE"]).rglob("*.part"))


def test_a_set_that_changes_while_it_is_read_is_not_kept(large, monkeypatch):
    def changes(*args, **options):
        part = (large / "answers" / "3.parquet").read_bytes()
        (large / "answers" / "3.parquet").write_bytes(part)
        return checked(*args, **options)

    module = sys.modules["rexview.reviewset.load"]
    checked = module.check_references
    monkeypatch.setattr(module, "check_references", changes)
    assert opened(large).answers_of("c001")[0].text.startswith("A text of c001")
    assert entries() == []


def test_rows_that_are_there_twice_are_left_out(large):
    (large / "answers" / "4.parquet").write_bytes((large / "answers" / "3.parquet").read_bytes())
    first, second = opened(large), opened(large)
    assert first.answers.height == second.answers.height == 2 * CASES + 3
    assert is_kept(second)
    assert second.answers["text"].to_list() == first.answers["text"].to_list()


def test_small_sets_are_not_kept(large, monkeypatch):
    monkeypatch.setattr(set_cache, "LARGE_ROWS", 10_000)
    review_set = opened(large)
    assert review_set.later_warnings is None
    assert entries() == []


def test_detectors_and_statistics_say_the_same_of_the_demo(monkeypatch):
    """What is mapped is used as what is in memory is: every detector, every table of numbers."""
    monkeypatch.setattr(set_cache, "LARGE_ROWS", 10**9)
    plain = load_review_set(DEMO_FOLDER)
    assert not is_kept(plain)
    monkeypatch.setattr(set_cache, "LARGE_ROWS", 1)
    opened(DEMO_FOLDER)
    kept = load_review_set(DEMO_FOLDER)
    assert is_kept(kept)
    assert all_warnings(kept) == list(plain.warnings)
    assert_alike(kept, plain)
    thresholds = {"gap_threshold": 2.0, "disagreement_threshold": 2.0}
    assert flag_rows(kept, **thresholds) == flag_rows(plain, **thresholds)
    assert build_statistics_report(kept, gap_threshold=2.0) == build_statistics_report(
        plain, gap_threshold=2.0
    )
