"""A choice question on the Case page, in a real browser: votes, lit words, turning, on a phone."""

import pytest
from playwright.sync_api import expect

from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


def opened(page, demo, case):
    page.goto(f"{demo}case?sort=order&case={case}")
    page.wait_for_selector(f'[data-painted-case="{case}"]')
    return page


def votes(page, number):
    """The names at an option, from 0."""
    return page.locator(".rx-options > li").nth(number).locator(".rx-vote").all_inner_texts()


def chosen(case):
    """The option of each model and reader of the demo, by name; None without a usable choice."""
    demo_set = load_review_set(DEMO_FOLDER)
    given = {demo_set.model_names[one.model]: one.choice for one in demo_set.answers_of(case)}
    readers = demo_set.reader_names
    return given | {readers[one.reader]: one.choice for one in demo_set.choices_of(case)}


def test_each_option_says_who_chose_it_and_turns_with_the_case(demo, new_page):
    page = opened(new_page(), demo, "q03")
    for number in range(4):
        assert votes(page, number) == [name for name, one in chosen("q03").items() if one == number]
    right = page.locator(".rx-options > li.rx-right")
    expect(right).to_contain_text("(correct)")
    expect(right).to_contain_text("Medical 4B (simulated)")
    expect(page.locator(".rx-vote-counts")).to_have_text(
        "Models: 1 right, 1 wrong. Readers: 1 right, 1 wrong."
    )
    lit = page.locator('[data-rx-answer="generalist"] .rx-text mark.rx-chosen')
    expect(lit).to_have_text("ABCD"[chosen("q03")["Generalist (simulated)"]])

    page.keyboard.press("j")
    expect(page.locator(".rx-place")).to_contain_text("q04")
    expect(page.locator(".rx-unusable")).to_contain_text("Medical 4B (simulated)")
    expect(page.locator(".rx-unusable")).to_contain_text("token limit reached")
    for number in range(4):
        assert votes(page, number) == [name for name, one in chosen("q04").items() if one == number]


def test_the_right_option_is_told_by_more_than_colour(demo, new_page):
    page = opened(new_page(), demo, "q03")
    sign = page.locator(".rx-right .rx-option").evaluate(
        "one => getComputedStyle(one, '::before').content"
    )
    assert "✓" in sign
    expect(page.locator(".rx-options > li:not(.rx-right)")).to_have_count(3)


def test_nothing_stands_beyond_a_phones_edge(demo, new_page):
    page = opened(new_page(**PHONE), demo, "q04")
    page.locator(".rx-unusable").wait_for()
    beyond = page.evaluate(
        """() => [...document.querySelectorAll(
             ".rx-question, .rx-options *, .rx-unusable *, .rx-vote-counts, .rx-why")]
           .filter((one) => !one.closest(".rx-answers"))
           .map((one) => one.getBoundingClientRect())
           .filter((box) => box.left < 0 || box.right > innerWidth + 0.5).length"""
    )
    assert beyond == 0
