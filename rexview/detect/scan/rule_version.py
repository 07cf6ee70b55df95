"""Version of the rules: a digest of everything but the data that decides what detectors find.

Kept results of another version are not used.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from rexview.detect.detector import Detector, ScoringDetector
from rexview.disk_cache import cache_code_version, code_files

_PACKAGE: Final = Path(__file__).resolve().parents[2]
_READ: Final = (
    *("detect", "text", "stats", "schema", "frames.py", "vocab.py", "geometry.py"),
    "package_data.py",
)
"""Code below ``rexview/`` that detectors run, with its lists of words."""


@cache
def rule_version() -> str:
    """Return a digest of the rules' code and words, and of polars' version, which hashes texts."""
    return cache_code_version(code_files(_PACKAGE / name for name in _READ), pl.__version__)


def describe_settings(detectors: Iterable[Detector], model: str) -> str:
    """Return the detectors' settings as text, as far as they affect the answers of a model."""
    return "\n".join(_settings(one, model) for one in detectors)


def _settings(detector: Detector, model: str) -> str:
    named = f"{type(detector).__name__} {detector.failure}"
    if isinstance(detector, ScoringDetector):
        return named  # without scores its settings have no effect
    # of a set of models, only this model's membership matters
    told = {
        name: model in value if isinstance(value, frozenset) else value
        for name, value in vars(detector).items()
    }
    return f"{named} {told!r}"
