"""What is compared: read from what the command takes, and what cannot be."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rexview.errors import MetricsRefused
from rexview.untrusted_input import printable
from rexview.vocab import counted

if TYPE_CHECKING:
    from rexview.metrics.pairs import ComparedPairs as Compared
    from rexview.schema import Report, ReviewSet


@dataclass(frozen=True)
class Asked:
    """What is compared: the set, whose reports, and each scope with the word it is kept under.

    ``corrected`` are the references where these are reports that readers corrected.
    """

    review_set: ReviewSet
    models: tuple[str, ...]
    corrected: Mapping[str, Report] | None
    compared: tuple[tuple[Compared, str], ...] = ()

    @property
    def reports(self) -> int:
        """How many pairs there are, over all scopes."""
        return sum(len(list(one)) for one, _ in self.compared)

    def compare(self, scope: str) -> Compared:
        """Pair the reports of a scope."""
        from rexview.metrics.pairs import compared

        return compared(self.review_set, scope, self.models, self.corrected)

    def tell_missing(self) -> None:
        """Say of how many answers nothing can be compared, and why."""
        for one, scope in self.compared:
            for why, many in one.missing.items():
                words = f"{scope}: {counted(many, 'report')} left out: {why}."
                print(printable(words), file=sys.stderr)

    def missing_json(self) -> list[dict[str, Any]]:
        """Return the same as plain values."""
        return [
            {"scope": scope, "why": why, "reports": many}
            for one, scope in self.compared
            for why, many in one.missing.items()
        ]


def asked(options: argparse.Namespace, scopes: Sequence[str]) -> Asked:
    """Open the set and pair its reports; ``scopes`` are compared where none is named.

    Raises
    ------
    MetricsRefused
        There is no such scope or model, or nothing that could be compared.
    """
    from rexview.cli.reviews import reviews_of
    from rexview.metrics.pairs import SCOPES, corrected_reports, models_with_reports
    from rexview.reviewset import load
    from rexview.store import merged

    wanted = list(dict.fromkeys(options.scope or scopes))
    unknown = [scope for scope in wanted if scope not in SCOPES]
    if unknown:
        raise MetricsRefused(f"There is no scope {unknown[0][:60]}. There are {', '.join(SCOPES)}.")
    corrected = None
    if options.reference == "corrected":
        reviews = reviews_of(options.folder)
        review_set = merged(reviews.review_set, reviews)
        corrected = corrected_reports(review_set)
    else:
        review_set = load(options.folder)
    with_reports = models_with_reports(review_set)
    models = tuple(dict.fromkeys(options.model or with_reports))
    others = [model for model in models if model not in {one.id for one in review_set.models}]
    if others:
        raise MetricsRefused(f"There is no model {others[0][:60]} in the review set.")
    after = ", corrected" if corrected is not None else ""
    about = Asked(review_set, models, corrected)
    found = tuple((about.compare(scope), scope + after) for scope in wanted)
    return replace(about, compared=found)
