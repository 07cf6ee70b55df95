"""Collect all texts of the pages in ``assets/words/rexview.pot``: ``python -m tools.words``.

They are found in the code: arguments of ``tr``, ``trn``, ``trc``, ``counted`` and ``noun`` of
``rexview.words`` and ``web/components/words.js``. Only the language ``x-pseudo`` needs the file;
each translation holds the texts itself. ``python -m tools.words de`` starts the translation into a
language, or updates it to the current texts. New texts are empty, unused ones move to its end, and
slightly changed ones keep their translation, marked ``fuzzy`` until somebody has checked it.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import yaml
from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from rexview.words import nouns
from rexview.words.translations import TRANSLATION_TEMPLATE, TRANSLATIONS_FOLDER

ROOT: Final = Path(__file__).resolve().parents[1]
ENGLISH_ONLY: Final = ("rexview/cli/", "bench/", "rexview/doctor/")
"""Folders without texts of pages."""
_FORMS: Final = {"tr": (1,), "trn": (1, 2), "trc": ((1, "c"), 2)}
_IN_TEMPLATES: Final = {"parse_template_string": True}
"""Babel does not read the braces of `…${…}…` by default."""
_TEXTS: Final = {"tr": (0,), "trn": (0, 1), "trc": (0, 1), "countable": (0,)}
"""Positions of text arguments."""
_NOUNS: Final = {"counted": (1,), "noun": (1,)}
"""Positions of literal nouns; other nouns are in ``countable`` elsewhere."""
_FILES: Final = ("harm.yaml", "rubric.yaml")
"""Our files with displayed texts: all their texts with a space or a capital."""
_HEAD: Final = "Words of the pages of rexview. docs/translating.md says how they are translated."


class NotWrittenOut(ValueError):
    """A text that reading the code cannot find."""


def sources() -> list[Path]:
    """Return all files that may contain texts of pages, in order."""
    found = [*(ROOT / "rexview").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    found += (ROOT / "rexview" / "ui").rglob("*.js")
    found += [ROOT / "rexview" / name for name in _FILES]
    return sorted(path for path in found if not _name(path).startswith(ENGLISH_ONLY))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def words_of(path: Path) -> Iterator[tuple[str | tuple[str, str], str | None]]:
    """Yield the texts that a file uses: a text or its two forms, and its context.

    Raises
    ------
    NotWrittenOut
        An argument is not a literal text.
    """
    if path.suffix == ".js":
        script = io.BytesIO(path.read_bytes())
        for _, said, _, context in extract("javascript", script, _FORMS, options=_IN_TEMPLATES):
            yield said, context
        return
    if path.suffix == ".yaml":
        yield from ((text, None) for text in _texts_in(yaml.safe_load(path.read_bytes())))
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "rexview.words"
        for alias in node.names
    }
    if path.parent.name == "words":
        imported = {"tr"}
    # Babel's reader of Python ignores the braces of f-strings
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name in imported and name in {**_TEXTS, **_NOUNS}:
            yield from _asked(path, name, call)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, str):
        yield value


def _asked(
    path: Path, name: str, call: ast.Call
) -> Iterator[tuple[str | tuple[str, str], str | None]]:
    at = {**_TEXTS, **_NOUNS}[name]
    texts = [call.args[one] for one in at if one < len(call.args)]
    values = [one.value for one in texts if isinstance(one, ast.Constant)]
    said = [one for one in values if isinstance(one, str)]
    if len(said) != len(at):
        if name in _NOUNS:
            return
        raise NotWrittenOut(f"{_name(path)}, line {call.lineno}: {name} needs texts written out.")
    if name == "tr":
        yield said[0], None
    elif name == "trc":
        yield said[1], said[0]
    elif name == "trn":
        yield (said[0], said[1]), None
    if name in ("counted", "countable"):
        yield (f"{{n:,}} {said[0]}", f"{{n:,}} {nouns(said[0])}"), None
    if name in ("noun", "countable"):
        yield (said[0], nouns(said[0])), None


def gathered() -> Catalog:
    """Return the catalogue of all texts of the pages."""
    catalogue = Catalog(charset="utf-8", fuzzy=False)
    catalogue.header_comment = f"# {_HEAD}"
    for path in sources():
        for said, context in words_of(path):
            catalogue.add(said, locations=[(_name(path), None)], context=context)
    return catalogue


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as a file; equal texts give equal bytes."""
    out = io.BytesIO()
    write_po(out, catalogue, width=100, sort_by_file=True, omit_header=catalogue.locale is None)
    if catalogue.locale is not None:
        return out.getvalue()
    head = f'# {_HEAD}\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    return head.encode() + out.getvalue()


def translate(language: str) -> Path:
    """Start a translation, or update it to the current texts; return its file.

    Raises
    ------
    ValueError
        The language does not exist.
    """
    try:
        locale = Locale.parse(language, sep="-")
    except UnknownLocaleError as error:
        raise ValueError(str(error)) from None
    file = TRANSLATIONS_FOLDER / f"{language}.po"
    if file.exists():
        catalogue = read_po(io.BytesIO(file.read_bytes()), locale=locale)
        catalogue.update(gathered(), no_fuzzy_matching=False)
    else:
        catalogue = gathered()
        catalogue.locale = locale
        catalogue.project, catalogue.fuzzy = "rexview", False
    file.write_bytes(written(catalogue))
    return file


def renew_template() -> Path:
    """Write the file of all texts unless it is newer than what they come from; return it."""
    newest = max(path.stat().st_mtime for path in (*sources(), Path(__file__)))
    if not TRANSLATION_TEMPLATE.is_file() or TRANSLATION_TEMPLATE.stat().st_mtime < newest:
        TRANSLATIONS_FOLDER.mkdir(exist_ok=True)
        with NamedTemporaryFile(dir=TRANSLATIONS_FOLDER, prefix=".", delete=False) as file:
            file.write(written(gathered()))
        Path(file.name).replace(TRANSLATION_TEMPLATE)
    return TRANSLATION_TEMPLATE


def main(arguments: list[str] | None = None) -> int:
    """Update the file of all texts, then the named translations."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.words", description="Gather the texts of the pages."
    )
    meaning = "a language, as BCP 47 names it (de, pt-BR): its translation is begun or renewed"
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=meaning)
    languages = parser.parse_args(arguments).languages
    print(_name(renew_template()))
    for language in languages:
        try:
            print(_name(translate(language)))
        except ValueError as error:
            print(f"{language}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
