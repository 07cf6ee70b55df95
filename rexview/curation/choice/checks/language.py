"""Whether a text is English: by its letters, then by the small words that it has most of."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SMALL_WORDS: Final = {
    "English": (
        "the of and is are which what in on with this that there no not to from by as it be was "
        "were where how most following for or an at has does"
    ),
    "German": (
        "der die das und ist sind welche welcher welches nicht ein eine im mit auf den dem des zu "
        "von kein keine sich bei wo wie oder rechts links"
    ),
    "French": (
        "le la les et est sont quel quelle dans sur avec ce cette il pas un une du des de au aux "
        "par ou droit gauche pour"
    ),
    "Spanish": (
        "el la los las y es son cuál qué en sobre con este esta no un una del de al por o derecho "
        "izquierdo para se"
    ),
    "Italian": (
        "il lo la gli le e è sono quale nel nella con questo questa non un una del della di al per "
        "o destro sinistro che"
    ),
    "Portuguese": (
        "o a os as e é são qual no na com este esta não um uma do da de ao por ou direito esquerdo "
        "que"
    ),
    "Dutch": "de het een en is zijn welke niet in op met van dit dat er geen te door of voor aan",
}
_SETS: Final = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
_SCRIPTS: Final = ("CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "GREEK")
_SCRIPTS_MORE: Final = ("DEVANAGARI", "THAI", "BENGALI", "TAMIL")
_FEWEST: Final = 3
"""Small words of another language, by which a text may be taken to be in it."""


def other_language(*texts: str) -> str | None:
    """Return the language that one of some texts is in, or its script; None for English.

    A text with too few small words for any language is taken for English: options are mostly names
    of findings. One Greek letter is a sign, a word of them is not.
    """
    for text in texts:
        words = re.findall(r"[^\W\d_]+", text.casefold())
        for word in words:
            name = unicodedata.name(word[0], "") if len(word) > 1 or ord(word[0]) > 0x2FFF else ""
            script = next(
                (one for one in (*_SCRIPTS, *_SCRIPTS_MORE) if name.startswith(one)), None
            )
            if script:
                return f"{script.capitalize()} script" if script != "CJK" else "Chinese or Japanese"
        counts = {name: sum(word in small for word in words) for name, small in _SETS.items()}
        most = max(counts, key=counts.__getitem__)
        if counts[most] >= _FEWEST and counts[most] > 2 * counts["English"]:
            return most
    return None
