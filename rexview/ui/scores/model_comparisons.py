"""Comparisons between models as HTML: beside the means for two models, a list for more."""

from __future__ import annotations

import html
from typing import Final

import pandas as pd

from rexview.analysis import CaseFilter
from rexview.analysis.scores import ScoreTables, pairs_count, pairs_exact
from rexview.stats.paired import FriedmanTest, PairTest
from rexview.ui.tables.number_table import (
    Reasons,
    cells,
    linked_number,
    short_name,
    signed,
    table_html,
    written_p,
)
from rexview.ui.tables.pair_table import MOST_PAIRS, pairs_title
from rexview.vocab import DIMENSION_NAMES
from rexview.words import tr

_PAIRED: Final = tr("Cases scored for both")
_MORE_OPENED: Final = tr(
    "Cases scored for both, and both answers meet the filter. Browse also "
    "lists those where only one of the two answers meets it."
)


def comparison_heads() -> list[str]:
    """Return the column heads of :func:`comparison_cells`."""
    return [tr("Difference"), tr("Pairs"), tr("p adjusted"), tr("Effect")]


def comparison_cells(tables: ScoreTables, dimension: str, reasons: Reasons) -> str:
    """Write the cells that compare the only two models in one dimension, over both rows."""
    tests = [test for test in tables.comparison.tests if test.dimension == dimension]
    where = DIMENSION_NAMES[dimension]
    if not tests:
        dash = reasons.add(tr("Only one of the two models has scored pictures."), where)
        return f'<td rowspan="2" class="rx-both">{dash}</td>' * len(comparison_heads())
    found = _test_cells(tests[0], tables.cases.opens, reasons, where)
    return "".join(f'<td rowspan="2" class="rx-both">{cell}</td>' for cell in found)


def _test_cells(
    test: PairTest, base: CaseFilter, reasons: Reasons, where: str
) -> tuple[str, str, str, str]:
    if test.mean_difference is None:
        difference = reasons.add(test.why or tr("Undefined."), where)
    else:
        limits = reasons.interval(
            test.interval, tr("{where}, difference").format(where=where), with_sign=True
        )
        difference = f'<b>{signed(test.mean_difference)}</b><small class="rx-ci">{limits}</small>'
    title = _PAIRED if pairs_exact(base) else _MORE_OPENED
    pairs = linked_number(pairs_count(test, base), f"{test.n_pairs:,}", title=title)
    effect = reasons.number(test.effect, test.why, where, "+.2f").replace("-", "−")
    return difference, pairs, _p_value(test, reasons, where), effect


def _p_value(test: PairTest, reasons: Reasons, where: str) -> str:
    if test.p_adj is None or test.p is None:
        return reasons.add(test.why or tr("No test is possible."), where)
    title = tr(
        "W {statistic:g}, p {p:.4g}, adjusted {p_adj:.4g}, {method}, {zero:,} of {pairs:,} pairs "
        "without a difference"
    ).format(
        statistic=test.statistic,
        p=test.p,
        p_adj=test.p_adj,
        method=test.method,
        zero=test.n_zero,
        pairs=test.n_pairs,
    )
    return f'<abbr title="{html.escape(title)}">{written_p(test.p_adj)}</abbr>'


def friedman_html(tables: ScoreTables, caption: str) -> str:
    """Lay out the Friedman test of each dimension; empty for fewer than three models."""
    if not tables.comparison.friedman:
        return ""
    reasons = Reasons()
    heads = [tr("Dimension"), tr("Models"), tr("Cases with all"), tr("Friedman χ²"), "p"]
    body = [_friedman_row(test, reasons) for test in tables.comparison.friedman]
    return table_html(tr("All models at once"), heads, body, caption) + reasons.html()


def _friedman_row(test: FriedmanTest, reasons: Reasons) -> str:
    name = DIMENSION_NAMES[test.dimension]
    numbers = (
        f"{len(test.models):,}",
        f"{test.n:,}",
        reasons.number(test.statistic, test.why, name),
        reasons.add(test.why or tr("Undefined."), name) if test.p is None else written_p(test.p),
    )
    return cells(html.escape(name), *numbers)


def pairs_html(tables: ScoreTables, caption: str) -> str:
    """Lay out the comparisons of all pairs of models, the smallest adjusted p first."""
    tests = ordered_tests(tables)
    if not tests:
        return ""
    reasons = Reasons()
    body = []
    for test in tests[:MOST_PAIRS]:
        first, second = (tables.models[model] for model in (test.model_a, test.model_b))
        where = tr("{dimension_names}, {first} and {second}").format(
            dimension_names=DIMENSION_NAMES[test.dimension], first=first, second=second
        )
        names = [short_name(text) for text in (DIMENSION_NAMES[test.dimension], first, second)]
        row = [*names, *_test_cells(test, tables.cases.opens, reasons, where)]
        body.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>")
    heads = [tr("Dimension"), "A", "B", tr("A minus B"), *comparison_heads()[1:]]
    title = pairs_title(tr("Pairs of models, smallest adjusted p first"), len(tests))
    return table_html(title, heads, body, caption) + reasons.html()


def ordered_tests(tables: ScoreTables) -> list[PairTest]:
    """Return the comparisons by adjusted p, those without one last."""
    return sorted(
        tables.comparison.tests,
        key=lambda test: (test.p_adj is None, test.p_adj or 0.0, test.p or 0.0),
    )


def pairs_frame(tables: ScoreTables) -> pd.DataFrame:
    """Return all comparisons at full precision, in the order of :func:`pairs_html`."""
    return pd.DataFrame(
        {
            "Dimension": DIMENSION_NAMES[test.dimension],
            "A": tables.models[test.model_a],
            "B": tables.models[test.model_b],
            "Pairs": test.n_pairs,
            "A minus B": test.mean_difference,
            "CI low": test.interval.low,
            "CI high": test.interval.high,
            "W": test.statistic,
            "p": test.p,
            "p adjusted": test.p_adj,
            "Effect": test.effect,
            "Method": test.method,
            "Why not": test.why,
        }
        for test in ordered_tests(tables)
    )
