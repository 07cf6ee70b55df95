"""Which studies a set has, and their candidate questions with what stands in their way."""

from __future__ import annotations

from collections import defaultdict

from rexview.analysis.curation.records import (
    AlikeQuestion,
    CandidateView,
    Curation,
    CurationStudy,
)
from rexview.curation.alike import Similarity, alike_pairs
from rexview.curation.box_instruction import without_instruction
from rexview.curation.comparison import why_blocked
from rexview.curation.considered import Considered, by_model_sum, considered
from rexview.curation.studies import study_cases
from rexview.schema import Case, ReviewSet


def curation_of(
    review_set: ReviewSet,
    *,
    question_type: str | None = "open",
    similarity: Similarity | None = None,
) -> Curation:
    """Return the studies of a set with their candidates.

    A case that has candidates and does not stand for its study is listed by itself, so that none
    is left out.

    Parameters
    ----------
    review_set : ReviewSet
        With what people wrote (:func:`rexview.store.merged_set.merged`).
    question_type : str or None
        ``open`` or ``choice`` candidates; None: all.
    similarity : Similarity, optional
        How near-duplicates are found; by letters when absent.
    """
    by_case = considered(review_set)
    if question_type:
        by_case = {
            case: tuple(one for one in some if one.question_type == question_type)
            for case, some in by_case.items()
        }
    every = [one for some in by_case.values() for one in some]
    alike = _alike(every, similarity)
    named = dict.fromkeys([*study_cases(review_set), *(one.case for one in every)])
    studies = []
    for case_id in named:
        case = review_set.case(case_id)
        if case is None:
            continue
        views = tuple(
            CandidateView(
                one,
                why_blocked(review_set, case, one.question, one.tags),
                alike.get((one.case, one.id), ()),
            )
            for one in by_model_sum(by_case.get(case_id, ()))
        )
        studies.append(CurationStudy(case.id, case.study_id, _title(case), views))
    return Curation(tuple(studies))


def _alike(
    candidates: list[Considered], similarity: Similarity | None
) -> dict[tuple[str, str], tuple[AlikeQuestion, ...]]:
    """Return those that ask nearly the same, the most alike first.

    Questions in the same words are compared once and share their records: a model may propose one
    for each of a thousand studies.
    """
    places = defaultdict(list)
    for one in candidates:
        places["\n".join([without_instruction(one.question), *one.options])].append(one)
    groups = list(places.values())
    near = defaultdict(list)
    for first, second, how in alike_pairs(list(places), similarity):
        near[first].append((second, how))
        near[second].append((first, how))
    found = {}
    for number, group in enumerate(groups):
        same = [AlikeQuestion(one.case, one.id, 1.0) for one in group]
        others = [
            AlikeQuestion(other.case, other.id, how)
            for place, how in sorted(near[number], key=lambda one: -one[1])
            for other in groups[place]
        ]
        for at, one in enumerate(group):
            found[one.case, one.id] = (*same[:at], *same[at + 1 :], *others)
    return found


def _title(case: Case) -> str:
    said = (case.context.indication or "").strip()
    return " · ".join(part for part in (case.study_id or case.id, said) if part)
