"""What the filter asks of meetings' decisions on a case or its answers.

A word of the link is ``open`` (something is left to do), ``decision:WORD`` (a key of
:data:`rexview.vocab.MEETING_DECISIONS` or a meeting's own words), ``failure:WORD`` (agreed on: a
key of :data:`rexview.vocab.FAILURES`, ``none``, or one in a clinician's words by its name) or
``meeting:ID`` (decided about in this meeting).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rexview.analysis.meeting.decisions import Decision, decision_words, failure_words
from rexview.errors import FilterError
from rexview.words import tr

OPEN: Final = "open"
"""Something is left to do."""
_OF_VALUE: Final = ("decision", "failure", "meeting")


@dataclass(frozen=True)
class DecisionCondition:
    """A decision that is open, of a kind, on a failure, or of a meeting; open has no ``value``."""

    about: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.about}:{self.value}" if self.value else self.about

    @classmethod
    def parse(cls, word: str) -> DecisionCondition:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        about, _, value = word.partition(":")
        if word != OPEN and not (about in _OF_VALUE and value):
            raise FilterError(
                tr("“{word}” is nothing that a meeting decides.").format(word=word[:40])
            )
        return cls(about, value)

    def describe(self, meetings: Mapping[str, str]) -> str:
        """Say it in words; ``meetings`` has their names by id."""
        if self.about == OPEN:
            return tr("Open decision")
        if self.about == "decision":
            return tr("Decision: {decision_words}").format(
                decision_words=decision_words(self.value)
            )
        if self.about == "failure":
            return tr("Agreed on: {failure}").format(failure=failure_words(self.value))
        return tr("Decided in “{get}”").format(get=meetings.get(self.value, self.value))


def words_met(decision: Decision) -> tuple[str, ...]:
    """Return the words of the filter that a decision fits."""
    found = [DecisionCondition("meeting", decision.meeting)]
    if decision.failure:
        found.insert(0, DecisionCondition("failure", decision.failure))
    if decision.decision:
        found.insert(0, DecisionCondition("decision", decision.decision))
    if decision.is_open:
        found.insert(0, DecisionCondition(OPEN))
    return tuple(map(str, found))
