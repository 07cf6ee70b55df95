"""What the filter asks of generated reports: an order by one metric, and what was corrected.

- An order: ``worst:METRIC`` or ``best:METRIC``, the metric by its key
  (:attr:`rexview.metrics.identity.MetricId.key`), such as ``worst:bleu_2:rexview:1:findings``.
- What was corrected: ``from:SEVERITY:READER`` (a correction of at least this severity, 0 for any
  answer whose lines were gone through) or ``below:SEVERITY:READER`` (gone through, and every
  correction is less severe). Without a reader anybody's corrections count. The reader stands last,
  because an id is free text and may hold colons, as that of a judge does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from rexview.errors import FilterError
from rexview.metrics.identity import MetricId, read_key
from rexview.metrics.known import known_metric
from rexview.vocab import EDIT_SEVERITIES, LONGEST_ID
from rexview.words import tr

_LONGEST: Final = 100 + 4 * 12 * LONGEST_ID
"""Characters of such a word; longer ones are not understood. An emoji is 12 in a key."""
UNNAMED: Final = ":"
"""Stands for the reader of corrections that name none."""
_MOST_SEVERE: Final = max(EDIT_SEVERITIES)
BELOW: Final[dict[int, str]] = {
    1: tr("No error"),
    2: tr("No actionable error"),
    3: tr("No significant error"),
    4: tr("No emergent error"),
}
"""What it is called that all corrections are less severe: of 2 and 3 ReXrank's words."""

COMPARED: Final[dict[str, str]] = {
    "compared": tr("Compared with another report"),
    "won": tr("Preferred to another report"),
    "tied": tr("A tie with another report"),
    "lost": tr("Another report preferred"),
}
"""What readers said of an answer beside another model's; the first is any of the others."""


@dataclass(frozen=True)
class MetricOrder:
    """Cases by one metric, those that it finds worst first, or best."""

    metric: MetricId
    worst_first: bool = True

    def __str__(self) -> str:
        return f"{'worst' if self.worst_first else 'best'}:{self.metric.key}"

    @classmethod
    def parse(cls, word: str) -> MetricOrder:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        end, _, key = word.partition(":")
        metric = read_key(key) if len(word) <= _LONGEST else None
        if metric is None or end not in ("worst", "best"):
            raise FilterError(tr("“{word}” is no order by a metric.").format(word=word[:40]))
        return cls(metric, end == "worst")

    @property
    def largest_first(self) -> bool:
        """Whether large values stand first; those of an unknown metric are taken as better."""
        larger_is_better = known_metric(self.metric.metric).higher_is_better is not False
        return larger_is_better != self.worst_first

    def describe(self, among: Collection[MetricId] = ()) -> str:
        """Say it in words: ``Worst BLEU-2``.

        What computed the metric, and of what, is added unless it is the only one of its name
        ``among`` those that there are.
        """
        known = known_metric(self.metric.metric).higher_is_better is not None
        ends = (tr("Worst"), tr("Best")) if known else (tr("Lowest"), tr("Highest"))
        same = [one for one in among if one.name == self.metric.name]
        name = self.metric.name if same == [self.metric] else self.metric.described
        return f"{ends[not self.worst_first]} {name}"


@dataclass(frozen=True)
class EditCondition:
    """How severe the corrections of an answer's lines are.

    ``what`` is ``from`` (one is at least so severe) or ``below`` (all are less severe, or there is
    nothing to correct); ``reader`` is empty for anybody, :data:`UNNAMED` for who is not named.
    """

    what: str
    severity: int
    reader: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, (self.what, str(self.severity), self.reader)))

    @classmethod
    def parse(cls, word: str) -> EditCondition:
        """Read a word of the link.

        Raises
        ------
        FilterError
            It is not such a word.
        """
        what, _, rest = word.partition(":")
        severity, _, reader = rest.partition(":")
        least = {"from": 0, "below": 1}.get(what, _MOST_SEVERE + 1)
        known = {str(level): level for level in range(least, _MOST_SEVERE + 1)}
        if severity not in known or len(word) > _LONGEST:
            raise FilterError(
                tr("“{word}” is not from:severity or below:severity.").format(word=word[:40])
            )
        return cls(what, known[severity], reader)

    def describe(self, reader_name: str = "") -> str:
        """Say it in words: ``No actionable error by Reader A``."""
        if self.what == "below":
            words = BELOW[self.severity]
        elif self.severity == 0:
            words = tr("Corrected")
        elif self.severity == _MOST_SEVERE:
            words = tr("Correction of severity {severity}").format(severity=self.severity)
        else:
            words = tr("Correction of severity {severity} or more").format(severity=self.severity)
        return (
            tr("{what} by {reader}").format(what=words, reader=reader_name)
            if reader_name
            else words
        )


EDIT_FACET: Final = tuple(
    str(EditCondition("below", severity)) for severity in sorted(BELOW, reverse=True)
) + tuple(str(EditCondition("from", severity)) for severity in EDIT_SEVERITIES)
"""The values that are offered, with anybody's corrections."""
