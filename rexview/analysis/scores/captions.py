"""What stands under tables and charts of the Scores page: test, correction, what is left out.

All of it is plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rexview.analysis.scores.splits import Split
from rexview.analysis.scores.tables import ScoreTables
from rexview.stats import CONTENT_ORDERS, STATUSES
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.stats.paired import PairTest
from rexview.stats.values import TESTED_TOGETHER
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES, IMAGE_DIMENSIONS
from rexview.words import counted, inside, listed, tr, trn

_MOST_NAMED: Final = 4


def unfinished_caption(n: int) -> str:
    """Say how many cases are begun and not counted, as a further sentence; empty for none."""
    if not n:
        return ""
    said = trn(
        "Not counted: {n:,} case that a reader has begun and not finished.",
        "Not counted: {n:,} cases that a reader has begun and not finished.",
        n,
    )
    return f" {said.format(n=n)}"


def interval_caption() -> str:
    """Say how intervals are made."""
    return tr("{level:.0%} intervals are bootstrapped (BCa, {resamples:,} resamples).").format(
        level=LEVEL, resamples=RESAMPLES
    )


def content_caption(tables: ScoreTables) -> str:
    """Say how Content is worked out, and in which order."""
    parts = listed([DIMENSION_NAMES[part] for part in CONTENT_PARTS])
    order = inside(CONTENT_ORDERS[tables.content_order])
    return tr("Content is the smallest of {parts} of an answer ({order}).").format(
        parts=parts, order=order
    )


def summary_caption(tables: ScoreTables, dimensions: Iterable[str]) -> str:
    """Say what the numbers of a table are."""
    shown = [name for name in dimensions if name in tables.dimensions]
    parts = [tr("Final scores, 1 to 5: an answer's score is the mean of its readers' scores.")]
    if "content" in shown:
        parts.append(content_caption(tables))
    if any(name in IMAGE_DIMENSIONS for name in shown):
        parts.append(_picture_caption(tables))
    parts.append(interval_caption())
    return " ".join(parts)


def _picture_caption(tables: ScoreTables) -> str:
    cells = [cell for cell in tables.cells if cell.dimension in IMAGE_DIMENSIONS]
    words = tr("Image scores count returned pictures, not answers.")
    if not all(cell.exact for cell in cells):
        words += (
            " Where an answer has several, Browse lists the answers with any scored picture: it "
            "filters by their mean."
        )
    return words


def n_caption(tables: ScoreTables, dimensions: Sequence[str]) -> str:
    """Say how many answers of each model a chart is about: ``n: A 34, B 26 to 30 answers``."""
    parts = []
    for model, name in tables.models.items():
        found = [tables.cell(dimension, model) for dimension in dimensions]
        counts = [cell.summary.n for cell in found if cell]
        low, high = min(counts, default=0), max(counts, default=0)
        parts.append(
            (
                name,
                f"{low:,}" if low == high else tr("{low:,} to {high:,}").format(low=low, high=high),
                low,
                high,
            )
        )
    if len(parts) > _MOST_NAMED:
        low, high = min(part[2] for part in parts), max(part[3] for part in parts)
        return tr("n: {low:,} to {high:,} answers of each model.").format(low=low, high=high)
    return tr("n: {join} answers.").format(join=", ".join(f"{name} {n}" for name, n, _, _ in parts))


def left_out_caption(tables: ScoreTables, dimensions: Iterable[str]) -> str:
    """Say which answers of a table's dimensions are in no mean, and why."""
    parts = []
    if tables.lost.value:
        by_reason = [
            f"{inside(name)} {n:,}"
            for reason, name in STATUSES.items()
            if (
                n := sum(
                    lost.by_reason[reason].value
                    for lost in tables.no_answers
                    if reason in lost.by_reason
                )
            )
        ]
        words = tr("{word} counted as no full answer ({join})")
        word = counted(tables.lost.value, "answer")
        parts.append(words.format(word=word, join=", ".join(by_reason)))
    unscored = [
        (DIMENSION_NAMES[name], n)
        for name in dimensions
        if (n := sum(cell.unscored for cell in tables.cells if cell.dimension == name))
    ]
    if unscored:
        named = ", ".join(f"{name} {n:,}" for name, n in unscored)
        parts.append(tr("full answers without a score ({named})").format(named=named))
    if not parts:
        return tr("No answer is left out.")
    return tr("Left out of every mean, never counted as zero: {listed}.").format(
        listed=listed(parts)
    )


def comparison_caption(tables: ScoreTables, dimensions: Iterable[str]) -> str:
    """Say how models are compared, over how many pairs, corrected over what."""
    wanted = set(dimensions)
    tests = [test for test in tables.comparison.tests if test.dimension in wanted]
    if not tests:
        return ""
    family = [DIMENSION_NAMES[name] for name in TESTED_TOGETHER]
    tested = sum(
        test.p is not None for test in tables.comparison.tests if test.dimension in TESTED_TOGETHER
    )
    adjusted = tr("p is adjusted by Benjamini-Hochberg over the {tests} of {dimensions}.")
    if len(tables.models) > 2:
        adjusted = tr(
            "p is adjusted by Benjamini-Hochberg over the {tests} of {dimensions} and all pairs of "
            "models."
        )
    parts = [
        tr(
            "Models are compared case by case: two-sided Wilcoxon signed-rank test "
            "(cases without a difference are not ranked; p exact up to 50 pairs without ties, "
            "with ties up to 13, else the normal approximation)."
        ),
        adjusted.format(tests=counted(tested, "test"), dimensions=listed(family)),
    ]
    if any(name in IMAGE_DIMENSIONS for name in wanted & {test.dimension for test in tests}):
        parts.append(tr("Image scores are a family of their own, paired by the answer's mean."))
    parts.append(tr("Effect: matched-pairs rank-biserial correlation, -1 to 1."))
    if len(tables.models) == 2:
        parts.append(" ".join(_pair_sentences(tests, tables)))
    return " ".join(parts)


def _pair_sentences(tests: Sequence[PairTest], tables: ScoreTables) -> Iterator[str]:
    first, second = tables.models.values()
    yield tr("Differences are {first} minus {second}.").format(first=first, second=second)
    pairs = ", ".join(f"{DIMENSION_NAMES[test.dimension]} {test.n_pairs:,}" for test in tests)
    yield tr("Pairs: {pairs}.").format(pairs=pairs)
    alone = ", ".join(
        f"{DIMENSION_NAMES[test.dimension]} {test.left_out:,}" for test in tests if test.left_out
    )
    if alone:
        words = tr("Not compared, because only one of the two is scored: {alone} (cases).")
        yield words.format(alone=alone)


def split_caption(split: Split) -> str:
    """Say what a split leaves out and counts twice."""
    parts = [interval_caption()]
    if split.overlap:
        parts.append(tr("A case can have several values and counts in each."))
    if split.without:
        parts.append(
            trn(
                "{n:,} case without a value left out.",
                "{n:,} cases without a value left out.",
                split.without,
            ).format(n=split.without)
        )
    empty = [
        group.name for group in split.groups if not any(cell.summary.n for cell in group.cells)
    ]
    if empty:
        parts.append(tr("Nothing is scored in {listed}.").format(listed=listed(empty)))
    if split.left_out:
        parts.append(
            trn(
                "{n:,} value with the fewest cases not laid out: narrow the filter to see more.",
                "{n:,} values with the fewest cases not laid out: narrow the filter to see more.",
                split.left_out,
            ).format(n=split.left_out)
        )
    parts.append(tr("No test is made between the values: small n makes means wander."))
    return " ".join(parts)


def gap_caption(tables: ScoreTables) -> str:
    """Say what the gap is and when it is flagged."""
    return tr(
        "Gap: Process minus Execution of one answer; above 0 the model knew "
        "better than it did. Flagged from {gap_threshold:g} on, by the scores "
        "alone. {interval_caption}"
    ).format(gap_threshold=tables.gap_threshold, interval_caption=interval_caption())
