"""The words of a failure that a clinician wrote: a file of the review set, made a wording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.bounded import read_yaml
from rexview.errors import SettingsError
from rexview.models.asking.entries import read_entry, read_mapping, refuse
from rexview.models.asking.prompts.load import FOLDER, hashed, prompt_file
from rexview.models.prompt import Prompt

_FRAME: Final = Path(__file__).with_name("written-1.yaml")
OWN: Final = "failures"
"""The folder in a set's folder ``prompts`` that has failures in words."""
FIELD: Final = "written"
"""Where a wording has the words: no wording of another kind has this field."""
_LONGEST: Final = 4_000
_EXAMPLES: Final = 20
_NEEDED: Final = ("name", "counts")


@cache
def frame() -> Prompt:
    """Return how any written failure is asked about, without its words."""
    values: Any = read_yaml(_FRAME)
    return hashed(Prompt(id=_FRAME.stem, **values))


def find_written(name: str, folder: Path) -> Prompt:
    """Return the failure that ``prompts/failures/NAME.yaml`` of a review set has in words.

    The wording's ``hash`` is of its words, too: edited words are another version, and nothing that
    was said of the earlier one is said of it.

    Raises
    ------
    SettingsError
        There is none of that name, or its file cannot be used; every problem is named.
    """
    path = prompt_file(name, folder)
    path = path.parent / OWN / path.name
    label = f"{FOLDER}/{OWN}/{path.name}"
    raw = read_mapping(path, label)
    if raw is None:
        raise SettingsError(
            f"There is no written failure {name!r:.80}: write it into {label} of the review set, "
            f"with {' and '.join(_NEEDED)}."
        )
    readers = {
        "name": _said(200),
        "counts": _said(_LONGEST),
        "does_not_count": _said(_LONGEST),
        "examples": _examples,
        "counterexamples": _examples,
    }
    problems: list[str] = []
    found = read_entry(raw, readers, label, problems)
    problems += [f"{label}, {one}: it is missing. Write it." for one in _NEEDED if one not in raw]
    refuse(problems)
    words = {one: found[one] for one in readers if found.get(one)}
    return hashed(replace(frame(), id=f"{FIELD}:{name}", name=found["name"], fields={FIELD: words}))


def words_of(prompt: Prompt) -> str:
    r"""Return the words of a written failure in one text, as a judge is given them.

    >>> words_of(Prompt("w", "n", 1, "", {}, {"written": {"name": "Invented", "counts": "A"}}))
    'Name: Invented\nCounts: A'
    """
    given = prompt.fields[FIELD]
    titles = {
        "name": "Name",
        "counts": "Counts",
        "does_not_count": "Does not count",
        "examples": "Examples that count",
        "counterexamples": "Examples that do not count",
    }
    return "\n".join(f"{title}: {given[one]}" for one, title in titles.items() if one in given)


def is_written(prompt: Prompt) -> bool:
    """Whether a wording is that of a written failure."""
    return FIELD in prompt.fields


def _said(most: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise ValueError(f"a text of 1 to {most:,} characters")
        return value.strip()

    return read


def _examples(value: Any) -> str:
    if not isinstance(value, list) or not 0 < len(value) <= _EXAMPLES:
        raise ValueError(f"a list of 1 to {_EXAMPLES} texts")
    each = [_said(1_000)(one) for one in value]
    return "".join(f"\n- {one}" for one in each)
