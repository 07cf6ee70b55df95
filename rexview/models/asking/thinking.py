"""Where a model's thinking ends and its answer begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NAMES: Final = "think|thinking|thought|reasoning|analysis|scratchpad"
OPENS: Final = re.compile(rf"<(?:{_NAMES})>|◁think▷|\[THINK\]|<unused94>", re.IGNORECASE)
CLOSES: Final = re.compile(rf"</(?:{_NAMES})>|◁/think▷|\[/THINK\]|<unused95>", re.IGNORECASE)


def possible_answers(text: str) -> Iterator[str]:
    """Yield what may be the answer of a reply: all of it, then what follows each end of thinking.

    An end of thinking may also be quoted from a text that the model was given, in its thinking or
    in its answer. Whoever reads takes the first part that is an answer, with no end of thinking
    after it.

    >>> list(possible_answers("<think>Yes.</think>No.")), list(possible_answers("No."))
    (['No.'], ['No.'])
    """
    if OPENS.match(text.lstrip()) is None:
        yield text
    for found in CLOSES.finditer(text):
        yield text[found.end() :]
