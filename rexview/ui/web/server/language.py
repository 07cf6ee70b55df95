"""The language of the server: known before anything is imported that has words."""

from __future__ import annotations

import sys

from rexview import words
from rexview.errors import SettingsError
from rexview.settings import load_settings


def begin() -> None:
    """Speak the language of the settings.

    Settings that cannot be used are said by every page, in English.
    """
    try:
        language = load_settings(sys.argv[1:]).language
    except SettingsError:
        return
    words.begin(language)
