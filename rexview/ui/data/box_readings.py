"""Boxes in the proposed reading, drawn on pictures of the import, and the other readings to try."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import streamlit as st

from rexview.analysis import REFERENCE_COLOUR
from rexview.analysis.colours import MODEL_COLOURS
from rexview.geometry import box_problem
from rexview.reviewset.importers.annotations.box_placement import BoxPreview
from rexview.reviewset.importers.annotations.box_reading import SHAPES, UNITS, BoxReading
from rexview.reviewset.importers.core.preview import ImportPreview
from rexview.ui.html.safe_text import as_markdown

Boxes = Sequence[tuple[str, tuple[float, float, float, float]]]
_EVERY: Final = tuple(str(BoxReading(shape, unit)) for unit in UNITS for shape in SHAPES)
_LABEL_SHARE: Final = 1 / 28
"""Height of a box's label, as a share of the picture's longer side."""
_MOST_BOXES: Final = 60
_LONGEST_LABEL: Final = 40


def confirm_readings(preview: ImportPreview) -> dict[str, str]:
    """Show boxes as they would be read; return the other readings that a person chose, by file.

    A choice is kept for the session, as long as the file has the same boxes.
    """
    chosen: dict[str, str] = {}
    for one in preview.boxes:
        reading = _choose(one)
        if reading != str(one.proposal.reading):
            chosen[one.file] = reading
        st.html(pictures_html(one, BoxReading.parse(reading), preview.pictures))
    return chosen


def _choose(one: BoxPreview) -> str:
    proposed = str(one.proposal.reading)
    fitting = [str(other) for other in one.proposal.others]
    options = list(dict.fromkeys((proposed, *fitting, *_EVERY)))
    whose = f"boxes of {one.model}" if one.model is not None else "reference boxes"

    def shown(reading: str) -> str:
        words = BoxReading.parse(reading).in_words
        known = {proposed: " (proposed)", **dict.fromkeys(fitting, " (would fit, too)")}
        return f"{words[0].upper()}{words[1:]}{known.get(reading, '')}"

    name = hashlib.sha256(repr((one.file, one.model, one.count)).encode()).hexdigest()[:16]
    chosen: str = st.selectbox(
        f"{as_markdown(one.file)}: {one.count:,} {as_markdown(whose)}. The four numbers are",
        options,
        format_func=shown,
        key=f"import_reading_{name}",
        persist_state="session",
    )
    if one.proposal.why and chosen == proposed:
        st.caption(as_markdown(one.proposal.why))
    return chosen


def pictures_html(
    one: BoxPreview, reading: BoxReading, pictures: Mapping[tuple[str, str], bytes]
) -> str:
    """Draw pictures with the boxes that a reading makes of their numbers."""
    if not one.pictures:
        return '<p class="rx-quiet">No size of any of its pictures is known.</p>'
    colour = REFERENCE_COLOUR if one.model is None else MODEL_COLOURS[1]
    figures = "".join(
        _figure_html(f"{case} · {image}", size, boxes, reading, pictures.get((case, image)), colour)
        for case, image, size, boxes in one.pictures
    )
    return f'<div class="rx-box-pictures">{figures}</div>'


def _figure_html(
    name: str,
    size: tuple[int, int],
    boxes: Boxes,
    reading: BoxReading,
    picture: bytes | None,
    colour: str,
) -> str:
    width, height = size
    numbers = np.array([four for _, four in boxes], dtype=np.float64).reshape(-1, 4)
    drawn = reading.to_pixels(numbers, np.tile(np.array(size, np.float64), (len(numbers), 1)))
    letters = max(size) * _LABEL_SHARE
    outside = 0
    shapes: list[str] = []
    for (label, _), box in zip(boxes, drawn.tolist(), strict=True):
        outside += box_problem(box, width, height) is not None
        if box[2] > 0 and box[3] > 0 and len(shapes) < _MOST_BOXES:
            shapes.append(_box_svg(box, label, letters, colour))
    film = ""
    if picture is not None:
        film = f'<img alt="" src="data:image/webp;base64,{base64.b64encode(picture).decode()}">'
    lost = f" · {outside:,} of {len(boxes):,} outside or without area" if outside else ""
    shown = html.escape(f"{name} · {len(boxes):,} boxes{lost}")
    missing = "" if picture is not None else " The picture itself is not there."
    css = ' class="rx-wrong"' if outside else ""
    return (
        f'<figure><div class="rx-box-film" style="aspect-ratio:{width}/{height}">{film}'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{shown}">{"".join(shapes)}'
        f"</svg></div><figcaption{css}>{shown}.{missing}</figcaption></figure>"
    )


def _box_svg(box: Sequence[float], label: str, letters: float, colour: str) -> str:
    x, y, width, height = (round(number, 2) for number in box)
    shape = f'x="{x}" y="{y}" width="{width}" height="{height}" fill="none"'
    text = html.escape(label[:_LONGEST_LABEL])
    top = max(y - letters * 0.3, letters)
    return (
        f'<rect {shape} stroke="#000" stroke-opacity="0.6" stroke-width="{letters / 4:.2f}"/>'
        f'<rect {shape} stroke="{colour}" stroke-width="{letters / 8:.2f}"/>'
        f'<text x="{x}" y="{top:.2f}" font-size="{letters:.2f}" fill="{colour}">{text}</text>'
    )
