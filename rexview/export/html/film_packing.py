"""Pack the films of a case, with their boxes, for the HTML file's viewer.

The viewer's input is defined in ``rexview/ui/viewer/assets/types.d.ts``.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from rexview.analysis.colours import REFERENCE_IMAGE_COLOUR
from rexview.errors import ImageError, PathEscape
from rexview.export.export_records import ExportBox, ExportCase, ExportContent, ExportImage
from rexview.geometry import SIDE_WORDS, UNSURE_BOX
from rexview.imaging import Radiograph, encode_radiograph, header_without_free_text
from rexview.vocab import FRONTAL_VIEWS

# Pixels of an image inside an HTML file: at full depth, in little space.
#
# A browser's picture format would hold only 8 bits. So the codes of :mod:`rexview.imaging.encode`
# are packed: the difference of each from the value predicted from its neighbours (the median edge
# detector of JPEG-LS, ISO/IEC 14495-1 A.4.2), as unsigned numbers, low bytes before high ones,
# deflated (RFC 1950). ``assets/unpack.js`` unpacks them. This is lossless unless the picture is
# reduced, by area averaging.

_LEVEL: Final = 6
_SMALLER: Final = 1.04
"""Least factor by which a picture that is too large is reduced in each step, along each side."""
_LEAST_SIDE: Final = 64
MAX_FILM_PIXELS: Final = 6_000_000
"""Pixels of a picture: more would hardly ever fit, and packing takes 40 bytes for each."""
_KEPT: Final = (
    *("format", "scale", "offset", "invert", "presentation", "aspect", "presets", "initial"),
    *("spacing", "orientation", "bits", "frames", "width", "height", "warnings"),
)
"""Header fields that are exported unchanged; none contains text of the file."""

Codes = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True)
class PackedImage:
    """An image for the HTML file.

    ``header`` is that of :mod:`rexview.imaging.encode`, with ``width`` and ``height`` of the stored
    image, so that boxes and lengths fit. ``packed_width`` and ``packed_height`` are those of the
    packed picture. ``data`` are the packed codes.
    """

    header: dict[str, Any]
    data: bytes


@dataclass(frozen=True, eq=False)
class UnpackedFilm:
    """A decoded picture to be packed: a header without text of its file, and its codes."""

    header: dict[str, Any]
    codes: Codes


def film_from_radiograph(picture: Radiograph) -> UnpackedFilm:
    """Return the parts of a decoded picture that may be exported, within the limit of pixels."""
    header, codes = encode_radiograph(picture)
    wordless = header_without_free_text(header)
    kept = {name: wordless[name] for name in _KEPT}
    pixels = codes.shape[0] * codes.shape[1]
    return UnpackedFilm(kept, reduce_codes(codes, max(1.0, math.sqrt(pixels / MAX_FILM_PIXELS))))


def pack_films(films: Sequence[UnpackedFilm], most_bytes: int) -> list[PackedImage]:
    """Pack the films of a case into at most ``most_bytes`` together.

    If they do not fit, each is reduced by the same share of its bytes.
    """
    whole = [_pack_codes(film.codes) for film in films]
    total = sum(map(len, whole))
    return [
        _image(film.header, film.codes, data)
        if total <= most_bytes
        else _pack_within(film, len(data), max(len(data) * most_bytes // total, 1))
        for film, data in zip(films, whole, strict=True)
    ]


def _pack_within(film: UnpackedFilm, size: int, most_bytes: int) -> PackedImage:
    factor = math.sqrt(size / most_bytes)
    while True:
        small = reduce_codes(film.codes, factor)
        data = _pack_codes(small)
        if len(data) <= most_bytes or min(small.shape[:2]) <= _LEAST_SIDE:
            return _image(film.header, small, data)
        factor *= max(_SMALLER, math.sqrt(len(data) / most_bytes))


def reduce_codes(codes: Codes, factor: float) -> Codes:
    """Return a picture reduced by ``factor`` in width and height, by area averaging.

    Each new column covers exactly ``width / new width`` columns, each new row as many rows. If the
    rows do not divide evenly, the last row is repeated below the picture.
    """
    if factor <= 1:
        return codes
    height, width = codes.shape[:2]
    new_width = max(1, math.floor(width / factor))
    step = width / new_width
    new_height = max(1, math.ceil(height / step - 1e-9))
    below = max(0, round(new_height * step) - height)
    whole = cv2.copyMakeBorder(codes, 0, below, 0, 0, cv2.BORDER_REPLICATE)
    return cv2.resize(whole, (new_width, new_height), interpolation=cv2.INTER_AREA)  # type: ignore[return-value]


def _image(header: Mapping[str, Any], codes: Codes, data: bytes) -> PackedImage:
    height, width = codes.shape[:2]
    warnings = list(header["warnings"])
    if width != header["width"]:
        warnings.append(f"Kept at {width} × {height} pixels in this file, at full depth.")
    made = {"packed_width": width, "packed_height": height, "warnings": warnings}
    return PackedImage({**header, **made}, data)


def _pack_codes(codes: Codes) -> bytes:
    """Pack codes: colour planes one after another, in each the low bytes, then the high ones."""
    planes = np.moveaxis(codes, -1, 0) if codes.ndim == 3 else codes[np.newaxis]
    wide = codes.dtype.itemsize == 2
    parts = []
    for plane in planes:
        found = _prediction_differences(plane.astype(np.int32))
        modulus = 1 << (16 if wide else 8)
        # signed, in the codes' own depth, then mapped to unsigned: 0, -1, 1, -2, ...
        signed = (found + modulus // 2) % modulus - modulus // 2
        numbers = np.where(signed < 0, -2 * signed - 1, 2 * signed)
        parts.append((numbers & 255).astype(np.uint8).tobytes())
        if wide:
            parts.append((numbers >> 8).astype(np.uint8).tobytes())
    return zlib.compress(b"".join(parts), _LEVEL)


def _prediction_differences(plane: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return each code's difference from the prediction by its left and upper neighbours.

    Codes outside the picture count as 0.
    """
    left, above, corner = (np.zeros_like(plane) for _ in range(3))
    left[:, 1:] = plane[:, :-1]
    above[1:] = plane[:-1]
    corner[1:, 1:] = plane[:-1, :-1]
    low, high = np.minimum(left, above), np.maximum(left, above)
    expected = np.where(corner >= high, low, np.where(corner <= low, high, left + above - corner))
    return plane - expected


_REFERENCE: Final = "reference"
_KEYS: Final = "123456789"
_LEAST_BYTES: Final = 150_000
"""Bytes that a case's packed films may always take, however long its texts are."""


@dataclass(frozen=True)
class CaseFilms:
    """The films of a case.

    ``viewer`` is the viewer's input; ``packed`` has the films by the keys that ``viewer`` uses.
    ``unread`` explains which films cannot be shown.
    """

    viewer: Mapping[str, Any]
    packed: Mapping[str, PackedImage]
    unread: tuple[str, ...]


def films(case: ExportCase, content: ExportContent, most_bytes: int) -> CaseFilms:
    """Read the films of a case, including pictures that models returned, and pack them.

    ``most_bytes`` is their limit in the file.
    """
    images = [*case.images, *(one for answer in case.answers for one in answer.pictures)]
    read, reasons = dict[str, UnpackedFilm](), dict[str, str]()
    for place, image in enumerate(images):
        try:
            read[f"film-{case.number}-{place}"] = film_from_radiograph(image.read())
        except (ImageError, PathEscape) as error:
            reasons[f"film-{case.number}-{place}"] = str(error)
    # headers are stored as they are; films are base64, with four characters for three bytes
    beside = sum(len(json.dumps(film.header)) for film in read.values())
    room = max((most_bytes - beside) * 3 // 4, _LEAST_BYTES)
    made = dict(zip(read, pack_films(list(read.values()), room), strict=True))
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


def _groups(case: ExportCase, content: ExportContent) -> list[dict[str, Any]]:
    keys = iter(_KEYS)
    groups = [
        _group(answer.boxes, answer.model, content.model(answer.model).name, next(keys, None))
        | {"colour": content.model(answer.model).colour, "kind": "model", "shown": True}
        for answer in case.answers
        if answer.boxes
    ]
    if case.reference_boxes:
        # hidden at first next to answers, so that it gives nothing away
        told = {"colour": REFERENCE_IMAGE_COLOUR, "kind": "reference", "shown": not groups}
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
