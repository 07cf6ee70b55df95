"""An option named by its label, or by its place in the list."""

from __future__ import annotations

from dataclasses import dataclass

from rexview.choices import cues
from rexview.choices.options import Options


@dataclass(frozen=True, slots=True)
class Name:
    """A label or a place from ``start`` to ``end`` of a text, with brackets to ``behind``.

    ``option`` is None where there is none of that name; ``bare``: without bracket, dot or colon;
    ``lower``: bare and in lower case, which is seldom meant as a label.
    """

    option: int | None
    start: int
    end: int
    behind: int
    bare: bool
    lower: bool


def name_at(text: str, at: int, options: Options) -> Name | None:
    """Return the label, or the place in the list, that stands at a place of the text."""
    match = options.token.match(text, at)
    if match:
        bare = not match["close"] and not text.startswith((".", ":"), match.end())
        lower = bare and match["label"].islower()
        option = options.labelled(match["label"])
        return Name(option, *match.span("label"), match.end(), bare, lower)
    match = cues.IN_PLACE.match(text, at)
    if not match:
        return None
    word = (match["place"] or match["count"]).casefold()
    if any(word in words.split() for words in options.folded):
        return None
    number = next((n for n, one in enumerate(cues.PLACES, 1) if word in one.split()), 0)
    if word == "last":
        number = len(options.folded)
    elif word.isdecimal():
        number = int(word)
    return Name(options.counted(number), *match.span(), match.end(), False, False)
