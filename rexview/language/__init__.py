"""Which language a text is in, by its letters and commonest words: the rules read English."""

from rexview.language.told import ENGLISH as ENGLISH_READ
from rexview.language.told import OTHER, language_of, looks

__all__ = ["ENGLISH_READ", "OTHER", "language_of", "looks"]
