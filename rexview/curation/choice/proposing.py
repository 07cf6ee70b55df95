"""Let a model make multiple choice questions from a report: request, strict parsing, rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rexview.curation.asking import QuestionSubject, Row, Step
from rexview.curation.candidates import choice_id
from rexview.curation.choice.checks import words_of
from rexview.curation.studies import Study
from rexview.models.asking.prompts import fixed_wording
from rexview.models.asking.reading import listed_in
from rexview.models.backend import closed_object
from rexview.schema import Report
from rexview.vocab import CATEGORIES, DIFFICULTIES

# Multiple choice questions from a model's reply. Nothing is guessed or repaired.

_LETTERS: Final = "ABCDEFGH"
_LONGEST: Final = 10_000
_MOST: Final = 100
_LABEL: Final = re.compile(r"\(?([A-Ha-h])[.):]\)?(?:\s+(.*))?", re.DOTALL)
_BARE: Final = re.compile(r"\(?([A-Ha-h])[.):]?\)?")


@dataclass(frozen=True)
class MadeQuestion:
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
class MadeQuestions:
    """The questions of a reply, in its order, without repetitions."""

    questions: tuple[MadeQuestion, ...]
    notes: tuple[str, ...] = ()


def read_questions(text: str) -> MadeQuestions | str:
    """Parse a reply; return a sentence on what is wrong if it contains no question.

    A question with unreadable words or options is left out with a note. The checks report any other
    problem of a question.
    """
    given = listed_in(text, "questions", _MOST)
    if isinstance(given, str):
        return given
    found: dict[str, MadeQuestion] = {}
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
    return MadeQuestions(tuple(found.values()), tuple(notes))


def _question(one: Any, notes: list[str]) -> MadeQuestion | None:
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
    return MadeQuestion(
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
        if words_of(one) == words_of(text) != [] or one.casefold() == text.casefold() != ""
    ]
    bare, labelled = _BARE.fullmatch(text), _LABEL.fullmatch(text)
    if bare and bare[1].upper() in _LETTERS[: len(options)]:
        at = _LETTERS.index(bare[1].upper())
        if not same or same == [at]:  # options that are letters may be in another order
            return at
    elif labelled and labelled[1].upper() in _LETTERS[: len(options)]:
        at = _LETTERS.index(labelled[1].upper())
        if words_of(labelled[2] or "") == words_of(options[at]):
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


WORDING: Final = fixed_wording(Path(__file__).with_name("propose-choice-2.yaml"))
_TEXT: Final = {"type": "string"}
_QUESTION: Final = closed_object(
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


def report_of(report: Report) -> str:
    """Return a report as it is sent, its sections under their names."""
    parts = {"Findings": report.findings, "Impression": report.impression}
    return "\n".join(f"{name}: {text.strip()}" for name, text in parts.items() if text)


def choice_proposing_subjects(studies: Iterable[Study], count: int) -> list[QuestionSubject]:
    """Return the subjects for studies with a report; each asks for up to ``count`` questions."""
    return [_subject(study, count) for study in studies if report_of(study.case.report)]


def _subject(study: Study, count: int) -> QuestionSubject:
    values = {
        "told": report_of(study.case.report),
        "patient": study.patient,
        "count": str(count),
        "comparison": WORDING.texts["with_prior" if study.has_prior else "without_prior"],
    }
    return QuestionSubject(study.case.id, ("report",), values)


def _rows(found: MadeQuestions, about: tuple[str, ...]) -> list[Row]:
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


PROPOSE_CHOICE: Final = Step(
    name="choice",
    table="candidates",
    wording=WORDING,
    schema=closed_object({"questions": {"type": "array", "items": _QUESTION}}),
    read=read_questions,
    rows=_rows,
    output_tokens=900,
)
