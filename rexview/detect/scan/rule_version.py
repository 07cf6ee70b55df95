"""The version of the rules: a name for everything that decides what detectors find, but the data.

Outcomes that were kept are of the same version or of no use.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from rexview.detect.detector import Detector, ScoringDetector
from rexview.kept_files import code_files, code_version

_PACKAGE: Final = Path(__file__).resolve().parents[2]
_READ: Final = (
    *("detect", "text", "stats", "schema", "frames.py", "vocab.py", "geometry.py"),
    "package_data.py",
)
"""The code below ``rexview/`` that detectors run, with the lists of words beside it."""


@cache
def rule_version() -> str:
    """Return a digest of the rules' code and words, and of the library that hashes texts."""
    return code_version(code_files(_PACKAGE / name for name in _READ), pl.__version__)


def settings_of(detectors: Iterable[Detector], model: str) -> str:
    """Write down what detectors are set to, as far as it concerns the answers of a model."""
    return "\n".join(_settings(one, model) for one in detectors)


def _settings(detector: Detector, model: str) -> str:
    named = f"{type(detector).__name__} {detector.failure}"
    if isinstance(detector, ScoringDetector):
        return named  # its settings decide nothing where nothing is scored
    # what detectors are told of models is which of them
    told = {
        name: model in value if isinstance(value, frozenset) else value
        for name, value in vars(detector).items()
    }
    return f"{named} {told!r}"
