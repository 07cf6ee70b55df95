"""Compare an answer's findings with its report's: the basis of hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from typing import Final, NamedTuple

from rexview.detect.detector import AnswerInCase, mention_evidence
from rexview.schema import Case, Evidence
from rexview.text.findings import (
    REPORT_SECTIONS,
    LexiconFinding,
    Mention,
    find_mentions,
    finding_info,
)
from rexview.text.phrases import list_alternatives, list_names, whole_words, word_set

_ZONES: Final = {zone: word_set("zone_heights", zone) for zone in list_names("zone_heights")}
"""Heights of the chest that each zone may occupy."""
MOST_READ: Final = 20_000
"""Characters; findings are not searched in a longer answer, question or report."""
REPORTED_STATUSES: Final = ("positive", "uncertain", "prior")
"""Statuses of a finding that a text reports as present, possible or past."""
URGENT_FAMILIES: Final = word_set("report", "urgent_family")
"""Families that no answer may leave out, whatever the question."""
_ASKS_ALL: Final = re.compile(
    rf"\b(?:{list_alternatives('question', 'general')})|^\W*$", re.IGNORECASE
)
ASKS_SIDE: Final = whole_words("question", "side")
"""Asks for the side or the place of something, and nothing more."""
_ALL_KINDS_ASKED: Final = whole_words("question", "hardware")
_ALL_TUBES_ASKED: Final = whole_words("question", "all_tubes")
_TUBES_ASKED: Final = whole_words("question", "tubes")
_HARDWARE: Final = word_set("report", "hardware_family")
_LUNG_PART: Final = whole_words("question", "lung_part")
_NEAR: Final = 120
_LASTING: Final = word_set("report", "lasting_family")
_GROUPS: Final = [word_set("related_families", name) for name in list_names("related_families")]
_RELATED: Final = {
    family: frozenset().union(*(group for group in _GROUPS if family in group))
    for family in frozenset().union(*_GROUPS)
}
"""For each family, the families whose findings may be meant by its name."""
_LOOSE: Final = {
    family: re.compile(rf"(?<![^\W_])(?:{list_alternatives('loose_words', family)})", re.IGNORECASE)
    for family in list_names("loose_words")
}
_COMPOUND: Final = {
    family: re.compile(list_alternatives("compound_words", family), re.IGNORECASE)
    for family in list_names("compound_words")
}
_UNREAD: Final = {
    region: re.compile(
        rf"(?<![^\W_])(?:{list_alternatives('unread_words', region)})", re.IGNORECASE
    )
    for region in list_names("unread_words")
}
_UNREAD_DEVICES: Final = {
    kind: word_set("unread_families", kind) for kind in list_names("unread_families")
}
_BEFORE_HEADING: Final = re.compile(
    r"[\W\d_]*(?:[a-z]\d?[.)]\s*|(?:section|part)\s\w\W+)?(?:[^\W_]+(?:\s?[/&,_+]\s?|\sand\s)){0,3}",
    re.IGNORECASE,
)
_AFTER_HEADING: Final = re.compile(
    r"(?:\s*[/&,_+]\s*\w+|\sand\s\w+|\s\w+)?[\"*_]{0,3}[^\S\n]*(?:[:|=]|\.{3}|[–—]|(?=\n|$))"
)
_LONGEST_HEADING: Final = 40
_NAMED_BEFORE: Final = re.compile(r"\b(?:the|this|that|its)\s(?:[\w-]+\s)?$", re.IGNORECASE)
_DENIED: Final = re.compile(r"\b(?:no|not|without|negative for|free of)\b[^.;:\n]*$", re.IGNORECASE)
_DENIED_WITHIN: Final = 60
_GENERAL_WORDS: Final = word_set("finding_words", "general")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{5,}")
_STEM: Final = 6
_LONG_STEM: Final = 9
"""For words with a common beginning and different meanings: pneumothorax, pneumomediastinum."""
_ALIKE: Final = "pneumo"
_MOST_ALIKE: Final = 8
"""Mentions kept for the same finding, side, zone and status; more add nothing."""


class FindingInText(NamedTuple):
    """A mention of a finding, with its entry in the lexicon and the text around it.

    ``where`` is ``answer`` or ``report``; ``section`` is the report's.
    """

    mention: Mention
    info: LexiconFinding
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
        """The words of the mention, as evidence."""
        return mention_evidence(self.where, self.text, self.mention, self.section)

    def before(self) -> str:
        """The words of its sentence just before the finding."""
        start = self.mention.start
        return self.text[max(self.mention.sentence[0], start - _NEAR) : start]

    def around(self) -> str:
        """The words of its sentence near the finding."""
        first, last = self.mention.sentence
        low, high = self.mention.start - _NEAR, self.mention.end + _NEAR
        return self.text[max(first, low) : min(last, high)]


class ReportFindings(NamedTuple):
    """The findings of a report, the same for all answers to its case.

    ``present`` are the positive ones and past ones that last for life (a sternotomy). ``said`` are
    all that it reports as present, possible or past, and ``families`` their families. ``mentioned``
    adds the families of those that it denies or only considers.
    """

    positive: Sequence[FindingInText] = ()
    present: Sequence[FindingInText] = ()
    negated: Sequence[FindingInText] = ()
    said: Sequence[FindingInText] = ()
    families: Set[str] = frozenset()
    mentioned: Set[str] = frozenset()


def read_report_findings(case: Case) -> ReportFindings:
    """Return the findings and devices in both sections of a case's report."""
    texts = [getattr(case.report, section) or "" for section in REPORT_SECTIONS]
    return _in_report(*texts) if _readable(*texts) else ReportFindings()


@lru_cache(maxsize=64)
def _in_report(*texts: str) -> ReportFindings:
    found = [
        one
        for section, text in zip(REPORT_SECTIONS, texts, strict=True)
        for one in _in_text(find_mentions(text), "report", text, section)
    ]
    present = [
        one
        for one in found
        if one.mention.status == "positive"
        or (one.mention.status == "prior" and one.info.family in _LASTING)
    ]
    said = select_status(found, *REPORTED_STATUSES)
    return ReportFindings(
        select_status(found, "positive"),
        present,
        select_status(found, "negated"),
        said,
        {one.info.family for one in said},
        {finding_info(one.finding).family for text in texts for one in find_mentions(text)},
    )


def read_answer_findings(one: AnswerInCase) -> list[FindingInText]:
    """Return the findings and devices in an answer, without those that it retracts."""
    return one.once(_of_answer)


def _of_answer(one: AnswerInCase) -> list[FindingInText]:
    return _in_text(read_answer_mentions(one), "answer", one.text, None)


def read_answer_mentions(one: AnswerInCase) -> Sequence[Mention]:
    """Return the mentions in an answer's own words; none if longer than :data:`MOST_READ`."""
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
        if mention.superseded:
            continue
        key = (mention.finding, mention.side, mention.zone, mention.status)
        times = alike.get(key, 0)
        if times < _MOST_ALIKE:
            alike[key] = times + 1
            kept.append(FindingInText(mention, info, where, text, section))
    return kept


def select_status(found: Iterable[FindingInText], *statuses: str) -> list[FindingInText]:
    """Return the findings with one of some statuses."""
    return [one for one in found if one.mention.status in statuses]


def families_related_to(family: str) -> frozenset[str]:
    """Return the families that another text may mean by the name of one."""
    return _RELATED.get(family, frozenset())


def are_related(first: FindingInText, second: FindingInText) -> bool:
    """True if two texts may mean one finding by these two names, judged by family.

    >>> sorted(_RELATED["picc"])
    ['central_line', 'picc', 'port', 'umbilical_line']
    """
    return second.info.family in families_related_to(first.info.family)


def may_mean_finding(text: str, finding: FindingInText, read: Sequence[FindingInText] = ()) -> bool:
    """True if another text has words that may mean a finding but do not prove it.

    These are the words of its family in ``phrases.yaml``, or its own, except words too general to
    identify a finding. ``read`` are findings that the text names: their words mean them, not
    another.
    """
    loose = _LOOSE.get(finding.info.family)
    compound = _COMPOUND.get(finding.info.family)
    if compound is not None and compound.search(text):
        return True
    meant = [
        (one.mention.start, one.mention.end)
        for one in read
        if one.info.family != finding.info.family and not are_related(one, finding)
    ]
    if loose is not None and any(
        not any(first <= match.start() and match.end() <= last for first, last in meant)
        for match in loose.finditer(text)
    ):
        return True
    words = finding.text[finding.mention.start : finding.mention.end].lower()
    telling = [
        word[: _LONG_STEM if word.startswith(_ALIKE) else _STEM]
        for word in _LONG_WORD.findall(words)
        if word not in _GENERAL_WORDS
    ]
    folded = text.lower()
    return bool(telling) and all(word in folded for word in telling)


def has_unread_words(text: str, mentions: Sequence[Mention], region: str) -> bool:
    """True if a text has words of a region from which no finding was read, so any is possible.

    ``region`` is a finding's region or ``device``. Denied words do not count.
    """
    loose = _UNREAD.get(region)
    if loose is None or len(text) > MOST_READ:
        return False
    spans = sorted({(mention.start, mention.end) for mention in mentions})
    devices = region in _UNREAD_DEVICES or region == "device"
    named = devices and any(finding_info(one.finding).group == "device" for one in mentions)
    for match in loose.finditer(text):
        if any(first < match.end() and match.start() < last for first, last in spans):
            continue
        if devices and _is_heading(text, match):
            continue
        before = text[max(0, match.start() - _DENIED_WITHIN) : match.start()]
        if named and _NAMED_BEFORE.search(before):
            continue  # "the tube" is one that was read
        if not _DENIED.search(before):
            return True
    return False


def _is_heading(text: str, match: re.Match[str]) -> bool:
    """True if the words head a line, field or column: "Lines/tubes: PICC", "| Device | Side |"."""
    start = text.rfind("\n", 0, match.start()) + 1
    if match.start() - start > _LONGEST_HEADING:
        return False
    before = _BEFORE_HEADING.fullmatch(text, start, match.start())
    return before is not None and _AFTER_HEADING.match(text, match.end()) is not None


def heads_device(text: str, match: re.Match[str], mentions: Sequence[Mention]) -> bool:
    """True if words for all devices only head the line that names one: "Lines/tubes: PICC"."""
    end = text.find("\n", match.end())
    line = range(match.end(), end if end >= 0 else len(text))
    named = (one.start in line and finding_info(one.finding).group == "device" for one in mentions)
    return _is_heading(text, match) and any(named)


def has_unread_device(text: str, mentions: Sequence[Mention], family: str) -> bool:
    """True if a text has unread words for devices that may mean one of a family."""
    kinds = [kind for kind, families in _UNREAD_DEVICES.items() if family in families]
    return any(has_unread_words(text, mentions, kind) for kind in ("device", *kinds))


def sides_meet(first: str | None, second: str | None) -> bool:
    """True if two sides can be the same place: an unknown or bilateral side matches any."""
    loose = (None, "bilateral", "midline")
    return first == second or first in loose or second in loose


def zones_meet(first: str | None, second: str | None) -> bool:
    """True if two zones or lobes can overlap; unknown zones do."""
    if first is None or second is None or first == second:
        return True
    return bool(_ZONES.get(first, frozenset()) & _ZONES.get(second, frozenset()))


def has_report(one: AnswerInCase) -> bool:
    """True if the answer and its case's report have English words to compare."""
    if one.language or one.report_language:
        return False
    sections = (getattr(one.case.report, section) or "" for section in REPORT_SECTIONS)
    return any(map(str.strip, sections)) and bool(one.text.strip()) and one.came


_REGIONS: Final = {
    region: re.compile(rf"\b(?:{list_alternatives('region', region)})", re.IGNORECASE)
    for region in list_names("region")
}
_FAILING: Final = re.compile(r"decompensat|heart failure|cardiac failure|congest|overload", re.I)
_LONGEST_QUESTION: Final = 5_000


def regions_of_question(case: Case) -> frozenset[str] | None:
    """Return the regions that a question is about (``device`` for devices); None for everything.

    Signs of heart failure occur in heart, lung and pleura.
    """
    if case.question_type == "report":
        return None
    question = case.question[:_LONGEST_QUESTION]
    regions = find_regions(question)
    if not regions and _LUNG_PART.search(question):
        return frozenset({"lung", "pleura"})
    return regions or None


@lru_cache(maxsize=256)
def find_regions(text: str) -> frozenset[str]:
    """Return the regions of the chest that a question or a sentence is about."""
    regions = {region for region, words in _REGIONS.items() if words.search(text)}
    if _FAILING.search(text):
        regions |= {"heart", "lung", "pleura"}
    return frozenset(regions)


def asks_for_side(case: Case) -> bool:
    """True if a question asks for the side or the place of something, and nothing more."""
    question = case.question[:_LONGEST_QUESTION]
    return case.question_type != "report" and ASKS_SIDE.search(question) is not None


def expects_finding(case: Case, finding: FindingInText) -> bool:
    """True if an answer should mention a finding, because it was asked about or is urgent.

    A question that does not ask for everything asks only about what it names.
    """
    if finding.info.family in URGENT_FAMILIES:
        return True
    question = case.question[:_LONGEST_QUESTION]
    if asks_for_side(case):
        return False
    regions = regions_of_question(case)
    if regions is None:
        return case.question_type == "report" or _ASKS_ALL.search(question) is not None
    region = "device" if finding.info.group == "device" else finding.info.region
    all_kinds = _ALL_KINDS_ASKED.search(question)
    if _TUBES_ASKED.search(question) and not all_kinds and finding.info.family in _HARDWARE:
        return False
    if region == "device" and not all_kinds and not _ALL_TUBES_ASKED.search(question):
        devices = _devices_of(question)
        if devices:
            meant = families_related_to(finding.info.family) | {finding.info.family}
            return not devices.isdisjoint(meant)
    return region in regions


@lru_cache(maxsize=256)
def _devices_of(question: str) -> frozenset[str]:
    """Return the families of the devices that a question names."""
    named = [finding_info(one.finding) for one in find_mentions(question)]
    return frozenset(info.family for info in named if info.group == "device")


@lru_cache(maxsize=256)
def _families_of(question: str) -> frozenset[str]:
    """Return the families of findings that a question names."""
    return frozenset(finding_info(one.finding).family for one in find_mentions(question))


def is_named_in_question(case: Case, finding: FindingInText) -> bool:
    """True if the question names a finding or its possible other name; the answer need not."""
    family = finding.info.family
    return asks_about(case, families_related_to(family) | {family})


def asks_about(case: Case, families: Set[str]) -> bool:
    """True if the question names a finding of one of some families."""
    if case.question_type == "report" or len(case.question) > MOST_READ:
        return False
    return not _families_of(case.question).isdisjoint(families)


# Answers that think aloud: what they consider is no claim before their conclusion.

_ALOUD: Final = re.compile(rf"\b(?:{list_alternatives('report', 'aloud')})(?!\w)")
_CONCLUDES: Final = re.compile(
    rf"\W*(?:{list_alternatives('report', 'concludes')})\b", re.IGNORECASE
)
_REASONS: Final = re.compile(
    r"\W*(?:(?:(?:my |step[- ]by[- ]step )?reasoning|thinking|thought process|chain of thought)"
    r"\b\W*:"
    r"|(?:the |my )?(?:analysis|reasoning|thinking|thoughts?) (?:begins?|starts?)\b"
    r"|(?:begin|start)(?:ning)? (?:of )?(?:the |my )?(?:analysis|reasoning|thinking|thoughts?)\b)",
    re.IGNORECASE,
)
"""The heading of reasons before the answer."""
_STOP: Final = re.compile(r"[.!?]\s|\n")
_OFTEN: Final = 2
"""Number of phrases that show that a text thinks aloud; one is enough next to a long line."""
_LONG: Final = 400
"""Characters in a line of thought before the conclusion."""


@lru_cache(maxsize=256)
def find_conclusion(text: str) -> int | None:
    """Return the offset of the conclusion in a text that thinks aloud; its length without one.

    None for a text that does not think aloud: all of it is meant.
    """
    turns = len(_ALOUD.findall(text)) + _OFTEN * bool(_REASONS.match(text))
    start = text.rstrip().rfind("\n\n")
    at_length = start > 0 and any(len(line) > _LONG for line in text[:start].splitlines())
    if at_length and _CONCLUDES.match(text, start):
        return start
    if not turns:
        return None
    if turns < _OFTEN and not at_length:
        return None
    if start >= 0:
        return start
    ends = [end.end() for end in _STOP.finditer(text) if _CONCLUDES.match(text, end.end())]
    return ends[-1] if ends else len(text)
