"""Find, read and check translations of the app's texts, which are PO files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from gettext import c2py
from pathlib import Path
from string import Formatter
from typing import Final

from rexview.errors import FileRefused
from rexview.untrusted_input import read_file
from rexview.words.catalogue import CONTEXT_SEPARATOR, ENGLISH, PSEUDO, Catalogue, plural_number

_MAX_BYTES: Final = 8_000_000
_LINE: Final = re.compile(
    r'(?:(msgctxt|msgid|msgid_plural|msgstr)(?:\[(\d)\])?\s+)?"((?:[^"\\]|\\.)*)"\s*'
)
_ESCAPED: Final = re.compile(r"\\(.)")
_ESCAPE_MEANINGS: Final = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass
class PoEntry:
    """One text: its English, its translation in one or more forms, the files that use it.

    ``line`` is the first line of its English in the file, from 1.
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
        """The key by which the text is found."""
        return self.id if self.context is None else self.context + CONTEXT_SEPARATOR + self.id


def read_po(path: Path) -> list[PoEntry]:
    """Read a PO file; its first entry, with an empty id, is the header.

    Raises
    ------
    ValueError
        It is not a PO file; the message gives the place and the reason.
    """
    try:
        lines = read_file(path, _MAX_BYTES).decode("utf-8-sig").splitlines()
    except FileRefused as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not UTF-8: save it so") from None
    return list(_entries(path.name, lines))


def _entries(name: str, lines: list[str]) -> Iterator[PoEntry]:
    entry, last = PoEntry(), ""
    for number, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if last.startswith("msgstr") and (not text or text.startswith(("#", "msgctxt", "msgid "))):
            yield entry
            entry, last = PoEntry(), ""
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
            _add(
                entry,
                last,
                _ESCAPED.sub(lambda one: _ESCAPE_MEANINGS.get(one[1], one[1]), found[3]),
            )
    if last:
        raise ValueError(f"{name} ends within an entry: a translation (msgstr) is missing")


def _add(entry: PoEntry, field_name: str, text: str) -> None:
    if field_name == "msgctxt":
        entry.context = (entry.context or "") + text
    elif field_name == "msgid":
        entry.id += text
    elif field_name == "msgid_plural":
        entry.plural = (entry.plural or "") + text
    else:
        form = int(field_name.removeprefix("msgstr") or 0)
        entry.texts[form] = entry.texts.get(form, "") + text


# Check that every translated text can safely replace its English.

SPECIAL_CHARACTERS: Final = (
    "<",
    ">",
    "&",
    '"',
    "`",
    "\\",
    "](",
    "![",
    "://",
    "www.",
    "\n",
    "|",
    "$",
)
"""Special characters of HTML, attributes or Markdown; a text has no more of them than its
English."""
_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_PLURAL_FORMS: Final = re.compile(r"nplurals=([1-6]);\s*plural=([^;\n]{1,300});?")
_SHOWN: Final = 60
_MAX_REPORTED: Final = 20


def read_checked_translation(language: str, file: Path) -> Catalogue:
    """Read a translation and check every entry.

    An entry that is not translated yet, or marked ``fuzzy``, is shown in English. One that the
    pages no longer use is never looked up.

    Raises
    ------
    ValueError
        Lists every invalid entry by its line, with the remedy.
    """
    entries = read_po(file)
    head = next((entry.texts.get(0, "") for entry in entries if not entry.key), "")
    forms, which = _plural_forms(file.name, head)
    wrong: list[str] = []
    texts: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if not entry.key or entry.fuzzy or not any(entry.texts.values()):
            continue
        wrong += [f"{_place(file.name, entry)}: {fault}" for fault in _faults(entry, forms)]
        texts[entry.key] = tuple(text for _, text in sorted(entry.texts.items()))
    if wrong:
        more = len(wrong) - _MAX_REPORTED
        shown = wrong[:_MAX_REPORTED] + ([f"and {more} more"] if more > 0 else [])
        raise ValueError("\n".join(shown))
    return Catalogue(language, texts, forms, which, script_text_keys(entries))


def script_text_keys(entries: Iterable[PoEntry]) -> frozenset[str]:
    """Return the keys of texts used by scripts."""
    return frozenset(
        entry.key for entry in entries if any(name.endswith(".js") for name in entry.files)
    )


def _place(name: str, entry: PoEntry) -> str:
    shown = entry.id if len(entry.id) <= _SHOWN else f"{entry.id[:_SHOWN]}…"
    return f"{name}, line {entry.line}, “{shown}”"


def _plural_forms(name: str, head: str) -> tuple[int, tuple[int, ...]]:
    """Return the number of plural forms, and the form for each number up to 199."""
    found = _PLURAL_FORMS.search(head)
    if found is None:
        raise ValueError(
            f"{name}: its first entry has no Plural-Forms. For German and languages like it write "
            "“Plural-Forms: nplurals=2; plural=(n != 1);\\n”."
        )
    forms = int(found[1])
    try:
        choose = c2py(found[2])
        which = tuple(choose(n) for n in range(200))
        numbers = [*range(200, 2400), 10_000, 1_000_000]
        repeats = all(choose(n) == which[plural_number(n)] for n in numbers)
    except (ValueError, ZeroDivisionError, OverflowError, RecursionError) as error:
        raise ValueError(f"{name}: its Plural-Forms cannot be read: {error}") from None
    if set(which) - set(range(forms)):
        raise ValueError(f"{name}: its Plural-Forms name a form that nplurals does not count.")
    if not repeats:
        raise ValueError(
            f"{name}: its Plural-Forms differ beyond 200 from those of the same last two digits. "
            "Leave out the form for full millions."
        )
    return forms, which


def _faults(entry: PoEntry, forms: int) -> Iterator[str]:
    """Yield each fault in the translation of one entry, with its remedy."""
    allowed = _placeholders(entry.id)
    needed = allowed
    if entry.plural is not None:
        needed = _without_number(allowed)  # “one case” needs no number
        plural = _placeholders(entry.plural)
        more = any(entry.plural.count(part) > entry.id.count(part) for part in SPECIAL_CHARACTERS)
        if more or _without_number(plural) != needed:
            yield "its msgid_plural is not that of the pages. Renew the file: docs/translating.md."
            return
        allowed = allowed | plural
    wanted = set(range(forms)) if entry.plural is not None else {0}
    if set(entry.texts) != wanted or not all(entry.texts.values()):
        listed = ", ".join(f"msgstr[{number}]" for number in range(forms))
        form = listed if entry.plural is not None else "one msgstr"
        yield f"it needs {form}, none of them empty."
        return
    for text in entry.texts.values():
        try:
            held = _placeholders(text)
        except ValueError as error:
            yield f"its braces do not match ({error}). Write placeholders as the English has them."
            continue
        if missing := needed - held:
            yield f"{', '.join(sorted(missing))} is missing. Write it as the English has it."
        if strange := held - allowed:
            yield f"{', '.join(sorted(strange))} is not in the English. Take it out."
        for part in SPECIAL_CHARACTERS:
            if text.count(part) > entry.id.count(part):
                shown = "a line break" if part == "\n" else part
                yield f"it has {shown} where the English has none. {_REMEDY.get(part, _OUT)}"
        if _HIDDEN.search(text):
            yield "it has a character that is not seen. Type it anew."


_OUT: Final = "Take it out."
_REMEDY: Final = {'"': "Write quotation marks as “…” or „…“."}


def _without_number(placeholders: set[str]) -> set[str]:
    return {one for one in placeholders if not one.startswith("{n")}


def _placeholders(text: str) -> set[str]:
    """Return the placeholders of a text as they are written.

    >>> sorted(_placeholders("{n:,} of {total} {{braces}}"))
    ['{n:,}', '{total}']
    """
    found = set()
    for _, name, spec, conversion in Formatter().parse(text):
        if name is not None:
            how = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
            found.add(f"{{{name}{how}}}")
    return found


# The existing translations: one file a language in ``assets/words/``.

TRANSLATIONS_FOLDER: Final = Path(__file__).resolve().parents[2] / "assets" / "words"
TRANSLATION_TEMPLATE: Final = TRANSLATIONS_FOLDER / "rexview.pot"
"""All texts of the pages, as ``python -m tools.words`` collects them; not committed."""
_OPENS, _CLOSES = "⟦", "⟧"


def available_languages() -> tuple[str, ...]:
    """Return the existing languages: English, and one per translation file."""
    return (ENGLISH, *sorted(file.stem for file in TRANSLATIONS_FOLDER.glob("*.po")))


@cache
def read_catalogue(language: str) -> Catalogue:
    """Return the catalogue of a language.

    Raises
    ------
    ValueError
        There is no such translation, or it is invalid: every reason, with file and entry.
    """
    if language == ENGLISH:
        return Catalogue(ENGLISH)
    if language == PSEUDO:
        return _pseudo_catalogue()
    known = available_languages()
    if language not in known:
        raise ValueError(f"there is no such translation; there are {', '.join(known)}")
    return read_checked_translation(language, TRANSLATIONS_FOLDER / f"{language}.po")


def _pseudo_catalogue() -> Catalogue:
    """Return the pseudo-language: all collected texts, in brackets.

    Raises
    ------
    ValueError
        The texts have not been collected.
    """
    if not TRANSLATION_TEMPLATE.is_file():
        raise ValueError("x-pseudo needs the texts of the pages: run python -m tools.words first")
    entries = [entry for entry in read_po(TRANSLATION_TEMPLATE) if entry.key]
    texts = {
        entry.key: tuple(
            f"{_OPENS}{form}{_CLOSES}" for form in (entry.id, entry.plural) if form is not None
        )
        for entry in entries
    }
    which = tuple(int(n != 1) for n in range(200))
    return Catalogue(PSEUDO, texts, 2, which, script_text_keys(entries))
