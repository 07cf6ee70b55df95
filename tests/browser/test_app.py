"""The real app in a real browser, on the embedded demo."""

import json
import re

import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from support import ROOT
from support.browser.waiting import PATIENCE_MS, becomes, calm, pass_time, until
from support.browser.walk import follow, load_or_follow, walk_to
from support.small_set import write_set

from rexview.ui.web.streamlit_adapter.page_markup import THEME_KEY

pytestmark = pytest.mark.browser
SIGNS = {
    "": ".rx-card",
    "browse": ".rx-card",
    "case": "[data-painted-case]",
    "scores": ".st-key-rx_title h1",
    "readers": ".st-key-rx_title h1",
    "choices": ".st-key-rx_title h1",
    "data": ".st-key-rx_title h1",
}
"""What a page shows once its content has come."""


def painted(page, case=None):
    """Wait until the viewer has painted a case, any by default; return its id."""
    selector = f'[data-painted-case="{case}"]' if case else "[data-painted-case]"
    page.wait_for_selector(selector)
    return page.locator("[data-painted-case]").get_attribute("data-painted-case")


def opened(page, address, path):
    """Open a page of the app and wait until it stands complete."""
    page.goto(f"{address}{path}")
    page.locator(SIGNS[path.partition("?")[0]]).first.wait_for()
    calm(page)
    return page


def test_the_main_walk(demo, new_page):
    page = new_page()
    page.goto(demo)
    page.get_by_text("Simulated", exact=False).first.wait_for()
    page.get_by_role("link", name="Browse").first.click()
    page.locator("a.rx-head", has_text="Laterality errors").click()
    page.wait_for_url(re.compile("failure=laterality_error"))
    card = page.locator('a.rx-card[href*="failure=laterality_error"]').first
    card.wait_for()
    calm(page)
    card.click()
    page.wait_for_url(re.compile("/case.*failure=laterality_error"))
    first = painted(page)
    expect(page.locator(".rx-flags").first).to_contain_text("Laterality error")

    page.keyboard.press("j")
    page.wait_for_url(lambda url: f"case={first}" not in url)
    second = re.search(r"case=([^&#]+)", page.url)[1]
    assert painted(page, second) != first
    page.keyboard.press("k")
    painted(page, first)

    page.keyboard.press("x")  # full screen: the page without its navigation
    page.wait_for_function("() => document.fullscreenElement !== null")
    always = (".st-key-rx_notice", f".rx-place >> text={first}")
    texts = (".rx-question", ".rx-answer >> nth=0")
    for seen in (*always, *texts):
        expect(page.locator(seen)).to_be_in_viewport()
    page.keyboard.press("q")
    for hidden in texts:
        expect(page.locator(hidden)).to_be_hidden()
    page.keyboard.press("j")
    painted(page, second)
    for seen in (".st-key-rx_notice", f".rx-place >> text={second}"):
        expect(page.locator(seen)).to_be_in_viewport()
    page.keyboard.press("k")
    painted(page, first)
    page.keyboard.press("x")
    expect(page.locator(".rx-question")).to_be_visible()
    calm(page)

    page.keyboard.press("1")
    page.keyboard.press("i")
    expect(page).to_have_url(re.compile(rf"case={first}\b.*#v={first};.*~i.*&b="))
    calm(page)
    shared = page.url
    other = new_page()
    other.goto(shared)
    assert painted(other) == first
    calm(other)
    pass_time(other, 2000)  # longer than the viewer waits before it writes the address
    expect(other).to_have_url(shared)


EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def small_app(start_app, tmp_path_factory):
    """A server of a set with hostile texts, and with images that are missing and broken."""
    folder = tmp_path_factory.mktemp("small") / "set"
    write_set(folder, notice=EVIL.replace("'", "")[:40])
    answers = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(answers[0])
    row["text"] = EVIL
    row["boxes"][0]["label"] = f"left effusion {EVIL}"
    lines = [json.dumps(row), *answers[1:]]
    (folder / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return start_app(folder)


def test_a_link_to_a_page_works_as_the_first_request(small_app, standing_page):
    page = standing_page()
    page.goto(f"{small_app}case")
    painted(page)
    expect(page.get_by_role("link", name="Overview").first).to_be_visible()


def test_pages_open_under_their_groups_by_keys(demo, standing_page):
    page = opened(standing_page(), demo, "scores")
    bar = page.get_by_test_id("stHeader")
    expect(bar.get_by_test_id("stTopNavSection")).to_have_text(
        ["Results", "Scoring and meetings", "Data and models"]
    )
    results = bar.get_by_role("button", name="Results")
    results.focus()
    page.keyboard.press("ArrowDown")
    pages = page.get_by_role("menuitem")
    expect(pages.first).to_be_focused()
    expect(pages).to_have_text(
        ["Failures", "Scores", "Readers", "Multiple choice", "Report generation"]
    )
    page.keyboard.press("Escape")
    expect(results).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/readers*")


def test_a_phone_lists_every_page(demo, new_page):
    page = new_page(390, 844)
    opened(page, demo, "scores")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Data", exact=True).click()
    page.wait_for_url("**/data*")


def test_boxes_and_window_never_go_to_the_server(demo, new_page):
    page = new_page()
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    page.on("request", lambda request: sent.append(request.url))

    def asked_for():
        """What was sent but for the page's own icon and its look for others' comments."""
        return [one for one in sent if "/media/" not in str(one) and not looks_for_comments(one)]

    opened(page, demo, "case?failure=laterality_error")
    pass_time(page, 1000)  # looking ahead begins when the browser has time
    calm(page)
    sent.clear()
    for key in ("1", "1", "1", "r", "r", "i", "Shift+ArrowRight", "Shift+ArrowUp", "+", "f", "w"):
        page.keyboard.press(key)
        pass_time(page, 60)
    canvas = page.locator("[data-painted-case] canvas").first.bounding_box()
    page.mouse.move(canvas["x"] + 200, canvas["y"] + 200)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 260, canvas["y"] + 230, steps=6)
    page.mouse.up()
    expect(page).to_have_url(re.compile("#v=.*~w.*&b=.*reference"))  # all of it has been done
    pass_time(page, 600)
    calm(page)
    assert asked_for() == []


def looks_for_comments(sent):
    """Whether a message is one that the page sends by itself every few seconds."""
    return isinstance(sent, bytes) and BackMsg.FromString(sent).rerun_script.is_auto_rerun


def ends_at(page, case):
    """Wait until picture, texts and address have come to a case, and see that they stay there."""
    script = """() => [new URLSearchParams(location.search).get('case'),
        document.documentElement.hasAttribute('data-rx-turning')]"""

    def place():
        return [painted(page), *page.evaluate(script)]

    becomes(page, place, [case, case, False])
    pass_time(page, 1500)
    calm(page)
    becomes(page, place, [case, case, False])


def in_order():
    """The ids of the demo's cases, in the order of its file."""
    lines = (ROOT / "assets" / "demo" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["id"] for line in lines]


def at_first_case(page, address):
    """Go to the first case in the order of the file; an earlier test has ended at another."""
    first = in_order()[0]
    load_or_follow(page, address, f"case?case={first}&sort=order")
    painted(page, first)
    calm(page)
    return page


def test_the_next_button_leads_through_all_in_order(demo, standing_page):
    page = at_first_case(standing_page(), demo)
    for case in in_order()[:4]:
        painted(page, case)
        calm(page)
        page.get_by_role("button", name="Next").click()
    ends_at(page, in_order()[4])


@pytest.mark.parametrize("keys", ["jjk", "jkj", "jjjkk", "jjjj"])
def test_fast_paging_ends_where_the_keys_say(demo, standing_page, keys):
    page = at_first_case(standing_page(), demo)
    order = in_order()
    place = 0
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(120)  # as fast as a reader's finger, whatever the page does
        place += 1 if key == "j" else -1
    ends_at(page, order[place])


def test_a_finding_lights_its_box_and_back(demo, same_page):
    page = opened(same_page, demo, "case?failure=laterality_error")
    word = page.locator("mark[data-rx-finding]").first
    finding = word.get_attribute("data-rx-finding")
    word.hover()
    lit = page.locator(f'mark[data-rx-finding="{finding}"][data-rx-lit]')
    expect(lit).to_have_count(page.locator(f'mark[data-rx-finding="{finding}"]').count())


def test_dark_until_light_is_chosen_on_every_page(demo, new_page):
    page = opened(new_page(color_scheme="light"), demo, "")

    def ground():
        colour = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3])

    assert ground() < 150
    page.locator('[data-testid="stMainMenu"]').click()
    page.get_by_role("menuitemradio", name="Light").click()
    until(page, ground, lambda brightness: brightness > 600)
    kept = f"localStorage.getItem({THEME_KEY!r})"
    becomes(page, lambda: json.loads(page.evaluate(kept) or "null"), "Light")
    opened(page, demo, "data")
    assert ground() > 600


def test_under_a_base_path(start_app, new_page):
    address = start_app(base_path="reviews/chest")
    page = new_page()
    assert address.endswith("/reviews/chest/")
    page.goto(f"{address}case")
    painted(page)


def test_pixels_are_for_sealed_links_only(demo, new_page):
    page = new_page()
    links = []
    page.on("request", lambda request: links.append(request.url))
    page.goto(f"{demo}case")
    painted(page)

    def status(url):
        return page.request.get(url, timeout=PATIENCE_MS).status

    link = next(url for url in links if "/rexview/pixels/" in url)
    assert status(link) == 200
    head, _, token = link.rpartition("/")
    assert status(f"{head}/{token[::-1]}") == 403
    assert status(f"{head}/{token[:-8]}") == 403
    assert status(f"{demo}rexview/pixels/x") == 403
    assert status(link.replace("/pixels/", "/thumbs/")) == 403


def test_no_page_is_wider_than_the_screen_or_asks_another_host(demo, same_page):
    asked, too_wide = [], []
    same_page.on("request", lambda request: asked.append(request.url))
    page, sizes = same_page, [(390, 844), (1440, 900)]
    for path, sign in SIGNS.items():
        page.set_viewport_size(dict(zip(("width", "height"), sizes[0], strict=True)))
        walk_to(page, demo, path)
        page.locator(sign).first.wait_for()
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            calm(page)
            wide = page.evaluate(
                "() => document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth"
            )
            too_wide += [(path, width, wide)] if wide > 0 else []
    assert too_wide == []
    own = demo.rstrip("/")
    assert [url for url in asked if not url.startswith((own, "data:", "blob:"))] == []


def test_hostile_texts_stay_texts(small_app, same_page):
    page = opened(same_page, small_app, "")
    assert_harmless(page)
    for path in ("browse", "case?case=c1", "data"):
        follow(page, path)
        name = path.partition("?")[0]
        here = page.locator(f'.rx-phone-pages [aria-current=page][href="{name}"]')
        here.wait_for(state="attached")
        page.locator(SIGNS[name]).first.wait_for()
        calm(page)
        assert_harmless(page)


def assert_harmless(page):
    assert "owned" not in page.title()
    assert page.locator("img[src='x']").count() == 0


def test_a_missing_and_a_broken_image_are_told_in_their_place(small_app, standing_page):
    page = standing_page()
    for case, words in (("c2", "does not exist"), ("c3", "damaged")):
        load_or_follow(page, small_app, f"case?case={case}")
        page.get_by_text(re.compile(words)).first.wait_for()
        expect(page.locator(".rx-question")).to_contain_text(re.compile(r"\w"))
