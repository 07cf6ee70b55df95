"""Boxes that the text says nothing of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.boxes.judged import boxed_answers, score_flags
from rexview.detect.boxes.labels import box_evidence, label_findings, short_label
from rexview.detect.boxes.side_labels import claim_of
from rexview.detect.comparison import MOST_READ
from rexview.detect.core.detector import flag
from rexview.detect.findings import Mention, find_mentions, finding_info, may_be_same_fracture
from rexview.geometry import OTHER_SIDE
from rexview.schema import Answer, AnswerBox, Case, Evidence, Flag, ReviewSet, Score

_ANY_OPACITY: Final = "opacity"
"""A label of this finding is met by any finding of the lung: its name is that general."""
_ANY_FRACTURE: Final = "fracture"
"""A fracture of no named bone: "no fracture" denies one of any bone."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_STEM: Final = 5
_PLACES: Final = frozenset(
    (
        *("right", "left", "bilateral", "upper", "lower", "middle", "mid", "zone", "lobe", "lung"),
        *("base", "basal", "apical", "apex", "hilar", "side", "sided", "hemithorax", "small"),
        *("large", "moderate", "new", "old", "possible", "region", "area", "the", "and", "with"),
        *("residual", "tip", "end"),
    )
)


@dataclass(frozen=True)
class BoxUnrelated:
    """Flags boxes whose label names a finding or device that the answer does not report.

    Kinds: ``text`` (the label's finding is not in the answer, or only as absent) and ``scores``
    (final Image Style of at most 2, with boxes or pictures there). A label is met by any finding of
    its family, by the question and by the chosen option; a label that names no finding known to the
    lexicon gives no verdict, nor does an answer without text.
    """

    failure: str = "box_unrelated"
    reads_scores: bool = True

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Ask for a look at answers with boxes, or with a final Image Style."""
        return boxed_answers(review_set, "image_style")

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Hold the labels of one answer against its text."""
        flags = []
        text = answer.text or ""
        if answer.boxes and text.strip() and len(text) <= MOST_READ:
            said = find_mentions(text)
            also = _also_said(case, answer)
            for box in answer.boxes:
                unmet = _unmet(box, text, said, also)
                if unmet is not None:
                    flags.append(flag(self, answer, "text", *unmet))
        return flags + score_flags(self, answer, scores, "image_style", "Image Style")


def _unmet(
    box: AnswerBox, text: str, said: Sequence[Mention], also: Sequence[Mention]
) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return message and evidence when the text does not report what a label names."""
    named = label_findings(box.label)
    if not named:
        return None
    own = [mention for mention in said if _meets(mention.finding, named)]
    if any(mention.status != "negated" for mention in own):
        return None
    label = short_label(box.label)
    denials = [mention for mention in own if _denies(mention, named, box.label)]
    if denials:
        last = denials[-1]
        words = text[last.start : last.end]
        spot = Evidence("answer", words, start=last.start, end=last.end, side=last.side)
        message = f"The box “{label}” marks what the answer says is not there."
        return message, (box_evidence(box), spot)
    if any(_meets(mention.finding, named) for mention in also) or _worded(box.label, text):
        return None
    return f"The box “{label}” marks what the answer does not mention.", (box_evidence(box),)


def _also_said(case: Case, answer: Answer) -> list[Mention]:
    """Return what the question, the chosen option and the explanation speak of."""
    chosen = answer.choice
    option = ""
    if chosen is not None and 0 <= chosen < len(case.options):
        option = case.options[chosen]
    texts = (case.question, option, answer.explanation or "")
    return [mention for text in texts for mention in find_mentions(text[:MOST_READ])]


def _meets(finding: str, named: frozenset[str]) -> bool:
    return any(_same(finding, other) for other in named)


def _same(said: str, named: str) -> bool:
    one, other = finding_info(said), finding_info(named)
    if one.family == other.family:
        return True
    if named == _ANY_OPACITY:
        return one.region == "lung" and one.group == "finding"
    return may_be_same_fracture(said, named)


def _denies(mention: Mention, named: frozenset[str], label: str | None) -> bool:
    """Whether a "no" is one of what a label names, not of another bone or the other side only."""
    families = {finding_info(other).family for other in named}
    said = finding_info(mention.finding)
    if said.family not in families and said.id != _ANY_FRACTURE:
        return False
    claim = claim_of(label)
    return claim is None or mention.side != OTHER_SIDE[claim.side]


def _worded(label: str, text: str) -> bool:
    """Whether the text has all words of a label that are not about place or size."""
    stems = {word.lower()[:_STEM] for word in _WORD.findall(label) if word.lower() not in _PLACES}
    given = {word.lower()[:_STEM] for word in _WORD.findall(text)}
    return bool(stems) and stems <= given
