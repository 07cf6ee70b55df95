"""A press counts though what is pressed moves away below the mouse: a page arrives in parts."""

import pytest
from playwright.sync_api import expect
from support.browser.waiting import pass_time, until
from support.small_set import write_set

pytestmark = pytest.mark.browser
TABLE = "**/static/js/DataFrame.*.js"
"""The part of Streamlit that draws tables."""


@pytest.fixture(scope="module")
def app(start_app, tmp_path_factory):
    return start_app(write_set(tmp_path_factory.mktemp("presses") / "set"))


def pressed(page, app):
    """Put the mouse down on a download; return its button, and what makes the table arrive."""
    late = []
    page.route(TABLE, lambda one: late.append(one))
    page.goto(f"{app}data")
    page.get_by_test_id("stExpander").locator("summary").click()
    button = page.get_by_role("button", name="Download this list")
    until(page, lambda: len(late), lambda count: count > 0)
    pass_time(page, 1000)  # the box has opened
    before = button.bounding_box()
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()

    def arrive():
        for one in late:
            one.continue_()
        until(page, lambda: button.bounding_box()["y"], lambda y: y > before["y"] + 20)

    return button, arrive


def test_a_download_begins_though_its_button_moved_while_it_was_pressed(app, new_page):
    page = new_page(accept_downloads=True)
    _, arrive = pressed(page, app)
    arrive()
    with page.expect_download() as download:
        page.mouse.up()
    assert b"missing.png" in download.value.path().read_bytes()


def test_who_moves_the_mouse_away_takes_the_press_back(app, new_page):
    page, begun = new_page(accept_downloads=True), []
    button, arrive = pressed(page, app)
    page.on("download", lambda one: begun.append(one))
    arrive()
    page.mouse.move(5, 5, steps=3)
    page.mouse.up()
    pass_time(page, 500)
    assert begun == []
    button.click()
    until(page, lambda: len(begun), lambda count: count > 0)
    pass_time(page, 500)
    assert len(begun) == 1, "a press that is heard counts once"


TOGGLE = """() => {
  const label = document.createElement("label");
  label.style.cssText = "position: fixed; z-index: 1e9; left: 300px; top: 300px";
  label.innerHTML = "<input type=checkbox id=moved><span>As JSON</span>";
  document.body.append(label);
}"""


def test_a_toggle_is_turned_though_it_moved_while_it_was_pressed(app, new_page):
    page = new_page()
    page.goto(f"{app}data")
    page.locator(".rx-phone-pages").wait_for(state="attached")  # its script keeps presses
    page.evaluate(TOGGLE)
    words = page.locator("label", has_text="As JSON").bounding_box()
    page.mouse.move(words["x"] + words["width"] - 5, words["y"] + words["height"] / 2)
    page.mouse.down()
    page.evaluate("document.querySelector('#moved').parentElement.style.top = '500px'")
    page.mouse.up()
    expect(page.locator("#moved")).to_be_checked()
    pass_time(page, 300)
    assert page.locator("#moved").is_checked(), "a press counts once"


BUTTON = """(words) => {
  window.presses ??= [];
  window.component ??= document.body.appendChild(document.createElement("div"));
  const place = component.shadowRoot ?? component.attachShadow({ mode: "open" });
  const button = document.createElement("button");
  Object.assign(button, { textContent: words, onclick: () => presses.push(words) });
  button.style.cssText = "position: fixed; z-index: 1e9; left: 300px; top: 300px; width: 200px";
  place.replaceChildren(button);
}"""


@pytest.mark.parametrize(
    ("words", "counted"),
    [("Case 12", ["Case 12"]), ("Case 13", []), (None, ["Case 12"])],
    ids=["drawn anew", "another in its place", "left alone"],
)
def test_a_press_counts_once_for_what_is_drawn_anew_and_not_for_another(
    app, new_page, words, counted
):
    page = new_page()
    page.goto(f"{app}data")
    page.locator(".rx-phone-pages").wait_for(state="attached")  # its script keeps presses
    page.evaluate(BUTTON, "Case 12")
    page.mouse.move(320, 310)
    page.mouse.down()
    if words:
        page.evaluate(BUTTON, words)
    page.mouse.up()
    pass_time(page, 300)
    assert page.evaluate("presses") == counted
