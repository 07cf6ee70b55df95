"""Find the card of a model: built-in cards, changed by users' own files.

``cards.yaml`` in this folder describes well-known models, each fact with its source. How they write
boxes is defined in :mod:`rexview.text.written_boxes`. A ``models.yaml`` next to ``rexview.yaml``
(the working directory), and one in the folder of a review set, change it: entries whose ``match``
fits a model's name replace the keys that they name. Within a file the first entry that names a key
counts; the set's file is applied last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from rexview.errors import SettingsError
from rexview.models.asking.token_estimate import IMAGE_RULES
from rexview.models.asking.yaml_values import (
    ValueReader,
    nested,
    number,
    optional,
    raise_problems,
    read_entry,
    read_mapping,
    text,
    word,
    yes_no,
)
from rexview.models.backend import Api, Card, Price
from rexview.schema import Model
from rexview.text.written_boxes import BoxForm, Convention, Corners, find_box_settings

MODELS_FILE: Final = "models.yaml"
_BUILT_IN: Final = Path(__file__).with_name("cards.yaml")
_MOST_TOKENS: Final = 100_000_000
_line_reader = text(400)
_side_reader = optional(number(16, 20_000, whole=True))
_token_reader = optional(number(1, _MOST_TOKENS, whole=True))


def _read_patterns(value: Any) -> tuple[str, ...]:
    patterns = [value] if isinstance(value, str) else value
    if not isinstance(patterns, list) or not patterns:
        raise ValueError("a pattern of model names such as gpt-5*, or a list of them")
    if not all(isinstance(one, str) and 0 < len(one) <= 200 for one in patterns):
        raise ValueError("patterns of at most 200 characters")
    return tuple(one.lower() for one in patterns)


def _read_variable(value: Any) -> str:
    if not isinstance(value, str) or not value.isidentifier() or not value.isascii():
        raise ValueError("the name of an environment variable, such as OPENAI_API_KEY")
    return value


def _read_key(value: Any) -> str:
    if not isinstance(value, str) or not value.isidentifier() or len(value) > 40:
        raise ValueError("a name of letters, such as box_2d")
    return value


def _read_image_rule(value: Any) -> Mapping[str, Any]:
    rule = value.get("rule") if isinstance(value, Mapping) else None
    if rule not in IMAGE_RULES:
        raise ValueError(f"rule: one of {', '.join(IMAGE_RULES)}")
    needed = IMAGE_RULES[rule]
    if value.keys() != {"rule", *needed}:
        raise ValueError(f"rule: {rule} with {', '.join(needed)}")
    read = number(0.001, 1_000_000)
    return {"rule": rule, **{name: read(value[name]) for name in needed}}


_BOXES: Final[dict[str, ValueReader]] = {
    "convention": word(*get_args(Convention)),
    "corners": word(*get_args(Corners)),
    "key": _read_key,
    "source": _line_reader,
    "calibrated": _line_reader,
}
_PRICE: Final[dict[str, ValueReader]] = {
    "input": number(0, 100_000),
    "output": number(0, 100_000),
    "cached": optional(number(0, 100_000)),
    "batch": optional(number(0, 1)),
    "date": lambda value: str(value)[:40],  # YAML reads 2026-11-23 as a date
    "source": _line_reader,
}
_READERS: Final[dict[str, ValueReader]] = {
    "match": _read_patterns,
    "name": _line_reader,
    "api": word(*get_args(Api)),
    "images": number(0, 100, whole=True),
    "all_views": yes_no,
    "priors": yes_no,
    "draws_boxes": yes_no,
    "pictures_back": yes_no,
    "structured": yes_no,
    "boxes": nested(_BOXES, BoxForm),
    "longest_side": _side_reader,
    "most_pixels": optional(number(256, 64_000_000, whole=True)),
    "square": yes_no,
    "image_format": word("png", "jpeg"),
    "jpeg_quality": number(1, 100, whole=True),
    "detail": optional(word("low", "high", "auto", "original")),
    "context_tokens": _token_reader,
    "max_output_tokens": _token_reader,
    "default_output_tokens": _token_reader,
    "reasoning_effort": optional(_line_reader),
    "image_tokens": optional(_read_image_rule),
    "price": optional(nested(_PRICE, Price, ("input", "output"))),
    "key_variable": _read_variable,
    "source": _line_reader,
}


@dataclass(frozen=True)
class _CardEntry:
    """One entry of a file: what it changes for models whose names match."""

    match: tuple[str, ...]
    values: Mapping[str, Any]

    def fits(self, model: str) -> bool:
        """Whether the name matches, or its part after the last slash."""
        name = model.lower().rstrip("/\\")
        names = {name, name.replace("\\", "/").rpartition("/")[2]}
        return any(fnmatchcase(one, pattern) for one in names for pattern in self.match)


def read_cards(path: Path, label: str = "", *, with_keys: bool = True) -> tuple[_CardEntry, ...]:
    """Read the entries of a file; none if the file does not exist.

    ``with_keys`` allows the variable of an API key to be named. A review set comes from others, who
    must not decide which secret of this machine is sent.

    Raises
    ------
    SettingsError
        Names every problem with its entry, its key, and what to write.
    """
    label = label or path.name
    raw = read_mapping(path, label)
    if raw is None:
        return ()
    entries = raw.get("models")
    if not isinstance(entries, list) or raw.keys() != {"models"}:
        raise SettingsError(f"{label}: write models: and a list of entries, each with match:.")
    readers = dict(_READERS)
    problems: list[str] = []
    found = []
    for count, one in enumerate(entries, start=1):
        where = f"{label}, entry {count}"
        if not isinstance(one, Mapping) or "match" not in one:
            problems.append(f"{where}: there is no match. Write match: and a model's name.")
            continue
        if not with_keys and "key_variable" in one:
            problems.append(
                f"{where}, key_variable: a review set cannot say which key is sent. Write it into "
                f"{MODELS_FILE} beside rexview.yaml."
            )
        values = read_entry(one, readers, where, problems)
        found.append(_CardEntry(values.pop("match", ()), values))
    raise_problems(problems)
    return tuple(found)


@cache
def _built_in() -> tuple[_CardEntry, ...]:
    return read_cards(_BUILT_IN)


def known_model_names() -> tuple[str, ...]:
    """Return the model names of the built-in cards, to choose from."""
    names = (entry.match[0].removesuffix("*") for entry in _built_in())
    return tuple(sorted({name for name in names if not set(name) & set("*?[")}))


def find_card(
    model: str,
    folder: Path | None = None,
    declared: Model | None = None,
    *,
    config: Path | None = None,
) -> Card:
    """Return what is known of a model's abilities.

    Parameters
    ----------
    model : str
        Its name on the server, or the folder of a local model.
    folder : Path, optional
        Folder of the review set, which may have a ``models.yaml``.
    declared : Model, optional
        Its entry in ``reviewset.yaml``: ``draws_boxes`` and ``max_output_tokens`` are respected.
    config : Path, optional
        The user's own file; by default ``models.yaml`` in the working directory.

    Raises
    ------
    SettingsError
        As :func:`read_cards`.
    """
    own = read_cards(config or Path(MODELS_FILE), f"{MODELS_FILE} beside rexview.yaml")
    of_set: tuple[_CardEntry, ...] = ()
    if folder:
        name = f"{MODELS_FILE} of the review set"
        of_set = read_cards(folder / MODELS_FILE, name, with_keys=False)
    card = Card((model.lower(),), name=model)
    known = [entry for entry in _built_in() if entry.fits(model)][:1]
    known = [replace(entry, values={**entry.values, **find_box_settings(model)}) for entry in known]
    for entries in (known, own, of_set):
        for entry in reversed(entries):
            if entry.fits(model):
                card = replace(card, **entry.values)
    if declared is not None and declared.draws_boxes is not None:
        card = replace(card, draws_boxes=declared.draws_boxes)
    if declared is not None and declared.max_output_tokens is not None:
        card = replace(card, max_output_tokens=declared.max_output_tokens)
    return card
