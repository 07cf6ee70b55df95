"""What a model wrote: its answer, what it thought before, and how it ended."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexview.models.endpoints.outcome import Said
from rexview.models.reply import Usage

THINKING: Final = (("<think>", "</think>"), ("<unused94>", "<unused95>"))
"""What opens and closes a model's thinking: of most models, and of MedGemma 27B."""
Decode = Callable[[Sequence[int], bool], str]
"""Turns tokens into text; the flag says whether special ones are left out."""


@dataclass(frozen=True)
class Written:
    """What came of one request; ``whole`` is all of it as text, with special tokens."""

    said: Said
    whole: str

    def as_json(self) -> dict[str, Any]:
        """Return it for the log."""
        return {"text": self.whole, "finish_reason": self.said.word}


def read_written(
    tokens: Sequence[int], ends: Collection[int], prompt_ending: str, asked: int, decode: Decode
) -> Written:
    """Read the tokens that a model wrote, up to the first one that ends an answer.

    Parameters
    ----------
    prompt_ending
        The end of what the model was given: some templates open the thinking themselves.
    asked
        How many tokens it was given.
    """
    stop = next((place for place, token in enumerate(tokens) if token in ends), None)
    own = list(tokens if stop is None else tokens[:stop])
    count = len(own) + (stop is not None)
    text, thought = _answer(own, prompt_ending, decode)
    said = Said(
        text=text,
        ended="limit" if stop is None else "done",
        word="length" if stop is None else "stop",
        usage=Usage(asked, count, thought),
        thought=bool(thought),
    )
    return Written(said, decode(list(tokens)[:count], False))


def _answer(tokens: list[int], prompt_ending: str, decode: Decode) -> tuple[str, int | None]:
    """Return the text after the thinking, and how many tokens that was; None if there is none."""
    whole = decode(tokens, False)
    for opens, closes in THINKING:
        if not (prompt_ending.rstrip().endswith(opens) or whole.lstrip().startswith(opens)):
            continue
        if closes not in whole:
            return "", len(tokens)  # it never came to an answer
        # the fewest tokens whose text closes it
        last = 1 + bisect_left(
            range(1, len(tokens) + 1), True, key=lambda n: closes in decode(tokens[:n], False)
        )
        after = decode(tokens[:last], False).partition(closes)[2]
        return (after + decode(tokens[last:], True)).lstrip(), last
    return decode(tokens, True), None
