"""Find laterality errors: a finding on the wrong side of the patient.

An answer is compared with the report, with itself, with its own boxes and with reference boxes; a
chosen option is compared with the correct one. The side of a box is computed from the recorded size
and orientation of its image, so no image file is needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Final

from rexview.detect.box_labels import (
    box_evidence,
    label_key,
    read_label_side,
    reduce_label,
    reference_evidence,
    reference_side,
)
from rexview.detect.detector import AnswerInCase, Detector, make_flag
from rexview.detect.laterality.contradictions import (
    SidedBox,
    boxes_with_sides,
    can_judge_boxes,
    explain_contradiction,
    find_box_contradictions,
    find_contradictions,
    find_side_claims,
    name_with_side,
    select_box_family,
    side_evidence,
)
from rexview.detect.report_comparison import families_related_to
from rexview.geometry import OTHER_SIDE
from rexview.schema import Answer, AnswerBox, Case, Evidence, Flag
from rexview.text.choices.answer_cues import asks_for_absence
from rexview.text.findings import (
    REPORT_SECTIONS,
    Mention,
    convert_to_patient_sides,
    find_mentions,
    finding_info,
    may_be_same_fracture,
    misplaced_devices,
    report_text,
)
from rexview.text.phrases import whole_words
from rexview.text.side_contradictions import (
    both_name_a_side,
    can_judge_text,
    find_mention_span,
    has_side_words,
    join_sides,
    sided_by_family,
)
from rexview.vocab import option_letter

# The side that an answer's text gives a finding, compared with the boxes of that finding.

_VIEWER: Final = whole_words("box_label", "viewer")
_PATIENT: Final = re.compile(r"\bpatient|\banatomic", re.IGNORECASE)
_CHAMBER: Final = whole_words("box_label", "side_of_heart")
_CAUSE: Final = whole_words("box_label", "cause")
_NUMBER: Final = re.compile(
    r"\W*(?:(?:fig(?:ure)?|box|no|nr|item|finding|roi)\b\W*)?(\d{1,2})\W*", re.I
)
_PART: Final = re.compile(
    r"(?:#\s?|\(|^|(?<=[;\n] )|(?<=\n)|\[)(\d{1,2})(?:[.):\]]|(?=\s))", re.MULTILINE
)
_MEANT: Final = ("positive", "uncertain")
_Told = tuple[str, str, Evidence, Mention]
"""The kind of flag, the position of a box, the box as evidence, and the mention in the text."""


def find_text_box_contradictions(
    detector: Detector,
    one: AnswerInCase,
    claimed: Mapping[str, Sequence[Mention]],
    placed: Sequence[SidedBox],
) -> list[Flag]:
    """Compare the side that the answer gives a finding with the boxes of that finding.

    The answer's own boxes count if no label claims a side, and reference boxes if it drew none. A
    box whose label names no finding of the text is compared with everything it can be about.
    """
    references = [(box, reference_side(one.case, box)) for box in one.case.reference_boxes]
    if not placed and not references:
        return []
    told = {
        family: kept
        for family, claims in claimed.items()
        if (kept := [claim for claim in claims if _is_of_patient(one.text, claim)])
    }
    found: list[_Told] = []
    for family, claims in told.items():
        other = OTHER_SIDE.get(join_sides(claims) or "")
        drawn = select_box_family(placed, family)
        expected = select_box_family(references, family)
        if other is None or not all(side == other for _, side in drawn or expected):
            continue
        if drawn and not any(read_label_side(box.label) for box, _ in drawn):
            lies = f"its box lies on the {other}"
            found.append(("boxes", lies, box_evidence(drawn[0][0], other), claims[0]))
        elif expected and not drawn:
            lies = f"the reference box lies on the {other}"
            evidence = reference_evidence(expected[0][0], other)
            found.append(("reference_boxes", lies, evidence, claims[0]))
    found += _of_other_names(one, told, placed)
    return [
        make_flag(
            detector,
            one.answer,
            kind,
            f"Answer: {name_with_side(claim)}; {lies}.",
            (*side_evidence("answer", one.text, claim), box),
        )
        for kind, lies, box, claim in sorted(found, key=itemgetter(0))
    ]


def _is_of_patient(text: str, claim: Mention) -> bool:
    """True if a side is the patient's: not the viewer's, and not the "left heart"."""
    viewed = _VIEWER.search(text, *claim.sentence) and not _PATIENT.search(text, *claim.sentence)
    if viewed and not claim.image_side:  # otherwise it was read as the image's side
        return False
    start = claim.side_start
    return start is None or _CHAMBER.match(text, start) is None


def _of_other_names(
    one: AnswerInCase, told: Mapping[str, Sequence[Mention]], placed: Sequence[SidedBox]
) -> list[_Told]:
    """Find boxes on the other side than everything they can be about.

    They have no label, a number, or a name that the text does not use.
    """
    found: list[_Told] = []
    for box, side in placed:
        if side not in OTHER_SIDE or read_label_side(box.label) or label_key(box.label) in told:
            continue
        about = _claims_about(one, told, box)
        if about and join_sides(about) == OTHER_SIDE[side]:
            lies = f"its box lies on the {side}"
            found.append(("boxes", lies, box_evidence(box, side), about[0]))
    return found


def _claims_about(
    one: AnswerInCase, told: Mapping[str, Sequence[Mention]], box: AnswerBox
) -> Sequence[Mention]:
    number = _NUMBER.fullmatch(box.label)
    if number or not box.label.strip():
        return _all_sided(one, told, _part(one.text, number[1] if number else None))
    family = label_key(box.label)
    if family is None or reduce_label(box.label) is None:
        return ()
    said = [
        mention
        for mention in one.mentions
        if finding_info(mention.finding).family == family and mention.status in _MEANT
    ]
    if said:
        return _of_cause(one.text, told, said)
    kin = families_related_to(family)
    return [
        claim
        for name, claims in told.items()
        if name in kin or may_be_same_fracture(name, family)
        for claim in claims
    ]


def _part(text: str, number: str | None) -> tuple[int, int] | None:
    """Return where a text describes one of its numbered findings; None if it does not.

    Without a number, or in a text without numbered findings, it is the whole text.
    """
    starts = list(_PART.finditer(text))
    if number is None or len(starts) < 2:
        return 0, len(text)
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        if start[1] == number:
            return start.end(), after.start() if after else len(text)
    return None


def _all_sided(
    one: AnswerInCase, told: Mapping[str, Sequence[Mention]], part: tuple[int, int] | None
) -> Sequence[Mention]:
    """Return the claims in a part of the text if every finding there has a side; else empty."""
    if part is None:
        return ()
    first, last = part
    claims = [claim for some in told.values() for claim in some if first <= claim.start < last]
    places = {claim.start for claim in claims}
    unsided = any(
        mention.status in _MEANT and first <= mention.start < last and mention.start not in places
        for mention in one.mentions
    )
    return () if unsided else claims


def _of_cause(
    text: str, told: Mapping[str, Sequence[Mention]], said: Sequence[Mention]
) -> Sequence[Mention]:
    """Return the cause of a change without a side: "opacification after left pneumonectomy"."""
    if any(mention.side for mention in said):
        return ()
    if any(finding_info(mention.finding).region not in ("lung", "pleura") for mention in said):
        return ()
    sentences = {mention.sentence for mention in said if _CAUSE.search(text, *mention.sentence)}
    return [claim for some in told.values() for claim in some if claim.sentence in sentences]


# Choice questions whose chosen option puts a finding on the wrong side.
#
# The chosen option is a claim of the answer. It is compared with the correct option and the report.

_LONGEST: Final = 2_000
"""Characters of a question or option that are read."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A finding that an option puts on a side, with the offsets of the side's words."""

    mention: Mention
    span: tuple[int, int]


def can_judge_choice(case: Case, answer: Answer) -> bool:
    """True if both the chosen option and its reference (correct option or report) name a side."""
    chosen = _option(case, answer.choice)
    if case.question_type != "choice" or chosen is None or not any(has_side_words(chosen)):
        return False
    reference = report_text(case) if case.correct is None else _option(case, case.correct) or ""
    names_side = any(has_side_words(reference))
    return names_side and not _asks_for_absence(case.question, case.category)


def _option(case: Case, number: int | None) -> str | None:
    """Return the text of an option by its number; None if there is no such option."""
    known = number is not None and 0 <= number < len(case.options)
    return case.options[number] if known and number is not None else None


def find_wrong_side_choices(case: Case, answer: Answer) -> list[tuple[str, tuple[Evidence, ...]]]:
    """Return the findings that the chosen option has on one side, and the reference on the other.

    The reference is the correct option, or the report if the question has none. An option names its
    finding itself or leaves that to the question. There is no error if the correct option gives the
    finding no side or both. There is none either if the report contradicts the correct option: then
    the reference is in doubt.

    Returns
    -------
    list of tuple
        A message and the evidence for each.
    """
    choice, correct = answer.choice, case.correct
    option, right = _option(case, choice), _option(case, correct)
    if case.question_type != "choice" or choice is None or option is None or choice == correct:
        return []
    if _asks_for_absence(case.question, case.category):
        return []
    chosen = _claims(case, option)
    expected = _claims(case, right) if right is not None else {}
    found = []
    for family, claims in chosen.items():
        claimed = join_sides([claim.mention for claim in claims])
        if claimed not in OTHER_SIDE:
            continue
        other = OTHER_SIDE[claimed]
        reported = _reported(case, family)
        report_side = join_sides([mention for _, mention in reported])
        known = join_sides([claim.mention for claim in expected.get(family, ())])
        against = known if right is not None else report_side
        if against != other or (right is not None and report_side not in (None, other)):
            continue
        name = finding_info(claims[0].mention.finding).name
        message = f"Answer: option {option_letter(choice)}, {claimed} {name}"
        evidence = [_option_evidence("option", option, choice, claims[0])]
        if right is not None and correct is not None:
            message += f"; correct: option {option_letter(correct)}, {other}"
            evidence.append(_option_evidence("correct_option", right, correct, expected[family][0]))
        if reported:
            message += f"; report: {other}"
            evidence.append(_report_evidence(case, *reported[0]))
        found.append((f"{message}.", tuple(evidence)))
    return found


def _asks_for_absence(question: str, category: str | None) -> bool:
    """True if the right option of a question is what is *not* there."""
    return category == "negation_assessment" or asks_for_absence(question)


def _claims(case: Case, option: str) -> dict[str, list[_Claim]]:
    """Return the sides that an option gives findings, by family.

    "On the right, large" means the one finding that the question asks about.
    """
    option = option[:_LONGEST]
    mentions = find_mentions(option)
    lead = 0
    if not mentions:
        asked = _asked_finding(case.question[:_LONGEST])
        if asked is None:
            return {}
        before = f"{finding_info(asked).name}: "
        lead = len(before)
        mentions = find_mentions(before + option)
    claims: dict[str, list[_Claim]] = {}
    for family, sided in sided_by_family(convert_to_patient_sides(case, mentions)).items():
        if lead and misplaced_devices(sided[0].finding):
            continue  # "where does the tube end?" does not ask for the tube's side
        claims[family] = [
            _Claim(mention, (mention.side_start - lead, mention.side_end - lead))
            for mention in sided
            if mention.side_start is not None
            and mention.side_end is not None
            and mention.side_start >= lead
        ]
    return {family: sided for family, sided in claims.items() if sided}


@lru_cache(maxsize=256)
def _asked_finding(question: str) -> str | None:
    """Return the one finding that a question names; None if there are several or none."""
    findings = {mention.finding for mention in find_mentions(question)}
    return findings.pop() if len(findings) == 1 else None


def _reported(case: Case, family: str) -> list[tuple[str, Mention]]:
    """Return the report's mentions of a family with a side, each with its section."""
    return [
        (section, mention)
        for section in REPORT_SECTIONS
        for mention in sided_by_family(find_mentions(getattr(case.report, section))).get(family, ())
    ]


def _option_evidence(where: str, option: str, number: int, claim: _Claim) -> Evidence:
    """Return evidence for the words of an option that give the side; ``field`` counts from 0."""
    start, end = claim.span
    return Evidence(where, option[start:end], str(number), start, end, side=claim.mention.side)


def _report_evidence(case: Case, section: str, mention: Mention) -> Evidence:
    text = getattr(case.report, section) or ""
    start, end = find_mention_span(text, mention) or (mention.start, mention.end)
    return Evidence("report", text[start:end], section, start, end, side=mention.side)


@dataclass(frozen=True)
class Laterality:
    """Flags findings on the wrong side.

    Kinds: ``report`` (the report has the finding on the other side only), ``predominance`` (both
    have it on both sides, the report more of it on the other), ``self`` (the answer contradicts
    itself), ``boxes`` (a box is on the other side than its label or the answer claims),
    ``reference_boxes`` (the reference has boxes of the finding on the other side only), ``choice``
    (the chosen option has the finding on the other side than the correct one). It is no error to
    name one side of a finding that the other text has on both: see :class:`SideIncomplete`.

    Of a text longer than :data:`.LONGEST` only that many characters
    are read. The rest is neither flagged nor evidence.

    Examples
    --------
    In a notebook, for one answer of a review set::

        from rexview.detect import find_flags_for_answers
        from rexview.detect.laterality.detector import Laterality
        from rexview.reviewset import load_review_set

        review_set = load_review_set("assets/demo")
        case, answers = review_set.case("demo-001"), review_set.answers_of("demo-001")
        for found in find_flags_for_answers(case, answers, detectors=[Laterality()]):
            print(found.model, found.kind, found.message)
    """

    failure: str = "laterality_error"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if a text, a chosen option or a box gives a side that could be contradicted."""
        case, answer = one.case, one.answer
        placed = boxes_with_sides(case, answer)
        boxed = bool(placed or case.reference_boxes)
        text = "" if one.language else one.text
        report = "" if one.report_language else report_text(case)
        return (
            can_judge_text(text, report, boxed=boxed)
            or (not any(has_side_words(text)) and bool(find_side_claims(one)))
            or can_judge_choice(case, answer)
            or can_judge_boxes(case, placed)
        )

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the answer with its boxes, its choice, the report, itself and the reference."""
        case, answer = one.case, one.answer
        placed = boxes_with_sides(case, answer)
        claims = find_side_claims(one)
        flags = [
            make_flag(self, answer, found.kind, found.message, found.evidence)
            for found in (find_box_contradictions(case, placed, _on_both(claims)) if placed else ())
        ]
        flags += [
            make_flag(self, answer, "choice", message, evidence)
            for message, evidence in find_wrong_side_choices(case, answer)
        ]
        if not claims:
            return flags
        for item in one.once(find_contradictions):
            if item.kind != "incomplete":
                message, evidence = explain_contradiction(item, one, placed)
                flags.append(make_flag(self, answer, item.kind, message, evidence))
        return flags + find_text_box_contradictions(self, one, claims, placed)


def _on_both(claims: Mapping[str, Sequence[Mention]]) -> list[str]:
    """Return the families of findings that an answer has on both sides."""
    return [family for family, sided in claims.items() if join_sides(sided) == "bilateral"]


# One side of a bilateral finding: a hint, not a laterality error.


@dataclass(frozen=True)
class SideIncomplete:
    """Hints at findings on both sides in either the answer or the report, on one side in the other.

    Kind: ``hint``. It was the kind ``bilateral`` of a laterality error in the past. In reports by
    real models most such answers named the right side.
    """

    failure: str = "side_incomplete"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if the answer and the report name a side."""
        if one.language or one.report_language:
            return False
        return both_name_a_side(one.text, report_text(one.case))

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the answer with its report."""
        return [
            make_flag(self, one.answer, "hint", *explain_contradiction(item, one, ()))
            for item in one.once(find_contradictions)
            if item.kind == "incomplete"
        ]
