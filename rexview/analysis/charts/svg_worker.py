"""Program that converts a chart to a picture, for :mod:`rexview.analysis.charts.export`.

It runs in a process of its own, because the converter holds Python's lock while it starts and
works, at first for seconds. It also keeps its memory, and ends the process on unexpected text. The
program imports nothing of rexview, so that it starts quickly. It reads Vega-Lite as JSON from
standard input, and writes SVG or PNG, named by the first argument, to standard output.
"""

from __future__ import annotations

import os
import sys
from typing import Final

SCALE: Final = 2.0
"""Pixels of a PNG for one unit of the chart."""


def convert(spec: str, form: str) -> bytes:
    """Draw a chart given as Vega-Lite JSON; ``form`` is ``svg`` or ``png``."""
    import vl_convert

    # an empty list: no address of remote data is allowed
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return vl_convert.svg_to_png(svg, scale=SCALE) if form == "png" else svg.encode("utf-8")


if __name__ == "__main__":
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the converter must not get into the picture
    private.write(convert(sys.stdin.buffer.read().decode("utf-8"), sys.argv[1]))
