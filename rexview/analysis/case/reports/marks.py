"""The words of a report and its reference that are marked as missed, invented or side swapped.

A word is marked only where a rule's flag or hint says so, and no reader rejected it: marks and
hints have one source. The finding-level agreement adds the other places of the same finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rexview.analysis.case.reports.agreement import ScopedAgreement
from rexview.detect.core.batch import flag_finding
from rexview.detect.findings import finding_info
from rexview.metrics.finding_agreement import FindingAgreement, Lone, Span, Stated
from rexview.schema import Flag

_MEANING: Final = {
    "omission": ("missed",),
    "hallucination": ("invented",),
    "laterality_error": ("swapped",),
    "wrong_type": ("missed", "invented"),
}
"""What the words of a failure's evidence are marked as."""
_PLACES: Final = {"missed": ("report",), "invented": ("answer",), "swapped": ("report", "answer")}


class Mark(NamedTuple):
    """Marked words.

    ``what`` is ``missed``, ``invented`` or ``swapped``; ``where`` is ``report`` (the reference) or
    ``answer``. ``about`` is the sentence of the rule.
    """

    what: str
    where: str
    words: Span
    about: str

    def covers(self, where: str, words: Span) -> bool:
        """Whether it marks some of the words; offsets into an answer are into all of its text."""
        if self.where != where or (where == "report" and self.words.section != words.section):
            return False
        return self.words.start < words.end and words.start < self.words.end


def marks_of(
    flags: Iterable[Flag], agreements: Mapping[str, ScopedAgreement]
) -> dict[str, tuple[Mark, ...]]:
    """Return the marks of each model's report and of its reference, by model."""
    found: dict[str, list[Mark]] = {}
    for flag in flags:
        if flag.source != "detector" or flag.verdict == "rejected":
            continue
        if flag.failure == "laterality_error" and flag.kind != "report":
            continue  # of boxes, or within the answer: the reference has no part in it
        agreement = agreements.get(flag.model)
        kept = found.setdefault(flag.model, [])
        for what in _MEANING.get(flag.failure, ()):
            for mark in _of_flag(flag, what, agreement.parts if agreement else None):
                if not any(one.what == what and one.covers(mark.where, mark.words) for one in kept):
                    kept.append(mark)
    return {model: tuple(marks) for model, marks in found.items() if marks}


def _of_flag(flag: Flag, what: str, parts: FindingAgreement | None) -> Iterator[Mark]:
    """Yield the places of the finding that a flag is about; without any, those of its evidence."""
    marks = [
        Mark(what, item.where, Span(item.field, item.start, item.end, item.text), flag.message)
        for item in flag.evidence
        if item.start is not None and item.end is not None and item.where in _PLACES[what]
    ]
    if not marks:
        return
    finding = flag_finding(flag)
    family = finding_info(finding).family if finding else None
    places = [
        Mark(what, where, words, flag.message)
        for where, stated in (_of_one_text(what, parts) if parts else ())
        if any(mark.covers(where, words) for mark in marks for words in stated.spans)
        or (what != "swapped" and family == stated.family)
        for words in stated.spans
    ]
    yield from places
    yield from (
        mark for mark in marks if not any(one.covers(mark.where, mark.words) for one in places)
    )


def _of_one_text(what: str, parts: FindingAgreement) -> Iterator[tuple[str, Stated]]:
    if what == "missed":
        yield from (("report", one.stated) for one in parts.missed)
    elif what == "invented":
        yield from (("answer", one.stated) for one in parts.invented)
    else:
        for pair in parts.swapped:
            yield from (("report", pair.reference), ("answer", pair.candidate))


def is_marked(lone: Lone, where: str, marks: Iterable[Mark]) -> bool:
    """Whether a finding that only one text has is marked: a rule says that it is an error."""
    return any(mark.covers(where, words) for mark in marks for words in lone.stated.spans)
