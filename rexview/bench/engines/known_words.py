"""What filters of one set may say: its own values, the words of the filter, and hostile ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rexview.analysis.engine import Engine
from rexview.analysis.filter.case_filter import ASKED_AGAIN, WEAKEST, CaseFilter
from rexview.analysis.filter.conditions import NOT_KNOWN, region_of
from rexview.metrics.identity import MetricId
from rexview.stats.judges.opinions import Judge
from rexview.vocab import FAILURES

HOSTILE: Final = (
    "nobody",
    "' OR 1=1 --",
    "\\'; DROP TABLE answers; --",
    "{x:String}",
    "%(model)s %s ? $1",
    "`a` \"b\" 'c' \\",
    "*/ 1 /*",
    "tab\tline\nend",
    "nul \x00 inside",
    "Ä 漢字 😀 \u202e",
    "a:b:c",
    "x" * 900,
)
"""Values that no set has; a database that takes one as part of a statement fails or finds much."""
WORDS: Final = (
    *("effusion", "HEART", "no", "left", "pneumothorax", "see box", "right pleural effusion"),
    *("(see", ".*", "%", "_", "\\", "\\d+", "[a-z]", "'", "zebra", "é", "É", "ÖDEM", "straße"),
    *("k", "s", "ſee", "İ", "😀", "<b>", "no effusion left", "\x00"),
)
"""Words to search for: findings, words of texts in other letters, and what patterns are made of."""
_CASES_READ: Final = 40


@dataclass(frozen=True)
class KnownWords:
    """What a set knows.

    ``facets`` has the values by the filter's list, ``findings`` those that failures are about;
    ``cases`` are some of the ids, and ``words`` some of the words of their texts.
    """

    models: tuple[str, ...]
    readers: tuple[str, ...]
    metrics: tuple[MetricId, ...]
    judges: tuple[Judge, ...]
    facets: Mapping[str, tuple[str, ...]]
    findings: tuple[str, ...]
    cases: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def of(cls, engine: Engine) -> KnownWords:
        """Ask an engine what its set knows."""
        facts, given = engine.facts, engine.facets(CaseFilter())
        facets: dict[str, tuple[str, ...]] = {
            "judged": tuple(FAILURES),
            "repeats": tuple(ASKED_AGAIN),
            "weakest": WEAKEST,
        }
        for facet in given.facets:
            values = tuple(value.value for value in facet.values)
            facets[facet.field] = (*facets.get(facet.field, ()), *values)
        named = {finding for failure in FAILURES for finding in engine.failure_findings(failure)}
        regions = {f"region:{region}" for one in named if (region := region_of(one))}
        ids = engine.page(CaseFilter(sort="order"), 0, given.total)
        some = ids[:: max(1, len(ids) // _CASES_READ)]
        texts = (card.case.question for card in engine.cards(CaseFilter(), some))
        return cls(
            models=tuple(facts.models),
            readers=tuple(facts.readers),
            metrics=facts.metrics,
            judges=facts.judges,
            facets={field: tuple(dict.fromkeys(values)) for field, values in facets.items()},
            findings=(*sorted(named), *sorted(regions), NOT_KNOWN),
            cases=(*some, *HOSTILE),
            words=_words(texts),
        )


def _words(texts: Iterable[str | None]) -> tuple[str, ...]:
    met = {word for text in texts for word in (text or "").split()}
    return (*WORDS, *sorted(met)[:_CASES_READ])
