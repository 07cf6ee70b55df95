"""What came of judging: corrections and values of the reports that there are now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.answer_digest import digests_of
from rexview.metrics.fineradscore.asking import Subject
from rexview.metrics.fineradscore.reading import Correction, read_corrections
from rexview.metrics.identity import OWN, MetricId
from rexview.models.backend import Prompt
from rexview.models.running.folder import JUDGING
from rexview.models.running.journal import KeptReply, kept_replies
from rexview.schema import ReviewSet
from rexview.vocab import JUDGE

METRIC: Final = "fineradscore"
IMPLEMENTATION: Final = OWN


def reader_of(judge: str, *, corrected: bool = False) -> str:
    """Return the reader that a judge's corrections are kept under.

    Those after corrected references (``corrected``) stand beside those after the given ones.
    """
    return f"{JUDGE}{judge}, corrected" if corrected else f"{JUDGE}{judge}"


def identity_of(judge: str, prompt: Prompt, scope: str) -> MetricId:
    """Return the identity of a judge's values: by the wording that it was asked in, and itself."""
    return MetricId(METRIC, IMPLEMENTATION, f"{prompt.version} {judge}", scope)


def kept(set_folder: Path, judge: str, prompt: Prompt) -> dict[str, KeptReply]:
    """Return what a judge said in all runs with this wording, by the id of the subject.

    Of several answers the newest that can be read counts, else the newest.
    """
    return kept_replies(set_folder, JUDGING, judge, prompt)


@dataclass(frozen=True)
class Corrected:
    """A report with its corrections."""

    subject: Subject
    corrections: tuple[Correction, ...]
    created: str

    @property
    def score(self) -> int:
        """FineRadScore: the severities of all corrections, added up; 0 is a report without error.

        >>> from types import SimpleNamespace as Record
        >>> Corrected(Record(), (Record(severity=3), Record(severity=1)), "").score
        4
        """
        return sum(one.severity for one in self.corrections)


def corrected(subjects: Iterable[Subject], said: dict[str, KeptReply]) -> list[Corrected]:
    """Return the reports of which a judge's corrections can be read."""
    found = []
    for subject in subjects:
        one = said.get(subject.id)
        if one is None or not one.answered:
            continue
        corrections = read_corrections(one.text, subject.lines)
        if not isinstance(corrections, str):
            found.append(Corrected(subject, corrections, one.created))
    return found


def edit_rows(
    review_set: ReviewSet, reports: Sequence[Corrected], reader: str
) -> list[dict[str, Any]]:
    """Return rows of ``edits``: the corrections, and the lines that were found right.

    So a report without an error has rows, too, and counts as gone over.
    """
    pairs = {(one.subject.pair.case.id, one.subject.pair.answer.model) for one in reports}
    digests = digests_of(review_set).of_all(pairs)
    rows = []
    for report in reports:
        pair = report.subject.pair
        about = {"case": pair.case.id, "model": pair.answer.model, "reader": reader}
        digest = digests.get((pair.case.id, pair.answer.model))
        after = {"created": report.created, "answer_digest": digest, "scope": pair.scope}
        rows += [{**about, **one, **after} for one in _edits(report)]
    return rows


def _edits(report: Corrected) -> list[dict[str, Any]]:
    """Return the rows of one report in the order of its lines."""
    changed = {one.line: one for one in report.corrections if one.action != "insert"}
    texts = {line.number: line.text for line in report.subject.lines}
    rows = []
    for number in (0, *texts):
        if number in texts and number not in changed:
            kept_line = {"line": number, "original": texts[number], "action": "keep", "severity": 0}
            rows.append(kept_line)
        at = [changed[number]] if number in changed else []
        at += [one for one in report.corrections if one.line == number and one.action == "insert"]
        rows += [
            {
                "line": one.line,
                **({} if one.action == "insert" else {"original": texts[one.line]}),
                **({} if one.text is None else {"edited": one.text}),
                "action": one.action,
                "severity": one.severity,
                "kind": one.kind,
                **({"comment": one.comment} if one.comment else {}),
            }
            for one in at
        ]
    return rows
