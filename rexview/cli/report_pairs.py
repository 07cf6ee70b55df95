"""Pair the reports that ``metrics`` compares, and print its values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexview.errors import MetricsRefused
from rexview.untrusted_input import printable_text
from rexview.vocab import english_count, english_noun

if TYPE_CHECKING:
    from rexview.metrics.kept_values import MetricValues as Found
    from rexview.metrics.reference_pairs import ComparedPairs as Compared
    from rexview.schema import Report, ReviewSet


@dataclass(frozen=True)
class ComparedReports:
    """The reports to compare: the set, the models, and each scope with its stored name.

    ``corrected`` are the references, if these are reports corrected by readers.
    """

    review_set: ReviewSet
    models: tuple[str, ...]
    corrected: Mapping[str, Report] | None
    compared: tuple[tuple[Compared, str], ...] = ()

    @property
    def reports(self) -> int:
        """Number of pairs over all scopes."""
        return sum(len(list(one)) for one, _ in self.compared)

    def compare(self, scope: str) -> Compared:
        """Pair the reports of a scope."""
        from rexview.metrics.reference_pairs import pair_with_references

        return pair_with_references(self.review_set, scope, self.models, self.corrected)

    def tell_missing(self) -> None:
        """Report how many answers cannot be compared, and why."""
        for one, scope in self.compared:
            for why, many in one.missing.items():
                words = f"{scope}: {english_count(many, 'report')} left out: {why}."
                print(printable_text(words), file=sys.stderr)

    def missing_json(self) -> list[dict[str, Any]]:
        """Return the same as plain values."""
        return [
            {"scope": scope, "why": why, "reports": many}
            for one, scope in self.compared
            for why, many in one.missing.items()
        ]


def pair_reports(options: argparse.Namespace, scopes: Sequence[str]) -> ComparedReports:
    """Open the set and pair its reports; ``scopes`` are the default.

    Raises
    ------
    MetricsRefused
        The scope or the model does not exist, or nothing can be compared.
    """
    from rexview.cli.reviews import open_set_reviews
    from rexview.metrics.reference_pairs import (
        SCOPES,
        find_reader_corrections,
        models_with_reports,
    )
    from rexview.reviewset import load_review_set
    from rexview.store import merge_reviews

    wanted = list(dict.fromkeys(options.scope or scopes))
    unknown = [scope for scope in wanted if scope not in SCOPES]
    if unknown:
        raise MetricsRefused(f"There is no scope {unknown[0][:60]}. There are {', '.join(SCOPES)}.")
    corrected = None
    if options.reference == "corrected":
        reviews = open_set_reviews(options.folder)
        review_set = merge_reviews(reviews.review_set, reviews)
        corrected = find_reader_corrections(review_set)
    else:
        review_set = load_review_set(options.folder)
    with_reports = models_with_reports(review_set)
    models = tuple(dict.fromkeys(options.model or with_reports))
    others = [model for model in models if model not in {one.id for one in review_set.models}]
    if others:
        raise MetricsRefused(f"There is no model {others[0][:60]} in the review set.")
    after = ", corrected" if corrected is not None else ""
    about = ComparedReports(review_set, models, corrected)
    found = tuple((about.compare(scope), scope + after) for scope in wanted)
    return replace(about, compared=found)


# Output about stored values.


def summarise_metric(
    parts: Sequence[Found], file: Path, given: int, about: ComparedReports
) -> dict[str, Any]:
    """Return a metric's results as plain values."""
    identity = parts[0].identity
    values: dict[str, list[float]] = {model: [] for model in about.models}
    for part in parts:
        for _, model, value in part.values:
            values[model].append(value)
    return {
        **identity._asdict(),
        "described": identity.exact,
        "file": name_file(file, about.review_set.folder),
        "given_elsewhere": given,
        "without": sum(part.without for part in parts),
        "models": {
            model: {"reports": len(one), "mean": sum(one) / len(one)}
            for model, one in values.items()
            if one
        },
    }


def name_file(file: Path, folder: Path) -> str:
    """Return a file's path relative to the set, or as the user gave it."""
    folder = folder.absolute()
    file = file.absolute()
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file)


def print_metric(told: dict[str, Any]) -> None:
    """Print a metric's results."""
    print(printable_text(f"{told['described']}: {told['file']}"))
    for model, one in told["models"].items():
        print(
            printable_text(
                f"  {model}: mean {one['mean']:.4f} of {english_count(one['reports'], 'report')}"
            )
        )
    if told["without"]:
        print(f"  {english_count(told['without'], 'report')} without a value")
    if told["given_elsewhere"]:
        many = told["given_elsewhere"]
        print(f"  {many:,} {english_noun(many, 'value')} left as other files of the set give them")
