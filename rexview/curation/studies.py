"""Which studies questions are made for, and what a model is told of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from rexview.curation.comparison import has_readable_prior
from rexview.schema import Case, ReviewSet

Source = Literal["findings", "impression", "indication"]
From = Literal["findings", "indication"]
SOURCES: Final[dict[From, tuple[Source, ...]]] = {
    "findings": ("findings", "impression"),  # many reports have no other section
    "indication": ("indication",),
}
"""What a model may be told of a study, and where that is looked for."""


@dataclass(frozen=True)
class Study:
    """A study of the set: the first of its cases stands for it.

    ``told`` is what a model is told of it, out of the report or the request as ``source`` says;
    both are empty where there is nothing of the kind. ``has_prior`` says whether an earlier image
    is there to compare with.
    """

    case: Case
    told: str = ""
    source: Source | None = None
    has_prior: bool = False

    @property
    def known(self) -> str:
        """All that a model is told of the study, a line or more; empty where that is nothing."""
        return "\n".join(part for part in (self.told, self.patient) if part)

    @property
    def patient(self) -> str:
        """Age and sex as far as they are given."""
        context = self.case.context
        said = {"Age": context.age, "Sex": context.sex}
        return "\n".join(f"{name}: {words}" for name, words in said.items() if words)


def study_cases(review_set: ReviewSet) -> list[str]:
    """Return the case that stands for each study, in the order of the set.

    Studies are told apart by patient, too, whose numbers may begin anew with each. Cases without a
    study each have one of their own.
    """
    return _firsts(review_set.cases)


def studies_among(review_set: ReviewSet, cases: Iterable[str]) -> int:
    """Count the studies that some cases of a set are about."""
    about = pl.Series(list(cases), dtype=pl.String())
    return len(_firsts(review_set.cases.filter(pl.col("id").is_in(about.implode()))))


def _firsts(cases: pl.DataFrame) -> list[str]:
    named = pl.col("study_id").is_not_null()
    patient = pl.when(named).then("patient_id")
    known = cases.select("id", named=named, patient=patient, study=pl.coalesce("study_id", "id"))
    firsts = known.unique(["named", "patient", "study"], keep="first", maintain_order=True)
    return firsts["id"].to_list()


def studies_of(review_set: ReviewSet, told_from: From | None = None) -> Iterator[Study]:
    """Yield the studies of a set with what a model is told of each.

    Parameters
    ----------
    told_from : str, optional
        The report or the request; without it the report where there is one, else the request.
    """
    for case_id in study_cases(review_set):
        case = review_set.case(case_id)
        if case is not None:
            yield study_of(review_set, case, told_from)


def study_of(review_set: ReviewSet, case: Case, told_from: From | None = None) -> Study:
    """Return the study of a case with what a model is told of it, as :func:`studies_of`."""
    has_prior = has_readable_prior(review_set, case)
    for one in (told_from,) if told_from else SOURCES:
        for source in SOURCES[one]:
            told = _told(case, source)
            if told:
                return Study(case, told, source, has_prior)
    return Study(case, has_prior=has_prior)


def _told(case: Case, source: Source) -> str:
    texts = {
        "findings": case.report.findings,
        "impression": case.report.impression,
        "indication": case.context.indication,
    }
    return (texts[source] or "").strip()
