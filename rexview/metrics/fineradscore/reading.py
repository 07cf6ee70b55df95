"""What a judge answered: corrections, or why it is no answer. Nothing is guessed or mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from rexview.metrics.report_lines import Line
from rexview.models.asking.reading import listed_in
from rexview.vocab import EDIT_KINDS, EDIT_SEVERITIES

CORRECTING: Final = ("substitute", "delete", "insert")
_FIELDS: Final = frozenset(("line", "action", "text", "kind", "severity", "comment"))
_LONGEST: Final = 10_000
_MOST: Final = 500


@dataclass(frozen=True)
class Correction:
    """One correction of a line; an inserted one stands after ``line``, 0 for before the first.

    ``text`` is the line as it should be, None for one that is taken away.
    """

    line: int
    action: str
    text: str | None
    kind: str
    severity: int
    comment: str | None


def read_corrections(text: str, lines: Sequence[Line]) -> tuple[Correction, ...] | str:
    """Read the JSON object of a judge.

    Returns
    -------
    tuple of Correction or str
        What is wrong with the answer, in a sentence, where anything in it is not as asked: then
        none of it is taken.
    """
    given = listed_in(text, "corrections", _MOST)
    if isinstance(given, str):
        return given
    found: list[Correction] = []
    by_number = {line.number: line for line in lines}
    for place, one in enumerate(given, 1):
        correction = _correction(one, by_number)
        if isinstance(correction, str):
            return f"Correction {place}: {correction}"
        found.append(correction)
    changed = [one.line for one in found if one.action != "insert"]
    if len(set(changed)) < len(changed):
        twice = next(line for line in changed if changed.count(line) > 1)
        return f"Line {twice} is corrected twice."
    return tuple(found)


def _correction(one: Any, lines: Mapping[int, Line]) -> Correction | str:
    if not isinstance(one, dict):
        return "it is no object."
    line, action, text = one.get("line"), one.get("action"), one.get("text")
    kind, severity, comment = one.get("kind"), one.get("severity"), one.get("comment")
    unknown = sorted(one.keys() - _FIELDS)
    if unknown:
        return f"{unknown[0]!r:.60} is no part of a correction."
    if action not in CORRECTING:
        return f"the action {action!r:.60} is none of {', '.join(CORRECTING)}."
    if not _is_whole(line) or not (line in lines or (action == "insert" and line == 0)):
        return f"there is no line {line!r:.60}."
    if kind not in tuple(EDIT_KINDS):
        return f"the kind {kind!r:.60} is none of {', '.join(EDIT_KINDS)}."
    if not _is_whole(severity) or severity not in EDIT_SEVERITIES:
        return f"the severity {severity!r:.60} is no whole number from 0 to 4."
    if not isinstance(comment, str | None) or len(comment or "") > _LONGEST:
        return f"the comment is no text of at most {_LONGEST:,} characters."
    if not isinstance(text, str | None) or len(text or "") > _LONGEST:
        return f"the text is no text of at most {_LONGEST:,} characters."
    written = (text or "").strip()
    if action == "delete":  # what some repeat of the line changes nothing
        return Correction(line, action, None, kind, severity, comment or None)
    if not written:
        return "the new line is missing."
    if action == "substitute" and written.split() == lines[line].text.split():
        return f"line {line} stays as it is."
    return Correction(line, action, written, kind, severity, comment or None)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
