"""An answer's findings beside the report's: what hints at invented and missed findings rest on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from typing import Final, NamedTuple

from rexview.detect.core.detector import AnswerInCase, mention_evidence
from rexview.detect.findings import (
    REPORT_SECTIONS,
    Finding,
    Mention,
    find_mentions,
    finding_info,
)
from rexview.detect.phrases import either, list_names, word_set
from rexview.schema import Case, Evidence

_ZONES: Final = {zone: word_set("zone_heights", zone) for zone in list_names("zone_heights")}
"""Heights of the chest that each place may take up."""
MOST_READ: Final = 20_000
"""Characters; in a longer answer, question or report no finding is looked for."""
SAID: Final = ("positive", "uncertain", "prior")
"""What a text says of a finding that it has, or had."""
_NEAR: Final = 120
_MOST_ALIKE: Final = 8
"""Mentions of one finding, side, zone and status that are kept: more add nothing."""


class FindingInText(NamedTuple):
    """A mention of a finding with what the lexicon knows of it and the text that it stands in.

    ``where`` is ``answer`` or ``report``; ``section`` the report's.
    """

    mention: Mention
    info: Finding
    where: str
    text: str
    section: str | None = None

    @property
    def name(self) -> str:
        """The finding with its side, for a message: ``right pleural effusion``."""
        side = self.mention.side
        return f"{side} {self.info.name}" if side and side != "midline" else self.info.name

    @property
    def evidence(self) -> Evidence:
        """The words that say so, as evidence."""
        return mention_evidence(self.where, self.text, self.mention, self.section)

    def before(self) -> str:
        """What its sentence says just before the finding."""
        start = self.mention.start
        return self.text[max(self.mention.sentence[0], start - _NEAR) : start]

    def around(self) -> str:
        """Its sentence, as far as it stands near the finding."""
        first, last = self.mention.sentence
        low, high = self.mention.start - _NEAR, self.mention.end + _NEAR
        return self.text[max(first, low) : min(last, high)]


class ReportFindings(NamedTuple):
    """The findings of a report, the same for all answers to its case.

    ``families`` are those of findings that it has or had, ``denied`` those that it negates.
    """

    positive: Sequence[FindingInText] = ()
    negated: Sequence[FindingInText] = ()
    families: Set[str] = frozenset()
    denied: Set[str] = frozenset()


def findings_of_report(case: Case) -> ReportFindings:
    """Read the findings (not devices) of both sections of a case's report."""
    texts = [getattr(case.report, section) or "" for section in REPORT_SECTIONS]
    return _in_report(*texts) if _readable(*texts) else ReportFindings()


@lru_cache(maxsize=64)
def _in_report(*texts: str) -> ReportFindings:
    found = [
        one
        for section, text in zip(REPORT_SECTIONS, texts, strict=True)
        for one in _in_text(find_mentions(text), "report", text, section)
    ]
    return ReportFindings(
        of_status(found, "positive"),
        of_status(found, "negated"),
        _families_of(found, *SAID),
        _families_of(found, "negated"),
    )


def findings_of_answer(one: AnswerInCase) -> list[FindingInText]:
    """Read the findings (not devices) of an answer; what it takes back is left out."""
    return one.once(_of_answer)


def _of_answer(one: AnswerInCase) -> list[FindingInText]:
    return _in_text(mentions_of_answer(one), "answer", one.text, None)


def mentions_of_answer(one: AnswerInCase) -> Sequence[Mention]:
    """Read an answer's own words; nothing of one longer than :data:`MOST_READ`."""
    return one.mentions if _readable(one.text, one.case.question) else ()


def _readable(*texts: str) -> bool:
    return all(len(text) <= MOST_READ for text in texts)


def _in_text(
    mentions: Iterable[Mention], where: str, text: str, section: str | None
) -> list[FindingInText]:
    kept = []
    alike: dict[tuple[str | None, ...], int] = {}
    for mention in mentions:
        info = finding_info(mention.finding)
        if info.group != "finding" or mention.superseded:
            continue
        key = (mention.finding, mention.side, mention.zone, mention.status)
        times = alike.get(key, 0)
        if times < _MOST_ALIKE:
            alike[key] = times + 1
            kept.append(FindingInText(mention, info, where, text, section))
    return kept


def of_status(found: Iterable[FindingInText], *statuses: str) -> list[FindingInText]:
    """Keep the findings with one of some statuses."""
    return [one for one in found if one.mention.status in statuses]


def _families_of(found: Iterable[FindingInText], *statuses: str) -> set[str]:
    """Return the families of the findings with one of some statuses."""
    return {one.info.family for one in found if one.mention.status in statuses}


def sides_meet(first: str | None, second: str | None) -> bool:
    """Whether two sides can be the same place: an unknown or a bilateral one meets any."""
    loose = (None, "bilateral", "midline")
    return first == second or first in loose or second in loose


def zones_meet(first: str | None, second: str | None) -> bool:
    """Whether two zones or lobes can overlap; unknown ones do."""
    if first is None or second is None or first == second:
        return True
    return bool(_ZONES.get(first, frozenset()) & _ZONES.get(second, frozenset()))


def has_report(one: AnswerInCase) -> bool:
    """Say whether the answer has words that its case's report can be held against."""
    sections = (getattr(one.case.report, section) or "" for section in REPORT_SECTIONS)
    return any(map(str.strip, sections)) and bool(one.text.strip()) and one.came


_REGIONS: Final = {
    region: re.compile(rf"\b(?:{either('region', region)})", re.IGNORECASE)
    for region in list_names("region")
}
_FAILING: Final = re.compile(r"decompensat|heart failure|cardiac failure|congest|overload", re.I)
_LONGEST_QUESTION: Final = 5_000


def asked_regions(case: Case) -> frozenset[str] | None:
    """Return the regions that a question is about; None when it is about everything.

    Signs of a failing heart lie in heart, lung and pleura.
    """
    if case.question_type == "report":
        return None
    return regions_of(case.question[:_LONGEST_QUESTION]) or None


@lru_cache(maxsize=256)
def regions_of(text: str) -> frozenset[str]:
    """Return the regions of the chest that a question or a sentence is about."""
    regions = {region for region, words in _REGIONS.items() if words.search(text)}
    if _FAILING.search(text):
        regions |= {"heart", "lung", "pleura"}
    return frozenset(regions)
