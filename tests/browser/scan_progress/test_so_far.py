"""Work begins before detectors have looked at all answers: in a real browser, on thousands."""

import re

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm, pass_time, until
from support.review_folder import named, write_review_set

from rexview import reviewset
from rexview.analysis import CaseFilter
from rexview.analysis.query.memory.memory_engine import build_memory_engine

pytestmark = pytest.mark.browser
CASES, MODELS = 700, ("g", "m")
ANSWERS = CASES * len(MODELS)
SENTENCES = 24
"""Each differs from all others, so that none is read already."""
LONG_MS = 300_000
FINDINGS = ("pleural effusion", "pneumothorax", "consolidation", "nodule", "atelectasis")


def text_of(case, place):
    """Describe many findings; the side of the first is that of the report in every second case."""
    sides = ("left", "right")
    words = [f"There is a {sides[(case // 2 + place * case) % 2]} {FINDINGS[case % 5]}."]
    words += [
        f"A {FINDINGS[(case + n) % 5]} measuring {case % 90 + n}.{n} mm is not seen in zone "
        f"{case}-{place}-{n} of the {sides[n % 2]} lung, compared with the study before."
        for n in range(SENTENCES)
    ]
    return " ".join(words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    cases = [
        {
            "id": f"c{number:04}",
            "question": f"What is seen on film {number}?",
            "question_type": "open",
            "report": {"findings": f"Left {FINDINGS[number % 5]}."},
            "images": [{"id": "i", "path": "none.png", "view": "PA", "width": 64, "height": 64}],
        }
        for number in range(CASES)
    ]
    answers = [
        {
            "case": f"c{number:04}",
            "model": model,
            "text": text_of(number, place),
            "finish_reason": "length" if number % 50 == 7 else "stop",
        }
        for number in range(CASES)
        for place, model in enumerate(MODELS)
    ]
    return write_review_set(
        tmp_path_factory.mktemp("thousands") / "set",
        info={"name": "Thousands", "models": named(g="Generalist", m="Medical")},
        cases=cases,
        answers=answers,
    )


@pytest.fixture(scope="module")
def address(start_app, folder):
    return start_app(folder)


def strip(page):
    return page.locator(".rx-scan")


def looked_at(page):
    """Return how many answers the strip says were looked at."""
    (number,) = re.findall(r"([\d,]+) of 1,400 answers", strip(page).inner_text())
    return int(number.replace(",", ""))


def test_pages_stand_at_once_and_say_so_far_until_all_is_known(address, folder, new_page):
    page = new_page()
    page.goto(f"{address}browse")
    expect(page.locator(".rx-card").first).to_be_visible()
    expect(strip(page)).to_contain_text("Looking for failures: ")
    expect(page.locator(".rx-head").first).to_contain_text("Laterality errors so far")

    until(page, lambda: looked_at(page), lambda looked: looked > 0)
    page.get_by_role("button", name="Stop").click()
    expect(strip(page)).to_contain_text("failures stopped at")
    shown = page.locator(".rx-heads, .rx-cards")
    before = shown.all_inner_texts()
    pass_time(page, 5_000)  # what a process had in hand is taken in, and the strip looks again
    stopped = looked_at(page)
    assert 0 < stopped < ANSWERS
    pass_time(page, 4_000)
    assert looked_at(page) == stopped
    assert shown.all_inner_texts() == before

    page.locator(".rx-head").first.click()
    expect(page.locator("h1")).to_contain_text("Laterality errors so far")
    expect(page.locator(".rx-count").first).to_contain_text("so far")

    page.goto(f"{address}case?case=c{CASES - 1:04}")  # the last of the set: nobody was there
    expect(page.locator(".rx-answer").first).to_be_visible()
    sure = page.locator(".rx-answer .rx-flags")
    known = reviewset.load_review_set(folder)
    engine = build_memory_engine(known)
    last = f"c{CASES - 1:04}"
    expected = len(
        {flag.model for flag in engine.flags(last, known.answers_of(last), ()) if not flag.is_hint}
    )
    expect(sure).to_have_count(expected)

    page.goto(f"{address}browse")
    page.get_by_role("button", name="Continue").click()
    expect(strip(page)).to_contain_text("All 1,400 answers", timeout=LONG_MS)
    expect(page.locator(".rx-head").first).to_contain_text("so far")
    page.get_by_role("button", name="Update").click()
    expect(strip(page)).to_have_count(0)
    expect(page.locator(".rx-head").first).not_to_contain_text("so far")
    heads = engine.facets(CaseFilter()).headlines
    for place, head in enumerate(heads):
        expect(page.locator(".rx-head b").nth(place)).to_contain_text(f"{head.total:,} case")
    assert "so far" not in page.locator("body").inner_text()
    ids = engine.page(CaseFilter(), 0, 24)
    assert page.locator(".rx-card header b").all_inner_texts() == list(ids)
    page.goto(address)
    expect(page.locator(".rx-failure").first).to_be_visible()
    calm(page)
    assert "so far" not in page.locator("body").inner_text()


def test_who_scores_is_told_nothing_of_it(start_app, folder, new_page):
    page = new_page()
    page.goto(f"{start_app(folder)}score")
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("[data-rx-scores], .rx-score, canvas").first).to_be_visible()
    calm(page)
    words = page.locator("body").inner_text()
    assert "so far" not in words
    assert "Looking for" not in words
    assert strip(page).count() == 0
