"""Each shape of input in docs/importing.md is imported, and becomes what it should."""

import re

import pytest
from support import ROOT
from support.shapes import SHAPES

from rexview.errors import ImportSourceError
from rexview.importers import import_source
from rexview.importers.auto import recognise_file
from rexview.importers.receipt import UNACCOUNTED
from rexview.importers.source_files import SourceFile
from rexview.reviewset import check_review_set, load_review_set

SECTION = (
    (ROOT / "docs/importing.md").read_text(encoding="utf-8").partition("## Shapes of input")[2]
)
COUNTED = (
    *("cases", "models", "scores", "edits", "metrics", "model_boxes", "reference_boxes"),
    *("images_found", "rows_in", "not_run"),
)


def written(shape, folder):
    """Write the files of a shape; return the sources."""
    folder.mkdir()
    shape.write(folder)
    return sorted(folder.iterdir())


def text_of(folder):
    return "".join(path.read_text() for path in sorted(folder.glob("*.jsonl")))


def test_the_table_has_every_shape_and_no_other():
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \| (.+) \| (.+) \|$", SECTION, re.M)
    assert sorted(name for name, *_ in rows) == sorted(SHAPES)
    assert len(rows) >= 40


def assert_complete(receipt):
    """Every row that came in was used, or is named with the reason."""
    unused = receipt["rows_unused"]
    assert receipt["rows_in"] == receipt["rows_used"] + sum(one["count"] for one in unused)
    assert not [one for one in unused if one["why"] == UNACCOUNTED]


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_becomes_what_it_should(name, tmp_path):
    shape = SHAPES[name]
    sources, out = written(shape, tmp_path / "in"), tmp_path / "out"
    files = [path for path in (tmp_path / "in").rglob("*") if path.is_file()]
    known = [recognise_file(SourceFile(path, path.name)) for path in files]
    assert {one.importer.id for one in known if one} == shape.read_as
    if shape.refused:
        with pytest.raises(ImportSourceError) as caught:
            import_source("auto", sources, out, options=shape.options)
        said = " ".join(f"{one.message} {one.remedy}" for one in caught.value.problems)
        assert shape.refused in said
        assert_complete(caught.value.receipt)
        assert {one["file"] for one in caught.value.receipt["files_unread"]} == shape.unread
        assert not out.exists()
        return
    receipt = import_source("auto", sources, out, options=shape.options).receipt.as_json()
    assert [one for one in check_review_set(out) if one.severity == "error"] == []
    assert_complete(receipt)
    assert {key: receipt[key] for key in COUNTED} == {key: getattr(shape, key) for key in COUNTED}
    assert sum(one["count"] for one in receipt["rows_unused"]) == shape.unused
    assert {one["column"] for one in receipt["columns_kept"]} == shape.kept
    assert {one["column"] for one in receipt["columns_unused"]} == shape.columns_unused
    assert {one["column"] for one in receipt["identity_columns"]} == shape.identity
    assert {one["file"] for one in receipt["files_unread"]} == shape.unread
    for text in shape.texts:
        assert text.replace('"', '\\"').replace("\n", "\\n") in text_of(out)
    if shape.box:
        boxes = load_review_set(out).answers["boxes"].explode().drop_nulls().to_list()
        assert boxes[0]["box"] == pytest.approx(shape.box)


SEVERAL = (
    *("long-csv", "two-reports", "openai-batch-with-requests", "anthropic-batch", "rexvqa"),
    *("rexrank", "predictions-by-id", "boxes-corners", "boxes-thousandths", "nih", "coco"),
    *("label-studio", "scores-long", "pictures-not-named", "wrong-endings", "gzip-and-zip"),
)
"""Shapes of more than one source."""


@pytest.mark.parametrize("name", SEVERAL)
def test_the_order_of_the_sources_does_not_matter(name, tmp_path):
    shape = SHAPES[name]
    sources = written(shape, tmp_path / "in")
    assert len(sources) > 1
    made = []
    for number, order in enumerate((sources, sources[::-1], [*sources[1:], sources[0]])):
        out = tmp_path / f"out{number}"
        receipt = import_source("auto", order, out, options=shape.options).receipt.as_json()
        made.append((text_of(out), {key: one for key, one in receipt.items() if key in COUNTED}))
    assert made[0] == made[1] == made[2]
