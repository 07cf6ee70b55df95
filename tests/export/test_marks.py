"""Answers that people marked with a failure in words are in exports, apart from all flags."""

import csv
import re
from dataclasses import replace

import polars as pl
import pytest
from openpyxl import load_workbook
from support.entries.stored import ANN
from support.exports.exported_set import write_exported_set

from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WORDS
from rexview.analysis.written_failures import WRITTEN_MARK_KIND, current_failures
from rexview.cli import main
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews

EVIL = "<img src=x onerror=alert(1)>"
TITLE = f"Prior {EVIL}"
WHY = f"No such film {EVIL}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_exported_set(tmp_path_factory.mktemp("marked") / "set")
    reviews = open_reviews(load_review_set(folder), Settings())
    for name in ("prior", "removed"):
        value = {"name": TITLE, "counts": "It compares."}
        reviews.record([Entry(WORDS, subject=name, value=value)], ANN)
    version = current_failures(merge_reviews(load_review_set(folder), reviews))["prior"].prompt.hash
    mark = Entry(WRITTEN_MARK_KIND, "c1", "m", "prior", value={"version": version, "comment": WHY})
    of_removed = replace(Entry(WRITTEN_MARK_KIND, "c1", "m", "removed"), value={"version": version})
    earlier = replace(Entry(WRITTEN_MARK_KIND, "c2", "m", "prior", value={"version": version}))
    reviews.record([mark, of_removed, replace(earlier, answer_digest="0" * 64)], ANN)
    reviews.record([Entry(WORDS, subject="removed", value=None)], ANN)
    return folder


def written(folder, tmp_path, name, suffix=None):
    out = tmp_path / f"out.{suffix or name}"
    assert main(["export", str(folder), "--format", name, "--out", str(out)]) == 0
    return out


def test_tables_have_those_that_count(folder, tmp_path):
    with written(folder, tmp_path, "csv").open(encoding="utf-8-sig", newline="") as file:
        told = [row["failures_in_own_words"] for row in csv.DictReader(file)]
    assert told == [f"{TITLE} (ann): {WHY}", "", "", ""]
    head, *rows = load_workbook(written(folder, tmp_path, "xlsx"))["marks"].values
    (row,) = [dict(zip(head, one, strict=True)) for one in rows]
    assert (row["case"], row["model"], row["failure"]) == ("c1", "m", "prior")
    assert (row["name"], row["comment"], row["reader"]) == (TITLE, WHY, "ann")
    table = pl.read_parquet(written(folder, tmp_path, "parquet"))
    marks = table["marks"].to_list()
    assert [len(one or ()) for one in marks] == [1, 0, 0, 0]
    assert marks[0][0]["name"] == TITLE
    flags = [flag["failure"] for row in table["flags"].to_list() for flag in row or ()]
    assert "prior" not in flags


def test_the_html_file_has_them_as_text(folder, tmp_path):
    page = written(folder, tmp_path, "html").read_text(encoding="utf-8")
    assert page.count("(in own words, ") == 1
    assert "<img src=x" not in page
    assert re.search(r"Prior &lt;img src=x onerror=alert\(1\)&gt;</b>", page)


def test_slides_have_them(folder, tmp_path):
    presentation = pytest.importorskip("pptx").Presentation(written(folder, tmp_path, "pptx"))
    texts = [
        shape.text_frame.text
        for slide in presentation.slides
        for shape in slide.shapes
        if shape.has_text_frame
    ]
    assert f"{TITLE} (in own words, Ann A.)" in "\n".join(texts)


def test_a_review_set_names_them_as_left_out(folder, tmp_path, capsys):
    out = tmp_path / "set"
    assert main(["export", str(folder), "--format", "reviewset", "--out", str(out)]) == 0
    assert "3 answers marked with a failure in words" in "".join(capsys.readouterr())
