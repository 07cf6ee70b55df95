import math
from datetime import UTC, datetime

import polars as pl
import pytest

from rexview import frames

BOX = {"image": "pa", "label": "x", "box": [1, 2, 3, 4]}


def parquet(small, **columns):
    pl.DataFrame({"case": ["c1"], "model": ["m1"]} | columns).write_parquet(
        small.folder / "answers.parquet"
    )
    return small


def test_typed_columns(small):
    when = datetime(2025, 1, 2, tzinfo=UTC)
    parquet(
        small,
        text=pl.Series(["a"], dtype=pl.Categorical),
        usage=[{"input_tokens": 1, "output_tokens": 2.0}],
        boxes=[[BOX | {"score": 1}]],
        created=pl.Series([when], dtype=pl.Datetime("ns", "UTC")),
        choice=[1.0],
    )
    (answer,) = small.load().answers_of("c1")
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("a", 1, 2)
    assert answer.boxes[0].box == (1, 2, 3, 4)
    assert answer.boxes[0].score == 1
    assert (answer.created, answer.choice) == (when, 1)


def test_columns_of_json_text(small):
    parquet(small, boxes=['[{"image": "pa", "label": "x", "box": [1, 2, 3, 4]}]'], usage=["{}"])
    (answer,) = small.load().answers_of("c1")
    assert answer.boxes[0].label == "x"


def test_a_null_in_a_box_is_a_missing_number(small):
    parquet(small, boxes=[[BOX | {"box": [1.0, None, 3.0, 4.0]}]])
    (box,) = small.load().answers_of("c1")[0].boxes
    assert math.isnan(box.box[1])


def test_fixed_size_boxes(small):
    boxes = pl.Series([[BOX]]).cast(
        pl.List(pl.Struct({"image": pl.String, "label": pl.String, "box": pl.Array(pl.Float32, 4)}))
    )
    parquet(small, boxes=boxes)
    assert small.load().answers_of("c1")[0].boxes[0].box == (1, 2, 3, 4)


@pytest.mark.parametrize(
    "tags",
    [
        [{"region": ["base"], "side": None}],
        [[{"name": "region", "values": ["base"]}]],
        [[{"key": "region", "value": ["base"]}]],
        ['{"region": ["base"]}'],
        ['{"region": "base"}'],
    ],
    ids=["struct", "name and values", "map", "text", "single word"],
)
def test_tags_in_every_shape(small, tags):
    (small.folder / "cases.jsonl").unlink()
    frame = pl.DataFrame({"id": ["c1"], "question": ["?"], "tags": tags})
    frame.write_parquet(small.folder / "cases.parquet")
    assert small.load().case("c1").tags == {"region": ("base",)}


def test_tags_as_a_set_of_ours_has_them(small):
    """Read as a column where each name is there once; else as an object: the last counts."""
    tags = [
        [{"name": "region", "values": ["base", None]}, {"name": "empty", "values": None}],
        [],
        None,
        [{"name": "view", "values": ["NaN", ""]}],
    ]
    ids = [f"c{number}" for number in range(1, 5)]
    kind = pl.List(pl.Struct({"name": pl.String, "values": pl.List(pl.String)}))
    plain = pl.DataFrame({"id": ids, "question": "?"})
    (small.folder / "cases.jsonl").unlink()
    written = small.folder / "cases.parquet"
    plain.with_columns(tags=pl.Series(tags, dtype=kind)).write_parquet(written)
    read = [dict(small.load().case(one).tags) for one in ids]
    assert read == [{"region": ("base", ""), "empty": ()}, {}, {}, {"view": ("NaN", "")}]
    tags[1] = [{"name": "region", "values": ["apex"]}, {"name": "region", "values": ["base"]}]
    plain.with_columns(tags=pl.Series(tags, dtype=kind)).write_parquet(written)
    assert small.load().case("c2").tags == {"region": ("base",)}
    assert [dict(small.load().case(one).tags) for one in ids[2:]] == read[2:]


def test_unknown_columns_are_kept(small):
    parquet(
        small,
        temperature=[0.5],
        mood=['say "a"\n'],
        nothing=pl.Series([None], dtype=pl.String),
        day=[datetime(2025, 1, 2).date()],
        sampler=[{"top_p": 0.9}],
        usage=[{"output_tokens": 1, "reasoning_tokens": 7}],
        boxes=[[BOX, BOX | {"colour": "red"}]],
    )
    (answer,) = small.load().answers_of("c1")
    assert answer.extra == {
        "boxes": [{}, {"colour": "red"}],
        "day": "2025-01-02",
        "mood": 'say "a"\n',
        "sampler": {"top_p": 0.9},
        "temperature": 0.5,
        "usage": {"reasoning_tokens": 7},
    }


def test_parts_are_one_table_and_problems_name_the_part(small):
    folder = small.folder / "answers"
    folder.mkdir()
    rows = {"case": ["c1", "c1"], "model": ["m1", "m2"]}
    pl.DataFrame(rows | {"choice": [1, 2], "run_id": "a"}).write_parquet(folder / "part-0.parquet")
    bad = rows | {"choice": ["3", "four"], "run_id": "b"}
    pl.DataFrame(bad).write_parquet(folder / "part-1.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / "_metadata.parquet").write_text("")
    problem = small.only_problem()
    assert (problem.file, problem.row, problem.field) == ("answers/part-1.parquet", 2, "choice")

    pl.DataFrame(bad | {"choice": [3, 4]}).write_parquet(folder / "part-1.parquet")
    answers = small.load().answers
    assert answers["choice"].to_list() == [1, 2, 3, 4]
    assert answers["_row"].to_list() == [1, 2, 3, 4]


def test_problems_found_later_name_the_part_too(small):
    folder = small.folder / "answers"
    folder.mkdir()
    for part, case in enumerate(["c1", "c9"]):
        frame = pl.DataFrame({"case": ["c1", case], "model": [f"a{part}", f"b{part}"]})
        frame.write_parquet(folder / f"{part}.parquet")
    errors = [problem for problem in small.problems() if problem.severity == "error"]
    assert [(error.file, error.row) for error in errors] == [("answers/1.parquet", 2)]


@pytest.mark.parametrize("content", [b"", b"PAR1 not really", b"case,model\n"])
def test_a_damaged_file_is_an_error(small, content):
    (small.folder / "answers.parquet").write_bytes(content)
    problem = small.only_problem()
    assert (problem.severity, problem.file) == ("error", "answers.parquet")
    assert "damaged" in problem.message


def test_a_damaged_part_does_not_move_the_rows_of_the_next(small):
    folder = small.folder / "answers"
    folder.mkdir()
    (folder / "0.parquet").write_bytes(b"broken")
    pl.DataFrame({"case": ["c1"], "model": ["m1"], "choice": ["x"]}).write_parquet(
        folder / "1.parquet"
    )
    found = {(problem.file, problem.row) for problem in small.problems()}
    assert found == {("answers/0.parquet", None), ("answers/1.parquet", 1)}


@pytest.mark.parametrize("columns", [{"usage": [[1]]}, {"boxes": [{"a": 1}]}, {"boxes": [3]}])
def test_other_shapes_are_errors(small, columns):
    problem = parquet(small, **columns).only_problem()
    assert (problem.severity, problem.row) == ("error", 1)
    assert "expected" in problem.message


def test_frames_have_exactly_the_declared_types(small):
    parquet(small)
    small.text("metrics.csv", "case,model,metric,value\nc1,m1,bleu,1\n")
    review_set = small.load()
    for name, schema in frames.TABLES.items():
        assert getattr(review_set, name).schema == schema
