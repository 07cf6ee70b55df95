"""What a place in a text says is the answer; a stretch that is nothing but an option."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rexview.choices.markup import folded
from rexview.choices.options import Options

_LONGEST_OPTION: Final = 2_000
WEAK, STATED, FIRM = range(3)
"""How strongly a claim is made; weaker ones count only where there is no stronger."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a place in the text says is the answer; ``option`` None: none or several of them."""

    option: int | None
    method: str
    start: int
    end: int
    strength: int = STATED
    final: bool = False


def whole(text: str, start: int, end: int, options: Options) -> Claim | None:
    """Read a stretch that is nothing but a letter, an option's words, or both."""
    while start < end and not text[start].isalnum() and text[start] not in "([":
        start += 1
    part = text[start:end].rstrip()
    if len(part) > _LONGEST_OPTION or part.endswith("?"):
        return None
    words = folded(part)
    if words and words in options.folded:
        alike = [n for n, one in enumerate(options.folded) if one == words]
        return Claim(alike[0] if len(alike) == 1 else None, "option", start, start + len(part))
    match = options.token.match(part)
    if match:
        rest = folded(part[match.end() :])
        option = options.labelled(match["label"])
        if re.fullmatch(r"[\s.,:;!)\]]*", part[match.end() :]):
            return Claim(option, "letter", start, start + len(part))
        article = re.match(r"A\s+\w", part) and options.folded.count(rest) == 1
        if article:
            return Claim(options.folded.index(rest), "option", start, start + len(part))
        if rest in options.folded:
            same = option is not None and options.folded[option] == rest
            return Claim(option if same else None, "letter", start, start + len(part))
    behind = re.fullmatch(r"(.*?)\W*[(\[]\s*(?:option\s+)?(\w{1,2})\s*[)\]]\W*", part, re.I | re.S)
    if behind and folded(behind[1]) in options.folded:
        option = options.labelled(behind[2])
        same = option is not None and options.folded[option] == folded(behind[1])
        return Claim(option if same else None, "letter", start, start + len(part))
    return None
