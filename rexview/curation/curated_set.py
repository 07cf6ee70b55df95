"""Build the curated set: the chosen questions as cases of a review set, with their origins."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Final, Literal

import polars as pl

from rexview import frames
from rexview.addresses import is_address
from rexview.curation.candidates import CandidateRating, CandidateSummary, summarize_candidates
from rexview.curation.choice.validation import QuestionVerdict, State, combine_all_checks
from rexview.curation.comparison_questions import explain_block
from rexview.curation.source_studies import count_studies, find_study_cases
from rexview.detect.box_failures import box_request
from rexview.errors import ReviewSetError
from rexview.reviewset.json_text import dump_json
from rexview.reviewset.write import write_tables
from rexview.schema import ReviewSet
from rexview.store.entry import StoredEntry
from rexview.vocab import LONGEST_ID

# Instructions to draw boxes in a question: versions with and without one.
#
# Only some models draw, so each question is kept in both versions. A sentence that asks only for
# boxes can be removed. If boxes are part of another sentence, only a person can rewrite it.

INSTRUCTION: Final = "Mark each finding that your answer rests on with a bounding box on the image."
"""Added to a question to ask for boxes, unless a person wrote another instruction."""
_BOXES: Final = r"(?:bounding\s*-?\s*box(?:es)?|\bbox(?:es)?\b|\brectangles?\b)"
_DRAW: Final = re.compile(
    rf"^(?:please\s+|also\s+|then\s+|and\s+|,\s*)*(?:draw|mark|localis?ze?|localise|outline|indicate"
    rf"|annotate|highlight|provide|give|place|add|show|use|return|output|include|put|identify)\b"
    rf"[^?]*{_BOXES}[^?]*$",
    re.I,
)
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+(?=[A-Z(])")


@dataclass(frozen=True)
class BoxVersions:
    """A question without and with the instruction to draw boxes.

    ``woven_in`` is True if the first version also asks for boxes, within a longer sentence.
    """

    plain: str
    boxes: str

    @property
    def woven_in(self) -> bool:
        """True if the question itself asks for boxes."""
        return asks_for_boxes(self.plain)


def asks_for_boxes(question: str) -> bool:
    """True if a question asks for boxes or other marks on the image."""
    return box_request(question) is not None


def remove_instruction(question: str) -> str:
    """Remove the sentences that ask only for boxes; a question with no others is unchanged.

    >>> remove_instruction("Is there an effusion? Draw bounding boxes around it.")
    'Is there an effusion?'
    """
    sentences = _SENTENCE.split(question.strip())
    kept = [sentence for sentence in sentences if not _DRAW.match(sentence)]
    return " ".join(kept) if kept and len(kept) < len(sentences) else question.strip()


def create_box_versions(question: str, boxes_question: str | None = None) -> BoxVersions:
    """Return both versions of a question; ``boxes_question`` is the second if a person wrote it."""
    plain = remove_instruction(question)
    if boxes_question and boxes_question.strip():
        return BoxVersions(plain, boxes_question.strip())
    return BoxVersions(
        plain, question.strip() if asks_for_boxes(question) else f"{plain} {INSTRUCTION}"
    )


Boxes = Literal["both", "with", "without"]
BOXES: Final[tuple[Boxes, ...]] = ("both", "with", "without")
PROVENANCE: Final = "curation"
"""Field of a case for the origin of its question."""
_NONE_CHOSEN: Final = (
    "No question of this set can be written: choose some on the page Curate, or give selections."
)
_NONE_PASSED: Final = (
    "No multiple choice question of this set has passed every check: nothing can be written."
)
_IMAGES: Final = "images/"
_DIGITS: Final = 12
_EMPTIED: Final = tuple(name for name in frames.TABLES if name != "cases")


@dataclass(frozen=True)
class ExcludedQuestion:
    """A chosen question that is not in the curated set, and the reason."""

    case: str
    candidate: str
    why: str


@dataclass(frozen=True)
class CuratedSet:
    """The curated set as an open review set, and the questions left out.

    ``review_set`` has only cases. Its ``folder`` is that of the original set, where the images are.
    ``studies`` and ``without`` are the numbers of studies with and without a question in it.
    ``woven_in`` are the cases whose version without an instruction still asks for boxes within a
    longer sentence, so that a person should rewrite it. ``states`` counts the multiple choice
    questions of each state, if these were requested.
    """

    review_set: ReviewSet
    studies: int
    without: int
    left_out: tuple[ExcludedQuestion, ...]
    woven_in: tuple[str, ...]
    states: Mapping[State, int] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """Number of questions."""
        return self.review_set.cases.height


def build_curated_set(
    review_set: ReviewSet,
    *,
    boxes: Boxes = "both",
    choice: bool = False,
    history: Iterable[StoredEntry] = (),
) -> CuratedSet:
    """Build the curated set of a set, including people's edits and decisions.

    Parameters
    ----------
    boxes : str
        ``both``: the question, and in ``question_boxes`` the version with the instruction to draw
        boxes; ``with``, ``without``: only that version, as the question.
        choice : bool
        Use multiple choice questions that passed every check
        (:mod:`rexview.curation.choice.validation`) instead of the chosen questions. In both cases a
        comparison question without an earlier image is left out and listed.
        history : iterable of StoredEntry
        Rows of the reviews database: authors and times of proposals, edits and decisions are kept
        with the case.

    Raises
    ------
    ReviewSetError
        If no question is left.
    """
    found = combine_all_checks(review_set) if choice else {}
    checked_by = _checked_by(review_set) if choice else {}
    edits = _edits(history)
    rows: dict[str, dict[str, Any]] = {}
    left_out, woven_in, at = [], [], []
    for one in (one for some in summarize_candidates(review_set).values() for one in some):
        verdict, case = found.get((one.case, one.id)), review_set.case(one.case)
        if case is None or not _is_wanted(one, verdict, choice=choice):
            continue
        if why := _not_askable(one) or explain_block(review_set, case, one.question, one.tags):
            left_out.append(ExcludedQuestion(one.case, one.id, why))
            continue
        made = _provenance(one, edits.get((one.case, one.id), ()))
        if verdict:
            settled = {"expert_settled": list(verdict.untold)} if verdict.untold else {}
            made |= {"checked_by": checked_by.get((one.case, one.id), []), **settled}
        new_id = _case_id(one, rows)
        extra = dump_json({**case.extra, PROVENANCE: made})
        rows[new_id] = {"id": new_id, **_question(one, boxes), "extra": extra, "from": one.case}
        at.append(review_set.case_row(one.case))
        if (
            one.question_type == "open"
            and boxes != "with"
            and create_box_versions(one.question).woven_in
        ):
            woven_in.append(new_id)
    if not rows:
        why = " ".join(one.why for one in left_out[:1])
        raise ReviewSetError(f"{_NONE_PASSED if choice else _NONE_CHOSEN} {why}".strip())
    cases = _cases(review_set, at, list(rows.values()))
    studies = count_studies(review_set, cases["from"])
    info = replace(review_set.info, name=f"{review_set.info.name}: curated", id=None)
    empty: dict[str, Any] = {name: frames.TABLES[name].to_frame() for name in _EMPTIED}
    curated = ReviewSet(review_set.folder, info, cases.drop("from"), **empty)
    without = len(find_study_cases(review_set)) - studies
    states = Counter(one.state for one in found.values())
    return CuratedSet(curated, studies, without, tuple(left_out), tuple(woven_in), states)


def zip_curated_set(curated: CuratedSet) -> bytes:
    """Return the tables of a curated set as a ZIP archive for download.

    Images are not included. ``images`` is that of the original set, unless it is a folder of this
    machine, which exists nowhere else. Then put the images into ``images/`` next to the tables.
    """
    base = curated.review_set.info.images
    plain = PurePath(base)
    within = not plain.is_absolute() and not {"..", "~", "file:"} & set(plain.parts)
    archive = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        images = base if is_address(base) or within else _IMAGES
        write_tables(curated.review_set, Path(folder), "jsonl", images)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            for file in sorted(Path(folder).iterdir()):
                made.write(file, file.name)
    return archive.getvalue()


def _is_wanted(one: CandidateSummary, verdict: QuestionVerdict | None, *, choice: bool) -> bool:
    if not choice:
        return one.decision == "chosen"
    return verdict is not None and verdict.state == "passed" and one.decision != "rejected"


def _not_askable(one: CandidateSummary) -> str | None:
    """Return why a question cannot be a case; None if it can."""
    if one.question_type == "choice" and not one.options:
        return "It is a multiple choice question without options."
    return None


def _case_id(one: CandidateSummary, taken: Collection[str]) -> str:
    """Return the id of a case, from the original case and the candidate."""
    whole = f"{one.case}-{one.id}"
    if len(whole) <= LONGEST_ID and whole not in taken:
        return whole
    digest = hashlib.sha256(json.dumps([one.case, one.id]).encode()).hexdigest()[:_DIGITS]
    return f"{whole[: LONGEST_ID - _DIGITS - 1]}-{digest}"


def _question(one: CandidateSummary, boxes: Boxes) -> dict[str, Any]:
    """Return the fields of a case that come from its question; the others are the study's."""
    question, with_boxes = one.question, None
    if one.question_type == "open":
        both = create_box_versions(
            question, one.selection.boxes_question if one.selection else None
        )
        question = both.boxes if boxes == "with" else both.plain
        with_boxes = both.boxes if boxes == "both" and both.boxes != question else None
    return {
        "question": question,
        "question_boxes": with_boxes,
        "question_type": one.question_type,
        "category": one.category,
        "tags": [{"name": name, "values": list(values)} for name, values in one.tags.items()],
        "difficulty": one.difficulty,
        "options": list(one.options),
        "correct": one.correct,
        "explanation": one.explanation,
    }


def _provenance(one: CandidateSummary, edits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    said = one.selection
    found = {
        "case": one.case,
        "candidate": one.id,
        "source": one.source,
        "by": one.by,
        "prompt_id": one.prompt_id,
        "run_id": one.run_id,
        "created": _date(one.created),
        "proposed": one.proposed if one.edited or one.selection else None,
        "edited": one.edited,
        "statement": one.statement,
        "chosen_by": said.reader if said else None,
        "chosen": _date(said.created) if said else None,
        "comment": said.comment if said else None,
        "ratings": [_rating(rating) for rating in one.ratings],
        "tagged_by": one.tagged_by,
        "history": list(edits),
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


def _checked_by(review_set: ReviewSet) -> dict[tuple[str, str], list[str]]:
    """Return the authors of each question's checks: rules, models and experts by name."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    columns = review_set.validations.select("case", "candidate", "by")
    for case, candidate, by in columns.iter_rows():
        names[case, candidate].add(by)
    return {key: sorted(some) for key, some in names.items()}


def _rating(rating: CandidateRating) -> dict[str, Any]:
    found = {
        "source": rating.source,
        "by": rating.by,
        **rating.scores,
        "total": rating.total,
        "stated_total": rating.stated_total,
        "risk": rating.risk,
        "comment": rating.comment,
        "prompt_id": rating.prompt_id,
        "run_id": rating.run_id,
        "created": _date(rating.created),
    }
    return {name: value for name, value in found.items() if value is not None}


def _edits(history: Iterable[StoredEntry]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the history of edits of each candidate, the oldest first."""
    found = defaultdict(list)
    for row in sorted(history, key=lambda row: row.id):
        if row.kind in ("propose", "select") and row.case and row.subject:
            found[row.case, row.subject].append(
                {
                    "by": row.person,
                    "at": _date(row.at),
                    "what": row.kind,
                    "from": row.previous,
                    "to": row.value,
                }
            )
    return found


def _date(created: Any) -> str | None:
    return None if created is None else created.isoformat().replace("+00:00", "Z")


def _cases(
    review_set: ReviewSet, at: Sequence[int | None], rows: Sequence[Mapping[str, Any]]
) -> pl.DataFrame:
    """Join the fields of the studies with their questions, in the order of the questions."""
    studies = review_set.cases[[place for place in at if place is not None]]
    schema = {name: frames.CASES[name] for name in rows[0] if name != "from"}
    questions = pl.DataFrame(list(rows), schema={**schema, "from": pl.String()})
    joined = studies.drop(list(schema)).hstack(questions)
    numbered = joined.with_columns(_row=pl.int_range(1, len(joined) + 1, dtype=pl.UInt32))
    return numbered.select(*frames.CASES, "from")
