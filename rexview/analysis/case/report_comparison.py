"""A generated report and its reference: sentences, marked words, differences, agreement."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.finding_links import MAX_READ_CHARACTERS
from rexview.detect.report_comparison import find_regions, sides_meet
from rexview.detect.scan.batch import flag_finding
from rexview.harm import HarmTable
from rexview.metrics.answer_metrics import compute_agreement
from rexview.metrics.finding_agreement import (
    FindingAgreement,
    StatedFinding,
    TextSpan,
    UnpairedFinding,
)
from rexview.metrics.identity import MetricId, metric_sort_key
from rexview.metrics.reference_pairs import SCOPES
from rexview.metrics.report_lines import ReportLine, report_lines
from rexview.schema import (
    Answer,
    Case,
    CorrectedReference,
    Edit,
    Flag,
    MetricValue,
    Report,
    ReviewSet,
)
from rexview.text.findings import REPORT_SECTIONS, Mention, find_mentions, finding_info

# The app's own metric of one case's reports: agreement on findings, with its parts.

_WIDEST_FIRST: Final = sorted(SCOPES, key=len, reverse=True)


@dataclass(frozen=True)
class ScopedAgreement:
    """An agreement, and the sections that were compared (:data:`.SCOPES`)."""

    scope: str
    parts: FindingAgreement


def measure_agreements(
    case: Case, answers: Iterable[Answer], harm: HarmTable
) -> dict[str, ScopedAgreement]:
    """Return each report's agreement with the reference, by model, over all sections of both.

    Spans of the reference are offsets into its sections, those of a report into the answer. An
    answer without text, or to a case without reference, has no agreement.
    """
    found = {}
    for answer in answers:
        for scope in _WIDEST_FIRST:
            parts = compute_agreement(case, answer, harm, scope)
            if parts is not None:
                found[answer.model] = ScopedAgreement(scope, parts)
                break
    return found


# Alignment of sentences of a generated report with those of the reference.
#
# Findings decide first: two sentences about the same finding belong together, even if one negates
# it or has it on the other side, because a reader has to see that. Then words decide, then the part
# of the chest, so that "The heart is normal" matches "Cardiac silhouette unremarkable". Order does
# not matter, because reports describe the chest in different orders. The pairs maximise the sum of
# similarities (:func:`scipy.optimize.linear_sum_assignment`).

MAX_COMPARED_SENTENCES: Final = 120
"""Most sentences of a report that are compared; later ones, rare in practice, have no pair."""
_WORD: Final = re.compile(r"[^\W_]+")
_COMMON_WORDS: Final = frozenset(
    _WORD.findall(
        "a an the is are was were be been there this that these of in on at to with and or no not "
        "for by from as it its has have seen noted again within without any other"
    )
)
"""Common words, which are ignored in comparisons."""
_BY_FINDING, _BY_REGION = 2.0, 0.25
"""Weights of findings and regions; that of words is 1."""
_CONTRADICTION_WEIGHT: Final = 0.7
"""Weight of a common finding if one sentence negates it, or has it on the other side."""
_MIN_SIMILAR_SHARE: Final = 0.4
"""Smallest share of common words for a pair of sentences without a common finding."""


@dataclass(frozen=True)
class ReportSentence:
    """A sentence of a report, with its content.

    ``section`` is the field of the reference, or the heading above the sentence, or None. ``words``
    are its words without common ones, ``mentions`` its findings.
    """

    line: ReportLine
    section: str | None
    words: frozenset[str]
    regions: frozenset[str]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True)
class AlignedSentence:
    """A sentence of an answer in the row of a reference sentence.

    ``again`` is true if it is also in an earlier row: it covers several sentences of the reference.
    """

    sentence: ReportSentence
    again: bool = False


@dataclass(frozen=True)
class AlignedRow:
    """A sentence of the reference with matching sentences of the answers, by model.

    The last row has no ``reference``: it has the sentences without a counterpart.
    """

    reference: ReportSentence | None
    by_model: Mapping[str, tuple[AlignedSentence, ...]] = field(default_factory=dict)


def split_reference(report: Report) -> tuple[ReportSentence, ...]:
    """Split a reference into sentences; offsets are into the section named by ``section``."""
    return tuple(
        sentence
        for section in REPORT_SECTIONS
        for sentence in split_report(getattr(report, section) or "", section)
    )


def split_report(text: str, section: str | None = None) -> tuple[ReportSentence, ...]:
    """Split a report into sentences; ``section`` is that of all, for a text without headings.

    Findings beyond :data:`MAX_READ_CHARACTERS` characters are not read.
    """
    mentions = find_mentions(text[:MAX_READ_CHARACTERS])
    return tuple(
        ReportSentence(
            line,
            section or line.section,
            frozenset(_WORD.findall(line.text.lower())) - _COMMON_WORDS,
            find_regions(line.text) or frozenset(),
            tuple(one for one in mentions if line.start <= one.start < line.end),
        )
        for line in report_lines(text)
    )


def align_sentences(
    reference: Sequence[ReportSentence], answers: Iterable[Answer]
) -> tuple[AlignedRow, ...]:
    """Align the sentences of each answer with those of the reference.

    Returns
    -------
    tuple of AlignedRow
        One for each sentence of the reference, in order, then one for the sentences without a
        counterpart, if there are any.
    """
    beside: list[dict[str, tuple[AlignedSentence, ...]]] = [{} for _ in reference]
    alone: dict[str, tuple[AlignedSentence, ...]] = {}
    for answer in answers:
        written = split_report(answer.text or "")
        placed, left = _assign_rows(reference, written)
        for row, found in placed.items():
            beside[row][answer.model] = found
        if left:
            alone[answer.model] = left
    rows = [AlignedRow(one, by_model) for one, by_model in zip(reference, beside, strict=True)]
    return (*rows, AlignedRow(None, alone)) if alone else tuple(rows)


def _assign_rows(
    reference: Sequence[ReportSentence], written: Sequence[ReportSentence]
) -> tuple[dict[int, tuple[AlignedSentence, ...]], tuple[AlignedSentence, ...]]:
    """Return the sentences with a row, by row, and those without one."""
    alike = [
        [_similarity(one, other) for other in written[:MAX_COMPARED_SENTENCES]]
        for one in reference[:MAX_COMPARED_SENTENCES]
    ]
    found: dict[int, list[int]] = {}
    row_of: dict[int, int | None] = {column: row for row, column in _pairs(alike)}
    for column in range(len(written)):
        if column not in row_of:  # it may add to another sentence
            of_rows = [line[column] for line in alike] if column < MAX_COMPARED_SENTENCES else []
            row_of[column] = _find_best(of_rows)
        place = row_of[column]
        if place is not None:
            found.setdefault(place, []).append(column)
    for row, line in enumerate(alike):
        best = _find_best(line)
        if row not in found and best is not None:
            found[row] = [best]
    placed: dict[int, tuple[AlignedSentence, ...]] = {}
    met: set[int] = set()
    for row in sorted(found):
        placed[row] = tuple(
            AlignedSentence(written[place], again=place in met) for place in found[row]
        )
        met.update(found[row])
    return placed, tuple(
        AlignedSentence(written[place]) for place in row_of if row_of[place] is None
    )


def _pairs(alike: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the best one-to-one pairs of rows and columns."""
    if not alike or not alike[0]:
        return []
    from scipy.optimize import linear_sum_assignment  # slow to import

    rows, columns = linear_sum_assignment(alike, maximize=True)
    return [
        (row, column)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        if alike[row][column] > 0
    ]


def _find_best(similarities: Sequence[float]) -> int | None:
    """Return the index of the largest similarity, None if it is too small for another pair."""
    best = max(similarities, default=0.0)
    return similarities.index(best) if best >= _MIN_SIMILAR_SHARE else None


def _similarity(one: ReportSentence, other: ReportSentence) -> float:
    """Return the similarity of two sentences; 0 if they do not belong together."""
    findings = _common_findings(one.mentions, other.mentions)
    if one.mentions and other.mentions and not findings:
        return 0.0  # different findings, even if the words are similar
    words = _dice_share(one.words, other.words)
    regions = _dice_share(one.regions, other.regions)
    if not findings and words < _MIN_SIMILAR_SHARE and regions < 1:
        return 0.0
    same_section = 0.05 if one.section == other.section else 0.0
    return _BY_FINDING * findings + words + _BY_REGION * regions + same_section


def _common_findings(one: Sequence[Mention], other: Sequence[Mention]) -> float:
    """Return the share of findings, by family, that two sentences have in common, 0 to 1."""
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
    return _CONTRADICTION_WEIGHT if denied or not sides_meet(one.side, other.side) else 1.0


def _dice_share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Dice coefficient of two sets, 0 for empty ones."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


# Words of a report and its reference that are marked as missed, invented or side swapped.
#
# A word is marked only for a rule's flag or hint that no reader rejected, so that marks and hints
# agree. The agreement on findings adds the other passages about the same finding.

_MARK_KINDS: Final = {
    "omission": ("missed",),
    "hallucination": ("invented",),
    "laterality_error": ("swapped",),
    "wrong_type": ("missed", "invented"),
}
"""Kinds of marks for the evidence of each failure."""
_MARKED_TEXTS: Final = {
    "missed": ("report",),
    "invented": ("answer",),
    "swapped": ("report", "answer"),
}


class ReportMark(NamedTuple):
    """Marked words of a report or its reference.

    ``what`` is ``missed``, ``invented`` or ``swapped``; ``where`` is ``report`` (the reference) or
    ``answer``. ``about`` is the rule's message.
    """

    what: str
    where: str
    words: TextSpan
    about: str

    def covers(self, where: str, words: TextSpan) -> bool:
        """True if the mark overlaps the words; offsets of an answer are into its whole text."""
        if self.where != where or (where == "report" and self.words.section != words.section):
            return False
        return self.words.start < words.end and words.start < self.words.end


def collect_marks(
    flags: Iterable[Flag], agreements: Mapping[str, ScopedAgreement]
) -> dict[str, tuple[ReportMark, ...]]:
    """Return the marks of each model's report and of its reference, by model."""
    found: dict[str, list[ReportMark]] = {}
    for flag in flags:
        if flag.source != "detector" or flag.verdict == "rejected":
            continue
        if flag.failure == "laterality_error" and flag.kind != "report":
            continue  # of boxes, or within the answer: not about the reference
        agreement = agreements.get(flag.model)
        kept = found.setdefault(flag.model, [])
        for what in _MARK_KINDS.get(flag.failure, ()):
            for mark in _marks_of_flag(flag, what, agreement.parts if agreement else None):
                if not any(one.what == what and one.covers(mark.where, mark.words) for one in kept):
                    kept.append(mark)
    return {model: tuple(marks) for model, marks in found.items() if marks}


def _marks_of_flag(flag: Flag, what: str, parts: FindingAgreement | None) -> Iterator[ReportMark]:
    """Yield marks of all passages about a flag's finding, and of evidence not among them."""
    marks = [
        ReportMark(
            what, item.where, TextSpan(item.field, item.start, item.end, item.text), flag.message
        )
        for item in flag.evidence
        if item.start is not None and item.end is not None and item.where in _MARKED_TEXTS[what]
    ]
    if not marks:
        return
    finding = flag_finding(flag)
    family = finding_info(finding).family if finding else None
    places = [
        ReportMark(what, where, words, flag.message)
        for where, stated in (_stated_findings(what, parts) if parts else ())
        if any(mark.covers(where, words) for mark in marks for words in stated.spans)
        or (what != "swapped" and family == stated.family)
        for words in stated.spans
    ]
    yield from places
    yield from (
        mark for mark in marks if not any(one.covers(mark.where, mark.words) for one in places)
    )


def _stated_findings(what: str, parts: FindingAgreement) -> Iterator[tuple[str, StatedFinding]]:
    if what == "missed":
        yield from (("report", one.stated) for one in parts.missed)
    elif what == "invented":
        yield from (("answer", one.stated) for one in parts.invented)
    else:
        for pair in parts.swapped:
            yield from (("report", pair.reference), ("answer", pair.candidate))


def is_marked(lone: UnpairedFinding, where: str, marks: Iterable[ReportMark]) -> bool:
    """True if a finding that only one text has is marked, because a rule reports an error."""
    return any(mark.covers(where, words) for mark in marks for words in lone.stated.spans)


# Comparison, corrections and metrics of one case's reports, for its page.

UNNAMED_EDITOR: Final = ""
"""Reader id for corrections without a named reader."""


@dataclass(frozen=True)
class ReportCase:
    """The reports of a case, compared with its reference.

    Attributes
    ----------
    rows : tuple of AlignedRow
        The aligned sentences.
    edits, stale_edits : mapping of str to tuple of Edit
        Corrections by model, and those of earlier reports, which count nowhere.
    metrics : mapping of str to tuple of MetricValue
        Metric values by model, known metrics first.
    corrected : tuple of CorrectedReference
        Corrected reports that are kept in addition to the reference.
    agreement : mapping of str to ScopedAgreement
        The agreement of each report with the reference, by model.
    marks : mapping of str to tuple of ReportMark
        The words that rules report as missed, invented or side swapped, by model.
    """

    rows: tuple[AlignedRow, ...]
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    metrics: Mapping[str, tuple[MetricValue, ...]] = field(default_factory=dict)
    corrected: tuple[CorrectedReference, ...] = ()
    agreement: Mapping[str, ScopedAgreement] = field(default_factory=dict)
    stale_edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[ReportMark, ...]] = field(default_factory=dict)

    def edits_at(self, model: str) -> dict[int | None, tuple[Edit, ...]]:
        """Return the corrections of a model's report by line.

        The key None has corrections of lines that are unknown or not in the report.
        """
        lines = {
            beside.sentence.line.number: _fold_line(beside.sentence.line.text)
            for row in self.rows
            for beside in row.by_model.get(model, ())
        }
        found: dict[int | None, list[Edit]] = {}
        for edit in self.edits.get(model, ()):
            found.setdefault(_find_line(edit, lines), []).append(edit)
        return {line: tuple(edits) for line, edits in found.items()}


def _fold_line(text: str) -> str:
    return " ".join(text.lower().split())


def _find_line(edit: Edit, lines: Mapping[int, str]) -> int | None:
    """Return the line of a correction: the only one with the same words, else the one by number.

    Files from other programs may number lines in another way. An insertion before all lines belongs
    to the first.
    """
    words = _fold_line(edit.original or "")
    same = [number for number, text in lines.items() if words and text == words]
    if len(same) == 1:
        return same[0]
    number = 1 if edit.line == 0 else edit.line
    return number if number in lines else None


def build_report_case(
    review_set: ReviewSet,
    page: CasePage,
    harm: HarmTable,
    editors: Collection[str] | None = None,
) -> ReportCase | None:
    """Return the comparison of the reports on a page; None if its case requests no report.

    ``harm`` weighs the findings. ``editors`` are the ids of readers whose corrections are shown (or
    :data:`UNNAMED_EDITOR`); by default all.
    """
    case = page.case
    if case.question_type != "report":
        return None
    given: Sequence[ReportSentence] = split_reference(case.report)
    models = {answer.model for answer in page.answers}
    edits, stale = (
        [
            edit
            for edit in review_set.edits_of(case.id, stale=stale)
            if editors is None or (edit.reader or UNNAMED_EDITOR) in editors
        ]
        for stale in (False, True)
    )
    values = sorted(
        review_set.metric_values_of(case.id),
        key=lambda one: metric_sort_key(metric_value_identity(one)),
    )
    compared = measure_agreements(case, page.answers, harm)
    return ReportCase(
        align_sentences(given, page.answers),
        {model: tuple(one for one in edits if one.model == model) for model in models},
        {model: tuple(one for one in values if one.model == model) for model in models},
        review_set.references_of(case.id),
        compared,
        {model: tuple(one for one in stale if one.model == model) for model in models},
        collect_marks(page.flags, compared),
    )


def metric_value_identity(value: MetricValue) -> MetricId:
    """Return the identity of a metric value."""
    return MetricId(value.metric, value.implementation, value.version, value.scope)


# Differences between two texts, word by word, for a display side by side.

MAX_COMPARED_WORDS: Final = 1500
"""Most words of each text that are compared: the time grows with the product of the lengths."""
_TOKEN: Final = re.compile(r"(?:[^\W_]+|[\W_])\s*")


@dataclass(frozen=True)
class TextPart:
    """A part that both texts share, or that only the first or the second has."""

    where: Literal["both", "first", "second"]
    text: str


def compare_texts(first: str, second: str) -> tuple[list[TextPart], bool]:
    """Return the differences of two texts by words, ignoring case, and True if all was compared.

    Parts are in reading order; those of the first text come before those of the second.
    """
    a, b = _TOKEN.findall(first.lstrip()), _TOKEN.findall(second.lstrip())
    whole = len(a) <= MAX_COMPARED_WORDS and len(b) <= MAX_COMPARED_WORDS
    a, b = a[:MAX_COMPARED_WORDS], b[:MAX_COMPARED_WORDS]
    matcher = SequenceMatcher(None, _fold_words(a), _fold_words(b), autojunk=False)
    pieces: list[TextPart] = []
    for operation, a_start, a_end, b_start, b_end in matcher.get_opcodes():
        if operation == "equal":
            pieces.append(TextPart("both", "".join(b[b_start:b_end])))
            continue
        if a_end > a_start:
            before = a[a_start - 1] if a_start else ""
            glued = bool(pieces) and not pieces[-1].text[-1:].isspace()
            space = before[len(before.rstrip()) :] if glued else ""
            pieces.append(TextPart("first", space + "".join(a[a_start:a_end])))
        if b_end > b_start:
            pieces.append(TextPart("second", "".join(b[b_start:b_end])))
    return pieces, whole


def _fold_words(words: list[str]) -> list[str]:
    return [word.strip().lower() for word in words]
