"""PDF pages, read back with pypdf: text that can be selected, boxes in their places."""

import re
from pathlib import Path

import pytest
from pypdf import PdfReader
from support.exports.boxed_set import BOXES, OTHER_BOX, write_boxed_set
from support.exports.exported_set import exported, write_exported_set

from rexview.analysis.colours import MODEL_COLOURS
from rexview.errors import ExportCancelled
from rexview.export.export_job import ExportProgress
from rexview.export.export_request import ExportRequest
from rexview.export.pdf import write

NUMBER = r"-?[\d.]+"
COLOUR = re.compile(rf"((?:{NUMBER} )+)(?:RG|G)\b")
IMAGE = re.compile(rf"q ({NUMBER}) 0 0 ({NUMBER}) ({NUMBER}) ({NUMBER}) cm /I\d+ Do")
DRAWN = re.compile(rf"({NUMBER}) ({NUMBER}) ({NUMBER}) ({NUMBER}) re S")
DASHED = re.compile(r"\[(.*?)\] \S+ d")


def pages(content, folder):
    """Write a PDF; return it as read back, and what was noted."""
    progress = ExportProgress()
    write(content, folder / "cases.pdf", progress)
    return PdfReader(folder / "cases.pdf"), progress.notes


def drawn_boxes(page):
    """Yield the colour, the place and whether it is dashed of each rectangle that is only drawn."""
    commands = page.get_contents().get_data().decode("latin-1")
    colour, dashed = "", False
    every = re.compile(f"{COLOUR.pattern}|{DRAWN.pattern}|{DASHED.pattern}")
    for found in every.finditer(commands):
        if found[1]:
            parts = [f"{round(float(part) * 255):02X}" for part in found[1].split()]
            colour = "#" + "".join(parts * 3 if len(parts) == 1 else parts)
        elif found[2]:
            yield colour, tuple(map(float, found.groups()[1:5])), dashed
        else:
            dashed = bool(found[6])


@pytest.fixture
def boxed(tmp_path):
    return exported(write_boxed_set(tmp_path / "set"))[0]


def test_boxes_are_vectors_in_their_places(boxed, tmp_path):
    made, _ = pages(boxed, tmp_path)
    first = made.pages[0]
    commands = first.get_contents().get_data().decode("latin-1")
    width, height, left, bottom = map(float, IMAGE.search(commands).groups())
    found = {}
    for colour, (x, y, wide, high), dashed in drawn_boxes(first):
        top = y if high < 0 else y + high
        in_pixels = (
            (x - left) / width * 100,
            (bottom + height - top) / height * 120,
            wide / width * 100,
            abs(high) / height * 120,
        )
        found.setdefault((colour, dashed), []).append(in_pixels)
    wanted = [BOXES["pa"][0], (80, 100, 20, 20), BOXES["pa"][2]]
    for place, box in zip(found[MODEL_COLOURS[0], False], wanted, strict=True):
        assert place == pytest.approx(box, abs=0.5)
    assert found[MODEL_COLOURS[1], False] == [pytest.approx(OTHER_BOX, abs=0.5)]
    assert found["#F2F2F2", True] == [pytest.approx((5, 6, 7, 8), abs=0.5)]


def test_its_text_is_text(boxed, tmp_path):
    made, _ = pages(boxed, tmp_path)
    every = [page.extract_text() for page in made.pages]
    everything = "\n".join(every)
    assert "Question 1: where is the effusion?" in every[0]
    assert all("Simulated: made for a test." in text for text in every)
    for part in range(60):
        assert f"Part {part}\n" in everything
    assert "</a:t><script>alert(1)</script>" in everything
    assert "Process minus" in everything
    assert made.metadata.title == "Boxed set"


def test_what_the_font_lacks_is_said(boxed, tmp_path):
    made, notes = pages(boxed, tmp_path)
    assert "U+6C34, U+80F8" in made.pages[-1].extract_text()
    assert any("U+6C34, U+80F8" in note for note in notes)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system has no /proc")
def test_a_cancelled_one_leaves_no_file_open(boxed, tmp_path):
    times = iter([False] * 3)
    progress = ExportProgress(is_cancelled=lambda: next(times, True))
    with pytest.raises(ExportCancelled):
        write(boxed, tmp_path / "cases.pdf", progress)
    opened = {Path(one).resolve().name for one in Path("/proc/self/fd").glob("*")}
    assert not opened & {"DejaVuSans.ttf", "DejaVuSans-Bold.ttf"}


def test_a_meeting_has_bookmarks_and_minutes(tmp_path):
    content, _ = exported(write_exported_set(tmp_path / "set"), ExportRequest(meeting="m1"))
    made, _ = pages(content, tmp_path)
    assert [one.title.partition(" · ")[0] for one in made.outline] == [
        "Chest of c1",
        *("Agenda", "c2", "c1", "Minutes", "Appendix", "Appendix"),
    ]
    every = [page.extract_text() for page in made.pages]
    (minutes,) = (text for text in every if text.startswith("Minutes"))
    assert "Retrain" in minutes
    assert "Model M 2, no model 1" in minutes
