"""The side that an answer's text gives a finding, held against the boxes of that finding."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from rexview.detect.boxes.labels import claim_of, finding_of, label_key
from rexview.detect.boxes.position import box_evidence, reference_evidence, reference_side
from rexview.detect.core.detector import AnswerInCase, Detector, flag
from rexview.detect.findings import Mention, finding_info, may_be_same_fracture
from rexview.detect.laterality.boxes import SidedBox
from rexview.detect.laterality.text import one_side
from rexview.detect.laterality.told import evidence_of, named, of_family
from rexview.detect.phrases import whole_words
from rexview.detect.report_comparison import families_related_to
from rexview.geometry import OTHER_SIDE
from rexview.schema import AnswerBox, Evidence, Flag

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
"""A kind of flag, where a box lies, the box, and what the text says."""


def text_against_boxes(
    detector: Detector,
    one: AnswerInCase,
    claimed: Mapping[str, Sequence[Mention]],
    placed: Sequence[SidedBox],
) -> list[Flag]:
    """Hold the side that the answer gives a finding against the boxes of that finding.

    Its own boxes count where no label claims a side, those of the reference where it drew none.
    A box whose label names no finding of the text is held against all that it can be about.
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
        other = OTHER_SIDE.get(one_side(claims) or "")
        drawn = of_family(placed, family)
        expected = of_family(references, family)
        if other is None or not all(side == other for _, side in drawn or expected):
            continue
        if drawn and not any(claim_of(box.label) for box, _ in drawn):
            lies = f"its box lies on the {other}"
            found.append(("boxes", lies, box_evidence(drawn[0][0], other), claims[0]))
        elif expected and not drawn:
            lies = f"the reference box lies on the {other}"
            evidence = reference_evidence(expected[0][0], other)
            found.append(("reference_boxes", lies, evidence, claims[0]))
    found += _of_other_names(one, told, placed)
    return [
        flag(
            detector,
            one.answer,
            kind,
            f"Answer: {named(claim)}; {lies}.",
            (*evidence_of("answer", one.text, claim), box),
        )
        for kind, lies, box, claim in sorted(found, key=itemgetter(0))
    ]


def _is_of_patient(text: str, claim: Mention) -> bool:
    """Whether a side is the patient's: not as the viewer sees it, nor of the "left heart"."""
    viewed = _VIEWER.search(text, *claim.sentence) and not _PATIENT.search(text, *claim.sentence)
    if viewed and not claim.image_side:  # else it was read as the image's
        return False
    start = claim.side_start
    return start is None or _CHAMBER.match(text, start) is None


def _of_other_names(
    one: AnswerInCase, told: Mapping[str, Sequence[Mention]], placed: Sequence[SidedBox]
) -> list[_Told]:
    """Find boxes on the other side than all that they can be about.

    They have no label, a number, or a name that the text does not use.
    """
    found: list[_Told] = []
    for box, side in placed:
        if side not in OTHER_SIDE or claim_of(box.label) or label_key(box.label) in told:
            continue
        about = _claims_about(one, told, box)
        if about and one_side(about) == OTHER_SIDE[side]:
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
    if family is None or finding_of(box.label) is None:
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
    """Return where a text speaks of one of its numbered findings; None where it does not.

    Without a number, or in a text without numbered findings, all of it.
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
    """Return what a part of the text claims if all that it finds there has a side."""
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
    """Return what a change without a side comes from: "opacification after left pneumonectomy"."""
    if any(mention.side for mention in said):
        return ()
    if any(finding_info(mention.finding).region not in ("lung", "pleura") for mention in said):
        return ()
    sentences = {mention.sentence for mention in said if _CAUSE.search(text, *mention.sentence)}
    return [claim for some in told.values() for claim in some if claim.sentence in sentences]
