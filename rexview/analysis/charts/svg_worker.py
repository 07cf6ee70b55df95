"""The program that :mod:`rexview.analysis.charts.export` runs: a chart in, a picture out.

In a process of its own because the converter holds Python's lock while it starts and works, for
seconds at first, takes memory that it does not give back, and ends the process on text that it does
not expect. Imports nothing of rexview, so that it
starts quickly. Vega-Lite as JSON on standard input; SVG or PNG, as the first argument says, on
standard output.
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
    os.dup2(2, 1)  # whatever the converter prints must not get into the picture
    private.write(convert(sys.stdin.buffer.read().decode("utf-8"), sys.argv[1]))
