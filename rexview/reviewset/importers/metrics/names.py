"""How metrics are called in files, and what they are called here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from rexview.own_tables import read_table

_DATA: Final[dict[str, Any]] = read_table(Path(__file__).with_name("metric_names.yaml"))
_BY_NAME: Final = {name: metric for metric, names in _DATA["names"].items() for name in names}
_NOT_METRICS: Final = frozenset(_DATA["not_metrics"])
RECIPROCALS: Final = frozenset(_DATA["reciprocals"])
COLUMNS: Final[dict[str, list[str]]] = _DATA["columns"]
"""Names of columns beside the metrics, by what they hold."""
IDS: Final[list[str]] = _DATA["lists"]["ids"]
LISTS: Final[list[str]] = _DATA["lists"]["values"]
"""Keys of JSON under which ids and values of single reports stand."""
UP_TO_1: Final = frozenset(_DATA["up_to_1"])
"""Metrics of which no value is above 1."""
KNOWN_METRICS: Final = frozenset(_DATA["names"])
_UNNAMED: Final = re.compile(r"(?:unnamed|column)?\d*")
"""What a column without a name is called."""
_LONGEST: Final = 80


def folded(name: str) -> str:
    """Return the letters and digits of a name, small: ``RadCliQ-v1`` is ``radcliqv1``."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def program_of(names: Iterable[str]) -> str | None:
    """Return the program that calls metrics so, where only it does."""
    given = set(map(folded, names))
    programs = _DATA["programs"].items()
    return next((program for program, own in programs if given.issuperset(own)), None)


def known_metric(name: str) -> str | None:
    """Return the id of a metric by a name that files have for it; None for another name."""
    return _BY_NAME.get(folded(name))


def metric_id(name: str, program: str | None) -> str:
    """Return the id of a metric; one that is not known keeps its name.

    ``program`` is what computed it: "BLEU" alone is of another order in each.

    >>> metric_id("BLEU", "radeval"), metric_id("bleu_score", "CXR-Report-Metric")
    ('bleu_4', 'bleu_2')
    >>> metric_id("BLEU", None), metric_id("My own", None)
    ('bleu', 'My own')
    """
    known = known_metric(name)
    if known == "bleu":
        orders: dict[str, str] = {folded(one): order for one, order in _DATA["bleu"].items()}
        return orders.get(folded(program or ""), known)
    return known or name.strip()[:_LONGEST]


def is_reciprocal(name: str) -> bool:
    """Whether a name is that of the reciprocal of a mean."""
    return folded(name) in RECIPROCALS


def may_be_metric(name: str) -> bool:
    """Whether numbers under a name that is not known may be a metric."""
    return folded(name) not in _NOT_METRICS and not _UNNAMED.fullmatch(folded(name))
