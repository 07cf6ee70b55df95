"""Slides, read back with python-pptx: every box where it belongs, every word, the notice."""

import re
from collections import Counter
from datetime import UTC, datetime

import pytest
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE, MSO_SHAPE_TYPE
from support.exports.boxed_set import BOXES, HOSTILE, LONG, OTHER_BOX, write_boxed_set
from support.exports.exported_set import exported, write_exported_set

from rexview.analysis.colours import MODEL_COLOURS
from rexview.export.export_job import ExportProgress
from rexview.export.export_request import ExportRequest
from rexview.export.pptx import SlideDeck, write
from rexview.export.sheets.sheet import Rectangle, Sheet, TextBlock, make_paragraph


def deck(content, folder):
    """Write a deck; return it as read back, and what was noted."""
    progress = ExportProgress()
    write(content, folder / "deck.pptx", progress)
    return Presentation(folder / "deck.pptx"), progress.notes


def boxes_of(slide):
    """Return the plain rectangles of a slide."""
    return [
        one
        for one in slide.shapes
        if one.shape_type == MSO_SHAPE_TYPE.AUTO_SHAPE
        and one.auto_shape_type == MSO_SHAPE.RECTANGLE
    ]


def texts_of(slide):
    """Yield the text of every shape and cell."""
    for shape in slide.shapes:
        if shape.has_text_frame:
            yield shape.text_frame.text
        if shape.has_table:
            yield from (cell.text for row in shape.table.rows for cell in row.cells)


def words(text):
    return re.findall(r"\w+", text)


@pytest.fixture
def boxed(tmp_path):
    return exported(write_boxed_set(tmp_path / "set"))[0]


def film_of(slide, box):
    """Return the film that a box lies on."""
    return next(
        one
        for one in slide.shapes
        if one.name.startswith("Film: ")
        if one.left - 1 <= box.left and box.left + box.width <= one.left + one.width + 1
        if one.top - 1 <= box.top and box.top + box.height <= one.top + one.height + 1
    )


def test_every_box_is_a_rectangle_in_its_place_and_colour(boxed, tmp_path):
    made, notes = deck(boxed, tmp_path)
    found = []
    for slide in made.slides:
        for box in boxes_of(slide):
            film = film_of(slide, box)
            scale_x, scale_y = film.width / 100, film.height / 120
            place = (
                (box.left - film.left) / scale_x,
                (box.top - film.top) / scale_y,
                box.width / scale_x,
                box.height / scale_y,
            )
            found.append((film.name, str(box.line.color.rgb), place))
            assert box.fill.type is not None  # none at all, not the theme's
    m, n = (colour.removeprefix("#") for colour in MODEL_COLOURS[:2])
    titles = {"pa": "Film: PA", "lat": "Film: Lateral", "old": "Film: Prior, PA"}
    wanted = [(titles[image], m, box) for image, boxes in BOXES.items() for box in boxes]
    wanted[1] = (titles["pa"], m, [80, 100, 20, 20])  # as far as it is on the film
    wanted.insert(3, (titles["pa"], n, OTHER_BOX))
    assert [one[:2] for one in found] == [one[:2] for one in wanted]
    for (*_, place), (*_, box) in zip(found, wanted, strict=True):
        assert place == pytest.approx(box, abs=0.5)
    assert notes == ["k1, Prior, PA: There is no such file."]


def test_the_reference_is_told_apart(boxed, tmp_path):
    made, _ = deck(boxed, tmp_path)
    (reference,) = [
        one for slide in made.slides for one in slide.shapes if one.name == "Reference: truth"
    ]
    assert reference.auto_shape_type == MSO_SHAPE.ROUNDED_RECTANGLE
    assert reference.line.dash_style is not None


def test_no_word_is_lost_and_nothing_is_run_as_markup(boxed, tmp_path):
    made, _ = deck(boxed, tmp_path)
    answers = {"m": "", "n": ""}
    for slide in made.slides:
        for shape in slide.shapes:
            if shape.name.startswith("Answer: "):
                model = shape.name.removeprefix("Answer: Model ").lower()
                answers[model] += f"\n{shape.text_frame.text}"
    assert words(answers["m"]) == words(LONG)
    assert answers["n"].strip() == HOSTILE.replace("\x07", "\ufffd")
    said = Counter(text for slide in made.slides for text in texts_of(slide))
    assert any("A small left effusion." in text for text in said)
    assert any("Question 1: where is the effusion?" in text for text in said)


def test_everything_has_a_place_on_the_slide_and_nothing_is_a_placeholder(boxed, tmp_path):
    made, _ = deck(boxed, tmp_path)
    assert made.slide_width / made.slide_height == pytest.approx(16 / 9)
    for slide in made.slides:
        assert not list(slide.placeholders)
        for shape in slide.shapes:
            assert shape.left >= 0
            assert shape.top >= 0
            assert shape.left + shape.width <= made.slide_width
            assert shape.top + shape.height <= made.slide_height
        assert any("Simulated: made for a test." in text for text in texts_of(slide))


def test_what_is_read_from_the_right_is_said_to_be(tmp_path):
    texts = ("12 mm left", "12 mm: انصباب", "12: انصباب left")
    sheet = Sheet(
        "", [TextBlock(Rectangle(0, 0, 99, 99), tuple(map(make_paragraph, texts)), "Text")]
    )
    made = SlideDeck("Deck", datetime(2026, 1, 1, tzinfo=UTC))
    made.add(sheet)
    made.save(tmp_path / "deck.pptx")
    shape = Presentation(tmp_path / "deck.pptx").slides[0].shapes[0]
    styles = [one._p.pPr for one in shape.text_frame.paragraphs]
    assert [(one.get("rtl"), one.get("algn")) for one in styles] == [
        (None, "l"),
        (None, "l"),  # its first letter is m
        ("1", "r"),
    ]


def test_scores_are_a_table(boxed, tmp_path):
    made, _ = deck(boxed, tmp_path)
    tables = {
        shape.name: [[cell.text for cell in row.cells] for row in shape.table.rows]
        for slide in made.slides
        for shape in slide.shapes
        if shape.has_table
    }
    assert tables["Scores"] == [
        ["Model", "Scored by", "Process", "Execution", "Process minus Execution"],
        ["■ Model M", "Final, 1 reader", "5", "2", "3"],
        ["■ Model M", "Reader A", "5", "2", "–"],
    ]


def test_equal_pictures_are_in_it_once(tmp_path):
    content, _ = exported(write_boxed_set(tmp_path / "set", cases=3))
    made, _ = deck(content, tmp_path)
    drawn = [
        shape.image.sha1
        for slide in made.slides
        for shape in slide.shapes
        if shape.shape_type == MSO_SHAPE_TYPE.PICTURE
    ]
    assert len(drawn) == 6
    parts = [part for part in made.part.package.iter_parts() if "/media/" in part.partname]
    assert len(parts) == len(set(drawn)) == 1


def test_a_meeting_has_its_agenda_and_minutes(tmp_path):
    content, _ = exported(write_exported_set(tmp_path / "set"), ExportRequest(meeting="m1"))
    made, _ = deck(content, tmp_path)
    first = "\n".join(texts_of(made.slides[0]))
    assert "Chest of c1" in first
    assert "Held 1 Dec 2026 · 2 cases · Small set · discussed for 1 minute" in first
    tables = {
        shape.name: [[cell.text for cell in row.cells] for row in shape.table.rows]
        for slide in made.slides
        for shape in slide.shapes
        if shape.has_table
    }
    assert [row[:3] for row in tables["Table"]] == [
        ["No.", "Case", "Section"],
        ["1", "c2", "Side"],
        ["2", "c1", ""],
    ]
    assert tables["Still open"] == [
        ["Case", "About", "What", "Who", "Until"],
        ["c1", "■ Model M", "Retrain", "–", "–"],
    ]
    assert tables["Votes"][1] == ["c1", "3", "Model M 2, no model 1", "–"]
    assert tables["Not reached"][1][1] == "c2"


def test_one_case_alone_has_no_list_but_says_what_has_to_be_said(tmp_path):
    folder = write_exported_set(tmp_path / "set")
    content, _ = exported(folder, ExportRequest(cases=("c1",)), pseudonyms=True)
    made, _ = deck(content, tmp_path)
    every = [list(texts_of(slide)) for slide in made.slides]
    assert every[0][0].startswith("case-001 · ")
    assert any("Names of people" in text for text in every[-1])
    assert not any("Northfield" in text or "ACC-77001" in text for one in every for text in one)


def test_a_long_notice_stands_whole_on_the_first_slide(tmp_path):
    notice = "Not for clinical use, whatever happens. " * 25
    content, _ = exported(write_boxed_set(tmp_path / "set", cases=2, notice=notice))
    made, _ = deck(content, tmp_path)
    first, second = (list(texts_of(slide)) for slide in list(made.slides)[:2])
    assert any(notice.strip() in text for text in first)
    assert "Read the notice on the first sheet." in second
