"""Boxes brought onto the images of a draft, as the truth or as a model's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.geometry import box_problem
from rexview.reviewset.importers.core.draft import Draft
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.schema import Answer, AnswerBox, Model, ReferenceBox

_SAME_SHAPE: Final = 0.01


Key = int | str
Box = tuple[float, float, float, float]
Target = tuple[str, str]
"""The ids of a case and of an image of it."""


@dataclass(frozen=True)
class FoundBox:
    """A box of a source: x, y, width, height in pixels; ``row`` is where it stands in its file.

    ``image`` is what the source calls its image.
    """

    image: Key
    label: str
    box: Box
    row: int
    score: float | None = None


def four_numbers(values: Sequence[Any]) -> Box | None:
    """Return four finite numbers as a box, or None."""
    if len(values) != 4:
        return None
    numbers = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e9:
            return None
        numbers.append(float(value))
    return None if not all(map(math.isfinite, numbers)) else (*numbers,)  # type: ignore[return-value]


def add_boxes(
    draft: Draft,
    boxes: Iterable[FoundBox],
    find: Callable[[Key], Target | None],
    sizes: Mapping[Key, tuple[int, int] | None],
    file: str,
    log: ProblemLog,
    *,
    model: str | None = None,
) -> tuple[int, int]:
    """Add boxes to their cases: as reference boxes, or as the answers of ``model``.

    Boxes that cannot be drawn are added all the same, with a warning: where a model puts a box
    matters even if that is outside of the image. Boxes measured on a picture of another size
    (width, height in ``sizes``) are scaled to the stored one, where both have the same shape.

    Returns
    -------
    tuple of int
        How many boxes were added, and of how many ``find`` did not know the image.
    """
    images = {(case.id, image.id): image for case in draft.cases.values() for image in case.images}
    references: dict[str, list[ReferenceBox]] = {}
    answers: dict[str, list[AnswerBox]] = {}
    added = absent = scaled = 0
    for found in boxes:
        target = find(found.image)
        if target is None:
            absent += 1
            continue
        case_id, image_id = target
        image = images[target]
        stored = (image.width, image.height) if image.width and image.height else None
        size = sizes.get(found.image)
        box, was_scaled = _scaled(found, size, stored, file, log)
        scaled += was_scaled
        width, height = stored or size or (None, None)
        problem = box_problem(box, width, height)
        if problem:
            message = f"{problem} It is kept, and not drawn."
            log.warning(file, message, "Correct the box.", row=found.row, field="box")
        if model is None:
            one = ReferenceBox(image=image_id, label=found.label, box=box)
            references.setdefault(case_id, []).append(one)
        else:
            given = AnswerBox(image=image_id, label=found.label, box=box, score=found.score)
            answers.setdefault(case_id, []).append(given)
        added += 1
    for case_id, more in references.items():
        case = draft.cases[case_id]
        draft.cases[case_id] = replace(case, reference_boxes=(*case.reference_boxes, *more))
    if model is not None and answers:
        draft.models.setdefault(model, Model(id=model, name=model, draws_boxes=True))
        _add_answers(draft, model, answers)
    if scaled:
        log.note(f"{file}: {scaled:,} boxes were scaled to the size of their image file.")
    return added, absent


def _add_answers(draft: Draft, model: str, boxes: dict[str, list[AnswerBox]]) -> None:
    places = {one.case: place for place, one in enumerate(draft.answers) if one.model == model}
    for case_id, more in boxes.items():
        if case_id in places:
            answer = draft.answers[places[case_id]]
            draft.answers[places[case_id]] = replace(answer, boxes=(*answer.boxes, *more))
        else:
            draft.answers.append(Answer(case=case_id, model=model, boxes=tuple(more)))


def _scaled(
    found: FoundBox,
    size: tuple[int, int] | None,
    stored: tuple[int, int] | None,
    file: str,
    log: ProblemLog,
) -> tuple[Box, bool]:
    if size is None or stored is None or size == stored:
        return found.box, False
    across, down = stored[0] / size[0], stored[1] / size[1]
    if abs(across / down - 1) > _SAME_SHAPE:
        message = (
            "The box was measured on a picture of another shape than the image file; it may be "
            "misplaced."
        )
        remedy = "Give the image that the boxes were drawn on."
        log.warning(file, message, remedy, row=found.row, field="box")
        return found.box, False
    x, y, width, height = found.box
    return (x * across, y * down, width * across, height * down), True
