"""What a model says of one answer, as HTML: its card, and the quoted words marked in the text.

What a model wrote is escaped here; names and heads come as HTML.
"""

from __future__ import annotations

import html
from typing import Final

from rexview.analysis.case.judge_opinions import Quoting
from rexview.ui.html.safe_text import Span
from rexview.words import tr

_LONGEST: Final = 2_000
"""Characters of a reason or a quote that are shown."""


def card_html(label: str, title: str, about: str, body: str) -> str:
    """Lay out a card; ``label`` is its name for those who do not see it."""
    return (
        f'<section class="rx-judge" aria-label="{label}">'
        f"<h4>{title} <small>{about}</small></h4>{body}</section>"
    )


def item_html(head: str, said: Quoting, *, seen: bool, key: str | None) -> str:
    """Lay out what is said of one failure: ``seen`` or not, with what is quoted, and why.

    By ``key`` its words are marked in the text (:func:`mark_of`); None where they are not.
    """
    flag = show = ""
    if key is not None:
        flag = f' data-rx-flag="{key}"'
        show = (
            ' <button type="button" class="rx-show" aria-pressed="false" title="'
            f'{tr("Mark the quoted words until pressed again (Esc)")}">{tr("Show")}</button>'
        )
    word = "yes" if seen else "no"
    said_of_it = f"{_quote_html(said)}{reason_html(said.reason)}"
    return f'<li{flag}><p class="rx-judge-{word}">{head}{show}</p>{said_of_it}</li>'


def mark_of(said: Quoting, key: str) -> list[Span]:
    """Return the mark of the quoted words in the answer's text; none where they are not in it."""
    if said.start is None or said.end is None:
        return []
    return [Span(said.start, said.end, "rx-evidence rx-judged", {"rx-evidence": key})]


def reason_html(reason: str) -> str:
    """Lay out a reason; nothing where none is given."""
    return f"<p>{html.escape(_cut(reason))}</p>" if reason else ""


def _quote_html(said: Quoting) -> str:
    if not said.quote:
        return ""
    lost = f" <small>{tr('These words are not in the answer.')}</small>" if said.is_lost else ""
    return f"<p>“{html.escape(_cut(said.quote))}”{lost}</p>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
