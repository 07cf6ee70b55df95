"""A set whose every text tries to be more than text, on every page of the app in a real browser.

That nothing is asked of another host, and nothing done that the policy forbids, is checked for this
as for every page that the tests open (``new_page``).
"""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from support.browser.waiting import calm
from support.hostile_set import CASES, HOST, MODELS, text, word, write_hostile_set

pytestmark = pytest.mark.browser
LINKS = {
    "": {},
    "browse": {"model": word("none"), "category": word("category"), "site": text("site")},
    "case": {"case": CASES[0], "show": MODELS[0]},
    "scores": {"split": f"tag:{word('tag')}"},
    "readers": {"apart": "1"},
    "choices": {"agreement": word("none"), "published": "1"},
    "score": {},
    "study": {},
    "adjudicate": {"case": CASES[1]},
    "curate": {"case": CASES[1], "question_category": word("category")},
    "data": {},
    "account": {},
}
MORE_THAN_TEXT = """(host) => {
  const roots = [document];
  const found = [];
  for (const root of roots) {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) roots.push(one.shadowRoot);
      const leads = ['href', 'src'].map((name) => one.getAttribute(name) ?? '');
      if (leads.some((url) => url.split('?')[0].includes(host) || url.startsWith('mailto:'))) {
        found.push(one.outerHTML.slice(0, 200));
      }
    }
  }
  return [...found, ...(window.hacked ? ['a script ran'] : [])];
}"""


@pytest.fixture(scope="module")
def hostile(start_app, tmp_path_factory):
    """The address of the app on the hostile set."""
    folder = tmp_path_factory.mktemp("hostile")
    return start_app(write_hostile_set(folder / "set"))


def test_words_are_only_words_on_every_page(hostile, new_page):
    page = new_page()
    for path, query in LINKS.items():
        page.goto(f"{hostile}{path}?{urlencode(query)}")
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        calm(page)
        assert not page.evaluate(MORE_THAN_TEXT, HOST), path
        notice = page.locator(".st-key-rx_notice")
        if notice.count():
            assert notice.inner_text().replace("\u2060", "") == text("notice")
        if path != "account":  # nothing of the set stands there
            assert HOST in page.content(), path


def test_an_upload_arrives_and_what_it_is_called_is_only_words(hostile, new_page):
    page = new_page()
    page.goto(f"{hostile}data")
    page.get_by_role("tab", name="Import").click()
    name = f"{word('upload').replace('/', '_')}.json"
    upload = {"name": name, "mimeType": "application/json", "buffer": b"{}"}
    with page.expect_response(lambda answer: "/_stcore/upload_file/" in answer.url) as sent:
        page.locator("input[type=file]").set_input_files(upload)
    assert sent.value.ok
    page.get_by_test_id("stAlert").last.wait_for()  # nothing can be made of it, which is said
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    calm(page)
    assert not page.evaluate(MORE_THAN_TEXT, HOST)


def test_what_is_more_than_text_would_be_seen_and_stopped(hostile, visitor):
    """The search finds a link and a picture; and the policy stops one that got in all the same."""
    page = visitor().new_page()
    page.goto(f"{hostile}account")
    page.locator('[data-testid="stApp"]').wait_for()
    stopped = page.evaluate(
        """(host) => new Promise((done) => {
          document.addEventListener('securitypolicyviolation', (event) => done(event.blockedURI));
          document.body.insertAdjacentHTML('beforeend',
            `<a href="http://${host}">x</a><img src="http://${host}/i.png">`);
        })""",
        HOST,
    )
    assert stopped == f"http://{HOST}/i.png"
    assert len(page.evaluate(MORE_THAN_TEXT, HOST)) == 2
