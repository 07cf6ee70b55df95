"""Export cases as one offline HTML file with the app's viewer and all remarks.

Films keep their depth, so that brightness and contrast work as in the app. A case takes at most
:data:`MAX_CASE_BYTES`; larger films are reduced, with a note next to them.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, Final

from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportContent
from rexview.export.html.case_articles import (
    MINUTES,
    case_html,
    colours_css,
    minutes_html,
    minutes_row,
)
from rexview.export.html.film_packing import CaseFilms, PackedImage, films
from rexview.vocab import english_count, time_text

# All JavaScript and styles of the HTML file, as one script and one style sheet.
#
# The pictures are shown by the app's own viewer. Its modules are read from
# ``rexview/ui/viewer/assets``. Three of them would ask a server; this package replaces them. Each
# module becomes, unchanged, a function that returns its exports and is called after its imports.

_ENTRY: Final = "export/html/assets/page.js"
_VIEWER: Final = "ui/viewer/assets"
_REPLACED_MODULES: Final = {
    f"{_VIEWER}/case_turning.js": "export/html/assets/case_turning.js",
    f"{_VIEWER}/image/pixels.js": "export/html/assets/pixels.js",
    f"{_VIEWER}/image/background.js": "export/html/assets/background.js",
}
"""Modules of the viewer that ask the server or the app's page, and their replacements."""
_STYLES: Final = (f"{_VIEWER}/viewer.css", "export/html/assets/page.css")
_IMPORT: Final = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"(\.[^"]+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\s+(\w+))", re.M)
_LEFT: Final = re.compile(r"^(?:import|export)\b|\bimport\.meta\b|\bimport\(", re.MULTILINE)
_ENDS_SCRIPT: Final = re.compile(r"</script|<!--", re.IGNORECASE)


@cache
def build_script(entry: str = _ENTRY) -> str:
    """Return the script of the file: a module below ``rexview`` with all its imports.

    Raises
    ------
    ValueError
        A module uses an unsupported form of import or export, or contains text that would end the
        script.
    """
    names: dict[str, str] = {}
    parts: list[str] = []
    _add_module(entry, names, parts, ())
    whole = '"use strict";\n' + "\n".join(parts)
    if found := _ENDS_SCRIPT.search(whole):
        raise ValueError(f"{found[0]} in the script would end its element")
    return whole


@cache
def build_style() -> str:
    """Return the style sheet of the file."""
    return "\n".join(_text(path) for path in _STYLES)


def _add_module(path: str, names: dict[str, str], parts: list[str], above: tuple[str, ...]) -> str:
    """Add a module after its imports; return the name of its exports."""
    if path in above:
        raise ValueError(f"{path} is imported by what it imports")
    if path in names:
        return names[path]
    taken: list[str] = []

    def take(found: re.Match[str]) -> str:
        wanted = normpath(join(dirname(path), found[2]))
        module = _add_module(_REPLACED_MODULES.get(wanted, wanted), names, parts, (*above, path))
        taken.append(f"const {{{found[1].strip().replace(' as ', ': ')}}} = {module};")
        return ""

    text = _IMPORT.sub(take, _text(path))
    exported = [found[1] for found in _EXPORT.finditer(text)]
    text = _EXPORT.sub("", text)
    if found := _LEFT.search(text):
        raise ValueError(f"{path} cannot be joined: {found[0]}")
    names[path] = name = f"module{len(names)}"
    given = f"return {{ {', '.join(exported)} }};"
    head = "\n".join(taken)
    parts.append(f"// {path}\nconst {name} = (() => {{\n{head}\n{text}\n{given}\n}})();")
    return name


def _text(path: str) -> str:
    return files("rexview").joinpath(path).read_text(encoding="utf-8")


# The HTML file: its head, the cases one by one, the script at the end.
#
# The file's policy allows only its one script and its one style sheet, by their hashes, and
# pictures inside the file: it requests nothing from outside.

_NOT_A_DEVICE: Final = "Not a medical device. Not for clinical decisions."
_IN_SCRIPT: Final = {
    **{ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"},
    **{place: f"\\u{place:04x}" for place in (0x2028, 0x2029)},
}
"""Characters that could end an element of the page, as JSON escapes."""


def file_head_html(content: ExportContent) -> str:
    """Return the file's start, up to the cases."""
    sheet = f"{build_style()}\n{colours_css(content)}"
    policy = (
        "default-src 'none'; "
        f"script-src '{_hash(build_script())}'; style-src '{_hash(sheet)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    title = html.escape(content.title)
    made = time_text(content.made)
    of = f"{html.escape(content.set_name)}, " if content.set_name != content.title else ""
    notice = f'<p id="notice" dir="auto">{html.escape(content.notice)}</p>'
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in (*content.notes, _NOT_A_DEVICE))
    minutes = f'<button type="button" data-open="{MINUTES}">Minutes</button>'
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{sheet}</style>\n</head>\n<body>\n"
        f'<header id="top"><h1 dir="auto">{title}</h1>'
        f'<p class="quiet">{of}{english_count(len(content.case_ids), "case")}, written {made}</p>'
        '<button type="button" id="theme" aria-label="Light or dark">◐</button>'
        '<button type="button" id="print">Print</button></header>\n'
        f"{notice if content.notice else ''}\n"
        "<noscript><p>This file needs JavaScript to show its pictures.</p></noscript>\n"
        '<main><nav aria-label="Cases">'
        f"{minutes if content.meeting else ''}"
        '<input id="search" type="search" placeholder="Search" aria-label="Search the cases">'
        f'<p id="found" class="quiet" role="status"></p><ol id="cases"></ol>'
        f'<details class="notes"><summary>About this file</summary>{notes}</details></nav>\n'
        '<div id="film"></div>\n<div id="texts" tabindex="0" role="region" aria-label="Texts">\n'
    )


def case_data_elements(number: int, films: CaseFilms) -> Iterator[str]:
    """Yield the data of one case for the script: the viewer's input, and each film."""
    yield _data("application/json", f"viewer-{number}", html_safe_json(films.viewer))
    for key, film in films.packed.items():
        yield _film(key, film)


def file_tail_html() -> str:
    """Return the file's end, after the cases."""
    return f"</div></main>\n<script>{build_script()}</script>\n</body>\n</html>\n"


def html_safe_json(value: Any) -> str:
    """Return JSON that cannot end an element of the page."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_IN_SCRIPT)


def _film(key: str, film: PackedImage) -> str:
    header = html.escape(html_safe_json(film.header))
    return _data(
        "text/plain", key, base64.b64encode(film.data).decode(), f' data-header="{header}"'
    )


def _data(kind: str, name: str, text: str, attributes: str = "") -> str:
    return f'<script type="{kind}" id="{name}"{attributes}>{text}</script>\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


MAX_CASE_BYTES: Final = 1_500_000
"""Limit for one case in the file, including its texts."""
_BESIDE: Final = 4_000
"""Allowance for the names of boxes and films."""


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write an export as one HTML file.

    Raises
    ------
    ExportCancelled, OSError
    """
    decided = []
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.write(file_head_html(content))
        for case in progress.over(content):
            texts = case_html(case, content)
            beside = len(texts.encode()) + _BESIDE
            made = films(case, content, MAX_CASE_BYTES - beside)
            file.write(texts)
            for part in case_data_elements(case.number, made):
                file.write(part)
            for reason in made.unread:
                progress.note(reason)
            decided.append(minutes_row(case, content))
            progress.check()
        file.write(minutes_html(content, decided))
        file.write(file_tail_html())


__all__ = ["MOST_BYTES", "write"]
