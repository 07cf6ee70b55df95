"""Whether a translation can be used: every text of it may stand wherever its English may."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from gettext import c2py
from pathlib import Path
from string import Formatter
from typing import Final

from rexview.words.catalogue import Catalogue, folded
from rexview.words.po_file import Entry, read_po

ACTS: Final = ("<", ">", "&", '"', "`", "\\", "](", "![", "://", "www.", "\n", "|", "$")
"""What acts in HTML, in an attribute or in Markdown: a text has no more of it than its English."""
_HIDDEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_PLURAL_FORMS: Final = re.compile(r"nplurals=([1-6]);\s*plural=([^;\n]{1,300});?")
_SHOWN: Final = 60
_MOST_TOLD: Final = 20


def checked(language: str, file: Path, template: Path) -> Catalogue:
    """Read a translation and look at every entry.

    An entry that is not translated yet, or marked ``fuzzy``, is shown in English; one that the
    template does not have (any more) is passed over.

    Raises
    ------
    ValueError
        Every entry that cannot be used, by its line, with what to do about it.
    """
    known = {entry.key: entry for entry in read_po(template)}
    entries = read_po(file)
    head = next((entry.texts.get(0, "") for entry in entries if not entry.key), "")
    forms, which = _plural_forms(file.name, head)
    wrong: list[str] = []
    texts: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        english = known.get(entry.key)
        if not entry.key or entry.fuzzy or english is None or not any(entry.texts.values()):
            continue
        wrong += [f"{_place(file.name, entry)}: {said}" for said in _faults(entry, english, forms)]
        texts[entry.key] = tuple(text for _, text in sorted(entry.texts.items()))
    if wrong:
        more = len(wrong) - _MOST_TOLD
        shown = wrong[:_MOST_TOLD] + ([f"and {more} more"] if more > 0 else [])
        raise ValueError("\n".join(shown))
    return Catalogue(language, texts, forms, which, asked_by_scripts(known.values()))


def asked_by_scripts(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the keys of what scripts ask for."""
    return frozenset(
        entry.key for entry in entries if any(name.endswith(".js") for name in entry.files)
    )


def _place(name: str, entry: Entry) -> str:
    shown = entry.id if len(entry.id) <= _SHOWN else f"{entry.id[:_SHOWN]}…"
    return f"{name}, line {entry.line}, “{shown}”"


def _plural_forms(name: str, head: str) -> tuple[int, tuple[int, ...]]:
    """Return how many forms a language has, and which goes with the numbers up to 199."""
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
        repeats = all(choose(n) == which[folded(n)] for n in numbers)
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


def _faults(entry: Entry, english: Entry, forms: int) -> Iterator[str]:
    """Yield what is wrong with the translation of one entry, and what to do about it."""
    if (entry.plural is None) != (english.plural is None) or entry.plural != english.plural:
        yield "its msgid_plural is not that of rexview.pot. Take the entry from there."
        return
    wanted = set(range(forms)) if english.plural is not None else {0}
    if set(entry.texts) != wanted or not all(entry.texts.values()):
        listed = ", ".join(f"msgstr[{number}]" for number in range(forms))
        form = listed if english.plural is not None else "one msgstr"
        yield f"it needs {form}, none of them empty."
        return
    sources = [english.id] if english.plural is None else [english.id, english.plural]
    allowed = set().union(*(_placeholders(one) for one in sources))
    needed = set.intersection(*(_placeholders(one) for one in sources))
    if english.plural is not None:
        needed -= {one for one in needed if one.startswith("{n")}  # “one case” is well said
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
        for part in ACTS:
            if text.count(part) > max(one.count(part) for one in sources):
                shown = "a line break" if part == "\n" else part
                yield f"it has {shown} where the English has none. {_REMEDY.get(part, _OUT)}"
        if _HIDDEN.search(text):
            yield "it has a character that is not seen. Type it anew."


_OUT: Final = "Take it out."
_REMEDY: Final = {'"': "Write quotation marks as “…” or „…“."}


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
