"""``bench exports``: what exports take, and how the HTML file works in a browser."""

from __future__ import annotations

from bench import export_costs
from bench.measure import Measured
from bench.serving import BenchUnavailable


def run() -> Measured:
    """Measure the formats that hold films, then the HTML file in a browser, where there is one."""
    films = export_costs.measure_films()
    try:
        in_browser = export_costs.measure_html_file()
    except BenchUnavailable as unavailable:
        return Measured(films.rows, notes=f"{films.notes} {unavailable}")
    return Measured([*films.rows, *in_browser.rows], notes=films.notes)
