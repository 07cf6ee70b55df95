"""Generated reports on the Case page and in Browse, in a real browser."""

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm
from support.reports.report_set import write_reports

pytestmark = pytest.mark.browser
BY_BLEU = "worst:bleu_2:radeval:2.0:findings"


@pytest.fixture(scope="module")
def reports(start_app, tmp_path_factory):
    return start_app(write_reports(tmp_path_factory.mktemp("set") / "reports"))


@pytest.fixture
def page(reports, new_page):
    page = new_page()
    page.said = []
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    page.goto(f"{reports}case?case=r1&sort=order")
    page.wait_for_selector('[data-painted-case="r1"]')
    page.wait_for_selector(".rx-aligned")
    calm(page)
    return page


def test_sentences_follow_the_case_that_is_turned_to(page):
    rows = page.locator(".rx-aligned tbody tr")
    expect(rows.filter(has_text="Cardiac silhouette")).to_contain_text("The heart is normal")
    page.keyboard.press("j")
    page.wait_for_selector('[data-painted-case="r2"]')
    expect(page.locator(".rx-aligned")).to_contain_text("The lungs are clear. <img src=x")
    page.keyboard.press("j")
    page.wait_for_selector('[data-painted-case="r3"]')
    expect(page.locator(".rx-aligned th").first).to_contain_text("Model M")
    page.keyboard.press("j")
    page.wait_for_selector('[data-painted-case="o1"]')
    expect(page.locator(".rx-aligned")).to_have_count(0)
    assert page.said == []


def test_marks_are_words_and_words_of_the_text_stay_alone(page):
    mark = page.locator(".rx-text mark.rx-invented").first
    assert mark.inner_text() == "Rib fracture"
    label = mark.evaluate("one => getComputedStyle(one, '::after').content")
    assert label == '"invented"'


def test_parts_and_metrics_open_by_keyboard(page):
    parts = page.locator("summary", has_text="Finding-level agreement").first
    parts.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".rx-parts").first).to_be_visible()
    page.keyboard.press("j")
    page.wait_for_selector('[data-painted-case="r2"]')


def test_the_report_leads_to_the_sentences(page):
    page.locator(".rx-report [data-rx-go]").press("Enter")
    expect(page.locator(".rx-aligned h3")).to_be_in_viewport()
    expect(page.locator(".rx-aligned h3")).to_be_focused()


def test_a_finding_lights_in_the_rows_too(page):
    page.locator('.rx-report mark[tabindex="0"][data-rx-finding~="pleural_fluid"]').first.focus()
    page.wait_for_selector(".rx-aligned mark[data-rx-lit]")


def test_on_a_phone_models_stand_one_after_another(reports, new_page):
    page = new_page(390, 844)
    page.goto(f"{reports}case?case=r1&sort=order")
    page.wait_for_selector(".rx-aligned")
    calm(page)
    cells = page.locator(".rx-aligned tbody tr", has_text="Cardiac silhouette").locator("th, td")
    edges = [cells.nth(place).bounding_box() for place in range(3)]
    assert edges[0]["y"] < edges[1]["y"] < edges[2]["y"]
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 390


def test_browse_orders_by_a_metric_and_filters_by_corrections(reports, new_page):
    page = new_page()
    page.goto(f"{reports}browse?sort={BY_BLEU}&edit=from:1")
    cards = page.locator(".rx-card")
    expect(cards).to_have_count(2)
    expect(cards.first).to_contain_text("r1")
    expect(cards.first).to_contain_text("BLEU-2 0.210")
    expect(page.locator(".rx-chip")).to_contain_text("Correction of severity 1 or more")
    cards.first.click()
    page.wait_for_selector('[data-painted-case="r1"]')
    expect(page.locator(".rx-place")).to_contain_text("1 of 2")
