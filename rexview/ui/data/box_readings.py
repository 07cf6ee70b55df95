"""Boxes in the proposed reading, drawn on pictures of the import, and the other readings to try."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import streamlit as st

from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_ON_FILM
from rexview.geometry import box_problem
from rexview.reviewset.importers.box_placement import SHAPES, UNITS, BoxPreview, BoxReading
from rexview.reviewset.importers.run import ImportPreview
from rexview.ui.html.safe_text import as_markdown
from rexview.words import beginning, counted, tr

Boxes = Sequence[tuple[str, tuple[float, float, float, float]]]
_EVERY: Final = tuple(str(BoxReading(shape, unit)) for unit in UNITS for shape in SHAPES)
_MOST_BOXES: Final = 60
_LONGEST_LABEL: Final = 40


def confirm_readings(preview: ImportPreview) -> dict[tuple[str, str | None], str]:
    """Show boxes as they would be read; return the other readings that a person chose.

    They go by file and model, None for reference boxes. A choice is kept for the session, as long
    as the file has the same boxes.
    """
    chosen: dict[tuple[str, str | None], str] = {}
    for one in preview.boxes:
        reading = _choose(one)
        if reading != str(one.proposal.reading):
            chosen[one.file, one.model] = reading
        st.html(pictures_html(one, BoxReading.parse(reading), preview.pictures))
    return chosen


def _choose(one: BoxPreview) -> str:
    proposed = str(one.proposal.reading)
    fitting = [str(other) for other in one.proposal.others]
    options = list(dict.fromkeys((proposed, *fitting, *_EVERY)))
    file = as_markdown(one.file)
    if one.model is None:
        asked = tr("{file}: {n:,} reference boxes. The four numbers are").format(
            file=file, n=one.count
        )
    else:
        asked = tr("{file}: {n:,} boxes of {model}. The four numbers are").format(
            file=file, n=one.count, model=as_markdown(one.model)
        )

    def shown(reading: str) -> str:
        words = BoxReading.parse(reading).in_words
        known = {proposed: tr("(proposed)"), **dict.fromkeys(fitting, tr("(would fit, too)"))}
        return f"{beginning(words)} {known.get(reading, '')}".rstrip()

    name = hashlib.sha256(repr((one.file, one.model, one.count)).encode()).hexdigest()[:16]
    chosen: str = st.selectbox(
        asked,
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
        return f'<p class="rx-quiet">{tr("No size of any of its pictures is known.")}</p>'
    colour = REFERENCE_ON_FILM if one.model is None else MODEL_COLOURS[1]
    figures = "".join(
        _figure_html(case, size, boxes, reading, pictures.get((case, image)), colour)
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
    outside = sum(box_problem(box, width, height) is not None for box in drawn.tolist())
    shapes = "".join(
        _box_html(box, label, size, colour)
        for (label, _), box in zip(boxes[:_MOST_BOXES], drawn.tolist(), strict=False)
        if box[2] > 0 and box[3] > 0
    )
    shown = f"{name}: {counted(len(boxes), 'box')}"
    if outside:
        out = tr("{boxes}, {n:,} outside the picture or without area")
        shown = out.format(boxes=shown, n=outside)
    film = ""
    if picture is not None:
        code = base64.b64encode(picture).decode()
        film = f'<img alt="" src="data:image/webp;base64,{code}">'
    missing = "" if picture is not None else f" {tr('The picture itself is not there.')}"
    css = ' class="rx-wrong"' if outside else ""
    return (
        f'<figure><div class="rx-box-film" style="aspect-ratio:{width}/{height}">{film}{shapes}'
        f"</div><figcaption{css}>{html.escape(shown)}.{missing}</figcaption></figure>"
    )


def _box_html(box: Sequence[float], label: str, size: tuple[int, int], colour: str) -> str:
    """Draw a box as shares of the picture, so that it fits at any width."""
    wholes = (*size, *size)
    left, top, width, height = (
        round(100 * number / whole, 3) for number, whole in zip(box, wholes, strict=True)
    )
    return (
        f'<div class="rx-import-box" style="left:{left}%;top:{top}%;width:{width}%;'
        f'height:{height}%;border-color:{colour}"><span>{html.escape(label[:_LONGEST_LABEL])}'
        "</span></div>"
    )
