"""Read the cells of a table: column names and values as people write them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final
from unicodedata import combining, normalize

from rexview.importers.receipt import ProblemLog
from rexview.package_data import read_package_table
from rexview.reviewset.json_text import dump_json
from rexview.reviewset.tables.values import NO_WORDS, YES_WORDS
from rexview.vocab import DIMENSIONS, SCORE_MAX, SCORE_MIN

# Words in column names, and how a column name is split into words.
#
# The names themselves are data: ``column_names.yaml``.

_DATA: Final[dict[str, Any]] = read_package_table(Path(__file__).with_name("column_names.yaml"))
COLUMN_FIELDS: Final[dict[str, str]] = {
    field: one["label"] for field, one in _DATA["fields"].items()
}
"""Fields that can have a column, with their name on screen, in the order of the form."""
FIELD_COLUMN_NAMES: Final[dict[str, list[str]]] = {
    field: one["names"] for field, one in _DATA["fields"].items()
}
"""Names of columns by field, the most usual ones first."""
KNOWN_NAMES: Final = frozenset(name for names in FIELD_COLUMN_NAMES.values() for name in names)
DIMENSION_COLUMN_NAMES: Final[dict[str, list[str]]] = _DATA["dimensions"]
FAILURE_COLUMN_NAMES: Final[dict[str, list[str]]] = _DATA["failures"]
"""Names of columns with a reader's score or tick, by dimension and failure."""
READER_NAMES: Final = frozenset(_DATA["reader"])
MODEL_ANSWER_NAMES: Final = frozenset(_DATA["answer_of_a_model"])
QUESTION_WORDS: Final = frozenset(_DATA["asks"])
SCORE_NAMES: Final = frozenset(_DATA["scores"])
OPTION_WORDS: Final = frozenset(_DATA["option"])
NOT_AN_IMAGE: Final = frozenset(_DATA["not_an_image"])
NOT_AN_ANSWER: Final = frozenset(_DATA["not_an_answer"])
NOT_RUN_WORDS: Final = frozenset(_DATA["not_run"])
KINDS_OF_MODEL: Final = frozenset(_DATA["kinds_of_model"])
"""Words for a model that do not name one."""
NOT_A_MODEL: Final = KINDS_OF_MODEL | frozenset(_DATA["not_a_model"])
"""Words that, together with "answer" and similar words, do not name a model."""
SIDE_NAMES: Final[dict[str, frozenset[str]]] = {
    side: frozenset(words) for side, words in _DATA["sides"].items()
}
"""Words that mean a text is the ``reference`` or a ``model``'s."""
DATA_SET: Final = frozenset(_DATA["data_set"])
IMAGE_TABLES: Final[dict[str, list[str]]] = _DATA["image_tables"]
"""Column names of tables about images, by meaning."""
LINE_EDITS: Final[dict[str, list[str]]] = _DATA["line_edits"]
"""Column names of tables of corrected lines, by meaning."""
EDIT_MARKS: Final[dict[str, str]] = {
    mark: action for action, marks in _DATA["edit_marks"].items() for mark in marks
}
"""Marks in place of an edited line, with the action that each means."""
EDIT_KIND_WORDS: Final[dict[str, list[str]]] = _DATA["edit_kinds"]
SIGNIFICANCE_WORDS: Final[dict[str, list[str]]] = _DATA["significances"]
"""Words for the kind of an error and for its significance, by those of the format."""
JSON_NAMES: Final[dict[str, list[str]]] = _DATA["json_names"]
"""Names of lists in JSON files, by meaning."""
MODEL_NAME: Final = re.compile(
    r"gpt|claude|gemini|gemma|llava|llama|grok|qwen|chexagent|maira|medversa|radfm|deepseek|mistral"
    r"|rgrg|raddialog|palm|internvl|pixtral|biomed|cxr-|vlci|libra|^model\b|^phi\b|^o[1345]\b",
    re.IGNORECASE,
)
_IDENTITY: Final = re.compile(
    r"\b((first|last|family|given|sur|patient|patients|full) ?names?|surname|forename|mrn|dob"
    r"|birth ?(date|day)|date of birth|birthdate|ssn|social security|nhs|insurance|accession"
    r"|accession (number|no)|address|street|zip|zip code|postcode|postal code|phone|telephone"
    r"|e ?mail|medical record|medical record number|hospital number|(study|exam|scan|admission"
    r"|acquisition|visit) ?(date|time)|(study|series|sop) ?instance ?uid)\b"
)
_IDENTITY_ELSEWHERE: Final = re.compile(
    r"\b(patienten? ?name|(vor|nach|familien) ?name|geburts ?(datum|tag|jahr)|geb ?(dat|datum)"
    r"|versicherten ?(nummer|nr)|fallnummer|krankenkasse|adresse|anschrift|strasse|plz|telefon"
    r"|apellidos?|fecha (de )?nac(imiento)?|dni|nhc|historia clinica|direccion|telefono"
    r"|prenom|nom de famille|date (de )?naissance|numero (de )?secu(rite sociale)?"
    r"|cognome|data (di|de) nas(cita|cimento)|codice fiscale|indirizzo|sobrenome|endereco"
    r"|(nombre|nome|nom) (completo|du patient|del paciente|do paciente|del paziente)"
    r"|voornaam|achternaam|geboorte ?datum|bsn|adres)\b|^(nombre|nome|nom)$"
)
"""The same in German, Spanish, French, Italian, Portuguese and Dutch, without accents."""
_TOKEN: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_EDGES: Final = " \t_-:;,.()[]{}/|#"


def is_identity(column: str) -> bool:
    """True if a column's name looks like a patient's identity, in any of six languages."""
    letters = normalize("NFKD", column)
    without_accents = "".join(letter for letter in letters if not combining(letter))
    plain = ColumnName.of(without_accents).plain
    return _IDENTITY.search(plain) is not None or _IDENTITY_ELSEWHERE.search(plain) is not None


@dataclass(frozen=True)
class ColumnName:
    """A column name split into words: lower-case words, and the position of each."""

    written: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @staticmethod
    @lru_cache(maxsize=20_000)
    def of(written: str) -> ColumnName:
        """Split a name at spaces, punctuation, and inner capitals."""
        found = list(_TOKEN.finditer(written))
        words = tuple(one[0].lower() for one in found)
        return ColumnName(written, words, tuple(one.span() for one in found))

    @property
    def plain(self) -> str:
        """The words, separated by one space."""
        return " ".join(self.words)

    def find(self, phrase: str) -> tuple[int, int] | None:
        """Return the start and end index of a phrase among the words, or None."""
        wanted = tuple(phrase.split())
        for start in range(len(self.words) - len(wanted) + 1):
            if self.words[start : start + len(wanted)] == wanted:
                return start, start + len(wanted)
        return None

    def text(self, start: int, end: int) -> str:
        """Return the words from ``start`` up to ``end`` as written, without outer punctuation."""
        if start >= end:
            return ""
        first, last = self.spans[start][0], self.spans[end - 1][1]
        return self.written[first:last].strip(_EDGES)


_YES: Final = frozenset((*YES_WORDS, "x", "✓", "✔", "ja", "oui", "present"))
_NO: Final = frozenset((*NO_WORDS, "-", "nein", "non", "absent"))
_NOT_SCORED: Final = frozenset(("-", "–", "—", "na", "n/a", "none", "x", "?", ".", "not scored"))
_OUT_OF_FIVE: Final = re.compile(r"(\d(?:[.,]\d+)?)\s*(?:/|out of|of)\s*5")
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_INT64_MAX: Final = 2**63 - 1


def read_number(text: str | None) -> float | None:
    """Return a finite number, or None: ``3``, ``3.0``, ``3,5``, ``1,024``, ``4/5`` (a score)."""
    if text is None or len(text) > 40:
        return None
    plain = text.strip().replace("\u00a0", "")
    out_of = _OUT_OF_FIVE.fullmatch(plain)
    if out_of:
        plain = out_of[1]
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    try:
        number = float(plain.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_whole_number(text: str | None) -> int | None:
    """Return a whole number that fits 64 bits, or None."""
    number = read_number(text)
    whole = number is not None and number.is_integer() and abs(number) < _INT64_MAX
    return int(number) if number is not None and whole else None


def read_yes_no(text: str | None) -> bool | None:
    """Return True or False for the usual words and ticks, None for anything else."""
    word = (text or "").strip().lower().removesuffix(".0")
    return True if word in _YES else False if word in _NO else None


def is_not_scored(text: str) -> bool:
    """True if a cell of a score column means that there is no score."""
    return text.strip().lower() in _NOT_SCORED


def read_list(text: str | None) -> list[str]:
    """Return the entries of a cell that may have several.

    Accepts a JSON or Python list, or entries separated by line breaks, ``;`` or ``|``. A comma
    separates only file names (each entry has an ending), since texts and folders contain commas.
    """
    if text is None or not text.strip():
        return []
    plain = text.strip()
    if plain.startswith("[") and plain.endswith("]"):
        for candidate in (plain, plain.replace("'", '"')):
            try:
                values = json.loads(candidate)
            except (ValueError, RecursionError):
                continue
            given = (one for one in values if one is not None)
            texts = (dump_json(one) if isinstance(one, list | dict) else str(one) for one in given)
            return [text.strip() for text in texts if text.strip()]
    parts = re.split(r"[\n;|]", plain)
    if len(parts) == 1:
        names = plain.split(",")
        if len(names) > 1 and all(re.search(r"\.\w{2,5}\s*$", name) for name in names):
            parts = names
    return [part.strip() for part in parts if part.strip()]


def read_option(text: str | None, options: int) -> int | None:
    """Return the 0-based index of an option given as a letter (``B``, ``(B)``, ``B.``) or index."""
    if text is None:
        return None
    letter = re.fullmatch(r"\W*([A-Za-z])\W*", text.strip()) or re.match(r"([A-Za-z])[.):]\s", text)
    if letter:
        index: int | None = ord(letter[1].upper()) - ord("A")
    else:
        index = read_whole_number(text)
    return index if index is not None and 0 <= index < max(options, 1) else None


_NUMBERS: Final = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|\.\.|to|:)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class ScoreScale:
    """A scale: its worst and best number, or its words from worst to best."""

    USUAL: ClassVar = ("0-1", "0-3", "0-4", "0-5", "1-7", "1-10", "0-10", "0-100")

    worst: float
    best: float
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> ScoreScale:
        """Read ``0-10``, ``10-0`` (0 is best), or ``poor, fair, good``.

        Raises ValueError for other texts; the message completes "This option ...".
        """
        numbers = _NUMBERS.fullmatch(text)
        if numbers and float(numbers[1]) != float(numbers[2]):
            return cls(float(numbers[1]), float(numbers[2]))
        words = tuple(" ".join(word.lower().split()) for word in text.split(","))
        if len(words) > 1 and all(words) and len(set(words)) == len(words):
            return cls(0, len(words) - 1, words)
        raise ValueError("must be such as 0-10, or words from worst to best apart by commas.")

    def takes(self, number: float) -> bool:
        """True if a number is on the scale."""
        return min(self.worst, self.best) <= number <= max(self.worst, self.best)

    def holds(self, text: str) -> bool:
        """True if a cell can be converted."""
        return self.convert(text) is not None

    def convert(self, text: str) -> int | None:
        """Return the score from 1 to 5, halves rounded up; None for a value not on the scale."""
        word, number = " ".join(text.lower().split()), read_number(text)
        if self.words:
            number = float(self.words.index(word)) if word in self.words else None
        if number is None or not self.takes(number):
            return None
        share = (number - self.worst) / (self.best - self.worst)
        return int(SCORE_MIN + share * (SCORE_MAX - SCORE_MIN) + 0.5 + 1e-9)


@dataclass(frozen=True)
class ScoreOptions:
    """How scores are read that are not from 1 to 5 on a named dimension.

    ``scale`` has the form of :meth:`ScoreScale.of`. ``names`` maps the source's lower-case names to
    dimensions. ``dimension`` applies to scores that name none.
    """

    scale: str | None = None
    names: tuple[tuple[str, str], ...] = ()
    dimension: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any], log: ProblemLog) -> ScoreOptions:
        """Read the options ``scale`` and ``dimension`` (DIMENSION or NAME=DIMENSION)."""
        scale, names, alone = options.get("scale"), [], None
        try:
            if scale:
                ScoreScale.of(scale)
        except ValueError as error:
            log.error("scale", f"This option {error}", "Write it like that.", field="scale")
            scale = None
        for text in options.get("dimension") or ():
            name, mark, word = text.rpartition("=")
            dimension = "_".join(word.lower().replace("-", " ").split())
            if dimension not in DIMENSIONS:
                message = f"“{word[:40]}” is not a dimension."
                log.error("dimension", message, f"Use {', '.join(DIMENSIONS)}.", field="dimension")
            elif mark:
                names.append((ColumnName.of(name).plain, dimension))
            else:
                alone = dimension
        return cls(scale, tuple(names), alone)

    def of_word(self, word: str) -> str | None:
        """Return the dimension that a word of the source means, or None."""
        plain = "_".join(word.lower().replace("-", " ").split())
        known = dict(self.names).get(ColumnName.of(word).plain)
        return known or (plain if plain in DIMENSIONS else None)
