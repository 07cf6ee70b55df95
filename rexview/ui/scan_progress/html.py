"""Which answers could not be judged, as HTML: each is a link to its case."""

from __future__ import annotations

import html
from typing import Final

from rexview.analysis import CaseFilter, Engine
from rexview.analysis.failures import not_judged_caption
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_CASE
from rexview.words import tr

_MOST_NAMED: Final = 5


def not_judged_html(engine: Engine, case_filter: CaseFilter) -> str:
    """Say how many answers a filter may leave could not be judged, and lead to the first ones.

    Empty when all could.
    """
    failed = engine.scanned(case_filter).failed
    if not failed:
        return ""
    links = [
        _case_link(case, f"{case} ({engine.facts.models[model]})")
        for case, model in engine.not_judged(case_filter, _MOST_NAMED)
    ]
    more = (
        tr(", and {failed:,} more").format(failed=failed - len(links))
        if failed > len(links)
        else ""
    )
    caption = html.escape(not_judged_caption(failed).removesuffix("."))
    return f'<p class="rx-unjudged">{caption}: {", ".join(links)}{more}.</p>'


def _case_link(case: str, label: str) -> str:
    address = html.escape(href(PAGE_CASE, link_keys.link_query(CaseFilter(), case=case)))
    return f'<a href="{address}" data-rx-page>{html.escape(label)}</a>'
