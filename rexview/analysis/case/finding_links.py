"""Links between words of answers, the report and boxes that are about the same finding.

Findings come from the lexicon of :mod:`rexview.text.findings`; those of one family
("consolidation", "pneumonia") are linked. A box label without a finding of the lexicon is linked by
its own words. The links only highlight things together; they decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rexview.schema import Answer, AnswerBox, Case, ReferenceBox
from rexview.text.findings import find_mentions, finding_info
from rexview.words import tr

MAX_READ_CHARACTERS: Final = 20_000
"""Most characters of a text that are searched for findings; no reader scrolls further."""
_PLAIN: Final = "words-"
_PLACE_WORDS: Final = frozenset(
    (
        *("right", "left", "bilateral", "both", "midline", "r", "l", "sided", "side"),
        *("rul", "rml", "rll", "lul", "lll", "lingula", "lingular"),
        *("upper", "lower", "middle", "mid", "lobe", "lobes", "zone", "zones", "field", "fields"),
        *("lung", "lungs", "base", "bases", "basal", "basilar", "apex", "apices", "apical"),
        *("hilum", "hilar", "perihilar", "peripheral", "central", "retrocardiac", "hemithorax"),
        *("costophrenic", "angle", "chest", "anterior", "posterior", "lateral", "medial"),
        *("region", "area", "tip", "end", "of", "the", "a", "an", "in", "at", "on", "with", "and"),
        *("or", "small", "large", "mild", "moderate", "severe", "new", "old"),
        *("possible", "probable", "suspected", "likely"),
    )
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_STATUS_WORDS: Final = {
    "negated": tr("reported as absent"),
    "uncertain": "uncertain",
    "hypothetical": tr("only hypothetical"),
    "prior": tr("from an earlier study"),
}


@dataclass(frozen=True)
class FindingSpan:
    """A span of text about a finding.

    ``key`` links it to other texts and boxes; ``about`` describes the finding in words. The words
    of the side (``is_side``) are a span of their own.
    """

    start: int
    end: int
    key: str
    about: str
    is_side: bool = False


def find_label_keys(label: str) -> tuple[str, ...]:
    """Return the keys of a box label; empty if it names only a place.

    >>> find_label_keys("Right pleural effusion"), find_label_keys("left lower zone")
    (('pleural_fluid',), ())
    >>> find_label_keys("left gizmo")
    ('words-gizmo',)
    """
    known = [finding_info(one.finding).family for one in find_mentions(label[:MAX_READ_CHARACTERS])]
    if known:
        return tuple(dict.fromkeys(known))
    words = [_singular(word.lower()) for word in _WORD.findall(label[:MAX_READ_CHARACTERS])]
    kept = "-".join(word for word in words if word not in _PLACE_WORDS)
    return (_PLAIN + kept,) if kept else ()


def find_finding_spans(text: str, keys: Iterable[str] = ()) -> list[FindingSpan]:
    """Find the findings in an answer or a report section, in order; spans may overlap.

    Text beyond :data:`MAX_READ_CHARACTERS` characters is not read. ``keys`` are those of the case's
    box labels; keys of unknown words are searched, too.
    """
    read = text[:MAX_READ_CHARACTERS]
    spans: list[FindingSpan] = []
    for mention in find_mentions(read):
        info = finding_info(mention.finding)
        parts = [info.name]
        if mention.side:
            parts.append(mention.side)
        if mention.status in _STATUS_WORDS:
            parts.append(_STATUS_WORDS[mention.status])
        if mention.superseded:
            parts.append(tr("taken back later"))
        about = ", ".join(parts)
        spans.append(FindingSpan(mention.start, mention.end, info.family, about))
        if mention.side_start is not None and mention.side_end is not None:
            start, end = mention.side_start, mention.side_end
            if not mention.start <= start < end <= mention.end:
                spans.append(
                    FindingSpan(
                        start,
                        end,
                        info.family,
                        tr("side of: {about}").format(about=about),
                        is_side=True,
                    )
                )
    spans += _label_word_spans(read, keys)
    return sorted(spans, key=lambda span: (span.start, span.end))


def list_box_keys(boxes: Iterable[AnswerBox | ReferenceBox]) -> tuple[str, ...]:
    """Return the keys of all labels of some boxes, each once."""
    return tuple(dict.fromkeys(key for box in boxes for key in find_label_keys(box.label)))


def find_shared_keys(case: Case, answers: Iterable[Answer]) -> frozenset[str]:
    """Return the keys in at least two of these: report, answers, and the boxes of each."""
    answers = tuple(answers)
    keys = [
        list_box_keys(case.reference_boxes),
        *(list_box_keys(answer.boxes) for answer in answers),
    ]
    every = {key for some in keys for key in some}
    report = " \n".join(part for part in (case.report.findings, case.report.impression) if part)
    texts = [report, *(answer.text or "" for answer in answers)]
    sources = [
        *map(set, keys),
        *({span.key for span in find_finding_spans(t, every)} for t in texts),
    ]
    met: set[str] = set()
    shared: set[str] = set()
    for source in sources:
        shared |= met & source
        met |= source
    return frozenset(shared)


def _label_word_spans(text: str, keys: Iterable[str]) -> Iterator[FindingSpan]:
    phrases = sorted({key for key in keys if key.startswith(_PLAIN)}, key=len, reverse=True)
    for key in phrases:
        words = key.removeprefix(_PLAIN).split("-")
        pattern = r"[\s-]+".join(_plural_pattern(word) for word in words)
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            yield FindingSpan(match.start(), match.end(), key, " ".join(words))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "is", "us", "ax")):
        return word[:-1]
    return word


def _plural_pattern(word: str) -> str:
    if word.endswith("y"):
        return re.escape(word[:-1]) + "(?:y|ies)"
    return re.escape(word) + "s?"
