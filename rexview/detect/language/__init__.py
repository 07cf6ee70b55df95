"""Which language a text is in, told by its letters and its commonest words."""

from rexview.detect.language.told import language_of

__all__ = ["language_of"]
