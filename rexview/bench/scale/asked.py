"""What is asked of a made set, the same for ours and for pandas; never the same twice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice, product

ROUNDS = 7
CARDS = 24
_SITES = tuple(f"site-{number:02d}" for number in range(40))
_MODELS = ("model-02", "model-05", "model-01")


def filters() -> Iterator[tuple[str, str]]:
    """Yield a model and a site, one pair after the other: the answers of that model from there."""
    return cycle((model, site) for site, model in product(_SITES, _MODELS))


def searches() -> Iterator[str]:
    """Yield words to search for, as a person types them."""
    return cycle(f"roughly {number} mm" for number in range(9, 97, 3))


def first_filter() -> tuple[str, str]:
    """Return the filter of which the counts are compared."""
    return next(islice(filters(), 1, None))


def first_search() -> str:
    """Return the search of which the counts are compared."""
    return next(islice(searches(), 1, None))
