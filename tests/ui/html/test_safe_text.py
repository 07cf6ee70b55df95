import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.page_text import StrictReader
from support.rows import each_row

from rexview.ui.safe_text import (
    MAX_MARKDOWN,
    MarkedSpan,
    as_markdown,
    cut_spans,
    lines_as_markdown,
    markdown_html,
    plain_html,
)

ALLOWED = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
    *("mark", "div"),
}


class Safe(StrictReader):
    """Fails on an element or attribute that we do not write."""

    def check(self, tag, attributes):
        assert tag in ALLOWED, tag
        allowed = {"class", "style", "start", "data-finding", "tabindex", "title"}
        for name, value in attributes:
            assert name in allowed, name
            if name == "style":
                assert re.fullmatch(r"text-align:(left|right|center)", value)


read = Safe.read


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) [y](http://a.b) ![z](http://a.b/c.png)",
    "<http://a.b> http://a.b\n\n[r]: http://a.b 'title'\n\n[r]",
    "```html\n<b>x</b>\n```",
    "&lt;b&gt; &#60;i&#62; &#x3c;u&#x3e;",
    '"><svg/onload=alert(1)>',
    "<!-- x --> <![CDATA[x]]> <?php ?>",
    "| <b> | `<i>` |\n|---|:-:|\n| [x](data:text/html,x) | y |",
    "\ue000\ue001\ue002 private",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(text):
    read(markdown_html(text))
    read(plain_html(text))


@given(st.text(), st.lists(st.tuples(st.integers(-2, 80), st.integers(-2, 80)), max_size=6))
@example("# a **b** c\n- d `e`\n\n> f", [(2, 20)])
@example("**a\ue000b**", [(0, 3), (3, 6)])
def test_any_text_with_any_spans_is_well_formed(text, borders):
    spans = [MarkedSpan(start, end, "rx-finding", {"finding": '"<x>'}) for start, end in borders]
    read(markdown_html(text, spans))
    plain = read(plain_html(text, spans))
    assert "".join(plain.text).replace("�", "") == "".join(
        character for character in text if not 0xE000 <= ord(character) <= 0xF8FF
    ).replace("�", "")


def test_a_span_is_marked_through_markdown():
    text = "- a **right pleural** effusion\n\n| left effusion |\n|---|\n| x |"
    spans = [
        MarkedSpan(match.start(), match.end(), "rx-finding", {"finding": "effusion"})
        for match in re.finditer(r"right pleural\*\* effusion|left effusion", text)
    ]
    marked = read(markdown_html(text, spans)).marked
    assert "".join(marked) == "right pleural effusionleft effusion"


def test_spans_over_each_other_become_pieces_that_carry_both():
    spans = [
        MarkedSpan(0, 4, "a", {"key": "k l"}, "one", focusable=True),
        MarkedSpan(2, 6, "b", {"key": "k m", "flag": "f"}, "two"),
        MarkedSpan(90, 99, "c"),
        MarkedSpan(5, 5, "d"),
        MarkedSpan(-1, 2, "e"),
    ]
    pieces = cut_spans(spans, 15)
    assert [(one.start, one.end, one.css) for one in pieces] == [
        (0, 2, "a"),
        (2, 4, "a b"),
        (4, 6, "b"),
    ]
    assert pieces[1].data == {"key": "k l m", "flag": "f"}
    assert pieces[1].title == "one\ntwo"
    assert [one.focusable for one in pieces] == [True, False, False]
    marked = re.findall(r'class="([\w ]+)"', markdown_html("some words here", spans))
    assert marked == ["a", "a b", "b"]


@given(st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12))))
def test_pieces_cover_what_the_spans_cover_and_nothing_else(pairs):
    spans = [MarkedSpan(start, end, f"s{number}") for number, (start, end) in enumerate(pairs)]
    inside = [one for one in spans if 0 <= one.start < one.end <= 10]
    pieces = cut_spans(spans, 10)
    for place in range(10):
        expected = {one.css for one in inside if one.start <= place < one.end}
        here = [one for one in pieces if one.start <= place < one.end]
        assert len(here) == (1 if expected else 0)
        assert {css for one in here for css in one.css.split()} == expected


def test_very_many_spans_on_each_other_stay_small():
    spans = [MarkedSpan(k, 20_000 - k, f"s{k}", {"key": f"k{k}"}) for k in range(9_000)]
    assert len(markdown_html("x " * 10_000, spans)) < 3_000_000


def test_markdown_is_rendered():
    rendered = markdown_html("## Plan\n\n1. *look*\n2. **name**")
    for tag in ("<h2>", "<ol>", "<em>", "<strong>"):
        assert tag in rendered


def test_a_very_long_text_is_shown_as_it_stands():
    text = "**x** " * (MAX_MARKDOWN // 6 + 1)
    rendered = markdown_html(text)
    assert "<strong>" not in rendered
    assert html.escape(text[:100]) in rendered


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("# Findings\n\nAn effusion.", "<h1>"),
        ("### Findings\n\nAn effusion.", "<h3>"),
        ("- one\n- two", "<ul>"),
        ("1. one\n2. two", "<ol>"),
        ("> said", "<blockquote>"),
        ("| a | b |\n|---|---|\n| c | d |", "<td>"),
        ("```\ncode\n```", "<pre>"),
        ("Title\n=====\n\ntext", "<h1>"),
        ("one\n\n---\n\ntwo", "<hr"),
    ],
)
def test_marks_leave_the_markup_of_lines_alone(text, wanted):
    def bare(html):
        return re.sub(r"\s+(?=<)|(?<=>)\s+", "", re.sub("</?mark[^>]*>", "", html))

    unmarked = bare(markdown_html(text))
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            marked = markdown_html(text, [MarkedSpan(start, end, "x")])
            assert wanted in marked, text[start:end]
            assert bare(marked) == unmarked


def shown_by_streamlit(markdown):
    """Return what is left as words for Streamlit to make links and icons of."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


@each_row(
    "text",
    [
        *("![i](http://a.b/c.png)", "[l](http://a.b)", "<b>x</b>", "$x^2$", ":red[x]", "`c`"),
        *(
            "# h",
            "- [ ] x",
            "1. x",
            "12) x",
            "(1) x.",
            "| a | b |",
            "a_b_ *c* ~~d~~",
            "===",
            "&lt;",
            "\\*x\\*",
        ),
    ],
)
def test_markup_is_escaped_for_streamlits_markdown(text):
    escaped = as_markdown(text)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(escaped)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {child.type for child in tokens[1].children} <= {"text", "text_special"}
    assert "".join(child.content for child in tokens[1].children).replace("\u2060", "") == text


@pytest.mark.parametrize(
    "text",
    [
        *("http://a.b", "HTTPS://a.b/c", "www.a.b", "WWW.a.b", "a.b@c.de", ":material/home:"),
        *(":material_home:", ":streamlit:", ":smile:", ":+1:", "x:y:z"),
    ],
)
def test_streamlit_makes_no_link_and_no_icon_of_words(text):
    """Its patterns, as they stand in its scripts, find nothing; that it shows the same a browser
    test says."""
    words = shown_by_streamlit(as_markdown(text))
    for pattern in (
        r"(?i)(https?://|www(?=\.))([-.\w]+)",
        r"[-.\w+]+@[-\w]+(\.[-\w]+)+",
        r":(material[/_]|streamlit)",
        r":[\w+-]+:",
    ):
        assert not re.search(pattern, words, re.ASCII)
    assert words.replace("\u2060", "") == text


def test_lines_of_an_error_stay_lines():
    assert lines_as_markdown("One.\n\n  Two: *x*.\n") == "One.  \nTwo\\: \\*x\\*."
