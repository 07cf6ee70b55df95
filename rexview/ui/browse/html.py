"""Above the cases: the three headline failures with their numbers, and the chips of the filter."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace

from rexview.analysis import CaseFilter, Facets, FailureSources, SetFacts, chips
from rexview.analysis.failures import judged_caption, so_far_after
from rexview.ui.link.in_app import browse_link
from rexview.vocab import FAILURES
from rexview.words import noun, tr, trn


def filter_bar_html(
    facts: SetFacts, case_filter: CaseFilter, counts: Facets, *, so_far: bool = False
) -> str:
    """Draw the headline failures, and the chips when the filter limits anything.

    ``so_far`` says that not every answer has been looked at for failures.
    """
    heads = "".join(_head_html(case_filter, head, so_far=so_far) for head in counts.headlines)
    shown = chips(facts, case_filter)
    chip_row = ""
    if shown:
        drawn = [
            browse_link(
                chip.rest,
                f'{html.escape(chip.label)}<span aria-hidden="true">×</span>',
                css="rx-chip",
                title=tr("Take away: {label}").format(label=chip.label),
            )
            for chip in shown
        ]
        clear = browse_link(case_filter.cleared(), tr("Clear all"), css="rx-clear")
        chip_row = (
            f'<div class="rx-chips" role="group" aria-label="{tr("Filter")}">'
            f"{''.join(drawn)}{clear}</div>"
        )
    return f'<nav class="rx-heads" aria-label="{tr("Headline failures")}">{heads}</nav>{chip_row}'


def _head_html(case_filter: CaseFilter, head: FailureSources, *, so_far: bool) -> str:
    failure = FAILURES[head.failure]
    active = case_filter.failures == (head.failure,)
    target = replace(case_filter, failures=() if active else (head.failure,), sources=())
    meaning = f"{failure.meaning} {judged_caption(head.failure)}"
    of = trn("of {n:,} case", "of {n:,} cases", head.cases)
    if head.judged != head.cases:
        of = trn(
            "of {judged:,} that can be judged, in {n:,} case",
            "of {judged:,} that can be judged, in {n:,} cases",
            head.cases,
        )
    judged = of.format(judged=head.judged, n=head.cases)
    name = so_far_after(failure.plural, so_far=so_far)
    sources = sources_text(head.detector, head.reader, head.both)
    label = (
        f"<b>{head.total:,} <small>{noun(head.total, 'case')}</small></b>"
        f"<span>{html.escape(name)}</span>"
        f"<small>{so_far_after(sources, so_far=so_far and not head.total)}</small>"
        f"<small>{judged}</small>"
    )
    css = "rx-head rx-on" if active else "rx-head"
    return browse_link(target, label, css=css, title=meaning)


def sources_text(detector: int, reader: int, both: int) -> str:
    """Say who found the failures: rules and readers are never mixed without saying so."""
    counts: Mapping[str, int] = {
        tr("rule only"): detector,
        tr("reader only"): reader,
        tr("rule and reader"): both,
    }
    return " · ".join(f"{count:,} {name}" for name, count in counts.items() if count) or tr(
        "none found"
    )
