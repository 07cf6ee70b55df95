"""A text without its dress: typography, markup and thoughts blanked, every place where it was."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TICKS: Final = "✓✔✅☑"
CROSSES: Final = "✗✘❌☒"
_KEPT: Final = frozenset(TICKS + CROSSES + "→⇒➡⟹∴")
_OWN_FORMS: Final = {"。": ".", "、": ",", "「": " ", "」": " ", "『": " ", "』": " ", "➡": "→"}
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning|analysis|scratchpad|reflection)>.*?(?:</\1>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT_ENDS: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?(?:[bipus]\b|[a-zA-Z|!][\w|-])[^<>\n]{0,80}>")
_MARKUP: Final = re.compile(
    r"\\(?:text|math)[a-z]*\{?|\\(?:bf|rm|quad)\b|\\[()\[\]]|```\w*|[*_`\"“”„'‘’«»‹›$#{}]|\\"
    r"|(?!\A)(?<!\w\s)>|>(?!\s?\d)"  # not of "> 2 cm" and "a nodule > 2 cm"
)
_DIALOGUE: Final = re.compile(r"\s*Q(?:uestion)?\s*[:.]")
_REPLY: Final = re.compile(r"^([ \t]*)A(?=\s*:)", re.MULTILINE)


class _Forms(dict[int, str]):
    """One plain character for each of another width, weight or use; asked for by its code."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plainer = unicodedata.normalize("NFKC", char)
        kind = unicodedata.category(char)
        if char in _OWN_FORMS:
            form = _OWN_FORMS[char]
        elif len(plainer) == 1 and plainer != char:
            form = plainer
        elif char not in _KEPT and (kind in ("Cf", "So", "Me") or 0xFE00 <= code <= 0xFE0F):
            form = " "
        else:
            form = char
        self[code] = form
        return form


_FORMS: Final = _Forms()


def plain(text: str) -> str:
    """Blank out markup and thoughts, letter for letter, so that every place stays where it is."""
    if not text.isascii():
        text = text.translate(_FORMS)
    if "&lt;" in text:
        text = text.replace("&lt;", "   <").replace("&gt;", ">   ")
    if "<" in text:
        text = _THOUGHT.sub(_blank, text)
        ends = [match.end() for match in _THOUGHT_ENDS.finditer(text)]
        if ends:
            text = " " * ends[-1] + text[ends[-1] :]
        text = re.sub(r"<answer>", "answer: ", text, flags=re.IGNORECASE)
        text = re.sub(r"</answer>", "\n        ", text, flags=re.IGNORECASE)
        text = _TAG.sub(_blank, text)
    text = re.sub(r"\bans\.", "ans:", text.replace("\\boxed{", "answer:"), flags=re.IGNORECASE)
    if _DIALOGUE.match(text):
        text = _REPLY.sub(r"\1 ", _DIALOGUE.sub(_blank, text, count=1))
    return _MARKUP.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def folded(text: str) -> str:
    """Return the words of a text in lower case, apart by one space."""
    return " ".join(re.findall(r"\w+", text.casefold()))
