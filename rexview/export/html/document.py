"""The HTML file as it is written: its head, the cases one by one, the script at the end.

The file may do nothing but run its one script and use its one style sheet, whose hashes its policy
names, and show pictures that it holds itself: it asks nobody for anything.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator
from typing import Any, Final

from rexview.export.html.bundle import script, style
from rexview.export.html.packing import PackedImage
from rexview.export.html.pictures import CaseFilms
from rexview.export.html.texts import MINUTES, colours_css
from rexview.export.records import Content
from rexview.vocab import counted, moment

_NOT_A_DEVICE: Final = "Not a medical device. Not for clinical decisions."
_IN_SCRIPT: Final = {
    **{ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"},
    **{place: f"\\u{place:04x}" for place in (0x2028, 0x2029)},
}
"""Letters that could end an element of the page, as JSON may write them."""


def head_html(content: Content) -> str:
    """Return the file from its first letter to where the cases begin."""
    sheet = f"{style()}\n{colours_css(content)}"
    policy = (
        "default-src 'none'; "
        f"script-src '{_hash(script())}'; style-src '{_hash(sheet)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    title = html.escape(content.title)
    made = moment(content.made)
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
        f'<p class="quiet">{of}{counted(len(content.case_ids), "case")}, written {made}</p>'
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


def case_parts(number: int, films: CaseFilms) -> Iterator[str]:
    """Yield what the script reads of one case: what the viewer is given, and each film."""
    yield _data("application/json", f"viewer-{number}", as_json(films.viewer))
    for key, film in films.packed.items():
        yield _film(key, film)


def tail_html() -> str:
    """Return the file from where the cases end."""
    return f"</div></main>\n<script>{script()}</script>\n</body>\n</html>\n"


def as_json(value: Any) -> str:
    """Write JSON that ends no element of a page, whatever it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_IN_SCRIPT)


def _film(key: str, film: PackedImage) -> str:
    header = html.escape(as_json(film.header))
    return _data(
        "text/plain", key, base64.b64encode(film.data).decode(), f' data-header="{header}"'
    )


def _data(kind: str, name: str, text: str, attributes: str = "") -> str:
    return f'<script type="{kind}" id="{name}"{attributes}>{text}</script>\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
