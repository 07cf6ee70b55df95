"""The films of a case for the HTML file's viewer, and the boxes on them.

What the viewer takes stands in ``rexview/ui/viewer/assets/types.d.ts``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rexview.analysis.colours import REFERENCE_ON_FILM
from rexview.errors import ImageError, PathEscape
from rexview.export.html.packing import Film, PackedImage, film_of, packed
from rexview.export.records import Content, ExportBox, ExportCase, ExportImage
from rexview.geometry import SIDE_WORDS, UNSURE_BOX
from rexview.vocab import FRONTAL_VIEWS

_REFERENCE: Final = "reference"
_KEYS: Final = "123456789"
_LEAST_BYTES: Final = 150_000
"""What the films of a case may take, packed, however long its texts are."""


@dataclass(frozen=True)
class CaseFilms:
    """The films of a case.

    ``viewer`` is what the viewer is given; ``packed`` has the films that travel, by the key under
    which ``viewer`` names them. ``unread`` says of films why they cannot be shown.
    """

    viewer: Mapping[str, Any]
    packed: Mapping[str, PackedImage]
    unread: tuple[str, ...]


def films(case: ExportCase, content: Content, most_bytes: int) -> CaseFilms:
    """Read the films of a case, the pictures that models returned with them, and pack them.

    ``most_bytes`` is what all of them may take in the file.
    """
    images = [*case.images, *(one for answer in case.answers for one in answer.pictures)]
    read, reasons = dict[str, Film](), dict[str, str]()
    for place, image in enumerate(images):
        try:
            read[f"film-{case.number}-{place}"] = film_of(image.read())
        except (ImageError, PathEscape) as error:
            reasons[f"film-{case.number}-{place}"] = str(error)
    # headers stand in the page as they are; of films four letters are three bytes
    beside = sum(len(json.dumps(film.header)) for film in read.values())
    room = max((most_bytes - beside) * 3 // 4, _LEAST_BYTES)
    made = dict(zip(read, packed(list(read.values()), room), strict=True))
    views = [
        _view(image, f"film-{case.number}-{place}", reasons) for place, image in enumerate(images)
    ]
    first = next((image.id for image in case.images if image.key), None)
    neighbours = {"previous": case.number - 1, "next": case.number + 1}
    viewer = {
        "case": case.id,
        "active": first,
        "height": None,
        "views": views,
        "groups": _groups(case, content),
        "neighbours": {
            name: str(number) if 1 <= number <= len(content.case_ids) else None
            for name, number in neighbours.items()
        },
    }
    unread = [f"{case.id}, {view['title']}: {view['error']}" for view in views if view["error"]]
    return CaseFilms(viewer, made, tuple(unread))


def _view(image: ExportImage, key: str, reasons: Mapping[str, str]) -> dict[str, Any]:
    returned = image.model is not None
    error = reasons.get(key)
    return {
        "id": image.id,
        "title": image.title,
        "word": image.view,
        "frontal": image.view in FRONTAL_VIEWS,
        "prior": image.prior,
        "kind": "returned" if returned else "image",
        "group": image.model,
        "error": error,
        "orientation": {**asdict(image.orientation), "known": image.orientation.known},
        "url": None if error else "",
        "key": key,
    }


def _groups(case: ExportCase, content: Content) -> list[dict[str, Any]]:
    keys = iter(_KEYS)
    groups = [
        _group(answer.boxes, answer.model, content.model(answer.model).name, next(keys, None))
        | {"colour": content.model(answer.model).colour, "kind": "model", "shown": True}
        for answer in case.answers
        if answer.boxes
    ]
    if case.reference_boxes:
        # the truth would give the answer away, where there is one
        told = {"colour": REFERENCE_ON_FILM, "kind": "reference", "shown": not groups}
        groups.append(_group(case.reference_boxes, _REFERENCE, "Reference", "r") | told)
    return groups


def _group(boxes: Sequence[ExportBox], name: str, title: str, key: str | None) -> dict[str, Any]:
    unsure = any(box.unsure for box in boxes)
    reasons = [f"{box.label}: {box.problem}" for box in boxes if box.problem]
    return {
        "id": name,
        "name": f"{title} (boxes unsure)" if unsure else title,
        "key": key,
        "boxes": [
            _box(box, f"{name}/{number}")
            for number, box in enumerate(boxes, start=1)
            if not box.problem
        ],
        "undrawable": len(reasons),
        "reasons": reasons,
    }


def _box(box: ExportBox, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "image": box.image,
        "label": box.label,
        **dict(zip(("x", "y", "width", "height"), box.box, strict=True)),
        "side": SIDE_WORDS[box.side] if box.side else None,
        "place": None,
        "score": box.score,
        "note": UNSURE_BOX if box.unsure else None,
        "finding": None,
        "flags": [],
    }
