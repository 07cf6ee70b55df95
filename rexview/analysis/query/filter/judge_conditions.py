"""What the filter asks of judges: their opinions, and failures that people wrote in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rexview.analysis.query.filter.conditions import escaped, parts_of, unescaped
from rexview.errors import FilterError
from rexview.stats.judges import Judge
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


# What the filter asks of failures that people wrote in words: what judges and people say.
#
# What a judge found: a word of the link is ``SAID:FAILURE:VERSION:JUDGE``, such as
# ``yes:invented-prior:3fa9c1d2e4b5:gpt-5``. SAID is ``yes``, ``no``, ``unsure``, ``unread`` for a
# reply that cannot be read, or empty: it was asked about and told. VERSION is the beginning of
# the words' digest. In JUDGE a colon is ``%3A``, a percent sign ``%25``.
#
# What people marked: a word is ``FAILURE``, or ``FAILURE:VERSION`` for marks in one version of
# the words.

_LONGEST: Final = 1_000
"""Characters of such a word; longer ones are not understood."""
_FAILURE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_VERSION: Final = re.compile("[0-9a-f]{8,64}")
SAYS: Final = {
    "yes": tr("Language model {judge} finds: {failure} (version {version})"),
    "no": tr("Language model {judge} does not find: {failure} (version {version})"),
    "unsure": tr("Language model {judge} is unsure about: {failure} (version {version})"),
    "unread": tr(
        "Language model {judge} said nothing readable about: {failure} (version {version})"
    ),
    "": tr("Language model {judge} was asked about: {failure} (version {version})"),
}
"""What a judge says, in words."""


@dataclass(frozen=True)
class WrittenCondition:
    """What a judge said of a failure in one version of its words."""

    said: str
    failure: str
    version: str
    judge: str

    def __str__(self) -> str:
        return f"{self.said}:{self.failure}:{self.version}:{escaped(self.judge)}"

    @classmethod
    def parse(cls, word: str) -> WrittenCondition:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        form = "said:failure:version:judge"
        said, failure, version, judge = parts_of(word, 4, form, filled=3, longest=_LONGEST)
        if said not in SAYS or not _FAILURE.fullmatch(failure) or not _VERSION.fullmatch(version):
            raise FilterError(
                tr("“{word}” is nothing that a judge says of a written failure.").format(
                    word=word[:40]
                )
            )
        return cls(said, failure, version, unescaped(judge))

    def describe(self) -> str:
        """Say it in words: ``Language model gpt-5 finds: invented-prior (version 3fa9c1d2)``."""
        return SAYS[self.said].format(
            judge=self.judge, failure=self.failure, version=self.version[:8]
        )


@dataclass(frozen=True)
class MarkedCondition:
    """People say that an answer has a failure; ``version`` is empty for any words of it."""

    failure: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.failure}:{self.version}" if self.version else self.failure

    @classmethod
    def parse(cls, word: str) -> MarkedCondition:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        failure, colon, version = word.partition(":")
        if not _FAILURE.fullmatch(failure) or (colon and not _VERSION.fullmatch(version)):
            raise FilterError(
                tr("“{word}” is no failure in words that people mark.").format(word=word[:40])
            )
        return cls(failure, version)

    def describe(self, titles: Mapping[str, str]) -> str:
        """Say it in words; ``titles`` are those of the failures by name."""
        title = titles.get(self.failure, self.failure)
        if not self.version:
            return tr("Marked by people: {failure}").format(failure=title)
        return tr("Marked by people: {failure} (one version of its words)").format(failure=title)
