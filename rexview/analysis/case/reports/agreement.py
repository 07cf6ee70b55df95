"""The app's own metrics of the reports of one case: agreement about findings with its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rexview.harm import HarmTable
from rexview.metrics.finding_agreement import FindingAgreement
from rexview.metrics.of_answer import agreement_of
from rexview.metrics.scopes import SCOPES
from rexview.schema import Answer, Case

_WIDEST_FIRST: Final = sorted(SCOPES, key=len, reverse=True)


@dataclass(frozen=True)
class ScopedAgreement:
    """An agreement, and the sections that were compared (:data:`rexview.metrics.scopes.SCOPES`)."""

    scope: str
    parts: FindingAgreement


def agreements(
    case: Case, answers: Iterable[Answer], harm: HarmTable
) -> dict[str, ScopedAgreement]:
    """Compare each report with the reference, by model: all sections that both have.

    Spans of the reference are offsets into its sections, those of a report into the answer. An
    answer without text, or of a case without reference, has none.
    """
    found = {}
    for answer in answers:
        for scope in _WIDEST_FIRST:
            parts = agreement_of(case, answer, harm, scope)
            if parts is not None:
                found[answer.model] = ScopedAgreement(scope, parts)
                break
    return found
