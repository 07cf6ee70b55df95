"""Conditions of the filter on judges' opinions, and on failures that people wrote in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rexview.analysis.query.filter.conditions import escape_id, split_condition, unescape_id
from rexview.errors import FilterError
from rexview.stats.judge_agreement import Judge
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, FAILURES, SCORE_MAX, SCORE_MIN
from rexview.words import mid_sentence, tr

_PRESENT: Final = {"yes": True, "no": False}
_SCORES: Final = {str(score): score for score in range(SCORE_MIN, SCORE_MAX + 1)}


def format_judge(judge: Judge) -> str:
    """Return the text for a judge in a link: ``PROMPT:JUDGE``."""
    return f"{escape_id(judge.prompt_id)}:{escape_id(judge.model)}"


@dataclass(frozen=True)
class JudgeCondition:
    """A condition on a judge's opinion of a failure or a dimension; ``said`` is empty for any."""

    about: str
    said: str
    judge: Judge

    def __str__(self) -> str:
        return f"{self.about}:{self.said}:{format_judge(self.judge)}"

    @classmethod
    def parse(cls, word: str) -> JudgeCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        about, said, prompt, judge = split_condition(word, 4, "failure:said:prompt:judge", filled=2)
        known = _PRESENT if about in FAILURES else _SCORES if about in DIMENSIONS else None
        if known is None or (said and said not in known):
            raise FilterError(tr("“{word}” is not a judge's opinion.").format(word=word[:40]))
        return cls(about, said, Judge(unescape_id(judge), unescape_id(prompt)))

    @property
    def column(self) -> str:
        """Column of the opinions with their subject."""
        return "failure" if self.about in FAILURES else "dimension"

    @property
    def value_column(self) -> str:
        """Column of the opinions with their value."""
        return "present" if self.about in FAILURES else "score"

    @property
    def wanted(self) -> bool | int | None:
        """The value that the opinion must have; None for any."""
        known = _PRESENT if self.about in FAILURES else _SCORES
        return known[self.said] if self.said else None

    def describe(self) -> str:
        """Return the text on screen: ``Judge gpt-5 (judge-1) sees: missed finding``."""
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
            "": tr("{who} judged: {failure}"),
        }[self.said]
        return says.format(who=who, failure=mid_sentence(FAILURES[self.about].name))


# Failures that people wrote in words: judges' results and people's marks.
#
# A judge's result: the text in a link is ``SAID:FAILURE:VERSION:JUDGE``, such as
# ``yes:invented-prior:3fa9c1d2e4b5:gpt-5``. SAID is ``yes``, ``no``, ``unsure``, ``unread`` for a
# reply that cannot be read, or empty for any readable reply. VERSION is the start of the digest of
# the failure's words. In JUDGE a colon is ``%3A``, a percent sign ``%25``.
#
# People's marks: the text is ``FAILURE``, or ``FAILURE:VERSION`` for marks of one version of the
# words.

_MAX_CONDITION_CHARACTERS: Final = 1_000
"""Most characters of such a value; longer ones are rejected."""
_FAILURE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_VERSION: Final = re.compile("[0-9a-f]{8,64}")
JUDGE_RESULT_TEXTS: Final = {
    "yes": tr("Language model {judge} finds: {failure} (version {version})"),
    "no": tr("Language model {judge} does not find: {failure} (version {version})"),
    "unsure": tr("Language model {judge} is unsure about: {failure} (version {version})"),
    "unread": tr(
        "Language model {judge} gave no readable opinion on: {failure} (version {version})"
    ),
    "": tr("Language model {judge} was asked about: {failure} (version {version})"),
}
"""Text on screen of each result of a judge."""


@dataclass(frozen=True)
class WrittenCondition:
    """A condition on a judge's result for one version of a failure in words."""

    said: str
    failure: str
    version: str
    judge: str

    def __str__(self) -> str:
        return f"{self.said}:{self.failure}:{self.version}:{escape_id(self.judge)}"

    @classmethod
    def parse(cls, word: str) -> WrittenCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        form = "said:failure:version:judge"
        said, failure, version, judge = split_condition(
            word, 4, form, filled=3, longest=_MAX_CONDITION_CHARACTERS
        )
        if (
            said not in JUDGE_RESULT_TEXTS
            or not _FAILURE.fullmatch(failure)
            or not _VERSION.fullmatch(version)
        ):
            raise FilterError(
                tr("“{word}” is not a judge's opinion on a written failure.").format(word=word[:40])
            )
        return cls(said, failure, version, unescape_id(judge))

    def describe(self) -> str:
        """Return the text, as ``Language model gpt-5 finds: invented-prior (version 3fa9c1d2)``."""
        return JUDGE_RESULT_TEXTS[self.said].format(
            judge=self.judge, failure=self.failure, version=self.version[:8]
        )


@dataclass(frozen=True)
class MarkedCondition:
    """A condition that people marked a failure in words; ``version`` is empty for any version."""

    failure: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.failure}:{self.version}" if self.version else self.failure

    @classmethod
    def parse(cls, word: str) -> MarkedCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        failure, colon, version = word.partition(":")
        if not _FAILURE.fullmatch(failure) or (colon and not _VERSION.fullmatch(version)):
            raise FilterError(
                tr("“{word}” is not a failure in words that people mark.").format(word=word[:40])
            )
        return cls(failure, version)

    def describe(self, titles: Mapping[str, str]) -> str:
        """Return the text on screen; ``titles`` has those of the failures by name."""
        title = titles.get(self.failure, self.failure)
        if not self.version:
            return tr("Marked by people: {failure}").format(failure=title)
        return tr("Marked by people: {failure} (one version of its words)").format(failure=title)
