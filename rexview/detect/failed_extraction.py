"""Choice questions without a usable choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexview.detect.core.detector import AnswerInCase, flag
from rexview.schema import Evidence, Flag

_SHOWN: Final = 120
"""Characters of the answer that are shown as evidence."""


@dataclass(frozen=True)
class FailedExtraction:
    """Flags answers to choice questions that name no option of the question.

    Kinds: ``no_choice`` (none could be taken from the answer) and ``no_option`` (its number is not
    among the options).
    """

    failure: str = "failed_extraction"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether the question offers a choice, and what was chosen can be read."""
        if one.case.question_type != "choice":
            return False
        return one.answer.choice is not None or one.language is None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Look at the number of the option that was taken from the answer."""
        choice, count = one.answer.choice, len(one.case.options)
        text = " ".join(one.text.split())
        if choice is None:
            kind, message = "no_choice", "No option could be taken from the answer."
            if not text:
                message = "No option was chosen: the answer is empty."
        elif choice < 0 or (count and choice >= count):
            kind = "no_option"
            message = f"Option number {choice + 1} was chosen; the question has {count} options."
        else:
            return []
        return [flag(self, one.answer, kind, message, (Evidence("answer", text[:_SHOWN]),))]
