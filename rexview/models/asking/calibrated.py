"""What a calibration found, written into a person's own ``models.yaml``."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import yaml

from rexview.errors import SettingsError
from rexview.models.asking.boxes.phantom import Calibration
from rexview.models.asking.cards import FILE_NAME, read_cards
from rexview.models.prompt import Prompt
from rexview.written_boxes.forms import BoxForm

_HEAD = re.compile(r"^models:[ \t]*(?:#.*)?$", re.MULTILINE)
_FIRST = re.compile(r"^([ ]*)-(?=\s)", re.MULTILINE)


def calibrated_form(found: Calibration, prompt: Prompt, today: date) -> BoxForm | None:
    """Return the form that was found, with date and prompt; None where none fits."""
    if found.form is None:
        return None
    how = f"{today.isoformat()}, prompt {prompt.id} {prompt.hash[:12]}, IoU {found.overlap:.2f}"
    return replace(found.form, source="phantom with squares at known places", calibrated=how)


def save_form(model: str, form: BoxForm, path: Path | None = None) -> Path:
    """Write how a model counts as the first entry of a file; all else in it stays as it is.

    Raises
    ------
    SettingsError
        The file cannot be read or written, or has a form that nothing can be put into.
    """
    path = path or Path(FILE_NAME)
    read_cards(path)
    entry = {"match": [_literal(model)], "draws_boxes": True, "boxes": asdict(form)}
    lines = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000)
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else "models:\n"
        after = _with_entry(before, lines)
        if after is None:
            raise SettingsError(f"{path.name}: write this into it by hand:\n{lines}")
        replace_file(path, after)
        try:
            read_cards(path)
        except SettingsError:  # what was there did not take it
            replace_file(path, before)
            raise SettingsError(f"{path.name}: write this into it by hand:\n{lines}") from None
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be written: {error.strerror}.") from None
    return path


def _literal(model: str) -> str:
    """Return a pattern that fits this name only."""
    return re.sub(r"([*?\[])", r"[\1]", model.lower())


def _with_entry(before: str, lines: str) -> str | None:
    head = _HEAD.search(before)
    if head is None:
        return None
    first = _FIRST.search(before, head.end())
    indent = first[1] if first else ""
    entry = "".join(f"{indent}{line}\n" for line in lines.splitlines())
    rest = before[head.end() :].removeprefix("\n")
    return f"{before[: head.end()]}\n{entry}{rest}"


def replace_file(path: Path, content: str) -> None:
    """Write a file as a whole, or not at all."""
    descriptor, part = tempfile.mkstemp(dir=path.resolve().parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        if path.exists():
            Path(part).chmod(path.stat().st_mode & 0o777)
        Path(part).replace(path.resolve())
    finally:
        Path(part).unlink(missing_ok=True)
