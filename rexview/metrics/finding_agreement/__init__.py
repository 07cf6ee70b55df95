"""Compute the finding-level agreement of a report with its reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rexview.detect.report_comparison import families_related_to, zones_meet
from rexview.metrics.finding_agreement.stated_findings import (
    ReportPart,
    StatedFinding,
    StudyRequest,
    TextSpan,
    create_weigher,
    load_agreement_rules,
    read_stated_findings,
)
from rexview.text.findings import finding_info, may_be_same_fracture

# Agreement of a report with its reference about findings: one number from 0 to 1, and its parts.
#
# Definition and limits: ``docs/statistics.md``.

VERSION: Final = "2"
"""Version of the definition; values of different versions are not comparable."""
_REST: Final = 1
"""Weight of the rest of the chest, which counts as agreed."""


class PairedFinding(NamedTuple):
    """A finding that both texts have.

    ``differs`` are kinds of errors from ``vocab.EDIT_KINDS``: ``location``, ``severity``,
    ``measurement``, ``certainty``, ``descriptor``, ``comparison``, ``number``. The ``grave`` ones
    cost more than a share of the credit; ``otherwise`` is the credit without them.
    """

    reference: StatedFinding
    candidate: StatedFinding
    credit: float
    differs: tuple[str, ...] = ()
    grave: tuple[str, ...] = ()
    otherwise: float = 0.0

    @property
    def harm(self) -> int:
        """The weight of the pair: the greater one of the two findings."""
        return max(self.reference.harm, self.candidate.harm)


class UnpairedFinding(NamedTuple):
    """A finding that only one text has; ``against`` is the other text's denial, if any."""

    stated: StatedFinding
    against: TextSpan | None = None


@dataclass(frozen=True)
class FindingAgreement:
    """The agreement and its parts, the most serious first.

    Attributes
    ----------
    score : float
        0 to 1.
    agreed, swapped : tuple of PairedFinding
        In both texts; in both, but on opposite sides of the patient.
    missed, invented : tuple of UnpairedFinding
        Only in the reference; only in the candidate.
    """

    score: float
    agreed: tuple[PairedFinding, ...]
    swapped: tuple[PairedFinding, ...]
    missed: tuple[UnpairedFinding, ...]
    invented: tuple[UnpairedFinding, ...]


DeniedFindings = Sequence[tuple[str, TextSpan]]
"""Family and words of each finding that a text denies."""


def compare_findings(
    reference: Sequence[StatedFinding],
    candidate: Sequence[StatedFinding],
    denied_by_reference: DeniedFindings = (),
    denied_by_candidate: DeniedFindings = (),
) -> FindingAgreement:
    """Compare the findings that two texts state."""
    pairs, swapped, missed, invented = _paired(reference, candidate)
    credited = sum(2 * pair.credit * pair.harm for pair in pairs)
    possible = sum(2 * pair.harm for pair in (*pairs, *swapped))
    alone = sum(one.harm for one in (*missed, *invented))
    score = (_REST + credited) / (_REST + possible + alone)
    return FindingAgreement(
        _with_grave(score, pairs, swapped, missed, invented),
        tuple(sorted(pairs, key=lambda pair: -pair.harm)),
        tuple(sorted(swapped, key=lambda pair: -pair.harm)),
        _lone(missed, denied_by_candidate),
        _lone(invented, denied_by_reference),
    )


def _with_grave(
    score: float,
    pairs: Sequence[PairedFinding],
    swapped: Sequence[PairedFinding],
    missed: Sequence[StatedFinding],
    invented: Sequence[StatedFinding],
) -> float:
    """Subtract from the score the minimum cost of each grave error.

    The cost is relative to the score without these errors, because in a long report a share of the
    credit is next to nothing. Confusing one device with another is one such error.
    """
    kinds = [(kind, place) for place, pair in enumerate(pairs) for kind in pair.grave]
    errors = {one if one[0] != "number" else "number" for one in kinds}
    named = [pair.reference for pair in pairs]
    devices = [one for one in invented if _is_new_device(one, named, missed)]
    count = len(errors) + len(devices)
    if not count:
        return score
    taken = sorted((one.harm for one in missed if _is_device(one)), reverse=True)[: len(devices)]
    credited = sum(2 * pair.otherwise * pair.harm for pair in pairs) + 2 * sum(taken)
    possible = sum(2 * pair.harm for pair in (*pairs, *swapped)) + 2 * sum(taken)
    alone = sum(one.harm for one in (*missed, *invented))
    alone -= sum(taken) + sum(one.harm for one in devices)
    otherwise = (_REST + credited) / (_REST + possible + alone)
    return max(0.0, min(score, otherwise - count * load_agreement_rules().grave))


def _is_device(one: StatedFinding) -> bool:
    return finding_info(one.findings[0]).group == "device"


def _is_new_device(
    one: StatedFinding, named: Sequence[StatedFinding], missed: Sequence[StatedFinding]
) -> bool:
    """True if the reference has no such tube, line or pacemaker under another name.

    "PICC through the subclavian vein" may be read as two; a tube is "the tube" in either text.
    """
    if one.family not in load_agreement_rules().devices:
        return False
    related = families_related_to(one.family) | {one.family}
    if any(other.family in related for other in named):
        return False
    general = load_agreement_rules().general_devices
    return not any(
        other.family in related and {one.family, other.family} & general for other in missed
    )


def _paired(
    reference: Sequence[StatedFinding], candidate: Sequence[StatedFinding]
) -> tuple[list[PairedFinding], list[PairedFinding], list[StatedFinding], list[StatedFinding]]:
    """Pair findings, the most similar first; the rest is missed or invented."""
    possible = [
        (pair, r, c)
        for r, expected in enumerate(reference)
        for c, given in enumerate(candidate)
        if (pair := _pair(expected, given)) is not None
    ]
    possible.sort(key=lambda one: (not _called_alike(one[0]), -one[0].credit, -one[0].harm))
    taken_r, taken_c = set[int](), set[int]()
    pairs: list[PairedFinding] = []
    swapped: list[PairedFinding] = []
    for pair, r, c in possible:
        if r not in taken_r and c not in taken_c:
            taken_r.add(r)
            taken_c.add(c)
            (pairs if pair.credit else swapped).append(pair)
    missed = [one for r, one in enumerate(reference) if r not in taken_r]
    invented = [one for c, one in enumerate(candidate) if c not in taken_c]
    return pairs, swapped, missed, invented


def _called_alike(pair: PairedFinding) -> bool:
    """True if two findings have the same name; interpretations are compared after that."""
    return bool(pair.credit) and pair.reference.findings[0] == pair.candidate.findings[0]


def _lone(left: Sequence[StatedFinding], denied: DeniedFindings) -> tuple[UnpairedFinding, ...]:
    against = dict(reversed(denied))
    found = [UnpairedFinding(one, against.get(one.family)) for one in left]
    return tuple(sorted(found, key=lambda one: -one.stated.harm))


def _pair(reference: StatedFinding, candidate: StatedFinding) -> PairedFinding | None:
    """Compare two findings; None if they are not the same."""
    named = _same_finding(reference, candidate)
    if named is None:
        return None
    sides, given = reference.sides, candidate.sides
    if sides and given and not sides & given:
        # the sign of one finding on one side and of another on the other are two findings
        opposite = reference.family == candidate.family
        return PairedFinding(reference, candidate, 0.0, ("location",)) if opposite else None
    factors = {
        "descriptor": named * _narrowness(reference, candidate),
        "location": _place(reference, candidate),
        "severity": _severity(reference, candidate),
        "measurement": _size(reference, candidate),
        "certainty": _if(reference.unsure != candidate.unsure, "certainty"),
    }
    grave = {
        "location": _if(not _same_zone(reference, candidate), "other_zone"),
        "comparison": _if(
            not _is_device(reference) and not _same_course(reference.changes, candidate.changes),
            "other_change",
        ),
        "number": _if(not _same_number(reference.leads, candidate.leads), "other_number"),
    }
    least, otherwise = load_agreement_rules().credit["least"], math.prod(factors.values())
    return PairedFinding(
        reference,
        candidate,
        max(least, otherwise * math.prod(grave.values())),
        tuple(dict.fromkeys(k for k, one in (*factors.items(), *grave.items()) if one < 1)),
        tuple(k for k, one in grave.items() if one < 1),
        max(least, otherwise),
    )


def _if(differs: bool, name: str) -> float:
    return load_agreement_rules().credit[name] if differs else 1.0


def _same_finding(reference: StatedFinding, candidate: StatedFinding) -> float | None:
    """Return the credit for the names of two findings; None if they are not the same."""
    credits = [
        credit
        for one in reference.findings
        for other in candidate.findings
        if (credit := _same_name(one, other)) is not None
    ]
    if credits:
        return max(credits)
    known, sign = load_agreement_rules().signs, load_agreement_rules().credit["sign"]
    for one, other in ((reference, candidate), (candidate, reference)):
        words = (*(span.text.lower() for span in one.spans), *one.findings)
        if any(known[word] & set(other.findings) for word in words if word in known):
            return sign
    return None


def _same_name(one: str, other: str) -> float | None:
    credit = load_agreement_rules().credit
    if one == other:
        return 1.0
    if may_be_same_fracture(one, other):
        return credit["less_specific"] if other == "fracture" else credit["more_specific"]
    if finding_info(one).family != finding_info(other).family:
        return None
    if other in load_agreement_rules().general:
        return credit["less_specific"]
    if one in load_agreement_rules().general:
        return credit["more_specific"]
    return 1.0 if finding_info(one).family == "airspace_opacity" else credit["other_word"]


def _narrowness(reference: StatedFinding, candidate: StatedFinding) -> float:
    """Reduce the credit of two different narrow words ("empyema", "haemothorax") of one finding."""
    both = reference.narrow and candidate.narrow
    return _if(bool(both) and reference.narrow != candidate.narrow, "other_word")


def _place(reference: StatedFinding, candidate: StatedFinding) -> float:
    left = _if(reference.misplaced != candidate.misplaced, "position")
    if reference.sides and not candidate.sides:
        # bilateral findings are often named without sides: "pulmonary oedema"
        left *= _if(len(reference.sides) == 1, "side_not_said")
    elif reference.sides and reference.sides != candidate.sides:
        left *= load_agreement_rules().credit["one_side_of_two"]
    return left


_LOBES: Final = {lobe: lobe for lobe in ("RUL", "RML", "RLL", "LUL", "LLL")} | {"lingula": "LUL"}
_ZONES: Final = {
    **dict.fromkeys(("upper", "apex", "RUZ", "LUZ"), "upper"),
    **dict.fromkeys(("mid", "RMZ", "LMZ"), "mid"),
    **dict.fromkeys(("lower", "base", "RLZ", "LLZ", "costophrenic"), "lower"),
}


def _same_zone(reference: StatedFinding, candidate: StatedFinding) -> bool:
    """True if two zones can be one place: only equal lobes or zones.

    A bilateral finding may have another zone on each side.
    """
    expected, given = reference.zone, candidate.zone
    if len(reference.sides) > 1 or len(candidate.sides) > 1:
        return True
    for places in (_LOBES, _ZONES):
        if expected in places and given in places:
            return places[expected] == places[given]
    return zones_meet(expected, given)


def _same_course(expected: frozenset[str], given: frozenset[str]) -> bool:
    """True if two texts may mean the same course since the previous study; unknown ones do."""
    if not expected or not given or expected & given:
        return True
    return any(
        {one, other} in load_agreement_rules().changes_alike for one in expected for other in given
    )


def _same_number(expected: int | None, given: int | None) -> bool:
    return expected is None or given is None or expected == given


def _severity(reference: StatedFinding, candidate: StatedFinding) -> float:
    steps, not_said = [0.0], False
    for side in reference.sides or (None,):
        expected, given = reference.degree(side), candidate.degree(side)
        if expected is not None and given is not None:
            steps.append(abs(expected - given))
        else:
            not_said = not_said or expected is not None
    return float(load_agreement_rules().credit["severity_step"] ** max(steps)) * _if(
        not_said, "degree_not_said"
    )


def _size(reference: StatedFinding, candidate: StatedFinding) -> float:
    if not reference.size:
        return 1.0
    if not candidate.size:
        return load_agreement_rules().credit["degree_not_said"]
    doublings = abs(math.log2(candidate.size / reference.size))
    return float(load_agreement_rules().credit["size_doubled"] ** min(1.0, doublings))


__all__ = [
    "FindingAgreement",
    "Lone",
    "Pair",
    "ReportPart",
    "StatedFinding",
    "StudyRequest",
    "TextSpan",
    "compare",
    "create_weigher",
    "read_stated_findings",
]
