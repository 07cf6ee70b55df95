"""What tells one metric from another: one word means different numbers in different packages."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from rexview.metrics.known import KNOWN, known_metric

_PART: Final = ":"


class MetricId(NamedTuple):
    """The identity of metric values: only values of one identity are compared or averaged.

    Attributes
    ----------
    metric : str
        Its name, such as ``bleu_2``; see :mod:`rexview.metrics.known`.
    implementation, version : str or None
        What computed it, such as ``radeval`` and ``2.0.1``; None where the source does not say.
    scope : str or None
        What was compared: ``findings``, ``impression``, ``findings+impression`` or another word;
        None where the source does not say.
    """

    metric: str
    implementation: str | None = None
    version: str | None = None
    scope: str | None = None

    @property
    def key(self) -> str:
        """The identity as one word of a link, read by :func:`read_key`.

        >>> MetricId("bleu_2", "rexview", "1", "findings").key
        'bleu_2:rexview:1:findings'
        """
        return _PART.join(quote(part or "", safe="+") for part in self).rstrip(_PART)

    @property
    def name(self) -> str:
        """The metric's name on screen, such as ``BLEU-2``."""
        return known_metric(self.metric).name

    @property
    def computed_by(self) -> str:
        """What computed it, on screen: ``rexview 1``, or that it is not said."""
        if self.implementation is None:
            return "implementation not said"
        return " ".join(part for part in (self.implementation, self.version) if part)

    @property
    def described(self) -> str:
        """All of it in words.

        >>> MetricId("bleu_2", "radeval", "2.0", "findings").described
        'BLEU-2 (radeval 2.0, findings)'
        >>> MetricId("green").described
        'GREEN (implementation not said)'
        """
        return f"{self.name} ({', '.join(filter(None, (self.computed_by, self.scope)))})"


def known_first(metric: MetricId) -> tuple[int, str]:
    """Return what metrics are sorted by on screen: known ones in their order, then the others."""
    places = {name: place for place, name in enumerate(KNOWN)}
    return places.get(metric.metric, len(places)), metric.key


def read_key(key: str) -> MetricId | None:
    """Read :attr:`MetricId.key`; None for what is no such word.

    >>> read_key("bleu_2:rexview:1:findings").scope
    'findings'
    >>> read_key("green")
    MetricId(metric='green', implementation=None, version=None, scope=None)
    """
    parts = [unquote(part) or None for part in key.split(_PART)]
    if not 1 <= len(parts) <= 4 or parts[0] is None:
        return None
    return MetricId(parts[0], *parts[1:])
