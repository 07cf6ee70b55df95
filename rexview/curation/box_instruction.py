"""The instruction to draw boxes that a question may carry: with it, without it.

Only some models draw, so each question is kept both ways. A sentence that asks for nothing but
boxes can be taken off; where boxes are asked for within another sentence, only a person can.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rexview.detect.box_failures import box_request

INSTRUCTION: Final = "Mark each finding that your answer rests on with a bounding box on the image."
"""What is added to a question to ask for boxes, unless somebody wrote it otherwise."""
_BOXES: Final = r"(?:bounding\s*-?\s*box(?:es)?|\bbox(?:es)?\b|\brectangles?\b)"
_DRAW: Final = re.compile(
    rf"^(?:please\s+|also\s+|then\s+|and\s+|,\s*)*(?:draw|mark|localis?ze?|localise|outline|indicate"
    rf"|annotate|highlight|provide|give|place|add|show|use|return|output|include|put|identify)\b"
    rf"[^?]*{_BOXES}[^?]*$",
    re.I,
)
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+(?=[A-Z(])")


@dataclass(frozen=True)
class BothWays:
    """A question without and with the instruction to draw boxes.

    ``woven_in`` says that the first asks for boxes, too, within a sentence that asks for more.
    """

    plain: str
    boxes: str

    @property
    def woven_in(self) -> bool:
        """Whether boxes are asked for within the question itself."""
        return asks_for_boxes(self.plain)


def asks_for_boxes(question: str) -> bool:
    """Whether a question asks for boxes or other marks on the image."""
    return box_request(question) is not None


def without_instruction(question: str) -> str:
    """Take off the sentences that ask for nothing but boxes; a question of no other is left.

    >>> without_instruction("Is there an effusion? Draw bounding boxes around it.")
    'Is there an effusion?'
    """
    sentences = _SENTENCE.split(question.strip())
    kept = [sentence for sentence in sentences if not _DRAW.match(sentence)]
    return " ".join(kept) if kept and len(kept) < len(sentences) else question.strip()


def both_ways(question: str, boxes_question: str | None = None) -> BothWays:
    """Return a question both ways; ``boxes_question`` is the second as a person wrote it."""
    plain = without_instruction(question)
    if boxes_question and boxes_question.strip():
        return BothWays(plain, boxes_question.strip())
    return BothWays(
        plain, question.strip() if asks_for_boxes(question) else f"{plain} {INSTRUCTION}"
    )
