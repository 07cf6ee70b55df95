"""Boxes that the text says nothing of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rexview.detect.boxes.labels import claim_of, label_findings, short_label
from rexview.detect.boxes.position import box_evidence
from rexview.detect.core.detector import AnswerInCase, ScoreRule, flag, mention_evidence
from rexview.detect.findings import Mention, find_mentions, finding_info, may_be_same_fracture
from rexview.detect.phrases import word_set
from rexview.detect.report_comparison import MOST_READ
from rexview.detect.score_failures import low_image_score, low_image_score_rule
from rexview.geometry import OTHER_SIDE
from rexview.schema import AnswerBox, Evidence, Flag

_ANY_OPACITY: Final = "opacity"
"""A label of this finding is met by any finding of the lung: its name is that general."""
_ANY_FRACTURE: Final = "fracture"
"""A fracture of no named bone: "no fracture" denies one of any bone."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_STEM: Final = 5
_PLACES: Final = word_set("box_label", "place")


@dataclass(frozen=True)
class BoxUnrelated:
    """Flags boxes whose label names a finding or device that the answer does not report.

    Kinds: ``text`` (the label's finding is not in the answer, or only as absent) and ``scores``
    (final Image Style of at most 2, with boxes or pictures there). A label is met by any finding of
    its family, by the question and by the chosen option; a label that names no finding known to the
    lexicon gives no verdict, nor does an answer without text.
    """

    failure: str = "box_unrelated"

    def score_rule(self) -> ScoreRule:
        """Find low scores for the boxes of all answers."""
        return low_image_score_rule("image_style")

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether there are boxes, or a final Image Style."""
        by_text = bool(one.sure_boxes) and one.language is None
        return by_text or "image_style" in one.final.by_dimension

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the labels of the boxes against the text."""
        flags = []
        readable = bool(one.text.strip()) and len(one.text) <= MOST_READ and one.language is None
        if one.sure_boxes and readable:
            mentions = find_mentions(one.text)
            elsewhere = _mentions_elsewhere(one)
            for box in one.sure_boxes:
                unmet = _unmet(box, one.text, mentions, elsewhere)
                if unmet is not None:
                    flags.append(flag(self, one.answer, "text", *unmet))
        return flags + low_image_score(self, one, "image_style")


def _unmet(
    box: AnswerBox, text: str, mentions: Sequence[Mention], elsewhere: Sequence[Mention]
) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return message and evidence when the text does not report what a label names."""
    named = label_findings(box.label)
    if not named:
        return None
    named_mentions = [mention for mention in mentions if _meets(mention.finding, named)]
    if any(mention.status != "negated" for mention in named_mentions):
        return None
    label = short_label(box.label)
    denials = [mention for mention in named_mentions if _denies(mention, named, box.label)]
    if denials:
        message = f"The box “{label}” marks what the answer says is not there."
        return message, (box_evidence(box), mention_evidence("answer", text, denials[-1]))
    if any(_meets(mention.finding, named) for mention in elsewhere) or _worded(box.label, text):
        return None
    return f"The box “{label}” marks what the answer does not mention.", (box_evidence(box),)


def _mentions_elsewhere(one: AnswerInCase) -> list[Mention]:
    """Return what the question, the chosen option and the explanation mention."""
    chosen, options = one.answer.choice, one.case.options
    option = options[chosen] if chosen is not None and 0 <= chosen < len(options) else ""
    texts = (one.case.question, option, one.answer.explanation or "")
    return [mention for text in texts for mention in find_mentions(text[:MOST_READ])]


def _meets(finding: str, named: frozenset[str]) -> bool:
    return any(_same(finding, other) for other in named)


def _same(mentioned: str, named: str) -> bool:
    one, other = finding_info(mentioned), finding_info(named)
    if one.family == other.family:
        return True
    if named == _ANY_OPACITY:
        return one.region == "lung" and one.group == "finding"
    return may_be_same_fracture(mentioned, named)


def _denies(mention: Mention, named: frozenset[str], label: str | None) -> bool:
    """Whether a "no" is one of what a label names, not of another bone or the other side only."""
    families = {finding_info(other).family for other in named}
    denied = finding_info(mention.finding)
    if denied.family not in families and denied.id != _ANY_FRACTURE:
        return False
    claim = claim_of(label)
    return claim is None or mention.side != OTHER_SIDE[claim.side]


def _worded(label: str, text: str) -> bool:
    """Whether the text has all words of a label that are not about place or size."""
    stems = {word.lower()[:_STEM] for word in _WORD.findall(label) if word.lower() not in _PLACES}
    given = {word.lower()[:_STEM] for word in _WORD.findall(text)}
    return bool(stems) and stems <= given
