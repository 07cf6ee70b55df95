"""Read the findings and devices that a report states, each once, with place and degree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from rexview.harm import MAX_HARM
from rexview.package_data import read_package_table
from rexview.text.findings import (
    Mention,
    find_mentions,
    finding_info,
    finding_name,
    is_narrower,
    may_be_same_fracture,
    misplaced_devices,
)
from rexview.text.findings.mention import PACEMAKERS, count_leads

# Settings of the finding-level agreement besides lexicon and harm: ``agreement.yaml`` as records.

_FILE: Final = Path(__file__).with_name("agreement.yaml")
_YEARS: Final = re.compile(
    r"\s*(\d{1,3})(?:\s*-\s*\d{1,3}|\+)?[\s-]*(?:(days?|weeks?|months?)\b)?", re.IGNORECASE
)
_IN_A_YEAR: Final = {"d": 365.0, "w": 52.0, "m": 12.0}


class StudyRequest(NamedTuple):
    """The request for a study: the patient's age and the indication, as written."""

    age: str | None = None
    indication: str | None = None

    @property
    def years(self) -> float | None:
        """Age in years, the start of a range; None if unknown.

        >>> (
        ...     StudyRequest("60-70").years,
        ...     StudyRequest("6 months").years,
        ...     StudyRequest("45 male").years,
        ... )
        (60.0, 0.5, 45.0)
        """
        match = _YEARS.match(self.age or "")
        if match is None:
            return None
        return float(match[1]) / _IN_A_YEAR.get((match[2] or "")[:1].lower(), 1.0)


@dataclass(frozen=True)
class ContextRule:
    """Points of harm that a request adds to some findings, or subtracts."""

    findings: frozenset[str]
    points: int
    at_least: float | None
    at_most: float | None
    indication: re.Pattern[str] | None

    def applies(self, request: StudyRequest) -> bool:
        """True if the request meets the rule's condition."""
        if self.indication is not None:
            return bool(self.indication.search(request.indication or ""))
        years = request.years
        low, high = self.at_least, self.at_most
        return (
            years is not None and (low is None or years >= low) and (high is None or years <= high)
        )


@dataclass(frozen=True)
class AgreementRules:
    """Content of ``agreement.yaml``; patterns match whole words in any case."""

    credit: Mapping[str, float]
    severity: re.Pattern[str]
    degrees: tuple[tuple[re.Pattern[str], int], ...]
    mild: float
    misplaced: re.Pattern[str]
    moved: re.Pattern[str]
    tube_misplaced: re.Pattern[str]
    not_excluded: re.Pattern[str]
    grave: float
    devices: frozenset[str]
    general_devices: frozenset[str]
    changes: Mapping[str, re.Pattern[str]]
    changes_alike: frozenset[frozenset[str]]
    taken_for: re.Pattern[str]
    either_or: re.Pattern[str]
    beside: re.Pattern[str]
    general: frozenset[str]
    descriptive: frozenset[str]
    signs: Mapping[str, frozenset[str]]
    context: tuple[ContextRule, ...]

    def degree(self, word: str) -> int:
        """Return the degree of a word that :attr:`severity` matched, 1 to 4."""
        return next(degree for pattern, degree in self.degrees if pattern.fullmatch(word))


@cache
def load_agreement_rules() -> AgreementRules:
    """Read the rules, once."""
    content: dict[str, Any] = read_package_table(_FILE)
    degrees = content["severity"]
    return AgreementRules(
        credit=content["credit"],
        severity=_words([word for words in degrees.values() for word in words]),
        degrees=tuple((_words(words), degree) for degree, words in degrees.items()),
        mild=content["mild"],
        misplaced=_words(content["misplaced"]),
        moved=_words(content["moved"]),
        tube_misplaced=_words(content["tube_misplaced"]),
        not_excluded=_words(content["not_excluded"]),
        grave=content["grave"],
        devices=frozenset(content["devices"]),
        general_devices=frozenset(content["general_devices"]),
        changes={name: _words(words) for name, words in content["changes"].items()},
        changes_alike=frozenset(map(frozenset, content["changes_alike"])),
        taken_for=_words(content["taken_for"]),
        either_or=_words(content["either_or"]),
        beside=_words(content["beside"]),
        general=frozenset(content["general"]),
        descriptive=frozenset(content["descriptive"]),
        signs={sign: frozenset(found) for sign, found in content["signs"].items()},
        context=tuple(map(_context_rule, content["context"])),
    )


def _words(words: list[str]) -> re.Pattern[str]:
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)


def _context_rule(entry: Mapping[str, Any]) -> ContextRule:
    words = entry.get("indication")
    return ContextRule(
        frozenset(entry["findings"]),
        entry["points"],
        entry.get("from"),
        entry.get("up_to"),
        _words(words) if words else None,
    )


# Attributes of a finding in its sentence besides side and place: degree, size, position, course.

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
"""After a finding: words about it, not about the next one."""
_NEXT: Final = re.compile(r";|\b(?:and|but|while|with)\s+(?:the|a|an|there|no)\b", re.IGNORECASE)
"""After a finding: the start of a clause about something else."""
_DENIED: Final = re.compile(
    r"\b(?:no|not|without|never|nor|neither|denies|free of)\b[^.;:]*$", re.IGNORECASE
)
_SHORTLY_BEFORE: Final = 30
"""Characters before a word in which it may be denied."""
_LONGEST: Final = 400
"""Characters of a sentence before and after a finding that are read."""


class MentionAttributes(NamedTuple):
    """Attributes of a mention; None if not stated.

    MentionAttributes
    ----------
    degree : float or None
        From 1 (trace) to 4 (large); between two for "small to moderate".
    size : float or None
        Millimetres; the largest of several.
    misplaced : bool
        True if a device is described as misplaced.
    changes : frozenset of str
        Its courses since the previous study: ``new``, ``worse``, ``better``, ``same``.
    """

    degree: float | None
    size: float | None
    misplaced: bool
    changes: frozenset[str]


def read_attributes(text: str, mention: Mention, before: int, after: int) -> MentionAttributes:
    """Return the attributes of a mention in its sentence.

    ``before`` is the end of the previous mention in the sentence, ``after`` the start of the next
    one; the sentence's own bounds if there is none.
    """
    before = max(before, mention.start - _LONGEST)
    after = min(after, mention.end + _LONGEST)
    degree = _degree(text, mention, before, after)
    sizes = [_millimetres(match) for match in _SIZE.finditer(text, before, after)]
    first, last = mention.sentence
    sentence = text[max(first, mention.start - _LONGEST) : min(last, mention.end + _LONGEST)]
    return MentionAttributes(
        degree,
        max(sizes, default=None),
        _is_misplaced(sentence),
        _changes(text, mention, before, after),
    )


def _is_misplaced(sentence: str) -> bool:
    """True if a sentence describes a device as misplaced."""
    if load_agreement_rules().moved.search(sentence):
        return False
    return any(
        not _DENIED.search(sentence, max(0, match.start() - _SHORTLY_BEFORE), match.start())
        for match in load_agreement_rules().misplaced.finditer(sentence)
    )


def _changes(text: str, mention: Mention, before: int, after: int) -> frozenset[str]:
    """Return the courses around a finding, without those of another finding."""
    of_other = _OF_THE_OTHER.match(text, before, mention.start)
    before = of_other.end() if of_other else before
    breaks = list(_BREAK.finditer(text, before, mention.start))
    before = breaks[-1].end() if breaks else before
    turn = _NEXT.search(text, mention.end, after)
    around = (text[before : mention.start], text[mention.end : turn.start() if turn else after])
    return frozenset(
        name
        for name, words in load_agreement_rules().changes.items()
        if any(words.search(part) for part in around)
    )


def _degree(text: str, mention: Mention, before: int, after: int) -> float | None:
    """Return the degree near the side ("small left and large right effusion"), before or after."""
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
    """Return the degree in the words before a finding, after the last "and" or comma.

    A comma between two adjectives does not separate ("a small, loculated effusion"). For "small to
    moderate" it is the mean.
    """
    breaks = list(_BREAK.finditer(part))
    start = breaks[-1].end() if breaks else 0
    said = list(load_agreement_rules().severity.finditer(part, start))
    if not said and breaks and breaks[-1][0] == ",":
        said = [
            match
            for match in load_agreement_rules().severity.finditer(part, 0, start)
            if match.end() == breaks[-1].start()
        ]
    if not said:
        return None
    degrees = [load_agreement_rules().degree(match[0]) for match in said[-2:]]
    if len(said) > 1 and part[said[-2].end() : said[-1].start()].strip(" -") == "to":
        return sum(degrees) / 2
    return float(degrees[-1])


def _millimetres(match: re.Match[str]) -> float:
    largest = max(float(number) for number in match.groups()[:3] if number)
    return largest * (10.0 if match[4][0].lower() == "c" else 1.0)


_SAID: Final = ("positive", "uncertain")
_BOTH: Final = frozenset(("right", "left"))
_HEIGHTS: Final = {
    **dict.fromkeys(("upper", "apex", "paratracheal", "RUL", "LUL", "RUZ", "LUZ"), "upper"),
    **dict.fromkeys(("mid", "hilum", "RML", "lingula", "RMZ", "LMZ"), "mid"),
    **dict.fromkeys(("lower", "base", "costophrenic", "retrocardiac", "cardiophrenic"), "lower"),
    **dict.fromkeys(("RLL", "LLL", "RLZ", "LLZ"), "lower"),
}
"""Heights of the chest; findings of a text at different heights are separate."""
_AIRWAY_TUBE: Final = "endotracheal_tube"
_NEAR: Final = 100
"""Characters between a sign and its interpretation."""
_SHORTLY: Final = 40
"""Characters after a finding in which a list of alternatives ends."""


class ReportPart(NamedTuple):
    """A section of a report; ``start`` is its offset in the text that spans refer to."""

    section: str | None
    text: str
    start: int = 0


class TextSpan(NamedTuple):
    """Words of a text: offsets into the section of a report, or into a whole answer."""

    section: str | None
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class StatedFinding:
    """A finding that a text states.

    MentionAttributes
    ----------
    findings : tuple of str
        Ids in the lexicon: first its name, then its interpretations or descriptions.
    sides : frozenset of str
        ``right``, ``left`` or both; empty if unknown.
    zone : str or None
        As in :class:`rexview.text.findings.Mention`.
    unsure : bool
        True if the text states it only as possible.
    degrees : mapping
        From 1 (trace) to 4 (large), by side; under None if sides are not distinguished.
    size : float or None
        Millimetres.
    misplaced : bool
        True if a device is misplaced.
    changes : frozenset of str
        Its courses since the previous study: ``new``, ``worse``, ``better``, ``same``.
    leads : int or None
        Number of leads of a pacemaker.
    narrow : str or None
        Its words if they name only some of what the finding covers ("empyema").
    harm : int
        Its weight, 0 to 4.
    spans : tuple of TextSpan
        Its places in the text, the first mention first.
    """

    findings: tuple[str, ...]
    sides: frozenset[str]
    zone: str | None
    unsure: bool
    degrees: Mapping[str | None, float]
    size: float | None
    misplaced: bool
    changes: frozenset[str]
    leads: int | None
    narrow: str | None
    harm: int
    spans: tuple[TextSpan, ...]

    @property
    def family(self) -> str:
        """The family of its name."""
        return finding_info(self.findings[0]).family

    @property
    def name(self) -> str:
        """The finding with its side: ``right pleural effusion``."""
        side = "bilateral" if self.sides == _BOTH else next(iter(self.sides), None)
        name = finding_name(self.findings[0])
        return f"{side} {name}" if side else name

    def degree(self, side: str | None) -> float | None:
        """Return the degree on a side, or the common one; without a side the highest."""
        if side is None:
            return max(self.degrees.values(), default=None)
        return self.degrees.get(side, self.degrees.get(None))


@dataclass
class _Draft:
    """A finding while its text is still being read."""

    findings: list[str]
    sides: set[str]
    zone: str | None
    unsure: bool
    degrees: dict[str | None, float]
    size: float | None
    misplaced: bool
    changes: set[str]
    leads: int | None
    words: list[str]
    spans: list[TextSpan] = field(default_factory=list)

    def take(self, other: _Draft, *, first: bool = False) -> None:
        """Merge another draft of the same finding; with ``first``, the other one names it."""
        new = [one for one in other.findings if one not in self.findings]
        self.findings = [*new, *self.findings] if first else [*self.findings, *new]
        self.sides |= other.sides
        self.zone = self.zone or other.zone
        self.unsure = other.unsure if first else self.unsure
        self.degrees = other.degrees | self.degrees
        self.size = max((one for one in (self.size, other.size) if one), default=None)
        self.misplaced = self.misplaced or other.misplaced
        self.changes |= other.changes
        self.leads = self.leads or other.leads
        self.words += other.words
        self.spans += [span for span in other.spans if span not in self.spans]


Weigh = Callable[[Sequence[str], float | None, bool], int]
"""Weighs a finding by its ids, its degree, and whether it is a misplaced device."""


def create_weigher(harm: Mapping[str, int], request: StudyRequest) -> Weigh:
    """Return a function that weighs findings by their harm and by the request."""
    applying = [rule for rule in load_agreement_rules().context if rule.applies(request)]

    def weigh(findings: Sequence[str], degree: float | None, misplaced: bool) -> int:
        named = findings[0]
        if finding_info(named).group == "device" and not misplaced:
            return 1
        level = harm.get(named, 1)
        if degree is not None and degree <= load_agreement_rules().mild:
            level = max(1, level - 1)
        points = sum(rule.points for rule in applying if named in rule.findings)
        return min(MAX_HARM, max(0, level + points))

    return weigh


def read_stated_findings(
    parts: Iterable[ReportPart],
    weigh: Weigh,
    of_patient: Callable[[tuple[Mention, ...]], tuple[Mention, ...]] = lambda mentions: mentions,
) -> tuple[tuple[StatedFinding, ...], tuple[tuple[str, TextSpan], ...]]:
    """Return the findings that a report states, and those that it denies.

    Supposed, past and retracted findings are left out. A finding in several sentences is listed
    once; so is a sign with its interpretation ("opacity suggestive of oedema"), and so are
    alternatives ("atelectasis or pneumonia").

    Parameters
    ----------
    parts : iterable of ReportPart
    weigh : callable
        From :func:`create_weigher`.
    of_patient : callable
        Converts sides of the picture to the patient's.

    Returns
    -------
    tuple of StatedFinding, tuple of (str, TextSpan)
        The stated findings, and the family and words of each denied one.
    """
    drafts: list[_Draft] = []
    denied: list[tuple[str, TextSpan]] = []
    tube_misplaced = False
    for part in parts:
        tube_misplaced |= load_agreement_rules().tube_misplaced.search(part.text) is not None
        found = of_patient(find_mentions(part.text))
        mentions = [_as_compared(part.text, one) for one in found if not one.superseded]
        denied += [
            (finding_info(one.finding).family, _span(part, one))
            for one in mentions
            if one.status == "negated"
        ]
        said = [one for one in mentions if one.status in _SAID and not _is_left_open(part, one)]
        for sentence in _by_sentence(said):
            for draft in _of_sentence(part, sentence):
                _add(drafts, draft)
    drafts = _explained(drafts)
    for draft in drafts:
        if tube_misplaced and draft.findings[0] == _AIRWAY_TUBE:
            draft.misplaced = True
    return tuple(_stated(draft, weigh) for draft in drafts), tuple(denied)


def _as_compared(text: str, one: Mention) -> Mention:
    """Return a device in the wrong place as the device itself; its words give the place.

    Its side is dropped. A device that was moved from there is still present.
    """
    devices = misplaced_devices(one.finding)
    if not devices:
        return one
    moved = one.status == "negated" and load_agreement_rules().moved.search(text, *one.sentence)
    status = "positive" if moved else one.status
    return one._replace(finding=devices[0], side=None, status=status)


def _is_left_open(part: ReportPart, one: Mention) -> bool:
    """True if a text only states that a finding is not excluded, not that it is there."""
    last = one.sentence[1]
    behind = part.text[one.end : min(last, one.end + _NEAR)]
    return (
        one.status == "uncertain" and load_agreement_rules().not_excluded.search(behind) is not None
    )


def _by_sentence(mentions: Sequence[Mention]) -> list[list[Mention]]:
    sentences: dict[tuple[int, int], list[Mention]] = {}
    for one in mentions:
        sentences.setdefault(one.sentence, []).append(one)
    return list(sentences.values())


def _of_sentence(part: ReportPart, mentions: Sequence[Mention]) -> list[_Draft]:
    """Read the findings of one sentence, signs together with their interpretations."""
    text = part.text
    ends = sorted({one.end for one in mentions})
    starts = sorted({one.start for one in mentions})
    drafts: list[_Draft] = []
    for one in mentions:
        before = max((end for end in ends if end <= one.start), default=one.sentence[0])
        after = min((start for start in starts if start >= one.end), default=one.sentence[1])
        draft = _draft(part, one, read_attributes(text, one, before, after))
        described = [known for known in drafts if _is_described(text, known, draft, part)]
        for known in described:
            words = known.words if len(known.findings) == 1 else ()
            is_sign = known.findings[0] in load_agreement_rules().general or _is_sign(
                known.findings[:1], words, draft.findings
            )
            draft.take(known, first=not is_sign)
        drafts = [*(known for known in drafts if known not in described), draft]
    return drafts


def _draft(part: ReportPart, one: Mention, said: MentionAttributes) -> _Draft:
    sides = _BOTH if one.side == "bilateral" else {one.side} - {None, "midline"}
    words = part.text[one.start : one.end].lower()
    own_side = one.side if one.side in _BOTH else None
    return _Draft(
        [one.finding],
        {side for side in sides if side},
        one.zone,
        one.status == "uncertain",
        {} if said.degree is None else {own_side: said.degree},
        said.size if finding_info(one.finding).group == "finding" else None,
        said.misplaced and finding_info(one.finding).group == "device",
        set(said.changes),
        _leads(part, one),
        [words],
        [_span(part, one)],
    )


def _leads(part: ReportPart, one: Mention) -> int | None:
    found = count_leads(part.text) if one.finding in PACEMAKERS else None
    return found[0] if found else None


def _span(part: ReportPart, one: Mention) -> TextSpan:
    return TextSpan(
        part.section, part.start + one.start, part.start + one.end, part.text[one.start : one.end]
    )


def _is_described(text: str, known: _Draft, draft: _Draft, part: ReportPart) -> bool:
    """True if two findings of a sentence are one: a sign and its meaning, or alternatives."""
    last = max(span.end for span in known.spans) - part.start
    first = draft.spans[0].start - part.start
    if not 0 <= first - last <= _NEAR or not _sides_meet(known.sides, draft.sides):
        return False
    between = text[last:first]
    if _are_alternatives(between, text[draft.spans[0].end - part.start :][:_SHORTLY]):
        return True
    related = (
        _is_sign(known.findings, known.words, draft.findings)
        or _is_sign(draft.findings, draft.words, known.findings)
        or _family(known) == _family(draft)
    )
    return related and bool(
        load_agreement_rules().taken_for.search(between)
        or not load_agreement_rules().beside.search(between)
    )


def _are_alternatives(between: str, behind: str) -> bool:
    """True if two findings are in a list such as "pneumonia, atelectasis or oedema"."""
    either_or = load_agreement_rules().either_or
    if between.strip() == ",":
        return bool(either_or.search(behind.partition(".")[0]))
    return bool(either_or.search(between))


def _is_sign(signs: Iterable[str], words: Iterable[str], findings: Sequence[str]) -> bool:
    """True if some findings, or the words for them, are a sign of others."""
    known = load_agreement_rules().signs
    return any(known[one] & set(findings) for one in (*words, *signs) if one in known)


def _family(draft: _Draft) -> str:
    return finding_info(draft.findings[0]).family


def _sides_meet(one: set[str], other: set[str]) -> bool:
    return not one or not other or bool(one & other)


def _add(drafts: list[_Draft], draft: _Draft) -> None:
    """Add a finding, or merge it with a known one."""
    for known in drafts:
        fracture = may_be_same_fracture(known.findings[0], draft.findings[0])
        if not fracture and _family(known) != _family(draft):
            continue
        if not _heights_meet(known.zone, draft.zone):
            continue
        same = set(known.findings) & set(draft.findings)
        if _sides_meet(known.sides, draft.sides) or same:
            general = (*load_agreement_rules().general, "fracture")
            named = draft.findings[0] not in general
            known.take(draft, first=known.findings[0] in general and named)
            return
    drafts.append(draft)


def _explained(drafts: list[_Draft]) -> list[_Draft]:
    """Merge the descriptions in a section with their interpretation in a later one.

    "Bilateral opacities" in the findings are the oedema in the impression.
    """
    left = list(drafts)
    for sign in drafts:
        if sign.findings[0] not in load_agreement_rules().descriptive:
            continue
        own = {span.section for span in sign.spans}
        for meant in left:
            if (
                meant is not sign
                and not own & {meant.spans[0].section}
                and _is_sign(sign.findings, sign.words, meant.findings)
                and _sides_meet(sign.sides, meant.sides)
                and _heights_meet(sign.zone, meant.zone)
            ):
                meant.take(sign)
                left.remove(sign)
                break
    return left


def _heights_meet(one: str | None, other: str | None) -> bool:
    return one is None or other is None or _HEIGHTS.get(one, one) == _HEIGHTS.get(other, other)


def _stated(draft: _Draft, weigh: Weigh) -> StatedFinding:
    narrow = [words for words in draft.words if is_narrower(words)]
    return StatedFinding(
        tuple(draft.findings),
        frozenset(draft.sides),
        draft.zone,
        draft.unsure,
        draft.degrees,
        draft.size,
        draft.misplaced,
        frozenset(draft.changes),
        draft.leads,
        narrow[0] if len(narrow) == len(draft.words) else None,
        weigh(draft.findings, max(draft.degrees.values(), default=None), draft.misplaced),
        tuple(draft.spans),
    )
