"""Files dropped on the Import tab in a real browser: proposals, boxes, the receipt, the new set."""

import json
import re

import cv2
import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm

from rexview.reviewset import load_review_set

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 400, 500
HOSTILE = "<img src=x onerror=window.hit=1>"


@pytest.fixture
def sources(tmp_path):
    """Return a folder with two pictures, their boxes in COCO, and a table of answers."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        picture = np.full((HEIGHT, WIDTH), 90, np.uint8)
        cv2.imwrite(str(folder / name), picture)
    data = {
        "images": [
            {"id": 1, "file_name": "a.png", "width": WIDTH, "height": HEIGHT},
            {"id": 2, "file_name": "b.png", "width": WIDTH, "height": HEIGHT},
        ],
        "categories": [{"id": 1, "name": HOSTILE}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [40, 50, 100, 200]},
            {"id": 2, "image_id": 2, "category_id": 1, "bbox": [80, 50, 100, 200]},
        ],
    }
    (folder / "boxes.json").write_text(json.dumps(data))
    return folder


@pytest.fixture
def import_tab(start_app, new_page, tmp_path):
    """Return a page with the Import tab of an app open."""
    address = start_app(data=tmp_path / "home")

    def open_tab(**size):
        page = new_page(**size)
        page.goto(f"{address}data")
        page.get_by_role("tab", name="Import").click()
        page.get_by_role("textbox", name="Path of the files").wait_for()
        calm(page)
        return page

    return open_tab


def give(page, *paths):
    field = page.get_by_role("textbox", name="Path of the files")
    field.fill("\n".join(map(str, paths)))
    field.press("Control+Enter")
    page.get_by_text("What the files are").wait_for()
    calm(page)


def choose(page, label, option):
    page.get_by_role("combobox", name=re.compile(label)).click()
    page.keyboard.type(option)
    page.get_by_role("option", name=option).first.click()
    calm(page)


def shares(page):
    """Return where the first box lies on its picture: left, top, width, height, each 0 to 1."""
    return page.evaluate("""() => {
        const box = document.querySelector(".rx-import-box").getBoundingClientRect();
        const film = document.querySelector(".rx-box-film").getBoundingClientRect();
        return [(box.left - film.left) / film.width, (box.top - film.top) / film.height,
                box.width / film.width, box.height / film.height];
    }""")


def test_boxes_are_drawn_as_they_will_be_read_and_redrawn_in_another_reading(
    import_tab, sources, tmp_path
):
    page = import_tab()
    give(page, sources)
    expect(page.locator(".rx-box-pictures figure")).to_have_count(2)
    page.wait_for_function("document.querySelector('.rx-box-film img').naturalWidth > 0")
    assert shares(page) == pytest.approx([0.1, 0.1, 0.25, 0.4], abs=0.01)
    assert page.evaluate("window.hit") is None
    expect(page.locator(".rx-import-box").first).to_contain_text(HOSTILE)
    choose(page, "four numbers", "Left, top, right, bottom in pixels")
    assert shares(page) == pytest.approx([0.1, 0.1, 0.15, 0.3], abs=0.01)
    page.get_by_role("textbox", name="New folder for the review set").fill(str(tmp_path / "made"))
    page.get_by_role("textbox", name="New folder for the review set").press("Enter")
    calm(page)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Imported 2 cases").wait_for()
    boxes = load_review_set(tmp_path / "made").cases["reference_boxes"].to_list()
    assert [list(box["box"]) for case in boxes for box in case] == [
        [40, 50, 60, 150],
        [80, 50, 20, 150],
    ]


@pytest.mark.parametrize("width", [1440, 390])
def test_an_uploaded_table_becomes_a_set_that_opens(import_tab, width):
    page = import_tab(width=width)
    rows = "case,model,answer,patient name\nc1,GPT,Small effusion.,Jane Doe\n"
    page.locator("input[type=file]").set_input_files(
        {"name": f"{HOSTILE}.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.get_by_text("What the files are").wait_for()
    calm(page)
    expect(page.get_by_text("“Small effusion.”")).to_be_visible()
    assert page.get_by_text("Jane").count() == 0
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Receipt").wait_for()
    expect(page.get_by_text("patient name").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the receipt").click()
    receipt = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert receipt["cases"] == 1
    assert receipt["models"] == {"GPT": 1}
    assert [one["column"] for one in receipt["identity_columns"]] == ["patient name"]
    page.get_by_role("button", name=re.compile("^folder_open Open|Open ")).last.click()
    page.wait_for_url(re.compile("set="))
    page.locator(".rx-card").first.wait_for()
    assert page.evaluate("window.hit") is None


def test_the_page_asks_which_file_has_the_reference(import_tab, tmp_path):
    folder = tmp_path / "chest"
    folder.mkdir()
    for name, size in (("set_a.csv", "normal"), ("set_b.csv", "enlarged")):
        rows = [f'{n},"The heart is {size}. No effusion is seen."' for n in (1, 2, 3)]
        (folder / name).write_text("\n".join(["study_id,report", *rows]), encoding="utf-8")
    page = import_tab()
    give(page, folder)
    asked = page.get_by_role("radiogroup", name=re.compile("Which one has"))
    expect(
        asked.get_by_text("such as “The heart is enlarged. No effusion is seen.”")
    ).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    asked.get_by_text("chest/set_b.csv").click()
    calm(page)
    out = page.get_by_role("textbox", name="New folder").input_value()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("button", name="Open chest").wait_for()
    made = load_review_set(out)
    assert {row["findings"] for row in made.cases["report"]} == {
        "The heart is enlarged. No effusion is seen."
    }
    assert set(made.answers["model"]) == {"set_a"}
