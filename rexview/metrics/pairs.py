"""Which generated reports are compared with which references, and which cannot be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from rexview.metrics.scopes import Parts, as_one_text, parts_of_answer, parts_of_report
from rexview.schema import Answer, Case, Report, ReviewSet


@dataclass(frozen=True)
class ReportPair:
    """A generated report and its reference, both with the sections of a scope.

    ``case`` has as its report the reference that is compared with.
    """

    case: Case
    answer: Answer
    scope: str
    expected: Parts
    given: Parts

    @property
    def reference(self) -> str:
        """The reference as one text."""
        return as_one_text(self.expected)

    @property
    def candidate(self) -> str:
        """The generated report as one text."""
        return as_one_text(self.given)


@dataclass
class Compared:
    """The pairs of a scope by model; ``missing`` counts answers by why they cannot be compared."""

    scope: str
    pairs: dict[str, list[ReportPair]] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[ReportPair]:
        """All pairs, model by model."""
        return (pair for pairs in self.pairs.values() for pair in pairs)


def models_with_reports(review_set: ReviewSet) -> tuple[str, ...]:
    """Return the models that answered report cases, people who are imported as models left out."""
    reports = review_set.cases.filter(pl.col("question_type") == "report")["id"]
    answered = review_set.answers.filter(pl.col("case").is_in(reports.implode()))["model"].unique()
    wrote = set(answered.to_list())
    return tuple(one.id for one in review_set.models if one.id in wrote and one.kind != "reader")


def compared(
    review_set: ReviewSet,
    scope: str,
    models: Collection[str],
    corrected: Mapping[str, Report] | None = None,
) -> Compared:
    """Pair the newest answers of models to report cases with their references.

    Parameters
    ----------
    corrected : mapping of str to Report, optional
        The references by case where these are reports that readers corrected, see
        :func:`corrected_reports`; a case without one is missing. Without them, the given reports.
    """
    found = Compared(scope, {model: [] for model in models})
    reports = review_set.cases.filter(pl.col("question_type") == "report")["id"]
    for case_id in reports.to_list():
        answers = [one for one in review_set.answers_of(case_id) if one.model in found.pairs]
        case = review_set.case(case_id) if answers else None
        if case is None:
            continue
        if corrected is not None:
            if case_id not in corrected:
                found.missing["no corrected report"] += len(answers)
                continue
            case = replace(case, report=corrected[case_id])
        expected = parts_of_report(case.report, scope)
        for answer in answers:
            given = parts_of_answer(answer.text, scope)
            if expected is None:
                found.missing[f"no {_words(scope)} in the reference"] += 1
            elif given is None:
                found.missing[f"no {_words(scope)} in the answer"] += 1
            else:
                pair = ReportPair(case, answer, scope, expected, given)
                found.pairs[answer.model].append(pair)
    return found


def _words(scope: str) -> str:
    return scope.replace("+", " or no ")


def corrected_reports(review_set: ReviewSet) -> dict[str, Report]:
    """Return the newest corrected report of each case that has any."""
    rows = review_set.references.sort("created", "_row", nulls_last=False)
    return {
        row["case"]: Report(row["findings"], row["impression"])
        for row in rows.iter_rows(named=True)
    }
