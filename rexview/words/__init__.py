"""Texts of the pages in the server's language; the code contains the English.

The English of each text is its key in the catalogue (``assets/words/``; ``docs/translating.md``)::

    tr("No case is left.")
    tr("{done} of {total} cases").format(done=done, total=total)
    trn("{n:,} case", "{n:,} cases", n).format(n=n)
    trc("verb", "Open")  # one English word that means two things

``python -m tools.words`` collects the texts from the code, so each one is written out there and
never put together. A translation is checked when it is read (:mod:`rexview.words.translations`). It
contains no special character of HTML or Markdown and no placeholder that the English lacks, so it
can be used wherever the English can.

Only a server uses another language (:func:`select_language`). Commands, their output, logs, and
errors about files stay English.
"""

from __future__ import annotations

from collections.abc import Sequence

from rexview.errors import SettingsError
from rexview.words.catalogue import CONTEXT_SEPARATOR, ENGLISH, Catalogue

__all__ = [
    *("begin", "beginning", "countable", "counted", "inside", "listed", "noun", "nouns"),
    *("page_words", "spoken", "tr", "tr_of_file", "trc", "trn"),
]

_ENGLISH = Catalogue(ENGLISH)
_catalogue: Catalogue = _ENGLISH
_texts_used = False


def select_language(language: str) -> None:
    """Set the language of this process; called once, before any text is used.

    Raises
    ------
    SettingsError
        There is no such translation, or it is invalid.
    RuntimeError
        Texts were already used in another language, and constants have kept them.
    """
    global _catalogue
    if language == _catalogue.language:
        return
    if _texts_used:
        raise RuntimeError("Words were asked for before the language was known.")
    from rexview.words.translations import read_catalogue  # an English server reads none

    try:
        _catalogue = read_catalogue(language)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def current_language() -> str:
    """Return the language of this process, such as ``en``."""
    return _catalogue.language


def tr(text: str) -> str:
    """Return a text in the language of the server.

    >>> tr("No case is left.")
    'No case is left.'
    """
    return _translated(text, text)


def trc(context: str, text: str) -> str:
    """Return a text whose English has several meanings; ``context`` selects one.

    >>> trc("verb", "Open")
    'Open'
    """
    return _translated(context + CONTEXT_SEPARATOR + text, text)


def _translated(key: str, text: str) -> str:
    global _texts_used
    _texts_used = True
    if _catalogue is _ENGLISH:
        return text
    return _catalogue.texts.get(key, (text,))[0]


def tr_file_text(text: str) -> str:
    """Return a text of ``rubric.yaml`` or ``harm.yaml``, whose texts are all collected.

    A text from a review set's own file of that kind stays unchanged.
    """
    return _translated(text, text)


def trn(one: str, many: str, n: float) -> str:
    """Return the form of a text for a number; ``format`` inserts the number itself.

    >>> trn("{n:,} case", "{n:,} cases", 1204).format(n=1204)
    '1,204 cases'
    """
    global _texts_used
    _texts_used = True
    english = one if n == 1 else many
    if _catalogue is _ENGLISH:
        return english
    forms = _catalogue.texts.get(one)
    if forms is None or len(forms) < _catalogue.forms:
        return english
    return forms[_catalogue.form_of(n)]


def nouns(word: str) -> str:
    """Return the plural of an English noun.

    >>> nouns("case"), nouns("entry"), nouns("box"), nouns("batch"), nouns("day")
    ('cases', 'entries', 'boxes', 'batches', 'days')
    """
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("x", "ch")) else f"{word}s"


def countable(word: str) -> str:
    """Return an English noun unchanged, to be passed to :func:`counted` or :func:`noun` elsewhere.

    Writing it inside ``countable`` lets both forms be collected.

    >>> counted(2, countable("answer"))
    '2 answers'
    """
    return word


def noun(n: float, word: str) -> str:
    """Return a noun in the form for a number; it is a literal or from :func:`countable`.

    >>> noun(1, "case"), noun(0, "case"), noun(2, "entry")
    ('case', 'cases', 'entries')
    """
    return trn(word, nouns(word), n)


def counted(n: int, word: str) -> str:
    """Return a number with its noun; the noun is a literal or from :func:`countable`.

    >>> counted(1, "answer"), counted(1204, "answer")
    ('1 answer', '1,204 answers')
    """
    return trn(f"{{n:,}} {word}", f"{{n:,}} {nouns(word)}", n).format(n=n)


def mid_sentence(text: str) -> str:
    """Return a text from the start of a line for use in a sentence: in English, in lower case.

    Other languages have capitals of their own, such as German nouns; there they stay.

    >>> mid_sentence("Laterality errors")
    'laterality errors'
    """
    return text.lower() if _catalogue is _ENGLISH else text


def sentence_start(text: str) -> str:
    """Return a text for the start of a line: with a capital first letter.

    >>> sentence_start("from the full-set run of Model A")
    'From the full-set run of Model A'
    """
    return text[:1].upper() + text[1:]


def join_words(parts: Sequence[str]) -> str:
    """Join words that are in the server's language.

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    if len(parts) < 2:
        return "".join(parts)
    return tr("{first} and {last}").format(first=", ".join(parts[:-1]), last=parts[-1])


def script_texts() -> dict[str, object]:
    """Return the texts for ``components/words.js`` as JSON; empty in English."""
    return _catalogue.for_pages()
