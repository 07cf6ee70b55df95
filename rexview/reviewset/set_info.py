"""Read, check and write ``reviewset.yaml``. Problems have line numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from rexview import untrusted_input
from rexview.addresses import is_address, parse_address, remote_set_address
from rexview.errors import AddressRefused, FileRefused, PathEscape, RexviewError, Severity
from rexview.harm import load_harm
from rexview.reviewset.image_paths import relative_path
from rexview.reviewset.problems import ProblemList, join_alternatives, quote_value
from rexview.reviewset.set_files import INFO_FILE
from rexview.rubric import load_rubric
from rexview.schema import Model, Protocol, Reader, SetInfo
from rexview.untrusted_input import MAX_YAML_BYTES, read_file, read_typed_path
from rexview.vocab import LONGEST_ID, MODEL_KINDS

# YAML read with the line of every key, and written so that it reads the same.

_REMEDY: Final = "Mind the indentation, and put texts with : or # in double quotes."


_ODD_BREAKS: Final = frozenset("\r\x85\u2028\u2029")
"""Characters that YAML takes for line breaks and folds, unless they are escaped."""


class YamlLines:
    """Line numbers, from 1, by the path of keys and list indices to a value."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._lines: dict[tuple[Any, ...], int] = {}
        self._walked: set[int] = set()
        self.twice: list[tuple[str, int]] = []
        if root is not None:
            self._walk(root, ())

    def of(self, path: tuple[Any, ...]) -> int | None:
        """Return the line of a key, or of its nearest existing parent."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path)

    def _walk(self, node: yaml.Node, path: tuple[Any, ...]) -> None:
        if id(node) in self._walked:  # an alias; following each could take forever
            return
        self._walked.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inside = (*path, str(key.value))
                line = key.start_mark.line + 1
                if inside in self._lines:
                    self.twice.append((str(key.value), line))
                self._lines[inside] = line
                self._walk(value, inside)
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                inside = (*path, place)
                self._lines[inside] = value.start_mark.line + 1
                self._walk(value, inside)


def parse_info_yaml(
    content: bytes, label: str, problems: ProblemList
) -> tuple[Any, YamlLines] | None:
    """Parse a YAML file; report syntax errors and repeated keys."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        message = "The file has letters that are not UTF-8."
        problems.add("error", label, message, "Save the file as UTF-8.", row=row)
        return None
    try:
        raw, root = untrusted_input.parse_untrusted_yaml(text)
    except FileRefused as refusal:
        problems.add("error", label, str(refusal), _REMEDY, row=refusal.line)
        return None
    lines = YamlLines(root)
    for key, line in lines.twice:
        message = f"The key {quote_value(key)} is there twice."
        problems.add("error", label, message, "Keep one of them.", row=line, field=key)
    return raw, lines


class _Dumper(yaml.SafeDumper):
    """Put texts with unusual line breaks in double quotes, where they are escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _ODD_BREAKS.intersection(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(value: Any) -> str:
    """Write plain data as YAML that reads the same, keys in their order."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


FORMAT_VERSION: Final = 1
"""The version of the format that is read and written."""
BUILT_IN_RUBRIC: Final = "rexecution"
_IMAGES: Final = "images/"
_EXAMPLE: Final = "Write a file that begins with `format: 1` and `name: …`; FORMAT.md shows one."


@dataclass(frozen=True)
class InfoKey:
    """A key of the file: its meaning, the kind of its value, and its default.

    ``kind`` names the method of :class:`_InfoReader` that reads it. Limits are inclusive; the first
    of ``vocabulary`` is the default.
    """

    meaning: str
    kind: str = "text"
    default: Any = None
    vocabulary: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    required: bool = False


SET_KEYS: Final = {
    "format": InfoKey("always `1`", "version"),
    "name": InfoKey("shown as the title; required", default="", required=True),
    "id": InfoKey(
        "names the set in a reviews database that several sets share; never change it", "id"
    ),
    "description": InfoKey("what it is, where it comes from", default=""),
    "notice": InfoKey("shown on every page", default=""),
    "images": InfoKey(
        "base folder or address of the image paths; `images/` when absent", "images", _IMAGES
    ),
    "models": InfoKey("list of models", "models"),
    "readers": InfoKey("list of readers", "readers"),
    "rubric": InfoKey(
        "`rexecution` (when absent) or a YAML file in the folder", default=BUILT_IN_RUBRIC
    ),
    "protocol": InfoKey("the rules of a reader study", "protocol"),
    "harm": InfoKey(
        "a YAML file in the folder that says which failures do most harm; built in when absent",
        default="",
    ),
}
MODEL_KEYS: Final = {
    "id": InfoKey("as in the tables; required", "id", "", required=True),
    "name": InfoKey("shown; the id when absent"),
    "kind": InfoKey("`generalist`, `medical`, `report` or `reader`", "model_kind"),
    "draws_boxes": InfoKey("`true` or `false`", "yes_no"),
    "max_output_tokens": InfoKey("the limit that was set, where answers do not say", "count"),
    "notes": InfoKey("free text"),
}
READER_KEYS: Final = {
    "id": InfoKey("as in the tables; required", "id", "", required=True),
    "name": InfoKey("shown; the id when absent"),
    "role": InfoKey("such as `radiologist`"),
}
PROTOCOL_KEYS: Final = {
    "report": InfoKey(
        "when a reader sees the report: `on_request` (when absent), `always` or `never`",
        "word",
        vocabulary=("on_request", "always", "never"),
    ),
    "reveal": InfoKey(
        "when a reader learns the models' names: `at_end` (when absent) or `per_case`",
        "word",
        vocabulary=("at_end", "per_case"),
    ),
    "reveal_peers": InfoKey(
        "`true` when the scores of others are shown then too; `false` when absent", "yes_no", False
    ),
    "second_reader_share": InfoKey(
        "part of the cases for a second reader, 0 to 1; `0.25` when absent", "number", 0.25, high=1
    ),
    "disagreement": InfoKey(
        "difference from which scores are adjudicated, 1 to 4; `2` when absent",
        "number",
        2.0,
        low=1,
        high=4,
    ),
    "seed": InfoKey(
        "a whole number that fixes the order of cases, not the letters; `1` when absent", "seed", 1
    ),
    "name_readers": InfoKey(
        "`true` when adjudicators may see whose scores are whose; `false` when absent",
        "yes_no",
        False,
    ),
    "choice_cases": InfoKey(
        "`true` when choice questions are scored, too; `false` when absent", "yes_no", False
    ),
    "reader_references": InfoKey(
        "`true` when readers may keep a report that they corrected as a reference; `false` when "
        "absent",
        "yes_no",
        False,
    ),
    "cover_names": InfoKey(
        "a list of more names to cover in answers: makers, families, short forms", "texts"
    ),
}


def _shorten(value: Any) -> str:
    return "A list" if isinstance(value, list | dict) else quote_value(value)


Named = TypeVar("Named", Model, Reader)


class _InfoReader:
    """One mapping of the file, whose values are read by their keys; invalid ones are reported.

    Each method reads the value of one kind of key.
    """

    def __init__(
        self, raw: Mapping[str, Any], path: tuple[Any, ...], lines: YamlLines, problems: ProblemList
    ) -> None:
        self.raw, self.path, self._lines, self._problems = raw, path, lines, problems

    def read(self, keys: Mapping[str, InfoKey]) -> dict[str, Any]:
        """Read all keys, and keep unknown ones in ``extra``; a likely misspelling is a warning."""
        found = {name: getattr(self, key.kind)(name, key) for name, key in keys.items()}
        extra = {str(name): value for name, value in self.raw.items() if name not in keys}
        for name in extra:
            near = get_close_matches(name.lower(), keys, n=1, cutoff=0.8)
            if near:
                message = f"The key {quote_value(name)} is not known and is kept as it is."
                self.report("warning", name, message, f"Rename it if {near[0]} is meant.")
        return found | {"extra": extra}

    def report(self, severity: Severity, name: str, message: str, remedy: str) -> None:
        line = self._lines.of((*self.path, name))
        where = "".join(f"[{part}]" if isinstance(part, int) else part for part in self.path)
        field = f"{where}.{name}" if where else name
        self._problems.add(severity, INFO_FILE, message, remedy, row=line, field=field)

    def text(self, name: str, key: InfoKey) -> Any:
        value = self.raw.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            shown = value if isinstance(value, bool) else "a list or a date"
            message = f"Text is expected, not {str(shown).lower()}."
            self.report("error", name, message, 'Put the text in double quotes, as "…".')
            return key.default
        text = None if value is None else str(value).strip()
        if key.required and not text:
            self.report("error", name, f"There is no {name}.", f"Give a {name}.")
        return text or key.default

    def id(self, name: str, key: InfoKey) -> Any:
        text = self.text(name, key)
        if text is not None and len(text) > LONGEST_ID:
            message = f"{quote_value(text)} is longer than {LONGEST_ID} characters."
            self.report("error", name, message, "Use a shorter one in all tables.")
        return text

    def images(self, name: str, key: InfoKey) -> str:
        """Return the images base: an address, or a path that a folder can have."""
        images: str = self.text(name, key)
        try:
            if is_address(images):
                return parse_address(images).text
            read_typed_path(images)
        except (FileRefused, AddressRefused) as refusal:
            self.report("error", name, str(refusal), "Name the folder that holds the images.")
            return _IMAGES
        return images

    def version(self, name: str, key: InfoKey) -> None:
        version = self.raw.get(name)
        if version in (FORMAT_VERSION, str(FORMAT_VERSION)) and not isinstance(
            version, bool | float
        ):
            return
        if version is None:
            message, remedy = "The version of the format is not given.", "Write format: 1."
        else:
            message = (
                f"The set is in format {_shorten(version)}; "
                f"this version reads format {FORMAT_VERSION}."
            )
            remedy = "Write format: 1, or use a newer rexview."
        self.report("error", name, message, remedy)

    def model_kind(self, name: str, key: InfoKey) -> str | None:
        kind: str | None = self.text(name, key)
        if kind is not None and kind.lower() not in MODEL_KINDS:
            message = f"The kind {quote_value(kind)} is not a known one."
            self.report("warning", name, message, f"Use {join_alternatives(MODEL_KINDS)}.")
            return kind
        return kind and kind.lower()

    def yes_no(self, name: str, key: InfoKey) -> bool | None:
        value = self.raw.get(name)
        if isinstance(value, bool):
            return value
        if value is not None:
            message = f"{_shorten(value)} is not true or false."
            self.report("error", name, message, "Write true or false.")
        return key.default  # type: ignore[no-any-return]

    def count(self, name: str, key: InfoKey) -> int | None:
        value = self.raw.get(name)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        message = f"{_shorten(value)} is not a whole number above 0."
        self.report("error", name, message, "Write a whole number above 0, or leave it out.")
        return None

    def seed(self, name: str, key: InfoKey) -> int:
        value = self.raw.get(name, key.default)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        message = f"{_shorten(value)} is not a whole number."
        self.report("error", name, message, "Write a whole number, or leave it out.")
        return key.default  # type: ignore[no-any-return]

    def word(self, name: str, key: InfoKey) -> str:
        value = self.raw.get(name, key.vocabulary[0])
        if isinstance(value, str) and value.strip().lower() in key.vocabulary:
            return value.strip().lower()
        message = f"{_shorten(value)} is not known here."
        self.report("error", name, message, f"Use {join_alternatives(key.vocabulary)}.")
        return key.vocabulary[0]

    def number(self, name: str, key: InfoKey) -> float:
        value = self.raw.get(name, key.default)
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if known and key.low <= value <= key.high:
            return float(value)
        message = f"{_shorten(value)} is not a number from {key.low:g} to {key.high:g}."
        self.report("error", name, message, f"Write such a number, or leave out {name}.")
        return float(key.default)

    def texts(self, name: str, key: InfoKey) -> tuple[str, ...]:
        """Return a list of texts, empty if absent; a single text is a list of one."""
        value = self.raw.get(name)
        given = [] if value is None else value if isinstance(value, list) else [value]
        known = (str, int, float)
        if all(isinstance(one, known) and not isinstance(one, bool) for one in given):
            return tuple(text for one in given if (text := str(one).strip()))
        self.report("error", name, "A list of texts is expected.", "Write it as [one, two].")
        return ()

    def protocol(self, name: str, key: InfoKey) -> Protocol:
        value = self.raw.get(name)
        if value is not None and not isinstance(value, Mapping):
            message = "Keys with values are expected."
            self.report("error", name, message, "Write them below it, one a line, indented.")
        inside = value if isinstance(value, Mapping) else {}
        entry = _InfoReader(inside, (*self.path, name), self._lines, self._problems)
        return Protocol(**entry.read(PROTOCOL_KEYS))

    def models(self, name: str, key: InfoKey) -> tuple[Model, ...]:
        return self._named(name, Model, MODEL_KEYS)

    def readers(self, name: str, key: InfoKey) -> tuple[Reader, ...]:
        return self._named(name, Reader, READER_KEYS)

    def _named(
        self, name: str, kind: type[Named], keys: Mapping[str, InfoKey]
    ) -> tuple[Named, ...]:
        """Read a list of entries, each with a unique id and a name to show."""
        value = self.raw.get(name)
        if value is not None and not isinstance(value, list):
            self.report("error", name, "A list is expected.", "Begin each entry with a dash.")
        found: list[Named] = []
        for place, raw in enumerate(value if isinstance(value, list) else []):
            entry = _InfoReader(raw, (*self.path, name, place), self._lines, self._problems)
            if not isinstance(raw, Mapping):
                entry.report("error", "id", "The entry has no fields.", "Write it as `- id: …`.")
                continue
            values = entry.read(keys)
            found.append(kind(**values | {"name": values["name"] or values["id"]}))
        ids = [one.id for one in found]
        for twice in sorted({one for one in ids if one and ids.count(one) > 1}):
            message = f"The {name.removesuffix('s')} {quote_value(twice)} is declared twice."
            self.report("error", name, message, "Keep one of them.")
        return tuple(found)


def read_info(folder: Path, problems: ProblemList) -> SetInfo | None:
    """Read ``reviewset.yaml``; return None if nothing in it is usable."""
    path = folder / INFO_FILE
    if not path.is_file():
        missing = "There is a folder of that name." if path.is_dir() else "There is no such file."
        near = path.with_suffix(".yml").name
        remedy = f"Rename {near} to {INFO_FILE}." if (folder / near).is_file() else _EXAMPLE
        problems.add("error", INFO_FILE, missing, remedy)
        return None
    try:
        parsed = parse_info_yaml(read_file(path, MAX_YAML_BYTES), INFO_FILE, problems)
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
    entry = _InfoReader(raw, (), lines, problems)
    values = entry.read(SET_KEYS)
    del values["format"]
    info = SetInfo(**values)
    if info.rubric != BUILT_IN_RUBRIC:
        usual = f"Write {BUILT_IN_RUBRIC}, or name"
        _check_table(folder, info.rubric, entry, "rubric", "rubric", usual, load_rubric)
    if info.harm:
        usual = "Leave out harm, or name"
        _check_table(folder, info.harm, entry, "harm", "table of harm", usual, load_harm)
    return info


def resolve_images_base(folder: Path, info: SetInfo, problems: ProblemList) -> SetInfo:
    """Return ``info`` with an address as images base if the set itself is remote."""
    address = remote_set_address(folder)
    if address is None or is_address(info.images):
        return info
    try:
        relative = relative_path(info.images or ".") if info.images.strip("./") else ""
    except PathEscape:
        message = "The set lies in a storage, and its images in a folder of a computer."
        remedy = "Name a folder beside the tables, or an address."
        problems.add("error", INFO_FILE, message, remedy, field="images")
        return info
    return replace(info, images=address.joined(relative).text if relative else address.text)


def _check_table(
    folder: Path,
    name: str,
    entry: _InfoReader,
    key: str,
    content: str,
    usual: str,
    load: Callable[[Path], object],
) -> None:
    """Report why a YAML file of the set cannot be used, if so."""
    remedy = f"{usual} a YAML file in this folder."
    try:
        path = read_typed_path(os.fspath(folder / name)).resolve()
    except FileRefused as refusal:
        entry.report("error", key, str(refusal), remedy)
        return
    if is_address(name) or not path.is_relative_to(folder.resolve()):
        entry.report("error", key, f"The {content} is not in this folder.", remedy)
    elif not path.is_file():
        entry.report("error", key, f"There is no file {quote_value(name)}.", remedy)
    else:
        try:
            load(path)
        except (OSError, RexviewError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            message = f"{quote_value(name)} cannot be used as a {content}: {reason}"
            entry.report("error", key, message, f"FORMAT.md shows what a {content} has.")


def dump_info(info: SetInfo, *, images: str) -> str:
    """Write ``reviewset.yaml`` with the given images base.

    Empty fields are left out; unknown ones come last.
    """
    raw: dict[str, Any] = {
        "format": FORMAT_VERSION,
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
