"""Make readers' entries on reports: corrections by line, preferences, corrected references.

A text names a line by its beginning; its position is found in the report as the app splits it
(:func:`rexview.metrics.report_lines.report_lines`). Lines without an entry are kept.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from rexview.metrics.report_lines import ReportLine, report_lines

Row = dict[str, Any]


def edit_rows(text: Row, model: str, said: str, reader: str, created: dt.datetime) -> Iterator[Row]:
    """Yield a reader's edits of a model's report, in the order of its lines.

    Raises
    ------
    ValueError
        An edit names no line, or several.
    """
    lines = report_lines(said)
    edits = text["edits"][model][reader]
    known = {"case": text["id"], "model": model, "reader": reader}
    changed = {_line(lines, edit["line"]).number: edit for edit in edits if "line" in edit}
    added = {_line(lines, edit["after"]).number: edit for edit in edits if "after" in edit}
    for line in lines:
        edit = changed.get(line.number, {"action": "keep", "severity": 0})
        yield known | _edit(line.number, line.text, edit, "substitute", created)
        if line.number in added:
            yield known | _edit(line.number, "", added[line.number], "insert", created)


def _line(lines: Sequence[ReportLine], beginning: str) -> ReportLine:
    whole = [line for line in lines if line.text == beginning]
    begun = whole or [line for line in lines if line.text.startswith(beginning)]
    if len(begun) != 1:
        raise ValueError(f"{len(begun)} lines begin with “{beginning}”.")
    return begun[0]


def _edit(number: int, original: str, edit: Row, action: str, created: dt.datetime) -> Row:
    action = edit.get("action", action)
    return {
        "line": number,
        "original": original,
        "edited": original if action == "keep" else edit.get("to", ""),
        "action": action,
        "severity": edit["severity"],
        "kind": edit.get("kind", ""),
        "significance": edit.get("significance", ""),
        "comment": edit.get("comment", ""),
        "created": created.isoformat(),
    }


def preference_row(
    text: Row, models: Sequence[str], turned: bool, reader: str, created: dt.datetime
) -> Row:
    """Return a reader's preferred report of two; ``turned`` if they were shown in reverse order."""
    first, second = reversed(models) if turned else models
    given = text["preferences"][reader]
    said = {first: "first", second: "second", "tie": "tie"}
    return {
        "case": text["id"],
        "first": first,
        "second": second,
        "reader": reader,
        "preferred": said[given["better"]],
        "seconds": given["seconds"],
        "comment": given.get("comment", ""),
        "created": created.isoformat(),
    }


def reference_row(text: Row, given: Row, created: dt.datetime) -> Row:
    """Return a corrected report as a row of ``references``."""
    return {
        "case": text["id"],
        "reader": given["reader"],
        "findings": given["findings"].strip(),
        "impression": given["impression"].strip(),
        "comment": given["comment"],
        "created": created.isoformat(),
    }
