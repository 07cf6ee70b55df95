"""Reading of PO files, the format of GNU gettext: what a translation holds, entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rexview.errors import FileRefused
from rexview.untrusted_input import read_file
from rexview.words.catalogue import CONTEXT_ENDS

_MOST_BYTES: Final = 8_000_000
_LINE: Final = re.compile(
    r'(?:(msgctxt|msgid|msgid_plural|msgstr)(?:\[(\d)\])?\s+)?"((?:[^"\\]|\\.)*)"\s*'
)
_ESCAPED: Final = re.compile(r"\\(.)")
_MEANT: Final = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass
class Entry:
    """One text: its English, its translation in one or more forms, where it is asked for.

    ``line`` is where its English begins in the file, from 1.
    """

    line: int = 0
    context: str | None = None
    id: str = ""
    plural: str | None = None
    texts: dict[int, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    fuzzy: bool = False

    @property
    def key(self) -> str:
        """What the text is found by."""
        return self.id if self.context is None else self.context + CONTEXT_ENDS + self.id


def read_po(path: Path) -> list[Entry]:
    """Read a file; its first entry, with an empty id, has what is said of the whole.

    Raises
    ------
    ValueError
        It is no such file: where, and why.
    """
    try:
        lines = read_file(path, _MOST_BYTES).decode("utf-8-sig").splitlines()
    except FileRefused as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not UTF-8: save it so") from None
    return list(_entries(path.name, lines))


def _entries(name: str, lines: list[str]) -> Iterator[Entry]:
    entry, last = Entry(), ""
    for number, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if last.startswith("msgstr") and (not text or text.startswith(("#", "msgctxt", "msgid "))):
            yield entry
            entry, last = Entry(), ""
        if text.startswith("#:"):
            entry.files += text[2:].split()
        elif text.startswith("#,"):
            entry.fuzzy = entry.fuzzy or "fuzzy" in text
        elif text and not text.startswith("#"):
            found = _LINE.fullmatch(text)
            if found is None or not (found[1] or last):
                raise ValueError(f"{name}, line {number}: no line of a PO file: {text[:40]}")
            last = found[1] + (found[2] or "") if found[1] else last
            entry.line = entry.line or number
            _add(entry, last, _ESCAPED.sub(lambda one: _MEANT.get(one[1], one[1]), found[3]))
    if last:
        raise ValueError(f"{name} ends within an entry: a translation (msgstr) is missing")


def _add(entry: Entry, field_name: str, text: str) -> None:
    if field_name == "msgctxt":
        entry.context = (entry.context or "") + text
    elif field_name == "msgid":
        entry.id += text
    elif field_name == "msgid_plural":
        entry.plural = (entry.plural or "") + text
    else:
        form = int(field_name.removeprefix("msgstr") or 0)
        entry.texts[form] = entry.texts.get(form, "") + text
