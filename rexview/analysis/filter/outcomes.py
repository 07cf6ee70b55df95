"""The condition of the filter about choice questions: what became of them.

A word of the link is ``KIND:MODEL`` (``right:generalist``) or one of :data:`OF_CASES` alone. The
model stands last, because an id is free text and may hold colons.

Values that exclude each other (:attr:`Outcome.group`) widen the condition, all others narrow it:
``right:a``, ``wrong:b`` and ``failed:b`` are the questions that a has right and b has not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rexview.errors import FilterError
from rexview.words import tr

OF_MODELS: Final[dict[str, str]] = {
    "right": tr("{}: right"),
    "wrong": tr("{}: wrong"),
    "failed": tr("{}: no usable choice"),
    "only_wrong": tr("Only {} wrong"),
}
"""What became of one model's answer, with the model's name on screen.

``failed`` are answers to marked questions of which no option could be read, or that never came.
``only_wrong``: wrong or failed, while all other models are right, one at least.
"""
OF_CASES: Final[dict[str, str]] = {
    "all_wrong": tr("All models wrong"),
    "against_readers": tr("Models against readers"),
    "wrong_side": tr("Option on the wrong side chosen"),
    "read": tr("Answered by a reader"),
    "answered": tr("Answered by anybody"),
}
"""What all answers to a question come to.

``all_wrong``: every model that chose an option chose a wrong one, two at least.
``against_readers``: the option that most models chose is another than most readers chose.
``wrong_side``: a detector found that an option with the wrong side was chosen.
``read``: a reader answered, as a model of that kind or in the app; ``answered``: anybody did.
"""
OUTCOMES_OF_FLAGS: Final = ("wrong_side",)
"""Those that rest on what detectors found."""
_TOGETHER: Final = ("all_wrong", "only_wrong")
"""A question is one or the other, and of one model only."""
_LONGEST: Final = 1_000
"""Characters of such a word; longer ones are not understood."""


@dataclass(frozen=True)
class Outcome:
    """What became of a question; ``model`` is an id, empty for the kinds :data:`OF_CASES`."""

    kind: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.model}" if self.model else self.kind

    @classmethod
    def parse(cls, word: str) -> Outcome:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        kind, _, model = word.partition(":")
        known = bool(model) and kind in OF_MODELS if ":" in word else kind in OF_CASES
        if not known or len(word) > _LONGEST:
            raise FilterError(
                tr("“{word}” is not what became of a choice question.").format(word=word[:40])
            )
        return cls(kind, model)

    @property
    def group(self) -> tuple[str, str]:
        """What it is a value of: outcomes of one group exclude each other."""
        if self.kind in _TOGETHER:
            return "who", ""
        return ("answer", self.model) if self.model else (self.kind, "")

    def describe(self, model: str) -> str:
        """Say it in words, with the model's name: ``Generalist: right``."""
        return OF_MODELS[self.kind].format(model) if self.model else OF_CASES[self.kind]


def by_group(words: Iterable[str]) -> dict[tuple[str, str], list[Outcome]]:
    """Return the outcomes of each group, in the order given."""
    found: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in map(Outcome.parse, words):
        found.setdefault(outcome.group, []).append(outcome)
    return found


def with_outcomes(current: Iterable[str], wanted: Iterable[str]) -> tuple[str, ...] | None:
    """Add outcomes to those that limit; of a group that limits already the common ones are kept.

    None when they exclude each other.
    """
    groups = by_group(current)
    for group, outcomes in by_group(wanted).items():
        groups[group] = [one for one in outcomes if one in groups.get(group, outcomes)]
        if not groups[group]:
            return None
    return tuple(str(outcome) for outcomes in groups.values() for outcome in outcomes)
