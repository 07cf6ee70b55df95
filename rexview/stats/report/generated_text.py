"""The tables of generated reports for a terminal."""

from __future__ import annotations

from typing import Final

from rexview.stats.report.cells import MISSING, Columns, Row, limits, number, word


def _computed_by(row: Row) -> str:
    return " ".join(row[name] for name in ("implementation", "version") if row[name]) or MISSING


def metric_words(metric: Row) -> str:
    """Name a metric with what computed it."""
    by = _computed_by(metric)
    return metric["metric"] if by == MISSING else f"{metric['metric']} ({by})"


def _places(row: Row) -> str:
    if row["place"] is None:
        return MISSING
    between = "" if row["place_low"] is None else f" ({row['place_low']} to {row['place_high']})"
    return f"{row['place']}{between}"


REPORT_TABLES: Final[tuple[tuple[str, str, Columns], ...]] = (
    (
        "Report generation: boards",
        "boards",
        {
            "sections": word("scope"),
            "metric": word("shown_as"),
            "computed by": _computed_by,
            "model": word("model"),
            "n": number("n", "d"),
            "value": number("value", ".3f"),
            "95% CI": limits("", ".3f"),
            "place": _places,
        },
    ),
    (
        "Report generation: places by site",
        "site_ranks",
        {
            "site": word("site"),
            "sections": word("scope"),
            "metric": word("shown_as"),
            "computed by": _computed_by,
            "model": word("model"),
            "n": number("n", "d"),
            "value": number("value", ".3f"),
            "place": _places,
        },
    ),
    (
        "Report generation: metrics against each other",
        "correlations",
        {
            "sections": word("scope"),
            "first": lambda row: metric_words(row["first"]),
            "second": lambda row: metric_words(row["second"]),
            "coefficient": word("coefficient"),
            "n": number("n", "d"),
            "value": number("value"),
            "95% CI": limits(""),
        },
    ),
    (
        "Report generation: reports without errors",
        "error_free",
        {
            "corrected by": word("reader"),
            "model": word("model"),
            "studies": lambda row: row["studies"] or "all",
            "none of severity": number("free_of_severity", "d"),
            "free": number("free", "d"),
            "of": number("n", "d"),
            "share": number("share", ".0%"),
            "95% CI": limits(""),
        },
    ),
    (
        "Report generation: preferences",
        "preferences",
        {
            "model": word("model"),
            "n": number("n", "d"),
            "won": number("won", "d"),
            "tied": number("tied", "d"),
            "lost": number("lost", "d"),
            "strength": number("strength", "+.2f"),
            "95% CI": limits(""),
            "place": _places,
        },
    ),
)
"""Title, name in the report and columns of each table."""
