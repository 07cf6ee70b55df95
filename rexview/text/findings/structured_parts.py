"""Find objects and tables in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from rexview.text.phrases import list_alternatives

# Values of objects and tables, with their offsets.

Span = tuple[int, int]
"""Start and end of a stretch of the text."""
DEPTH: Final = 40
"""Maximum nesting of objects; deeper ones are left out."""


@dataclass(slots=True)
class Node:
    """A value: a stretch of text, or the fields of an object (an array's have no key).

    The keys of a table's ``row`` are the column headers.
    """

    span: Span
    fields: list[tuple[Span | None, Node]] | None = None
    row: bool = False

    def inner(self) -> list[tuple[Span | None, Node]]:
        """Return the fields as a list, to which more may be added."""
        if self.fields is None:
            self.fields = []
        return self.fields


@dataclass(slots=True)
class StructuredPart:
    """A stretch of the text that is an object or a table, with its records."""

    span: Span
    records: list[Node] = field(default_factory=list)


# YAML in a text: keys with values, or with indented fields.

_OPENING: Final = re.compile(
    r"(?m)(?P<fence>^[ \t]*```[ \t]*ya?ml[ \t]*\n)|^[a-z]+_[a-z_]+:(?=[ \t]*\n[ \t]+\S)"
    r"|^[a-z][a-z_ ]{1,30}:[ \t]*\n(?=[ \t]+(?:-[ \t])?\S)"
    r"|^[A-Z][a-z_ ]{1,30}:[ \t]*\n(?=[ \t]+(?:[Rr]ight|[Ll]eft)[ ]*:)"
    r"|^-[ \t][a-z_]+:[ ][^\n]*\n(?=[ \t]+[a-z_]+:)"
    r"|^[a-z][a-z_ ]{1,40}:[ ]*\{[ ]*[a-z_]+:[^{}\n]*\}[ ]*$"
)
"""The start of YAML: its fence, a snake_case key with fields below it, a list or a short object."""
_OBJECT: Final = re.compile(r"[ \t]*\{([^{}\n]*)\}[ \t]*")
_FIELD: Final = re.compile(r"[ ]*(\w[\w ]{0,40}?)[ ]*:[ ]*([^,]*)")
_LINE: Final = re.compile(
    r"[ \t]*(?P<dash>-[ \t]+)?(?P<rest>(?:(?P<key>[A-Za-z_][^:\n#]{0,60}?)[ \t]*:"
    r"(?P<value>(?:[ \t][^\n]*)?))?)"
)


def find_yaml(text: str) -> StructuredPart | None:
    """Read the lines of YAML: keys with values, or with indented fields."""
    opening = _OPENING.search(text)
    if opening is None:
        return None
    start = at = opening.end() if opening["fence"] else opening.start()
    root = Node((start, start), [])
    stack: list[tuple[int, Node]] = [(-1, root)]
    end = start
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = _LINE.match(text, at, stop)
        if line is None or (not line["key"] and not line["dash"]):
            if text[at:stop].strip():
                break
            at = stop + 1
            continue
        indent = line.start("dash") if line["dash"] else line.start("key")
        _put_line(line, indent - at, stack, stop)
        end = stop
        at = stop + 1
    if len(root.inner()) == 0:
        return None
    root.span = (start, end)
    for _, node in root.inner():
        _close_spans(node)
    return StructuredPart(root.span, [root])


def _put_line(line: re.Match[str], indent: int, stack: list[tuple[int, Node]], stop: int) -> None:
    """Add a line to its object; a list item is deeper than a key with the same indent."""
    level = 2 * indent + (line["dash"] is not None)
    while len(stack) > 1 and level <= stack[-1][0]:
        stack.pop()
    if line["dash"] and not line["key"]:
        stack[-1][1].inner().append((None, Node((line.start("rest"), stop))))
        return
    if line["dash"]:
        item = Node((line.start("key"), stop), [])
        stack[-1][1].inner().append((None, item))
        if len(stack) < DEPTH:
            stack.append((level, item))
        level += 1
    key, value = line.span("key"), (line.start("value"), stop)
    if short := _OBJECT.fullmatch(line["value"]):
        at = value[0] + short.start(1)
        inner = Node(value, [])
        for field in _FIELD.finditer(line.string, at, at + len(short[1])):
            inner.inner().append((field.span(1), Node(field.span(2))))
        stack[-1][1].inner().append((key, inner))
        return
    if line["value"].strip(" |>"):
        stack[-1][1].inner().append((key, Node(value)))
        return
    node = Node((key[0], stop), [])
    stack[-1][1].inner().append((key, node))
    if len(stack) < DEPTH:
        stack.append((level, node))


def _close_spans(node: Node) -> None:
    """Extend an object to the end of its last field."""
    todo = [node]
    order = []
    while todo:
        one = todo.pop()
        order.append(one)
        todo += [inner for _, inner in one.fields or []]
    for one in reversed(order):
        if one.fields:
            one.span = (one.span[0], max(one.span[1], one.fields[-1][1].span[1]))


# Parts of a text that are not prose: JSON-like objects and tables, as fields with offsets.
#
# Hostile text is expected: strings that never end, brackets without partners, rows of any length.
# Everything is read in one pass; what has no valid structure is left to be read as prose.

_KEY: Final = re.compile(r'"[^"\n]{1,80}"\s*:')
_PARTS_OPENING: Final = re.compile(r'[{\[]\s*["{\[]')
_PIECE: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+')
_GAP: Final = "  "
"""Between the cells of a table that is aligned by blanks alone."""
_GAPS: Final = re.compile(r" {2,}")
_ALIGNED: Final = re.compile(
    r"(?m)^[^\n|\t]{0,60} {2}"
    r"(?:(?:right|rt|r) {2,40}(?:left|lt|l)|(?:left|lt|l) {2,40}(?:right|rt|r))[ ]*$",
    re.IGNORECASE,
)
"""The headers of such a table: the two sides."""
_RULE: Final = re.compile(r"[\s|:+=-]*")
_NAME_WORDS: Final = 4
_CSV_HEADER: Final = re.compile(
    r"\s*(?:finding|abnormality|label|observation|diagnosis|pathology)s?\s*[,;]", re.IGNORECASE
)


def find_structured_parts(text: str) -> list[StructuredPart]:
    """Find objects and tables, in order, not overlapping."""
    found = _json(text) if '"' in text and _KEY.search(text) else None
    if found is None and ":" in text:
        found = find_yaml(text)
    if found is not None:
        start, end = found.span
        before, after = _tables(text, 0, start), _tables(text, end, len(text))
        return [*before, found, *after]
    return _tables(text, 0, len(text))


def _json(text: str) -> StructuredPart | None:
    opening = _PARTS_OPENING.search(text)
    if opening is None:
        return None
    start = opening.start()
    root = Node((start, start), [])
    stack = [root]
    key: list[Span | None] = [None]
    last: Span | None = None
    end = start
    skipped = 0
    for match in _PIECE.finditer(text, start):
        piece, span = match[0], match.span()
        if piece in "{[":
            if len(stack) > DEPTH:
                skipped += 1
                continue
            node = Node(span, [])
            stack[-1].inner().append((key[-1], node))
            key[-1] = None
            stack.append(node)
            key.append(None)
        elif piece in "}]":
            if skipped:
                skipped -= 1
            elif len(stack) > 1:
                node = stack.pop()
                node.span = (node.span[0], span[1])
                key.pop()
            end = span[1]
            if len(stack) == 1:
                break
        elif piece == ":":
            if last is not None and stack[-1].inner():
                stack[-1].inner().pop()
                key[-1] = last
        elif piece == ",":
            key[-1] = None
        else:
            last = (span[0] + 1, span[1] - (len(piece) > 1 and piece[-1] == '"')) if (
                piece[0] == '"'
            ) else span  # fmt: skip
            stack[-1].inner().append((key[-1], Node(last)))
            end = span[1]
    root.span = (start, end)
    return StructuredPart(root.span, [node for _, node in root.inner()])


def _tables(text: str, start: int, end: int) -> list[StructuredPart]:
    marked = text.find("|", start, end) >= 0 or text.find("\t", start, end) >= 0
    aligned = text.find(_GAP, start, end) >= 0 and _ALIGNED.search(text, start, end) is not None
    if not marked and not aligned and not _CSV_HEADER.match(text, start, end):
        return []
    parts: list[StructuredPart] = []
    rows: list[list[Span]] = []
    separator = ""
    first = at = start
    while at <= end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        line = text[at:stop]
        line_separator = (
            separator if separator and separator in line else _separator(text, at, stop)
        )
        if line_separator and (not rows or line_separator == separator):
            if not rows:
                first, separator = at, line_separator
            rows.append(_cells(text, at, stop, line_separator))
        elif rows:
            _close(text, (first, at), rows, parts)
            rows, separator = [], ""
        at = stop + 1
    if rows:
        _close(text, (first, end), rows, parts)
    return parts


def _separator(text: str, at: int, stop: int) -> str:
    if "|" in text[at:stop]:
        return "|"
    if text.find("\t", at + 1, stop) > 0 and text[at:stop].strip().count("\t"):
        return "\t"
    if text.find(_GAP, at, stop) >= 0 and _ALIGNED.match(text, at, stop):
        return _GAP
    match = _CSV_HEADER.match(text, at, stop)
    return match[0].strip()[-1] if match else ""


def _cells(text: str, at: int, stop: int, separator: str) -> list[Span]:
    cells: list[Span] = []
    if separator == _GAP:
        for gap in _GAPS.finditer(text, at, stop):
            if gap.end() < stop:
                cells.append((at, gap.start()))
                at = gap.end()
        return [*cells, (at, stop)]
    while at < stop and text[at] in " \t" and separator == "|":
        at += 1
    if separator == "|" and at < stop and text[at] == "|":
        at += 1
    while at <= stop:
        end = text.find(separator, at, stop)
        end = stop if end < 0 else end
        if end < stop or text[at:end].strip():
            cells.append((at, end))
        at = end + 1
    return cells


def _close(text: str, span: Span, rows: list[list[Span]], parts: list[StructuredPart]) -> None:
    """Turn the rows of a table into records; a single row with a mark is no table."""
    table = [row for row in rows if not all(_RULE.fullmatch(text[a:b]) for a, b in row)]
    ruled = len(table) < len(rows)
    if len(table) < 2 or max(map(len, table)) < 2:
        return
    head = table[0]
    part = StructuredPart(span)
    if max(map(len, table)) == 2 and not _has_header(text, table):
        pairs = [(row[0], Node(row[1])) for row in table if len(row) == 2]
        part.records.append(Node(span, list(pairs)))
    elif not ruled and _is_row(text, table):
        for row in table:
            cells = [(None, Node(cell)) for cell in row]
            part.records.append(Node((row[0][0], row[-1][1]), list(cells), row=True))
    else:
        for row in table[1:]:
            named = [(head[k] if k < len(head) else None, Node(cell)) for k, cell in enumerate(row)]
            place = (row[0][0], row[-1][1]) if row else span
            part.records.append(Node(place, list(named), row=True))
    parts.append(part)


_SIDE: Final = re.compile(
    r"\W*(?:right|left|rt|lt|r|l)(?: (?:side|lung|chest|hemithorax))?\W*", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"\d\s*(?:mm|cm|th|nd|rd|st)\b", re.IGNORECASE)
_HEADER: Final = re.compile(
    rf"\W*(?:{list_alternatives('field', 'table_header')})\b", re.IGNORECASE
)


def _has_header(text: str, rows: list[list[Span]]) -> bool:
    """True if a table of two columns has headers, and is not a list of names with their values."""
    if len(rows[0]) > 1 and all(_SIDE.fullmatch(text[a:b]) for a, b in rows[0]):
        return True
    return _is_name(text, rows[0][0]) and not any(_is_name(text, row[0]) for row in rows[1:] if row)


def _is_row(text: str, rows: list[list[Span]]) -> bool:
    """True if the first row of a table is no header: it has a side or a size in a cell."""
    first = rows[0]
    if any(_is_name(text, cell) for cell in first):
        return False
    if text[slice(*first[0])] == text[slice(*rows[1][0])]:
        return True
    cells = [cell for cell in first[1:] if text[slice(*cell)].strip()]
    sides = [cell for cell in cells if _SIDE.fullmatch(text[slice(*cell)])]
    if len(sides) > 1 and len(sides) == len(cells):
        return False  # "| | Right | Left |"
    return bool(sides) or any(_NUMBER.search(text, *cell) for cell in cells)


def _is_name(text: str, cell: Span) -> bool:
    return _HEADER.match(text, *cell) is not None and len(text[slice(*cell)].split()) <= _NAME_WORDS
