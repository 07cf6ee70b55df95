"""Wordings of prompts: the built-in ones, and edited copies of a review set."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from rexview.errors import SettingsError
from rexview.models.asking.yaml_values import (
    ValueReader,
    number,
    raise_problems,
    read_entry,
    read_mapping,
    text,
    yes_no,
)
from rexview.models.backend import Card, Prompt
from rexview.untrusted_input import read_untrusted_yaml
from rexview.vocab import QUESTION_TYPES

# Prompts as YAML files: find, read, check, fill in, and write as a copy to edit.

PROMPTS_FOLDER: Final = "prompts"
WITHOUT_BOXES: Final = "expert-1"
WITH_BOXES: Final = "expert-1-boxes"
_BUILT_IN: Final = Path(__file__).parent
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")
_ALLOWED_FIELDS: Final[dict[str, frozenset[str]]] = {
    "open": frozenset({"question"}),
    "choice": frozenset({"question", "options", "letters"}),
    "report": frozenset({"question"}),
    "current": frozenset({"number", "view", "size"}),
    "prior": frozenset({"number", "view", "size"}),
    "context": frozenset({"lines"}),
    "json": frozenset({"fields"}),
    "boxes": frozenset({"form"}),
    "boxes_in_text": frozenset({"form"}),
}
"""The texts of a prompt, and the fields that each may contain."""
_REQUIRED_FIELDS: Final = {
    "open": "question",
    "choice": "options",
    "report": "question",
    "context": "lines",
    "json": "fields",
    "boxes": "form",
    "boxes_in_text": "form",
}
"""Fields that a text must contain: otherwise the model would not get them."""
LINE_FIELD: Final = "{line}"
"""Field for a line that marks where a quoted text ends."""
_DASHES: Final = re.compile("-+")
_SHORTEST_LINE: Final = 5
_ANSWER: Final = "answer"
_LONGEST: Final = 20_000


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Fill in the fields of a template; curly brackets in values stay text.

    >>> fill_template("Question: {question}", {"question": "What is {view}?"})
    'Question: What is {view}?'
    """
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


def separator_line(texts: Iterable[str]) -> str:
    """Return a line of dashes that occurs in none of the texts.

    >>> separator_line(["a", "-------- the answer ends here"])
    '---------'
    """
    longest = max((len(run) for text in texts for run in _DASHES.findall(text)), default=0)
    return "-" * max(_SHORTEST_LINE, longest + 1)


def fence_values(texts: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    r"""Return templates whose values are set between lines that no value contains.

    The line replaces the field ``{line}``. A template without that field, as in a wording of a
    review set, gets a line before and after each value.

    >>> fence_values({"answer": "The answer: {answer}"}, {"answer": "No."})
    {'answer': 'The answer: -----\n{answer}\n-----'}
    """
    line = separator_line(values.values())
    found = {}
    for name, template in texts.items():
        if LINE_FIELD not in template:
            for one in values:
                template = template.replace(f"{{{one}}}", f"{line}\n{{{one}}}\n{line}")
        found[name] = template.replace(LINE_FIELD, line)
    return found


def find_prompt(name: str | None, card: Card, folder: Path | None = None) -> Prompt:
    """Return a wording by id: the review set's edited copy, otherwise the built-in one.

    The default is the expert's wording, with the box instruction if the model draws boxes.

    Raises
    ------
    SettingsError
        No wording has that name, or its file cannot be used.
    """
    name = name or (WITH_BOXES if card.draws_boxes else WITHOUT_BOXES)
    known = built_in_prompts()
    path = prompt_file(name, folder) if folder else None
    if path is not None and path.is_file():
        return read_prompt(path)
    if name not in known:
        names = ", ".join(list_prompts(folder))
        raise SettingsError(f"There is no prompt {name!r:.80}. There are {names}.")
    return known[name]


def list_prompts(folder: Path | None = None) -> tuple[str, ...]:
    """Return the ids of all wordings, built in and of a review set."""
    own = sorted((folder / PROMPTS_FOLDER).glob("*.yaml")) if folder else []
    names = [path.stem for path in own if _NAME.fullmatch(path.stem)]
    return tuple(dict.fromkeys((*built_in_prompts(), *names)))


@cache
def built_in_prompts() -> Mapping[str, Prompt]:
    """Return the built-in wordings by id."""
    built_in = sorted(_BUILT_IN.glob("*.yaml"), key=lambda path: path.stem)
    return {path.stem: read_prompt(path) for path in built_in}


def is_prompt_name(name: str) -> bool:
    """Whether a text is a valid prompt name: letters, digits, dots and hyphens."""
    return _NAME.fullmatch(name) is not None


def prompt_file(name: str, folder: Path) -> Path:
    """Return the path of the edited copy of a prompt in a review set.

    Raises
    ------
    SettingsError
        The name has other characters than letters, digits, dots and hyphens.
    """
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r:.80} is no name of a prompt: use letters, digits, dots and hyphens."
        )
    return folder / PROMPTS_FOLDER / f"{name}.yaml"


def _read_texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError(f"texts by name: {', '.join(_ALLOWED_FIELDS)}")
    problems: list[str] = []
    found = read_entry(value, dict.fromkeys(_ALLOWED_FIELDS, text(_LONGEST)), "in it", problems)
    for name, template in found.items():
        places = set(_PLACE.findall(template))
        unknown = sorted(places - _ALLOWED_FIELDS[name])
        if unknown:
            known = ", ".join(f"{{{one}}}" for one in sorted(_ALLOWED_FIELDS[name]))
            problems.append(
                f"in it, {name}: {{{unknown[0]}}} cannot be filled in. There are {known}."
            )
        needed = _REQUIRED_FIELDS.get(name)
        if needed and needed not in places:
            problems.append(f"in it, {name}: {{{needed}}} is missing. Write where it goes.")
    if problems:
        raise SettingsError(*problems)
    return found


def _read_fields(value: Any) -> dict[str, dict[str, str]]:
    if not isinstance(value, Mapping):
        raise ValueError(f"parts of the answer by question type: {', '.join(QUESTION_TYPES)}")
    problems: list[str] = []
    found = read_entry(value, dict.fromkeys(QUESTION_TYPES, _read_parts), "in it", problems)
    if _ANSWER not in found.get("choice", {_ANSWER: ""}):
        problems.append(f"in it, choice: {_ANSWER} is missing. It holds the letter of the option.")
    if problems:
        raise SettingsError(*problems)
    return found


def _read_parts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not 0 < len(value) <= 20:
        raise ValueError("one to twenty lines of the form part: what it holds")
    read = text(1_000)
    for part in value:
        if not isinstance(part, str) or not part.isidentifier() or part == "boxes":
            raise ValueError("names of parts in letters, digits and underscores, other than boxes")
    return {part: read(meaning) for part, meaning in value.items()}


_READERS: Final[dict[str, ValueReader]] = {
    "name": text(200),
    "version": number(1, 1_000_000, whole=True),
    "source": text(1_000),
    "system": text(_LONGEST),
    "texts": _read_texts,
    "fields": _read_fields,
    "asks_for_boxes": yes_no,
    "based_on": text(80),
}


def read_prompt(path: Path) -> Prompt:
    """Read a prompt; its id is the name of its file.

    Raises
    ------
    SettingsError
        Names the file, and every key that is wrong or missing, with what to write.
    """
    label = f"{PROMPTS_FOLDER}/{path.name}"
    raw = read_mapping(path, label)
    if raw is None:
        raise SettingsError(f"{label}: there is no such file.")
    problems: list[str] = []
    found = read_entry(raw, _READERS, label, problems)
    base = found.pop("based_on", None)
    texts: dict[str, str] = {}
    if base is not None:
        under = _BUILT_IN / f"{base}.yaml"
        if not _NAME.fullmatch(base) or not under.is_file() or base == path.stem:
            names = ", ".join(sorted(one.stem for one in _BUILT_IN.glob("*.yaml")))
            problems.append(f"{label}, based_on: there is no {base!r:.80}. There are {names}.")
        else:
            whole = asdict(read_prompt(under))
            texts = whole.pop("texts")
            fields = {**whole["fields"], **found.get("fields", {})}
            found = {**whole, **found, "fields": fields}
    texts |= found.get("texts", {})
    asks = found.get("asks_for_boxes", False)
    wanted = [one for one in _ALLOWED_FIELDS if asks or not one.startswith("boxes")]
    # keys that are there but wrong have been reported, and are not missing
    there = {**found, **raw}
    parts = {
        name: _field_names(found.get(name)) | _field_names(raw.get(name))
        for name in ("texts", "fields")
    }
    lacking = {
        label: [one for one in ("name", "version", "system", "fields") if one not in there],
        f"{label}, texts": [one for one in wanted if one not in parts["texts"] | texts.keys()],
        f"{label}, fields": [one for one in QUESTION_TYPES if one not in parts["fields"]]
        if "fields" in there
        else [],
    }
    problems += [
        f"{where}: missing are {', '.join(names)}. Write them, or based_on: {WITHOUT_BOXES}."
        for where, names in lacking.items()
        if names
    ]
    raise_problems(problems)
    return with_hash(Prompt(**{**found, "id": path.stem, "texts": texts}))


def _field_names(value: Any) -> set[str]:
    return {str(name) for name in value} if isinstance(value, Mapping) else set()


def read_fixed_prompt(path: Path) -> Prompt:
    """Read a built-in wording that is not about cases; its id is the name of its file.

    The caller fills in its texts.
    """
    values: Any = read_untrusted_yaml(path)
    return with_hash(Prompt(id=path.stem, **values))


def with_hash(prompt: Prompt) -> Prompt:
    """Return a prompt with the digest of its whole content."""
    content = json.dumps({**asdict(prompt), "hash": ""}, sort_keys=True)
    return replace(prompt, hash=hashlib.sha256(content.encode()).hexdigest())


def prompt_text(prompt: Prompt) -> str:
    """Return a prompt as YAML text, to be edited."""
    values = asdict(prompt)
    del values["id"], values["hash"]
    return yaml.dump(values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)


class _Dumper(yaml.SafeDumper):
    """Dumper that writes multi-line texts as blocks and escapes unusual line ends."""


def _write_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    odd = not {"\r", "\x85", "\u2028", "\u2029"}.isdisjoint(value)
    style = '"' if odd else "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _write_text)


__all__ = [
    "built_in_prompts",
    "fill",
    "find_prompt",
    "list_prompts",
    "prompt_file",
    "prompt_text",
    "read_prompt",
]
