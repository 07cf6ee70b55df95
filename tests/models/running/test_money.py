import pytest

from rexview.errors import RunRefused
from rexview.models.backend import Price, Usage
from rexview.models.running.run_spec import RunBudget, RunCost, billed_cost


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("5USD", 5, "USD"),
        ("0.50 usd", 0.5, "USD"),
        (".5usd", 0.5, "USD"),
        ("200000tokens", 200_000, "tokens"),
        ("200_000 tokens", 200_000, "tokens"),
        ("5 USD", 5, "USD"),
        ("200,000 tokens", 200_000, "tokens"),
        ("1,000,000 Tokens", 1_000_000, "tokens"),
    ],
)
def test_budgets_are_read(text, amount, unit):
    assert RunBudget.parse(text) == RunBudget(amount, unit)


@pytest.mark.parametrize("text", ["", "5", "USD", "5EUR", "-5USD", "0USD", "1e3tokens", "5 6USD"])
def test_what_is_no_budget_is_refused(text):
    with pytest.raises(RunRefused, match="5USD or 200000tokens"):
        RunBudget.parse(text)


def test_a_reply_costs_what_the_server_counted():
    """1,000 tokens in, 400 of them cached, 50 out: 600 x 2 + 400 x 0.5 + 50 x 8 a million."""
    usage = Usage(1000, 50, 20, 400)
    assert billed_cost(usage, Price(2.0, 8.0, 0.5)) == RunCost(1000, 50, 20, 400, 0.0018)
    assert billed_cost(usage, Price(2.0, 8.0)) == RunCost(1000, 50, 20, 400, 0.0024)
    assert billed_cost(usage, None) == RunCost(1000, 50, 20, 400, None)
    assert billed_cost(Usage(), Price(2.0, 8.0)) is None


def test_spent_adds_up_and_comes_back_from_a_file():
    total = RunCost(1, 2, 3, 4, 0.5) + RunCost(10, 20) + RunCost(usd=0.25)
    assert total == RunCost(11, 22, 3, 4, 0.75)
    assert RunCost.from_json(total.as_json()) == total
    assert (total.of("tokens"), total.of("USD"), RunCost().of("USD")) == (33, 0.75, 0.0)
