"""Identify metrics: one name means different numbers in different packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from rexview.words import tr

# Metrics known by name: which direction is better, and their range.
#
# Sources: ReXrank (arXiv 2411.15122), RadEval (arXiv 2509.18030), RadCliQ (Yu et al., Patterns
# 2023;4:100802), FineRadScore (arXiv 2405.20613), GREEN (arXiv 2405.03595), RaTEScore (arXiv
# 2406.16845), CRIMSON (2026).


@dataclass(frozen=True)
class KnownMetric:
    """Properties of a metric known by its name.

    Attributes
    ----------
    id, name : str
        ``bleu_2``; ``BLEU-2``.
    higher_is_better : bool or None
        None if unknown.
    low, high : float or None
        Range of its values; None without a bound, or if unknown.
    reciprocal : str or None
        Name under which leaderboards show 1 divided by the mean of its values. The reciprocal
        belongs to a mean, not to a report.
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
METRICS_BY_ID: Final[dict[str, KnownMetric]] = {metric.id: metric for metric in _METRICS}
"""Known metrics by name, in the order in which pages list them."""
RECIPROCALS: Final[dict[str, str]] = {
    metric.reciprocal: metric.id for metric in _METRICS if metric.reciprocal
}
"""Names of reciprocals of a mean, with the metric of each."""
COMPUTED_HERE: Final = ("bleu_2", "finding_agreement")
"""Metrics that the app computes itself."""


def known_metric(metric: str) -> KnownMetric:
    """Return the properties of a metric; an unknown one has only its name, unchanged.

    >>> known_metric("radcliq_v1").higher_is_better, known_metric("my_own").name
    (False, 'my_own')
    """
    return METRICS_BY_ID.get(metric) or KnownMetric(metric, metric)


OWN_IMPLEMENTATION: Final = "rexview"
"""The implementation name of metrics that this app computes."""
_FIRST: Final = "1"
_PART: Final = ":"


class MetricId(NamedTuple):
    """The identity of metric values: only values of one identity are compared or averaged.

    Attributes
    ----------
    metric : str
        Its name, such as ``bleu_2``; see :mod:`rexview.metrics.identity`.
    Program that computed it, such as ``radeval`` and ``2.0.1``; None if the source has no entry.
        What computed it, such as ``radeval`` and ``2.0.1``; None where the source does not say.
    scope : str or None
        Sections that were compared: ``findings``, ``impression``, ``findings+impression`` or
        another word; None if the source has no entry.
    """

    metric: str
    implementation: str | None = None
    version: str | None = None
    scope: str | None = None

    @property
    def key(self) -> str:
        """The identity as one word in a link, parsed by :func:`parse_metric_key`.

        >>> MetricId("bleu_2", "rexview", "1", "findings").key
        'bleu_2:rexview:1:findings'
        """
        return _PART.join(quote(part or "", safe="+") for part in self).rstrip(_PART)

    @property
    def name(self) -> str:
        """Displayed name of the metric, such as ``BLEU-2``."""
        return known_metric(self.metric).name

    @property
    def provenance(self) -> str:
        """Exact program that computed it: ``rexview 1``, or a note that it is unknown."""
        if self.implementation is None:
            return tr("implementation not given")
        return " ".join(part for part in (self.implementation, self.version) if part)

    @property
    def computed_by(self) -> str:
        """Displayed name of the program that computed it, without this app's first version.

        A later version, and the judge, are named, because they distinguish values.

        >>> MetricId("bleu_2", "rexview", "1").computed_by
        'computed here'
        >>> MetricId("fineradscore", "rexview", "2 gpt-5-mini").computed_by
        'computed here, version 2, gpt-5-mini'
        >>> MetricId("bleu_2", "radeval", "2.0").computed_by
        'radeval 2.0'
        """
        if self.implementation != OWN_IMPLEMENTATION:
            return self.provenance
        version, _, judge = (self.version or _FIRST).partition(" ")
        later = "" if version == _FIRST else tr("version {version}").format(version=version)
        return ", ".join(filter(None, (tr("computed here"), later, judge)))

    @property
    def described(self) -> str:
        """Displayed description of the whole identity.

        >>> MetricId("bleu_2", "radeval", "2.0", "findings").described
        'BLEU-2 (radeval 2.0, findings)'
        >>> MetricId("green").described
        'GREEN (implementation not said)'
        """
        return f"{self.name} ({', '.join(filter(None, (self.computed_by, self.scope)))})"

    @property
    def exact(self) -> str:
        """Description of the whole identity, with the version of the program.

        >>> MetricId("bleu_2", "rexview", "1", "findings").exact
        'BLEU-2 (rexview 1, findings)'
        """
        return f"{self.name} ({', '.join(filter(None, (self.provenance, self.scope)))})"


def metric_sort_key(metric: MetricId) -> tuple[int, str]:
    """Return a sort key for display: known metrics in their order, then the others."""
    places = {name: place for place, name in enumerate(METRICS_BY_ID)}
    return places.get(metric.metric, len(places)), metric.key


def parse_metric_key(key: str) -> MetricId | None:
    """Parse :attr:`MetricId.key`; None for any other word.

    >>> parse_metric_key("bleu_2:rexview:1:findings").scope
    'findings'
    >>> parse_metric_key("green")
    MetricId(metric='green', implementation=None, version=None, scope=None)
    """
    parts = [unquote(part) or None for part in key.split(_PART)]
    if not 1 <= len(parts) <= 4 or parts[0] is None:
        return None
    return MetricId(parts[0], *parts[1:])
