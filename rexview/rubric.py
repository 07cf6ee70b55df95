"""The scoring rubric as data: dimensions, their question and the anchors of 1 to 5.

``rubric.yaml`` beside this module is the ReXecution rubric in our own words; a review set may bring
its own file of the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

_BUILT_IN: Final = Path(__file__).with_name("rubric.yaml")


@dataclass(frozen=True)
class RubricDimension:
    """One scored dimension; ``anchors`` maps 1 to 5 to what that score means."""

    id: str
    name: str
    question: str
    anchors: dict[int, str]


@cache
def load_rubric(path: Path | None = None) -> dict[str, RubricDimension]:
    """Read a rubric file, the built-in ReXecution rubric by default.

    Returns
    -------
    dict of str to RubricDimension
        By dimension id, in the order of the file.
    """
    raw = yaml.safe_load((path or _BUILT_IN).read_text(encoding="utf-8"))
    return {
        key: RubricDimension(
            id=key,
            name=str(entry["name"]),
            question=str(entry["question"]),
            anchors={int(level): str(text) for level, text in entry["anchors"].items()},
        )
        for key, entry in raw["dimensions"].items()
    }
