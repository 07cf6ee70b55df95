"""Estimate tokens and cost of a run before it starts, with the source of each figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexview.errors import RexviewError
from rexview.models.backend import Card, Parameters
from rexview.models.running.attempts import RunTask
from rexview.models.running.run_journal import RunItem
from rexview.models.running.run_spec import RunCost, price_tokens
from rexview.schema import ReviewSet
from rexview.vocab import english_count

MAX_BUILT_REQUESTS: Final = 40
"""Number of requests built for the estimate; the others are assumed to be similar."""
_NOTHING_KNOWN: Final = 1000


@dataclass(frozen=True)
class CostEstimate:
    """Estimated cost of a number of requests; ``sources`` gives the source of each figure."""

    requests: int
    spent: RunCost
    sources: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "requests": self.requests,
            "input_tokens": self.spent.input,
            "output_tokens": self.spent.output,
            "usd": self.spent.usd,
            "from": dict(self.sources),
        }

    def __str__(self) -> str:
        usd = "" if self.spent.usd is None else f", {self.spent.usd:,.2f} USD"
        tokens = f"{self.spent.input:,} tokens in, {self.spent.output:,} out{usd}"
        return f"{english_count(self.requests, 'request')}: about {tokens}"


def expected_output(
    review_set: ReviewSet, parameters: Parameters, prompt_id: str, card: Card
) -> tuple[int, str]:
    """Return the expected tokens of an answer, and the source of that figure.

    The source is earlier answers of this model to this wording, otherwise the card, otherwise the
    limit. A model's maximum is no estimate: it is many times the length of an answer.
    """
    limit = parameters.max_output_tokens
    same = (pl.col("model") == parameters.model) & (pl.col("prompt_id") == prompt_id)
    earlier = review_set.answers.filter(same)["output_tokens"].drop_nulls()
    if len(earlier):
        mean = round(float(earlier.mean() or 0))  # type: ignore[arg-type]
        found, source = mean, f"mean of {english_count(len(earlier), 'earlier answer')}"
    elif card.default_output_tokens is not None:
        found, source = card.default_output_tokens, "the model's card"
    elif limit is not None:
        found, source = limit, "the limit: nothing else is known"
    else:
        found, source = _NOTHING_KNOWN, "a guess: there is no earlier answer and no limit"
    if limit is not None and found > limit:
        found, source = limit, f"the limit ({source} says more)"
    return found, source


def estimate_cost(
    asking: RunTask[Any], items: Sequence[RunItem], card: Card, output_source: str
) -> CostEstimate:
    """Estimate the cost of items from requests that are built and not sent."""
    step = max(1, -(-len(items) // MAX_BUILT_REQUESTS))
    built = [found for item in items[::step] if (found := _input_tokens(asking, item)) is not None]
    output = asking.output_tokens * len(items)
    sample = (
        f"from {len(built):,} of {english_count(len(items), 'request')}" if built else "unknown"
    )
    mean = sum(built) / len(built) if built else 0.0
    price = card.price
    dated = f" of {price.date}" if price and price.date else ""
    place = f" ({price.source})" if price and price.source else ""
    return CostEstimate(
        len(items),
        price_tokens(round(mean * len(items)), output, price),
        {
            "input_tokens": sample,
            "output_tokens": output_source,
            "usd": f"price{dated}{place}" if price else "no price in the model's card",
        },
    )


def _input_tokens(asking: RunTask[Any], item: RunItem) -> int | None:
    """Return the tokens of a request; None for a case that cannot be asked, which costs nothing."""
    case = asking.case(item.case)
    try:
        return None if case is None else asking.input_tokens(asking.build(case, item.repeat))
    except RexviewError:
        return None
