"""Charts in the real app: a click opens the cases, downloads are files that can be used."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest
from PIL import Image
from playwright.sync_api import expect
from support.browser.held_messages import HeldMessages
from support.browser.waiting import PATIENCE_MS, calm, until

pytestmark = pytest.mark.browser
CHART = ".st-key-rx_chart_overview_chart_0"


def shown(page, address):
    """Open the Overview and wait until its charts are drawn."""
    page.goto(address)
    page.locator(f"{CHART} svg.marks").first.wait_for()
    calm(page)
    return page.locator(CHART)


def downloaded(page, chart, name):
    with page.expect_download() as download:
        chart.get_by_role("button", name=name, exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_every_form_of_a_chart_can_be_downloaded(demo, new_page):
    page = new_page(accept_downloads=True)
    chart = shown(page, demo)
    chart.get_by_text("Table and download").click()
    expect(chart.locator("table td").first).to_have_text("Content")

    name, svg = downloaded(page, chart, "SVG")
    assert name == "scores-per-dimension.svg"
    root = ET.fromstring(svg)
    words = " ".join("".join(part.itertext()) for part in root.iter() if part.tag.endswith("text"))
    for part in ("Scores per dimension", "Simulated demonstration data", "Generalist (simulated)"):
        assert part in words

    name, png = downloaded(page, chart, "PNG")
    assert name == "scores-per-dimension.png"
    picture = Image.open(io.BytesIO(png))
    assert picture.format == "PNG"
    assert picture.width == pytest.approx(2 * float(root.get("width")), abs=2)
    assert picture.convert("L").getpixel((3, 3)) == 255  # light, though the page is dark

    name, table = downloaded(page, chart, "CSV")
    assert name == "scores-per-dimension.csv"
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    assert rows[0]["Dimension"] == "Content"
    assert len(rows[0]["Mean"]) > 8  # every digit
    assert f"{float(rows[0]['Mean']):.2f}" in words


def test_a_download_outlives_the_pages_that_others_run_meanwhile(demo, new_page):
    """Streamlit forgets a file that no page names, as one that is made when it is clicked."""
    page, others = new_page(accept_downloads=True), new_page()
    others.goto(f"{demo}browse")
    others.locator(".rx-card").first.wait_for()
    held = HeldMessages(page)
    chart = shown(page, demo)
    chart.get_by_text("Table and download").click()
    expect(chart.locator("table td").first).to_have_text("Content")
    calm(page)
    held.holding = True
    with page.expect_download(timeout=3 * PATIENCE_MS) as download:
        chart.get_by_role("button", name="CSV", exact=True).click()
        until(page, lambda: len(held.late), lambda count: count > 0)
        for name in ("Readers", "Scores", "Failures"):  # each run of any page forgets
            others.get_by_role("button", name="Results").click()
            others.get_by_role("menuitem", name=name, exact=True).click()
            others.wait_for_url(f"**/{name.lower()}*")
            calm(others)
        held.release()
    assert download.value.path().read_bytes()


def test_a_bar_opens_its_cases(demo, new_page):
    page = new_page()
    chart = shown(page, demo)
    chart.locator("svg.marks .mark-rect.role-mark path").first.click()
    page.wait_for_url(re.compile(r"/browse\?.*model=.*content=\.\."))
    page.locator(".rx-card").first.wait_for()
    page.go_back()
    page.wait_for_url(lambda url: "browse" not in url)
    page.locator(f"{CHART} svg.marks").first.wait_for()


def test_on_paper_the_page_is_white_without_the_panel(demo, new_page):
    page = new_page()
    chart = shown(page, demo)
    background = "one => getComputedStyle(one).backgroundColor"
    assert page.locator(".stApp").evaluate(background) != "rgb(255, 255, 255)"  # dark on screen
    page.emulate_media(media="print")
    for selector in ("body", ".stApp", f"{CHART} svg.marks"):
        assert page.locator(selector).first.evaluate(background) == "rgb(255, 255, 255)", selector
    ink = chart.locator("svg.marks .role-axis-label text").first.evaluate(
        "one => getComputedStyle(one).fill"
    )
    assert ink == "rgb(20, 25, 29)"
    for selector in ('[data-testid="stSidebar"]', '[data-testid="stHeader"]'):
        expect(page.locator(selector)).to_be_hidden()
    expect(chart.get_by_text("Table and download")).to_be_hidden()
    expect(page.locator(".rx-means")).to_be_visible()


def test_the_order_of_content_goes_along_from_page_to_page(demo, new_page):
    page = new_page()
    page.goto(f"{demo}?content_order=minimum_first")
    page.locator(".rx-means").wait_for()
    expect(page.locator(".rx-means caption")).to_contain_text("mean of the readers' minimums")
    calm(page)
    page.get_by_role("link", name="Browse").first.click()
    page.wait_for_url(re.compile(r"/browse\?.*content_order=minimum_first"))
    page.locator(".rx-card").first.click()
    page.wait_for_url(re.compile(r"/case\?.*content_order=minimum_first"))


def test_on_paper_the_radiograph_keeps_its_shape(demo, new_page):
    page = new_page()
    page.goto(f"{demo}case")
    page.wait_for_selector("[data-painted-case]")
    calm(page)
    stage = page.locator(".stage").first
    size = "one => [one.clientWidth, one.clientHeight]"
    drawn = stage.evaluate(size)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 990})
    calm(page)
    assert stage.evaluate(size) == drawn  # else what was drawn is stretched, and boxes lie beside
