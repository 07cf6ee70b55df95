"""Compute the app's own metrics for one answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Final

from rexview.harm import HarmTable
from rexview.metrics import finding_agreement
from rexview.metrics.finding_agreement import (
    FindingAgreement,
    StudyRequest,
    compare_findings,
    create_weigher,
    read_stated_findings,
)
from rexview.metrics.identity import OWN_IMPLEMENTATION, MetricId
from rexview.metrics.reference_pairs import (
    ReportPair,
    join_parts,
    select_answer_parts,
    select_report_parts,
)
from rexview.schema import Answer, Case
from rexview.text.findings import convert_to_patient_sides, report_text
from rexview.text.language import detect_language

# BLEU-2 of one report as ReXrank computes it.
#
# ReXrank's script passes its reports to CXR-Report-Metric (``run_eval.py``, ``add_bleu_col``):
# lower case, a space before every full stop, words between single spaces. It then uses
# ``fast_bleu.BLEU`` with the weights 1/2 and 1/2 and its default, smoothing method 1 of Chen and
# Cherry (2014): an order without any match counts as a tenth of a match. This follows that
# description; the tests compare it with values of fast-bleu 0.0.90.
#
# RadEval's BLEU differs: it keeps case, puts no space before full stops and does not smooth. Its
# ``bleu_2`` belongs to a whole set of reports, not to one.

VERSION: Final = "1"
"""Version of the definition; values of different versions are not comparable."""
_ORDERS: Final = 2
_OF_NO_MATCH: Final = 0.1


def bleu_2(reference: str, candidate: str) -> float:
    """Return the BLEU-2 of a report, 0 to 1.

    Parameters
    ----------
    reference, candidate : str
        Either may be empty; texts with nothing in common have 0.

    >>> round(bleu_2("The lungs are clear.", "Lungs are clear."), 4)
    0.7788
    """
    expected, given = _words(reference), _words(candidate)
    precisions = []
    for order in range(1, _ORDERS + 1):
        of_reference, of_candidate = _ngrams(expected, order), _ngrams(given, order)
        matched = (of_candidate & of_reference).total()
        if order == 1 and not matched:
            return 0.0
        precisions.append((matched or _OF_NO_MATCH) / max(1, of_candidate.total()))
    brevity = min(1.0, math.exp(1 - len(expected) / len(given)))
    return brevity * math.prod(precisions) ** (1 / _ORDERS)


def _words(text: str) -> list[str]:
    return [word for word in text.lower().replace(".", " .").split(" ") if word]


def _ngrams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


COMPUTED_SCOPES: Final = ("findings", "findings+impression")
"""Scopes that are compared if both sides have them."""
IMPLEMENTATION: Final = OWN_IMPLEMENTATION
IDENTITIES: Final = tuple(
    MetricId(metric, IMPLEMENTATION, version, scope)
    for scope in COMPUTED_SCOPES
    for metric, version in (("bleu_2", VERSION), ("finding_agreement", finding_agreement.VERSION))
)
"""Everything that is computed, in the order of :func:`compute_answer_values`."""
LONGEST: Final = 20_000
"""Maximum characters of a report or answer that is compared; real ones have a tenth of it."""


def compute_agreement(
    case: Case, answer: Answer, harm: HarmTable, scope: str = "findings"
) -> FindingAgreement | None:
    """Return the finding-level agreement of an answer with its case's report, with its parts.

    Spans of the report count from the start of their section, those of the answer from the start of
    its text.

    Returns
    -------
    FindingAgreement or None
        None if report or answer lack a section of the scope, are too long, or are in another
        language than English. Such a text is unread, which differs from a text without findings.
    """
    expected = select_report_parts(case.report, scope)
    given = select_answer_parts(answer.text, scope)
    if expected is None or given is None or _too_long(case, answer):
        return None
    if detect_language(report_text(case)) or detect_language(answer.text or ""):
        return None
    weigh = create_weigher(harm.findings, StudyRequest(case.context.age, case.context.indication))
    reference, denied = read_stated_findings(expected, weigh)
    stated, denied_by_answer = read_stated_findings(
        given, weigh, lambda found: convert_to_patient_sides(case, found)
    )
    return compare_findings(reference, stated, denied, denied_by_answer)


def compute_bleu_2(case: Case, answer: Answer, scope: str = "findings") -> float | None:
    """Return the BLEU-2 of an answer; None as in :func:`compute_agreement`, but in any language."""
    expected = select_report_parts(case.report, scope)
    given = select_answer_parts(answer.text, scope)
    if expected is None or given is None or _too_long(case, answer):
        return None
    return bleu_2(join_parts(expected), join_parts(given))


def compute_answer_values(case: Case, answer: Answer, harm: HarmTable) -> Mapping[MetricId, float]:
    """Return all values that can be computed for an answer, by identity."""
    values: dict[MetricId, float] = {}
    for identity in IDENTITIES:
        scope = identity.scope or ""
        if identity.metric == "bleu_2":
            value = compute_bleu_2(case, answer, scope)
        else:
            found = compute_agreement(case, answer, harm, scope)
            value = found.score if found else None
        if value is not None:
            values[identity] = value
    return values


def _too_long(case: Case, answer: Answer) -> bool:
    texts = (case.report.findings, case.report.impression, answer.text)
    return any(len(text or "") > LONGEST for text in texts)


def compute_own_value(metric: str, pair: ReportPair, harm: HarmTable) -> float | None:
    """Compute one of our metrics for a pair of reports; None if it has no value."""
    if metric == "bleu_2":
        return compute_bleu_2(pair.case, pair.answer, pair.scope)
    found = compute_agreement(pair.case, pair.answer, harm, pair.scope)
    return found.score if found else None
