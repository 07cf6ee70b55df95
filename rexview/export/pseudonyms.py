"""Replace cases, studies, patients and sites by pseudonyms, and word the notes on privacy.

Pseudonyms are the same throughout one export and reveal nothing. Ids inside texts are replaced as
well, as whole words in any letter case. A short id ("12") could be anything in a text, so it is
replaced only after a word such as "patient" or "case".
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, Literal, TypeVar

IdKind = Literal["case", "study", "patient", "site"]
ID_KINDS: Final[tuple[IdKind, ...]] = ("case", "study", "patient", "site")
_T = TypeVar("_T")
_WORD: Final = re.compile(r"[^\W_]+")
_BEFORE_SHORT: Final = re.compile(
    r"(?:case|patient|study|subject|site|hospital|centre|center|mrn|pid|id|no|number|accession)"
    r"[\s.:#№=()\[\]\"'_-]{1,3}$",
    re.IGNORECASE,
)
_FIXED_FIELDS: Final = frozenset(
    (
        *("question_type", "view", "status", "finish_reason", "colour", "final"),
        *("dimension", "source", "verdict", "side"),
    )
)
"""Fields with a fixed vocabulary: they contain no id, even if a patient has such a name."""
_NO_ID: Final = frozenset(("unknown", "anonymous", "anonymized", "anonymised", "missing", "other"))
"""Words for an unknown id: in a text they are ordinary words."""
_LOOK_BACK: Final = 16
_MIN_UNAMBIGUOUS: Final = 5
"""Letters and digits from which an id is replaced everywhere; with a digit, one fewer."""

NAMES_STAY_NOTE: Final = (
    "Names of people, dates and places that somebody wrote into a text were not looked for."
)
SHORT_IDS_STAY_NOTE: Final = (
    "Some ids are short: in texts they were replaced only behind a word such as patient or case."
)


@dataclass(frozen=True)
class SearchedId:
    """An id to search for: ``lead`` characters come before its first word."""

    text: str
    lead: int
    stands_for: str
    is_short: bool


class Pseudonyms:
    """The pseudonyms of all ids in one export.

    Parameters
    ----------
    ids : mapping
        All ids of the set by kind, exported ones first, in the order of numbering.
    """

    def __init__(self, ids: Mapping[IdKind, Iterable[str]]) -> None:
        given = {kind: tuple(dict.fromkeys(ids.get(kind, ()))) for kind in ID_KINDS}
        self._of: dict[IdKind, dict[str, str]] = {}
        self._used: set[str] = set()
        self._places: dict[str, list[SearchedId]] = {}
        taken = {text.casefold() for every in given.values() for text in every}
        for kind, every in given.items():
            stem: str = kind
            while any(text.startswith(f"{stem}-") for text in taken):
                stem = f"x{stem}"  # else a pseudonym could equal another's real id
            digits = max(3, len(str(len(every))))
            named = {text: f"{stem}-{place:0{digits}}" for place, text in enumerate(every, 1)}
            self._of[kind] = named
            for text, pseudonym in named.items():
                self._look_for(text, pseudonym)
        for places in self._places.values():
            places.sort(key=lambda place: -len(place.text))

    def _look_for(self, text: str, pseudonym: str) -> None:
        first = _WORD.search(text)
        if first is None or text.casefold() in _NO_ID:
            return
        letters = sum(character.isalnum() for character in text)
        has_digit = any(character.isdigit() for character in text)
        is_short = letters < _MIN_UNAMBIGUOUS - has_digit
        low = _folded(text)
        place = SearchedId(low, first.start(), pseudonym, is_short)
        self._places.setdefault(low[first.start() : first.end()], []).append(place)

    def of(self, kind: IdKind, real: str) -> str:
        """Return the pseudonym of an id.

        Raises
        ------
        KeyError
            The id was not given at the start.
        """
        pseudonym = self._of[kind][real]
        self._used.add(pseudonym)
        return pseudonym

    def text(self, text: str) -> str:
        """Return a text with all ids replaced."""
        low = _folded(text)
        parts, done = [], 0
        for word in _WORD.finditer(low):
            if word.start() < done:
                continue
            for place in self._places.get(word[0], ()):
                start = word.start() - place.lead
                end = start + len(place.text)
                if (
                    start < done
                    or low[start:end] != place.text
                    or _is_part_of_word(low, start, end)
                ):
                    continue
                if place.is_short and not _BEFORE_SHORT.search(
                    low[max(start - _LOOK_BACK, 0) : start]
                ):
                    continue
                parts += [text[done:start], place.stands_for]
                self._used.add(place.stands_for)
                done = end
                break
        return "".join([*parts, text[done:]])

    @property
    def has_short(self) -> bool:
        """Whether some ids are too short to be replaced everywhere in texts."""
        return any(place.is_short for places in self._places.values() for place in places)

    def everywhere(self, value: _T) -> _T:
        """Return a record with all ids in its texts replaced, at any depth."""
        changed: _T = _map_texts(value, self.text)
        return changed

    def key_file(self) -> str:
        """Return the key of the pseudonyms used so far as CSV, to be stored separately."""
        out = io.StringIO(newline="")
        written = csv.writer(out)
        written.writerow(("kind", "id", "pseudonym"))
        for kind, named in self._of.items():
            used = ((real, one) for real, one in named.items() if one in self._used)
            written.writerows((kind, real, pseudonym) for real, pseudonym in used)
        return out.getvalue()


def _folded(text: str) -> str:
    """Return a text in folded case, letter by letter: positions stay the same."""
    low = text.casefold()
    return low if len(low) == len(text) else "".join(map(_folded_letter, text))


def _folded_letter(letter: str) -> str:
    ways = (letter.casefold(), letter.lower())
    return next((one for one in ways if len(one) == 1), ways[1][0])


def _is_part_of_word(low: str, start: int, end: int) -> bool:
    """Whether a match is only a part of a longer word."""
    before = start > 0 and low[start - 1].isalnum() and low[start].isalnum()
    after = end < len(low) and low[end].isalnum() and low[end - 1].isalnum()
    return before or after


def _map_texts(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if is_dataclass(value) and not isinstance(value, type):
        open_ = (spec.name for spec in fields(value) if spec.name not in _FIXED_FIELDS)
        return replace(value, **{name: _map_texts(getattr(value, name), change) for name in open_})
    if isinstance(value, tuple | list):
        return type(value)(_map_texts(one, change) for one in value)
    if isinstance(value, Mapping):
        return {_map_texts(key, change): _map_texts(one, change) for key, one in value.items()}
    return value
