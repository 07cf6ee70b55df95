"""YAML in a text: keys with values, or with fields that stand further in."""

from __future__ import annotations

import re
from typing import Final

from rexview.detect.findings.structured.nodes import DEPTH, Node, StructuredPart

_OPENING: Final = re.compile(
    r"(?m)(?P<fence>^[ \t]*```[ \t]*ya?ml[ \t]*\n)|^[a-z]+_[a-z_]+:(?=[ \t]*\n[ \t]+\S)"
    r"|^[a-z][a-z_ ]{1,30}:[ \t]*\n(?=[ \t]+(?:-[ \t])?\S)"
    r"|^[A-Z][a-z_ ]{1,30}:[ \t]*\n(?=[ \t]+(?:[Rr]ight|[Ll]eft)[ ]*:)"
    r"|^-[ \t][a-z_]+:[ ][^\n]*\n(?=[ \t]+[a-z_]+:)"
    r"|^[a-z][a-z_ ]{1,40}:[ ]*\{[ ]*[a-z_]+:[^{}\n]*\}[ ]*$"
)
"""Where YAML starts: its fence, a snake_case key with fields below it, a list or a short object."""
_OBJECT: Final = re.compile(r"[ \t]*\{([^{}\n]*)\}[ \t]*")
_FIELD: Final = re.compile(r"[ ]*(\w[\w ]{0,40}?)[ ]*:[ ]*([^,]*)")
_LINE: Final = re.compile(
    r"[ \t]*(?P<dash>-[ \t]+)?(?P<rest>(?:(?P<key>[A-Za-z_][^:\n#]{0,60}?)[ \t]*:"
    r"(?P<value>(?:[ \t][^\n]*)?))?)"
)


def find_yaml(text: str) -> StructuredPart | None:
    """Read the lines of YAML: keys with values, or with fields that stand further in."""
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
    """Put a line where it belongs; an item stands further in than a key in its column."""
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
    """Let an object reach to the end of its last field."""
    todo = [node]
    order = []
    while todo:
        one = todo.pop()
        order.append(one)
        todo += [inner for _, inner in one.fields or []]
    for one in reversed(order):
        if one.fields:
            one.span = (one.span[0], max(one.span[1], one.fields[-1][1].span[1]))
