"""BLEU-2 of one report as ReXrank computes it.

ReXrank's script hands its reports to CXR-Report-Metric (``run_eval.py``, ``add_bleu_col``): lower
case, a space before every full stop, words between single spaces, then ``fast_bleu.BLEU`` with the
weights 1/2 and 1/2 and its default, smoothing method 1 of Chen and Cherry (2014): an order of which
nothing matches counts as a tenth of a match. Written after that description; the tests hold it
against values of fast-bleu 0.0.90.

This is not RadEval's BLEU: that one keeps case, puts no space before full stops and does not
smooth, and its ``bleu_2`` is of a whole set of reports, not of one.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

VERSION: Final = "1"
"""Of the definition: values of another one are not comparable."""
_ORDERS: Final = 2
_OF_NO_MATCH: Final = 0.1


def bleu_2(reference: str, candidate: str) -> float:
    """Return the BLEU-2 of a report, 0 to 1.

    Parameters
    ----------
    reference, candidate : str
        Either may be empty: nothing in common is 0.

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
