"""Which findings the reports and newest answers of a review set mention, for searching.

Made while the detectors look at the texts, so that no text is read again for a search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings import Mention, report_mentions
from rexview.detect.findings.tokens import words_of
from rexview.schema import Case

Presence = Literal["present", "absent", "other"]
_PRESENCE: Final[dict[str, Presence]] = {
    "positive": "present",
    "uncertain": "present",
    "negated": "absent",
    "hypothetical": "other",
    "prior": "other",
}


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
    texts : tuple of (str, str or None)
        Case and model of each answer that mentions a finding; the report has no model.
    phrases : tuple of Phrase
        Every phrase that occurs, once.
    text_places, phrase_places : array of int32
        For each phrase that a text has, once: its places in ``texts`` and in ``phrases``.
    """

    texts: tuple[tuple[str, str | None], ...]
    phrases: tuple[Phrase, ...]
    text_places: npt.NDArray[np.int32]
    phrase_places: npt.NDArray[np.int32]

    def texts_with(self, wanted: Callable[[Phrase], bool]) -> npt.NDArray[np.bool_]:
        """Say for each text whether it has a phrase that is wanted."""
        chosen = np.fromiter(map(wanted, self.phrases), np.bool_, len(self.phrases))
        found = np.zeros(len(self.texts), dtype=np.bool_)
        found[self.text_places[chosen[self.phrase_places]]] = True
        return found


@dataclass(slots=True)
class IndexBuilder:
    """Gathers a :class:`FindingIndex` case by case."""

    _texts: list[tuple[str, str | None]] = field(default_factory=list)
    _phrases: dict[Phrase, int] = field(default_factory=dict)
    _text_places: list[int] = field(default_factory=list)
    _phrase_places: list[int] = field(default_factory=list)

    def add(self, case: Case, answers: Iterable[AnswerInCase]) -> None:
        """Take in a case's report and what the answers say in their own words."""
        report = (
            _phrase(getattr(case.report, section) or "", mention)
            for section, mention in report_mentions(case)
        )
        self._keep(case.id, None, report)
        for one in answers:
            phrases = (_phrase(one.text, mention) for mention in one.mentions)
            self._keep(case.id, one.answer.model, phrases)

    def _keep(self, case: str, model: str | None, phrases: Iterable[Phrase | None]) -> None:
        places = {self._phrases.setdefault(one, len(self._phrases)) for one in phrases if one}
        if places:
            self._text_places += [len(self._texts)] * len(places)
            self._phrase_places += places
            self._texts.append((case, model))

    def index(self) -> FindingIndex:
        """Return what was gathered."""
        return FindingIndex(
            tuple(self._texts),
            tuple(self._phrases),
            np.array(self._text_places, dtype=np.int32),
            np.array(self._phrase_places, dtype=np.int32),
        )


def _phrase(text: str, mention: Mention) -> Phrase | None:
    """Return what a mention says; None for one that the text takes back."""
    if mention.superseded:
        return None
    words = " ".join(words_of(text[mention.start : mention.end].lower()))
    return Phrase(mention.finding, words, mention.side, _PRESENCE[mention.status])
