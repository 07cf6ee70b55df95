"""``bench curation``: what the page Curate asks after each decision."""

from rexview.bench.curation.coverage_speed import run

__all__ = ["run"]
