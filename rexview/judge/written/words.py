"""The words of a failure that a clinician wrote, made a wording.

They were written on a page and lie with the reviews, or in a file of the review set.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.errors import SettingsError
from rexview.models.asking.entries import read_entry, read_mapping, refuse
from rexview.models.asking.prompts import FOLDER, hashed, is_name, prompt_file
from rexview.models.backend import Prompt
from rexview.untrusted_input import read_yaml

_FRAME: Final = Path(__file__).with_name("written-1.yaml")
OWN: Final = "failures"
"""The folder in a set's folder ``prompts`` that has failures in words."""
FIELD: Final = "written"
"""Where a wording has the words: no wording of another kind has this field."""
LONGEST_NAME: Final = 200
LONGEST: Final = 4_000
LONGEST_EXAMPLE: Final = 1_000
EXAMPLES: Final = 20
NEEDED: Final = ("name", "counts")
_LONGEST_START: Final = 60


@cache
def frame() -> Prompt:
    """Return how any written failure is asked about, without its words."""
    values: Any = read_yaml(_FRAME)
    return hashed(Prompt(id=_FRAME.stem, **values))


def find_written(name: str, folder: Path) -> Prompt:
    """Return the failure that ``prompts/failures/NAME.yaml`` of a review set has in words.

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
            f"There is no written failure {name!r:.80}: write it on the page Failures, or into "
            f"{label} of the review set, with {' and '.join(NEEDED)}."
        )
    return wording_of(name, raw, label)


def written_in_files(folder: Path) -> list[str]:
    """Return the names of the failures that files of a review set have in words."""
    return sorted(
        path.stem for path in (folder / FOLDER / OWN).glob("*.yaml") if is_name(path.stem)
    )


def wording_of(name: str, raw: Mapping[str, Any], label: str) -> Prompt:
    """Return words as a wording; ``label`` says where they stand.

    The wording's ``hash`` is of its words, too: edited words are another version, and nothing that
    was said of the earlier one is said of it. The same words in a file and on a page are one.

    Raises
    ------
    SettingsError
        They cannot be used; every problem is named.
    """
    readers = {
        "name": _said(LONGEST_NAME),
        "counts": _said(LONGEST),
        "does_not_count": _said(LONGEST),
        "examples": _examples,
        "counterexamples": _examples,
    }
    problems: list[str] = []
    found = read_entry(raw, readers, label, problems)
    problems += [f"{label}, {one}: it is missing. Write it." for one in NEEDED if one not in raw]
    refuse(problems)
    words = {one: found[one] for one in readers if found.get(one)}
    return hashed(replace(frame(), id=f"{FIELD}:{name}", name=found["name"], fields={FIELD: words}))


def name_for(title: str, taken: Iterable[str]) -> str:
    """Return a name that links and the command line take, made of a title, of no other failure.

    >>> name_for("Comparison that doesn't exist", ["comparison-that-doesn-t-exist"])
    'comparison-that-doesn-t-exist-2'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    start = "-".join(re.findall("[a-z0-9]+", plain))[:_LONGEST_START].strip("-") or "failure"
    known, number, name = set(taken), 1, start
    while name in known:
        number += 1
        name = f"{start}-{number}"
    return name


def name_of(prompt: Prompt) -> str:
    """Return the name under which a failure was written: ``NAME`` of its file."""
    return prompt.id.partition(":")[2]


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
    if not isinstance(value, list) or not 0 < len(value) <= EXAMPLES:
        raise ValueError(f"a list of 1 to {EXAMPLES} texts")
    each = [_said(LONGEST_EXAMPLE)(one) for one in value]
    return "".join(f"\n- {one}" for one in each)
