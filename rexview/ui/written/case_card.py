"""What a language model found of failures in words, as HTML of the Case page.

Everything that people and models wrote is escaped here.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from typing import Final

from rexview.analysis.case.judge_opinions import CaseWritten, WrittenOpinion
from rexview.ui.answers.html import Added
from rexview.ui.judge.said import card_html, item_html, mark_of
from rexview.words import tr

SAID: Final = {
    "yes": tr("found"),
    "no": tr("not found"),
    "unsure": tr("unsure"),
    "unread": tr("not readable"),
}
FOUND_BY: Final = tr("found by a language model, counted with no other failure")


def added_by_written(every: Sequence[CaseWritten], models: Sequence[str]) -> dict[str, Added]:
    """Return what is added to the answers of a case: cards, and the quotes in the texts."""
    return {model: _added(every, model) for model in models}


def _added(every: Sequence[CaseWritten], model: str) -> Added:
    marks, cards = [], []
    for one in every:
        said = one.by_model.get(model)
        if said is not None:
            marks += mark_of(said, _key(one, model))
        cards.append(_card(one, model, said))
    return Added(marks, below="".join(cards))


def _key(one: CaseWritten, model: str) -> str:
    text = f"{model}/{one.failure}/{one.version}/{one.judge}"
    return f"w{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _card(one: CaseWritten, model: str, said: WrittenOpinion | None) -> str:
    title, judge = html.escape(one.title), html.escape(one.judge)
    words = f"{html.escape(FOUND_BY)} · {judge}"
    if said is None:
        asked = tr("It was not asked about this answer.")
        item = f'<p class="rx-judge-no"><b>{title}: {tr("not asked")}</b></p>'
        item = f'<li>{item}<p class="rx-quiet">{asked}</p></li>'
    else:
        key = _key(one, model) if said.is_located else None
        head = f"<b>{title}: {SAID[said.said]}</b>"
        item = item_html(head, said, seen=said.said == "yes", key=key)
    label = tr("In your own words: {title}").format(title=title)
    return card_html(label, tr("In your own words"), words, f"<ul>{item}</ul>")
