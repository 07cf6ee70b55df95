"""The language of the server, set before any module with texts is imported."""

from __future__ import annotations

import sys

from rexview import words
from rexview.errors import SettingsError
from rexview.settings import load_settings


def set_server_language() -> None:
    """Set the language of the settings.

    Every page reports invalid settings, in English.
    """
    try:
        language = load_settings(sys.argv[1:]).language
    except SettingsError:
        return
    words.select_language(language)
