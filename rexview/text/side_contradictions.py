"""Find contradictions of side between two texts, or between two parts of one text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from rexview.geometry import OTHER_SIDE
from rexview.text.findings import Mention, SideSpan, finding_info, may_be_same_fracture
from rexview.text.phrases import list_names, word_set

_ASSERTED: Final = frozenset(("positive", "uncertain"))
_UNSPECIFIC: Final = frozenset(("opacity",))
_DISEASE: Final = "lung_abnormality"
_FLUID: Final = "pleural_fluid"
_NODES: Final = "mediastinal_widening"
_NODULE: Final = "nodule"
_GRANULOMA: Final = "granuloma"
_CONCLUSION: Final = re.compile(
    r"impression|conclu|summar|answer|final|overall|recommend|diagnosis|plan\b|next step|opinion"
    r"|in short|assessment|therefore|thus|hence|explanation|taken together|all in all|management"
)


def _by_family(groups: Sequence[frozenset[str]]) -> dict[str, frozenset[str]]:
    return {
        family: frozenset().union(*(group for group in groups if family in group)) - {family}
        for family in frozenset().union(*groups)
    }


_ALIAS: Final = _by_family([word_set("side_aliases", name) for name in list_names("side_aliases")])
_KIN: Final = _by_family([word_set("side_kin", name) for name in list_names("side_kin")])
_RIGHT: Final = re.compile(
    r"\b(?:rt|r|rij|rul|rml|rll|ru?z|rmz|rlz|rue|rsc|rscv"
    r"|middle[ -]lobe|(?:minor|horizontal)[ -]fissure)\b"
)
_LEFT: Final = re.compile(r"\b(?:lt|l|lij|lul|lll|lu?z|lmz|llz|lue|lsc|lscv|lingula\w*)\b")
_BOTH: Final = re.compile(
    r"\b(?:both|bilat\w*|bi-?(?:basal|basilar|apical|hilar)\w*|b/l|either|each)\b"
)
SidedFindings = dict[str, list[Mention]]
"""Findings that a text has on a side, by family."""
_REACH: Final = 160
"""Maximum characters of a span that shows a finding together with its side."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two mentions of one finding on different sides.

    ``kind`` is ``report`` (answer against report), ``incomplete`` (one of the two has both sides),
    ``predominance`` (both have both sides, and ``more`` holds for each the side with more of it,
    with offsets) or ``self`` (``contrary`` is in the answer too). ``claimed`` and ``known`` are the
    sides of all mentions in answer and report if they differ from those of these two.
    """

    kind: Literal["report", "incomplete", "predominance", "self"]
    claim: Mention
    contrary: Mention
    claimed: str = ""
    known: str = ""
    more: tuple[SideSpan, SideSpan] | None = None


@lru_cache(maxsize=256)
def has_side_words(text: str) -> tuple[bool, bool]:
    """Return whether a text has words for the right and for the left."""
    lower = text.lower()
    right = "right" in lower or _RIGHT.search(lower) is not None
    left = "left" in lower or _LEFT.search(lower) is not None
    return right, left


def _names_side(text: str) -> bool:
    """True if a text has words for the right, the left or both sides."""
    return any(has_side_words(text)) or _BOTH.search(text.lower()) is not None


def can_judge_text(text: str, report: str, *, boxed: bool) -> bool:
    """True if the sides that an answer names could be contradicted.

    They may be contradicted by the report, by the answer itself and, if ``boxed``, by boxes of the
    answer or the reference.
    """
    right, left = has_side_words(text)
    if (right and left) or ((right or left) and boxed):
        return True
    return both_name_a_side(text, report)


def both_name_a_side(text: str, report: str) -> bool:
    """True if an answer and its report both name a side."""
    return _names_side(text) and _names_side(report)


def find_mention_span(text: str, mention: Mention) -> tuple[int, int] | None:
    """Return the span of a finding and its side in a text; None if they are far apart."""
    if mention.side_start is None or mention.side_end is None:
        return mention.start, mention.end
    first, last = min(mention.start, mention.side_start), max(mention.end, mention.side_end)
    together = last - first <= _REACH and "\n" not in text[first:last]
    return (first, last) if together else None


def sided_by_family(mentions: Iterable[Mention]) -> SidedFindings:
    """Group the findings that a text has on a side by family."""
    families: SidedFindings = {}
    for mention in mentions:
        if mention.side is None or mention.side == "midline" or mention.superseded:
            continue
        if mention.status in _ASSERTED:
            families.setdefault(finding_info(mention.finding).family, []).append(mention)
    return families


def compare_with_report(answer: SidedFindings, reference: SidedFindings) -> list[Contradiction]:
    """Find the findings that the answer has on one side and the report only on the other.

    The result includes those that one of the two has on both sides and the other on one; their
    ``kind`` is different.
    """
    found = []
    families = set(answer)
    for family, claims in answer.items():
        reported = reference.get(family) or _related(family, families, reference)
        if not reported:
            continue
        claimed, known = join_sides(claims), join_sides(reported)
        if claimed == known or claimed is None or known is None:
            continue
        if "bilateral" in (claimed, known):
            one = next((m for m in claims if m.side == claimed), claims[0])
            other = next((m for m in reported if m.side == known), reported[0])
            single, text = (known, reference) if claimed == "bilateral" else (claimed, answer)
            if not _kin_on(OTHER_SIDE.get(single, ""), family, text):
                found.append(Contradiction("incomplete", one, other, claimed, known))
        elif not (
            _contradicted(claims, reported, answer, reference)
            or _may_be_calcified(claims, answer, reference)
            or _has_under_kin(known, family, reported, answer)
        ):
            found.append(Contradiction("report", claims[0], reported[0]))
    return found


def is_too_vague(item: Contradiction, answer: Iterable[Mention], report: Iterable[Mention]) -> bool:
    """True if two texts are too vague about a finding to report that a side is missing in one.

    The text with one side also mentions the finding without a side; or the other text has no word
    for both sides of the same finding (except fluid); or the name may mean many things, or
    something in the middle.
    """
    family = finding_info(item.claim.finding).family
    of_answer, of_report = (
        [
            mention
            for mention in mentions
            if finding_info(mention.finding).family == family
            and mention.status in _ASSERTED
            and not mention.superseded
        ]
        for mentions in (answer, report)
    )
    both, single = (of_answer, of_report) if item.claimed == "bilateral" else (of_report, of_answer)
    if any(mention.side is None for mention in single):
        return True
    names = {mention.finding for mention in single}
    alike = {mention.side for mention in both if mention.finding in names}
    if "bilateral" not in alike:  # "mass on the right, nodule on the left"
        sides = [mention.start for mention in both if mention.finding in names]
        together = len(set(sides)) < len(sides)  # "right upper and left lower lobe consolidation"
        return not {"left", "right"} <= alike or not (together or family == _FLUID)
    if family == _NODES:
        return True  # both hila, and nodes beside the trachea
    told = {mention.finding for mention in both}
    return names != told and not _UNSPECIFIC.isdisjoint(names | told)


def compare_related_findings(
    answer: SidedFindings, reference: SidedFindings, said: Set[str], report: Sequence[Mention]
) -> list[Contradiction]:
    """Find what the answer has on one side, and the report by a related name only on the other.

    A PICC may be the report's central line, and an opacity its atelectasis. The answer, whose
    families are ``said``, must have no finding by the report's name. The ``report`` must have none
    by the answer's name that may be on its side: "left lobectomy, volume loss".
    """
    found = []
    for family, claims in answer.items():
        claimed = join_sides(claims)
        others = _ALIAS.get(family, frozenset())
        if claimed not in OTHER_SIDE or family in reference or others & said:
            continue
        if _beside(claimed, family, report):
            continue
        kin = [mention for name in sorted(others) for mention in reference.get(name, ())]
        if (
            kin
            and join_sides(kin) == OTHER_SIDE[claimed]
            and not _kin_on(claimed, family, reference)
        ):
            found.append(Contradiction("report", claims[0], kin[0]))
    return found


def _beside(side: str | None, family: str, mentions: Sequence[Mention]) -> bool:
    """True if a finding of a family without a side shares a sentence with one on that side."""
    there = {mention.sentence for mention in mentions if mention.side == side}
    return any(
        mention.sentence in there
        for mention in mentions
        if finding_info(mention.finding).family == family and mention.status in _ASSERTED
    )


def find_mentioned_families(mentions: Iterable[Mention]) -> Set[str]:
    """Return the families of findings that a text mentions, except denied or supposed ones."""
    return {
        finding_info(mention.finding).family
        for mention in mentions
        if mention.status not in ("negated", "hypothetical")
    }


def _kin_on(side: str, family: str, text: SidedFindings) -> bool:
    """True if a text has on a side a finding that may be one of a family by another name."""
    return any(
        mention.side in (side, "bilateral")
        for name in _KIN.get(family, ())
        for mention in text.get(name, ())
    )


def _has_under_kin(
    known: str, family: str, reported: Sequence[Mention], answer: SidedFindings
) -> bool:
    """True if an answer has a report's opacity by a related name, on the same side."""
    vague = all(mention.finding in _UNSPECIFIC for mention in reported)
    named = {name: some for name, some in answer.items() if name != _DISEASE}
    return vague and _kin_on(known, family, named)


def _related(family: str, families: set[str], reference: SidedFindings) -> list[Mention]:
    """Return the findings that a fracture of an unnamed bone may mean, or the reverse.

    ``families`` are all families of the answer; if it names a bone too, that one is compared.
    """
    if family == "fracture" and any(may_be_same_fracture(family, name) for name in families):
        return []
    return [
        mention
        for name, reported in reference.items()
        if may_be_same_fracture(family, name)
        for mention in reported
    ]


def join_sides(mentions: Sequence[Mention]) -> str | None:
    """Return the side of some mentions of one finding; ``bilateral`` if they differ."""
    sides = {mention.side for mention in mentions}
    if "bilateral" in sides or len(sides) > 1:
        return "bilateral"
    return next(iter(sides), None)


def _contradicted(
    claims: Sequence[Mention],
    reported: Sequence[Mention],
    answer: SidedFindings,
    reference: SidedFindings,
) -> bool:
    """True if the report has another finding on the claimed side that the answer may mean.

    Findings that the answer has there too do not count.
    """
    ids = {mention.finding for mention in claims}
    if ids & {mention.finding for mention in reported} - _UNSPECIFIC:
        return False
    vague = not ids.isdisjoint(_UNSPECIFIC)
    region = finding_info(claims[0].finding).region
    reported_ids = {id(mention) for mention in reported}
    return any(
        mention.side in (claims[0].side, "bilateral")
        for family, mentions in reference.items()
        if not _has_there(answer, family, claims[0].side, by_name=vague)
        for mention in mentions
        if id(mention) not in reported_ids and finding_info(mention.finding).region == region
    )


def _may_be_calcified(
    claims: Sequence[Mention], answer: SidedFindings, reference: SidedFindings
) -> bool:
    """True if a nodule may be a granuloma that the report has on its side, and the answer lacks."""
    side = claims[0].side
    nodule = any(mention.finding == _NODULE for mention in claims)
    return (
        nodule
        and any(mention.side in (side, "bilateral") for mention in reference.get(_GRANULOMA, ()))
        and not answer.get(_GRANULOMA)
    )


def _has_there(answer: SidedFindings, family: str, side: str | None, *, by_name: bool) -> bool:
    """True if an answer has a finding on a side, by its name or by a possible other name."""
    others = () if by_name else _ALIAS.get(family, ())
    return any(
        mention.side in (side, "bilateral")
        for name in (family, *others)
        for mention in answer.get(name, ())
    )


def find_self_contradictions(
    answer: SidedFindings, reference: SidedFindings
) -> list[Contradiction]:
    """Find the findings that one answer has on different sides in different places.

    A finding that the report has on both sides is left out, because the answer then distinguishes
    two.
    """
    found = []
    for family, claims in answer.items():
        if join_sides(reference.get(family, ())) == "bilateral":
            continue
        pair = _opposed(claims)
        if pair is not None:
            found.append(Contradiction("self", pair[1], pair[0]))
    return found


def _opposed(claims: Sequence[Mention]) -> tuple[Mention, Mention] | None:
    """Return two mentions, the later of which presumes what the earlier one contradicts."""
    if any(mention.side == "bilateral" for mention in claims):
        return None
    if len({mention.side for mention in claims}) < 2:
        return None
    told, tabled = (
        [mention for mention in claims if mention.structured is structured]
        for structured in (False, True)
    )
    if len({mention.side for mention in told}) == len({mention.side for mention in tabled}) == 1:
        return told[0], tabled[0]  # a table or an object repeats the prose
    for earlier, later in pairwise(claims):
        if later.side == claims[0].side:
            continue
        if later.sentence == earlier.sentence and not later.refers_back:
            continue
        if later.refers_back or _sums_up(earlier, later) or _presumes(earlier, later):
            return earlier, later
        return None
    return None


def _sums_up(earlier: Mention, later: Mention) -> bool:
    """True if the later mention is in a conclusion and the earlier one is not."""
    if later.section is None or earlier.section == later.section:
        return False
    return _CONCLUSION.search(later.section) is not None


def _presumes(earlier: Mention, later: Mention) -> bool:
    """True if the later mention presumes that the finding is known: "the right effusion"."""
    return later.definite and not earlier.definite and not later.compared
