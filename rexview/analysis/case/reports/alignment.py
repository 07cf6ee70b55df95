"""Which sentence of a generated report says what a sentence of the reference says.

Findings decide first: two sentences that speak of the same finding belong together, also where one
denies it or places it on the other side, since that is what a reader has to see. Then words, then
the part of the chest, so that "The heart is normal" finds "Cardiac silhouette unremarkable". Order
plays no part: reports go through the chest in different ways. Pairs are those whose similarities
sum up to most (:func:`scipy.optimize.linear_sum_assignment`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rexview.analysis.case.finding_links import MOST_READ
from rexview.detect.findings import REPORT_SECTIONS, Mention, find_mentions, finding_info
from rexview.detect.report_comparison import regions_of, sides_meet
from rexview.metrics.report_lines import Line, report_lines
from rexview.schema import Answer, Report

MOST_LINES: Final = 120
"""Sentences of a report that are compared; no report has more. Later ones stand alone."""
_WORD: Final = re.compile(r"[^\W_]+")
_PLAIN: Final = frozenset(
    _WORD.findall(
        "a an the is are was were be been there this that these of in on at to with and or no not "
        "for by from as it its has have seen noted again within without any other"
    )
)
"""Words that sentences share whatever they say."""
_BY_FINDING, _BY_REGION = 2.0, 0.25
"""Weights beside that of the words, 1."""
_OTHERWISE: Final = 0.7
"""What the same finding counts where one sentence denies it, or has it on the other side."""
_ALIKE: Final = 0.4
"""From this share of common words on, sentences without a common finding belong together."""


@dataclass(frozen=True)
class Sentence:
    """A line of a report with what it speaks of.

    ``section`` is the field of the reference or the heading that it stands under, None where there
    is none. ``words`` are those that say something, ``mentions`` its findings.
    """

    line: Line
    section: str | None
    words: frozenset[str]
    regions: frozenset[str]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True)
class Beside:
    """A sentence in the row of another one.

    With ``again`` it stands in an earlier row already: it says at once what the reference says in
    several sentences.
    """

    sentence: Sentence
    again: bool = False


@dataclass(frozen=True)
class Row:
    """A sentence of the reference with those that say the same, by model.

    The last row has no ``reference``: there stands what has no counterpart.
    """

    reference: Sentence | None
    by_model: Mapping[str, tuple[Beside, ...]] = field(default_factory=dict)


def reference_sentences(report: Report) -> tuple[Sentence, ...]:
    """Split a given report; a line's offsets are into its section, which ``section`` names."""
    return tuple(
        sentence
        for section in REPORT_SECTIONS
        for sentence in sentences_of(getattr(report, section) or "", section)
    )


def sentences_of(text: str, section: str | None = None) -> tuple[Sentence, ...]:
    """Split a report into sentences; ``section`` names that of all, where the text has no headings.

    Findings beyond :data:`.finding_links.MOST_READ` characters are not read.
    """
    mentions = find_mentions(text[:MOST_READ])
    return tuple(
        Sentence(
            line,
            section or line.section,
            frozenset(_WORD.findall(line.text.lower())) - _PLAIN,
            regions_of(line.text) or frozenset(),
            tuple(one for one in mentions if line.start <= one.start < line.end),
        )
        for line in report_lines(text)
    )


def align(reference: Sequence[Sentence], answers: Iterable[Answer]) -> tuple[Row, ...]:
    """Put the sentences of each answer beside those of the reference.

    Returns
    -------
    tuple of Row
        One for each sentence of the reference, in its order, then one for what no sentence of the
        reference says, if there is any.
    """
    beside: list[dict[str, tuple[Beside, ...]]] = [{} for _ in reference]
    alone: dict[str, tuple[Beside, ...]] = {}
    for answer in answers:
        written = sentences_of(answer.text or "")
        placed, left = _placed(reference, written)
        for row, found in placed.items():
            beside[row][answer.model] = found
        if left:
            alone[answer.model] = left
    rows = [Row(one, by_model) for one, by_model in zip(reference, beside, strict=True)]
    return (*rows, Row(None, alone)) if alone else tuple(rows)


def _placed(
    reference: Sequence[Sentence], written: Sequence[Sentence]
) -> tuple[dict[int, tuple[Beside, ...]], tuple[Beside, ...]]:
    """Return the sentences that have a row, by row, and those that have none."""
    alike = [
        [_similarity(one, other) for other in written[:MOST_LINES]]
        for one in reference[:MOST_LINES]
    ]
    found: dict[int, list[int]] = {}
    row_of: dict[int, int | None] = {column: row for row, column in _pairs(alike)}
    for column in range(len(written)):
        if column not in row_of:  # it may say more of what another sentence is about
            of_rows = [line[column] for line in alike] if column < MOST_LINES else []
            row_of[column] = _best(of_rows)
        place = row_of[column]
        if place is not None:
            found.setdefault(place, []).append(column)
    for row, line in enumerate(alike):
        best = _best(line)
        if row not in found and best is not None:
            found[row] = [best]
    placed: dict[int, tuple[Beside, ...]] = {}
    met: set[int] = set()
    for row in sorted(found):
        placed[row] = tuple(Beside(written[place], again=place in met) for place in found[row])
        met.update(found[row])
    return placed, tuple(Beside(written[place]) for place in row_of if row_of[place] is None)


def _pairs(alike: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the rows and columns that belong together one to one."""
    if not alike or not alike[0]:
        return []
    from scipy.optimize import linear_sum_assignment  # slow to import

    rows, columns = linear_sum_assignment(alike, maximize=True)
    return [
        (row, column)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        if alike[row][column] > 0
    ]


def _best(similarities: Sequence[float]) -> int | None:
    """Return the place of the largest similarity that a second sentence may rest on."""
    best = max(similarities, default=0.0)
    return similarities.index(best) if best >= _ALIKE else None


def _similarity(one: Sentence, other: Sentence) -> float:
    """Say how much two sentences have in common; 0 where they do not belong together."""
    findings = _common_findings(one.mentions, other.mentions)
    if one.mentions and other.mentions and not findings:
        return 0.0  # of two findings, however alike their words
    words = _share(one.words, other.words)
    regions = _share(one.regions, other.regions)
    if not findings and words < _ALIKE and regions < 1:
        return 0.0
    same_section = 0.05 if one.section == other.section else 0.0
    return _BY_FINDING * findings + words + _BY_REGION * regions + same_section


def _common_findings(one: Sequence[Mention], other: Sequence[Mention]) -> float:
    """Return the share of findings, by family, that two sentences both speak of, 0 to 1."""
    first, second = _by_family(one), _by_family(other)
    common = [
        max(_agreement(a, b) for a in first[family] for b in second[family])
        for family in first.keys() & second.keys()
    ]
    return 2 * sum(common) / (len(first) + len(second)) if common else 0.0


def _by_family(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = {}
    for one in mentions:
        found.setdefault(finding_info(one.finding).family, []).append(one)
    return found


def _agreement(one: Mention, other: Mention) -> float:
    denied = (one.status == "negated") != (other.status == "negated")
    return _OTHERWISE if denied or not sides_meet(one.side, other.side) else 1.0


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return what two sets have in common as a share of both (Dice), 0 for empty ones."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
