"""Select the studies for which questions are made, and the information on each for a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from rexview.curation.comparison_questions import has_readable_prior
from rexview.schema import Case, ReviewSet

Source = Literal["findings", "impression", "indication"]
InformationKind = Literal["findings", "indication"]
SOURCES: Final[dict[InformationKind, tuple[Source, ...]]] = {
    "findings": ("findings", "impression"),  # many reports have no other section
    "indication": ("indication",),
}
"""Kinds of information on a study for a model, with the sections that contain it."""


@dataclass(frozen=True)
class SourceStudy:
    """A study of the set, represented by the first of its cases.

    ``told`` is the text for a model, from the report or the request as given by ``source``; both
    are empty if there is none. ``has_prior`` is True if there is an earlier image to compare with.
    """

    case: Case
    told: str = ""
    source: Source | None = None
    has_prior: bool = False

    @property
    def known(self) -> str:
        """All information for a model on the study, a line or more; may be empty."""
        return "\n".join(part for part in (self.told, self.patient) if part)

    @property
    def patient(self) -> str:
        """Age and sex, if given."""
        context = self.case.context
        said = {"Age": context.age, "Sex": context.sex}
        return "\n".join(f"{name}: {words}" for name, words in said.items() if words)


def find_study_cases(review_set: ReviewSet) -> list[str]:
    """Return the case that represents each study, in the order of the set.

    Studies are distinguished by patient too, because study numbers may restart with each patient. A
    case without a study is a study of its own.
    """
    return _firsts(review_set.cases)


def count_studies(review_set: ReviewSet, cases: Iterable[str]) -> int:
    """Count the studies of some cases of a set."""
    about = pl.Series(list(cases), dtype=pl.String())
    return len(_firsts(review_set.cases.filter(pl.col("id").is_in(about.implode()))))


def _firsts(cases: pl.DataFrame) -> list[str]:
    named = pl.col("study_id").is_not_null()
    patient = pl.when(named).then("patient_id")
    known = cases.select("id", named=named, patient=patient, study=pl.coalesce("study_id", "id"))
    firsts = known.unique(["named", "patient", "study"], keep="first", maintain_order=True)
    return firsts["id"].to_list()


def find_source_studies(
    review_set: ReviewSet, told_from: InformationKind | None = None
) -> Iterator[SourceStudy]:
    """Yield the studies of a set with the information for a model.

    Parameters
    ----------
    told_from : str, optional
        The report or the request; by default the report if there is one, else the request.
    """
    for case_id in find_study_cases(review_set):
        case = review_set.case(case_id)
        if case is not None:
            yield find_source_study(review_set, case, told_from)


def find_source_study(
    review_set: ReviewSet, case: Case, told_from: InformationKind | None = None
) -> SourceStudy:
    """Return a case's study with the information for a model, like :func:`find_source_studies`."""
    has_prior = has_readable_prior(review_set, case)
    for one in (told_from,) if told_from else SOURCES:
        for source in SOURCES[one]:
            told = _told(case, source)
            if told:
                return SourceStudy(case, told, source, has_prior)
    return SourceStudy(case, has_prior=has_prior)


def _told(case: Case, source: Source) -> str:
    texts = {
        "findings": case.report.findings,
        "impression": case.report.impression,
        "indication": case.context.indication,
    }
    return (texts[source] or "").strip()
