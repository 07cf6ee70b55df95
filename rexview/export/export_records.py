"""The frozen records of every export, which contain only what may leave the app.

They contain no path and no DICOM header. Texts are as people and models wrote them, so every format
must escape them. With pseudonyms, ids, names and texts are already replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from rexview.analysis.meetings import CaseVote, Meeting, Minutes
from rexview.detect import explain_unsupported_language
from rexview.export.pseudonyms import Pseudonyms
from rexview.geometry import BoxSide, Orientation
from rexview.imaging.radiograph import Radiograph
from rexview.schema import Context, Report, ReviewSet
from rexview.store import Reviews


@dataclass(frozen=True)
class ExportModel:
    """A model; ``colour`` is ``#RRGGBB``, as in the app. ``name`` is for display."""

    id: str
    name: str
    colour: str


@dataclass(frozen=True)
class ExportBox:
    """A box on an image of the case: x, y, width, height in pixels of the stored image.

    ``model`` is the model's id, None for the reference. ``side`` is the patient's side, if known.
    ``unsure`` is true if the model's coordinate convention is unknown. With ``problem``, a
    sentence, the box cannot be drawn.
    """

    model: str | None
    image: str
    label: str
    box: tuple[float, ...]
    side: BoxSide | None = None
    score: float | None = None
    unsure: bool = False
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class ExportImage:
    """An image of a case, or a picture that a model returned (``model`` is then its id).

    ``id`` is unique within the case. ``title`` is for display ("PA", "Prior, Lateral").
    ``file_stem`` is a file name without ending, in plain letters, unique in the export.
    ``file_name`` is the name of its own file, without folders; empty with pseudonyms. ``width`` and
    ``height`` are stored pixels, None if the set has no sizes.

    ``read`` decodes the picture at each call and caches nothing. ``source`` returns its file, only
    for reading the UIDs of a reference; it is None with pseudonyms.
    """

    id: str
    title: str
    view: str
    prior: bool
    key: bool
    width: int | None
    height: int | None
    orientation: Orientation
    file_stem: str
    file_name: str
    read: Callable[[], Radiograph] = field(repr=False)
    """Raises :class:`~rexview.errors.ImageError`, :class:`~rexview.errors.PathEscape`."""
    source: Callable[[], Path] | None = field(repr=False)
    """Raises like ``read``."""
    model: str | None = None


@dataclass(frozen=True)
class ExportAnswer:
    """The newest answer of one model.

    ``status`` is a word of :data:`rexview.stats.STATUSES`. ``choice`` counts the options from 0,
    ``choice_correct`` is whether it is right; both are None without a choice. ``final`` has final
    scores by dimension (:data:`rexview.vocab.DIMENSIONS`), ``content`` and ``gap``. Missing ones
    are left out, so it is empty without scores or answer. ``digest`` identifies this very answer.
    ``key_sentences`` are the sentences of its failures, otherwise its conclusion
    (:mod:`rexview.analysis.case.key_sentences`).
    """

    model: str
    text: str
    status: str
    explanation: str | None = None
    choice: int | None = None
    choice_correct: bool | None = None
    finish_reason: str = "unknown"
    run: str | None = None
    prompt: str | None = None
    created: datetime | None = None
    digest: str | None = None
    boxes: tuple[ExportBox, ...] = ()
    pictures: tuple[ExportImage, ...] = ()
    final: Mapping[str, float] = field(default_factory=dict)
    n_readers: int = 0
    key_sentences: tuple[str, ...] = ()

    @property
    def not_read(self) -> str:
        """Why the rules did not read its text; empty if they did."""
        return explain_unsupported_language(self.text)


@dataclass(frozen=True)
class ExportScore:
    """One dimension of one answer scored by one reader, if it counts: 1 to 5.

    ``image`` counts returned pictures from 1.
    """

    model: str
    reader: str
    dimension: str
    score: int
    image: int | None = None
    comment: str | None = None
    created: datetime | None = None


@dataclass(frozen=True)
class ExportFlag:
    """A failure of an answer. ``failure`` is a key of :data:`rexview.vocab.FAILURES`.

    ``source`` is ``detector`` or ``reader`` (then ``reader`` names the person); a ``hint`` is
    weaker. ``verdict`` is ``confirmed``, ``rejected`` or None; ``severity`` is the harm, 0 to 4.
    """

    model: str
    failure: str
    name: str
    source: str
    message: str
    hint: bool = False
    reader: str | None = None
    verdict: str | None = None
    severity: int | None = None

    @property
    def title(self) -> str:
        """Its name, marked as a suggestion if it is only a hint."""
        return f"{self.name}: suggested by rule" if self.hint else self.name


@dataclass(frozen=True)
class ExportMark:
    """A reader's mark that an answer has a failure in words; never an :class:`ExportFlag` as well.

    ``failure`` is its name in links, ``name`` its title, ``version`` the digest of the words that
    were read, ``reader`` the id of the person.
    """

    model: str
    failure: str
    name: str
    version: str
    reader: str
    comment: str | None = None
    created: datetime | None = None


@dataclass(frozen=True)
class ExportComment:
    """A comment; ``on`` describes its target in words. ``model`` is None for the case."""

    id: str
    model: str | None
    person: str
    text: str
    on: str
    at: datetime | None = None
    reply_to: str | None = None
    resolved: bool = False


@dataclass(frozen=True)
class ExportDecision:
    """A meeting's decision about a case (``model`` None) or an answer.

    ``failure`` and ``decision`` are ids, ``failure_name`` and ``decision_name`` are for display.
    ``reader`` is the name of the person who recorded it. ``is_open`` means that something is left
    to do, ``stale`` that the answer has been replaced since.
    """

    model: str | None
    meeting: str
    meeting_name: str
    held: date | None
    reader: str
    failure: str | None = None
    failure_name: str = ""
    severity: int | None = None
    decision: str | None = None
    decision_name: str = ""
    owner: str | None = None
    due: date | None = None
    done: bool = False
    is_open: bool = False
    comment: str | None = None
    created: datetime | None = None
    stale: bool = False


@dataclass(frozen=True, eq=False)
class ExportCase:
    """One case with everything exported about it. ``number`` counts the export's cases from 1.

    ``section``, ``seconds`` (how long it was shown) and ``vote`` belong to the exported meeting, if
    there is one. ``images`` are those of the study, priors last; returned pictures are with the
    answers. ``headline`` names the worst failure and its answer, empty without one.
    ``key_sentences`` are the report's sentences that failures are about, otherwise its conclusion.
    """

    number: int
    id: str
    question: str
    question_type: str
    category: str
    options: tuple[str, ...]
    correct: int | None
    explanation: str | None
    tags: Mapping[str, tuple[str, ...]]
    difficulty: str | None
    study: str | None
    patient: str | None
    site: str | None
    normal: bool | None
    context: Context
    report: Report
    images: tuple[ExportImage, ...]
    reference_boxes: tuple[ExportBox, ...]
    answers: tuple[ExportAnswer, ...]
    scores: tuple[ExportScore, ...] = ()
    flags: tuple[ExportFlag, ...] = ()
    marks: tuple[ExportMark, ...] = ()
    comments: tuple[ExportComment, ...] = ()
    decisions: tuple[ExportDecision, ...] = ()
    section: str = ""
    minutes: float | None = None
    seconds: float | None = None
    vote: CaseVote | None = None
    headline: str = ""
    key_sentences: tuple[str, ...] = ()

    @property
    def report_not_read(self) -> str:
        """Why no answer is compared with the report; empty if they are."""
        sections = (self.report.findings, self.report.impression)
        return explain_unsupported_language("\n".join(text or "" for text in sections))

    def image(self, image_id: str) -> ExportImage | None:
        """Return the image of the study with that id, or None."""
        return next((image for image in self.images if image.id == image_id), None)

    def boxes_on(self, image_id: str) -> tuple[ExportBox, ...]:
        """Return all drawable boxes on an image: the reference's, then the models' in order."""
        every = [*self.reference_boxes, *(box for one in self.answers for box in one.boxes)]
        return tuple(box for box in every if box.image == image_id and not box.problem)


@dataclass(frozen=True, eq=False)
class WholeSet:
    """The open set of an export, for the review-set format.

    It holds what may not leave: ``cases`` are real ids in the order of the export, ``hidden`` has
    the pseudonyms, if they are wanted.
    """

    review_set: ReviewSet
    reviews: Reviews
    cases: Sequence[str]
    hidden: Pseudonyms | None = None


@dataclass(frozen=True, eq=False)
class ExportContent:
    """The content of one export; cases are made one at a time, at each iteration.

    ``title`` is the name of the meeting, otherwise of the set. ``notice`` is the set's own and must
    be in every export. ``notes`` are sentences about privacy for anyone who passes the export on.
    ``minutes`` are those of the exported meeting, if there is one, with the cases' exported ids;
    ``case_ids`` are these ids in order. ``harm_levels`` are the set's words for the levels of harm,
    0 to 4.
    """

    title: str
    set_name: str
    notice: str
    made: datetime
    models: tuple[ExportModel, ...]
    readers: Mapping[str, str]
    case_ids: Sequence[str]
    cases: Callable[[], Iterator[ExportCase]]
    whole: Callable[[], WholeSet]
    harm_levels: Mapping[int, str]
    pseudonyms: bool = False
    notes: tuple[str, ...] = ()
    minutes: Minutes | None = None

    @property
    def meeting(self) -> Meeting | None:
        """The exported meeting, if there is one."""
        return self.minutes.meeting if self.minutes else None

    def model(self, model_id: str) -> ExportModel:
        """Return the model with that id."""
        return next(model for model in self.models if model.id == model_id)
