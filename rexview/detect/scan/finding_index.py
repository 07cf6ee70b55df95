"""Index the findings that the reports and newest answers of a review set mention, for search.

The detectors build it as they read the texts, so a search reads no text again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from rexview.detect.detector import AnswerInCase
from rexview.schema import Case
from rexview.text.findings import Mention, report_mentions
from rexview.text.findings.sentences import split_words

Presence = Literal["present", "absent", "other"]
_PRESENCE: Final[dict[str, Presence]] = {
    "positive": "present",
    "uncertain": "present",
    "negated": "absent",
    "hypothetical": "other",
    "prior": "other",
}
Places = npt.NDArray[np.int32]
RowT = TypeVar("RowT", int, Places)


class Phrase(NamedTuple):
    """One way to mention a finding: its id, the words used, the side and the presence.

    ``presence`` is ``present`` (or possible), ``absent``, or ``other``: only considered, or from an
    earlier study. ``words`` are in lower case.
    """

    finding: str
    words: str
    side: str | None
    presence: Presence


@dataclass(frozen=True, eq=False)
class FindingIndex:
    """The findings that each text mentions.

    Attributes
    ----------
    phrases : tuple of Phrase
        Every phrase that occurs, once.
    parts : tuple of (array of int32, array of int32)
        :attr:`texts` and :attr:`phrase_places` in pieces, which are joined on first use.
    """

    phrases: tuple[Phrase, ...]
    parts: tuple[tuple[Places, Places], ...]

    @cached_property
    def texts(self) -> Places:
        """For each distinct phrase in a text, the text: the number of an answer, or a report.

        :func:`report_text_number` gives the number of a report.
        """
        return _joined(texts for texts, _ in self.parts)

    @cached_property
    def phrase_places(self) -> Places:
        """The index in ``phrases`` of each phrase, parallel to :attr:`texts`."""
        return _joined(places for _, places in self.parts)

    @cached_property
    def text_of(self) -> Places:
        """Every text that mentions a finding, once, in order: reports below 0, then answers."""
        return np.unique(self.texts)

    @cached_property
    def text_places(self) -> Places:
        """The index in :attr:`text_of` of each entry of :attr:`texts`."""
        return np.searchsorted(self.text_of, self.texts).astype(np.int32)

    def texts_with(self, wanted: Callable[[Phrase], bool]) -> Places:
        """Return the texts with a wanted phrase, as in ``texts``; some more than once."""
        chosen = np.fromiter(map(wanted, self.phrases), np.bool_, len(self.phrases))
        return self.texts[chosen[self.phrase_places]]


def report_text_number(case_row: RowT) -> RowT:
    """Return the negative number that identifies the report of a case; answers are 0 and above."""
    return -1 - case_row


def find_report_phrases(case: Case) -> tuple[Phrase, ...]:
    """Return the phrases that a case's report mentions."""
    return _phrases(
        (getattr(case.report, section) or "", mention) for section, mention in report_mentions(case)
    )


def find_answer_phrases(one: AnswerInCase) -> tuple[Phrase, ...]:
    """Return the phrases that an answer mentions in its own words."""
    return _phrases((one.text, mention) for mention in one.mentions)


def _phrases(mentions: Iterable[tuple[str, Mention]]) -> tuple[Phrase, ...]:
    """Return the distinct phrases of some mentions, without those that the text retracts."""
    said = (
        Phrase(
            mention.finding,
            " ".join(split_words(text[mention.start : mention.end].lower())),
            mention.side,
            _PRESENCE[mention.status],
        )
        for text, mention in mentions
        if not mention.superseded
    )
    return tuple(dict.fromkeys(said))


def _joined(parts: Iterable[Places]) -> Places:
    return np.concatenate([np.zeros(0, dtype=np.int32), *parts])


class IndexBuilder:
    """Builds a :class:`FindingIndex` from parts that each number their own phrases."""

    def __init__(self) -> None:
        self._places: dict[Phrase, int] = {}
        self._parts: list[tuple[Places, Places]] = []

    def add(self, phrases: Sequence[Phrase], texts: Places, phrase_places: Places) -> None:
        """Add a part: indices into ``phrases``, parallel to the texts that have them."""
        if not len(texts):
            return
        places = [self._places.setdefault(one, len(self._places)) for one in phrases]
        parts = self._parts
        parts.append((texts, np.array(places, dtype=np.int32)[phrase_places]))
        while len(parts) > 1 and len(parts[-2][0]) <= 2 * len(parts[-1][0]):
            last = parts[-2:]
            texts, places_of = (_joined(one[n] for one in last) for n in (0, 1))
            parts[-2:] = [(texts, places_of)]

    def index(self) -> FindingIndex:
        """Return the index of the parts added so far."""
        return FindingIndex(tuple(self._places), tuple(self._parts))
