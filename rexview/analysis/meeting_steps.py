"""The content of a case at a step of a meeting, without everything that later steps show.

Pages, payloads and links of a meeting are made from this content only, so that nothing else can
leak. Models have letters, which are the same for a case throughout a meeting; their order reveals
nothing. Names of models in texts are covered until the models are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from rexview.analysis.case.blinding import BlindedText, blind_case, cover_names, cover_text
from rexview.analysis.case.case_page import CasePage
from rexview.analysis.meetings import Meeting
from rexview.analysis.query.study_tasks import assign_slots
from rexview.analysis.written_failures import MarkedAnswer
from rexview.detect import DETECTORS
from rexview.detect.detector import ScoringDetector
from rexview.schema import Answer, Case, Evidence, Flag, ReaderFlag, ReviewSet, Score
from rexview.stats import has_reached_limit

_STEPS_FOR_EVIDENCE: Final[Mapping[str, frozenset[str]]] = {
    "answer": frozenset({"answers"}),
    "box": frozenset({"boxes"}),
    "correct_option": frozenset({"report"}),
    "option": frozenset({"answers"}),
    "question": frozenset(),
    "question_boxes": frozenset(),
    "reference_box": frozenset({"boxes", "report"}),
    "report": frozenset({"report"}),
    "scores": frozenset({"scores"}),
    "usage": frozenset({"models"}),
}
"""Steps that must be shown before a flag's evidence is, by the place of the evidence. Usage needs
``models``: the limit on a model's words identifies the model."""
_STEPS_WITH_ANSWERS: Final = frozenset({"answers", "boxes", "models", "scores", "flags"})
"""The first of these steps reveals the number of answers."""
_STEPS_IN_FLAG_TEXT: Final = frozenset({"answers", "boxes", "report"})
"""Steps whose content a flag's text may mention."""
_STEPS_IN_MARK_TITLE: Final = _STEPS_IN_FLAG_TEXT | {"flags", "models"}
"""Steps whose content the title of a failure in words may mention; it may also name a model in a
way that cannot be covered."""
_FAILURES_FROM_SCORES: Final = frozenset(
    one.failure for one in DETECTORS if isinstance(one, ScoringDetector)
)
"""Failures that may depend on readers' scores, so that a flag reveals something of the scores."""


@dataclass(frozen=True)
class MeetingStepCase:
    """A case with the content shown at one step of a meeting.

    Attributes
    ----------
    page : CasePage
        The shown content of the case. Each model's id is replaced by its letter, even when the
        models are named. Paths of pictures may name models; they are for the server only.
    steps : tuple of str
        The steps of the meeting in order.
    step : int
        Index of the last shown step, from 0.
    models : mapping of str to str
        The model's id by letter; empty until the models are named.
    agreed : tuple of Score
        The readers' consensus scores, once scores are shown.
    """

    page: CasePage
    steps: tuple[str, ...]
    step: int
    models: Mapping[str, str]
    agreed: tuple[Score, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """Steps that are shown."""
        return self.steps[: self.step + 1]

    @property
    def tells_flags(self) -> bool:
        """True if flags are shown with their texts; before, only the failures are shown."""
        return frozenset(self.shown) >= _STEPS_IN_FLAG_TEXT

    def to_json(self) -> dict[str, Any]:
        """Return the case as values for JSON, without the paths of pictures."""
        page = asdict(self.page)
        for image in page["case"]["images"]:
            del image["path"]
        for answer in page["answers"]:
            answer["images"] = len(answer["images"])
        for name in ("unfinished", "not_judged", "not_yet"):
            page[name] = sorted(page[name])
        return {
            "page": page,
            "steps": list(self.steps),
            "step": self.step,
            "models": dict(self.models),
            "agreed": [asdict(one) for one in self.agreed],
        }


def assign_letters(
    held: Meeting, case_id: str, models: Iterable[str], key: bytes
) -> dict[str, str]:
    """Return the models of a case by letter, A first, the same throughout a meeting.

    ``models`` are those that answered, in any order. ``key`` is the set's secret
    (:meth:`rexview.store.Reviews.letter_key`); without it, letters cannot be traced to models.
    """
    return assign_slots(case_id, models, reader=f"meeting {held.id}", key=key)


def build_step_case(
    review_set: ReviewSet,
    page: CasePage,
    meeting: Meeting,
    step: int,
    key: bytes,
    agreed: Sequence[Score] = (),
) -> MeetingStepCase:
    """Return a case without everything that later steps of a meeting show.

    Parameters
    ----------
    review_set : ReviewSet
        The set with people's reviews.
    page : CasePage
        The case with all content.
    meeting : Meeting
        The meeting, for its steps.
    step : int
        Index of the last step to show, from 0; a number that is too large means the last step.
    key : bytes
        The set's secret, for letters.
    agreed : sequence of Score, optional
        The readers' consensus scores on this case.
    """
    last = min(max(step, 0), len(meeting.steps) - 1)
    models = (answer.model for answer in page.answers)
    letters = assign_letters(meeting, page.case.id, models, key)
    shown = frozenset(meeting.steps[: last + 1])
    made = _StepContent(review_set, page, letters, shown)
    named = letters if "models" in shown else {}
    told = made.scores(agreed) if "scores" in shown else ()
    return MeetingStepCase(made.page(), meeting.steps, last, named, told)


@dataclass(frozen=True)
class _StepContent:
    review_set: ReviewSet
    whole: CasePage
    letters: Mapping[str, str]
    shown: frozenset[str]

    @property
    def _letter(self) -> dict[str, str]:
        return {model: letter for letter, model in self.letters.items()}

    def page(self) -> CasePage:
        with_scores, with_flags = "scores" in self.shown, "flags" in self.shown
        answers = {answer.model: answer for answer in self.whole.answers}
        finals = self.whole.finals if with_scores else {}
        counted = (one for one in self.whole.scores if one.reader not in self.whole.unfinished)
        return CasePage(
            self._case(),
            tuple(self._answer(answers[model]) for model in self.letters.values())
            if self.shown & _STEPS_WITH_ANSWERS
            else (),
            self.scores(counted) if with_scores else (),
            {name: finals[model] for name, model in self.letters.items() if model in finals},
            self._flags(self.whole.flags) if with_flags else (),
            self._reader_flags(self.whole.reader_flags) if with_flags else (),
            not_judged=self._named(self.whole.not_judged) if with_flags else frozenset(),
            not_yet=self._named(self.whole.not_yet) if with_flags else frozenset(),
            choices=tuple(replace(one, created=None) for one in self.whole.choices if with_scores),
            marks=tuple(self._marks()),
        )

    def scores(self, given: Iterable[Score]) -> tuple[Score, ...]:
        """Return scores in the order of the letters, because the files' order reveals models."""
        every = tuple(given)
        return tuple(
            self._score(one)
            for model in self.letters.values()
            for one in every
            if one.model == model
        )

    def _named(self, models: frozenset[str]) -> frozenset[str]:
        return frozenset(self._letter[model] for model in models if model in self._letter)

    def _case(self) -> Case:
        case = self.whole.case
        bare = replace(blind_case(case), patient_id=None, site=None, study_id=None)
        if "report" not in self.shown:
            return bare
        boxes = case.reference_boxes if "boxes" in self.shown else ()
        return replace(
            bare,
            report=case.report,
            reference_boxes=boxes,
            correct=case.correct,
            explanation=case.explanation,
        )

    # --- answers ---------------------------------------------------------------------------------

    @property
    def _named_models(self) -> bool:
        return "models" in self.shown

    def _covered(self, text: str) -> BlindedText:
        return BlindedText(text) if self._named_models else cover_text(self.review_set, text)

    def _cover(self, text: str | None) -> str | None:
        return text if text is None or self._named_models else cover_names(self.review_set, text)

    def _answer(self, answer: Answer) -> Answer:
        """Return the shown content of an answer, with its letter as model."""
        letter = self._letter[answer.model]
        bare = Answer(answer.case, letter)
        if "boxes" in self.shown:
            boxes = tuple(replace(box, label=self._cover(box.label) or "") for box in answer.boxes)
            bare = replace(bare, boxes=boxes, images=answer.images)
        if "answers" not in self.shown:
            return bare
        read, text = answer.choice_read, self._covered(answer.text or "")
        if read is not None:
            start, end = text.shown(read.start, read.end)
            read = replace(read, start=start, end=end)
        error = (answer.error or "").strip()
        return replace(
            bare,
            text=None if answer.text is None else text.text,
            finish_reason="length" if has_reached_limit(answer) else answer.finish_reason,
            choice=answer.choice,
            choice_read=read,
            explanation=self._cover(answer.explanation),
            error="The model's service reported an error." if error else None,
        )

    # --- scores and flags ------------------------------------------------------------------------

    def _score(self, score: Score) -> Score:
        return replace(
            score,
            model=self._letter[score.model],
            comment=self._cover(score.comment),
            created=None,
            answer_digest=None,
        )

    def _reader_flags(self, flags: Sequence[ReaderFlag]) -> tuple[ReaderFlag, ...]:
        return tuple(
            replace(
                one,
                model=self._letter[one.model],
                comment=self._cover(one.comment) if self.shown >= _STEPS_IN_FLAG_TEXT else None,
                created=None,
                answer_digest=None,
            )
            for one in flags
            if one.model in self._letter
        )

    def _marks(self) -> Iterator[MarkedAnswer]:
        """Yield people's marks of failures in words, once they reveal nothing of later steps."""
        if not self.shown >= _STEPS_IN_MARK_TITLE:
            return
        for one in self.whole.marks:
            if one.mark.model in self._letter and not one.mark.stale:
                mark = replace(one.mark, model=self._letter[one.mark.model], created=None)
                words = replace(one.words, by=None, at=None, value=None)
                yield MarkedAnswer(mark, words)

    def _flags(self, flags: Sequence[Flag]) -> tuple[Flag, ...]:
        """Return the flags that reveal nothing of later steps, in the order of the letters."""
        return tuple(
            self._flag(one)
            for model in self.letters.values()
            for one in flags
            if one.model == model
            if "scores" in self.shown or one.failure not in _FAILURES_FROM_SCORES
        )

    def _flag(self, flag: Flag) -> Flag:
        """Return a flag, without its text and evidence if these may reveal a later step."""
        known = [item for item in flag.evidence if _STEPS_FOR_EVIDENCE[item.where] <= self.shown]
        whole = self.shown >= _STEPS_IN_FLAG_TEXT and len(known) == len(flag.evidence)
        return replace(
            flag,
            model=self._letter[flag.model],
            message=self._cover(flag.message) or "" if whole else "",
            kind=flag.kind if whole or flag.is_hint else None,
            evidence=tuple(self._evidence(item, flag.model) for item in known) if whole else (),
        )

    def _evidence(self, item: Evidence, model: str) -> Evidence:
        text = self._cover(item.text) or ""
        if item.where != "answer" or item.start is None or item.end is None:
            return replace(item, text=text)
        whole = next((one.text for one in self.whole.answers if one.model == model), None)
        start, end = self._covered(whole or "").shown(item.start, item.end)
        return replace(item, text=text, start=start, end=end)
