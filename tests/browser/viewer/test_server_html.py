"""HTML that a component puts on a page holds no script, whatever it was made of."""

import pytest

from rexview.ui.web.components import module_address

pytestmark = pytest.mark.browser
_HOSTILE = """
<p class="kept" data-rx-item="a" onclick="window.hit = 1">words <b>bold</b></p>
<script>window.hit = 2</script><img src="x" onerror="window.hit = 3" alt="film">
<a href="java&#10;script:window.hit = 4">link</a><a href="/case?case=c1">case</a>
<iframe srcdoc="<script>parent.hit = 5</script>"></iframe><form action="/x"><input></form>
<svg viewBox="0 0 1 1"><script>window.hit = 6</script>
<rect x="0" y="0" onload="window.hit = 7"/></svg>
<h2>Approach</h2><blockquote><p>Air: <em>no</em> <s>line</s></p></blockquote><hr>
<ol start="2"><li>second</li></ol><button type="button" disabled="">Why</button>
<marquee>words of <u>an answer</u></marquee>
<table><tbody><tr><td style="color: red">cell</td></tr></tbody></table>
"""


def test_what_a_page_is_made_of_stays_and_nothing_that_runs(demo, browser):
    page = browser.new_context(bypass_csp=True).new_page()  # without the page's last line
    page.goto(f"{demo}case")
    page.locator(".rx-part").first.wait_for()
    made = page.evaluate(
        """async ([address, text]) => {
          const { serverNodes } = await import(new URL(address, document.baseURI).href);
          const place = document.body.appendChild(document.createElement("div"));
          place.replaceChildren(...serverNodes(text));
          place.querySelectorAll("p, a").forEach((one) => one.href || one.click());
          await new Promise((done) => setTimeout(done, 300));
          return [place.innerHTML, window.hit ?? null];
        }""",
        [f"./{module_address('web/components/server_html.js')}", _HOSTILE],
    )
    written, hit = made
    assert hit is None
    for gone in ("script", "onclick", "onerror", "onload", "iframe", "form", "input"):
        assert gone not in written
    for kept in (
        '<p class="kept" data-rx-item="a">words <b>bold</b></p>',
        "<a>link</a>",
        '<a href="/case?case=c1">case</a>',
        '<img src="x" alt="film">',
        '<rect x="0" y="0"></rect>',
        '<td style="color: red">cell</td>',
        "<h2>Approach</h2><blockquote><p>Air: <em>no</em> <s>line</s></p></blockquote><hr>",
        '<ol start="2"><li>second</li></ol>',
        '<button type="button" disabled="">Why</button>',
        "words of an answer",
    ):
        assert kept in written
    page.context.close()
