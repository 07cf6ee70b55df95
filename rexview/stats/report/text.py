"""The report's tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rexview.bounded import printable
from rexview.stats.answered import STATUSES
from rexview.vocab import CATEGORY_NAMES, DIMENSION_NAMES, FAILURES

_MISSING: Final = "-"
Row = Mapping[str, Any]
Columns = Mapping[str, Callable[[Row], str]]


def report_text(report: Mapping[str, Any]) -> str:
    """Write what :func:`rexview.stats.report.document.report` returns as tables of plain text.

    Numbers are rounded; ``-`` is undefined, with the reason below the table.
    """
    parts = [printable(report["about"]["name"])]
    for title, name, columns in _TABLES:
        rows = report[name]
        if name == "choices" and not any(row["n"] or row["unmarked"] for row in rows):
            continue  # a set without multiple choice need not say so
        if rows:
            parts.append(f"{title}\n{_table(rows, columns)}{_reasons(rows)}")
    return "\n\n".join([*parts, _notes(report["about"])])


def _table(rows: Sequence[Row], columns: Columns) -> str:
    """Line columns up, the first to the left, numbers to the right."""
    cells = [list(columns), *([printable(of(row)) for of in columns.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    words = sum(title in _WORDS for title in columns)
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _reasons(rows: Sequence[Row]) -> str:
    """Say once for each reason where something is missing."""
    where: dict[str, list[str]] = {}
    for row in rows:
        if row.get("why"):
            names = [row[key] for key in ("model", "model_a", "model_b") if key in row]
            names += [row[key] for key in ("reader_a", "reader_b") if key in row]
            dimension = [_dimension(row)] if "dimension" in row else []
            dimension += [_failure(row)] if "failure" in row else []
            names += [row[key] for key in ("task", "category") if row.get(key)]
            where.setdefault(row["why"], []).append(" ".join([*dimension, *names]))
    return "".join(f"\n{printable('; '.join(cases))}: {why}" for why, cases in where.items())


def _notes(about: Row) -> str:
    methods = about["methods"]
    return "\n".join(
        (
            f"Content: {about['content'].lower()} of process, execution and synthesis.",
            f"CI: {about['level']:.0%}, {methods['interval']}, {about['resamples']:,} resamples, "
            f"seed {about['seed']}.",
            f"Test: {methods['test']}.",
            f"Effect: {methods['effect']}.",
            f"p adj: {methods['correction']}; families: "
            + "; ".join(", ".join(family) for family in about["families"])
            + ".",
            f"Gap: process minus execution, flagged from {about['gap_threshold']:g}.",
        )
    )


def _number(name: str, form: str = ".2f") -> Callable[[Row], str]:
    return lambda row: _MISSING if row[name] is None else format(row[name], form)


def _p(name: str) -> Callable[[Row], str]:
    def write(row: Row) -> str:
        p = row[name]
        if p is None:
            return _MISSING
        return "<0.001" if p < 0.001 else f"{p:.3f}"

    return write


def _limits(prefix: str = "ci_") -> Callable[[Row], str]:
    def write(row: Row) -> str:
        low, high = row[f"{prefix}low"], row[f"{prefix}high"]
        return _MISSING if low is None else f"{low:.2f} to {high:.2f}"

    return write


def _dimension(row: Row) -> str:
    return DIMENSION_NAMES[row["dimension"]]


def _task(row: Row) -> str:
    return CATEGORY_NAMES.get(row["task"], row["task"]) or _MISSING


def _failure(row: Row) -> str:
    return FAILURES[row["failure"]].name


def _word(name: str) -> Callable[[Row], str]:
    return lambda row: row[name] or _MISSING


def _lost(row: Row) -> str:
    reasons = [f"{STATUSES[reason]}: {n}" for reason, n in row["by_reason"].items() if n]
    return "; ".join(reasons) or _MISSING


_WORDS: Final = frozenset(
    {
        *("dimension", "failure", "reader", "model", "model a", "model b", "reader a", "reader b"),
        *("task", "finding category", "what"),
    }
)
_TABLES: Final[tuple[tuple[str, str, Columns], ...]] = (
    (
        "Final scores",
        "scores",
        {
            "dimension": _dimension,
            "model": _word("model"),
            "n": _number("n", "d"),
            "mean": _number("mean"),
            "SD": _number("sd"),
            "95% CI": _limits(),
            "5": _number("share_5", ".0%"),
            "below 3": _number("share_below_3", ".0%"),
        },
    ),
    (
        "Between models",
        "tests",
        {
            "dimension": _dimension,
            "model a": _word("model_a"),
            "model b": _word("model_b"),
            "pairs": _number("n_pairs", "d"),
            "equal": _number("n_zero", "d"),
            "left out": _number("left_out", "d"),
            "a - b": _number("mean_difference", "+.2f"),
            "95% CI": _limits(),
            "effect": _number("effect", "+.2f"),
            "W": _number("statistic", "g"),
            "p": _p("p"),
            "p adj": _p("p_adj"),
            "by": _word("method"),
        },
    ),
    (
        "All models at once (Friedman)",
        "friedman",
        {
            "dimension": _dimension,
            "models": lambda row: str(len(row["models"])),
            "n": _number("n", "d"),
            "chi-squared": _number("statistic"),
            "p": _p("p"),
        },
    ),
    (
        "Gap: process minus execution",
        "gap",
        {
            "model": _word("model"),
            "n": _number("n", "d"),
            "mean": _number("mean", "+.2f"),
            "SD": _number("sd"),
            "95% CI": _limits(),
            "flagged": _number("flagged", "d"),
            "share": _number("share_flagged", ".0%"),
        },
    ),
    (
        "Between readers",
        "readers",
        {
            "dimension": _dimension,
            "reader a": _word("reader_a"),
            "reader b": _word("reader_b"),
            "n": _number("n", "d"),
            "QWK": _number("qwk"),
            "95% CI": _limits("qwk_ci_"),
            "MAD": _number("mad"),
            "exact": _number("exact", ".0%"),
            "within 1": _number("within_one", ".0%"),
            "mean a": _number("mean_a"),
            "SD a": _number("sd_a"),
            "mean b": _number("mean_b"),
            "SD b": _number("sd_b"),
        },
    ),
    (
        "All readers at once (Krippendorff's alpha)",
        "alpha",
        {
            "dimension": _dimension,
            "n": _number("n_units", "d"),
            "readers": _number("n_readers", "d"),
            "alpha": _number("alpha"),
            "95% CI": _limits(),
        },
    ),
    (
        "No answer",
        "no_answer",
        {
            "model": _word("model"),
            "n": _number("n", "d"),
            "of": _number("answers", "d"),
            "why": _lost,
        },
    ),
    (
        "Failures",
        "failures",
        {
            "failure": _failure,
            "model": _word("model"),
            "flagged": _number("flagged", "d"),
            "judged": _number("n", "d"),
            "share": _number("share", ".0%"),
            "95% CI": _limits(),
            "possible": _number("possible", "d"),
        },
    ),
    (
        "Failures between models",
        "failure_tests",
        {
            "failure": _failure,
            "model a": _word("model_a"),
            "model b": _word("model_b"),
            "pairs": _number("n_pairs", "d"),
            "only a": _number("only_a", "d"),
            "only b": _number("only_b", "d"),
            "a - b": _number("difference", "+.2f"),
            "95% CI": _limits(),
            "p": _p("p"),
            "p adj": _p("p_adj"),
        },
    ),
    (
        "Multiple choice",
        "choices",
        {
            "model": _word("model"),
            "task": _task,
            "finding category": _word("category"),
            "n": _number("n", "d"),
            "correct": _number("correct", "d"),
            "no choice": _number("failed", "d"),
            "accuracy": _number("accuracy", ".1%"),
            "95% CI": _limits(""),
            "of those read": _number("accuracy_read", ".1%"),
        },
    ),
    (
        "Asked again: contradicts itself",
        "self_contradiction",
        {
            "model": _word("model"),
            "what": _word("what"),
            "n": _number("n", "d"),
            "contradicting": _number("contradicting", "d"),
            "share": _number("share", ".1%"),
            "95% CI": _limits(""),
            "no choice": _number("no_choice", "d"),
        },
    ),
    (
        "Not finished, in no table",
        "unfinished",
        {"reader": _word("reader"), "cases": _number("cases", "d")},
    ),
)
