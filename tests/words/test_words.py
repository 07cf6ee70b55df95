"""What is asked for is there in the language of the server, and all of it stands in one file."""

import json
import re
import subprocess
import sys

import pytest
from support import ROOT

from rexview import words
from rexview.words import translations
from rexview.words.catalogue import PSEUDO, Catalogue
from rexview.words.translations import TRANSLATION_TEMPLATE
from tools import words as gathering

pytestmark = pytest.mark.usefixtures("gathered_words")


def test_every_text_is_gathered(gathered_words):
    assert gathered_words == TRANSLATION_TEMPLATE
    assert TRANSLATION_TEMPLATE.read_bytes() == gathering.written(gathering.gathered())


def test_the_language_that_is_none_needs_the_texts(monkeypatch, tmp_path):
    monkeypatch.setattr(translations, "TRANSLATION_TEMPLATE", tmp_path / "none.pot")
    with pytest.raises(ValueError, match="run python -m tools"):
        translations.read_catalogue.__wrapped__(PSEUDO)


def test_what_stands_in_a_template_of_a_script_is_found(tmp_path):
    script = tmp_path / "x.js"
    script.write_text('x = `${n} ${trn("{n} case", "{n} cases", n)}: ${tr("so far")}`;\n')
    assert [one for one, _ in gathering.words_of(script)] == [("{n} case", "{n} cases"), "so far"]


_ASKED = re.compile(r'\btrn?\(\s*"((?:[^"\\]|\\.)*)"|\btrc\(\s*"[^"]*",\s*"((?:[^"\\]|\\.)*)"')


def test_every_call_in_a_script_is_found():
    """Babel passes over what it does not understand, such as a template in a template."""
    lost = []
    for path in gathering.sources():
        if path.suffix != ".js" or path.name == "words.js":  # whose comments show how it is done
            continue
        found = set()
        for text, _ in gathering.words_of(path):
            found.update([text] if isinstance(text, str) else text)
        asked = (m[1] or m[2] for m in _ASKED.finditer(path.read_text(encoding="utf-8")))
        lost += [f"{path.name}: {one}" for one in asked if json.loads(f'"{one}"') not in found]
    assert lost == []


def said(script, **environment):
    """Return what a process of its own says: words are those of one language a process."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "PYTHONPATH": str(ROOT), **environment},
    )
    return done.stdout.splitlines()


GERMAN = """
msgid ""
msgstr ""
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#: rexview/ui/x.py
msgid "Guide"
msgstr "Anleitung"

#: rexview/ui/x.js rexview/ui/x.py
msgctxt "pages"
msgid "Reading"
msgstr "Befunden"

#: rexview/ui/x.js
msgid "{n:,} case"
msgid_plural "{n:,} cases"
msgstr[0] "ein Fall"
msgstr[1] "{n:,} Fälle"
"""
ASK = """
from pathlib import Path
from rexview import words
from rexview.words import translations
from rexview.words import translations as translations
translations.TRANSLATIONS_FOLDER = Path({folder!r})
words.select_language("de")
print(words.tr("Guide"), words.trc("pages", "Reading"), words.tr("Reading"))
print(words.counted(1, "case"), words.counted(2, "case"), words.counted(1_000_001, "case"))
print(sorted(words.script_texts()["texts"]))
"""


def test_a_translation_is_spoken(tmp_path):
    (tmp_path / "de.po").write_text(GERMAN, encoding="utf-8")
    first, second, on_pages = said(ASK.format(folder=str(tmp_path)), PYTHONIOENCODING="utf-8")
    assert first == "Anleitung Befunden Reading"
    assert second == "ein Fall 2 Fälle 1,000,001 Fälle"
    assert on_pages == r"['pages\x04Reading', '{n:,} case']"


def test_words_that_were_asked_for_keep_their_language():
    script = "from rexview import words\nwords.tr('Guide')\n"
    told = "try: words.select_language('x-pseudo')\nexcept RuntimeError as error: print(error)"
    assert said(script + told) == ["Words were asked for before the language was known."]


@pytest.mark.parametrize("module", ["rexview.settings", "rexview.ui.web.server.language"])
def test_nothing_has_words_before_the_language_is_known(module):
    script = (
        f"import {module}, rexview.words as words;"
        "words.select_language('x-pseudo'); print(words.current_language())"
    )
    assert said(script) == ["x-pseudo"]


def test_the_language_is_a_setting(tmp_path):
    from rexview.errors import SettingsError
    from rexview.settings import load_settings

    none = tmp_path / "none.yaml"
    assert load_settings([], {}, none).language == "en"
    assert load_settings([], {"REXVIEW_LANGUAGE": "x-pseudo"}, none).language == "x-pseudo"
    for strange in ("xx", "../de", "/etc/passwd", "de\0"):
        with pytest.raises(SettingsError, match="there is no such translation; there are en"):
            load_settings([], {"REXVIEW_LANGUAGE": strange}, none)


def test_the_commands_stay_english(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rexview", "check", "assets/demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "REXVIEW_LANGUAGE": PSEUDO},
    )
    assert done.stdout
    assert "⟦" not in done.stdout + done.stderr


def test_only_english_words_lose_their_capital_inside_a_sentence(monkeypatch):
    assert words.mid_sentence("Laterality errors") == "laterality errors"
    monkeypatch.setattr(words, "_catalogue", Catalogue("de"))
    assert words.mid_sentence("Seitenfehler") == "Seitenfehler"
