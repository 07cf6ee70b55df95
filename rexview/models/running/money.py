"""What a run may spend and has spent, in tokens and US dollars."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from rexview.errors import RunRefused
from rexview.models.card import Price
from rexview.models.reply import Usage

_MILLION: Final = 1_000_000
_BUDGET: Final = re.compile(r"([\d_,]*\.?\d+)\s*([a-z]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Budget:
    """The most that a run may spend."""

    amount: float
    unit: Literal["USD", "tokens"]

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read ``5USD``, ``0.50 usd`` or ``200,000 tokens``.

        Raises
        ------
        RunRefused
            It is neither, or nothing.
        """
        found = _BUDGET.fullmatch(text.strip())
        amount = float(re.sub("[_,]", "", found[1])) if found else 0.0
        word = found[2].lower() if found else ""
        if amount > 0 and word in ("usd", "dollar", "dollars"):
            return cls(amount, "USD")
        if amount > 0 and word in ("token", "tokens"):
            return cls(amount, "tokens")
        raise RunRefused(f"The budget {text[:40]!r} is not like 5USD or 200000tokens.")

    def __str__(self) -> str:
        number = f"{self.amount:,.2f}" if self.unit == "USD" else f"{self.amount:,.0f}"
        return f"{number} {self.unit}"


@dataclass(frozen=True)
class Spent:
    """Tokens and dollars; ``usd`` is None where there is no price."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cached: int = 0
    usd: float | None = None

    def __add__(self, other: Spent) -> Spent:
        costs = [cost for cost in (self.usd, other.usd) if cost is not None]
        return Spent(
            self.input + other.input,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            sum(costs) if costs else None,
        )

    def of(self, unit: str) -> float:
        """How much it is in the unit of a budget."""
        return self.usd or 0.0 if unit == "USD" else self.input + self.output

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Spent:
        """Read what :meth:`as_json` made; what is not there counts as nothing."""
        usd = values.get("usd")
        return cls(
            int(values.get("input") or 0),
            int(values.get("output") or 0),
            int(values.get("reasoning") or 0),
            int(values.get("cached") or 0),
            None if usd is None else float(usd),
        )


def priced(input_tokens: int, output_tokens: int, price: Price | None, *, cached: int = 0) -> Spent:
    """Return what so many tokens are and cost; ``cached`` are among those of the input."""
    if price is None:
        return Spent(input_tokens, output_tokens, cached=cached)
    of_cached = price.input if price.cached is None else price.cached
    usd = (input_tokens - cached) * price.input + cached * of_cached + output_tokens * price.output
    return Spent(input_tokens, output_tokens, cached=cached, usd=usd / _MILLION)


def billed(usage: Usage, price: Price | None) -> Spent | None:
    """Return what a reply cost by its own counts; None where the server does not count."""
    if usage.input is None and usage.output is None:
        return None
    given = usage.input or 0
    cached = min(usage.cached or 0, given)  # some servers count them apart
    spent = priced(given, usage.output or 0, price, cached=cached)
    return spent + Spent(reasoning=usage.reasoning or 0)
