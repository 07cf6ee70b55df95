"""The metrics that are known by name: which way is better, their range.

Sources: ReXrank (arXiv 2411.15122), RadEval (arXiv 2509.18030), RadCliQ (Yu et al., Patterns
2023;4:100802), FineRadScore (arXiv 2405.20613), GREEN (arXiv 2405.03595), RaTEScore (arXiv
2406.16845), CRIMSON (2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class KnownMetric:
    """What is known of a metric by its name.

    Attributes
    ----------
    id, name : str
        ``bleu_2``; ``BLEU-2``.
    higher_is_better : bool or None
        None where that is not known.
    low, high : float or None
        The values that it can take; None without a bound, or where that is not known.
    reciprocal : str or None
        The name under which boards show 1 divided by the mean of its values; the reciprocal is
        of a mean and is no value of a report.
    """

    id: str
    name: str
    higher_is_better: bool | None = None
    low: float | None = None
    high: float | None = None
    reciprocal: str | None = None


_METRICS: Final = (
    KnownMetric("bleu_2", "BLEU-2", True, 0, 1),
    KnownMetric("bertscore", "BERTScore", True, None, 1),
    KnownMetric("sembscore", "SembScore", True, -1, 1),
    KnownMetric("radgraph_f1", "RadGraph-F1", True, 0, 1),
    KnownMetric("radcliq_v1", "RadCliQ-v1", False, None, None, "inv_radcliq_v1"),
    KnownMetric("ratescore", "RaTEScore", True, 0, 1),
    KnownMetric("green", "GREEN", True, 0, 1),
    KnownMetric("fineradscore", "FineRadScore", False, 0, None, "inv_fineradscore"),
    KnownMetric("finding_agreement", "Finding-level agreement", True, 0, 1),
    KnownMetric("crimson", "CRIMSON", True, -1, 1),
    KnownMetric("radcliq_v0", "RadCliQ-v0", False, None, None, "inv_radcliq_v0"),
    KnownMetric("bleu_1", "BLEU-1", True, 0, 1),
    KnownMetric("bleu_3", "BLEU-3", True, 0, 1),
    KnownMetric("bleu_4", "BLEU-4", True, 0, 1),
    KnownMetric("bleu", "BLEU (order not said)", True, 0, 1),
    KnownMetric("rouge_1", "ROUGE-1", True, 0, 1),
    KnownMetric("rouge_2", "ROUGE-2", True, 0, 1),
    KnownMetric("rouge_l", "ROUGE-L", True, 0, 1),
    KnownMetric("meteor", "METEOR", True, 0, 1),
    KnownMetric("cider", "CIDEr", True, 0, None),
    KnownMetric("f1chexbert", "F1-CheXbert", True, 0, 1),
    *(
        KnownMetric(f"radgraph_{level}", f"RadGraph {level}", True, 0, 1)
        for level in ("simple", "partial", "complete")  # of the package radgraph
    ),
    KnownMetric("chexbert_accuracy", "CheXbert accuracy", True, 0, 1),
    KnownMetric("chexbert_accuracy_5", "CheXbert accuracy (5 findings)", True, 0, 1),
    KnownMetric("radeval_bertscore", "RadEval BERTScore", True, None, 1),
    KnownMetric("srr_bert", "SRR-BERT F1", True, 0, 1),
    KnownMetric("temporal_f1", "Temporal F1", True, 0, 1),
)
KNOWN: Final[dict[str, KnownMetric]] = {metric.id: metric for metric in _METRICS}
"""What is known of metrics by their names, in the order in which pages list them."""
RECIPROCALS: Final[dict[str, str]] = {
    metric.reciprocal: metric.id for metric in _METRICS if metric.reciprocal
}
"""Names of reciprocals of a mean, and what they are the reciprocals of."""
COMPUTED_HERE: Final = ("bleu_2", "finding_agreement")
"""What the app works out itself."""


def known_metric(metric: str) -> KnownMetric:
    """Return what is known of a metric; of one that is not known its name as it stands.

    >>> known_metric("radcliq_v1").higher_is_better, known_metric("my_own").name
    (False, 'my_own')
    """
    return KNOWN.get(metric) or KnownMetric(metric, metric)
