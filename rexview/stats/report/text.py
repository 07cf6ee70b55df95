"""The report's tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexview.stats.answer_states import STATUSES
from rexview.stats.report.lists import (
    JUDGE_TABLES,
    MISSING,
    Columns,
    TableRow,
    limits,
    number,
    p_value,
    word,
)
from rexview.untrusted_input import printable_text
from rexview.vocab import CATEGORY_NAMES, CRITERIA, DIMENSION_NAMES, FAILURES, QUESTION_TAGS

# The tables of generated reports for a terminal.


def _computed_by(row: TableRow) -> str:
    return " ".join(row[name] for name in ("implementation", "version") if row[name]) or MISSING


def metric_words(metric: TableRow) -> str:
    """Return the name of a metric with its implementation."""
    by = _computed_by(metric)
    return metric["metric"] if by == MISSING else f"{metric['metric']} ({by})"


def _places(row: TableRow) -> str:
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
"""Title, key in the report and columns of each table."""


_NAMES: Final = (
    *("model", "model_a", "model_b", "reader_a", "reader_b", "rater", "rater_a", "rater_b"),
)


def report_text(report: Mapping[str, Any]) -> str:
    """Return the result of :func:`.build_statistics_report` as plain text tables.

    Numbers are rounded; ``-`` is undefined, with the reason below the table.
    """
    parts = [printable_text(report["about"]["name"])]
    for title, name, columns in _TABLES:
        rows = report[name]
        if name == "choices" and not any(row["n"] or row["unmarked"] for row in rows):
            continue  # no empty table for a set without multiple choice
        if rows:
            parts.append(f"{title}\n{_table(rows, columns)}{_reasons(rows)}")
    return "\n\n".join([*parts, _notes(report["about"])])


def _table(rows: Sequence[TableRow], columns: Columns) -> str:
    """Return a table with aligned columns, the first to the left, numbers to the right."""
    cells = [list(columns), *([printable_text(of(row)) for of in columns.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    words = sum(title in _WORDS for title in columns)
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _reasons(rows: Sequence[TableRow]) -> str:
    """Return each reason for missing numbers once, with the rows that it applies to."""
    where: dict[str, list[str]] = {}
    for row in rows:
        if row.get("why"):
            names = [row[key] for key in _NAMES if key in row]
            dimension = [_dimension(row)] if "dimension" in row else []
            dimension += [_failure(row)] if "failure" in row else []
            names += [metric_words(row[key]) for key in ("first", "second") if key in row]
            about = [row[key] for key in _ABOUT if isinstance(row.get(key), str)]
            names += [CATEGORY_NAMES.get(word, word) for word in about]
            if "free_of_severity" in row:
                names.append(f"severity {row['free_of_severity']}")
            where.setdefault(row["why"], []).append(" ".join([*dimension, *names]))
    return "".join(f"\n{printable_text('; '.join(cases))}: {why}" for why, cases in where.items())


def _notes(about: TableRow) -> str:
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


def _dimension(row: TableRow) -> str:
    return DIMENSION_NAMES[row["dimension"]]


def _task(row: TableRow) -> str:
    return CATEGORY_NAMES.get(row["task"], row["task"]) or MISSING


def _criterion(row: TableRow) -> str:
    return CRITERIA[row["criterion"]]


def _covered(row: TableRow) -> str:
    """Return the name of a category or a tag; its value is in the next column."""
    part = str(row["part"])
    return QUESTION_TAGS.get(part, part.capitalize())


def _covered_value(row: TableRow) -> str:
    if row["value"] is None:
        return MISSING
    value = str(row["value"])  # "None" is also a tag value of questions
    return "none" if value == "None" else CATEGORY_NAMES.get(value, value)


def _failure(row: TableRow) -> str:
    return FAILURES[row["failure"]].name


def _share_of_failures(row: TableRow) -> str:
    """Return the share of failing answers; without a judged answer it is unknown, not 0%."""
    if row["share"] is None:
        return "not judged" if row["n"] else MISSING
    return format(row["share"], ".0%")


def _lost(row: TableRow) -> str:
    reasons = [f"{STATUSES[reason]}: {n}" for reason, n in row["by_reason"].items() if n]
    return "; ".join(reasons) or MISSING


_ABOUT: Final = (
    *("task", "category", "value", "shown_as", "scope", "site"),
    *("coefficient", "reader", "studies", "judge", "prompt_id"),
    *("criterion", "person"),
)
"""Further fields that identify a row."""
_WORDS: Final = frozenset(
    {
        *("dimension", "failure", "reader", "model", "model a", "model b", "reader a", "reader b"),
        *("task", "finding category", "what", "rater", "kind", "by", "value", "between"),
        *("rater a", "rater b"),
        *("sections", "metric", "computed by", "site", "first", "second", "coefficient"),
        *("corrected by", "studies", "judge", "prompt"),
        *("criterion", "person"),
    }
)
_MCNEMAR_NUMBERS: Final[Columns] = {
    "pairs": number("n_pairs", "d"),
    "only a": number("only_a", "d"),
    "only b": number("only_b", "d"),
    "a - b": number("difference", "+.2f"),
    "95% CI": limits(),
    "p": p_value("p"),
    "p adj": p_value("p_adj"),
}
_CHOICE_NUMBERS: Final[Columns] = {
    "n": number("n", "d"),
    "correct": number("correct", "d"),
    "no choice": number("failed", "d"),
    "accuracy": number("accuracy", ".1%"),
    "95% CI": limits(""),
    "of those read": number("accuracy_read", ".1%"),
}
_TABLES: Final[tuple[tuple[str, str, Columns], ...]] = (
    (
        "Final scores",
        "scores",
        {
            "dimension": _dimension,
            "model": word("model"),
            "n": number("n", "d"),
            "mean": number("mean"),
            "SD": number("sd"),
            "95% CI": limits(),
            "5": number("share_5", ".0%"),
            "below 3": number("share_below_3", ".0%"),
        },
    ),
    (
        "Between models",
        "tests",
        {
            "dimension": _dimension,
            "model a": word("model_a"),
            "model b": word("model_b"),
            "pairs": number("n_pairs", "d"),
            "equal": number("n_zero", "d"),
            "left out": number("left_out", "d"),
            "a - b": number("mean_difference", "+.2f"),
            "95% CI": limits(),
            "effect": number("effect", "+.2f"),
            "W": number("statistic", "g"),
            "p": p_value("p"),
            "p adj": p_value("p_adj"),
            "by": word("method"),
        },
    ),
    (
        "All models at once (Friedman)",
        "friedman",
        {
            "dimension": _dimension,
            "models": lambda row: str(len(row["models"])),
            "n": number("n", "d"),
            "chi-squared": number("statistic"),
            "p": p_value("p"),
        },
    ),
    (
        "Gap: process minus execution",
        "gap",
        {
            "model": word("model"),
            "n": number("n", "d"),
            "mean": number("mean", "+.2f"),
            "SD": number("sd"),
            "95% CI": limits(),
            "flagged": number("flagged", "d"),
            "share": number("share_flagged", ".0%"),
        },
    ),
    (
        "Between readers",
        "readers",
        {
            "dimension": _dimension,
            "reader a": word("reader_a"),
            "reader b": word("reader_b"),
            "n": number("n", "d"),
            "QWK": number("qwk"),
            "95% CI": limits("qwk_ci_"),
            "MAD": number("mad"),
            "exact": number("exact", ".0%"),
            "within 1": number("within_one", ".0%"),
            "mean a": number("mean_a"),
            "SD a": number("sd_a"),
            "mean b": number("mean_b"),
            "SD b": number("sd_b"),
        },
    ),
    (
        "All readers at once (Krippendorff's alpha)",
        "alpha",
        {
            "dimension": _dimension,
            "n": number("n_units", "d"),
            "readers": number("n_readers", "d"),
            "alpha": number("alpha"),
            "95% CI": limits(),
        },
    ),
    (
        "No answer",
        "no_answer",
        {
            "model": word("model"),
            "n": number("n", "d"),
            "of": number("answers", "d"),
            "why": _lost,
        },
    ),
    (
        "Failures",
        "failures",
        {
            "failure": _failure,
            "model": word("model"),
            "flagged": number("flagged", "d"),
            "judged": number("n", "d"),
            "share": _share_of_failures,
            "95% CI": limits(),
            "suggested": number("possible", "d"),
        },
    ),
    (
        "Failures between models",
        "failure_tests",
        {
            "failure": _failure,
            "model a": word("model_a"),
            "model b": word("model_b"),
            **_MCNEMAR_NUMBERS,
        },
    ),
    (
        "Multiple choice",
        "choices",
        {
            "model": word("model"),
            "task": _task,
            "finding category": word("category"),
            **_CHOICE_NUMBERS,
        },
    ),
    (
        "Multiple choice: models and readers",
        "choice_raters",
        {
            "rater": word("rater"),
            "kind": word("kind"),
            "by": word("by"),
            "value": lambda row: CATEGORY_NAMES.get(row["value"], row["value"]) or MISSING,
            **_CHOICE_NUMBERS,
        },
    ),
    (
        "Multiple choice: the questions that readers answered",
        "choice_readers",
        {"rater": word("rater"), "kind": word("kind"), **_CHOICE_NUMBERS},
    ),
    (
        "Multiple choice: raters compared",
        "choice_tests",
        {
            "between": word("family"),
            "rater a": word("rater_a"),
            "rater b": word("rater_b"),
            **_MCNEMAR_NUMBERS,
        },
    ),
    (
        "Multiple choice: Cohen's kappa",
        "choice_kappa",
        {
            "task": _task,
            "rater a": word("rater_a"),
            "rater b": word("rater_b"),
            "n": number("n", "d"),
            "same": number("agreement", ".0%"),
            "kappa": number("kappa"),
        },
    ),
    (
        "Asked again: contradicts itself",
        "self_contradiction",
        {
            "model": word("model"),
            "what": word("what"),
            "n": number("n", "d"),
            "contradicting": number("contradicting", "d"),
            "share": number("share", ".1%"),
            "95% CI": limits(""),
            "no choice": number("no_choice", "d"),
        },
    ),
    *REPORT_TABLES,
    *JUDGE_TABLES,
    (
        "Candidate questions: model and people",
        "curation_agreement",
        {
            "criterion": _criterion,
            "model": word("model"),
            "person": lambda row: row["person"] or "all",
            "n": number("n", "d"),
            "of studies": number("studies", "d"),
            "QWK": number("qwk"),
            "95% CI": limits("qwk_ci_"),
            "MAD": number("mad"),
            "within 1": number("within_one", ".0%"),
            "model - person": number("difference", "+.2f"),
        },
    ),
    (
        "Candidate questions: what the chosen ones cover",
        "curation_coverage",
        {
            "what": _covered,
            "value": _covered_value,
            "chosen": number("chosen", "d"),
            "offered": number("offered", "d"),
        },
    ),
    (
        "Not finished, in no table",
        "unfinished",
        {"reader": word("reader"), "cases": number("cases", "d")},
    ),
)
