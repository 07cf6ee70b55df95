"""What an answer says of sides beside its report: contradictions, and how they are told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from rexview.detect.boxes.labels import label_key
from rexview.detect.boxes.position import box_evidence
from rexview.detect.core.detector import AnswerInCase
from rexview.detect.findings import REPORT_SECTIONS, Mention, SideSpan, finding_info
from rexview.detect.laterality.asked import first_reply, on_asked_side, side_in_reply
from rexview.detect.laterality.boxes import SidedBox
from rexview.detect.laterality.exchanged import TextOf, exchanged
from rexview.detect.laterality.predominance import (
    Predominance,
    against_predominance,
    predominances,
)
from rexview.detect.laterality.text import (
    Contradiction,
    Sided,
    against_kin,
    against_report,
    contradictions_within,
    families_said,
    loosely_told,
    sided_by_family,
    stretch,
)
from rexview.detect.thoughts import conclusion_of_thoughts
from rexview.geometry import OTHER_SIDE
from rexview.schema import AnswerBox, Evidence, ReferenceBox

_JOINS: Final = re.compile(r"\b(?:and|with|plus|or)\b|[,;&/]")
_Sided = TypeVar("_Sided", bound=tuple[AnswerBox | ReferenceBox, str | None])


def claims_of_answer(one: AnswerInCase) -> Sided:
    """Return what an answer says is there, on a side; of thoughts, what they came to."""
    return one.once(_claims)


def _claims(one: AnswerInCase) -> Sided:
    claims = sided_by_family(one.mentions)
    if not claims:
        if one.language:
            return {}
        asked = on_asked_side(one.case, one.text, one.mentions)
        return sided_by_family(asked or side_in_reply(one.case, one.text))
    if not one.language:
        for family, replied in sided_by_family(first_reply(one.case, one.text, claims)).items():
            claims.setdefault(family, replied)
    concluding = conclusion_of_thoughts(one.text) if claims else None
    if concluding is None:
        return claims
    for family, sided in claims.items():
        concluded = [mention for mention in sided if mention.start > concluding]
        claims[family] = concluded or sided
    return claims


def contradictions_of(one: AnswerInCase) -> tuple[Contradiction, ...]:
    """Find where an answer's sides contradict its report or each other.

    Of a finding that the answer itself is of two minds about, it is not said that a side lacks.
    """
    claims = claims_of_answer(one)
    if not claims:
        return ()
    report = [mention for _, mention in one.report_mentions]
    reported = sided_by_family(report)
    within = contradictions_within(claims, reported)
    doubtful = {finding_info(item.claim.finding).family for item in within}
    found = against_report(claims, reported)
    found += against_kin(claims, reported, families_said(one.mentions), report)
    sections = {id(mention): section for section, mention in one.report_mentions}

    def report_of(mention: Mention) -> str:
        return getattr(one.case.report, sections[id(mention)]) or ""

    found += exchanged(claims, reported, one.text, report_of)
    if more := predominances(one.text, one.mentions):
        told = {finding_info(item.claim.finding).family for item in found}
        found += [
            item
            for item in against_predominance(more, _more_in_report(one))
            if finding_info(item.claim.finding).family not in told
        ]
    against = (
        item
        for item in found
        if item.kind != "incomplete"
        or not (
            finding_info(item.claim.finding).family in doubtful
            or loosely_told(item, one.mentions, report)
            or _shares_side(item, one.text, report_of)
        )
    )
    return (*against, *within)


def _shares_side(item: Contradiction, text: str, report_of: TextOf) -> bool:
    """Whether the one side of a finding is told of another with it: "left collapse and effusions".

    Then the finding may well be on both sides.
    """
    single = item.claim if item.known == "bilateral" else item.contrary
    if single.side_start is None or single.side_end is None:
        return False
    text = text if single is item.claim else report_of(single)
    ends = sorted((single.start, single.end, single.side_start, single.side_end))
    return _JOINS.search(text, ends[1], ends[2]) is not None


def _more_in_report(one: AnswerInCase) -> dict[str, list[Predominance]]:
    """Read where a report has more of its findings on both sides."""
    more: dict[str, list[Predominance]] = {}
    for section in REPORT_SECTIONS:
        mentions = [mention for name, mention in one.report_mentions if name == section]
        text = getattr(one.case.report, section) or ""
        for family, some in predominances(text, mentions).items():
            more.setdefault(family, []).extend(some)
    return more


def of_family(boxes: Iterable[_Sided], family: str) -> list[_Sided]:
    """Keep the boxes whose label is of a family of findings."""
    return [sided for sided in boxes if label_key(sided[0].label) == family]


def explained(
    item: Contradiction, one: AnswerInCase, placed: Sequence[SidedBox]
) -> tuple[str, tuple[Evidence, ...]]:
    """Return the sentence and the evidence for a contradiction."""
    claim, contrary = item.claim, item.contrary
    stated = evidence_of("answer", one.text, claim)
    if item.kind == "self":
        message = f"The answer contradicts itself: {named(contrary)} here, {claim.side} there."
        return message, (*evidence_of("answer", one.text, contrary), *stated)
    section = next(name for name, mention in one.report_mentions if mention is contrary)
    if item.more is not None:
        return _explained_more(item, item.more, one, section)
    same = contrary.finding == claim.finding
    other = item.known or str(contrary.side)
    if other == "bilateral" and same:
        other = "both sides"
    elif not same:
        other = named(contrary, item.known)
    parts = [f"Answer: {named(claim, item.claimed)}", f"report: {other}"]
    report = getattr(one.case.report, section) or ""
    evidence = [*stated, *evidence_of("report", report, contrary, section)]
    family = finding_info(claim.finding).family
    drawn = of_family(placed, family)
    if (
        item.kind == "report"
        and len({side for _, side in drawn}) == 1
        and drawn[0][1] in OTHER_SIDE
    ):
        box, side = drawn[0]
        parts.append(f"its box lies on the {side}")
        evidence.append(box_evidence(box, side))
    tail = " (one side of a bilateral finding)" if item.kind == "incomplete" else ""
    return "; ".join(parts) + f"{tail}.", tuple(evidence)


def _explained_more(
    item: Contradiction, more: tuple[SideSpan, SideSpan], one: AnswerInCase, section: str
) -> tuple[str, tuple[Evidence, ...]]:
    """Return the sentence and the evidence for a finding with more of it on the other side."""
    claim, contrary = (
        mention._replace(side=side, side_start=start, side_end=end)
        for mention, (side, start, end) in zip((item.claim, item.contrary), more, strict=True)
    )
    name = finding_info(claim.finding).name
    report = getattr(one.case.report, section) or ""
    return f"Answer: {name}, more on the {claim.side}; report: more on the {contrary.side}.", (
        *evidence_of("answer", one.text, claim),
        *evidence_of("report", report, contrary, section),
    )


def named(mention: Mention, side: str = "") -> str:
    """Return a finding with its side, or with one that is given."""
    return f"{side or mention.side} {finding_info(mention.finding).name}"


def evidence_of(
    where: str, text: str, mention: Mention, section: str | None = None
) -> tuple[Evidence, ...]:
    """Show a mention with its side: one stretch where they stand close, else two."""
    together = stretch(text, mention)
    spans = [together] if together else [(mention.start, mention.end)]
    if not together and mention.side_start is not None and mention.side_end is not None:
        spans.append((mention.side_start, mention.side_end))
    return tuple(
        Evidence(where, text[a:b], section, a, b, side=mention.side) for a, b in sorted(spans)
    )
