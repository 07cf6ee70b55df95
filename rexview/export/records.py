"""What every export is made from: frozen records that hold nothing that may not leave.

No path of a disk and no DICOM header is in them. Texts are as people and models wrote them: hostile
until a format has escaped them. With pseudonyms, ids, names and texts are replaced already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from rexview.analysis.meetings import Meeting, Minutes, Vote
from rexview.detect import why_not_read
from rexview.export.privacy import Pseudonyms
from rexview.geometry import BoxSide, Orientation
from rexview.imaging.radiograph import Radiograph
from rexview.schema import Context, Report, ReviewSet
from rexview.store import Reviews


@dataclass(frozen=True)
class ExportModel:
    """A model; ``colour`` is ``#RRGGBB``, the same as in the app. ``name`` is for people."""

    id: str
    name: str
    colour: str


@dataclass(frozen=True)
class ExportBox:
    """A box on an image of the case: x, y, width, height in pixels of the stored image.

    ``model`` is the id of the model, None for the reference. ``side`` is the patient's, where it
    can be told. ``unsure`` says that it is not known how the model counts. With ``problem``, a
    sentence, it cannot be drawn.
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

    ``id`` is unique within the case. ``title`` is for people ("PA", "Prior, Lateral").
    ``file_stem`` is a name for a file of it, without ending: plain letters, unique in the export.
    ``file_name`` is the name that its own file has, without folders; empty with pseudonyms.
    ``width`` and ``height`` are pixels as stored, None where the set does not say.

    ``read`` decodes the picture each time it is called and keeps nothing.
    ``source`` gives its file, for what takes from it only the UIDs that a reference needs; it is
    None with pseudonyms.
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
    """Raises as ``read``."""
    model: str | None = None


@dataclass(frozen=True)
class ExportAnswer:
    """The newest answer of one model.

    ``status`` is a word of :data:`rexview.stats.STATUSES`. ``choice`` counts the options from 0,
    ``choice_correct`` says whether it is the right one; both None where there is none. ``final``
    has final scores by dimension (:data:`rexview.vocab.DIMENSIONS`), ``content`` and ``gap``
    (missing ones are left out); it is empty where nobody scored or no answer came. ``digest``
    names this very answer. ``key_sentences`` are those that its failures are about, else its
    conclusion (:mod:`rexview.analysis.case.key_sentences`).
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
        """Why the rules did not look for failures in its words; empty where they did."""
        return why_not_read(self.text)


@dataclass(frozen=True)
class ExportScore:
    """One dimension of one answer scored by one reader, as far as it counts: 1 to 5.

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

    ``source`` is ``detector`` or ``reader`` (``reader`` then has who); a ``hint`` is weaker.
    ``verdict`` is ``confirmed``, ``rejected`` or None; ``severity`` the harm, 0 to 4.
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
        """Its name, and that a rule only suggests it where that is so."""
        return f"{self.name}: suggested by rule" if self.hint else self.name


@dataclass(frozen=True)
class ExportMark:
    """An answer has a failure in words, as a person says: no flag of :class:`ExportFlag` is one.

    ``failure`` is its name in links, ``name`` its title, ``version`` the digest of the words that
    were read; ``reader`` the id of who says so.
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
    """A comment; ``on`` says in words what it is on. ``model`` is None for the case."""

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
    """What a meeting decided about a case (``model`` None) or an answer.

    ``failure`` and ``decision`` are words, ``failure_name`` and ``decision_name`` for people.
    ``reader`` is the name of whoever wrote it down; ``is_open`` says that something is left to do,
    ``stale`` that the answer was replaced since.
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
    """One case with all that is exported of it. ``number`` counts the export's cases from 1.

    ``section``, ``seconds`` (how long it was shown) and ``vote`` are of the meeting, where one is
    exported. ``images`` are those of the study, priors last; returned pictures are with answers.
    ``headline`` says what failed worst and in whose answer, empty where nothing did.
    ``key_sentences`` are those of the report that failures are about, else its conclusion.
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
    vote: Vote | None = None
    headline: str = ""
    key_sentences: tuple[str, ...] = ()

    @property
    def report_not_read(self) -> str:
        """Why no answer is held against the report; empty where answers are."""
        sections = (self.report.findings, self.report.impression)
        return why_not_read("\n".join(text or "" for text in sections))

    def image(self, image_id: str) -> ExportImage | None:
        """The image of the study with that id, or None."""
        return next((image for image in self.images if image.id == image_id), None)

    def boxes_on(self, image_id: str) -> tuple[ExportBox, ...]:
        """All boxes on an image that can be drawn: the reference's, then the models' in order."""
        every = [*self.reference_boxes, *(box for one in self.answers for box in one.boxes)]
        return tuple(box for box in every if box.image == image_id and not box.problem)


@dataclass(frozen=True, eq=False)
class Whole:
    """The open set that an export is of, for the format that is a review set itself.

    It holds what may not leave: ``cases`` are real ids in the order of the export, ``hidden`` has
    what is to stand for ids, where pseudonyms are asked for.
    """

    review_set: ReviewSet
    reviews: Reviews
    cases: Sequence[str]
    hidden: Pseudonyms | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """All that one export holds; cases are made one at a time, each time they are asked for.

    ``title`` is the name of the meeting, else of the set. ``notice`` is the set's own and has to
    stand in every export. ``notes`` are sentences about privacy for whoever passes the export on.
    ``minutes`` are those of the meeting that is exported, if one is, with the cases of the export
    under the ids that they have in it; ``case_ids`` are these, in order. ``harm_levels`` are the
    set's words for the levels of harm, 0 to 4.
    """

    title: str
    set_name: str
    notice: str
    made: datetime
    models: tuple[ExportModel, ...]
    readers: Mapping[str, str]
    case_ids: Sequence[str]
    cases: Callable[[], Iterator[ExportCase]]
    whole: Callable[[], Whole]
    harm_levels: Mapping[int, str]
    pseudonyms: bool = False
    notes: tuple[str, ...] = ()
    minutes: Minutes | None = None

    @property
    def meeting(self) -> Meeting | None:
        """The meeting that is exported, if one is."""
        return self.minutes.meeting if self.minutes else None

    def model(self, model_id: str) -> ExportModel:
        """The model with that id."""
        return next(model for model in self.models if model.id == model_id)
