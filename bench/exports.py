"""``bench exports``: measure exports, and the HTML file in a browser."""

from __future__ import annotations

from bench import export_costs
from bench.measure import Measured
from bench.serving import BenchUnavailable


def run() -> Measured:
    """Measure the formats that contain films, then the HTML file if there is a browser."""
    films = export_costs.measure_films()
    try:
        in_browser = export_costs.measure_html_file()
    except BenchUnavailable as unavailable:
        return Measured(films.rows, notes=f"{films.notes} {unavailable}")
    return Measured([*films.rows, *in_browser.rows], notes=films.notes)
