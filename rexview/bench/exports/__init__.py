"""``bench exports``: what exports take, and how the HTML file works in a browser."""

from __future__ import annotations

from rexview.bench.exports import html_file, with_films
from rexview.bench.measure import Measured
from rexview.bench.serving import BenchUnavailable


def run() -> Measured:
    """Measure the formats that hold films, then the HTML file in a browser, where there is one."""
    films = with_films.run()
    try:
        in_browser = html_file.run()
    except BenchUnavailable as unavailable:
        return Measured(films.rows, notes=f"{films.notes} {unavailable}")
    return Measured([*films.rows, *in_browser.rows], notes=films.notes)
