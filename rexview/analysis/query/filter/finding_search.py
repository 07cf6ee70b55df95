"""Search for a finding that texts report as present, as absent, or mention at all.

A search word that the lexicon knows as a finding also matches the finding's other words. It is
looked up in the detectors' index (:class:`rexview.detect.scan.finding_index.FindingIndex`).
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
from rexview.text.findings.sentences import Tokens, split_words

_SIDES: Final = frozenset(
    split_words("right left rt lt r l bilateral bilaterally both sided side sides")
)
_LINKING_WORDS: Final = frozenset(split_words("no without not and or with of in on the a an any"))
"""Words near a finding in a search that the text need not contain."""


@dataclass(frozen=True)
class FindingTerm:
    """A finding in a search.

    Attributes
    ----------
    name : str
        As shown: ``left pleural effusion``.
    findings : frozenset of str
        Ids in the lexicon; for a fracture of no named bone those of all bones.
    words : str or None
        A word that the text has to use, because the search names a special form of the finding
        ("empyema").
    side : str or None
        ``right``, ``left`` or ``bilateral`` where the search names one.
    negated : bool
        True if the search negates the finding with a word such as "no".
    """

    name: str
    findings: frozenset[str]
    words: str | None
    side: str | None
    negated: bool

    def met_by(self, phrase: Phrase, mention: str) -> bool:
        """True if a phrase of a text matches this term; ``mention`` as in the filter."""
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
    """The parts of a search: findings, and words to search as typed."""

    findings: tuple[FindingTerm, ...]
    words: tuple[str, ...]

    @property
    def names(self) -> str:
        """Names of the findings: ``pneumothorax and left pleural effusion``."""
        return " and ".join(term.name for term in self.findings)

    @property
    def usual(self) -> str:
        """The default way of searching for the findings: ``absent`` after a "no"."""
        if not self.findings:
            return "text"
        return "absent" if all(term.negated for term in self.findings) else "present"


@lru_cache(maxsize=256)
def parse_search(search: str) -> SearchTerms:
    """Split a search into findings and other words.

    >>> terms = parse_search("no left effusion carina")
    >>> terms.names, terms.words, terms.usual
    ('left pleural effusion', ('carina',), 'absent')
    >>> parse_search("carina").findings
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
                _include_all_bones(mention.finding),
                _stem(phrase) if narrow else None,
                side,
                mention.status == "negated",
            )
        ] = None
    if not terms:
        return SearchTerms((), tuple(search.split()))
    return SearchTerms(tuple(terms), tuple(_remaining_words(search, taken)))


def _side_words(search: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of plain side words; "RLL" and "lower lobe" are searched as typed."""
    tokens = Tokens(search)
    return [
        (first, last)
        for word, first, last in zip(tokens.words, tokens.starts, tokens.ends, strict=True)
        if word in _SIDES and start <= first and last <= end
    ]


def _remaining_words(search: str, taken: Sequence[tuple[int, int]]) -> list[str]:
    kept = "".join(
        " " if any(first <= place < last for first, last in taken) else letter
        for place, letter in enumerate(search)
    )
    words = (word.strip(",;.:!?") for word in kept.split())
    return [word for word in words if word.strip("-()") and word.lower() not in _LINKING_WORDS]


def _stem(phrase: str) -> str:
    words = " ".join(split_words(phrase))
    if words.endswith(("sis", "ses")):  # metastasis, metastases
        return words[:-2]
    return words.removesuffix("s") if len(words) > 4 and not words.endswith("ss") else words


def _include_all_bones(finding: str) -> frozenset[str]:
    """Return the finding's id; for a fracture of no named bone the ids of all bones."""
    if finding != "fracture":
        return frozenset((finding,))
    return frozenset(
        one for one in lexicon().findings if one == finding or may_be_same_fracture(one, finding)
    )


def is_finding_search(search: str, mention: str) -> bool:
    """True if a filter's search is for findings, not for words alone."""
    return mention != "text" and mention in MENTIONS and bool(parse_search(search).findings)
