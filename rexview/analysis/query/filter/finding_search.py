"""Searching for a finding as the texts speak of it: present, absent, or mentioned at all.

A search word that the lexicon knows as a finding stands for all its other words, and is looked up
in what the detectors have read (:class:`rexview.detect.scan.finding_index.FindingIndex`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rexview.analysis.query.filter.case_filter import MENTIONS
from rexview.detect.scan.finding_index import Phrase
from rexview.text.findings import find_mentions, finding_info, is_narrower, may_be_same_fracture
from rexview.text.findings.lexicon import lexicon
from rexview.text.findings.sentences import Tokens, words_of

_SIDES: Final = frozenset(
    words_of("right left rt lt r l bilateral bilaterally both sided side sides")
)
_LINKS: Final = frozenset(words_of("no without not and or with of in on the a an any"))
"""Words beside a finding in a search that need not stand in the text."""


@dataclass(frozen=True)
class FindingTerm:
    """A finding that is searched for.

    Attributes
    ----------
    name : str
        As shown: ``left pleural effusion``.
    findings : frozenset of str
        Ids in the lexicon; of a fracture those of all bones.
    words : str or None
        The text has to use this word: the search names only some of the finding ("empyema").
    side : str or None
        ``right``, ``left`` or ``bilateral`` where the search names one.
    negated : bool
        Whether the search itself says "no".
    """

    name: str
    findings: frozenset[str]
    words: str | None
    side: str | None
    negated: bool

    def met_by(self, phrase: Phrase, mention: str) -> bool:
        """Whether a phrase of a text is what is searched for; ``mention`` as in the filter."""
        if phrase.finding not in self.findings:
            return False
        if mention != "any" and phrase.presence != mention:
            return False
        if self.words is not None and self.words not in phrase.words:
            return False
        denied = phrase.side is None and phrase.presence == "absent"  # on both sides
        return self.side is None or denied or phrase.side in (self.side, "bilateral")


@dataclass(frozen=True)
class SearchTerms:
    """A search taken apart: findings, and words that are looked for as they stand."""

    findings: tuple[FindingTerm, ...]
    words: tuple[str, ...]

    @property
    def names(self) -> str:
        """The findings as shown: ``pneumothorax and left pleural effusion``."""
        return " and ".join(term.name for term in self.findings)

    @property
    def usual(self) -> str:
        """How the findings are looked for unless one chooses: ``absent`` after a "no"."""
        if not self.findings:
            return "text"
        return "absent" if all(term.negated for term in self.findings) else "present"


@lru_cache(maxsize=256)
def search_terms(search: str) -> SearchTerms:
    """Take a search apart.

    >>> terms = search_terms("no left effusion carina")
    >>> terms.names, terms.words, terms.usual
    ('left pleural effusion', ('carina',), 'absent')
    >>> search_terms("carina").findings
    ()
    """
    taken: list[tuple[int, int]] = []
    terms: dict[FindingTerm, None] = {}
    for mention in find_mentions(search):
        phrase = search[mention.start : mention.end]
        taken.append((mention.start, mention.end))
        side = mention.side if mention.side != "midline" else None
        if side and mention.side_start is not None and mention.side_end is not None:
            taken += _side_words(search, mention.side_start, mention.side_end)
        narrow = is_narrower(phrase)
        name = phrase.lower() if narrow else finding_info(mention.finding).name
        terms[
            FindingTerm(
                f"{side} {name}" if side else name,
                _all_bones(mention.finding),
                _stem(phrase) if narrow else None,
                side,
                mention.status == "negated",
            )
        ] = None
    if not terms:
        return SearchTerms((), tuple(search.split()))
    return SearchTerms(tuple(terms), tuple(_rest(search, taken)))


def _side_words(search: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the places of plain side words; "RLL" and "lower lobe" are searched as they stand."""
    tokens = Tokens(search)
    return [
        (first, last)
        for word, first, last in zip(tokens.words, tokens.starts, tokens.ends, strict=True)
        if word in _SIDES and start <= first and last <= end
    ]


def _rest(search: str, taken: Sequence[tuple[int, int]]) -> list[str]:
    kept = "".join(
        " " if any(first <= place < last for first, last in taken) else letter
        for place, letter in enumerate(search)
    )
    words = (word.strip(",;.:!?") for word in kept.split())
    return [word for word in words if word.strip("-()") and word.lower() not in _LINKS]


def _stem(phrase: str) -> str:
    words = " ".join(words_of(phrase))
    if words.endswith(("sis", "ses")):  # metastasis, metastases
        return words[:-2]
    return words.removesuffix("s") if len(words) > 4 and not words.endswith("ss") else words


def _all_bones(finding: str) -> frozenset[str]:
    """Return a finding; for a fracture of no named bone those of all bones."""
    if finding != "fracture":
        return frozenset((finding,))
    return frozenset(
        one for one in lexicon().findings if one == finding or may_be_same_fracture(one, finding)
    )


def is_finding_search(search: str, mention: str) -> bool:
    """Whether a filter's search looks for findings, not for words alone."""
    return mention != "text" and mention in MENTIONS and bool(search_terms(search).findings)
