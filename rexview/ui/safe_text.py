"""Text from models and files as safe HTML, with marked spans.

Markdown is rendered by markdown-it with raw HTML off (it is escaped, not run), images off and links
shown as text: nothing in an answer can load or open anything. Spans are given as offsets into the
source. They survive the rendering because their borders pass through it as private-use characters,
one pair a span; such characters are first removed from the source.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

_BASE: Final = 0xE000  # private use area: span k opens with _BASE + 2k and closes with the next
_LIMIT: Final = 0xF8FF
MAX_SPANS: Final = (_LIMIT - _BASE) // 4
"""Most spans marked in one text, the first given first; they cut it into twice as many pieces."""
_MOST_VALUES: Final = 24
"""Most values of one attribute of a piece, if very many spans overlap."""
MAX_MARKDOWN: Final = 60_000
"""Longer text is shown unformatted: no reader scrolls that far, and a browser should not hang."""


@dataclass(frozen=True)
class MarkedSpan:
    """Part of a text to mark: offsets into it, CSS classes, and ``data-`` attributes.

    ``focusable`` makes it a stop of the Tab key. ``label`` is shown once after its words by the
    style sheet: it is not part of the text, which others search.
    """

    start: int
    end: int
    css: str
    data: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    focusable: bool = False
    label: str = ""

    def open_tag(self) -> str:
        """Return the opening HTML tag."""
        attributes = "".join(
            f' data-{name}="{html.escape(value)}"' for name, value in self.data.items()
        )
        title = f' title="{html.escape(self.title)}"' if self.title else ""
        focus = ' tabindex="0"' if self.focusable else ""
        label = f' data-rx-label="{html.escape(self.label)}"' if self.label else ""
        return f'<mark class="{html.escape(self.css)}"{attributes}{title}{focus}{label}>'


class _Renderer(RendererHTML):
    """HTML renderer whose text tokens turn span borders into tags that never cross elements."""

    def text(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        return _with_tags(tokens[idx].content, env)

    def code_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        return f"<code>{_with_tags(tokens[idx].content, env)}</code>"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        return f"<pre><code>{_with_tags(tokens[idx].content, env)}</code></pre>\n"

    fence = code_block


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "breaks": True, "linkify": False}, renderer_cls=_Renderer
    )
    parser.enable(["table", "strikethrough"])
    parser.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])
    return parser


def markdown_html(text: str, spans: Iterable[MarkedSpan] = ()) -> str:
    """Render markdown from a model or a file as HTML that is safe to put into a page.

    Parameters
    ----------
    text : str
        Any text; it is not trusted.
    spans : iterable of MarkedSpan
        Offsets into ``text``; they may overlap, see :func:`cut_spans`.

    Returns
    -------
    str
        HTML without links, images, scripts or any markup of the text's own except its markdown.
    """
    if len(text) > MAX_MARKDOWN:
        return plain_html(text, spans)
    chosen = cut_spans(_off_markup(text, spans), len(text))
    source = _with_borders(text, chosen)
    env = {"spans": chosen, "open": None}
    return str(_markdown().render(source, env))


_MARKER: Final = re.compile(r"[ \t]*(?:(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]*)*\|?[ \t]*")
"""The markup that makes a line a heading, a quotation, a list item or a row of a table."""
_RULE: Final = re.compile(r"[ \t]*(?:(?:```|~~~).*|[-=*_|: \t]*)")
"""A line without words: a fence, a rule, the line below the head of a table."""


def _off_markup(text: str, spans: Iterable[MarkedSpan]) -> Iterator[MarkedSpan]:
    """Move the ends of spans off the markup that makes a line a heading, an item or a row.

    A border inside such markup would disable it.
    """
    for span in spans:
        start, end = span.start, span.end
        if not 0 <= start < end <= len(text):
            continue
        while start < end:
            _, last, content = _line(text, start)
            if content and start < content[1]:
                start = max(start, content[0])
                break
            start = last + 1
        while start < end:
            first, _, content = _line(text, end)
            if content and end > content[0]:
                end = min(end, content[1])
                break
            end = first - 1
        if start < end:
            yield replace(span, start=start, end=end)


def _line(text: str, place: int) -> tuple[int, int, tuple[int, int] | None]:
    """Return start and end of the line at a place, and of its content if it has any."""
    first, last = text.rfind("\n", 0, place) + 1, text.find("\n", place)
    last = len(text) if last < 0 else last
    line = text[first:last]
    if _RULE.fullmatch(line):
        return first, last, None
    marker = _MARKER.match(line)
    begin = marker.end() if marker else 0
    return first, last, (first + begin, first + max(len(line.rstrip(" \t|")), begin))


def plain_html(text: str, spans: Iterable[MarkedSpan] = ()) -> str:
    """Escape text, keep its line breaks, and mark spans."""
    chosen = cut_spans(spans, len(text))
    return f'<div class="rx-plain">{_marked(text, chosen)}</div>'


def inline_html(text: str, spans: Iterable[MarkedSpan] = ()) -> str:
    """Escape a text within a line, and mark spans."""
    return _marked(text, cut_spans(spans, len(text)))


def _marked(text: str, chosen: Sequence[MarkedSpan]) -> str:
    return _with_tags(_with_borders(text, chosen), {"spans": chosen, "open": None})


def cut_spans(spans: Iterable[MarkedSpan], length: int) -> list[MarkedSpan]:
    """Cut overlapping spans into pieces that do not overlap; a piece has the data of all its spans.

    Parameters
    ----------
    spans : iterable of MarkedSpan
        In order of importance: only the first :data:`MAX_SPANS` within the text are kept.
    length : int
        Length of the text.

    Returns
    -------
    list of MarkedSpan
        In order of place. Classes, values of an attribute and titles of several spans are joined. A
        span that is a stop of the Tab key is one only at its first piece, and its label is shown
        only at its last.

    >>> [(one.start, one.end, one.css) for one in cut_spans([MarkedSpan(0, 4, "a"),
    ...     MarkedSpan(2, 6, "b")], 6)]
    [(0, 2, 'a'), (2, 4, 'a b'), (4, 6, 'b')]
    """
    inside = [span for span in spans if 0 <= span.start < span.end <= length][:MAX_SPANS]
    starting: dict[int, list[int]] = {}
    ending: dict[int, list[int]] = {}
    for number, span in enumerate(inside):
        starting.setdefault(span.start, []).append(number)
        ending.setdefault(span.end, []).append(number)
    borders = sorted({*starting, *ending})
    covering: dict[int, None] = {}
    pieces: list[MarkedSpan] = []
    for start, end in pairwise(borders):
        for number in ending.get(start, ()):
            covering.pop(number)
        covering.update(dict.fromkeys(starting.get(start, ())))
        if covering:
            here = [inside[number] for number in islice(covering, _MOST_VALUES)]
            pieces.append(_joined(here, start, end))
    return pieces


def _joined(spans: Sequence[MarkedSpan], start: int, end: int) -> MarkedSpan:
    names = dict.fromkeys(name for span in spans for name in span.data)
    return MarkedSpan(
        start,
        end,
        _joined_words(span.css for span in spans),
        {name: _joined_words(span.data.get(name, "") for span in spans) for name in names},
        "\n".join(dict.fromkeys(span.title for span in spans if span.title)),
        any(span.focusable and span.start == start for span in spans),
        ", ".join(dict.fromkeys(one.label for one in spans if one.label and one.end == end)),
    )


def _joined_words(values: Iterable[str]) -> str:
    """Join lists of words, each word once."""
    return " ".join(dict.fromkeys(word for value in values for word in value.split()))


def _with_borders(text: str, spans: Sequence[MarkedSpan]) -> str:
    parts: list[str] = []
    position = 0
    for number, span in enumerate(spans):
        parts.append(_without_private(text[position : span.start]))
        parts.append(chr(_BASE + 2 * number))
        parts.append(_without_private(text[span.start : span.end]))
        parts.append(chr(_BASE + 2 * number + 1))
        position = span.end
    parts.append(_without_private(text[position:]))
    return "".join(parts)


_DROP_PRIVATE: Final = dict.fromkeys(range(_BASE, _LIMIT + 1), "�")


def _without_private(text: str) -> str:
    return text.translate(_DROP_PRIVATE)


def _with_tags(content: str, env: MutableMapping[str, Any]) -> str:
    """Escape a run of text, and turn span borders into tags.

    ``env["open"]`` has a span from an earlier run: it is closed at the end of each run and opened
    again in the next, so that tags never cross the elements of the markdown.
    """
    parts: list[str] = []
    begin = 0
    if env["open"] is not None and content:
        parts.append(env["open"].open_tag())
    for place, character in enumerate(content):
        code = ord(character)
        if not _BASE <= code <= _LIMIT:
            continue
        parts.append(html.escape(content[begin:place]))
        begin = place + 1
        if (code - _BASE) % 2 == 0:
            opened = env["spans"][(code - _BASE) // 2]
            parts.append(opened.open_tag())
            env["open"] = replace(opened, label="")
        else:
            env["open"] = None
            parts.append("</mark>")
    parts.append(html.escape(content[begin:]))
    if env["open"] is not None and content:
        parts.append("</mark>")
    return "".join(parts)


_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#+\-!|~$:&=])")
_NUMBERED: Final = re.compile(r"^(\d{1,9})(?=[.)])")
"""A line with this start would become an item of a list."""
_AUTO_LINKED: Final = re.compile(
    r"(?<=http:)(?=//)|(?<=https:)(?=//)|(?<=www)(?=\.)|(?=@)|(?<=:)(?=[\w+-]+[:/])", re.IGNORECASE
)
"""Places for a joiner in addresses and names of icons: Streamlit turns these into links, icons and
emoji after Markdown, and a backslash does not prevent that."""
_APART: Final = "\u2060"
"""A word joiner: it has no width and prevents line breaks."""


def as_markdown(text: object) -> str:
    """Escape text for Streamlit's Markdown (labels, help, headings, messages), joined to one line.

    Not for texts that Streamlit shows unformatted: the options of a ``selectbox`` or
    ``multiselect``, placeholders, values of fields, cells and headings of tables.
    """
    line = " ".join(str(text).split())
    escaped = _MARKDOWN.sub(r"\\\1", _AUTO_LINKED.sub(_APART, line))
    return _NUMBERED.sub(r"\1\\", escaped)


def lines_as_markdown(text: object) -> str:
    """Escape text for Streamlit's Markdown and keep its lines, such as those of an error."""
    lines = (as_markdown(line) for line in str(text).splitlines())
    return "  \n".join(line for line in lines if line)
