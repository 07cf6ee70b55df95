"""Texts of pages that are not in the language of the server.

``python -m support.words.bare PAGE…``, from ``tests``, opens pages in the language that is none and
prints what stands outside its brackets and is neither the set's nor an exception, as JSON.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

from google.protobuf.message import Message

ASSETS = Path(__file__).parents[3] / "assets"
GUIDES, PUBLISHED = ASSETS / "guides", ASSETS / "published"

EXCEPTIONS = {
    # names, units, measures and their abbreviations
    *("rexview", "ReXVQA", "ReXrank", "ReXecution", "FORMAT.md", "models.yaml", "CSV", "PDF"),
    *("DICOM", "ClickHouse", "kappa", "MAD", "SD", "CI", "BCa", "min", "USD", "px", "cm", "mm"),
    *("Finding-level agreement", "Wilcoxon", "McNemar"),
    "mediastinal mass",  # a finding, as docs/translating.md says; others occur in texts of the set
    *(
        "PA",
        "AP",
        "YAML",
        "JSON",
        "ZIP",
        "PowerPoint",
        "HTML",
        "COCO",
        "OK",
        "Word",
        "BLEU",
        "streamlit",
    ),
}
_COLOUR = re.compile(r":[a-z]+\[([^\]]*)\]")
_MARKS = re.compile(r":material/\w+:|\\(?=[!-/:-@\[-`{-~])|\b(?:data-)?[0-9a-f]{32}\b")
_AROUND = " .,:;·“”…()[]*#—–-\"'0123456789"
_WORD = re.compile(r"[^\W\d_]{2,}")
_SHOWN_ATTRIBUTES = {"title", "alt", "placeholder", "aria-label", "data-label"}
_NO_TEXT = {
    *("key", "id", "element_id", "form_id", "group_id", "url", "url_path", "url_pathname"),
    *("query_string", "component_name", "columns", "page_script_hash", "page_name", "json"),
    *("spec", "icon", "default", "value", "raw_value", "raw_values", "set_value", "mime"),
    *("arrow_data", "file_uploader_id", "format", "type", "language", "extension", "hash"),
}
"""Fields of Streamlit's messages that nobody reads."""


class _Shown(HTMLParser):
    """Reads what of HTML is seen or read aloud."""

    def __init__(self):
        super().__init__()
        self.texts, self.labels, self.inside = [], [], []

    def handle_starttag(self, tag, attrs):
        self.inside.append(tag)
        self.labels += [value for name, value in attrs if name in _SHOWN_ATTRIBUTES and value]

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self.inside):
            self.texts.append(data)


def texts_in_html(html):
    """Return the labels of HTML, and all its text as one, a line for each part between tags."""
    reader = _Shown()
    reader.feed(html)
    reader.close()
    return [*reader.labels, "\n".join(reader.texts)]


def outside(text):
    """Return the parts of a text that stand outside the brackets."""
    parts, depth, part = [], 0, ""
    for character in text:
        if character == "⟦":
            depth += 1
            parts.append(part)
            part = ""
        elif character == "⟧":
            depth -= 1
        elif depth == 0:
            part += character
    return [one for one in [*parts, part] if one.strip()]


def bare(texts, own):
    """Return the texts that are not in the language; ``own`` are the words of the set, as one."""
    found = set()
    for text in texts:
        plain = _MARKS.sub("", _COLOUR.sub(r"\1", text)).replace("\u2060", "")
        for part in outside(plain):
            pieces = re.split(r"[()·,:;–|\n]| - ", part)
            if not all(_is_own(piece, own) for piece in pieces) and not _is_own(part, own):
                found.add(" ".join(part.split())[:160])
    return sorted(found)


def _is_own(part, own):
    """Whether a text has no word but exceptions, or is a text of the set."""
    for phrase in EXCEPTIONS:
        part = part.replace(phrase, "") if " " in phrase else part
    words = [word for word in _WORD.findall(part) if word not in EXCEPTIONS]
    return not words or " ".join(part.split()).strip(_AROUND).casefold() in own


def texts_of_page(app):
    """Return every text that a page of AppTest shows."""
    texts = []
    for node in app._tree:
        proto = getattr(node, "proto", None)
        if not isinstance(proto, Message):
            continue
        if node.type == "html":
            texts += texts_in_html(proto.body)
        elif node.type == "bidi_component":
            data = json.loads(proto.json) if proto.json else []
            texts += [text for html in _html_in(data) for text in texts_in_html(html)]
        else:
            texts += _strings(proto)
    return texts


def _html_in(value, key=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _html_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _html_in(inner, key)
    elif isinstance(value, str) and "<" in value:
        yield value


def _strings(message):
    for field, value in message.ListFields():
        if field.name in _NO_TEXT:
            continue
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from _strings(one)
            elif isinstance(one, str):
                yield one


def words_of_set(folder):
    """Return all texts of a review set, and the ids and names in it, as one."""
    kinds = ("*.jsonl", "*.json", "*.yaml", "*.csv")
    files = [file for kind in kinds for file in folder.rglob(kind)]
    texts = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            line = line.replace("\\n", " ").replace('\\"', '"')
            texts += [line, line.replace("_", " ")] if "_" in line else [line]
    for file in folder.glob("*.sqlite"):
        with closing(sqlite3.connect(file)) as reviews:
            rows = reviews.execute("SELECT person_name, value FROM history")
            texts += [word for row in rows for word in row if word]
    return " ".join(" ".join(texts).split()).casefold()


def words_of_guides():
    """Return the texts of the guides, which are files, as one."""
    return " ".join(" ".join(file.read_text("utf-8") for file in GUIDES.glob("*.md")).split())


def main(pages):
    """Print what is bare on each page of the demonstration."""
    from rexview import words

    sys.argv = ["app.py"]  # the pages are no settings
    words.select_language("x-pseudo")  # before anything is imported that has words
    from rexview.settings import DEMO_FOLDER
    from support.opened_app import run_page

    own = words_of_set(DEMO_FOLDER) + words_of_set(PUBLISHED) + words_of_guides().casefold()
    found = {}
    for page in pages:
        name, _, query = page.partition("?")
        given = dict(one.split("=", 1) for one in query.split("&") if one)
        app = run_page(name or None, **given)
        assert not app.exception, app.exception
        found[page] = bare(texts_of_page(app), own)
    print(json.dumps(found, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
