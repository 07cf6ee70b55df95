"""Let a model make multiple choice questions from a report: request, strict parsing, rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.curation.candidates import choice_id
from rexview.curation.choice.checks import comparable_words
from rexview.curation.source_studies import SourceStudy
from rexview.curation.step import CurationStep, QuestionSubject, Row
from rexview.models.asking.prompts import read_fixed_prompt
from rexview.models.asking.reply_reader import read_list
from rexview.models.backend import closed_object_schema
from rexview.schema import Report
from rexview.vocab import CATEGORIES, DIFFICULTIES

# Multiple choice questions from a model's reply. Nothing is guessed or repaired.

_LETTERS: Final = "ABCDEFGH"
_LONGEST: Final = 10_000
_MOST: Final = 100
_LABEL: Final = re.compile(r"\(?([A-Ha-h])[.):]\)?(?:\s+(.*))?", re.DOTALL)
_BARE: Final = re.compile(r"\(?([A-Ha-h])[.):]?\)?")


@dataclass(frozen=True)
class GeneratedQuestion:
    """One question; ``correct`` is None if the reply names none of the options."""

    question: str
    options: tuple[str, ...]
    correct: int | None
    explanation: str
    statement: str
    category: str | None
    difficulty: str | None

    @property
    def id(self) -> str:
        """Identifier from its words and options."""
        return choice_id(self.question, self.options)


@dataclass(frozen=True)
class GeneratedQuestions:
    """The questions of a reply, in its order, without repetitions."""

    questions: tuple[GeneratedQuestion, ...]
    notes: tuple[str, ...] = ()


def read_questions(text: str) -> GeneratedQuestions | str:
    """Parse a reply; return a sentence on what is wrong if it contains no question.

    A question with unreadable words or options is left out with a note. The checks report any other
    problem of a question.
    """
    given = read_list(text, "questions", _MOST)
    if isinstance(given, str):
        return given
    found: dict[str, GeneratedQuestion] = {}
    notes: list[str] = []
    for place, one in enumerate(given, 1):
        about: list[str] = []
        made = _question(one, about)
        notes += [f"Question {place}: {note}" for note in about]
        if made is not None:
            if made.id in found:
                notes.append(f"Question {place}: it is there twice.")
            found.setdefault(made.id, made)
    if not found:
        return " ".join(["There is no question in the answer.", *notes])
    return GeneratedQuestions(tuple(found.values()), tuple(notes))


def _question(one: Any, notes: list[str]) -> GeneratedQuestion | None:
    if not isinstance(one, dict):
        notes.append("it is no object.")
        return None
    question, options = one.get("question"), _options(one.get("options"), notes)
    if not isinstance(question, str) or not question.strip() or len(question) > _LONGEST:
        notes.append("its words are missing, or too long.")
        return None
    if options is None:
        notes.append("its options are no list of texts.")
        return None
    return GeneratedQuestion(
        question.strip(),
        options,
        _correct(one.get("answer"), options, notes),
        _text(one, "explanation", notes),
        _text(one, "statement", notes),
        _word(one, "category", tuple(CATEGORIES["choice"]), notes),
        _word(one, "difficulty", DIFFICULTIES, notes),
    )


def _options(given: Any, notes: list[str]) -> tuple[str, ...] | None:
    """Return the options; letters that label all of them in order are removed."""
    if isinstance(given, Mapping):
        if [str(name).strip().upper() for name in given] != list(_LETTERS[: len(given)]):
            return None
        given = list(given.values())
    if not isinstance(given, list) or not given or len(given) > len(_LETTERS):
        return None
    if not all(isinstance(one, str) and len(one) <= _LONGEST for one in given):
        return None
    labels = [_LABEL.fullmatch(one.strip()) for one in given]
    said = [label[1].upper() if label else "" for label in labels]
    if len(given) > 1 and said == list(_LETTERS[: len(given)]):
        notes.append("the letters that its options carried were taken away.")
        return tuple((label[2] or "").strip() for label in labels if label)
    return tuple(one.strip() for one in given)


def _correct(said: Any, options: Sequence[str], notes: list[str]) -> int | None:
    """Return the option that a letter, or the words of one, name; both must agree."""
    text = said.strip() if isinstance(said, str) else ""
    same = [
        at
        for at, one in enumerate(options)
        if comparable_words(one) == comparable_words(text) != []
        or one.casefold() == text.casefold() != ""
    ]
    bare, labelled = _BARE.fullmatch(text), _LABEL.fullmatch(text)
    if bare and bare[1].upper() in _LETTERS[: len(options)]:
        at = _LETTERS.index(bare[1].upper())
        if not same or same == [at]:  # options that are letters may be in another order
            return at
    elif labelled and labelled[1].upper() in _LETTERS[: len(options)]:
        at = _LETTERS.index(labelled[1].upper())
        if comparable_words(labelled[2] or "") == comparable_words(options[at]):
            return at
    elif len(same) == 1:
        return same[0]
    notes.append(f"the answer {said!r:.60} names none of its options.")
    return None


def _text(one: Mapping[str, Any], name: str, notes: list[str]) -> str:
    said = one.get(name)
    if isinstance(said, str) and len(said) <= _LONGEST:
        return said.strip()
    if said is not None:
        notes.append(f"its {name} is no text of at most {_LONGEST:,} characters.")
    return ""


def _word(
    one: Mapping[str, Any], name: str, words: tuple[str, ...], notes: list[str]
) -> str | None:
    said = one.get(name)
    plain = re.sub(r"[\s-]+", "_", said.strip().casefold()) if isinstance(said, str) else ""
    if plain in words:
        return plain
    notes.append(f"its {name} {said!r:.60} is none of {', '.join(words)}.")
    return None


WORDING: Final = read_fixed_prompt(Path(__file__).with_name("propose-choice-2.yaml"))
_TEXT: Final = {"type": "string"}
_QUESTION: Final = closed_object_schema(
    {
        "statement": _TEXT,
        "question": _TEXT,
        "options": {"type": "array", "items": _TEXT},
        "answer": {"type": "string", "enum": list("ABCD")},
        "explanation": _TEXT,
        "category": {"type": "string", "enum": list(CATEGORIES["choice"])},
        "difficulty": {"type": "string", "enum": list(DIFFICULTIES)},
    }
)


def format_report(report: Report) -> str:
    """Return a report as it is sent, its sections under their names."""
    parts = {"Findings": report.findings, "Impression": report.impression}
    return "\n".join(f"{name}: {text.strip()}" for name, text in parts.items() if text)


def choice_proposing_subjects(studies: Iterable[SourceStudy], count: int) -> list[QuestionSubject]:
    """Return the subjects for studies with a report; each asks for up to ``count`` questions."""
    return [_subject(study, count) for study in studies if format_report(study.case.report)]


def _subject(study: SourceStudy, count: int) -> QuestionSubject:
    values = {
        "told": format_report(study.case.report),
        "patient": study.patient,
        "count": str(count),
        "comparison": WORDING.texts["with_prior" if study.has_prior else "without_prior"],
    }
    return QuestionSubject(study.case.id, ("report",), values)


def _rows(found: GeneratedQuestions, about: tuple[str, ...]) -> list[Row]:
    return [
        {
            "candidate": one.id,
            "question": one.question,
            "question_type": "choice",
            "category": one.category,
            "options": list(one.options),
            "correct": one.correct,
            "explanation": one.explanation or None,
            "statement": one.statement or None,
            "difficulty": one.difficulty,
            "extra": {"from": about[0], "difficulty_by": "model"},
        }
        for one in found.questions
    ]


PROPOSE_CHOICE: Final = CurationStep(
    name="choice",
    table="candidates",
    wording=WORDING,
    schema=closed_object_schema({"questions": {"type": "array", "items": _QUESTION}}),
    read=read_questions,
    rows=_rows,
    output_tokens=900,
)
