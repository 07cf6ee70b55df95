"""Which findings the reports and newest answers of a review set speak of, for searching.

Made while the detectors look at the texts, so that no text is read again for a search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rexview.detect.core.records import CaseRecord
from rexview.detect.findings import Mention
from rexview.detect.findings.asserted import spoken, written
from rexview.detect.findings.tokens import words_of

Presence = Literal["present", "absent", "other"]
_PRESENCE: Final[dict[str, Presence]] = {
    "positive": "present",
    "uncertain": "present",
    "negated": "absent",
    "hypothetical": "other",
    "prior": "other",
}


class Phrase(NamedTuple):
    """One way of speaking of a finding: its id, the words used, the side, whether it is there.

    ``presence`` is ``present`` (or possible), ``absent``, or ``other``: only considered, or of an
    earlier study. ``words`` are in lower case.
    """

    finding: str
    words: str
    side: str | None
    presence: Presence


@dataclass(frozen=True, eq=False)
class FindingIndex:
    """What each text speaks of.

    Attributes
    ----------
    texts : tuple of (str, str or None)
        Case and model of each answer that names a finding; the report has no model.
    phrases : tuple of Phrase
        Every phrase that occurs, once.
    places, spoken : array of int32
        A place in ``texts`` and one in ``phrases`` for each phrase that a text has, once.
    """

    texts: tuple[tuple[str, str | None], ...]
    phrases: tuple[Phrase, ...]
    places: npt.NDArray[np.int32]
    spoken: npt.NDArray[np.int32]

    def texts_with(self, wanted: Callable[[Phrase], bool]) -> npt.NDArray[np.bool_]:
        """Say for each text whether it has a phrase that is wanted."""
        chosen = np.fromiter(map(wanted, self.phrases), np.bool_, len(self.phrases))
        found = np.zeros(len(self.texts), dtype=np.bool_)
        found[self.places[chosen[self.spoken]]] = True
        return found


@dataclass(slots=True)
class IndexBuilder:
    """Gathers a :class:`FindingIndex` case by case."""

    _texts: list[tuple[str, str | None]] = field(default_factory=list)
    _phrases: dict[Phrase, int] = field(default_factory=dict)
    _places: list[int] = field(default_factory=list)
    _spoken: list[int] = field(default_factory=list)

    def add(self, record: CaseRecord) -> None:
        """Take in a case's report and the answers' own words."""
        case, report = record.case, record.case.report
        texts = {part: getattr(report, part) or "" for part in ("findings", "impression")}
        said = {_phrase(texts[part], mention) for part, mention in written(case)}
        self._keep(case.id, None, said)
        for answer in record.answers:
            text = answer.text or ""
            own = spoken(case, answer)
            self._keep(case.id, answer.model, {_phrase(text, mention) for mention in own})

    def _keep(self, case: str, model: str | None, said: Iterable[Phrase | None]) -> None:
        codes = {self._phrases.setdefault(one, len(self._phrases)) for one in said if one}
        if codes:
            self._places += [len(self._texts)] * len(codes)
            self._spoken += codes
            self._texts.append((case, model))

    def index(self) -> FindingIndex:
        """Return what was gathered."""
        return FindingIndex(
            tuple(self._texts),
            tuple(self._phrases),
            np.array(self._places, dtype=np.int32),
            np.array(self._spoken, dtype=np.int32),
        )


def _phrase(text: str, mention: Mention) -> Phrase | None:
    """Return what a mention says; None for one that the text takes back."""
    if mention.superseded:
        return None
    words = " ".join(words_of(text[mention.start : mention.end].lower()))
    return Phrase(mention.finding, words, mention.side, _PRESENCE[mention.status])
