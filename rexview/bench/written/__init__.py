"""``bench written``: what the pages ask of failures in a clinician's words."""

from rexview.bench.written.reading_speed import run

__all__ = ["run"]
