"""The radiograph viewer's data of one case, made from the review set's records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.finding_links import find_label_keys
from rexview.analysis.colours import REFERENCE_IMAGE_COLOUR, assign_slot_colours
from rexview.analysis.query.engine import Position
from rexview.errors import ImageError, PathEscape
from rexview.geometry import BoxSide, box_problem
from rexview.reviewset.image_checks import ImageWithFacts, image_with_facts
from rexview.schema import Answer, AnswerBox, Flag, ReferenceBox, ReviewSet
from rexview.ui.turning.ticket import follow_browser
from rexview.ui.viewer import (
    VIEWER_KEY,
    BoxGroup,
    Neighbours,
    ViewerBox,
    ViewerData,
    ViewerImage,
    assign_keys,
    hide_until_requested,
    radiograph_viewer,
)
from rexview.ui.viewer.viewer_component import pixel_link, viewer_image
from rexview.ui.web.server import review_sets
from rexview.words import tr

REFERENCE_GROUP: Final = "reference"
_OF_PLACE: Final = (
    *("laterality_error", "omission", "wrong_type", "side_incomplete"),
    *("box_misplaced", "boxes_missing", "box_unrelated"),
)
_SIDES: Final[dict[BoxSide, str]] = {
    "right": tr("on the patient's right"),
    "left": tr("on the patient's left"),
    "midline": tr("at the midline"),
}
_UNSURE_BOX: Final = tr("How this model gives box positions is unknown: this box may be misplaced.")


@dataclass(frozen=True)
class ViewerSettings:
    """A page's settings of the viewer, the same for all its cases.

    On a ``blinded`` page letters replace models. ``taken_keys`` are keys that the page needs
    itself. ``height`` is a CSS length, by default the free height of the window. With ``one_group``
    only the boxes and images of the answer named by the page can be shown, the boxes on request.
    ``page_keys`` are listed with the viewer's own keys.
    """

    blinded: bool = False
    taken_keys: str = ""
    height: str | None = None
    one_group: bool = False
    page_keys: tuple[tuple[str, str], ...] = ()


def show_viewer(
    review_set: ReviewSet,
    page: CasePage,
    position: Callable[[str], Position],
    manner: ViewerSettings,
    *,
    ahead: Iterable[CasePage] = (),
    turning: Mapping[str, Any] | None = None,
    on_passed: Callable[[Sequence[str]], None] = lambda cases: None,
) -> None:
    """Mount the viewer and handle the user's requests.

    ``position`` finds a case in its list. With ``turning``
    (:func:`rexview.ui.turning.ticket.turning_json`) the browser fetches the cases around it, and
    ``on_passed`` gets those that it showed before the page followed. A page without ``turning``
    sends the neighbouring cases with it, ``ahead``.
    """

    def navigate(asked: Any) -> None:
        on_passed(follow_browser(asked))

    def of(one: CasePage) -> ViewerData:
        return page_viewer_data(review_set, one, position, manner)

    data = replace(of(page), ahead=tuple(map(of, ahead)), turning=turning)
    radiograph_viewer(data, key=VIEWER_KEY, on_navigate=navigate, height=manner.height)


def page_viewer_data(
    review_set: ReviewSet,
    page: CasePage,
    position: Callable[[str], Position],
    manner: ViewerSettings,
) -> ViewerData:
    """Return the viewer's data for one case on a page."""
    names, colours = review_set.model_names, review_sets.colours(review_set)
    if manner.blinded:
        slots = {answer.model for answer in page.answers}
        names = {
            slot: tr("Answer {slot}").format(slot=slot)
            for slot in sorted(slots, key=lambda a: (len(a), a))
        }
        colours = assign_slot_colours(names)
    data = viewer_data(review_set, page, position, colours, names)
    groups = data.groups
    if manner.one_group:
        groups = hide_until_requested(groups)
    elif not manner.blinded and any(_needs_reference(flag) for flag in page.flags):
        groups = tuple(
            replace(one, shown=True) if one.id == REFERENCE_GROUP else one for one in groups
        )
    return replace(
        data,
        groups=groups,
        taken_keys=manner.taken_keys,
        blinded=manner.blinded,
        one_group=manner.one_group,
        page_keys=manner.page_keys,
    )


def _needs_reference(flag: Flag) -> bool:
    """Return whether a failure concerns place or omission, which only the reference boxes show."""
    return flag.failure in _OF_PLACE and flag.verdict != "rejected" and not flag.is_hint


def viewer_data(
    review_set: ReviewSet,
    page: CasePage,
    position: Callable[[str], Position],
    colours: Mapping[str, str],
    names: Mapping[str, str],
) -> ViewerData:
    """Return the viewer's data for one case."""
    place = position(page.case.id)
    case = page.case
    key_image = case.key_image
    known = [image_with_facts(review_set, image) for image in case.images]
    views = [viewer_image(review_set, one) for one in known]
    views += _returned(review_set, page, names)
    groups = [
        _group(
            known,
            answer.boxes,
            page.keyed_flags(),
            group_id=answer.model,
            name=_named(answer, names),
            colour=colours[answer.model],
        )
        for answer in page.answers
        if answer.boxes
    ]
    if case.reference_boxes:
        groups.append(
            _group(
                known,
                case.reference_boxes,
                page.keyed_flags(),
                group_id=REFERENCE_GROUP,
                name=tr("Reference"),
                colour=REFERENCE_IMAGE_COLOUR,
                shown=not groups,  # the reference boxes would give the answer away
            )
        )
    return ViewerData(
        case=case.id,
        views=tuple(views),
        groups=assign_keys(groups),
        active=key_image.id if key_image else None,
        neighbours=Neighbours(place.before, place.after),
    )


def _named(answer: Answer, names: Mapping[str, str]) -> str:
    """Return the name of a model's boxes, with a note if their places are uncertain."""
    name = names[answer.model]
    unsure = any(box.unsure for box in answer.boxes)
    return tr("{name} (boxes unsure)").format(name=name) if unsure else name


def _third(known: ImageWithFacts, box: Sequence[float]) -> str | None:
    """Return which third of an upright image contains the centre of a box."""
    height = known.image.height
    if not height or known.orientation.top != "H":
        return None
    centre = (box[1] + box[3] / 2) / height
    if centre < 1 / 3:
        return tr("upper third")
    return tr("middle third") if centre < 2 / 3 else tr("lower third")


def _returned(
    review_set: ReviewSet, page: CasePage, names: Mapping[str, str]
) -> Iterator[ViewerImage]:
    for answer in page.answers:
        for number, path in enumerate(answer.images, start=1):
            name = tr("{name}: picture {n}").format(name=names[answer.model], n=number)
            view_id = f"{answer.model}/{number}"
            try:
                pixels = pixel_link(review_set, path, wordless=True)
            except (ImageError, PathEscape) as error:
                yield ViewerImage(
                    view_id, name, error=str(error), kind="returned", group=answer.model
                )
            else:
                yield ViewerImage(view_id, name, pixels=pixels, kind="returned", group=answer.model)


def _group(
    images: Sequence[ImageWithFacts],
    boxes: Sequence[AnswerBox | ReferenceBox],
    flags: Sequence[tuple[str, Flag]],
    *,
    group_id: str,
    name: str,
    colour: str,
    shown: bool = True,
) -> BoxGroup:
    by_id = {one.image.id: one for one in reversed(images)}
    drawn: list[ViewerBox] = []
    reasons: list[str] = []
    for number, box in enumerate(boxes, start=1):
        known = by_id.get(box.image)
        problem = (
            box_problem(box.box, known.image.width, known.image.height)
            if known
            else tr("The box is on an image that the case does not have.")
        )
        if known is None or problem:
            reasons.append(f"{box.label}: {problem}")
            continue
        x, y, width, height = box.box
        sure = isinstance(box, ReferenceBox) or not box.unsure
        side = known.side(box.box) if sure else None
        drawn.append(
            ViewerBox(
                id=f"{group_id}/{number}",
                image=box.image,
                label=box.label,
                x=x,
                y=y,
                width=width,
                height=height,
                side=_SIDES[side] if side else None,
                place=_third(known, box.box) if sure else None,
                score=box.score if isinstance(box, AnswerBox) else None,
                note=_note(box, flags, group_id),
                finding=" ".join(find_label_keys(box.label)) or None,
                flags=_flags_on(box, flags, group_id),
            )
        )
    reference = group_id == REFERENCE_GROUP
    return BoxGroup(
        id=group_id,
        name=name,
        colour=colour,
        kind="reference" if reference else "model",
        boxes=tuple(drawn),
        undrawable=len(reasons),
        reasons=tuple(reasons),
        shown=shown,
    )


def _note(
    box: AnswerBox | ReferenceBox, flags: Sequence[tuple[str, Flag]], group_id: str
) -> str | None:
    """Return a remark on this box from a flag that is not rejected, or that it may be misplaced."""
    if isinstance(box, ReferenceBox):
        return None
    if box.unsure:
        return _UNSURE_BOX
    named = _flags_on(box, flags, group_id)
    unrejected = (flag for key, flag in flags if key in named and flag.verdict != "rejected")
    return next((flag.message for flag in unrejected if not flag.is_hint), None)


def _flags_on(
    box: AnswerBox | ReferenceBox, flags: Sequence[tuple[str, Flag]], group_id: str
) -> tuple[str, ...]:
    """Return the names of the flags that have this box as evidence."""
    where = "reference_box" if group_id == REFERENCE_GROUP else "box"
    return tuple(
        key
        for key, flag in flags
        if (where == "reference_box" or flag.model == group_id)
        and any(
            item.where == where and item.image in (box.image, None) and item.box == box.box
            for item in flag.evidence
        )
    )
