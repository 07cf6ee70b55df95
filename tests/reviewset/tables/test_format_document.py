"""FORMAT.md is what a stranger works from: its tables are the code's, its examples open."""

import re

import pytest
import yaml

from rexview.columns import TABLES
from rexview.reviewset import check_review_set, load_review_set
from rexview.rubric import load_rubric
from tools.format_tables import FORMAT_FILE, with_tables

TEXT = FORMAT_FILE.read_text(encoding="utf-8")
EXAMPLES = dict(
    re.findall(r"^`([a-z_]+\.[a-z]+)`[^\n]*\n\n```[a-z]+\n(.*?)^```", TEXT, re.M | re.S)
)


def test_tables_are_the_declared_columns():
    assert with_tables(TEXT) == TEXT, "run: python -m tools.format_tables"


def test_a_missing_heading_is_noticed():
    with pytest.raises(ValueError, match="answers"):
        with_tables(TEXT.replace("## answers", "## replies"))


def test_there_is_an_example_of_every_table():
    assert {name.partition(".")[0] for name in EXAMPLES} == {"reviewset", *TABLES}


def test_the_examples_make_a_set_without_problems(tmp_path):
    for name, content in EXAMPLES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    for path in ("c1/pa.png", "c2/ap.dcm"):
        image = tmp_path / "images" / path
        image.parent.mkdir(parents=True)
        image.write_bytes(b"an image")
    assert check_review_set(tmp_path) == []
    review_set = load_review_set(tmp_path)
    case = review_set.case("c2")
    assert case is not None
    assert case.options[case.correct] == "Cardiomegaly"
    assert review_set.answers_of("c1")[0].boxes[0].label == "right pleural effusion"
    assert review_set.answers_of("c2")[0].max_output_tokens == 1024
    assert review_set.scores["score"].to_list() == [5, 2, 4]
    assert review_set.edits["severity"].to_list() == [4]


def test_the_example_of_a_rubric_can_be_used(tmp_path):
    (example,) = re.findall(r"```yaml rubric\n(.*?)^```", TEXT, re.M | re.S)
    path = tmp_path / "mine.yaml"
    path.write_text(example, encoding="utf-8")
    assert load_rubric(path)["process"].anchors[1] == "Nothing"
    assert yaml.safe_load(example)["dimensions"]
