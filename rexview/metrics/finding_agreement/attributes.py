"""What a sentence says of a finding beside its side and place: degree, size, position, course."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rexview.detect.findings import Mention
from rexview.metrics.finding_agreement.rules import rules

_SIZE: Final = re.compile(
    r"(?<![\w.])(?:(\d{1,3}(?:\.\d{1,2})?)\s*[x×]\s*)?(?:(\d{1,3}(?:\.\d{1,2})?)\s*[x×]\s*)?"
    r"(\d{1,3}(?:\.\d{1,2})?)[\s-]*(mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?)\b"
    r"(?!\s+(?:above|below|from|beyond|proximal|distal|deep|past|superior|inferior))",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r",|;|\band\b|\bwith\b|\bplus\b|\bbut\b", re.IGNORECASE)
_PREDICATE: Final = re.compile(
    r"[\s,:(-]*(?:(?:is|are|was|were|which|that|remains?|appears?|now|of|still|very)\b[\s,]*)*"
    r"(?P<rest>[\w-]+(?:\s+to\s+[\w-]+)?)",
    re.IGNORECASE,
)
_OF_THE_OTHER: Final = re.compile(
    r"\s*(?:which\s+)?(?:is|are|was|were|remains?|appears?|seems?)\b[^,;]*", re.IGNORECASE
)
"""After a finding: what is said of it, and not of the next one."""
_NEXT: Final = re.compile(r";|\b(?:and|but|while|with)\s+(?:the|a|an|there|no)\b", re.IGNORECASE)
"""Behind a finding: a clause begins that is not about it."""
_DENIED: Final = re.compile(
    r"\b(?:no|not|without|never|nor|neither|denies|free of)\b[^.;:]*$", re.IGNORECASE
)
_SHORTLY_BEFORE: Final = 30
"""Characters before a word among which it may be denied."""
_LONGEST: Final = 400
"""Characters of a sentence before and after a finding that are read."""


class Attributes(NamedTuple):
    """What is said of a mention; None for what is not.

    Attributes
    ----------
    degree : float or None
        From 1 (trace) to 4 (large); between two for "small to moderate".
    size : float or None
        Millimetres; of several the largest.
    misplaced : bool
        Whether a device is said not to be where it should.
    changes : frozenset of str
        Its courses since the study before: ``new``, ``worse``, ``better``, ``same``.
    """

    degree: float | None
    size: float | None
    misplaced: bool
    changes: frozenset[str]


def attributes(text: str, mention: Mention, before: int, after: int) -> Attributes:
    """Read what a sentence says of a mention.

    ``before`` is where the mention before it in the sentence ends, ``after`` where the one behind
    it begins; the sentence's own bounds where there is none.
    """
    before = max(before, mention.start - _LONGEST)
    after = min(after, mention.end + _LONGEST)
    degree = _degree(text, mention, before, after)
    sizes = [_millimetres(match) for match in _SIZE.finditer(text, before, after)]
    first, last = mention.sentence
    sentence = text[max(first, mention.start - _LONGEST) : min(last, mention.end + _LONGEST)]
    return Attributes(
        degree,
        max(sizes, default=None),
        _is_misplaced(sentence),
        _changes(text, mention, before, after),
    )


def _is_misplaced(sentence: str) -> bool:
    """Whether a sentence says of a device that it is not where it should be."""
    if rules().moved.search(sentence):
        return False
    return any(
        not _DENIED.search(sentence, max(0, match.start() - _SHORTLY_BEFORE), match.start())
        for match in rules().misplaced.finditer(sentence)
    )


def _changes(text: str, mention: Mention, before: int, after: int) -> frozenset[str]:
    """Read courses beside a finding, before or behind, but not those of another finding."""
    of_other = _OF_THE_OTHER.match(text, before, mention.start)
    before = of_other.end() if of_other else before
    breaks = list(_BREAK.finditer(text, before, mention.start))
    before = breaks[-1].end() if breaks else before
    turn = _NEXT.search(text, mention.end, after)
    around = (text[before : mention.start], text[mention.end : turn.start() if turn else after])
    return frozenset(
        name
        for name, words in rules().changes.items()
        if any(words.search(part) for part in around)
    )


def _degree(text: str, mention: Mention, before: int, after: int) -> float | None:
    """Read a degree beside the side ("small left and large right effusion"), before or behind."""
    of_other = _OF_THE_OTHER.match(text, before, mention.start)
    before = of_other.end() if of_other else before
    found = None
    if mention.side_start is not None and before <= mention.side_start < mention.start:
        found = _last_degree(text[before : mention.side_start])
    if found is None:
        found = _last_degree(text[before : mention.start])
    if found is None:
        match = _PREDICATE.match(text, mention.end, after)
        found = _last_degree(match["rest"]) if match else None
    return found


def _last_degree(part: str) -> float | None:
    """Read the degree in what stands before a finding, behind the last "and" or comma.

    Between two adjectives a comma divides nothing ("a small, loculated effusion"); of "small to
    moderate" it is the mean.
    """
    breaks = list(_BREAK.finditer(part))
    start = breaks[-1].end() if breaks else 0
    said = list(rules().severity.finditer(part, start))
    if not said and breaks and breaks[-1][0] == ",":
        said = [
            match
            for match in rules().severity.finditer(part, 0, start)
            if match.end() == breaks[-1].start()
        ]
    if not said:
        return None
    degrees = [rules().degree(match[0]) for match in said[-2:]]
    if len(said) > 1 and part[said[-2].end() : said[-1].start()].strip(" -") == "to":
        return sum(degrees) / 2
    return float(degrees[-1])


def _millimetres(match: re.Match[str]) -> float:
    largest = max(float(number) for number in match.groups()[:3] if number)
    return largest * (10.0 if match[4][0].lower() == "c" else 1.0)
