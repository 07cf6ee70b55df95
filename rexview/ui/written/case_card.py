"""What a language model found of failures in words, as HTML of the Case page.

Everything that people and models wrote is escaped here.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from typing import Final

from rexview.analysis.written.of_case import CaseWritten, WrittenOpinion
from rexview.ui.answers.html import Added
from rexview.ui.html.safe_text import Span
from rexview.words import tr

SAID: Final = {
    "yes": tr("found"),
    "no": tr("not found"),
    "unsure": tr("unsure"),
    "unread": tr("not readable"),
}
FOUND_BY: Final = tr("found by a language model, counted with no other failure")
_LONGEST: Final = 2_000


def added_by_written(every: Sequence[CaseWritten], models: Sequence[str]) -> dict[str, Added]:
    """Return what is added to the answers of a case: cards, and the quotes in the texts."""
    return {model: _added(every, model) for model in models}


def _added(every: Sequence[CaseWritten], model: str) -> Added:
    marks, cards = [], []
    for one in every:
        said = one.by_model.get(model)
        if said is not None and said.start is not None and said.end is not None:
            key = {"rx-evidence": _key(one, model)}
            marks.append(Span(said.start, said.end, "rx-evidence rx-judged", key))
        cards.append(_card(one, model, said))
    return Added(marks, below="".join(cards))


def _key(one: CaseWritten, model: str) -> str:
    text = f"{model}/{one.failure}/{one.version}/{one.judge}"
    return f"w{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _card(one: CaseWritten, model: str, said: WrittenOpinion | None) -> str:
    title, judge = html.escape(one.title), html.escape(one.judge)
    version = tr("version {version}").format(version=html.escape(one.version[:8]))
    words = f"{html.escape(FOUND_BY)} · {judge} · {version}"
    if said is None:
        body = f'<p class="rx-quiet">{tr("It was not asked about this answer.")}</p>'
        word, flag, show = tr("not asked"), "", ""
    else:
        word, located = SAID[said.said], said.start is not None
        flag = f' data-rx-flag="{_key(one, model)}"' if located else ""
        title_of = tr("Mark the quoted words until pressed again (Esc)")
        show = (
            ' <button type="button" class="rx-show" aria-pressed="false" '
            f'title="{title_of}">{tr("Show")}</button>'
            if located
            else ""
        )
        body = _quote(said) + (f"<p>{html.escape(_cut(said.reason))}</p>" if said.reason else "")
    mark = "yes" if said is not None and said.said == "yes" else "no"
    label = tr("In your own words: {title}").format(title=title)
    head = f'<p class="rx-judge-{mark}"><b>{title}: {word}</b>{show}</p>'
    return (
        f'<section class="rx-judge" aria-label="{label}">'
        f"<h4>{tr('In your own words')} <small>{words}</small></h4>"
        f"<ul><li{flag}>{head}{body}</li></ul></section>"
    )


def _quote(said: WrittenOpinion) -> str:
    if not said.quote:
        return ""
    lost = "" if said.quote_known else f" <small>{tr('These words are not in the answer.')}</small>"
    return f"<p>“{html.escape(_cut(said.quote))}”{lost}</p>"


def _cut(text: str) -> str:
    return f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
