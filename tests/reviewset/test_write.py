import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from rexview import frames
from rexview.errors import PathEscape, ReviewSetError
from rexview.reviewset import load_review_set, save_review_set
from rexview.reviewset.write import _WRITERS

FORMATS = ("jsonl", "csv", "parquet")
every_format = pytest.mark.parametrize("table_format", FORMATS)


@pytest.fixture
def rich(small):
    """A set with something in every table, unknown fields included."""
    small.case(
        tags={"region": ["base", ""], "empty": []},
        context={"age": 61, "ward": "3b"},
        report={"findings": 'A "quote",\nand lines', "technique": "PA"},
        reference_boxes=[{"image": "pa", "label": "x", "box": [1, 2, 3, 4.5], "side": "left"}],
        images=[
            {
                "id": "pa",
                "path": "a/pa.png",
                "view": "PORTABLE AP",
                "width": 9,
                "height": 9,
                "kv": 90,
            }
        ],
        priority=3,
    )
    answer = {"case": "c1", "model": "m1", "finish_reason": "MAX_TOKENS", "seed": None, "note": "n"}
    small.jsonl(
        "answers",
        [
            answer | {"run_id": "1", "created": "2025-01-01T10:00:00.5+02:00", "text": "a\rb\r\nc"},
            answer
            | {
                "run_id": "2",
                "usage": {"output_tokens": 5, "reasoning_tokens": 2},
                "boxes": [{"image": "pa", "box": [1, None, 3, 4]}, {"image": "pa", "box": []}],
                "images": ["a/pa.png"],
                "choice": 0,
                "latency_s": 0.1,
            },
        ],
    )
    row = "c1,m1,r1"
    small.text(
        "scores.csv", f"case,model,reader,dimension,score\n{row},process,4\n{row},language,\n"
    )
    small.text("flags.csv", f"case,model,reader,failure,verdict,why\n{row},omission,,seen\n")
    small.text("metrics.csv", "case,model,metric,value\nc1,m1,bleu,0.1\nc1,m1,rouge,NaN\n")
    small.text("edits.csv", "case,model,action,severity\nc1,m1,keep,0\n")
    return small.load()


def assert_same_tables(first, second):
    for name in frames.TABLES:
        assert_frame_equal(getattr(first, name), getattr(second, name))


@every_format
def test_every_table_comes_back(rich, tmp_path, table_format):
    save_review_set(rich, tmp_path / "out", table_format=table_format)
    again = load_review_set(tmp_path / "out")
    assert_same_tables(rich, again)
    assert again.info.models == rich.info.models
    assert again.info.readers == rich.info.readers
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {f".{table_format}", ".yaml"}


@pytest.mark.parametrize("first", FORMATS)
@pytest.mark.parametrize("second", FORMATS)
def test_formats_follow_each_other(rich, tmp_path, first, second):
    save_review_set(rich, tmp_path / "one", table_format=first)
    save_review_set(load_review_set(tmp_path / "one"), tmp_path / "two", table_format=second)
    assert_same_tables(rich, load_review_set(tmp_path / "two"))


def test_json_lines_have_unknown_fields_in_their_places(rich, tmp_path):
    save_review_set(rich, tmp_path / "out")
    lines = (tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    answer = json.loads(lines[1])
    assert answer["usage"] == {"output_tokens": 5, "max_output_tokens": 512, "reasoning_tokens": 2}
    assert answer["note"] == "n"
    assert answer["finish_reason"] == "MAX_TOKENS"
    assert answer["boxes"][0]["box"] == [1, None, 3, 4]
    assert "extra" not in answer


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_unknown_texts_have_a_column_of_their_own(rich, tmp_path, table_format):
    save_review_set(rich, tmp_path / "out", table_format=table_format)
    read = pl.read_csv if table_format == "csv" else pl.read_parquet
    assert read(tmp_path / "out" / f"answers.{table_format}")["note"].to_list() == ["n", "n"]
    case = read(tmp_path / "out" / f"cases.{table_format}")
    assert json.loads(case["extra"][0])["priority"] == 3


@every_format
@pytest.mark.parametrize(
    "text", ["a\rb", "a\r\nb", "\n", " a ", '"', ",", "NaN", "ü\u2028\x00\x1f"]
)
def test_texts_come_back_letter_by_letter(small, tmp_path, table_format, text):
    save_review_set(small.answer(text=text).load(), tmp_path / "out", table_format=table_format)
    assert load_review_set(tmp_path / "out").answers["text"].to_list() == [text]


def test_an_extra_that_looks_like_a_column_stays_in_extra(small, tmp_path):
    small.answer(extra={"text": "other", "boxes": [{"a": 1}], "usage": {"x": 1}, "": "y"})
    review_set = small.load()
    for table_format in FORMATS:
        save_review_set(review_set, tmp_path / table_format, table_format=table_format)
        assert_same_tables(review_set, load_review_set(tmp_path / table_format))


class TestNeverOverAnother:
    @pytest.mark.parametrize("name", ["cases.jsonl", "notes.txt", ".hidden"])
    def test_a_folder_with_anything_in_it(self, rich, tmp_path, name):
        out = tmp_path / "out"
        out.mkdir()
        (out / name).write_text("mine")
        with pytest.raises(ReviewSetError, match="nothing was written"):
            save_review_set(rich, out)
        assert [path.read_text() for path in out.iterdir()] == ["mine"]

    def test_a_file(self, rich, tmp_path):
        (tmp_path / "out").write_text("mine")
        with pytest.raises(ReviewSetError):
            save_review_set(rich, tmp_path / "out")
        assert (tmp_path / "out").read_text() == "mine"

    def test_an_empty_folder_is_taken(self, rich, tmp_path):
        (tmp_path / "deep" / "out").mkdir(parents=True)
        save_review_set(rich, tmp_path / "deep" / "out")
        assert_same_tables(rich, load_review_set(tmp_path / "deep" / "out"))


@pytest.mark.parametrize("exists", [False, True])
def test_a_failure_leaves_nothing_behind(rich, tmp_path, monkeypatch, exists):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setitem(
        _WRITERS, "jsonl", lambda frame, table, folder: table.name == "edits" and fail()
    )
    parent = tmp_path / "parent"
    parent.mkdir()
    if exists:
        (parent / "out").mkdir()
    with pytest.raises(OSError, match="disk full"):
        save_review_set(rich, parent / "out")
    left = [path.relative_to(parent).as_posix() for path in parent.rglob("*")]
    assert left == (["out"] if exists else [])


class TestImages:
    def test_the_new_set_names_the_same_folder(self, rich, tmp_path):
        save_review_set(rich, tmp_path / "out")
        again = load_review_set(tmp_path / "out")
        assert again.info.images == str(rich.folder.resolve() / "images")
        assert again.warnings == rich.warnings

    def test_a_folder_that_is_absolute_or_an_address_stays(self, small, tmp_path):
        for images in ("s3://bucket/x", str(tmp_path)):
            small.text("reviewset.yaml", f"format: 1\nname: x\nimages: {images}\n")
            save_review_set(small.load(), tmp_path / "out" / images[:2].strip("/"))
            assert load_review_set(tmp_path / "out" / images[:2].strip("/")).info.images == images

    def test_images_can_be_copied(self, rich, tmp_path):
        save_review_set(rich, tmp_path / "out", images="copy")
        again = load_review_set(tmp_path / "out")
        assert again.info.images == "images/"
        assert (tmp_path / "out" / "images" / "a" / "pa.png").read_bytes() == b"not looked into"
        assert_same_tables(rich, again)

    def test_images_that_are_missing_stay_missing(self, small, tmp_path):
        (small.folder / "images" / "a" / "pa.png").unlink()
        save_review_set(small.load(), tmp_path / "out", images="copy")
        assert len(load_review_set(tmp_path / "out").warnings) == 1

    def test_nothing_is_copied_from_outside(self, rich, tmp_path):
        (rich.folder / "images" / "a" / "pa.png").unlink()
        (rich.folder / "images" / "a" / "pa.png").symlink_to(rich.folder / "cases.jsonl")
        with pytest.raises(PathEscape):
            save_review_set(rich, tmp_path / "out", images="copy")
        assert not (tmp_path / "out").exists()


def test_a_rubric_goes_along(small, tmp_path):
    small.text("mine.yaml", "dimensions: {}\n")
    small.text("reviewset.yaml", "format: 1\nname: x\nrubric: mine.yaml\n")
    save_review_set(small.load(), tmp_path / "out")
    assert load_review_set(tmp_path / "out").info.rubric == "mine.yaml"


def test_records_made_in_memory_can_be_written(small, tmp_path):
    """As importers make them: normalised words without raw ones, token counts, no rows."""
    review_set = small.answer(finish_reason="stop").load()
    answers = review_set.answers.with_columns(
        finish_reason=pl.lit("length"), finish_reason_raw=pl.lit(None, pl.String)
    )
    image = pl.element().struct.with_fields(view=pl.lit("AP"), view_raw=pl.lit(None, pl.String))
    cases = review_set.cases.with_columns(pl.col("images").list.eval(image))
    made = type(review_set)(**{**vars(review_set), "answers": answers, "cases": cases})
    save_review_set(made, tmp_path / "out")
    again = load_review_set(tmp_path / "out")
    assert again.answers_of("c1")[0].finish_reason == "length"
    assert again.case("c1").images[0].view == "AP"
