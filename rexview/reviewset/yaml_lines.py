"""YAML: read with the line on which every key stands, written so that it reads the same."""

from __future__ import annotations

from typing import Any, Final

import yaml

from rexview import bounded
from rexview.errors import FileRefused
from rexview.reviewset.problems import ProblemList, quoted

_REMEDY: Final = "Mind the indentation, and put texts with : or # in double quotes."


_ODD_BREAKS: Final = frozenset("\r\x85\u2028\u2029")
"""Characters that YAML takes for ends of lines and folds, unless they are escaped."""


class Lines:
    """Line numbers, from 1, by the path of keys and list places that leads to a value."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._lines: dict[tuple[Any, ...], int] = {}
        self._walked: set[int] = set()
        self.twice: list[tuple[str, int]] = []
        if root is not None:
            self._walk(root, ())

    def of(self, path: tuple[Any, ...]) -> int | None:
        """Line of a key, or of the nearest thing around it that is there."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path)

    def _walk(self, node: yaml.Node, path: tuple[Any, ...]) -> None:
        if id(node) in self._walked:  # an alias; following each could take forever
            return
        self._walked.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inside = (*path, str(key.value))
                line = key.start_mark.line + 1
                if inside in self._lines:
                    self.twice.append((str(key.value), line))
                self._lines[inside] = line
                self._walk(value, inside)
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                inside = (*path, place)
                self._lines[inside] = value.start_mark.line + 1
                self._walk(value, inside)


def parse_yaml(content: bytes, label: str, problems: ProblemList) -> tuple[Any, Lines] | None:
    """Parse a YAML file; report what keeps it from being parsed, and keys named twice."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        message = "The file has letters that are not UTF-8."
        problems.add("error", label, message, "Save the file as UTF-8.", row=row)
        return None
    try:
        raw, root = bounded.parse_yaml(text)
    except FileRefused as refusal:
        problems.add("error", label, str(refusal), _REMEDY, row=refusal.line)
        return None
    lines = Lines(root)
    for key, line in lines.twice:
        message = f"The key {quoted(key)} is there twice."
        problems.add("error", label, message, "Keep one of them.", row=line, field=key)
    return raw, lines


class _Dumper(yaml.SafeDumper):
    """Puts texts with unusual ends of lines in double quotes, where they are escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _ODD_BREAKS.intersection(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(value: Any) -> str:
    """Write plain data as YAML that reads the same, keys in their order."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
