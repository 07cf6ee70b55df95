"""Flags, their evidence and the reader's verdicts on the Case page, in a real browser."""

import re

import pytest
from playwright.sync_api import expect
from support.browser.held_messages import lose_first
from support.browser.waiting import becomes, calm, until

pytestmark = pytest.mark.browser
KEPT = re.compile("^you rejected · flagged by rule")
LISTENING = "addEventListener('rexview:evidence', () => (window.flagsAreHeard = true))"
"""What listens to flags says so with its first event."""


@pytest.fixture(scope="module")
def demo(start_app):
    """A server of its own: verdicts are given on it."""
    return start_app()


@pytest.fixture
def page(demo, new_page):
    return opened(new_page(), demo, "c01")


def opened(page, demo, case):
    """Open a case and wait until its picture is there and its flags can be used."""
    page.add_init_script(LISTENING)
    page.goto(f"{demo}case?sort=order&case={case}")
    page.wait_for_selector(f'[data-painted-case="{case}"]')
    page.wait_for_function("() => window.flagsAreHeard")
    calm(page)
    return page


def against_report(page):
    """Return the flag that says answer and report name different sides."""
    return page.locator("[data-rx-flag]", has_text="Answer: left pleural effusion").first


def lit_boxes(page):
    return page.locator(".box.lit").evaluate_all("all => all.map((one) => one.dataset.box)")


def test_a_finding_lights_answers_report_and_boxes_and_back(page):
    word = page.locator('.rx-text mark[data-rx-finding~="pleural_fluid"]').first
    word.hover()
    page.wait_for_selector(".rx-report mark[data-rx-lit]")
    expect(page.locator(".rx-answer:has(mark[data-rx-lit])")).to_have_count(2)
    until(page, lambda: lit_boxes(page), lambda boxes: "generalist/1" in boxes)
    page.mouse.move(5, 5)
    page.wait_for_function("() => !document.querySelector('[data-rx-lit]')")
    page.locator('.box[data-box="generalist/1"]').focus()
    page.wait_for_selector('.rx-report mark[data-rx-lit][data-rx-finding~="pleural_fluid"]')


def test_the_film_stays_in_sight_beside_a_long_answer(page):
    def top(selector):
        return page.locator(selector).first.bounding_box()["y"]

    film, answer = '[data-rx-column="film"] .st-key-viewer', ".rx-answer"
    before = top(answer)
    page.locator(".stMain").evaluate("main => main.scrollTo(0, 600)")
    until(page, lambda: top(answer), lambda found: found < before - 300)
    assert 0 < top(film) < 120
    page.set_viewport_size({"width": 390, "height": 844})  # on a phone it stands above the texts
    page.locator(".stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    until(page, lambda: top(film), lambda found: found < 0)


def test_a_finding_is_reached_by_keyboard(page):
    page.locator('.rx-report mark[tabindex="0"][data-rx-finding~="pleural_fluid"]').first.focus()
    page.wait_for_selector(".rx-text mark[data-rx-lit]")


def test_a_flag_is_pinned_until_escape(page):
    flag = against_report(page)
    flag.locator(".rx-show").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-rx-pinned]")
    page.mouse.move(5, 5)
    for where, words in ((".rx-text", "Left pleural effusion"), (".rx-report", "right pleural")):
        shown = page.locator(f"{where} mark[data-rx-shown]")
        until(
            page,
            lambda shown=shown: " ".join(" ".join(shown.all_inner_texts()).split()),
            lambda text, words=words: words in text,
        )
    becomes(page, lambda: lit_boxes(page), ["generalist/1"])
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('[data-rx-pinned], [data-rx-shown]')")
    page.locator("h3").first.click()
    becomes(page, lambda: lit_boxes(page), [])


def test_a_reference_box_is_shown_for_as_long_as_its_flag_is(demo, new_page):
    page = opened(new_page(), demo, "c02")
    reference = page.locator('.chip[data-group="reference"]')
    expect(reference).to_have_attribute("aria-pressed", "true")  # a side is wrong here
    reference.click()
    expect(reference).to_have_attribute("aria-pressed", "false")
    show = page.locator("[data-rx-flag]", has_text="reference box").first.locator(".rx-show")
    show.click()
    page.wait_for_selector('.chip[data-group="reference"][aria-pressed="true"]')
    show.click()
    page.wait_for_selector('.chip[data-group="reference"][aria-pressed="false"]')


def test_nothing_is_offered_to_an_answer_that_never_came_and_that_is_said(demo, new_page):
    page = opened(new_page(), demo, "c02")
    page.locator('[data-rx-add="medical-4b"]').click()  # that it ran out of tokens is listed
    card = page.locator(".rx-v-card")
    expect(card).to_contain_text("No other failure can be added to this answer.")
    expect(card.locator("select, textarea, input").filter(visible=True)).to_have_count(0)
    expect(card.get_by_role("button", name="Add")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.locator('[data-rx-add="generalist"]').click()
    expect(card.get_by_label("Failure", exact=True)).to_contain_text("Missed finding")
    expect(card.get_by_role("button", name="Add")).to_be_visible()
    card.get_by_role("button", name="Close").click()


def test_what_the_filter_is_about_is_unfolded_and_the_first_that_keys_are_about(demo, new_page):
    page = new_page()
    page.add_init_script(LISTENING)
    page.goto(f"{demo}case?by=hint&sort=order&case=c05")
    page.wait_for_selector('[data-painted-case="c05"]')
    page.wait_for_function("() => window.flagsAreHeard")
    calm(page)
    asked = page.locator("[data-rx-asked]")
    expect(asked).to_have_count(1)
    expect(asked.locator(".rx-verdicts")).to_be_visible()
    expect(page.locator(".rx-answer [data-rx-item]").first).not_to_have_attribute(
        "data-rx-asked", ""
    )
    page.keyboard.press("e")
    expect(asked).to_have_attribute("data-rx-current", "")
    page.keyboard.press("j")  # shown ahead of the page: unfolded there, too
    page.wait_for_selector('.rx-place:not(:has-text("c05"))')
    expect(asked.first.locator(".rx-verdicts")).to_be_visible()
    page.goto(f"{demo}case?sort=order&case=c05")
    page.wait_for_selector('[data-painted-case="c05"]')
    expect(page.locator(".rx-hints")).to_have_count(1)
    expect(page.locator(".rx-hints .rx-verdicts").first).to_be_hidden()


def test_a_verdict_moves_neither_its_buttons_nor_its_card(demo, new_page):
    page = opened(new_page(1280, 720), demo, "c16")
    item = page.locator('[data-rx-keep="c16/medical-4b/laterality_error"]')
    button = item.locator('[data-rx-verdict="confirmed"]')
    button.scroll_into_view_if_needed()
    places = lambda: (item.bounding_box(), button.bounding_box())  # noqa: E731
    before = places()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(item.locator("summary")).to_contain_text("you confirmed")
    assert places() == before


def test_a_verdict_outlives_paging_and_can_be_taken_back(page):
    button = page.locator(
        '[data-rx-verdict="rejected"][data-rx-failure="execution_gap"][data-rx-model="generalist"]'
    )
    page.keyboard.press("i")
    page.wait_for_url(re.compile("~i"))
    page.locator('[data-rx-keep="c01/generalist/execution_gap"] > summary').click()
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(KEPT)).to_have_count(1)
    expect(page).to_have_url(re.compile("~i"))
    page.wait_for_function(
        "() => document.activeElement?.getAttribute('data-rx-failure') === 'execution_gap'"
    )
    expect(page.locator(".rx-badge.rx-rejected", has_text="Execution")).to_have_count(1)
    card = page.locator(".rx-v-card")
    page.get_by_role("textbox", name="Why (optional)").fill("Both lungs are read.")
    page.locator(".rx-v-card").get_by_label("Your name").fill("Dr Ann")
    card.get_by_role("button", name="Keep").click()
    expect(card).to_be_hidden()
    expect(page.get_by_text(KEPT)).to_have_count(1)
    expect(page.get_by_text("Both lungs are read.")).to_have_count(1)
    calm(page)
    page.reload()
    page.wait_for_selector('[data-painted-case="c01"]')
    expect(page.get_by_text(KEPT)).to_have_count(1)
    calm(page)

    page.keyboard.press("j")
    page.wait_for_selector('[data-painted-case="c02"]')
    page.wait_for_function("() => location.search.includes('case=c02')")
    expect(page.get_by_text(KEPT)).to_have_count(0)
    page.keyboard.press("k")
    expect(page.get_by_text(KEPT)).to_have_count(1)

    calm(page)
    button.click()
    expect(page.get_by_text(KEPT)).to_have_count(0)
    expect(button).to_have_attribute("aria-pressed", "false")


def test_a_name_that_another_message_overtook_is_told_again(start_app, new_page):
    page = new_page()
    lost = lose_first(page, lambda message: b'"name"' in message and b"Dr Late" in message)
    opened(page, start_app(), "c01")  # nobody has given a name here
    page.locator('[data-rx-keep="c01/generalist/execution_gap"] > summary').click()
    page.locator(
        '[data-rx-verdict="rejected"][data-rx-failure="execution_gap"][data-rx-model="generalist"]'
    ).click()
    page.locator(".rx-v-card").get_by_label("Your name").fill("Dr Late")
    card = page.locator(".rx-v-card")
    card.get_by_role("button", name="Keep").click()
    expect(card).to_be_hidden()
    expect(page.get_by_text(KEPT)).to_have_count(1)
    assert len(lost) == 1


def test_failures_are_gone_through_judged_and_added_by_keys_and_nothing_moves(page):
    place = page.locator(".rx-answer").first
    expect(place).to_be_visible()
    before = place.bounding_box()
    page.keyboard.press("e")
    current = page.locator("[data-rx-current]")
    expect(current).to_have_attribute("data-rx-item", "generalist/laterality_error")
    page.keyboard.press("u")
    page.wait_for_selector("[data-rx-current] [data-rx-pinned]")
    page.keyboard.press("a")
    page.wait_for_selector('[data-rx-current] [data-rx-verdict="confirmed"][aria-pressed="true"]')
    assert place.bounding_box() == before
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+W")
    why = page.get_by_role("textbox", name="Why (optional)")
    expect(why).to_be_focused()
    why.fill("Left and right are exchanged.")
    page.locator(".rx-question").click()
    expect(page.get_by_text("Left and right are exchanged.")).to_have_count(1)
    page.keyboard.press("Shift+A")
    page.get_by_label("Failure", exact=True).select_option("omission")
    why.fill("The thickened pleura.")
    page.keyboard.press("Enter")
    added = page.locator('[data-rx-item="generalist/omission"]')
    expect(added.get_by_text("The thickened pleura.")).to_have_count(1)
    added.get_by_role("button", name="Confirm").click()
    expect(added).to_have_count(0)
    calm(page)
    page.keyboard.press("e")
    expect(current).to_have_attribute("data-rx-item", "generalist/laterality_error")
    page.keyboard.press("a")
    expect(current.get_by_text("you confirmed")).to_have_count(0)
    page.keyboard.press("Shift+N")
    expect(page.get_by_role("region", name="Comments").get_by_role("combobox")).to_contain_text(
        "On Generalist"
    )


def test_verdicts_given_fast_all_arrive(page):
    failures = ("execution_gap", "laterality_error")
    page.evaluate(
        """(names) => names.forEach((name) => document.querySelector(
          `[data-rx-verdict=confirmed][data-rx-failure=${name}]`).click())""",
        failures,
    )
    for name in failures:
        page.wait_for_selector(
            f'[data-rx-verdict="confirmed"][data-rx-failure="{name}"][aria-pressed="true"]'
        )
