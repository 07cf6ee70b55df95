"""Which answers a judge is asked about, as ``--cases``, ``--filter`` and ``--model`` say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexview.cli.run.command import chosen_cases
from rexview.errors import RunRefused

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from rexview.judge.subjects import JudgeSubject as Subject
    from rexview.rubric import RubricDimension
    from rexview.schema import Answer, Case, ReviewSet


def models_wanted(options: argparse.Namespace, review_set: ReviewSet) -> list[str]:
    """Return whose answers are judged.

    Raises
    ------
    RunRefused
        The set has no model of a name.
    """
    models: list[str] = options.model or [model.id for model in review_set.models]
    if unknown := [one for one in models if one not in review_set.model_names]:
        there = ", ".join(review_set.model_names)
        raise RunRefused(f"--model: there is no model {unknown[0]!r:.80}. There are {there:.300}.")
    return models


def subjects_wanted(
    options: argparse.Namespace,
    review_set: ReviewSet,
    models: Sequence[str],
    rubric: Mapping[str, RubricDimension],
    wanted: Sequence[str],
) -> tuple[tuple[Subject, ...], int]:
    """Return the answers that are asked about, and how many of the chosen cases' cannot be.

    Raises
    ------
    RunRefused
        A case is not in the set, or none is left.
    """
    from rexview.analysis.case.blinding import blinded_page
    from rexview.judge.subjects import subjects_of

    cases = chosen_cases(options, review_set)
    ids = review_set.cases["id"].to_list() if cases is None else list(cases)
    if unknown := [one for one in ids if review_set.case_row(one) is None]:
        raise RunRefused(f"These cases are not in the review set: {', '.join(unknown[:5]):.300}")

    answers = 0

    def blinded(case_id: str) -> tuple[Case, Sequence[Answer]] | None:
        nonlocal answers
        page = blinded_page(review_set, case_id, {model: model for model in models})
        if page is None:
            return None
        answers += len(page.answers)
        return page.case, page.answers

    subjects = tuple(subjects_of(review_set, ids, blinded, rubric, wanted))
    return subjects, answers - len(subjects)
