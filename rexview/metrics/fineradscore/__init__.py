"""FineRadScore: a language model corrects a generated report line by line, and grades each error.

After Huang et al. 2024 (arXiv 2405.20613), with our own wording and rubric. Requests are sent like
those of a run (:mod:`rexview.models.running`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeGuard

from rexview.answer_digest import digests_of
from rexview.metrics.identity import OWN_IMPLEMENTATION, MetricId
from rexview.metrics.reference_pairs import ReportPair
from rexview.metrics.report_lines import ReportLine, report_lines
from rexview.models.asking.prompts import fill_template, read_fixed_prompt
from rexview.models.asking.reply_reader import read_list
from rexview.models.asking.token_estimate import input_tokens
from rexview.models.backend import ModelRequest, Parameters, Prompt, Reply, closed_object_schema
from rexview.models.running.attempts import RunTask, UnreadReply
from rexview.models.running.run_folder import JUDGING_FOLDER
from rexview.models.running.run_journal import StoredReply, newest_stored_replies
from rexview.models.running.run_spec import RunSpec
from rexview.schema import ReviewSet
from rexview.vocab import EDIT_KINDS, EDIT_SEVERITIES, JUDGE

# Replies of a judge: corrections, or the reason why they are invalid. Nothing is guessed or
# repaired.

CORRECTING: Final = ("substitute", "delete", "insert")
_FIELDS: Final = frozenset(("line", "action", "text", "kind", "severity", "comment"))
_LONGEST: Final = 10_000
_MOST: Final = 500


@dataclass(frozen=True)
class Correction:
    """One correction of a line; an inserted line follows ``line``, 0 for before the first.

    ``text`` is the corrected line, None for a deleted one.
    """

    line: int
    action: str
    text: str | None
    kind: str
    severity: int
    comment: str | None


def read_corrections(text: str, lines: Sequence[ReportLine]) -> tuple[Correction, ...] | str:
    """Parse the JSON object of a judge.

    Returns
    -------
    tuple of Correction or str
        A sentence on what is wrong, if anything in the reply is not as requested; then nothing of
        it is used.
    """
    given = read_list(text, "corrections", _MOST)
    if isinstance(given, str):
        return given
    found: list[Correction] = []
    by_number = {line.number: line for line in lines}
    for place, one in enumerate(given, 1):
        correction = _correction(one, by_number)
        if isinstance(correction, str):
            return f"Correction {place}: {correction}"
        found.append(correction)
    changed = [one.line for one in found if one.action != "insert"]
    if len(set(changed)) < len(changed):
        twice = next(line for line in changed if changed.count(line) > 1)
        return f"Line {twice} is corrected twice."
    return tuple(found)


def _correction(one: Any, lines: Mapping[int, ReportLine]) -> Correction | str:
    if not isinstance(one, dict):
        return "it is no object."
    line, action, text = one.get("line"), one.get("action"), one.get("text")
    kind, severity, comment = one.get("kind"), one.get("severity"), one.get("comment")
    unknown = sorted(one.keys() - _FIELDS)
    if unknown:
        return f"{unknown[0]!r:.60} is no part of a correction."
    if action not in CORRECTING:
        return f"the action {action!r:.60} is none of {', '.join(CORRECTING)}."
    if not _is_whole(line) or not (line in lines or (action == "insert" and line == 0)):
        return f"there is no line {line!r:.60}."
    if kind not in tuple(EDIT_KINDS):
        return f"the kind {kind!r:.60} is none of {', '.join(EDIT_KINDS)}."
    if not _is_whole(severity) or severity not in EDIT_SEVERITIES:
        return f"the severity {severity!r:.60} is no whole number from 0 to 4."
    if not isinstance(comment, str | None) or len(comment or "") > _LONGEST:
        return f"the comment is no text of at most {_LONGEST:,} characters."
    if not isinstance(text, str | None) or len(text or "") > _LONGEST:
        return f"the text is no text of at most {_LONGEST:,} characters."
    written = (text or "").strip()
    if action == "delete":  # other repetitions of a deleted line change nothing
        return Correction(line, action, None, kind, severity, comment or None)
    if not written:
        return "the new line is missing."
    if action == "substitute" and written.split() == lines[line].text.split():
        return f"line {line} stays as it is."
    return Correction(line, action, written, kind, severity, comment or None)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


# Content of a request: two texts, without the patient, the images or the model's name.

_PROMPT: Final = Path(__file__).with_name("fineradscore-1.yaml")
OUTPUT_TOKENS: Final = 600
"""Estimated tokens of a reply until the first ones arrive: a few corrections."""


@dataclass(frozen=True)
class ReportSubject:
    """A generated report and its reference.

    ``lines`` are the lines of the answer's text within the scope, with their numbers in the text.
    """

    pair: ReportPair
    lines: tuple[ReportLine, ...]

    @property
    def id(self) -> str:
        """Identifier from case, model, scope and a digest of both texts; it changes with them.

        Only :attr:`lines` and the reference are sent.
        """
        said = json.dumps([self.pair.reference, [(line.number, line.text) for line in self.lines]])
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        return json.dumps([self.pair.case.id, self.pair.answer.model, self.pair.scope, digest])


def report_subject(pair: ReportPair) -> ReportSubject:
    """Split a generated report into the lines that a judge may correct."""
    spans = [(part.start, part.start + len(part.text)) for part in pair.given]
    lines = report_lines(pair.answer.text)
    inside = (line for line in lines if any(a <= line.start < b for a, b in spans))
    return ReportSubject(pair, tuple(inside))


@cache
def judging_prompt() -> Prompt:
    """Return the wording of the request to judges."""
    return read_fixed_prompt(_PROMPT)


def build_line_edit_asking(
    subjects: Iterable[ReportSubject], spec: RunSpec
) -> RunTask[ReportSubject]:
    """Return how a run makes requests for subjects and reads the replies."""
    by_id = {subject.id: subject for subject in subjects}
    return RunTask(
        case=by_id.get,
        build=lambda subject, repeat: build_line_edit_request(
            subject, spec.prompt, spec.parameters, repeat
        ),
        read=read_line_edit_reply,
        input_tokens=lambda request: input_tokens(request, spec.card),
        output_tokens=OUTPUT_TOKENS,
    )


def build_line_edit_request(
    subject: ReportSubject, prompt: Prompt, parameters: Parameters, repeat: int = 1
) -> ModelRequest:
    """Build the request for one report."""
    values = {
        "reference": subject.pair.reference,
        "lines": "\n".join(f"[{one.number}] {' '.join(one.text.split())}" for one in subject.lines),
        "kinds": ", ".join(EDIT_KINDS),
    }
    return ModelRequest(
        case=subject.id,
        repeat=repeat,
        system=prompt.system,
        parts=(fill_template(prompt.texts["ask"], values),),
        parameters=parameters,
        prompt_id=prompt.id,
        prompt_hash=prompt.hash,
        schema=_schema(),
    )


def _schema() -> dict[str, Any]:
    """Return the JSON schema of a reply, in the subset that strict servers accept."""
    properties: dict[str, Any] = {
        "line": {"type": "integer"},
        "action": {"type": "string", "enum": list(CORRECTING)},
        "text": {"type": "string"},
        "kind": {"type": "string", "enum": list(EDIT_KINDS)},
        "severity": {"type": "integer", "enum": list(EDIT_SEVERITIES)},
        "comment": {"type": "string"},
    }
    correction = closed_object_schema(properties)
    return closed_object_schema({"corrections": {"type": "array", "items": correction}})


def read_line_edit_reply(
    request: ModelRequest, reply: Reply, subject: ReportSubject
) -> UnreadReply:
    """Return a reply as received; if it is not as requested, it is malformed, with the reason."""
    if reply.outcome != "answered":
        return UnreadReply(reply.text, reply.outcome, ())
    found = read_corrections(reply.text, subject.lines)
    if isinstance(found, str):
        return UnreadReply(reply.text, "malformed", (found,))
    return UnreadReply(reply.text, "answered", ())


# Results of judging: corrections and values of the current reports.

METRIC: Final = "fineradscore"
IMPLEMENTATION: Final = OWN_IMPLEMENTATION


def corrections_reader(judge: str, *, corrected: bool = False) -> str:
    """Return the reader under which a judge's corrections are kept.

    With ``corrected``, corrections after corrected references are kept apart from the others.
    """
    return f"{JUDGE}{judge}, corrected" if corrected else f"{JUDGE}{judge}"


def judge_metric_identity(judge: str, prompt: Prompt, scope: str) -> MetricId:
    """Return the identity of a judge's values, which includes the wording and the judge."""
    return MetricId(METRIC, IMPLEMENTATION, f"{prompt.version} {judge}", scope)


def read_kept_corrections(set_folder: Path, judge: str, prompt: Prompt) -> dict[str, StoredReply]:
    """Return a judge's replies from all runs with this wording, by the id of the subject.

    Of several replies the newest readable one counts, otherwise the newest.
    """
    return newest_stored_replies(set_folder, JUDGING_FOLDER, judge, prompt)


@dataclass(frozen=True)
class CorrectedReport:
    """A report with its corrections."""

    subject: ReportSubject
    corrections: tuple[Correction, ...]
    created: str

    @property
    def score(self) -> int:
        """FineRadScore: the sum of the severities of all corrections; 0 is a report without error.

        >>> from types import SimpleNamespace as Record
        >>> CorrectedReport(Record(), (Record(severity=3), Record(severity=1)), "").score
        4
        """
        return sum(one.severity for one in self.corrections)


def find_corrected_reports(
    subjects: Iterable[ReportSubject], said: dict[str, StoredReply]
) -> list[CorrectedReport]:
    """Return the reports for which a judge's corrections can be read."""
    found = []
    for subject in subjects:
        one = said.get(subject.id)
        if one is None or not one.answered:
            continue
        corrections = read_corrections(one.text, subject.lines)
        if not isinstance(corrections, str):
            found.append(CorrectedReport(subject, corrections, one.created))
    return found


def edit_rows(
    review_set: ReviewSet, reports: Sequence[CorrectedReport], reader: str
) -> list[dict[str, Any]]:
    """Return rows of ``edits``: the corrections, and the lines without error.

    So a report without an error also has rows, and counts as reviewed.
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


def _edits(report: CorrectedReport) -> list[dict[str, Any]]:
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
