"""Edit the files of a review set: its ``models.yaml``, and copies of prompts.

A file is written only if it can be read again; otherwise all problems are reported and nothing
changes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import yaml

from rexview.errors import FileRefused, SettingsError
from rexview.models.asking.calibration import replace_file
from rexview.models.asking.model_cards import MODELS_FILE, read_cards
from rexview.models.asking.prompts import built_in_prompts, prompt_file, read_prompt
from rexview.models.backend import Card, Prompt
from rexview.untrusted_input import read_file

_MOST_BYTES: Final = 1_000_000
_HEAD: Final = "# What models can do, for this review set; it changes what is built in.\n"


def models_text(model: str, card: Card, folder: Path) -> str:
    """Return the text of a set's ``models.yaml`` to edit, with an entry for this model.

    Raises
    ------
    SettingsError
        The existing file cannot be read.
    """
    path = folder / MODELS_FILE
    try:
        return read_file(path, _MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError, FileRefused) as error:
        raise SettingsError(f"{MODELS_FILE} of the review set cannot be read: {error}") from None
    usual = Card(card.match)
    entry: dict[str, Any] = {"match": [model.lower()]}
    for one in fields(Card):
        value = getattr(card, one.name)
        if one.name in ("match", "key_variable") or value == getattr(usual, one.name):
            continue
        entry[one.name] = asdict(value) if one.name in ("boxes", "price") else value
    entry.setdefault("images", card.images)
    entry.setdefault("draws_boxes", card.draws_boxes)
    return _HEAD + yaml.safe_dump({"models": [entry]}, sort_keys=False, allow_unicode=True)


def save_models(text: str, folder: Path) -> None:
    """Write a set's ``models.yaml``.

    Raises
    ------
    SettingsError
        Names every problem; nothing is written.
    """
    label = f"{MODELS_FILE} of the review set"
    _read_as_file(text, MODELS_FILE, lambda path: read_cards(path, label, with_keys=False))
    _write(folder / MODELS_FILE, text)


def save_prompt(name: str, text: str, folder: Path) -> Prompt:
    """Write an edited copy of a prompt as ``prompts/NAME.yaml`` of a set, and return it.

    Raises
    ------
    SettingsError
        Names every problem; nothing is written.
    """
    path = prompt_file(name, folder)
    if name in built_in_prompts():
        raise SettingsError(f"{name} is built in: save the copy under another name.")
    found: Prompt = _read_as_file(text, path.name, read_prompt)
    _write(path, text)
    return found


def _read_as_file(text: str, name: str, read: Callable[[Path], Any]) -> Any:
    """Read a text as the file it will become, in a temporary folder."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / name
        path.write_text(text, encoding="utf-8")
        return read(path)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}.") from None
