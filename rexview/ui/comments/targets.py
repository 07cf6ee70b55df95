"""What can be commented on on a page, and which comments whoever looks may see there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rexview.analysis.case.blinding import BlindedText, covered
from rexview.answer_digest import digests_of
from rexview.people import Person
from rexview.schema import Answer, ReviewSet
from rexview.store import Comment, Reviews
from rexview.store.current_state import FROM_FILE
from rexview.ui.saving.entries import CASE_PAGE, SCORE_PAGE
from rexview.ui.saving.reader_study import Study
from rexview.words import tr


@dataclass(frozen=True)
class CommentTargets:
    """The answers of a case by their names on one page.

    ``names`` has the name on screen by key, ``answers`` the answer as it is in the review set (its
    ``model`` is the real one), ``texts`` its text as it is on screen. ``shown`` says which answer a
    key stands for: a comment from when it stood for another one is refused.
    """

    page: str
    case: str
    names: Mapping[str, str]
    answers: Mapping[str, Answer]
    texts: Mapping[str, BlindedText]
    shown: Mapping[str, str]

    @property
    def is_blinded(self) -> bool:
        """Whether the page is one for readers, who must not see models or others' comments."""
        return self.page == SCORE_PAGE

    def key_of(self, model: str | None) -> str | None:
        """Return the key of a model's answer."""
        return next((key for key, one in self.answers.items() if one.model == model), None)

    def visible(self, reviews: Reviews, person: Person | None) -> tuple[Comment, ...]:
        """Return the comments on the case that whoever looks may see."""
        every = _comments(reviews, self.case, reviews.revision())
        if not self.is_blinded:
            return every
        if person is None:
            return ()
        named = (CASE_PAGE, FROM_FILE)
        return tuple(one for one in every if one.person == person.id and one.via not in named)


def case_targets(review_set: ReviewSet, case_id: str) -> CommentTargets:
    """Return what can be commented on on the Case page: every answer under its model's name."""
    answers = {answer.model: answer for answer in review_set.answers_of(case_id)}
    digests = digests_of(review_set).of_all((case_id, model) for model in answers)
    return CommentTargets(
        CASE_PAGE,
        case_id,
        {model: review_set.model_names[model] for model in answers},
        answers,
        {model: BlindedText(answer.text or "") for model, answer in answers.items()},
        {model: digest for (_, model), digest in digests.items()},
    )


def score_targets(study: Study, case_id: str) -> CommentTargets:
    """Return what can be commented on on the Score page: answers by their letters.

    A reader sees their own comments only, and only those from pages that name no model: others'
    comments may tell others' scores, those from the Case page which model gave which answer.
    """
    of_model = {answer.model: answer for answer in study.review_set.answers_of(case_id)}
    answers = {slot: of_model[model] for slot, model in study.slots(case_id).items()}
    return CommentTargets(
        SCORE_PAGE,
        case_id,
        {slot: tr("Answer {slot}").format(slot=slot) for slot in answers},
        answers,
        {slot: covered(study.review_set, one.text or "") for slot, one in answers.items()},
        study.shown(case_id),
    )


@lru_cache(maxsize=64)
def _comments(reviews: Reviews, case: str, revision: int) -> tuple[Comment, ...]:
    """Return the comments on a case, read anew only when anything was written."""
    return reviews.comments(case)
