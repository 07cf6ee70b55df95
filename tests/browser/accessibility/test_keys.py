"""Keys mean something only by themselves: not where words are typed, not with Ctrl, Meta, Alt."""

import string

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm

pytestmark = pytest.mark.browser
NAMED = ("Escape", "Enter", " ", "Delete", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")
EVERY = (*string.ascii_letters, *string.digits, *"?+-=,.", *NAMED)
TAKEN = """([keys, held, into]) => {
  const target = into ? document.querySelector(into) : document.body;
  target.focus();
  return keys.filter((key) => !target.dispatchEvent(new KeyboardEvent("keydown", {
    key, bubbles: true, cancelable: true, composed: true, ...held,
  })));
}"""
PAGES = {
    "": ".rx-card",
    "browse": ".rx-card",
    "case?case=c01": '[data-painted-case="c01"]',
    "score": "[data-testid=stMain] input",
}
HELD = ("ctrlKey", "metaKey", "altKey")


@pytest.mark.parametrize("address", PAGES)
def test_no_key_is_taken_from_the_browser_or_from_who_types(demo, new_page, address):
    page = new_page()
    page.goto(f"{demo}{address}")
    page.wait_for_selector(PAGES[address])
    calm(page)
    taken = {held: page.evaluate(TAKEN, [EVERY, {held: True}, None]) for held in HELD}
    field = {"case?case=c01": ".rx-c-form textarea", "score": "[data-testid=stMain] input"}
    into = field.get(address, "[data-testid=stSidebar] input")
    if address.startswith("case"):
        page.get_by_role("button", name="Comments").click()
    typed = [key for key in EVERY if len(key) == 1]
    taken["typed"] = page.evaluate(TAKEN, [typed, {}, into])
    assert taken == {name: [] for name in (*HELD, "typed")}


def test_what_is_typed_on_the_case_page_is_only_typed(demo, new_page):
    page = new_page()
    page.goto(f"{demo}case?case=c01")
    page.wait_for_selector('[data-painted-case="c01"]')
    calm(page)
    page.get_by_role("button", name="Comments").click()
    field = page.get_by_role("textbox", name="Comment", exact=True)
    before = page.url
    words = "jk rc iwf 123 ?"
    field.press_sequentially(words)
    expect(field).to_have_value(words)
    calm(page)
    assert page.url == before, "neither another case nor another view"
    field.fill("")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Comments")).to_be_focused()
