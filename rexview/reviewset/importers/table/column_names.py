"""The words that people write above columns, and how a column name is taken apart.

The names themselves are data: ``column_names.yaml``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from unicodedata import combining, normalize

from rexview.own_tables import read_table

_DATA: Final[dict[str, Any]] = read_table(Path(__file__).with_name("column_names.yaml"))
FIELDS: Final[dict[str, str]] = {field: one["label"] for field, one in _DATA["fields"].items()}
"""Fields that can have a column, with their name on screen, in the order of a form."""
FIELD_NAMES: Final[dict[str, list[str]]] = {
    field: one["names"] for field, one in _DATA["fields"].items()
}
"""Names of columns by field; most usual ones first."""
KNOWN_NAMES: Final = frozenset(name for names in FIELD_NAMES.values() for name in names)
DIMENSION_NAMES: Final[dict[str, list[str]]] = _DATA["dimensions"]
FAILURE_NAMES: Final[dict[str, list[str]]] = _DATA["failures"]
"""Names of columns that hold a reader's score or tick, by dimension and failure."""
READER_NAMES: Final = frozenset(_DATA["reader"])
ANSWER_OF_A_MODEL: Final = frozenset(_DATA["answer_of_a_model"])
ASKS: Final = frozenset(_DATA["asks"])
SCORE_NAMES: Final = frozenset(_DATA["scores"])
OPTION_WORDS: Final = frozenset(_DATA["option"])
NOT_AN_IMAGE: Final = frozenset(_DATA["not_an_image"])
NOT_AN_ANSWER: Final = frozenset(_DATA["not_an_answer"])
NOT_RUN: Final = frozenset(_DATA["not_run"])
KINDS_OF_MODEL: Final = frozenset(_DATA["kinds_of_model"])
"""Words that say that something is a model, but not which one."""
NOT_A_MODEL: Final = KINDS_OF_MODEL | frozenset(_DATA["not_a_model"])
"""Words that, beside "answer" and its like, do not name a model."""
SIDES: Final[dict[str, frozenset[str]]] = {
    side: frozenset(words) for side, words in _DATA["sides"].items()
}
"""Words that say whose a text is: the ``reference``, or a ``model``'s."""
DATA_SET: Final = frozenset(_DATA["data_set"])
IMAGE_TABLES: Final[dict[str, list[str]]] = _DATA["image_tables"]
"""Names of columns of tables beside images, by what they hold."""
LINE_EDITS: Final[dict[str, list[str]]] = _DATA["line_edits"]
"""Names of columns of tables of corrected lines, by what they hold."""
EDIT_MARKS: Final[dict[str, str]] = {
    mark: action for action, marks in _DATA["edit_marks"].items() for mark in marks
}
"""What stands in place of an edited line, with the action that it means."""
EDIT_KIND_WORDS: Final[dict[str, list[str]]] = _DATA["edit_kinds"]
SIGNIFICANCE_WORDS: Final[dict[str, list[str]]] = _DATA["significances"]
"""Words for the kind of an error and for whether it matters, by that of the format."""
JSON_NAMES: Final[dict[str, list[str]]] = _DATA["json_names"]
"""Names of lists in JSON files, by what they hold."""
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
    """Whether a column's name looks like a patient's identity, in any of six languages."""
    letters = normalize("NFKD", column)
    without_accents = "".join(letter for letter in letters if not combining(letter))
    plain = ColumnName.of(without_accents).plain
    return _IDENTITY.search(plain) is not None or _IDENTITY_ELSEWHERE.search(plain) is not None


@dataclass(frozen=True)
class ColumnName:
    """A column name taken apart: its words in small letters, and where each one stands."""

    written: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @staticmethod
    @lru_cache(maxsize=20_000)
    def of(written: str) -> ColumnName:
        """Take a name apart at spaces, punctuation, and inner capitals."""
        found = list(_TOKEN.finditer(written))
        words = tuple(one[0].lower() for one in found)
        return ColumnName(written, words, tuple(one.span() for one in found))

    @property
    def plain(self) -> str:
        """The words, apart by one space."""
        return " ".join(self.words)

    def find(self, phrase: str) -> tuple[int, int] | None:
        """Return first and past-the-last place of a phrase among the words, or None."""
        wanted = tuple(phrase.split())
        for start in range(len(self.words) - len(wanted) + 1):
            if self.words[start : start + len(wanted)] == wanted:
                return start, start + len(wanted)
        return None

    def text(self, start: int, end: int) -> str:
        """Return the words from ``start`` up to ``end`` as written, without edge punctuation."""
        if start >= end:
            return ""
        first, last = self.spans[start][0], self.spans[end - 1][1]
        return self.written[first:last].strip(_EDGES)
