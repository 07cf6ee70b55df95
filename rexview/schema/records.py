"""The records of a review set, and how rows of the tables become records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, Literal

from rexview.vocab import FRONTAL_VIEWS, HINT_KINDS


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """The option (from 0) that ``text[start:end]`` chooses.

    ``method`` is a key of :data:`rexview.text.choices.METHODS`.
    """

    option: int
    method: str
    start: int
    end: int


@dataclass(frozen=True)
class WrittenFailure:
    """A failure in people's own words, from the reviews; ``failure`` is its name in URLs.

    ``value`` has the fields of the kind ``written_failure``; ``by`` names its last author.
    """

    failure: str
    value: Mapping[str, Any]
    by: str
    at: datetime


@dataclass(frozen=True)
class FailureMark:
    """A person's mark that an answer has a failure in people's own words, in one version of them.

    ``version`` is the digest of the words. ``stale`` means that the answer was changed since it was
    read, or has left the set; the mark then counts nowhere.
    """

    case: str
    model: str
    reader: str
    failure: str
    version: str
    comment: str | None
    created: datetime | None
    stale: bool = False


@dataclass(frozen=True)
class Edit:
    """A correction of one line of a report, by a person or a judge (``reader``).

    ``line`` counts from 1 as :func:`rexview.metrics.report_lines.report_lines` does. An insertion
    comes after its line, 0 is before the first. ``action`` is a word of
    :data:`rexview.vocab.EDIT_ACTIONS`, ``severity`` 0 to 4, ``kind`` a word of
    :data:`rexview.vocab.EDIT_KINDS` or another given word. ``origin`` is ``app`` for an edit made
    in the app, else ``file``.
    """

    case: str
    model: str
    action: str
    reader: str | None = None
    line: int | None = None
    original: str | None = None
    edited: str | None = None
    severity: int | None = None
    kind: str | None = None
    significance: str | None = None
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"


@dataclass(frozen=True)
class MetricValue:
    """One metric of one report; ``implementation``, ``version`` and ``scope`` are its identity."""

    case: str
    model: str
    metric: str
    value: float | None = None
    implementation: str | None = None
    version: str | None = None
    scope: str | None = None
    n: int | None = None


@dataclass(frozen=True)
class CorrectedReference:
    """A corrected report that is stored in addition to the given one."""

    case: str
    reader: str
    findings: str | None = None
    impression: str | None = None
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"


def edit_from_row(row: Mapping[str, Any]) -> Edit:
    """Make an Edit from one row (a dict) with columns :data:`rexview.frames.EDITS`."""
    return Edit(**_values(Edit, row))


def metric_value_from_row(row: Mapping[str, Any]) -> MetricValue:
    """Make a MetricValue from one row (a dict) with columns :data:`rexview.frames.METRICS`."""
    return MetricValue(**_values(MetricValue, row))


def corrected_reference_from_row(row: Mapping[str, Any]) -> CorrectedReference:
    """Make a CorrectedReference from one row with columns :data:`rexview.frames.REFERENCES`."""
    return CorrectedReference(**_values(CorrectedReference, row))


def _values(kind: type, row: Mapping[str, Any]) -> dict[str, Any]:
    given = {**row, "origin": row.get("_origin") or "file"}
    return {spec.name: given[spec.name] for spec in fields(kind)}


@dataclass(frozen=True)
class Model:
    """A model of the set, declared in ``reviewset.yaml`` or found only in the answers."""

    id: str
    name: str
    kind: str | None = None
    draws_boxes: bool | None = None
    max_output_tokens: int | None = None
    notes: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reader:
    """A person who scored answers."""

    id: str
    name: str
    role: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """The rules of a reader study.

    ``report`` is when a reader sees the radiologist's report. ``reveal`` is when, after scoring,
    they learn which model gave which answer; ``reveal_peers`` whether they then see others' scores,
    too. A second reader scores ``second_reader_share`` of the cases as well. From ``disagreement``
    on, two readers' scores are adjudicated. ``seed`` fixes the order of cases; the letter of an
    answer depends on a secret of the reviews database. ``name_readers`` allows adjudicators to see
    who gave which score. ``choice_cases`` puts choice questions on the worklists, too.
    ``reader_references`` allows readers to store a corrected report as a reference, as leads and
    adjudicators may. ``cover_names`` are more names to cover wherever models are hidden.
    """

    report: Literal["on_request", "always", "never"] = "on_request"
    reveal: Literal["per_case", "at_end"] = "at_end"
    reveal_peers: bool = False
    second_reader_share: float = 0.25
    disagreement: float = 2.0
    seed: int = 1
    name_readers: bool = False
    choice_cases: bool = False
    reader_references: bool = False
    cover_names: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SetInfo:
    """The content of ``reviewset.yaml``. ``images`` is the base folder or URL of image paths.

    ``id`` identifies the set in a shared reviews database. ``rubric`` and ``harm`` name files in
    the folder; ``harm`` is empty for the built-in table.
    """

    name: str
    description: str = ""
    notice: str = ""
    images: str = "images/"
    models: tuple[Model, ...] = ()
    readers: tuple[Reader, ...] = ()
    rubric: str = "rexecution"
    id: str | None = None
    protocol: Protocol = field(default_factory=Protocol)
    harm: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyImage:
    """One image of a case. Sizes in pixels; ``patient_orientation`` is DICOM (0020,0020).

    ``pixel_mm`` is the distance of neighbouring pixels at the detector, for files that do not give
    it themselves (PNG, JPEG, WebP).
    """

    id: str
    path: str
    view: str = "UNKNOWN"
    view_raw: str | None = None
    key: bool = False
    prior: bool = False
    width: int | None = None
    height: int | None = None
    patient_orientation: tuple[str, ...] | None = None
    laterality_flip: bool | None = None
    pixel_mm: float | None = None

    @property
    def frontal(self) -> bool:
        """True if the view is frontal, so that image sides are patient sides."""
        return self.view in FRONTAL_VIEWS


@dataclass(frozen=True)
class ReferenceBox:
    """A box given as the truth. ``box`` is x, y, width, height in pixels of the stored image."""

    image: str
    label: str
    box: tuple[float, ...]
    side: str | None = None


@dataclass(frozen=True)
class AnswerBox:
    """A box that a model gave. ``box`` is x, y, width, height in pixels of the stored image.

    ``unsure`` means that the model's convention is unknown, so the box may belong elsewhere.
    """

    image: str
    label: str
    box: tuple[float, ...]
    score: float | None = None
    unsure: bool | None = None


@dataclass(frozen=True)
class Context:
    """The requester's information about the study."""

    age: str | None = None
    sex: str | None = None
    indication: str | None = None
    comparison: str | None = None


@dataclass(frozen=True)
class Report:
    """The radiologist's reference report."""

    findings: str | None = None
    impression: str | None = None


@dataclass(frozen=True)
class Case:
    """One question about one study: the unit that is browsed, scored and discussed."""

    id: str
    question: str
    question_type: str = "open"
    category: str | None = None
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    difficulty: str | None = None
    study_id: str | None = None
    patient_id: str | None = None
    site: str | None = None
    normal: bool | None = None
    context: Context = Context()
    report: Report = Report()
    images: tuple[StudyImage, ...] = ()
    reference_boxes: tuple[ReferenceBox, ...] = ()
    options: tuple[str, ...] = ()
    correct: int | None = None
    explanation: str | None = None
    question_boxes: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key_image(self) -> StudyImage | None:
        """The image marked as primary, else the first current frontal one, else the first."""
        current = [image for image in self.images if not image.prior] or list(self.images)
        marked = [image for image in current if image.key]
        frontal = [image for image in current if image.frontal]
        return next(iter(marked or frontal or current), None)

    def image(self, image_id: str) -> StudyImage | None:
        """The image with that id, or None."""
        return next((image for image in self.images if image.id == image_id), None)


@dataclass(frozen=True)
class Answer:
    """One model's output for one case; ``choice_read`` is the place of the choice in the text.

    ``repeat`` numbers the answers of one run to the same question, from 1.
    """

    case: str
    model: str
    text: str | None = None
    run_id: str | None = None
    finish_reason: str = "unknown"
    finish_reason_raw: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    max_output_tokens: int | None = None
    boxes: tuple[AnswerBox, ...] = ()
    images: tuple[str, ...] = ()
    choice: int | None = None
    explanation: str | None = None
    error: str | None = None
    latency_s: float | None = None
    created: datetime | None = None
    prompt_id: str | None = None
    repeat: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    choice_read: ChoiceReading | None = None


@dataclass(frozen=True)
class Score:
    """One dimension of one answer scored by one reader: 1 to 5, None for not scored.

    ``origin`` is ``file`` for scores given with the set, ``app`` for scores entered in the app.
    ``answer_digest`` is the digest of the answer that was read (:mod:`rexview.answer_digest`), if
    known.
    """

    case: str
    model: str
    reader: str
    dimension: str
    score: int | None
    image: int | None = None
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"
    answer_digest: str | None = None


@dataclass(frozen=True)
class ReaderFlag:
    """A failure mode that a reader confirmed or rejected; the last two fields are as in Score."""

    case: str
    model: str
    reader: str
    failure: str
    verdict: str = "confirmed"
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"
    answer_digest: str | None = None


@dataclass(frozen=True)
class ReaderChoice:
    """A reader's own answer to a choice question; ``origin`` is as in Score.

    ``choice`` counts from 0; ``option`` is its text as the reader saw it; ``seconds`` is the time
    from seeing the question to the answer.
    """

    case: str
    reader: str
    choice: int
    option: str | None = None
    seconds: float | None = None
    comment: str | None = None
    created: datetime | None = None
    origin: str = "file"


@dataclass(frozen=True)
class Evidence:
    """The place where a flag can be checked.

    ``where`` is ``answer``, ``report``, ``question``, ``question_boxes``, ``option`` (the chosen
    one), ``correct_option``, ``box``, ``reference_box``, ``usage`` or ``scores``. ``start`` and
    ``end`` are offsets into that text. For a report, ``field`` is its section, ``findings`` or
    ``impression``; for an option, its number from 0. ``box`` is x, y, width, height in pixels of
    ``image``.
    """

    where: str
    text: str
    field: str | None = None
    start: int | None = None
    end: int | None = None
    side: str | None = None
    image: str | None = None
    box: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Flag:
    """A failure of one answer, its source, and the evidence.

    ``source`` is ``detector`` or ``reader``; ``kind`` is the detector's rule. ``message`` is one
    sentence that a clinician can check against the evidence. ``origin`` of a reader's flag is as in
    Score.
    """

    case: str
    model: str
    failure: str
    source: str
    message: str
    kind: str | None = None
    evidence: tuple[Evidence, ...] = ()
    reader: str | None = None
    verdict: str | None = None
    origin: str | None = None

    @property
    def is_hint(self) -> bool:
        """True if it only hints at the failure: counted separately, shown as possible."""
        return self.source == "detector" and self.kind in HINT_KINDS


def _record(kind: type, row: Mapping[str, Any]) -> Any:
    """Make a record from the row's entries that are its fields; lists become tuples."""
    values: dict[str, Any] = {}
    for name in _names_of(kind):
        if (value := row.get(name)) is not None:
            values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**values)


@cache
def _names_of(kind: type) -> tuple[str, ...]:
    return tuple(spec.name for spec in fields(kind))


def _box(row: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in a box row the fields that a record requires: empty if the file has none."""
    named = {name: row[name] or "" for name in ("image", "label")}
    return {**row, **named, "box": tuple(row["box"] or ())}


def _extra(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return json.loads(row["extra"]) if row.get("extra") else {}


def case_from_row(row: Mapping[str, Any]) -> Case:
    """Make a Case from one row (a dict) with columns :data:`rexview.frames.CASES`."""
    nested = {
        "tags": {tag["name"]: tuple(tag["values"] or ()) for tag in row["tags"] or ()},
        "context": _record(Context, row["context"] or {}),
        "report": _record(Report, row["report"] or {}),
        "images": [_record(StudyImage, image) for image in row["images"] or ()],
        "reference_boxes": [_record(ReferenceBox, _box(b)) for b in row["reference_boxes"] or ()],
        "extra": _extra(row),
    }
    return _record(Case, {**row, **nested})  # type: ignore[no-any-return]


def answer_from_row(row: Mapping[str, Any]) -> Answer:
    """Make an Answer from one row (a dict) with columns :data:`rexview.frames.ANSWERS`."""
    boxes = [_record(AnswerBox, _box(box)) for box in row["boxes"] or ()]
    read = row.get("_choice_read") and ChoiceReading(row["choice"], **row["_choice_read"])
    values = {**row, "boxes": boxes, "extra": _extra(row), "choice_read": read}
    return _record(Answer, values)  # type: ignore[no-any-return]


def score_from_row(row: Mapping[str, Any]) -> Score:
    """Make a Score from one row (a dict) with columns :data:`rexview.frames.SCORES`."""
    values = {**row, "origin": row.get("_origin") or "file"}
    return Score(**{name: values[name] for name in _names_of(Score)})


def reader_flag_from_row(row: Mapping[str, Any]) -> ReaderFlag:
    """Make a ReaderFlag from one row (a dict) with columns :data:`rexview.frames.FLAGS`."""
    return _record(ReaderFlag, {**row, "origin": row.get("_origin")})  # type: ignore[no-any-return]


def reader_choice_from_row(row: Mapping[str, Any]) -> ReaderChoice:
    """Make a ReaderChoice from one row (a dict) with columns :data:`rexview.frames.CHOICES`."""
    return _record(ReaderChoice, {**row, "origin": row.get("_origin")})  # type: ignore[no-any-return]
