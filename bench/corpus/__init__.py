"""Read the labelled texts in this folder as the records that detectors process.

``README.md`` describes the files and how they were labelled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.schema import Answer, AnswerBox, Case, ReferenceBox, Report, StudyImage
from rexview.vocab import normalise_view

FOLDER: Final = Path(__file__).parent
LATERALITY_FORMS: Final = (
    *("easy", "negation", "abbreviations", "bilateral", "silent_reference"),
    *("uncertain_hypothetical", "separate_sentence", "table", "json", "markdown"),
    *("coordination", "other_finding_same_sentence", "contralateral_negation"),
    *("unusual_negation", "pseudo_negation", "prior", "image_side_wording", "self_correction"),
    *("contradiction", "restated_question", "upper_case", "anatomy_side_words"),
    *("device_crossing", "within_answer", "no_full_stops", "long_report"),
)
"""The forms of writing that the laterality pairs cover."""
MODEL: Final = "corpus"
_IMAGE: Final = "image-1"
_QUESTION: Final = "Describe this radiograph."


@dataclass(frozen=True)
class Labelled:
    """One row of the corpus.

    ``expected`` is the label, and ``kind`` the rule that must find a box error. ``hard`` applies to
    pairs, and is None if their two labellers disagree; boxes are not hard. For pairs from habits,
    ``missed`` and ``invented`` are the findings in only the report, or only the answer. They are
    None if the two labellers disagree about whether there is one. ``denied`` are the report's
    findings that the answer denies, None if they were not labelled.
    """

    id: str
    split: str
    form: str
    expected: str
    hard: bool | None
    kind: str | None
    case: Case
    answer: Answer
    missed: tuple[str, ...] | None = ()
    invented: tuple[str, ...] | None = ()
    denied: tuple[str, ...] | None = None


@dataclass(frozen=True)
class JudgedClaim:
    """A claim about a pair from habits, and whether two judges call it right.

    ``failure`` is whether the answer misses (``omission``) or invents (``hallucination``) the
    finding named by ``words`` of report or answer. ``raised``: the rules claimed it when the pair
    was measured; others were added at random. ``right`` is None if the judges disagree.
    """

    row: Labelled
    failure: str
    words: str
    raised: bool
    right: bool | None


def laterality_pairs() -> list[Labelled]:
    """Read the answers with reference reports."""
    return [
        _labelled(row, Report(findings=row["report"] or None), row["answer"])
        for row in _rows("laterality_pairs")
    ]


def report_habits() -> list[Labelled]:
    """Read the answers with reference reports that were written from reports' habits."""
    return [
        _labelled(row, Report(findings=row["report"] or None), row["answer"])
        for row in _rows("report_habits")
    ]


def judged_claims() -> list[JudgedClaim]:
    """Read claims about pairs from habits, decided by two judges blind to their origin."""
    pairs = {row.id: row for row in report_habits()}
    return [
        JudgedClaim(pairs[row["id"]], row["failure"], row["words"], row["raised"], row["right"])
        for row in _rows("hint_judgements")
    ]


def box_sides() -> list[Labelled]:
    """Read the boxes on one side of an image; views are mapped to the app's words."""
    return [_boxed(row) for row in _rows("box_sides")]


def token_limit_texts() -> list[Labelled]:
    """Read the answers that are known by their text alone."""
    return [_labelled(row, Report(), row["text"]) for row in _rows("token_limit_texts")]


def token_limit_habits() -> list[Labelled]:
    """Read the texts of answers, whole and cut, that were written from habits."""
    return [_labelled(row, Report(), row["text"]) for row in _rows("token_limit_habits")]


def _rows(name: str) -> list[dict[str, Any]]:
    """Return all rows of the files of a kind; the splits may share a file or not."""
    return [
        json.loads(line)
        for path in sorted(FOLDER.glob(f"{name}*.jsonl"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if line.strip()
    ]


def _labelled(
    row: Mapping[str, Any],
    report: Report,
    text: str,
    boxes: tuple[AnswerBox, ...] = (),
    **case: Any,
) -> Labelled:
    return Labelled(
        id=row["id"],
        split=row["split"],
        form=row["form"],
        expected=row["expected"],
        hard=row.get("hard", False),
        kind=row.get("kind"),
        case=Case(id=row["id"], question=row.get("question") or _QUESTION, report=report, **case),
        answer=Answer(case=row["id"], model=MODEL, text=text, boxes=boxes),
        missed=_findings(row, "missed"),
        invented=_findings(row, "invented"),
        denied=_findings(row, "denied") if "denied" in row else None,
    )


def _findings(row: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    found = row.get(name, ())
    return None if found is None else tuple(found)


def _boxed(row: Mapping[str, Any]) -> Labelled:
    orientation = row["patient_orientation"]
    image = StudyImage(
        id=_IMAGE,
        path="image.png",
        view=normalise_view(row["view"]),
        view_raw=row["view"],
        width=row["width"],
        height=row["height"],
        patient_orientation=None if orientation is None else tuple(orientation),
        laterality_flip=row.get("laterality_flip"),
    )
    references = tuple(
        ReferenceBox(_IMAGE, reference["label"], tuple(reference["box"]))
        for reference in row.get("reference_boxes") or ()
    )
    box = row["box"]
    boxes = () if box is None else (AnswerBox(_IMAGE, row["label"] or "", tuple(box)),)
    return _labelled(
        row, Report(), row["answer"], boxes, images=(image,), reference_boxes=references
    )
