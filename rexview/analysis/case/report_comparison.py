"""A generated report beside its reference: sentences, marked words, differences, agreement."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from rexview.analysis.case.finding_links import MOST_READ
from rexview.analysis.case.record import CasePage
from rexview.detect.report_comparison import regions_of, sides_meet
from rexview.detect.scan.batch import flag_finding
from rexview.harm import HarmTable
from rexview.metrics.finding_agreement import FindingAgreement, Lone, Span, Stated
from rexview.metrics.identity import MetricId, known_first
from rexview.metrics.of_answer import agreement_of
from rexview.metrics.pairs import SCOPES
from rexview.metrics.report_lines import Line, report_lines
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

# The app's own metrics of the reports of one case: agreement about findings with its parts.

_WIDEST_FIRST: Final = sorted(SCOPES, key=len, reverse=True)


@dataclass(frozen=True)
class ScopedAgreement:
    """An agreement, and the sections that were compared (:data:`rexview.metrics.pairs.SCOPES`)."""

    scope: str
    parts: FindingAgreement


def agreements(
    case: Case, answers: Iterable[Answer], harm: HarmTable
) -> dict[str, ScopedAgreement]:
    """Compare each report with the reference, by model: all sections that both have.

    Spans of the reference are offsets into its sections, those of a report into the answer. An
    answer without text, or of a case without reference, has none.
    """
    found = {}
    for answer in answers:
        for scope in _WIDEST_FIRST:
            parts = agreement_of(case, answer, harm, scope)
            if parts is not None:
                found[answer.model] = ScopedAgreement(scope, parts)
                break
    return found


# Which sentence of a generated report says what a sentence of the reference says.
#
# Findings decide first: two sentences that speak of the same finding belong together, also where
# one denies it or places it on the other side, since that is what a reader has to see. Then
# words, then the part of the chest, so that "The heart is normal" finds "Cardiac silhouette
# unremarkable". Order plays no part: reports go through the chest in different ways. Pairs are
# those whose similarities sum up to most (:func:`scipy.optimize.linear_sum_assignment`).

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

    Findings beyond :data:`MOST_READ` characters are not read.
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


# The words of a report and its reference that are marked as missed, invented or side swapped.
#
# A word is marked only where a rule's flag or hint says so, and no reader rejected it: marks and
# hints have one source. The finding-level agreement adds the other places of the same finding.

_MEANING: Final = {
    "omission": ("missed",),
    "hallucination": ("invented",),
    "laterality_error": ("swapped",),
    "wrong_type": ("missed", "invented"),
}
"""What the words of a failure's evidence are marked as."""
_PLACES: Final = {"missed": ("report",), "invented": ("answer",), "swapped": ("report", "answer")}


class Mark(NamedTuple):
    """Marked words.

    ``what`` is ``missed``, ``invented`` or ``swapped``; ``where`` is ``report`` (the reference) or
    ``answer``. ``about`` is the sentence of the rule.
    """

    what: str
    where: str
    words: Span
    about: str

    def covers(self, where: str, words: Span) -> bool:
        """Whether it marks some of the words; offsets into an answer are into all of its text."""
        if self.where != where or (where == "report" and self.words.section != words.section):
            return False
        return self.words.start < words.end and words.start < self.words.end


def marks_of(
    flags: Iterable[Flag], agreements: Mapping[str, ScopedAgreement]
) -> dict[str, tuple[Mark, ...]]:
    """Return the marks of each model's report and of its reference, by model."""
    found: dict[str, list[Mark]] = {}
    for flag in flags:
        if flag.source != "detector" or flag.verdict == "rejected":
            continue
        if flag.failure == "laterality_error" and flag.kind != "report":
            continue  # of boxes, or within the answer: the reference has no part in it
        agreement = agreements.get(flag.model)
        kept = found.setdefault(flag.model, [])
        for what in _MEANING.get(flag.failure, ()):
            for mark in _of_flag(flag, what, agreement.parts if agreement else None):
                if not any(one.what == what and one.covers(mark.where, mark.words) for one in kept):
                    kept.append(mark)
    return {model: tuple(marks) for model, marks in found.items() if marks}


def _of_flag(flag: Flag, what: str, parts: FindingAgreement | None) -> Iterator[Mark]:
    """Yield the places of the finding that a flag is about; without any, those of its evidence."""
    marks = [
        Mark(what, item.where, Span(item.field, item.start, item.end, item.text), flag.message)
        for item in flag.evidence
        if item.start is not None and item.end is not None and item.where in _PLACES[what]
    ]
    if not marks:
        return
    finding = flag_finding(flag)
    family = finding_info(finding).family if finding else None
    places = [
        Mark(what, where, words, flag.message)
        for where, stated in (_of_one_text(what, parts) if parts else ())
        if any(mark.covers(where, words) for mark in marks for words in stated.spans)
        or (what != "swapped" and family == stated.family)
        for words in stated.spans
    ]
    yield from places
    yield from (
        mark for mark in marks if not any(one.covers(mark.where, mark.words) for one in places)
    )


def _of_one_text(what: str, parts: FindingAgreement) -> Iterator[tuple[str, Stated]]:
    if what == "missed":
        yield from (("report", one.stated) for one in parts.missed)
    elif what == "invented":
        yield from (("answer", one.stated) for one in parts.invented)
    else:
        for pair in parts.swapped:
            yield from (("report", pair.reference), ("answer", pair.candidate))


def is_marked(lone: Lone, where: str, marks: Iterable[Mark]) -> bool:
    """Whether a finding that only one text has is marked: a rule says that it is an error."""
    return any(mark.covers(where, words) for mark in marks for words in lone.stated.spans)


# Everything that is said of the reports of one case beside scores and flags, for its page.

NOT_NAMED: Final = ""
"""Stands for whoever corrected a report without being named."""


@dataclass(frozen=True)
class ReportCase:
    """The reports of a case beside its reference.

    Attributes
    ----------
    rows : tuple of Row
        Sentence beside sentence.
    edits, stale_edits : mapping of str to tuple of Edit
        Corrections by model, and those of earlier reports, which count nowhere.
    metrics : mapping of str to tuple of MetricValue
        Metric values by model, known metrics first.
    corrected : tuple of CorrectedReference
        Corrected reports that are kept beside the given reference.
    agreement : mapping of str to ScopedAgreement
        How far each report agrees with the reference, by model.
    marks : mapping of str to tuple of Mark
        The words that rules call missed, invented or side swapped, by model.
    """

    rows: tuple[Row, ...]
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    metrics: Mapping[str, tuple[MetricValue, ...]] = field(default_factory=dict)
    corrected: tuple[CorrectedReference, ...] = ()
    agreement: Mapping[str, ScopedAgreement] = field(default_factory=dict)
    stale_edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)

    def edits_at(self, model: str) -> dict[int | None, tuple[Edit, ...]]:
        """Return the corrections of a model's report by the line that they stand with.

        None has those of lines that the report does not have, or that are not said.
        """
        lines = {
            beside.sentence.line.number: _folded(beside.sentence.line.text)
            for row in self.rows
            for beside in row.by_model.get(model, ())
        }
        found: dict[int | None, list[Edit]] = {}
        for edit in self.edits.get(model, ()):
            found.setdefault(_line_of(edit, lines), []).append(edit)
        return {line: tuple(edits) for line, edits in found.items()}


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _line_of(edit: Edit, lines: Mapping[int, str]) -> int | None:
    """Find the line that a correction is of: by its words where just one has these, else by number.

    Files from elsewhere may count other lines. What is inserted before all stands with the first.
    """
    words = _folded(edit.original or "")
    same = [number for number, text in lines.items() if words and text == words]
    if len(same) == 1:
        return same[0]
    number = 1 if edit.line == 0 else edit.line
    return number if number in lines else None


def gather_report(
    review_set: ReviewSet,
    page: CasePage,
    harm: HarmTable,
    editors: Collection[str] | None = None,
) -> ReportCase | None:
    """Gather what is said of the reports on a page; None where its case asks for none.

    ``harm`` weighs the findings; ``editors`` are those whose corrections are shown, by id
    (:data:`NOT_NAMED`), all by default.
    """
    case = page.case
    if case.question_type != "report":
        return None
    given: Sequence[Sentence] = reference_sentences(case.report)
    models = {answer.model for answer in page.answers}
    edits, stale = (
        [
            edit
            for edit in review_set.edits_of(case.id, stale=stale)
            if editors is None or (edit.reader or NOT_NAMED) in editors
        ]
        for stale in (False, True)
    )
    values = sorted(
        review_set.metric_values_of(case.id),
        key=lambda one: known_first(metric_value_identity(one)),
    )
    compared = agreements(case, page.answers, harm)
    return ReportCase(
        align(given, page.answers),
        {model: tuple(one for one in edits if one.model == model) for model in models},
        {model: tuple(one for one in values if one.model == model) for model in models},
        review_set.references_of(case.id),
        compared,
        {model: tuple(one for one in stale if one.model == model) for model in models},
        marks_of(page.flags, compared),
    )


def metric_value_identity(value: MetricValue) -> MetricId:
    """Return the identity of a metric value."""
    return MetricId(value.metric, value.implementation, value.version, value.scope)


# Differences between two texts, word by word, for showing them side by side.

MAX_WORDS: Final = 1500
"""Comparing grows with the product of the lengths; beyond this the rest is not compared."""
_TOKEN: Final = re.compile(r"(?:[^\W_]+|[\W_])\s*")


@dataclass(frozen=True)
class Piece:
    """A stretch that both texts share, or that only the first or the second has."""

    where: Literal["both", "first", "second"]
    text: str


def compare_texts(first: str, second: str) -> tuple[list[Piece], bool]:
    """Compare two texts by words, regardless of case; say whether all of both was compared.

    Pieces are in reading order; what only the first has stands before what only the second has.
    """
    a, b = _TOKEN.findall(first.lstrip()), _TOKEN.findall(second.lstrip())
    whole = len(a) <= MAX_WORDS and len(b) <= MAX_WORDS
    a, b = a[:MAX_WORDS], b[:MAX_WORDS]
    matcher = SequenceMatcher(None, _differences_folded(a), _differences_folded(b), autojunk=False)
    pieces: list[Piece] = []
    for operation, a_start, a_end, b_start, b_end in matcher.get_opcodes():
        if operation == "equal":
            pieces.append(Piece("both", "".join(b[b_start:b_end])))
            continue
        if a_end > a_start:
            before = a[a_start - 1] if a_start else ""
            glued = bool(pieces) and not pieces[-1].text[-1:].isspace()
            space = before[len(before.rstrip()) :] if glued else ""
            pieces.append(Piece("first", space + "".join(a[a_start:a_end])))
        if b_end > b_start:
            pieces.append(Piece("second", "".join(b[b_start:b_end])))
    return pieces, whole


def _differences_folded(words: list[str]) -> list[str]:
    return [word.strip().lower() for word in words]
