"""What the panel of comments sends, checked: a browser is not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from uuid import UUID

MOST: Final = 50
"""Messages taken at once; the panel sends the others again."""
_KINDS: Final = ("write", "resolve", "remove", "name")


@dataclass(frozen=True)
class Spot:
    """What a new comment is on: the case (no ``key``), or an answer, a box or words of it.

    ``key`` is the answer's name on this page, ``shown`` what it stood for there. ``box`` is the
    place among the answer's boxes, from 0. ``quote`` has the words, ``before`` how many words stand
    before them on screen.
    """

    key: str | None = None
    box: int | None = None
    quote: str | None = None
    before: int = 0
    shown: str | None = None


@dataclass(frozen=True)
class Message:
    """One thing that somebody did in the panel.

    ``comment`` is the id of the comment that is written, changed, settled or removed.
    """

    token: str
    kind: Literal["write", "resolve", "remove", "name"]
    case: str
    comment: str
    text: str = ""
    spot: Spot = Spot()
    reply_to: str | None = None
    resolved: bool = False


def read_messages(raw: Any) -> list[Message]:
    """Read what the panel sent; what is no message is left out."""
    given = raw.get("messages") if isinstance(raw, Mapping) else None
    if not isinstance(given, list):
        return []
    return [message for one in given[:MOST] if (message := _message(one))]


def _message(raw: Any) -> Message | None:
    if not isinstance(raw, Mapping) or raw.get("kind") not in _KINDS:
        return None
    try:
        token, comment = (str(UUID(str(raw.get(name)))) for name in ("token", "comment"))
    except ValueError:
        return None
    return Message(
        token=token,
        kind=cast("Literal['write', 'resolve', 'remove', 'name']", raw["kind"]),
        case=_text(raw.get("case")) or "",
        comment=comment,
        text=_text(raw.get("text")) or "",
        spot=_spot(raw.get("spot")),
        reply_to=_text(raw.get("replyTo")),
        resolved=raw.get("resolved") is True,
    )


def _spot(raw: Any) -> Spot:
    if not isinstance(raw, Mapping):
        return Spot()
    box, before = _whole(raw.get("box")), _whole(raw.get("before"))
    key, quote, shown = (_text(raw.get(name)) for name in ("key", "quote", "shown"))
    return Spot(key, box, quote, before or 0, shown)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000
    return value if usable else None
