"""Read untrusted input within limits: typed paths, files, YAML."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any, Final

import yaml

from rexview.errors import FileRefused

MAX_YAML_BYTES: Final = 1_000_000
MAX_YAML_VALUES: Final = 50_000
"""Keys, values, lists and mappings, each counted as often as aliases repeat it."""
MAX_YAML_DEPTH: Final = 30
_LONGEST_NUMBER: Final = 64
_LONGEST_PATH: Final = 4000
_LONGEST_NAME: Final = 255
_LONGEST_STEM: Final = 150
_LONGEST_ENDING: Final = 10
_WINDOWS_DEVICES: Final = frozenset(
    ("CON", "PRN", "AUX", "NUL", *(f"{name}{n}" for name in ("COM", "LPT") for n in range(10)))
)


def read_typed_path(text: str) -> Path:
    """Return the path that a user typed; ``~`` is the home folder. It need not exist.

    Raises
    ------
    FileRefused
        No file can have that path, or ``~name`` names no user of this machine.
    """
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise FileRefused("The path holds a control character.")
    try:
        if len(os.fsencode(text)) > _LONGEST_PATH or any(
            len(os.fsencode(name)) > _LONGEST_NAME for name in Path(text).parts
        ):
            raise FileRefused("The path is too long.")
        path = Path(text).expanduser()
        path.resolve()
    except UnicodeError:
        raise FileRefused("The path holds letters that no path can have.") from None
    except RuntimeError:  # Path.expanduser and, for links that form a loop, Path.resolve
        known = not text.startswith("~")
        fault = "The path is a link to itself" if known else "There is no user of that name"
        raise FileRefused(f"{fault}; write the whole path.") from None
    except (OSError, ValueError):
        raise FileRefused("The path cannot be used on this machine.") from None
    return path


def safe_file_name(text: str) -> str:
    """Return a name for an upload that every system accepts and that stays in its folder.

    Letters, digits, dots, hyphens and spaces stay; a long name is cut before its ending.
    """
    last = re.split(r"[/\\]", text)[-1]
    plain = re.sub(r"[^\w.\- ]", "_", last).strip(". ") or "upload"
    stem, dot, ending = plain.rpartition(".")
    if not stem or len(ending) > _LONGEST_ENDING:
        stem, dot, ending = plain, "", ""
    if stem.partition(".")[0].strip().upper() in _WINDOWS_DEVICES:
        stem = f"_{stem}"
    kept = stem.encode("utf-8", "replace")[:_LONGEST_STEM].decode("utf-8", "ignore")
    return kept + dot + ending.encode("utf-8", "replace").decode()


def printable_text(text: str) -> str:
    """Return a text without terminal control characters and characters that no file can store."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def check_regular_file(path: Path, most_bytes: int) -> None:
    """Refuse anything but a file of limited size: folders, devices, pipes, sockets.

    Raises
    ------
    FileRefused
        With the reason. The message names no path.
    OSError
        There is no such file, or it is inaccessible.
    """
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise FileRefused("This is a folder, not a file.")
    if not stat.S_ISREG(found.st_mode):  # it may never end, or never start
        raise FileRefused("This is a device or a pipe, not a file.")
    if found.st_size > most_bytes:
        raise FileRefused(f"The file is larger than {_size(most_bytes)}.")


def read_file(path: Path, most_bytes: int) -> bytes:
    """Read a file of at most ``most_bytes``.

    Raises
    ------
    FileRefused, OSError
        As :func:`check_regular_file`.
    """
    check_regular_file(path, most_bytes)
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:  # it grew, or its size was not given (/proc)
        raise FileRefused(f"The file is larger than {_size(most_bytes)}.")
    return content


def _size(count: int) -> str:
    return f"{count / 1e9:g} GB" if count >= 1e9 else f"{count / 1e6:g} MB"


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, stopped if a document gets too large or too deep."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._count = 0
        self._depth = 0
        self._sizes: dict[str, int | None] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Count the values of a node before anything is made from it."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        anchor = event.anchor
        if isinstance(event, yaml.AliasEvent):
            size = self._sizes.get(anchor, 1)
            if size is None:
                raise _limit_error("refers to itself", event)
            self._add(size, event)
            return super().compose_node(parent, index)
        before = self._count
        self._add(1, event)
        self._depth += 1
        if self._depth > MAX_YAML_DEPTH:
            raise _limit_error("is nested too deeply", event)
        if anchor is not None:
            self._sizes[anchor] = None  # still open
        node = super().compose_node(parent, index)
        if anchor is not None:
            self._sizes[anchor] = self._count - before
        self._depth -= 1
        return node

    def _add(self, count: int, event: Any) -> None:
        self._count += count
        if self._count > MAX_YAML_VALUES:
            raise _limit_error(f"stands for more than {MAX_YAML_VALUES:,} values", event)

    def number(self, node: yaml.ScalarNode) -> Any:
        """Make a number, unless it has so many digits that this takes forever."""
        if len(node.value) > _LONGEST_NUMBER:
            raise yaml.constructor.ConstructorError(
                None, None, "a number with too many digits", node.start_mark
            )
        kind = node.tag.rpartition(":")[2]
        return self.construct_yaml_int(node) if kind == "int" else self.construct_yaml_float(node)


for _tag in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.number)


def _limit_error(fault: str, event: Any) -> FileRefused:
    return FileRefused(f"The file {fault}.", line=event.start_mark.line + 1)


def parse_untrusted_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Parse a YAML document.

    Parameters
    ----------
    text : str
        Text of any origin.

    Returns
    -------
    tuple
        Its plain values, and its nodes, which have line numbers; both None for an empty document.

    Raises
    ------
    FileRefused
        It is larger than :data:`MAX_YAML_BYTES`, deeper than :data:`MAX_YAML_DEPTH`, has more than
        :data:`MAX_YAML_VALUES` values, or is not YAML. The error has the line, if known.
    """
    if len(text) > MAX_YAML_BYTES:
        raise FileRefused(f"The file is larger than {_size(MAX_YAML_BYTES)}.")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        value = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        position = error.problem_mark
        reason = error.problem or "it cannot be read"
        raise FileRefused(
            f"The file is not YAML: {reason}.", line=position.line + 1 if position else None
        ) from None
    except yaml.reader.ReaderError as error:
        raise FileRefused(
            "The file has a control character that YAML does not allow.",
            line=text.count("\n", 0, error.position) + 1,
        ) from None
    except FileRefused:
        raise
    except Exception:  # a tag like !!bool on another word makes PyYAML raise anything
        raise FileRefused(
            "The file is not YAML: a value is not what its tag or form says."
        ) from None
    return value, node


def read_untrusted_yaml(path: Path) -> Any:
    """Read a YAML file of plain values.

    Raises
    ------
    FileRefused
        As :func:`read_file` and :func:`parse_untrusted_yaml`, or it is not UTF-8.
    OSError
        It is missing or cannot be read.
    """
    try:
        text = read_file(path, MAX_YAML_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileRefused("The file has letters that are not UTF-8.") from None
    return parse_untrusted_yaml(text)[0]
