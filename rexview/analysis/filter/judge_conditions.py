"""What the filter asks of judges, models that give a second opinion.

A word of the link is ``ABOUT:SAID:PROMPT:JUDGE``, such as ``omission:yes:judge-1:gpt-5``. ABOUT is
a failure, SAID then ``yes`` or ``no`` (whether the judge sees it); or a dimension, SAID then the
score. An empty SAID asks only that the judge spoke of it. In PROMPT and JUDGE a colon is ``%3A``,
a percent sign ``%25``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.analysis.filter.conditions import escaped, parts_of, unescaped
from rexview.errors import FilterError
from rexview.stats.judges.opinions import Judge
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, FAILURES, SCORE_MAX, SCORE_MIN
from rexview.words import inside, tr

_PRESENT: Final = {"yes": True, "no": False}
_SCORES: Final = {str(score): score for score in range(SCORE_MIN, SCORE_MAX + 1)}


def judge_word(judge: Judge) -> str:
    """Name a judge in a link: ``PROMPT:JUDGE``."""
    return f"{escaped(judge.prompt_id)}:{escaped(judge.model)}"


@dataclass(frozen=True)
class JudgeCondition:
    """An opinion of a judge on a failure or a dimension; ``said`` is empty for any."""

    about: str
    said: str
    judge: Judge

    def __str__(self) -> str:
        return f"{self.about}:{self.said}:{judge_word(self.judge)}"

    @classmethod
    def parse(cls, word: str) -> JudgeCondition:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        about, said, prompt, judge = parts_of(word, 4, "failure:said:prompt:judge", filled=2)
        known = _PRESENT if about in FAILURES else _SCORES if about in DIMENSIONS else None
        if known is None or (said and said not in known):
            raise FilterError(tr("“{word}” is nothing that a judge says.").format(word=word[:40]))
        return cls(about, said, Judge(unescaped(judge), unescaped(prompt)))

    @property
    def column(self) -> str:
        """The column of opinions that says what they are about."""
        return "failure" if self.about in FAILURES else "dimension"

    @property
    def value_column(self) -> str:
        """The column of opinions that says what they come to."""
        return "present" if self.about in FAILURES else "score"

    @property
    def wanted(self) -> bool | int | None:
        """The value that is asked for; None for any."""
        known = _PRESENT if self.about in FAILURES else _SCORES
        return known[self.said] if self.said else None

    def describe(self) -> str:
        """Say it in words: ``Judge gpt-5 (judge-1) sees: missed finding``."""
        who = tr("Judge {name}").format(name=self.judge.name)
        if self.about not in FAILURES:
            name = DIMENSION_NAMES[self.about]
            return (
                f"{who}: {name} {self.said}"
                if self.said
                else tr("{who} scored {name}").format(who=who, name=name)
            )
        says = {
            "yes": tr("{who} sees: {failure}"),
            "no": tr("{who} does not see: {failure}"),
            "": tr("{who} spoke of: {failure}"),
        }[self.said]
        return says.format(who=who, failure=inside(FAILURES[self.about].name))
