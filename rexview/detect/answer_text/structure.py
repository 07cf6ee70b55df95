"""What a text opens and never closes: code fences, JSON, tables, brackets, emphasis."""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = re.compile(r"^\s{0,3}(`{3,}|~{3,})(.*)$")
_JSON_START: Final = re.compile(r"\s*(?:json\s*)?([{\[])\s*(?:[\"'{\[}\]]|$)", re.IGNORECASE)
_ROW: Final = re.compile(r"^\s*\|")
_DIVIDER: Final = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)*\s*:?-*:?\s*\|?\s*$")
_ROOT: Final = re.compile(r"\s*<([a-zA-Z_][\w-]{0,40})>?")
_HALF_TAG: Final = re.compile(r"</?[a-zA-Z_][\w-]*$|</$")
_LONGEST_TAG: Final = 60
_NESTED: Final = 2
_PARTIAL_TAG: Final = re.compile(r"</?[a-zA-Z][^<>\n]{0,40}$")
_HTML: Final = re.compile(
    r"</?(?:p|br|li|ul|ol|b|i|td|tr|th|div|span|table|strong|em)\b", re.IGNORECASE
)
_NEW_SENTENCE: Final = re.compile(r"[.!?]\s+[A-Z]")
_SMILEY: Final = re.compile(r"[:;=]-?$")
_HALF_OPEN: Final = re.compile(r"[\[(]\s*[\d.]+\s*[,;]\s*[\d.]+\s*[\])]")
_OPEN_QUOTE: Final = re.compile(r"(?:(?<=\s)|^)(?:\"(?=\w)[^\"]*|“[^“”\"]*)(?<![.!?])$")
_OPEN_ITALIC: Final = re.compile(r"(?:(?<=\s)|^)\*(?=[A-Za-z])[^*.!?]*$")
_PARAGRAPH: Final = 4_000


def open_structure(text: str) -> tuple[str, int] | None:
    """Say what a text leaves open.

    Returns
    -------
    tuple of str and int, or None
        Half a sentence that says why the text looks cut, and the offset of what was opened.

    >>> open_structure('{"findings": ["left effusion", "no pn')
    ('it ends inside JSON that is not closed', 0)
    """
    return (
        _open_fence(text)
        or _open_json(text)
        or _open_tags(text)
        or _open_table(text)
        or _open_marks(text)
    )


def _open_fence(text: str) -> tuple[str, int] | None:
    opened: tuple[str, int] | None = None
    offset = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\r\n"))
        if match:
            fence, rest = match.groups()
            if opened is None:
                opened = (fence, offset)
            elif fence[0] == opened[0][0] and len(fence) >= len(opened[0]) and not rest.strip():
                opened = None
        offset += len(line)
    return None if opened is None else ("it ends inside a block of code", opened[1])


def _open_json(text: str) -> tuple[str, int] | None:
    """Find JSON that starts the text and is not closed; strings and escapes are minded."""
    match = _JSON_START.match(text)
    if match is None:
        return None
    depth = 0
    quotes = "'" if text[match.end() - 1] == "'" else '"'  # as Python prints it
    in_string = escaped = False
    for at, char in enumerate(text[match.start(1) :], match.start(1)):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quotes and not (quotes == "'" and text[at + 1 : at + 2].isalpha()):
                in_string = False
        elif char == quotes:
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return None
    return "it ends inside JSON that is not closed", match.start(1)


def _open_tags(text: str) -> tuple[str, int] | None:
    """Find a tag that starts the text as its root, closes others within and is not closed."""
    root = _ROOT.match(text)
    if root is None:
        return None
    if _HALF_TAG.search(text[-_LONGEST_TAG:]):
        return "it ends inside a tag", text.rfind("<")
    if f"</{root[1]}>" in text or text.count("<") < _NESTED:
        return None
    return "it ends inside a tag that is not closed", root.start(1) - 1


def _open_table(text: str) -> tuple[str, int] | None:
    """Find a table whose last row is not finished, or that has a head and no rows."""
    lines = text[-_PARAGRAPH:].split("\n")
    rows: list[str] = []
    for line in reversed(lines):
        if not _ROW.match(line):
            break
        rows.append(line.strip())
    if not rows or (len(rows) == len(lines) and len(text) > _PARAGRAPH):
        return None
    rows.reverse()
    last, place = rows[-1], len(text) - len(lines[-1])
    reason = "it ends in the middle of a table"
    if len(rows) == 2 and _is_divider(last):
        return reason, place
    head = rows[0]
    if not last.endswith("|") and (head.endswith("|") if len(rows) > 1 else last.count("|") > 1):
        return reason, place
    if len(rows) > 1 and _cells(last) < _cells(head) and _is_divider(rows[1]):
        return reason, place
    return None


def _is_divider(row: str) -> bool:
    return "--" in row and bool(_DIVIDER.match(row))


def _cells(row: str) -> int:
    return row.strip().strip("|").replace("\\|", "").count("|") + 1


def _open_marks(text: str) -> tuple[str, int] | None:
    """Find an open bracket, emphasis, backtick or tag in the last paragraph."""
    window = text[-_PARAGRAPH:]
    base = len(text) - len(window)
    start = window.rfind("\n") + 1
    line = window[start:]
    place = base + start
    opened: list[int] = []
    for at, char in enumerate(line):
        if char in "([":
            opened.append(at)
        elif char in ")]" and opened:
            opened.pop()
    if opened and _cut_inside(line, opened[-1]):
        return "it ends inside a bracket that is not closed", place + opened[-1]
    bold = line.rfind("**")
    if line.count("**") % 2 and line[bold + 2 :].strip() and not line[bold + 2].isspace():
        return "it ends inside bold text that is not closed", place + bold
    tag = _PARTIAL_TAG.search(line)
    if tag and tag.start() > 0 and _HTML.match(tag[0]):
        return "it ends inside a tag", place + tag.start()
    if line.count("`") % 2 and "```" not in line:
        return "it ends inside code that is not closed", place + line.rfind("`")
    quoted = _OPEN_QUOTE.search(line) or _OPEN_ITALIC.search(line)
    if quoted:
        return "it ends inside a quotation or a title that is not closed", place + quoted.start()
    return None


def _cut_inside(line: str, at: int) -> bool:
    """Whether what an open bracket began is still going on at the end of the line.

    Not after a full stop or a new sentence (a typing error), and not for ``[0, 1)`` or ``:(``.
    """
    inside = line[at:]
    if inside.rstrip().endswith((".", "!", "?")) or _NEW_SENTENCE.search(inside):
        return False
    return not (_SMILEY.search(line[max(0, at - 2) : at]) or _HALF_OPEN.match(inside))
