"""What tells one metric from another: one word means different numbers in different packages."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from rexview.metrics.known import KNOWN, known_metric
from rexview.words import tr

OWN: Final = "rexview"
"""The implementation of what this app computes."""
_FIRST: Final = "1"
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
    def provenance(self) -> str:
        """What computed it, exactly: ``rexview 1``, or that it is not said."""
        if self.implementation is None:
            return tr("implementation not said")
        return " ".join(part for part in (self.implementation, self.version) if part)

    @property
    def computed_by(self) -> str:
        """What computed it, on screen: this app is named by no version that a clinician minds.

        A version after its first, and a judge that it asked, are named: they tell values apart.

        >>> MetricId("bleu_2", "rexview", "1").computed_by
        'computed here'
        >>> MetricId("fineradscore", "rexview", "2 gpt-5-mini").computed_by
        'computed here, version 2, gpt-5-mini'
        >>> MetricId("bleu_2", "radeval", "2.0").computed_by
        'radeval 2.0'
        """
        if self.implementation != OWN:
            return self.provenance
        version, _, judge = (self.version or _FIRST).partition(" ")
        later = "" if version == _FIRST else tr("version {version}").format(version=version)
        return ", ".join(filter(None, (tr("computed here"), later, judge)))

    @property
    def described(self) -> str:
        """All of it in words, on screen.

        >>> MetricId("bleu_2", "radeval", "2.0", "findings").described
        'BLEU-2 (radeval 2.0, findings)'
        >>> MetricId("green").described
        'GREEN (implementation not said)'
        """
        return f"{self.name} ({', '.join(filter(None, (self.computed_by, self.scope)))})"

    @property
    def exact(self) -> str:
        """All of it in words, with the version of what computed it.

        >>> MetricId("bleu_2", "rexview", "1", "findings").exact
        'BLEU-2 (rexview 1, findings)'
        """
        return f"{self.name} ({', '.join(filter(None, (self.provenance, self.scope)))})"


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
