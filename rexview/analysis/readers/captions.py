"""What stands under the tables and charts of the Readers page. All of it is plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rexview.analysis.filter.conditions import days_text
from rexview.analysis.readers.tables import DimensionAgreement, ReaderDrift, ReaderTables
from rexview.analysis.scores.captions import interval_caption
from rexview.stats.agreement import CLOSE, LOW_KAPPA, NARROW_SD
from rexview.stats.units import unit_word
from rexview.vocab import IMAGE_DIMENSIONS
from rexview.words import counted, listed, tr, trn

LONGEST_NAME: Final = 32
"""Characters of a reader's name where there is little room."""


def short(name: str) -> str:
    """Cut a long name."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def agreement_caption(tables: ReaderTables) -> str:
    """Say what the numbers of the table of agreement are, and what they leave out."""
    parts = [
        tr("Over what both readers scored: answers, pictures for the image dimensions.")
        if _pictures(tables.dimensions)
        else tr("Over what both readers scored: answers."),
        tr(
            "Kappa: Cohen's, quadratic weights over the fixed scale 1 to 5. MAD: "
            "mean absolute difference, points. SD: of the sample (n − 1)."
        ),
        interval_caption(),
    ]
    if len(tables.pairs) > 1:
        parts.append(
            tr(
                "An answer that three readers scored counts in each of their three "
                "pairs, and is compared two by two."
            )
        )
    parts.append(left_out_caption(tables))
    return " ".join(parts)


def left_out_caption(tables: ReaderTables) -> str:
    """Say which answers are in no comparison, and why."""
    alone = tables.scored.value - tables.doubled.value
    parts = [
        f"{counted(n, 'answer')} {why}"
        for n, why in (
            (alone, tr("without two readers on the same dimension")),
            (tables.unscored, tr("that nobody scored")),
            (tables.lost.value, tr("counted as no full answer")),
        )
        if n
    ]
    return (
        tr("Left out: {listed}.").format(listed=listed(parts))
        if parts
        else tr("No answer is left out.")
    )


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
    return tr(
        "Said where kappa is below {low_kappa:g} although at least {close:.0%} "
        "of the scores are within one point and a reader's SD is below "
        "{narrow_sd:g}."
    ).format(low_kappa=LOW_KAPPA, close=CLOSE, narrow_sd=NARROW_SD)


def confusion_caption(found: DimensionAgreement) -> str:
    """Say what a confusion map counts."""
    numbers = found.numbers
    behind = counted(numbers.n, unit_word(numbers.dimension))
    parts = [
        trn("{behind} in {n:,} case", "{behind} in {n:,} cases", found.cases).format(
            behind=behind, n=found.cases
        )
    ]
    parts.append(
        tr("kappa undefined")
        if numbers.qwk is None
        else tr("kappa {qwk:.2f}").format(qwk=numbers.qwk)
    )
    if numbers.exact is not None:
        parts.append(tr("same score {exact:.0%}").format(exact=numbers.exact))
    words = tr("{numbers}. Outlined: the same score from both.")
    return words.format(numbers=", ".join(parts))


def bubble_caption(found: DimensionAgreement, names: tuple[str, str]) -> str:
    """Say what a bubble is."""
    return tr(
        "{name}: {counted}; the number in a bubble counts {unit}. On the line "
        "both gave the same score; above it {short} scored higher."
    ).format(
        name=found.name,
        counted=counted(found.numbers.n, unit_word(found.numbers.dimension)),
        unit=found.unit,
        short=short(names[1]),
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
                tr(
                    "{name}: {who} is stricter, by {abs:.2f} points on average (95% CI "
                    "{low:.2f} to {high:.2f})."
                ).format(name=found.name, who=who, abs=abs(difference), low=low, high=high)
            )
        else:
            open_.append(found.name)
    if open_:
        told.append(
            tr("No difference can be told from chance on {listed}.").format(listed=listed(open_))
        )
    return told


def stricter_caption(tables: ReaderTables) -> str:
    """Say what the differences are."""
    sizes = listed([f"{found.name} {found.numbers.n:,}" for found in tables.compared])
    return tr(
        "Mean of the differences over what both scored, with 95% interval where "
        "there is one. n: {sizes}. {interval_caption} No test is made, and "
        "nothing is adjusted for several dimensions."
    ).format(sizes=sizes, interval_caption=interval_caption())


def drift_caption(drifts: Sequence[ReaderDrift], *, difference: bool) -> str:
    """Say how blocks are made and what they leave out."""
    parts = [
        tr(
            "Blocks of whole days (UTC) with at least 10 scores each, in the order "
            "of scoring; vertical lines are 95% intervals, horizontal ones the days "
            "of a block."
        )
    ]
    if difference:
        parts.append(
            tr(
                "Mean of a reader's score minus the other's over the block's answers "
                "that both scored: where answers of a block were hard, both go down and "
                "the difference stays."
            )
        )
    undated = [f"{short(one.name)} {one.drift.undated:,}" for one in drifts if one.drift.undated]
    if undated:
        parts.append(tr("Without a date, and left out: {listed}.").format(listed=listed(undated)))
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
