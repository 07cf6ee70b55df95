"""The scoring rubric as data: dimensions, their question and the anchors of 1 to 5.

``rubric.yaml`` in the same folder is the ReXecution rubric in our own words; a review set may bring
its own file of the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.errors import FileRefused
from rexview.untrusted_input import read_untrusted_yaml
from rexview.words import tr_file_text

_BUILT_IN: Final = Path(__file__).with_name("rubric.yaml")
_MOST_DIMENSIONS: Final = 40
_LONGEST_TEXT: Final = 4000


@dataclass(frozen=True)
class RubricDimension:
    """One scored dimension; ``anchors`` maps 1 to 5 to the meaning of that score."""

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

    Raises
    ------
    FileRefused
        It is not a rubric (the message names the dimension and its fault), or exceeds the limits of
        :mod:`rexview.untrusted_input` or of this module.
    OSError
        It is missing or cannot be read.
    """
    raw = read_untrusted_yaml(path or _BUILT_IN)
    dimensions = raw.get("dimensions") if isinstance(raw, Mapping) else None
    if not isinstance(dimensions, Mapping):
        raise FileRefused("There are no dimensions.")
    if len(dimensions) > _MOST_DIMENSIONS:
        raise FileRefused(f"There are more than {_MOST_DIMENSIONS} dimensions.")
    return {str(key): _dimension(str(key), entry) for key, entry in dimensions.items()}


def _dimension(key: str, entry: Any) -> RubricDimension:
    where = f"The dimension “{key[:40]}”"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("anchors"), Mapping):
        raise FileRefused(f"{where} lacks name, question or anchors.")
    anchors = {_level(level, where): text for level, text in entry["anchors"].items()}
    texts = (key, entry.get("name"), entry.get("question"), *anchors.values())
    for text in texts:
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise FileRefused(f"{where} has no text for its name, its question or an anchor.")
        if len(str(text)) > _LONGEST_TEXT:
            raise FileRefused(f"{where} has a text of more than {_LONGEST_TEXT:,} letters.")
    return RubricDimension(
        id=key,
        name=tr_file_text(str(entry["name"])),
        question=tr_file_text(str(entry["question"])),
        anchors={level: tr_file_text(str(text)) for level, text in anchors.items()},
    )


def _level(level: Any, where: str) -> int:
    try:
        number = int(level)
    except (TypeError, ValueError):
        number = 0
    if not 1 <= number <= 5:
        raise FileRefused(f"{where} has an anchor for something else than 1 to 5.")
    return number
