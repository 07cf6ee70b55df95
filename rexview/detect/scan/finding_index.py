"""Which findings the reports and newest answers of a review set mention, for searching.

Made while the detectors look at the texts, so that no text is read again for a search.
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
from rexview.text.findings.sentences import words_of

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
    """One way of mentioning a finding: its id, the words used, the side, whether it is there.

    ``presence`` is ``present`` (or possible), ``absent``, or ``other``: only considered, or of an
    earlier study. ``words`` are in lower case.
    """

    finding: str
    words: str
    side: str | None
    presence: Presence


@dataclass(frozen=True, eq=False)
class FindingIndex:
    """What each text mentions.

    Attributes
    ----------
    phrases : tuple of Phrase
        Every phrase that occurs, once.
    parts : tuple of (array of int32, array of int32)
        :attr:`texts` and :attr:`phrase_places` in pieces, joined when they are asked for.
    """

    phrases: tuple[Phrase, ...]
    parts: tuple[tuple[Places, Places], ...]

    @cached_property
    def texts(self) -> Places:
        """For each phrase that a text has, once, the text: the number of an answer, or a report.

        What stands for a report says :func:`text_of_report`.
        """
        return _joined(texts for texts, _ in self.parts)

    @cached_property
    def phrase_places(self) -> Places:
        """The place in ``phrases`` of each phrase beside :attr:`texts`."""
        return _joined(places for _, places in self.parts)

    @cached_property
    def text_of(self) -> Places:
        """Every text that mentions a finding, once, in order: reports below 0, then answers."""
        return np.unique(self.texts)

    @cached_property
    def text_places(self) -> Places:
        """The places in :attr:`text_of` of :attr:`texts`."""
        return np.searchsorted(self.text_of, self.texts).astype(np.int32)

    def texts_with(self, wanted: Callable[[Phrase], bool]) -> Places:
        """Return the texts that have a phrase that is wanted, as in ``texts``; some repeatedly."""
        chosen = np.fromiter(map(wanted, self.phrases), np.bool_, len(self.phrases))
        return self.texts[chosen[self.phrase_places]]


def text_of_report(case_row: RowT) -> RowT:
    """Return what stands for the report of a case where a number above -1 stands for an answer."""
    return -1 - case_row


def phrases_of_report(case: Case) -> tuple[Phrase, ...]:
    """Return what a case's report mentions."""
    return _phrases(
        (getattr(case.report, section) or "", mention) for section, mention in report_mentions(case)
    )


def phrases_of_answer(one: AnswerInCase) -> tuple[Phrase, ...]:
    """Return what an answer mentions in its own words."""
    return _phrases((one.text, mention) for mention in one.mentions)


def _phrases(mentions: Iterable[tuple[str, Mention]]) -> tuple[Phrase, ...]:
    """Return what some mentions say, each once; what the text takes back is left out."""
    said = (
        Phrase(
            mention.finding,
            " ".join(words_of(text[mention.start : mention.end].lower())),
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
    """Gathers a :class:`FindingIndex` from parts whose phrases have places of their own."""

    def __init__(self) -> None:
        self._places: dict[Phrase, int] = {}
        self._parts: list[tuple[Places, Places]] = []

    def add(self, phrases: Sequence[Phrase], texts: Places, phrase_places: Places) -> None:
        """Take in a part: places in ``phrases``, beside the texts that have them."""
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
        """Return what was gathered so far."""
        return FindingIndex(tuple(self._places), tuple(self._parts))
