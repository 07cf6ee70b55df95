"""Select the subjects of judges: answers as a blinded reader sees them, and their questions.

A judge learns nothing that is hidden from a blinded reader. Names of models are covered. Other
models' answers, the right option, readers' scores and flags, detectors' flags and metrics are left
out. The report is included only if the study's rules show it to readers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, NamedTuple

from rexview.answer_digest import digests_of
from rexview.rubric import RubricDimension
from rexview.schema import Answer, Case, Report, ReviewSet
from rexview.stats import find_status
from rexview.vocab import TEXT_DIMENSIONS

FAILURES: Final = ("laterality_error", "hallucination", "omission", "token_limit")
"""The failures on which a judge is asked for an opinion."""
OMISSION: Final = "omission"
"""Only for cases with a report, since it means a missing finding of the report."""
WRITTEN: Final = "written"
"""Used alone: whether the answer has the failure that a clinician described in words."""
BlindedCase = Callable[[str], tuple[Case, Sequence[Answer]] | None]
"""Returns a case by its id and its newest answers as a blinded reader sees them; but the ``model``
of each answer is its real model, which is not sent.
"""


class OpinionTarget(NamedTuple):
    """Subject of an opinion: an answer, and a digest of everything shown with it."""

    case: str
    model: str
    answer_digest: str
    shown: str


@dataclass(frozen=True)
class JudgeSubject:
    """An answer, and the failures and dimensions (``asked``) on which a judge is asked about it.

    ``case`` and ``answer`` come from :data:`BlindedCase`, with the report if it may be shown.
    ``text`` are the words of the answer. ``rubric`` has the dimensions of the set.
    """

    about: OpinionTarget
    asked: tuple[str, ...]
    case: Case
    answer: Answer
    text: str
    rubric: Mapping[str, RubricDimension]

    @property
    def id(self) -> str:
        """Identifier of the answer, all that is shown and ``asked``; it changes with them."""
        return json.dumps([*self.about, list(self.asked)])

    @property
    def failures(self) -> tuple[str, ...]:
        """The failures in ``asked``."""
        return tuple(one for one in self.asked if one in FAILURES)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions in ``asked``."""
        return tuple(one for one in self.asked if one in self.rubric)

    def asking(self, names: Sequence[str]) -> JudgeSubject:
        """Return the same subject with only some of the names."""
        return replace(self, asked=tuple(names))


def parse_judge_subject_id(subject: str) -> tuple[OpinionTarget, tuple[str, ...]] | None:
    """Parse :attr:`JudgeSubject.id`; None for any other text."""
    try:
        *about, asked = json.loads(subject)
        found = OpinionTarget(*about)
        words = (*found, *asked)
    except (TypeError, ValueError, RecursionError):
        return None
    return (found, tuple(asked)) if all(isinstance(word, str) for word in words) else None


def shows_report(review_set: ReviewSet) -> bool:
    """True if the rules of the study show the report to readers, always or on request."""
    return review_set.info.protocol.report != "never"


def find_judge_subjects(
    review_set: ReviewSet,
    cases: Sequence[str],
    blinded: BlindedCase,
    rubric: Mapping[str, RubricDimension],
    wanted: Sequence[str],
) -> Iterator[JudgeSubject]:
    """Yield the newest answers that a judge can be asked about, by case, then by model.

    Answers that never arrived or have no words are left out. An answer cut by the token limit is
    judged for failures but not scored, as by readers.

    Parameters
    ----------
    rubric
        The set's dimensions by id; those for texts are scored.
    wanted
        Some of :data:`FAILURES` and of the dimensions, or :data:`WRITTEN` alone.
    """
    scored = {name: one for name, one in rubric.items() if name in TEXT_DIMENSIONS}
    # all at once, because single ones take most of the time
    pairs = product(cases, (model.id for model in review_set.models))
    digests = digests_of(review_set).of_all(pairs)
    for case_id in cases:
        seen, given = blinded(case_id), review_set.case(case_id)
        if seen is None or given is None:
            continue
        case, answers = seen
        if shows_report(review_set):
            case = replace(case, report=given.report)
        for answer in answers:
            text, status = join_answer_words(case, answer), find_status(answer)
            if not text or status not in ("answered", "token_limit"):
                continue
            asked = tuple(
                name
                for name in wanted
                if (name in scored and status == "answered")
                or name == WRITTEN
                or (name in FAILURES and (name != OMISSION or join_report_sections(case.report)))
            )
            about = OpinionTarget(
                case_id, answer.model, digests[case_id, answer.model], _shown(case, text, scored)
            )
            if asked:
                yield JudgeSubject(about, asked, case, answer, text, scored)


def join_answer_words(case: Case, answer: Answer) -> str:
    """Return the words of an answer: the chosen option, the text, the explanation.

    An option that was read from the text is left as the model wrote it.
    """
    choice = None if answer.choice_read else answer.choice
    is_option = choice is not None and 0 <= choice < len(case.options)
    chosen = f"Chosen option: {case.options[choice]}" if is_option and choice is not None else ""
    parts = (chosen, (answer.text or "").strip(), (answer.explanation or "").strip())
    return "\n\n".join(part for part in parts if part)


def join_report_sections(report: Report) -> str:
    """Return a report as one text, empty without one."""
    parts = {"Findings": report.findings, "Impression": report.impression}
    return "\n".join(f"{name}: {text.strip()}" for name, text in parts.items() if text)


def _shown(case: Case, text: str, rubric: Mapping[str, RubricDimension]) -> str:
    """Return the digest of all words sent, except the wording, and of the images."""
    context = case.context
    said = [
        [case.question, list(case.options), join_report_sections(case.report), text],
        [context.age, context.sex, context.indication, context.comparison],
        [image.path for image in case.images],
        [[one.id, one.question, sorted(one.anchors.items())] for one in rubric.values()],
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
