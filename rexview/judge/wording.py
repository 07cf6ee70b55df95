"""In which words a judge is asked: our own, or those of a file of the review set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.errors import SettingsError
from rexview.models.asking.entries import number, read_entry, read_mapping, refuse, text
from rexview.models.asking.prompts import FOLDER, hashed, prompt_file
from rexview.models.backend import Prompt
from rexview.untrusted_input import read_yaml

_BUILT_IN: Final = Path(__file__).with_name("judge-2.yaml")
OWN: Final = "judge"
"""The folder in a set's folder ``prompts`` that has its own wordings for judges."""
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_LONGEST: Final = 20_000


@cache
def built_in_wording() -> Prompt:
    """Return our wording."""
    values: Any = read_yaml(_BUILT_IN)
    return hashed(Prompt(id=_BUILT_IN.stem, **values))


def find_wording(name: str | None, folder: Path) -> Prompt:
    """Return a wording by its name: ``prompts/judge/NAME.yaml`` of the review set, or ours.

    A file says what is other than in ours: any of ``system``, ``texts`` and the meaning of each
    failure (``fields``: ``failures``), with the places of ours.

    Raises
    ------
    SettingsError
        There is none of that name, or its file cannot be used; every problem is named.
    """
    ours = built_in_wording()
    if name is None or name == ours.id:
        return ours
    path = prompt_file(f"{name}", folder)
    path = path.parent / OWN / path.name
    label = f"{FOLDER}/{OWN}/{path.name}"
    raw = read_mapping(path, label)
    if raw is None:
        raise SettingsError(
            f"There is no wording {name!r:.80} for judges: there is {ours.id}, and what lies in "
            f"{FOLDER}/{OWN}/ of the review set."
        )
    readers = {
        "name": text(200),
        "version": number(1, 1_000_000, whole=True),
        "source": text(1_000),
        "system": text(_LONGEST),
        "texts": lambda value: _texts(value, ours.texts),
        "fields": lambda value: _fields(value, ours.fields),
    }
    problems: list[str] = []
    found = read_entry(raw, readers, label, problems)
    problems += [
        f"{label}, {one}: it is missing. Write it." for one in ("name", "version") if one not in raw
    ]
    refuse(problems)
    texts = {**ours.texts, **found.pop("texts", {})}
    fields = {**ours.fields, **found.pop("fields", {})}
    return hashed(replace(ours, **{"source": "", **found}, id=name, texts=texts, fields=fields))


def _texts(value: Any, ours: Mapping[str, str]) -> dict[str, str]:
    """Read texts by name; each has the places that ours has, else something would not be sent."""
    if not isinstance(value, Mapping):
        raise ValueError(f"texts by name: {', '.join(ours)}")
    problems: list[str] = []
    found = read_entry(value, dict.fromkeys(ours, text(_LONGEST)), "in it", problems)
    for name, template in found.items():
        given, wanted = set(_PLACE.findall(template)), set(_PLACE.findall(ours[name]))
        problems += [
            f"in it, {name}: {{{one}}} cannot be filled in. There are "
            f"{', '.join(f'{{{each}}}' for each in sorted(wanted)) or 'none'}."
            for one in sorted(given - wanted)
        ]
        problems += [
            f"in it, {name}: {{{one}}} is missing. Write where it goes."
            for one in sorted(wanted - given - {"line"})  # without it each value gets its own lines
        ]
    if problems:
        raise SettingsError(*problems)
    return found


def _fields(value: Any, ours: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    failures = value.get("failures") if isinstance(value, Mapping) else None
    if not isinstance(failures, Mapping) or value.keys() - ours.keys():
        raise ValueError("failures: what each means")
    problems: list[str] = []
    meanings = dict.fromkeys(ours["failures"], text(1_000))
    found = read_entry(failures, meanings, "in it, failures", problems)
    if problems:
        raise SettingsError(*problems)
    return {"failures": {**ours["failures"], **found}}
