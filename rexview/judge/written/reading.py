"""What a judge said of a written failure, or why that is no answer. Nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rexview.judge.reading import only_object, stands_in

Said = Literal["yes", "no", "unsure"]
SAID: Final[tuple[Said, ...]] = ("yes", "no", "unsure")
_LONGEST: Final = 10_000


@dataclass(frozen=True)
class Found:
    """Whether an answer has the failure, why, and what shows it, in the judge's words."""

    said: Said
    reason: str | None
    quote: str | None

    def quote_stands(self, answer: str) -> bool | None:
        """Whether the quote stands in the answer; None where nothing is quoted."""
        return stands_in(self.quote, answer) if self.quote else None


def read_found(text: str) -> Found | str:
    """Read the JSON object of a judge; in a sentence, what is wrong where it is not as asked."""
    value = only_object(text)
    if isinstance(value, str):
        return value
    given = value.get("has_it")
    word = given.strip().lower() if isinstance(given, str) else given
    said = next((one for one in SAID if one == word), None)
    if said is None:
        return f"has_it is {given!r:.60}, none of {', '.join(SAID)}."
    words: dict[str, str | None] = {}
    for part in ("reason", "quote"):
        words[part] = _text(value, part)
        if words[part] is None:
            return f"The {part} is no text of at most {_LONGEST:,} characters."
    if said == "no" and words["quote"]:  # what it quotes, it holds to be the failure
        return "It says no, and quotes the failure all the same."
    return Found(said, words["reason"] or None, words["quote"] or None)


def _text(value: Mapping[str, object], part: str) -> str | None:
    given = value.get(part)
    given = "" if given is None else given
    return given.strip() if isinstance(given, str) and len(given) <= _LONGEST else None
