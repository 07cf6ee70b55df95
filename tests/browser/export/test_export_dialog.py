"""Exports from the pages: made beside the page, downloaded, cancelled; one case in one click."""

import csv
import io
import zipfile

import pytest
from openpyxl import load_workbook
from playwright.sync_api import expect
from support.browser.waiting import calm

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(start_app):
    return start_app()


def opened(page, address):
    page.goto(address)
    page.get_by_role("button", name="Export", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Make the file")).to_be_visible()
    return dialog


def choose(page, dialog, name):
    dialog.get_by_role("combobox").click()
    page.get_by_role("option", name=name, exact=True).click()
    calm(page)


def downloaded(page, where, name):
    with page.expect_download() as download:
        where.get_by_role("button", name=name, exact=True).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_what_the_filter_leaves_with_pseudonyms(app, new_page):
    page = new_page(accept_downloads=True)
    dialog = opened(page, f"{app}browse?failure=laterality_error&model=generalist")
    cases = dialog.get_by_text(" cases").first.inner_text()
    choose(page, dialog, "Excel")
    dialog.get_by_text("Pseudonyms", exact=True).click()
    calm(page)
    dialog.get_by_role("button", name="Make the file").click()
    expect(dialog.get_by_text("have pseudonyms")).to_be_visible()
    name, content = downloaded(page, dialog, "Download")
    assert name == "cases.xlsx"
    rows = list(load_workbook(io.BytesIO(content))["cases"].iter_rows(values_only=True))
    assert f"{len(rows) - 1} cases" == cases
    assert rows[1][1] == "case-001"
    name, key = downloaded(page, dialog, "Download the key")
    assert name == "key.csv"
    named = {row["pseudonym"]: row["id"] for row in csv.DictReader(io.StringIO(key.decode()))}
    assert named["case-001"].startswith(("c", "q", "r"))


def test_a_format_with_films_warns_of_burned_in_text(app, new_page):
    page = new_page(accept_downloads=True)
    dialog = opened(page, f"{app}browse?failure=laterality_error")
    choose(page, dialog, "FiftyOne")
    expect(dialog.get_by_text("Text burned into films stays on them")).to_be_visible()
    dialog.get_by_role("button", name="Make the file").click()
    expect(dialog.get_by_text("Names and dates may be burned into pictures")).to_be_visible()
    name, content = downloaded(page, dialog, "Download")
    assert name == "Demonstration.zip"
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None


def test_an_export_is_cancelled(app, new_page):
    page = new_page()
    dialog = opened(page, f"{app}browse")
    choose(page, dialog, "Web page, works offline")
    dialog.get_by_role("button", name="Make the file").click()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog.get_by_role("progressbar")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Download", exact=True)).to_have_count(0)
    expect(dialog.get_by_role("button", name="Make the file")).to_be_enabled()


@pytest.mark.parametrize(("name", "begins"), [("Slide", b"PK"), ("PDF", b"%PDF")])
def test_one_case_in_one_click(app, new_page, name, begins):
    page = new_page(accept_downloads=True)
    page.goto(f"{app}case?case=c02")
    button = page.get_by_role("button", name=name, exact=True)
    button.wait_for()
    calm(page)
    file, content = downloaded(page, page, name)
    assert file.startswith("c02.")
    assert content.startswith(begins)
