"""What detectors need of an answer when its scores change: kept, so that no text is read again."""

from __future__ import annotations

from typing import Final

from rexview.detect.answer_length import count_words
from rexview.detect.core.detector import AnswerInCase
from rexview.detect.overconfident import definite_words

CAME: Final = 1
"""There is an answer: no token limit, error, refusal or empty output."""
ENGLISH: Final = 2
"""The rules can read its language."""
DRAWN: Final = 4
"""It has boxes or pictures."""
DEFINITE: Final = 8
"""Its wording leaves no doubt (:func:`rexview.detect.overconfident.definite_words`)."""
MOST_WORDS: Final = 2**32 - 1


def traits_of(one: AnswerInCase) -> tuple[int, int]:
    """Return the number of words of an answer, and its traits as bits."""
    traits = CAME if one.came else 0
    if one.language is None:
        traits |= ENGLISH
    if one.answer.boxes or one.answer.images:
        traits |= DRAWN
    if definite_words(one.text) is not None:
        traits |= DEFINITE
    return min(count_words(one.text), MOST_WORDS), traits
