"""A chart as a file: PNG and SVG for papers and slides, CSV of its numbers.

Pictures are light in every theme of the page, and include the title, the caption and the names of
the models. Nothing is fetched: a chart that refers to anything outside itself is refused.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.download_files import encode_csv, join_captions, make_file_name
from rexview.errors import ChartError

Form = Literal["png", "svg", "csv"]
FORMS: Final[dict[Form, tuple[str, str]]] = {
    "png": ("PNG", "image/png"),
    "svg": ("SVG", "image/svg+xml"),
    "csv": ("CSV", "text/csv"),
}
"""Name and media type of each file format."""
_WORKER: Final = Path(__file__).with_name("svg_worker.py")
_TIMEOUT_S: Final = 60.0
_CONVERSIONS: Final = threading.BoundedSemaphore(2)
"""Conversions at a time; others wait, because each needs 100 MB and a core."""
_WIDTH: Final = 560
"""Width of the plot, in units of the chart."""
_LABEL_WIDTH: Final = 420
_PER_LINE: Final = 106
"""Characters in a line of the caption."""
_INK: Final = "#14191D"
_PRINT_CONFIG: Final[dict[str, Any]] = {
    "background": "white",
    "font": "sans-serif",
    "padding": 12,
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelPadding": 5,
        "gridColor": "#E3E7EA",
        "domainColor": "#8A9099",
        "tickColor": "#8A9099",
    },
    "legend": {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 11},
    "header": {"labelColor": _INK, "titleColor": _INK, "labelLimit": _LABEL_WIDTH},
    "text": {"color": _INK},
    "view": {"stroke": "transparent"},
}
_NON_XML_CHARACTERS: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EXTERNAL_KEYS: Final = {"url", "href"}
_DATA: Final = ("datasets", "values")
_SIDE_BY_SIDE: Final = ("concat", "hconcat", "vconcat")


def chart_file_name(linked: LinkedChart, form: Form) -> str:
    """Return the name of a download, made from the chart's title: ``scores-per-dimension.png``."""
    return make_file_name(linked.title, form, "chart")


def export_chart(linked: LinkedChart, form: Form, notice: str = "", *, so_far: str = "") -> bytes:
    """Return a chart as the bytes of a file.

    Parameters
    ----------
    linked : LinkedChart
    form : str
        A key of :data:`FORMS`.
    notice : str
        The review set's notice, which has to go with its numbers; it is part of pictures.
    so_far : str
        The remark on numbers that are not final; it is part of every format, in CSV as a column.

    Raises
    ------
    ChartError
        The picture could not be made; the message is for the page.
    """
    if form == "csv":
        return encode_csv(linked.table.assign(**{"So far": so_far}) if so_far else linked.table)
    return _convert_picture(linked, form, join_captions(linked.caption, notice, so_far))


def print_spec(linked: LinkedChart, notice: str = "") -> dict[str, Any]:
    """Return the chart for a white page, including its title, its caption and the notice.

    Raises
    ------
    ChartError
        The chart refers to something outside itself.
    """
    spec = copy.deepcopy(linked.spec)
    for part in _parts(spec):
        # a picture as a mark is fetched from an address in the data
        if part.keys() & _EXTERNAL_KEYS or "image" in (part.get("mark"), part.get("type")):
            raise ChartError("This chart refers to something outside itself and is not drawn.")
        if "labelLimit" in part:  # a number, or an expression of the width on screen
            part["labelLimit"] = _LABEL_WIDTH
    _set_width(spec)
    spec["title"] = {
        "text": textwrap.wrap(linked.title, _PER_LINE),
        "subtitle": [
            line for text in (linked.caption, notice) for line in textwrap.wrap(text, _PER_LINE)
        ],
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 14,
        "subtitleFontSize": 11,
        "color": _INK,
        "subtitleColor": "#4A5560",
        "offset": 12,
    }
    spec["config"] = _merge_config(spec.get("config", {}), _PRINT_CONFIG)
    return spec


def _parts(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping of a specification, without rows of data."""
    if isinstance(part, dict):
        yield part
        for key, value in part.items():
            if key not in _DATA:
                yield from _parts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _parts(value)


def _set_width(spec: dict[str, Any]) -> None:
    """Set the width of every plot that would fill its page."""
    if "facet" in spec or "repeat" in spec:
        _set_width(spec["spec"])
        return
    inner = next((spec[key] for key in _SIDE_BY_SIDE if key in spec), None)
    for part in inner if inner is not None else ():
        _set_width(part)
    if inner is None and not isinstance(spec.get("width"), (int, float, dict)):
        spec["width"] = _WIDTH


def _replace_unprintable(part: Any) -> Any:
    """Replace characters that pictures cannot contain; some would crash the converter."""
    if isinstance(part, str):
        return _NON_XML_CHARACTERS.sub("\ufffd", part)
    if isinstance(part, dict):
        return {
            _replace_unprintable(key): _replace_unprintable(value) for key, value in part.items()
        }
    if isinstance(part, list):
        return [_replace_unprintable(value) for value in part]
    return part


def _merge_config(given: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(given)
    for key, value in over.items():
        old = both.get(key)
        nested = isinstance(old, Mapping) and isinstance(value, Mapping)
        both[key] = _merge_config(old, value) if nested else value  # type: ignore[arg-type]
    return both


@lru_cache(maxsize=16)
def _convert_picture(linked: LinkedChart, form: Literal["png", "svg"], notice: str) -> bytes:
    text = json.dumps(_replace_unprintable(print_spec(linked, notice)))
    try:
        with _CONVERSIONS:
            done = subprocess.run(  # noqa: S603 - our own program
                [sys.executable, str(_WORKER), form],
                input=text.encode("utf-8"),
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=True,
            )
    except subprocess.TimeoutExpired:
        raise ChartError("The picture of the chart took too long to make.") from None
    except (OSError, subprocess.CalledProcessError):
        raise ChartError("The picture of the chart could not be made.") from None
    return done.stdout
