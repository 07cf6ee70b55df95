"""What scripts put on the pages is in the language of the server, too."""

import pytest
from support.browser.score_pad import known_reader
from support.browser.waiting import calm
from support.words.bare import PUBLISHED, bare, words_of_guides, words_of_set

from bench import serving
from bench.serving import begin_process
from rexview.settings import DEMO_FOLDER
from rexview.text.findings.lexicon import lexicon

pytestmark = pytest.mark.browser
PAGES = (
    *("", "failures", "failures?as=own-words", "scores", "browse", "meeting"),
    *("study", "score", "adjudicate", "curate"),
)
"""Pages whose scripts are done; those that are not stand in docs/translating.md."""
STREAMLITS = (
    *(
        "Choose an option",
        "Next page",
        "Previous page",
        "Pagination",
        "Selected values",
        "Help for",
    ),
    *("Link to heading", "Increment", "Decrement"),
    *("Shortcut ", "Remove ", "Fullscreen", "Copy Vega-Lite spec", "Show data", "Download as PNG"),
)
"""How labels of Streamlit's own parts begin, which are English."""
SHOWN = """() => {
  const texts = [];
  const labels = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.data.trim()) texts.push(node.data);
      return;
    }
    if (['STYLE', 'SCRIPT', 'CANVAS'].includes(node.nodeName)) return;
    // names of icons; Streamlit's own menus; what Vega says to those who do not see a chart
    const theirs = ['stIconMaterial', 'stElementToolbar', 'stVegaLiteChart'];
    if (theirs.includes(node.dataset?.testid)) return;
    for (const name of ['title', 'aria-label', 'placeholder', 'alt', 'data-label']) {
      const value = node.getAttribute?.(name);
      if (value) labels.push(value);
    }
    if (node.shadowRoot) node.shadowRoot.childNodes.forEach(walk);
    node.childNodes.forEach(walk);
  };
  walk(document.querySelector('[data-testid=stMainBlockContainer]'));
  return [texts.join('\\n'), ...labels];
}"""


@pytest.fixture(scope="module")
def pseudo(start_app, tmp_path_factory, gathered_words):
    """The address of the app in the language that is none.

    Its process imports everything itself: one that is forked has asked for words already.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "begin_process", begin_process)
        data = known_reader(tmp_path_factory.mktemp("data"), "Ann")
        yield start_app(data=data, REXVIEW_LANGUAGE="x-pseudo")


@pytest.fixture(scope="module")
def own():
    """What stands in the demonstration, what papers say, and names of findings: all English."""
    names = "\n".join(one.name for one in lexicon().findings.values())
    texts = words_of_set(DEMO_FOLDER) + words_of_set(PUBLISHED) + words_of_guides() + names
    return texts.casefold()


@pytest.mark.parametrize("address", PAGES)
def test_scripts_show_no_english(pseudo, own, new_page, address):
    page = new_page()
    page.goto(pseudo + address)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    calm(page)
    shown = page.evaluate(SHOWN)
    assert any("⟦" in text for text in shown)
    found = bare([text for text in shown if not text.startswith(STREAMLITS)], own)
    assert found == [], found


def test_words_of_scripts_come_with_the_page(pseudo, new_page):
    page = new_page()
    page.goto(pseudo)
    words = page.evaluate("JSON.parse(document.getElementById('rexview-words').textContent)")
    assert words["texts"]
    assert page.evaluate("document.documentElement.lang") == "en"
