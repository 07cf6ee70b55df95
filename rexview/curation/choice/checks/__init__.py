"""Define multiple choice questions with their sources, and the results of their checks."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.schema import Report
from rexview.text.choices.answer_cues import asks_for_absence

# A multiple choice question with its sources, and the result of one check.

RULES: Final = "choice-rules-1"
"""Author of rows written by rules; the number changes with a rule."""
_KEPT: Final = re.compile(r"(?:[\w<>≤≥±+%/.]|(?<=\d)[-–](?=\d))+")
_ARTICLES: Final = frozenset(("a", "an", "the"))


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question with its options; ``correct`` counts from 0, None if no right option is given.

    ``case`` and ``candidate`` identify it, ``report`` is its source, and ``has_prior`` is True if
    the study has an earlier one to compare with.
    """

    case: str
    candidate: str
    question: str
    options: tuple[str, ...]
    correct: int | None
    explanation: str = ""
    statement: str = ""
    category: str | None = None
    difficulty: str | None = None
    report: Report = field(default_factory=Report)
    has_prior: bool = False

    @property
    def right(self) -> str | None:
        """The words of the right option, None if there is no such option."""
        if self.correct is None or not 0 <= self.correct < len(self.options):
            return None
        return self.options[self.correct]

    @property
    def wrong(self) -> tuple[str, ...]:
        """The other options."""
        return tuple(one for at, one in enumerate(self.options) if at != self.correct)

    @property
    def asks_for_absence(self) -> bool:
        """True if the right option is what is *not* there."""
        return asks_for_absence(self.question)


@dataclass(frozen=True)
class Check:
    """The result of one check of a question.

    ``passed`` is None if it is unknown. ``defect`` is a word of :data:`.vocab.QUESTION_DEFECTS`.
    ``reason`` is a sentence for a person.
    """

    check: str
    passed: bool | None
    defect: str | None = None
    reason: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def comparable_words(text: str) -> list[str]:
    """Return the words of a text for comparison with another text, without articles.

    Signs that change a value are kept: ``<5 mm`` and ``>5 mm`` differ, and so do 1.5 and 15.

    >>> comparable_words("The Right-sided effusion.")
    ['right', 'sided', 'effusion']
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    found = (word.strip(".") for word in _KEPT.findall(plain))
    return [word for word in found if word and word not in _ARTICLES]


def contains_words(words: list[str], part: list[str]) -> bool:
    """True if some words occur among others, consecutively and in their order."""
    return bool(part) and any(
        words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1)
    )
