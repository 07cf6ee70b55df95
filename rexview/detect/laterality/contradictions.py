"""Find contradictions of side between an answer and its report, and explain them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from rexview.detect.box_labels import (
    box_evidence,
    find_box_image,
    find_box_side,
    label_key,
    read_label_side,
    reference_evidence,
    reference_side,
    short_label,
)
from rexview.detect.detector import AnswerInCase
from rexview.detect.report_comparison import ASKS_SIDE, find_conclusion
from rexview.geometry import OTHER_SIDE, BoxSide
from rexview.schema import Answer, AnswerBox, Case, Evidence, ReferenceBox
from rexview.text.findings import (
    REPORT_SECTIONS,
    Mention,
    SideSpan,
    find_mentions,
    find_sides,
    finding_info,
    report_text,
)
from rexview.text.phrases import list_names, whole_words
from rexview.text.predominance import Predominance, compare_predominances, find_predominances
from rexview.text.side_contradictions import (
    Contradiction,
    SidedFindings,
    compare_related_findings,
    compare_with_report,
    find_mention_span,
    find_mentioned_families,
    find_self_contradictions,
    has_side_words,
    is_too_vague,
    join_sides,
    sided_by_family,
)

# Answers that give only a side; the question names the finding, or its options name the sides.

_LONGEST: Final = 2_000
"""Characters of a question or answer that are read."""
_OPTION: Final = re.compile(r"(?:^|(?<=\s))\(?([A-Ha-h1-8])[).:]\s+")
_CHOSEN: Final = re.compile(
    r"\W*(?:(?:the |my |correct |right |best |final )*(?:answer|option|choice)(?: is)?\W+)?"
    r"\(?([A-Ha-h1-8])(?:[).:,*_\]]|\s*[-–—=(\n]|\s*$)",
    re.IGNORECASE,
)
_AFFIRMS: Final = re.compile(r"\W*(?P<yes>yes|correct|affirmative)(?=\W|$)", re.IGNORECASE)
_FIRST: Final = re.compile(r"\s*\S[^\n]{0,160}?[.!;](?=\s)|[^\n]{1,160}(?=\n)")
"""The first sentence or line of a text."""
_ORGAN: Final = whole_words("question", "organ")
"""Organs whose side a question may ask for, in place of a finding's."""
_OTHER_SIDE: Final = re.compile(
    r"\b(?:both|bilat\w*|other|opposite|contralat\w*|either|not (?:on|in) (?:that|this) \w+)\b",
    re.IGNORECASE,
)
_PLACED: Final = ("lung", "pleura")
"""Regions of findings that can be in the part of the chest that the question names."""
_FEWEST: Final = 2
"""Minimum number of options in a choice."""


def read_reply_side(case: Case, text: str) -> list[Mention]:
    """Return the side that an answer gives the one finding of its question without naming it.

    Examples: "On the right.", or "B" if the question lists "B) Right". If the question names
    several findings, the one to which the report gives a side is meant. If it names none and asks
    for a side or a lobe, the report's finding is meant. The result is empty if the answer names
    both sides, or the question names the side itself.
    """
    question = case.question[:_LONGEST]
    if not text or len(text) > _LONGEST or not question or case.options:
        return []
    stem, options = _options(question)
    chosen = _CHOSEN.match(text)
    said = options.get(chosen[1].lower()) if chosen else None
    asked = [m for m in find_mentions(stem) if finding_info(m.finding).sided]
    findings = {mention.finding for mention in asked}
    if said is not None and chosen is not None:
        own = sided_by_family(find_mentions(said)) or _named(findings, said) or _alone(said)
        return [
            mention._replace(
                start=chosen.start(1), end=chosen.end(1), side_start=None, side_end=None
            )
            for mentions in own.values()
            for mention in mentions[:1]
        ]
    if not options and (len(findings) != 1 or ASKS_SIDE.search(stem)):
        findings = _of_report(case, findings, stem)
    right, left = has_side_words(text)
    if not (right or left) and (affirmed := _AFFIRMS.match(text)):
        return _affirmed(case, asked, *affirmed.span("yes"))
    if right == left or len(findings) != 1 or any(mention.side for mention in asked):
        return []
    lead = len(_lead(findings))
    return [
        mention._replace(
            start=mention.side_start - lead,
            end=mention.side_end - lead,
            side_start=mention.side_start - lead,
            side_end=mention.side_end - lead,
        )
        for mentions in (_named(findings, text) or _alone(_lead(findings) + text)).values()
        for mention in mentions[:1]
        if mention.side_start is not None
        and mention.side_end is not None
        and mention.side_start >= lead > mention.start
    ]


def _affirmed(case: Case, asked: list[Mention], start: int, end: int) -> list[Mention]:
    """Return the side of a question that an answer affirms by the "yes" from ``start`` to ``end``.

    Only for a question about one finding on one side, which the report has on one side too.
    """
    sides = {mention.side for mention in asked}
    if len({mention.finding for mention in asked}) != 1 or not sides <= OTHER_SIDE.keys():
        return []
    reported = sided_by_family(find_mentions(report_text(case)))
    known = join_sides(reported.get(finding_info(asked[0].finding).family, ()))
    if len(sides) != 1 or known not in OTHER_SIDE:
        return []
    return [
        asked[0]._replace(
            start=start,
            end=end,
            side_start=None,
            side_end=None,
            status="positive",
            superseded=False,
        )
    ]


def read_first_reply_side(case: Case, text: str, claims: Collection[str]) -> list[Mention]:
    """Return the side in the first sentence of a longer answer.

    ``claims`` are the families to which the answer itself gives a side; they are left out. Example:
    "(1) - left lower zone. There is a plaque on the right, too."
    """
    question = case.question[:_LONGEST]
    if not (ASKS_SIDE.search(question) or find_mentions(question)):
        return []
    end = _FIRST.match(text)
    reply = text[: end.end()] if end else text
    if len(reply) == len(text) or any(
        mention.status in ("positive", "uncertain") for mention in find_mentions(reply)
    ):
        return []
    return [
        mention
        for mention in read_reply_side(case, reply)
        if finding_info(mention.finding).family not in claims
    ]


def assign_side_of_question(case: Case, text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Give an answer's findings without a side the one side of the chest that the question names.

    Examples: "What do you see in the left base?", "A patchy opacity." If the question names a
    finding, only that one gets the side: "Is there a left effusion?", "Yes, a small effusion." The
    result is empty if the answer names a side, or refers to the other one.
    """
    question = case.question[:_LONGEST]
    if any(has_side_words(text)) or not any(has_side_words(question)) or _OTHER_SIDE.search(text):
        return []
    asked = [one for one in find_mentions(question) if finding_info(one.finding).sided]
    sides = {side for side, _, _ in find_sides(question)}
    if len(sides) != 1 or not sides <= OTHER_SIDE.keys():
        return []
    families = {finding_info(one.finding).family for one in asked}
    side = sides.pop()
    return [
        mention._replace(side=side)
        for mention in mentions
        if mention.side is None and mention.status in ("positive", "uncertain")
        if finding_info(mention.finding).sided
        if finding_info(mention.finding).family in families
        or (not families and finding_info(mention.finding).region in _PLACED)
    ]


def _of_report(case: Case, findings: set[str], stem: str) -> set[str]:
    """Return the one finding that a question may be about, according to the report; else empty."""
    reported = sided_by_family(find_mentions(report_text(case)))
    if findings:
        families = {finding_info(finding).family: finding for finding in sorted(findings)}
        both = families.keys() & reported.keys()
        if both or len(families) > 1 or not ASKS_SIDE.search(stem):
            return {families[both.pop()]} if len(both) == 1 else findings
    if not ASKS_SIDE.search(stem) or _ORGAN.search(stem):
        return set()
    sides = {join_sides(mentions) for mentions in reported.values()}
    if len(sides) != 1 or not sides <= OTHER_SIDE.keys():
        return set()
    return {next(iter(reported.values()))[0].finding}


def _named(findings: set[str], said: str) -> dict[str, list[Mention]]:
    """Read the sides in a text as those of the one finding that a question asks about."""
    if len(findings) != 1:
        return {}
    return sided_by_family(find_mentions(_lead(findings) + said))


def _alone(said: str) -> dict[str, list[Mention]]:
    """Give the one finding of a short text the one side that it names."""
    places = find_sides(said)
    there = [
        mention
        for mention in find_mentions(said)
        if mention.status in ("positive", "uncertain") and finding_info(mention.finding).sided
    ]
    if len({side for side, _, _ in places}) != 1 or len({one.finding for one in there}) != 1:
        return {}
    side, start, end = places[0]
    return sided_by_family([there[0]._replace(side=side, side_start=start, side_end=end)])


def _lead(findings: set[str]) -> str:
    return f"{finding_info(next(iter(findings))).name}: "


def _options(question: str) -> tuple[str, dict[str, str]]:
    """Split a question into its stem and the options that it lists, by their letters."""
    marks = list(_OPTION.finditer(question))
    if len(marks) < _FEWEST or marks[0][1].lower() not in ("a", "1"):
        return question, {}
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    options = {
        mark[1].lower(): question[mark.end() : end] for mark, end in zip(marks, ends, strict=True)
    }
    return question[: marks[0].start()], options


# Two findings of one kind, one on each side, whose sides an answer swaps.
#
# Both texts have the kind on both sides, so no side contradicts by itself. The features that
# distinguish the two can: a line in the jugular and one in the subclavian vein, an old and a new
# fracture, an upper and a lower lobe.

_TRAITS: Final = {name: whole_words("told_apart", name) for name in list_names("told_apart")}
_HEIGHTS: Final = ("upper", "middle", "lower")
_BREAK: Final = re.compile(r"[.,;|\n()]|\band\b|\bwith\b(?! (?:its |the )?tip)", re.IGNORECASE)
_LENGTH: Final = re.compile(
    r"(?<![\d.,x×])(?P<number>\d{1,3}(?:[.,]\d{1,2})?)(?:\s?(?:[x×]|by)\s?\d{1,3}(?:[.,]\d{1,2})?)?[\s-]?"
    r"(?P<unit>mm|cm|millimet\w+|centimet\w+)\b(?!\s+(?:above|below|from|proximal|distal))",
    re.IGNORECASE,
)
_ALIKE: Final = 1.2
"""Maximum ratio of two lengths that are considered equal after rounding."""
_REACH: Final = 60
"""Characters around a finding and its side in which words distinguish it from another."""

TextOf = Callable[[Mention], str]
"""Returns the text that contains a mention."""


def find_swapped_sides(
    answer: SidedFindings, reference: SidedFindings, text: str, report_of: TextOf
) -> list[Contradiction]:
    """Find the kinds of findings on both sides whose sides the answer swaps."""
    found = []
    for family, claims in answer.items():
        reported = reference.get(family, ())
        if join_sides(reported) != "bilateral":
            continue
        ours, theirs = (
            [one for one in some if one.side in OTHER_SIDE] for some in (claims, reported)
        )
        each = _on_each(ours) and _on_each(theirs)
        pairs = _exchanged(ours, theirs, text, report_of) if each else []
        pairs = pairs or _moved(claims, reported, text, report_of)
        if pairs:
            found.append(Contradiction("report", *pairs[0]))
    return found


def _exchanged(
    claims: Sequence[Mention], reported: Sequence[Mention], text: str, report_of: TextOf
) -> list[tuple[Mention, Mention]]:
    """Return pairs of findings of a kind whose distinguishing feature changed sides."""
    claimed = _traits(claims, lambda _: text)
    known = _traits(reported, report_of)
    both = claimed.keys() & known.keys()
    changed = [name for name in sorted(both) if claimed[name].side != known[name].side]
    lengths = _with_lengths(claims, reported, text, report_of)
    if len(lengths) >= _FEWEST:
        return lengths
    if len(changed) < len(both):
        return []
    if len(changed) >= _FEWEST and len({known[name].side for name in both}) > 1:
        return [(claimed[name], known[name]) for name in changed]
    return lengths


def _moved(
    claims: Sequence[Mention], reported: Sequence[Mention], text: str, report_of: TextOf
) -> list[tuple[Mention, Mention]]:
    """Return a finding that the answer has on one side, and the report only on the other.

    Two findings of a kind are distinguished by their height or their age: "nodules in the left
    upper and right lower lobe", "... and one in the left lower zone".
    """
    for apart in (_heights, _ages):
        ours = [(claim, apart(text, claim)) for claim in claims]
        theirs = [(mention, apart(report_of(mention), mention)) for mention in reported]
        for claim, wanted in ours:
            if claim.side not in OTHER_SIDE or len(wanted) != 1:
                continue
            other = OTHER_SIDE[claim.side]
            if any(_may_be(mention, some, claim.side, wanted) for mention, some in theirs):
                continue
            if any(_may_be(mention, some, other, wanted) for mention, some in ours):
                continue
            there = [one for one, some in theirs if one.side == other and some == wanted]
            if there:
                return [(claim, there[0])]
    return []


def _heights(text: str, mention: Mention) -> frozenset[str]:
    """Return the heights at which a finding is, as far as its words reveal them."""
    around = _around(text, mention)
    told = frozenset(name for name in _HEIGHTS if _TRAITS[name].search(around))
    if told or mention.zone is None or mention.side not in OTHER_SIDE:
        return told
    lobe = mention.zone if mention.zone[0] == mention.side[0].upper() else ""
    return frozenset(name for name in _HEIGHTS if lobe and _TRAITS[name].search(lobe))


def _ages(text: str, mention: Mention) -> frozenset[str]:
    """Return whether a finding is new or old, as far as its words reveal it."""
    around = _around(text, mention)
    names = (("new", "new"), ("old", "old"), ("unchanged", "old"))
    return frozenset(age for name, age in names if _TRAITS[name].search(around))


def _may_be(mention: Mention, told: frozenset[str], side: str, wanted: frozenset[str]) -> bool:
    """True if a finding may be the wanted one on a side, as far as its words reveal it."""
    return mention.side in (side, "bilateral") and (not told or not told.isdisjoint(wanted))


def _with_lengths(
    claims: Sequence[Mention], reported: Sequence[Mention], text: str, report_of: TextOf
) -> list[tuple[Mention, Mention]]:
    """Return findings with the same length on different sides in the two texts.

    Empty if some length is on the same side in both texts. A length on both sides in the answer is
    left out.
    """
    ours = _lengths(claims, lambda _: text)
    theirs = _lengths(reported, report_of)
    pairs = []
    for length, claim in ours:
        same = [mention for other, mention in theirs if _alike(length, other)]
        if any(mention.side == claim.side for mention in same):
            return []
        again = [mention for other, mention in ours if _alike(length, other)]
        if same and all(mention.side == claim.side for mention in again):
            pairs.append((claim, same[0]))
    return pairs


def _lengths(mentions: Sequence[Mention], text_of: TextOf) -> list[tuple[float, Mention]]:
    """Return the lengths given for some mentions, in millimetres."""
    found = []
    for mention in mentions:
        text = text_of(mention)
        alone = [one.sentence for one in mentions].count(mention.sentence) == 1
        around = text[slice(*mention.sentence)] if alone else _around(text, mention)
        for match in _LENGTH.finditer(around):
            number = float(match["number"].replace(",", "."))
            found.append((number * (10 if match["unit"][0].lower() == "c" else 1), mention))
    return found


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= min(one, other) * _ALIKE


def _on_each(mentions: Sequence[Mention]) -> bool:
    """True if every mention is on one side, and together they are on both."""
    return {mention.side for mention in mentions} == set(OTHER_SIDE)


def _traits(mentions: Sequence[Mention], text_of: TextOf) -> dict[str, Mention]:
    """Return the features that mentions of only one side have, each with one of those mentions."""
    sides: dict[str, dict[str | None, Mention]] = {}
    for mention in mentions:
        around = _around(text_of(mention), mention)
        names = [name for name, words in _TRAITS.items() if words.search(around)]
        for name in (*names, mention.finding):
            sides.setdefault(name, {}).setdefault(mention.side, mention)
    return {name: next(iter(by.values())) for name, by in sides.items() if len(by) == 1}


def _around(text: str, mention: Mention) -> str:
    """Return the words around a finding's side, and around the finding if no mark parts them."""
    if mention.side_start is None or mention.side_end is None:
        return _up_to_marks(text, mention.start, mention.end)
    side = _up_to_marks(text, mention.side_start, mention.side_end)
    ends = sorted((mention.start, mention.end, mention.side_start, mention.side_end))
    if _BREAK.search(text, ends[1], ends[2]) or ends[2] - ends[1] > _REACH:
        return side
    return f"{side} {_up_to_marks(text, mention.start, mention.end)}"


def _up_to_marks(text: str, first: int, last: int) -> str:
    """Return a stretch of a text with the words around it, up to the next mark."""
    before = text[max(0, first - _REACH) : first]
    breaks = list(_BREAK.finditer(before))
    after = text[last : last + _REACH]
    stop = _BREAK.search(after)
    start = before[breaks[-1].end() :] if breaks else before
    return start + text[first:last] + (after[: stop.start()] if stop else after)


# Laterality errors shown by boxes: a box on the other side than its label or the reference.
#
# There is no verdict on a lateral or unknown view, a box across the midline, or a label that names
# only the image's side.


@dataclass(frozen=True, slots=True)
class BoxFlag:
    """A box on the wrong side: the kind of flag, its message and its evidence."""

    kind: Literal["boxes", "reference_boxes"]
    message: str
    evidence: tuple[Evidence, ...]


SidedBox = tuple[AnswerBox, BoxSide | None]
"""A box and the side of the patient that it is on."""


def boxes_with_sides(case: Case, answer: Answer) -> list[SidedBox]:
    """Return an answer's boxes with the side of the patient, except boxes of uncertain position."""
    return [(box, find_box_side(case, box)) for box in answer.boxes if not box.unsure]


def can_judge_boxes(case: Case, placed: Sequence[SidedBox]) -> bool:
    """True if a box has a side that its label or a reference box could contradict."""
    return any(
        side is not None and (read_label_side(box.label) is not None or _has_reference(case, box))
        for box, side in placed
    )


def _has_reference(case: Case, box: AnswerBox) -> bool:
    finding, image = label_key(box.label), find_box_image(case, box)
    return finding is not None and any(
        label_key(reference.label) == finding
        and find_box_image(case, reference) == image
        and find_box_side(case, reference) is not None
        for reference in case.reference_boxes
    )


def find_box_contradictions(
    case: Case, placed: Sequence[SidedBox], both: Collection[str] = ()
) -> list[BoxFlag]:
    """Compare boxes with their own labels and with the reference boxes.

    ``both`` are the families of findings that the answer reports on both sides. A reference box on
    one side does not contradict them, whichever of the two the answer drew.
    """
    flags: list[BoxFlag] = []
    for box, side in placed:
        if side not in OTHER_SIDE:
            continue
        lies = box_evidence(box, side)
        message = f"The box “{short_label(box.label)}” lies on the patient's {side}"
        claim = read_label_side(box.label)
        if claim is not None and claim.side == OTHER_SIDE[side]:
            label = Evidence(
                "box",
                box.label[claim.start : claim.end],
                "label",
                claim.start,
                claim.end,
                claim.side,
                box.image or None,
                box.box,
            )
            flags.append(BoxFlag("boxes", f"{message}.", (label, lies)))
        if label_key(box.label) in both:
            continue
        reference = _contrary_reference(case, box, side, placed)
        if reference is not None:
            other = OTHER_SIDE[side]
            message += f"; the reference box “{short_label(reference.label)}” lies on the {other}."
            shown = (lies, reference_evidence(reference, other))
            flags.append(BoxFlag("reference_boxes", message, shown))
    return flags


def _contrary_reference(
    case: Case,
    box: AnswerBox,
    side: str,
    placed: Sequence[SidedBox],
) -> ReferenceBox | None:
    """Return the box's first reference box if all of its finding are on the other side, else None.

    Also None if the answer boxes the finding on the right side too. Then the box is superfluous,
    and its side is not mistaken.
    """
    finding = label_key(box.label)
    if finding is None:
        return None
    image = find_box_image(case, box)
    references = [
        reference for reference in case.reference_boxes if label_key(reference.label) == finding
    ]
    if any(reference_side(case, reference) == side for reference in references):
        return None  # perhaps on another image: the reference has it on both sides
    references = [ref for ref in references if find_box_image(case, ref) == image]
    if not references or any(reference_side(case, ref) != OTHER_SIDE[side] for ref in references):
        return None
    same = [
        other_side
        for other, other_side in placed
        if label_key(other.label) == finding and find_box_image(case, other) == image
    ]
    return references[0] if all(other_side == side for other_side in same) else None


_JOINS: Final = re.compile(r"\b(?:and|with|plus|or)\b|[,;&/]")
_Sided = TypeVar("_Sided", bound=tuple[AnswerBox | ReferenceBox, str | None])


def find_side_claims(one: AnswerInCase) -> SidedFindings:
    """Return the findings that an answer claims on a side; if it thinks aloud, its conclusion's."""
    return one.once(_claims)


def _claims(one: AnswerInCase) -> SidedFindings:
    claims = sided_by_family(one.mentions)
    if not claims:
        if one.language:
            return {}
        asked = assign_side_of_question(one.case, one.text, one.mentions)
        return sided_by_family(asked or read_reply_side(one.case, one.text))
    if not one.language:
        for family, replied in sided_by_family(
            read_first_reply_side(one.case, one.text, claims)
        ).items():
            claims.setdefault(family, replied)
    concluding = find_conclusion(one.text) if claims else None
    if concluding is None:
        return claims
    for family, sided in claims.items():
        concluded = [mention for mention in sided if mention.start > concluding]
        claims[family] = concluded or sided
    return claims


def find_contradictions(one: AnswerInCase) -> tuple[Contradiction, ...]:
    """Find where an answer's sides contradict its report or each other.

    If the answer contradicts itself about a finding, a missing side of that finding is not
    reported.
    """
    claims = find_side_claims(one)
    if not claims:
        return ()
    report = [mention for _, mention in one.report_mentions]
    reported = sided_by_family(report)
    within = find_self_contradictions(claims, reported)
    doubtful = {finding_info(item.claim.finding).family for item in within}
    found = compare_with_report(claims, reported)
    found += compare_related_findings(
        claims, reported, find_mentioned_families(one.mentions), report
    )
    sections = {id(mention): section for section, mention in one.report_mentions}

    def report_of(mention: Mention) -> str:
        return getattr(one.case.report, sections[id(mention)]) or ""

    found += find_swapped_sides(claims, reported, one.text, report_of)
    if more := find_predominances(one.text, one.mentions):
        told = {finding_info(item.claim.finding).family for item in found}
        found += [
            item
            for item in compare_predominances(more, _more_in_report(one))
            if finding_info(item.claim.finding).family not in told
        ]
    against = (
        item
        for item in found
        if item.kind != "incomplete"
        or not (
            finding_info(item.claim.finding).family in doubtful
            or is_too_vague(item, one.mentions, report)
            or _shares_side(item, one.text, report_of)
        )
    )
    return (*against, *within)


def _shares_side(item: Contradiction, text: str, report_of: TextOf) -> bool:
    """True if a finding shares its one side with another: "left collapse and effusions".

    Then the finding may well be on both sides.
    """
    single = item.claim if item.known == "bilateral" else item.contrary
    if single.side_start is None or single.side_end is None:
        return False
    text = text if single is item.claim else report_of(single)
    ends = sorted((single.start, single.end, single.side_start, single.side_end))
    return _JOINS.search(text, ends[1], ends[2]) is not None


def _more_in_report(one: AnswerInCase) -> dict[str, list[Predominance]]:
    """Return where a report has more of a bilateral finding on one side, by family."""
    more: dict[str, list[Predominance]] = {}
    for section in REPORT_SECTIONS:
        mentions = [mention for name, mention in one.report_mentions if name == section]
        text = getattr(one.case.report, section) or ""
        for family, some in find_predominances(text, mentions).items():
            more.setdefault(family, []).extend(some)
    return more


def select_box_family(boxes: Iterable[_Sided], family: str) -> list[_Sided]:
    """Keep the boxes whose label belongs to a family of findings."""
    return [sided for sided in boxes if label_key(sided[0].label) == family]


def explain_contradiction(
    item: Contradiction, one: AnswerInCase, placed: Sequence[SidedBox]
) -> tuple[str, tuple[Evidence, ...]]:
    """Return the message and the evidence for a contradiction."""
    claim, contrary = item.claim, item.contrary
    stated = side_evidence("answer", one.text, claim)
    if item.kind == "self":
        message = (
            f"The answer contradicts itself: {name_with_side(contrary)} here, {claim.side} there."
        )
        return message, (*side_evidence("answer", one.text, contrary), *stated)
    section = next(name for name, mention in one.report_mentions if mention is contrary)
    if item.more is not None:
        return _explained_more(item, item.more, one, section)
    same = contrary.finding == claim.finding
    other = item.known or str(contrary.side)
    if other == "bilateral" and same:
        other = "both sides"
    elif not same:
        other = name_with_side(contrary, item.known)
    parts = [f"Answer: {name_with_side(claim, item.claimed)}", f"report: {other}"]
    report = getattr(one.case.report, section) or ""
    evidence = [*stated, *side_evidence("report", report, contrary, section)]
    family = finding_info(claim.finding).family
    drawn = select_box_family(placed, family)
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
    """Return the message and the evidence for a finding with more of it on the other side."""
    claim, contrary = (
        mention._replace(side=side, side_start=start, side_end=end)
        for mention, (side, start, end) in zip((item.claim, item.contrary), more, strict=True)
    )
    name = finding_info(claim.finding).name
    report = getattr(one.case.report, section) or ""
    return f"Answer: {name}, more on the {claim.side}; report: more on the {contrary.side}.", (
        *side_evidence("answer", one.text, claim),
        *side_evidence("report", report, contrary, section),
    )


def name_with_side(mention: Mention, side: str = "") -> str:
    """Return the name of a finding with its side, or with the side given."""
    return f"{side or mention.side} {finding_info(mention.finding).name}"


def side_evidence(
    where: str, text: str, mention: Mention, section: str | None = None
) -> tuple[Evidence, ...]:
    """Return evidence for a mention with its side: one span if they are close, else two."""
    together = find_mention_span(text, mention)
    spans = [together] if together else [(mention.start, mention.end)]
    if not together and mention.side_start is not None and mention.side_end is not None:
        spans.append((mention.side_start, mention.side_end))
    return tuple(
        Evidence(where, text[a:b], section, a, b, side=mention.side) for a, b in sorted(spans)
    )
