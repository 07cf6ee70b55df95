"""Laterality errors: a finding on the wrong side of the patient.

An answer is held against the report, against itself, against its own boxes and against reference
boxes; a chosen option against the correct one. The side of a box comes from the recorded size and
orientation of its image, so that no image file is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.boxes.labels import reference_evidence
from rexview.detect.boxes.placement import placed_boxes, placed_references
from rexview.detect.boxes.side_labels import claim_of, label_key
from rexview.detect.core.detector import flag, newest
from rexview.detect.findings import Mention, finding_info
from rexview.detect.findings.asserted import spoken, written
from rexview.detect.laterality.boxes import (
    Placed,
    against_boxes,
    place_boxes,
    place_evidence,
    reference_side,
)
from rexview.detect.laterality.choice import choices_with_sides, wrong_side_chosen
from rexview.detect.laterality.text import Contradiction, against_report, one_side, stated, within
from rexview.geometry import OTHER_SIDE
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score

_RIGHT: Final = r"(?i)\b(?:right|rt|r|rul|rml|rll|ru?z|rmz|rlz|middle[ -]lobe)\b|right"
_LEFT: Final = r"(?i)\b(?:left|lt|l|lul|lll|lu?z|lmz|llz|lingula\w*)\b|left"
_BOTH: Final = r"(?i)\b(?:both|bilat\w*|bi-?(?:basal|basilar|apical|hilar)\w*|b/l|either|each)\b"
_TURNS: Final = (
    r"(?i)image|picture|screen|film|display|viewer|observer|photo|frame|panel|figure|radiograph"
    r"|x-?ray|cxr|scan|monitor|plate|reader|opposite|contralateral|other|\bpic\b"
)
"""Words that may turn a side into the other."""
_REACH: Final = 160
"""Characters between a finding and its side up to which they are shown as one stretch of text."""


@dataclass(frozen=True)
class Laterality:
    """Flags findings on the wrong side.

    Kinds: ``report`` (the report has the finding on the other side only), ``self`` (the answer
    contradicts itself), ``boxes`` (a box lies on the other side than its label or the answer says),
    ``reference_boxes`` (the reference has boxes of the finding on the other side only), ``choice``
    (an option with the finding on the other side than the correct one is chosen) and, apart
    from these, ``bilateral`` (one of answer and report has one side of what the other has on both).

    Of a text longer than :data:`rexview.detect.findings.reading.LONGEST` only that much is read;
    what stands beyond it is neither flagged nor evidence.

    Examples
    --------
    In a notebook, for one answer of a review set::

        from rexview.detect import Laterality
        from rexview.reviewset import load

        review_set = load("assets/demo")
        case = review_set.case("demo-001")
        for answer in review_set.answers_of("demo-001"):
            for found in Laterality().find(case, answer, []):
                print(found.kind, found.message)
    """

    failure: str = "laterality_error"
    reads_scores: bool = False

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Go through all answers; look at those whose texts or boxes may contradict.

        What can be judged is an answer that names a side when the report does too, one that names
        both sides, one with a box that has a side of the patient and either a label or a text
        that claims one or a reference box of the same finding on the same image, and one that
        chooses an option with a side where the correct option (or else the report) has one.
        """
        texts = pl.concat(
            [_by_text(review_set), choices_with_sides(review_set, f"{_RIGHT}|{_LEFT}")]
        )
        boxes = _by_boxes(review_set)
        looks = texts.select("case", "model", pl.lit(None, pl.String).alias("kind"), "look")
        return pl.concat([boxes, looks])

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Look at one answer. Scores are not used."""
        placed = place_boxes(case, answer) if answer.boxes else []
        said = spoken(case, answer)
        claims = stated(said)
        both = [family for family, own in claims.items() if one_side(own) == "bilateral"]
        flags = [
            flag(self, answer, found.kind, found.message, found.evidence)
            for found in against_boxes(case, placed, both)
        ]
        flags += [
            flag(self, answer, "choice", message, evidence)
            for message, evidence in wrong_side_chosen(case, answer)
        ]
        if not claims:
            return flags
        report = written(case)
        known = [mention for _, mention in report]
        against = against_report(said, known)
        own = within(said, known)
        doubtful = {finding_info(item.claim.finding).family for item in own}
        for item in (*against, *own):
            family = finding_info(item.claim.finding).family
            if item.kind == "bilateral" and family in doubtful:
                continue
            message, evidence = _explain(item, case, answer, report, placed)
            flags.append(flag(self, answer, item.kind, message, evidence))
        flags += [
            flag(self, answer, "boxes", message, evidence)
            for message, evidence in _boxes_against_text(answer, said, placed)
        ]
        if case.reference_boxes:
            flags += [
                flag(self, answer, "reference_boxes", message, evidence)
                for message, evidence in _references_against_text(case, answer, said, placed)
            ]
        return flags


def _by_text(review_set: ReviewSet) -> pl.DataFrame:
    """Return ``case``, ``model``, ``look`` of the answers whose words can be judged.

    Where answer and report name the same side only, and no box and no side of the picture may say
    otherwise, they agree without a look.
    """
    report = pl.concat_str(
        [pl.col("report").struct.field(part).fill_null("") for part in ("findings", "impression")],
        separator="\n",
    )
    sided = review_set.cases.select(
        case="id",
        referenced=pl.col("reference_boxes").list.len().fill_null(0) > 0,
        report_right=report.str.contains(_RIGHT),
        report_left=report.str.contains(_LEFT),
        report_both=report.str.contains(_BOTH),
    ).with_columns(reported=pl.any_horizontal("report_right", "report_left", "report_both"))
    text = pl.col("text").fill_null("")
    right, left = text.str.contains(_RIGHT), text.str.contains(_LEFT)
    both = text.str.contains(_BOTH)
    boxed = (pl.col("boxes").list.len().fill_null(0) > 0) | pl.col("referenced")
    plain = ~(both | pl.col("report_both") | text.str.contains(_TURNS))
    agree = plain & (
        (right & ~left & pl.col("report_right") & ~pl.col("report_left"))
        | (left & ~right & pl.col("report_left") & ~pl.col("report_right"))
    )
    return (
        newest(review_set)
        .join(sided, on="case", how="left", maintain_order="left")
        .filter(
            ((right | left | both) & pl.col("reported").fill_null(False))
            | (right & left)
            | ((right | left) & boxed)
        )
        .select("case", "model", look=boxed | ~agree.fill_null(False))
    )


def _by_boxes(review_set: ReviewSet) -> pl.DataFrame:
    """Hold all boxes against their labels; where a reference may contradict, ask for a look."""
    other = pl.col("side").replace_strict(OTHER_SIDE, default=None, return_dtype=pl.String())
    references = placed_references(review_set).select("case", "image", "finding", "side")
    place = ["case", "image", "finding"]
    placed = placed_boxes(review_set).with_columns(other=other)
    known = references.select(place).unique().with_columns(referenced=pl.lit(True))
    contrary = references.unique().with_columns(contrary=pl.lit(True))
    boxes = placed.join(known, on=place, how="left").join(
        contrary, left_on=[*place, "other"], right_on=[*place, "side"], how="left"
    )
    judged = boxes.filter(pl.col("claim").is_not_null() | pl.col("referenced"))
    against_label = pl.when(pl.col("claim") == pl.col("other")).then(pl.lit("boxes"))
    return judged.select(
        "case",
        "model",
        against_label.alias("kind"),
        pl.col("contrary").fill_null(False).alias("look"),
    )


def _boxes_against_text(
    answer: Answer, said: Sequence[Mention], placed: Sequence[Placed]
) -> list[tuple[str, tuple[Evidence, ...]]]:
    """Hold boxes whose label claims no side against the side that the answer gives the finding."""
    found: list[tuple[str, tuple[Evidence, ...]]] = []
    for family, claims in stated(said).items():
        claimed = one_side(claims)
        own = [(box, side) for box, side in placed if label_key(box.label) == family]
        if claimed not in OTHER_SIDE or not own or any(claim_of(box.label) for box, _ in own):
            continue
        if all(side == OTHER_SIDE[claimed] for _, side in own):
            box, side = own[0]
            message = f"Answer: {_named(claims[0])}; its box lies on the {side}."
            text = _evidence("answer", answer.text or "", claims[0])
            found.append((message, (*text, place_evidence(box, str(side)))))
    return found


def _references_against_text(
    case: Case, answer: Answer, said: Sequence[Mention], placed: Sequence[Placed]
) -> list[tuple[str, tuple[Evidence, ...]]]:
    """Hold what an answer says without drawing it against the reference boxes of that finding."""
    found: list[tuple[str, tuple[Evidence, ...]]] = []
    drawn = {label_key(box.label) for box, _ in placed}
    references = [(box, reference_side(case, box)) for box in case.reference_boxes]
    for family, claims in stated(said).items():
        claimed = one_side(claims)
        own = [(box, side) for box, side in references if label_key(box.label) == family]
        if claimed not in OTHER_SIDE or family in drawn or not own:
            continue
        other = OTHER_SIDE[claimed]
        if all(side == other for _, side in own):
            box = own[0][0]
            message = f"Answer: {_named(claims[0])}; the reference box lies on the {other}."
            text = _evidence("answer", answer.text or "", claims[0])
            found.append((message, (*text, reference_evidence(box, other))))
    return found


def _explain(
    item: Contradiction,
    case: Case,
    answer: Answer,
    report: Sequence[tuple[str, Mention]],
    placed: Sequence[Placed],
) -> tuple[str, tuple[Evidence, ...]]:
    text = answer.text or ""
    claim, contrary = item.claim, item.contrary
    if item.kind == "self":
        message = f"The answer contradicts itself: {_named(contrary)} here, {claim.side} there."
        return message, (*_evidence("answer", text, contrary), *_evidence("answer", text, claim))
    part = next(name for name, mention in report if mention is contrary)
    other = str(contrary.side) if contrary.finding == claim.finding else _named(contrary)
    other = "both sides" if other == "bilateral" else other
    parts = [f"Answer: {_named(claim)}", f"report: {other}"]
    evidence = [
        *_evidence("answer", text, claim),
        *_evidence("report", getattr(case.report, part) or "", contrary, part),
    ]
    family = finding_info(claim.finding).family
    own = [(box, side) for box, side in placed if label_key(box.label) == family]
    sides = {side for _, side in own}
    if item.kind == "report" and len(sides) == 1 and own[0][1] in OTHER_SIDE:
        box, side = own[0]
        parts.append(f"its box lies on the {side}")
        evidence.append(place_evidence(box, str(side)))
    tail = " (one side of a bilateral finding)" if item.kind == "bilateral" else ""
    return "; ".join(parts) + f"{tail}.", tuple(evidence)


def _named(mention: Mention) -> str:
    return f"{mention.side} {finding_info(mention.finding).name}"


def _evidence(
    where: str, text: str, mention: Mention, part: str | None = None
) -> tuple[Evidence, ...]:
    """Show a mention with its side: one stretch where they stand close, else two."""
    places = [(mention.start, mention.end)]
    if mention.side_start is not None and mention.side_end is not None:
        places.append((mention.side_start, mention.side_end))
    first, last = min(a for a, _ in places), max(b for _, b in places)
    if last - first <= _REACH and "\n" not in text[first:last]:
        places = [(first, last)]
    return tuple(
        Evidence(where, text[a:b], part, a, b, side=mention.side) for a, b in sorted(places)
    )
