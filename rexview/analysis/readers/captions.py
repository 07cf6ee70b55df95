"""What stands under the tables and charts of the Readers page. All of it is plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rexview.analysis.filter.conditions import days_text
from rexview.analysis.readers.tables import DimensionAgreement, ReaderDrift, ReaderTables
from rexview.analysis.scores.captions import interval_caption, listed
from rexview.stats.agreement import CLOSE, LOW_KAPPA, NARROW_SD
from rexview.stats.units import unit_name
from rexview.vocab import IMAGE_DIMENSIONS, counted

LONGEST_NAME: Final = 32
"""Characters of a reader's name where there is little room."""


def short(name: str) -> str:
    """Cut a long name."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def agreement_caption(tables: ReaderTables) -> str:
    """Say what the numbers of the table of agreement are, and what they leave out."""
    parts = [
        "Over what both readers scored: answers"
        + (", pictures for the image dimensions." if _pictures(tables.dimensions) else "."),
        "Kappa: Cohen's, quadratic weights over the fixed scale 1 to 5. MAD: mean absolute "
        "difference, points. SD: of the sample (n − 1).",
        interval_caption(),
    ]
    if len(tables.pairs) > 1:
        parts.append(
            "An answer that three readers scored counts in each of their three pairs, and is "
            "compared two by two."
        )
    parts.append(left_out_caption(tables))
    return " ".join(parts)


def left_out_caption(tables: ReaderTables) -> str:
    """Say which answers are in no comparison, and why."""
    alone = tables.scored.value - tables.doubled.value
    parts = [
        f"{counted(n, 'answer')} {why}"
        for n, why in (
            (alone, "without two readers on the same dimension"),
            (tables.unscored, "that came but nobody scored"),
            (tables.lost.value, "that never came"),
        )
        if n
    ]
    return f"Left out: {listed(parts)}." if parts else "No answer is left out."


def variance_captions(tables: ReaderTables) -> list[str]:
    """Say of each dimension where kappa is low because scores hardly vary, that it is."""
    return [
        f"{found.name}: {numbers.within_one:.0%} of the scores are within one point, yet kappa is "
        f"{numbers.qwk:.2f}. The scores hardly vary (SD {numbers.sd_a:.2f} and "
        f"{numbers.sd_b:.2f}), so readers would agree often by chance: low variance lowers kappa. "
        "Read MAD beside it."
        for found in tables.compared
        if (numbers := found.numbers).lowered_by_variance
    ]


def variance_rule() -> str:
    """Say when that note is given."""
    return (
        f"Said where kappa is below {LOW_KAPPA:g} although at least {CLOSE:.0%} of the scores are "
        f"within one point and a reader's SD is below {NARROW_SD:g}."
    )


def confusion_caption(found: DimensionAgreement) -> str:
    """Say what a confusion map counts."""
    numbers = found.numbers
    behind = counted(numbers.n, unit_name(numbers.dimension, 1))
    parts = [f"{behind} in {counted(found.cases, 'case')}"]
    parts.append("kappa undefined" if numbers.qwk is None else f"kappa {numbers.qwk:.2f}")
    if numbers.exact is not None:
        parts.append(f"same score {numbers.exact:.0%}")
    return ", ".join(parts) + ". Outlined: the same score from both."


def bubble_caption(found: DimensionAgreement, names: tuple[str, str]) -> str:
    """Say what a bubble is."""
    return (
        f"{found.name}: {counted(found.numbers.n, unit_name(found.numbers.dimension, 1))}; the "
        f"number in a bubble counts {found.unit}. On the line both gave the same score; above it "
        f"{short(names[1])} scored higher."
    )


def stricter_captions(tables: ReaderTables) -> list[str]:
    """Say who is stricter on each dimension where the interval leaves 0 out; name the others."""
    if tables.pair is None:
        return []
    names = tuple(tables.readers[reader] for reader in tables.pair)
    told, open_ = [], []
    for found in tables.compared:
        numbers = found.numbers
        around, difference = numbers.difference_interval, numbers.difference
        if difference is None or around.low is None or around.high is None:
            open_.append(found.name)
        elif around.low > 0 or around.high < 0:
            who = names[0] if difference < 0 else names[1]
            low, high = sorted((abs(around.low), abs(around.high)))
            told.append(
                f"{found.name}: {who} is stricter, by {abs(difference):.2f} points on average "
                f"(95 % CI {low:.2f} to {high:.2f})."
            )
        else:
            open_.append(found.name)
    if open_:
        told.append(f"No difference can be told from chance on {listed(open_)}.")
    return told


def stricter_caption(tables: ReaderTables) -> str:
    """Say what the differences are."""
    sizes = listed([f"{found.name} {found.numbers.n:,}" for found in tables.compared])
    return (
        "Mean of the differences over what both scored, with 95 % interval where there is one. "
        f"n: {sizes}. {interval_caption()} No test is made, and nothing is adjusted for several "
        "dimensions."
    )


def drift_caption(drifts: Sequence[ReaderDrift], *, difference: bool) -> str:
    """Say how blocks are made and what they leave out."""
    parts = [
        "Blocks of whole days (UTC) with at least 10 scores each, in the order of scoring; "
        "vertical lines are 95 % intervals, horizontal ones the days of a block."
    ]
    if difference:
        parts.append(
            "Mean of a reader's score minus the other's over the block's answers that both "
            "scored: where answers of a block were hard, both go down and the difference stays."
        )
    undated = [f"{short(one.name)} {one.drift.undated:,}" for one in drifts if one.drift.undated]
    if undated:
        parts.append(f"Without a date, and left out: {listed(undated)}.")
    return " ".join(parts)


def no_drift_captions(drifts: Sequence[ReaderDrift]) -> Iterator[str]:
    """Say of each reader without a course of time why there is none."""
    for one in drifts:
        if one.drift.why:
            days = ""
            if len(one.blocks) == 1:
                block = one.blocks[0].block
                days = f" ({days_text(block.first, block.last)}, {counted(block.n, 'score')})"
            yield f"{one.name}: {one.drift.why.rstrip('.')}{days}."


def _pictures(dimensions: Sequence[DimensionAgreement]) -> bool:
    return any(found.numbers.dimension in IMAGE_DIMENSIONS for found in dimensions)
