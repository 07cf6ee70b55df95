"""Two texts as one, as HTML: what only one of them has is marked."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from rexview.analysis.case.report_comparison import Piece
from rexview.words import tr


def changes_html(pieces: Iterable[Piece]) -> str:
    """Show what only a first text has struck through, what only a second has underlined."""
    tags = {"both": "span", "first": "del", "second": "ins"}
    return "".join(
        f"<{tags[piece.where]}>{html.escape(piece.text)}</{tags[piece.where]}>" for piece in pieces
    )


def differences_html(pieces: Sequence[Piece], first: str, second: str, *, whole: bool) -> str:
    """Show two texts as one, what only the first has struck through, the second's underlined."""
    body = changes_html(pieces)
    only = tr("Only the beginning of the texts is compared.")
    note = "" if whole else f'<p class="rx-quiet">{only}</p>'
    in_first = tr("only in {text}").format(text=html.escape(first))
    in_second = tr("only in {text}").format(text=html.escape(second))
    return (
        f'<div class="rx-diff"><p class="rx-quiet"><del>{in_first}</del> <ins>{in_second}</ins></p>'
        f'<div class="rx-plain">{body}</div>{note}</div>'
    )
