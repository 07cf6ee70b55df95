"""A failure in words, what a judge found of it, and what clinicians say of a sample, as HTML.

What people and models wrote, their names too, is escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.written.failures import Words
from rexview.analysis.written.results import FoundIn
from rexview.analysis.written.tables import SAID, FoundRow, condition
from rexview.analysis.written.validation import Validated
from rexview.judge.written.validating import Share
from rexview.ui.tables.number_table import (
    NOTHING,
    Reasons,
    cells,
    linked_number,
    model_head,
    short_name,
    table_html,
)
from rexview.ui.written.definition import definition_html
from rexview.ui.written.times import written_at
from rexview.vocab import counted

_HEADS: Final = ("Model", "Found", "Not found", "Unsure", "Not readable", "Answers judged")
FOUND_CAPTION: Final = (
    "Found by a language model, over all cases that it was asked about, whatever the filter says; "
    "counted with no failure of rules or readers. Not readable: it answered otherwise than asked."
)
READ_CAPTION: Final = (
    "A random sample, read without knowing what the model said. Precision: of the answers found "
    "and read, those that have the failure. Missed: of those not found and read, those that have "
    "it. 95% intervals by Wilson; unsure answers count in neither."
)


def words_html(words: Words, *, stale: bool) -> str:
    """Show a definition as it was written; ``stale``: there are newer words."""
    note = " · earlier words: what was found and read in them stays here" if stale else ""
    about = html.escape(f"{written_at(words)}{note}")
    return (
        f'<section class="rx-written" aria-label="Definition">{definition_html(words.prompt)}'
        f'<p class="rx-quiet">{about}</p></section>'
    )


def found_html(
    found: FoundIn,
    rows: Sequence[FoundRow],
    names: Mapping[str, str],
    colours: Mapping[str, str],
    read: Sequence[Validated] = (),
) -> str:
    """Lay out what a judge found, a row a model; every number opens its cases.

    Beside what was found of all models stands its precision, where a sample was read (``read``).
    """
    body = []
    for row in rows:
        numbers = [
            linked_number(row.counts[said], f"<b>{row.counts[said].value:,}</b>")
            if row.counts[said].value
            else "0"
            for said in SAID
        ]
        tds = "".join(f"<td>{one}</td>" for one in (*numbers, f"{row.judged:,}"))
        body.append(f"<tr>{model_head(names[row.model], colours.get(row.model, ''))}{tds}</tr>")
    if rows:
        numbers = [_total(found, rows, said) for said in SAID]
        numbers[0] += _precision(read[0].found) if read else "<small>not validated</small>"
        judged = f"{sum(row.judged for row in rows):,}"
        body.append(cells("All models", *numbers, judged))
    return table_html(f"Found by {found.judge}", _HEADS, body, FOUND_CAPTION)


def _total(found: FoundIn, rows: Sequence[FoundRow], said: str) -> str:
    number = sum(row.counts[said].value for row in rows)
    opens = Count(number, CaseFilter(written=(condition(found, said),)))
    title = "Opens the cases; several models may have it in one case"
    return linked_number(opens, f"<b>{number:,}</b>", title=title) if number else "0"


def _precision(one: Share) -> str:
    interval = one.interval
    if one.share is None or interval is None or interval.low is None or interval.high is None:
        return "<small>not validated</small>"
    limits = f"{interval.low:.0%} to {interval.high:.0%}"
    return f"<small>precision {one.share:.0%}, {limits}</small>"


def validated_html(rows: Sequence[Validated]) -> str:
    """Lay out precision and what is missed, a row a clinician."""
    reasons, body = Reasons(), []
    for row in rows:
        who = "All together" if row.who is None else row.who
        differ = f"; {counted(row.differ, 'answer')} on which they differ" if row.differ else ""
        body.append(
            cells(
                f"{short_name(who)}<small>{html.escape(_rest(row, differ))}</small>",
                _share(row.found, f"{who}, precision", reasons),
                _share(row.not_found, f"{who}, missed", reasons),
            )
        )
    heads = ("Read by", "Precision of those found", "Missed among those not found")
    return table_html("Validated by clinicians", heads, body, READ_CAPTION) + reasons.html()


def _rest(row: Validated, differ: str) -> str:
    unsure = row.found.unsure + row.not_found.unsure
    unread = row.found.unread + row.not_found.unread
    return f"{unsure:,} unsure; {unread:,} of the sample not read{differ}"


def _share(one: Share, where: str, reasons: Reasons) -> str:
    told, interval = one.yes + one.no, one.interval
    if one.share is None or interval is None or interval.low is None or interval.high is None:
        return reasons.add("Nothing of it was read yet.", where) if one.of else NOTHING
    return (
        f"<b>{one.share:.0%}</b> {interval.low:.0%} to {interval.high:.0%}"
        f"<small>{one.yes:,} of {told:,} read, of {one.of:,}</small>"
    )
