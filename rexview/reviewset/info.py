"""``reviewset.yaml``: read, check and write. Problems carry the line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from rexview.bounded import MAX_YAML_BYTES, read_file, typed_path
from rexview.errors import FileRefused, RexviewError, Severity
from rexview.harm import load_harm
from rexview.protocol import Protocol
from rexview.reviewset.images import is_url
from rexview.reviewset.problems import ProblemList, listed, quoted
from rexview.reviewset.sources import INFO_FILE
from rexview.reviewset.yaml_lines import Lines, dump_yaml, parse_yaml
from rexview.rubric import load_rubric
from rexview.schema import Model, Reader, SetInfo
from rexview.vocab import LONGEST_ID, MODEL_KINDS

FORMAT: Final = 1
"""The version of the format that is read and written."""
KEYS: Final = {
    "format": "always `1`",
    "name": "shown as the title; required",
    "id": "names the set in a reviews database that several sets share; never change it",
    "description": "what it is, where it comes from",
    "notice": "shown on every page",
    "images": "base folder or address of the image paths; `images/` when absent",
    "models": "list of models",
    "readers": "list of readers",
    "rubric": "`rexecution` (when absent) or a YAML file in the folder",
    "protocol": "the rules of a reader study",
    "harm": "a YAML file in the folder that says which failures do most harm; built in when absent",
}
MODEL_KEYS: Final = {
    "id": "as in the tables; required",
    "name": "shown; the id when absent",
    "kind": "`generalist`, `medical`, `report` or `reader`",
    "draws_boxes": "`true` or `false`",
    "max_output_tokens": "the limit that was set, where answers do not say",
    "notes": "free text",
}
READER_KEYS: Final = {
    "id": "as in the tables; required",
    "name": "shown; the id when absent",
    "role": "such as `radiologist`",
}
PROTOCOL_KEYS: Final = {
    "report": "when a reader sees the report: `on_request` (when absent), `always` or `never`",
    "reveal": "when a reader learns the models' names: `at_end` (when absent) or `per_case`",
    "reveal_peers": "`true` when the scores of others are shown then too; `false` when absent",
    "second_reader_share": "part of the cases for a second reader, 0 to 1; `0.25` when absent",
    "disagreement": "difference from which scores are adjudicated, 1 to 4; `2` when absent",
    "seed": "a whole number that fixes the order of cases, not the letters; `1` when absent",
    "name_readers": "`true` when adjudicators may see whose scores are whose; `false` when absent",
    "choice_cases": "`true` when choice questions are scored, too; `false` when absent",
    "cover_names": "a list of more names to cover in answers: makers, families, short forms",
}
BUILT_IN_RUBRIC: Final = "rexecution"
_IMAGES: Final = "images/"
_EXAMPLE: Final = "Write a file that begins with `format: 1` and `name: …`; FORMAT.md shows one."


def _shown(value: Any) -> str:
    return "A list" if isinstance(value, list | dict) else quoted(value)


Entry = TypeVar("Entry", Model, Reader)


class _Reader:
    """Takes values out of one mapping of the file, reporting those that do not fit."""

    def __init__(
        self, raw: Mapping[str, Any], path: tuple[Any, ...], lines: Lines, problems: ProblemList
    ) -> None:
        self.raw, self.path, self._lines, self._problems = raw, path, lines, problems

    def report(self, severity: Severity, key: str, message: str, remedy: str) -> None:
        line = self._lines.of((*self.path, key))
        where = "".join(f"[{part}]" if isinstance(part, int) else part for part in self.path)
        field = f"{where}.{key}" if where else key
        self._problems.add(severity, INFO_FILE, message, remedy, row=line, field=field)

    def text(self, key: str, default: str | None = None, *, required: bool = False) -> str | None:
        value = self.raw.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            shown = value if isinstance(value, bool) else "a list or a date"
            message = f"Text is expected, not {str(shown).lower()}."
            self.report("error", key, message, 'Put the text in double quotes, as "…".')
            return default
        text = None if value is None else str(value).strip()
        if required and not text:
            self.report("error", key, f"There is no {key}.", f"Give a {key}.")
        return text or default

    def id(self, *, required: bool = False) -> str | None:
        text = self.text("id", required=required)
        if text is not None and len(text) > LONGEST_ID:
            message = f"{quoted(text)} is longer than {LONGEST_ID} characters."
            self.report("error", "id", message, "Use a shorter one in all tables.")
        return text

    def yes_no(self, key: str) -> bool | None:
        value = self.raw.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.report("error", key, f"{_shown(value)} is not true or false.", "Write true or false.")
        return None

    def count(self, key: str) -> int | None:
        value = self.raw.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        message = f"{_shown(value)} is not a whole number above 0."
        self.report("error", key, message, "Write a whole number above 0, or leave it out.")
        return None

    def word(self, key: str, words: Sequence[str]) -> str:
        """One of some words, the first when absent."""
        value = self.raw.get(key, words[0])
        if isinstance(value, str) and value.strip().lower() in words:
            return value.strip().lower()
        message = f"{_shown(value)} is not known here."
        self.report("error", key, message, f"Use {listed(words)}.")
        return words[0]

    def number(self, key: str, default: float, least: float, most: float) -> float:
        value = self.raw.get(key, default)
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if known and least <= value <= most:
            return float(value)
        message = f"{_shown(value)} is not a number from {least:g} to {most:g}."
        self.report("error", key, message, f"Write such a number, or leave out {key}.")
        return default

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty when absent; a single text is a list of one."""
        value = self.raw.get(key)
        given = [] if value is None else value if isinstance(value, list) else [value]
        known = (str, int, float)
        if all(isinstance(one, known) and not isinstance(one, bool) for one in given):
            return tuple(text for one in given if (text := str(one).strip()))
        self.report("error", key, "A list of texts is expected.", "Write it as [one, two].")
        return ()

    def within(self, key: str) -> _Reader:
        """The mapping under a key, empty when absent, with a reader of its own."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, Mapping):
            message = "Keys with values are expected."
            self.report("error", key, message, "Write them below it, one a line, indented.")
        inside = value if isinstance(value, Mapping) else {}
        return _Reader(inside, (*self.path, key), self._lines, self._problems)

    def unknown(self, known: Mapping[str, str]) -> dict[str, Any]:
        """Unknown keys, kept; one that looks like a slip of the pen is a warning."""
        found = {str(key): value for key, value in self.raw.items() if key not in known}
        for key in found:
            near = get_close_matches(key.lower(), known, n=1, cutoff=0.8)
            if near:
                message = f"The key {quoted(key)} is not known and is kept as it is."
                self.report("warning", key, message, f"Rename it if {near[0]} is meant.")
        return found

    def entries(self, key: str) -> list[_Reader]:
        """The mappings of a list, each with a reader of its own."""
        value = self.raw.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.report("error", key, "A list is expected.", "Begin each entry with a dash.")
            return []
        found = []
        for place, entry in enumerate(value):
            inside = _Reader(entry, (*self.path, key, place), self._lines, self._problems)
            if isinstance(entry, Mapping):
                found.append(inside)
            else:
                inside.report("error", "id", "The entry has no fields.", "Write it as `- id: …`.")
        return found


def read_info(folder: Path, problems: ProblemList) -> SetInfo | None:
    """Read ``reviewset.yaml``; None when there is nothing to go on."""
    path = folder / INFO_FILE
    if not path.is_file():
        missing = "There is a folder of that name." if path.is_dir() else "There is no such file."
        near = path.with_suffix(".yml").name
        remedy = f"Rename {near} to {INFO_FILE}." if (folder / near).is_file() else _EXAMPLE
        problems.add("error", INFO_FILE, missing, remedy)
        return None
    try:
        parsed = parse_yaml(read_file(path, MAX_YAML_BYTES), INFO_FILE, problems)
    except FileRefused as refusal:
        problems.add("error", INFO_FILE, str(refusal), _EXAMPLE)
        return None
    except OSError as error:
        message = f"The file cannot be read: {error.strerror or error}."
        problems.add("error", INFO_FILE, message, "See to it that the app may read it.")
        return None
    if parsed is None:
        return None
    raw, lines = parsed
    if not isinstance(raw, Mapping):
        problems.add("error", INFO_FILE, "The file has no keys, or is empty.", _EXAMPLE)
        return None
    reader = _Reader(raw, (), lines, problems)
    _check_format(reader)
    info = SetInfo(
        name=reader.text("name", required=True) or "",
        description=reader.text("description", "") or "",
        notice=reader.text("notice", "") or "",
        images=_images(reader),
        models=_unique([_model(entry) for entry in reader.entries("models")], "model", reader),
        readers=_unique([_reader(entry) for entry in reader.entries("readers")], "reader", reader),
        rubric=reader.text("rubric", BUILT_IN_RUBRIC) or "",
        id=reader.id(),
        protocol=_protocol(reader.within("protocol")),
        harm=reader.text("harm", "") or "",
        extra=reader.unknown(KEYS),
    )
    _check_rubric(folder, info, reader)
    _check_harm(folder, info, reader)
    return info


def _check_format(reader: _Reader) -> None:
    version = reader.raw.get("format")
    if version in (FORMAT, str(FORMAT)) and not isinstance(version, bool | float):
        return
    if version is None:
        reader.report(
            "error", "format", "The version of the format is not given.", "Write format: 1."
        )
    else:
        message = f"The set is in format {_shown(version)}; this version reads format {FORMAT}."
        reader.report("error", "format", message, "Write format: 1, or use a newer rexview.")


def _model(entry: _Reader) -> Model:
    kind = entry.text("kind")
    if kind is not None and kind.lower() not in MODEL_KINDS:
        remedy = f"Use {listed(MODEL_KINDS)}."
        entry.report("warning", "kind", f"The kind {quoted(kind)} is not a known one.", remedy)
    elif kind is not None:
        kind = kind.lower()
    model_id = entry.id(required=True) or ""
    return Model(
        id=model_id,
        name=entry.text("name") or model_id,
        kind=kind,
        draws_boxes=entry.yes_no("draws_boxes"),
        max_output_tokens=entry.count("max_output_tokens"),
        notes=entry.text("notes"),
        extra=entry.unknown(MODEL_KEYS),
    )


def _reader(entry: _Reader) -> Reader:
    reader_id = entry.id(required=True) or ""
    return Reader(
        id=reader_id,
        name=entry.text("name") or reader_id,
        role=entry.text("role"),
        extra=entry.unknown(READER_KEYS),
    )


def _protocol(entry: _Reader) -> Protocol:
    usual = Protocol()
    seed = entry.raw.get("seed", usual.seed)
    if not isinstance(seed, int) or isinstance(seed, bool):
        message = f"{_shown(seed)} is not a whole number."
        entry.report("error", "seed", message, "Write a whole number, or leave it out.")
        seed = usual.seed
    return Protocol(
        report=cast("Any", entry.word("report", ("on_request", "always", "never"))),
        reveal=cast("Any", entry.word("reveal", ("at_end", "per_case"))),
        reveal_peers=entry.yes_no("reveal_peers") or False,
        second_reader_share=entry.number("second_reader_share", usual.second_reader_share, 0, 1),
        disagreement=entry.number("disagreement", usual.disagreement, 1, 4),
        seed=seed,
        name_readers=entry.yes_no("name_readers") or False,
        choice_cases=entry.yes_no("choice_cases") or False,
        cover_names=entry.texts("cover_names"),
        extra=entry.unknown(PROTOCOL_KEYS),
    )


def _unique(entries: Sequence[Entry], what: str, reader: _Reader) -> tuple[Entry, ...]:
    ids = [entry.id for entry in entries]
    for twice in sorted({entry_id for entry_id in ids if entry_id and ids.count(entry_id) > 1}):
        message = f"The {what} {quoted(twice)} is declared twice."
        reader.report("error", f"{what}s", message, "Keep one of them.")
    return tuple(entries)


def _check_rubric(folder: Path, info: SetInfo, reader: _Reader) -> None:
    if info.rubric != BUILT_IN_RUBRIC:
        usual = f"Write {BUILT_IN_RUBRIC}, or name"
        _check_table(folder, info.rubric, reader, "rubric", "rubric", usual, load_rubric)


def _check_harm(folder: Path, info: SetInfo, reader: _Reader) -> None:
    if info.harm:
        usual = "Leave out harm, or name"
        _check_table(folder, info.harm, reader, "harm", "table of harm", usual, load_harm)


def _check_table(
    folder: Path,
    name: str,
    reader: _Reader,
    key: str,
    what: str,
    usual: str,
    load: Callable[[Path], object],
) -> None:
    """Report why a YAML file that the set brings cannot be used; nothing where it can."""
    remedy = f"{usual} a YAML file in this folder."
    try:
        path = typed_path(os.fspath(folder / name)).resolve()
    except FileRefused as refusal:
        reader.report("error", key, str(refusal), remedy)
        return
    if is_url(name) or not path.is_relative_to(folder.resolve()):
        reader.report("error", key, f"The {what} is not in this folder.", remedy)
    elif not path.is_file():
        reader.report("error", key, f"There is no file {quoted(name)}.", remedy)
    else:
        try:
            load(path)
        except (OSError, RexviewError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            message = f"{quoted(name)} cannot be used as a {what}: {reason}"
            reader.report("error", key, message, f"FORMAT.md shows what a {what} has.")


def _images(reader: _Reader) -> str:
    """The images base: an address, or a path that a folder can have."""
    images = reader.text("images", _IMAGES) or _IMAGES
    try:
        typed_path("" if is_url(images) else images)
    except FileRefused as refusal:
        reader.report("error", "images", str(refusal), "Name the folder that holds the images.")
        return _IMAGES
    return images


def dump_info(info: SetInfo, *, images: str) -> str:
    """Write ``reviewset.yaml`` with that images base.

    Fields without content are left out, unknown ones come last.
    """
    raw: dict[str, Any] = {
        "format": FORMAT,
        "name": info.name,
        "id": info.id or "",
        "description": info.description,
        "notice": info.notice,
        "images": images,
        "models": [_plain(model) for model in info.models],
        "readers": [_plain(reader) for reader in info.readers],
        "rubric": info.rubric,
        "protocol": _plain(info.protocol) if info.protocol != Protocol() else "",
        "harm": info.harm,
    }
    kept = {key: value for key, value in raw.items() if value not in ("", [])}
    return dump_yaml(kept | dict(info.extra))


def _plain(entry: Model | Reader | Protocol) -> dict[str, Any]:
    raw = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in vars(entry).items()
        if key != "extra" and value is not None and value != ()
    }
    return raw | dict(entry.extra)
