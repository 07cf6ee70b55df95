"""Describe what a run asks: written once as ``run.json``, read again to continue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal

from rexview import __version__
from rexview.errors import RunError, RunRefused
from rexview.models.backend import Card, Parameters, Price, Prompt, Usage
from rexview.models.running.run_folder import RunFolder, read_json
from rexview.text.written_boxes import BoxForm

# Budget and cost of a run, in tokens and US dollars.

_MILLION: Final = 1_000_000
_BUDGET: Final = re.compile(r"([\d_,]*\.?\d+)\s*([a-z]+)", re.IGNORECASE)


@dataclass(frozen=True)
class RunBudget:
    """The spending limit of a run."""

    amount: float
    unit: Literal["USD", "tokens"]

    @classmethod
    def parse(cls, text: str) -> RunBudget:
        """Read ``5USD``, ``0.50 usd`` or ``200,000 tokens``.

        Raises
        ------
        RunRefused
            The text has another form, or the amount is zero.
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
class RunCost:
    """Tokens and dollars; ``usd`` is None without a price."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cached: int = 0
    usd: float | None = None

    def __add__(self, other: RunCost) -> RunCost:
        costs = [cost for cost in (self.usd, other.usd) if cost is not None]
        return RunCost(
            self.input + other.input,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            sum(costs) if costs else None,
        )

    def of(self, unit: str) -> float:
        """Return the amount in the unit of a budget."""
        return self.usd or 0.0 if unit == "USD" else self.input + self.output

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RunCost:
        """Read values of :meth:`as_json`; missing ones count as 0."""
        usd = values.get("usd")
        return cls(
            int(values.get("input") or 0),
            int(values.get("output") or 0),
            int(values.get("reasoning") or 0),
            int(values.get("cached") or 0),
            None if usd is None else float(usd),
        )


def price_tokens(
    input_tokens: int, output_tokens: int, price: Price | None, *, cached: int = 0
) -> RunCost:
    """Return token counts with their cost; ``cached`` is a part of ``input_tokens``."""
    if price is None:
        return RunCost(input_tokens, output_tokens, cached=cached)
    of_cached = price.input if price.cached is None else price.cached
    usd = (input_tokens - cached) * price.input + cached * of_cached + output_tokens * price.output
    return RunCost(input_tokens, output_tokens, cached=cached, usd=usd / _MILLION)


def billed_cost(usage: Usage, price: Price | None) -> RunCost | None:
    """Return the cost of a reply by its own counts; None if the server does not count."""
    if usage.input is None and usage.output is None:
        return None
    given = usage.input or 0
    cached = min(usage.cached or 0, given)  # some servers count them separately
    spent = price_tokens(given, usage.output or 0, price, cached=cached)
    return spent + RunCost(reasoning=usage.reasoning or 0)


CaseSelection = Literal["all", "cases", "filter"]


@dataclass(frozen=True)
class RunSpec:
    """The request for a run.

    Attributes
    ----------
    selected, query
        How the cases were selected, and the link's query if that was a filter.
    cases
        Their ids in the order of asking; for a judge the ids of what it judges.
    repeats
        How many times each case is asked.
    concurrency
        The most requests under way at once.
    batch
        Whether the requests are sent in files and answered within a day.
    created, started_by
        ISO 8601 time with zone; the user who started it, if known.
    """

    id: str
    parameters: Parameters
    card: Card
    prompt: Prompt
    cases: tuple[str, ...]
    selected: CaseSelection = "all"
    query: str | None = None
    repeats: int = 1
    budget: RunBudget | None = None
    concurrency: int = 4
    batch: bool = False
    set_name: str = ""
    created: str = ""
    started_by: str = ""
    version: str = __version__

    def same_questions(self, other: RunSpec) -> bool:
        """Whether both ask the same model in the same words with the same parameters."""
        mine, theirs = (
            (one.parameters.sent(), one.prompt.id, one.prompt.hash) for one in (self, other)
        )
        return mine == theirs

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def read_run_spec(run: RunFolder) -> RunSpec:
    """Read what a run asks.

    Raises
    ------
    RunError
        ``run.json`` is missing, or not in the form that this version writes.
    """
    values = read_json(run.spec)
    try:
        if values is None:
            raise ValueError("it is no JSON object")
        spec = _spec_of(values)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{run.under}/{run.id}/run.json cannot be read ({error}): restore it, or begin a new "
            "run without --resume."
        ) from None
    if spec.id != run.id:
        raise RunError(f"{run.under}/{run.id}/run.json is of another run, {spec.id[:80]!r}.")
    return spec


def _spec_of(values: Mapping[str, Any]) -> RunSpec:
    card = dict(values["card"])
    card["match"] = tuple(card["match"])
    card["boxes"] = _make_record(BoxForm, card.get("boxes") or {})
    card["price"] = _make_record(Price, card["price"]) if card.get("price") else None
    cases = values["cases"]
    if not isinstance(cases, list) or not all(isinstance(one, str) for one in cases):
        raise ValueError("cases is no list of ids")
    for name in ("repeats", "concurrency"):
        if not isinstance(values[name], int) or values[name] < 1:
            raise ValueError(f"{name} is no number from 1")
    parts = {
        "parameters": _make_record(Parameters, values["parameters"]),
        "card": _make_record(Card, card),
        "prompt": _make_record(Prompt, values["prompt"]),
        "cases": tuple(cases),
        "budget": _make_record(RunBudget, values["budget"]) if values.get("budget") else None,
    }
    return _make_record(RunSpec, {**values, **parts})  # type: ignore[no-any-return]


def _make_record(kind: type, values: Mapping[str, Any]) -> Any:
    """Make a record from the fields it has; a newer version may have written more."""
    known = {spec.name for spec in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in known})


def newest_same_run(run_folders: list[RunFolder], spec: RunSpec) -> RunFolder | None:
    """Return the newest run with the same questions; unreadable runs are skipped."""
    for run in run_folders:
        try:
            found = read_run_spec(run)
        except RunError:
            continue
        if found.same_questions(spec):
            return run
    return None
