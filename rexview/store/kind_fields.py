"""Fields of entries: their content, their checks, and the roles that may write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Final, Literal

from rexview.answer_digest import IS_DIGEST
from rexview.people import Role
from rexview.store.entry import (
    LONGEST_TEXT,
    Entry,
    check_choice,
    check_id,
    is_id,
    quote_input,
    storable_text,
)
from rexview.vocab import (
    CATEGORIES,
    CATEGORY_NAMES,
    CRITERIA,
    DECISIONS,
    EDIT_SEVERITIES,
    MEETING_STEPS,
    QUESTION_DEFECTS,
    QUESTION_TAGS,
    SCORE_MAX,
    SCORE_MIN,
)

_LONGEST_SECONDS: Final = 10_000_000
_LONGEST_TAG: Final = 200
_MOST_WORDS: Final = 100
_MANY: Final = 1_000_000
FieldCheck = Callable[[Any, Entry, list[str]], Any]
"""Check one field of an entry's value: add to the problems, return the value to store."""


def word_field(name: str, *words: Any) -> FieldCheck:
    """Return a field for one of some words."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> Any:
        return check_choice(value, name, words, problems)

    return check


def text_value_field(name: str, *, required: bool = False) -> FieldCheck:
    """Return a field for a text; an empty text becomes None."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> str | None:
        if value is None or value == "":
            if required:
                problems.append(f"The {name} is empty.")
            return None
        if not isinstance(value, str):
            problems.append(f"The {name} is not a text.")
            return None
        if len(value) > LONGEST_TEXT:
            problems.append(f"The {name} is longer than {LONGEST_TEXT:,} characters.")
        if required and not value.strip():
            problems.append(f"The {name} is empty.")
        return storable_text(value)

    return check


def check_score(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Check a score from 1 to 5."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and SCORE_MIN <= value <= SCORE_MAX):
        problems.append(
            f"The score {quote_input(value)} is not a whole number from {SCORE_MIN} to {SCORE_MAX}."
        )
    return value


def check_severity(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Check a severity from 0 to 4."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and value in EDIT_SEVERITIES):
        problems.append(f"The severity {quote_input(value)} is not a whole number from 0 to 4.")
    return value


def number_value_field(name: str, low: float = -1e12, high: float = 1e12) -> FieldCheck:
    """Return a field for a finite number."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> Any:
        given = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (given and low <= value <= high):
            problems.append(
                f"The {name} {quote_input(value)} is not a number from {low} to {high}."
            )
        return value

    return check


def whole_number_field(name: str, low: int, high: int) -> FieldCheck:
    """Return a field for a whole number."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> Any:
        given = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (given and low <= value <= high):
            problems.append(
                f"The {name} {quote_input(value)} is no whole number from {low} to {high}."
            )
        return value

    return check


def day_field(name: str) -> FieldCheck:
    """Return a field for a day such as ``2026-12-01``."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> Any:
        if value is None:
            return None
        try:
            return date.fromisoformat(value).isoformat()
        except (TypeError, ValueError):
            problems.append(f"The {name} {quote_input(value)} is no day, such as 2026-12-01.")
            return None

    return check


def words_field(name: str, known: Collection[str] | None = None) -> FieldCheck:
    """Return a field for a list of distinct words, checked against ``known`` if given."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> list[str] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple) or len(value) > _MOST_WORDS:
            problems.append(f"The {name} are no list of at most {_MOST_WORDS} words.")
            return None
        for one in value:
            if not isinstance(one, str) or not 0 < len(one.strip()) <= _LONGEST_TAG:
                problems.append(f"One of the {name} is no text of 1 to {_LONGEST_TAG} characters.")
                return None
            if known is not None and one not in known:
                problems.append(f"Among the {name} is {quote_input(one)}, which is not known.")
        return list(dict.fromkeys(storable_text(one).strip() for one in value))

    return check


def texts_field(name: str) -> FieldCheck:
    """Return a field for a list of texts; an empty list becomes None."""

    def check(value: Any, entry: Entry, problems: list[str]) -> list[str] | None:
        if not isinstance(value, list | tuple | None) or len(value or ()) > _MOST_WORDS:
            problems.append(f"The {name} are no list of at most {_MOST_WORDS} texts.")
            return None
        one_text = text_value_field(f"text of one of the {name}", required=True)
        return [one_text(one, entry, problems) for one in value or ()] or None

    return check


def counts_field(name: str, known: Collection[str] | None = None) -> FieldCheck:
    """Return a field for a mapping of words to counts."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> dict[str, int] | None:
        if value is None:
            return None
        if not isinstance(value, Mapping) or len(value) > _MOST_WORDS:
            problems.append(f"The {name} are no object of numbers.")
            return None
        for of, times in value.items():
            if not isinstance(times, int) or isinstance(times, bool) or not 0 <= times <= _MANY:
                problems.append(
                    f"Among the {name} is {quote_input(times)}, which is no whole number."
                )
            if not is_id(of) or (known is not None and of not in known):
                problems.append(f"Among the {name} is {quote_input(of)}, which is not known.")
        return dict(value)

    return check


def check_option(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Check the number of an option, from 0."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and value >= 0):
        problems.append(f"The option {quote_input(value)} is not a whole number from 0.")
    return value


def check_seconds(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Check a time in seconds."""
    given = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (given and 0 <= value <= _LONGEST_SECONDS):
        problems.append("The time is not a number of seconds.")
    return value


def id_field(name: str) -> FieldCheck:
    """Return a field for an id."""

    def check(value: Any, _entry: Entry, problems: list[str]) -> Any:
        if value is None:
            problems.append(f"A {name} is needed.")
        check_id(name, value, problems)
        return value

    return check


def check_digest(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Check the digest of an answer."""
    if value is not None and not (isinstance(value, str) and IS_DIGEST.fullmatch(value)):
        problems.append("The digest of the answer is none.")
    return value


def check_reply(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Check the id of the comment to which this one replies."""
    check_id("comment that is replied to", value, problems)
    return value


def check_acceptance(value: Any, entry: Entry, problems: list[str]) -> Any:
    """Check the confirmation that a reader scores a case after seeing its models."""
    if value is not None:  # a confirmation is only needed on a page that names the models
        is_unblinded = (entry.value or {}).get("what") == "unblinded"
        check_choice(value, "value of accepted", (True,) if is_unblinded else (), problems)
    return value


_COMMENT_PLACES: Final[Mapping[str, frozenset[str]]] = {
    "case": frozenset(),
    "answer": frozenset(),
    "box": frozenset({"image", "box", "label", "index"}),
    "span": frozenset({"field", "start", "end", "text"}),
}
"""What a comment can be on, and the fields that give its place there."""


def check_comment_place(on: Any, entry: Entry, problems: list[str]) -> dict[str, Any]:
    """Check the place of a comment."""
    place = on.get("what") if isinstance(on, Mapping) else None
    if not isinstance(on, Mapping) or not isinstance(place, str) or place not in _COMMENT_PLACES:
        problems.append(f"It is not said what the comment is on: {', '.join(_COMMENT_PLACES)}.")
        return {}
    if (place == "case") != (entry.model is None) and place != "span":
        problems.append(f"A comment on {place} has to name a model, on a case none.")
    spot = {str(name): _plain_value(value) for name, value in on.items() if value is not None}
    if set(spot) - _COMMENT_PLACES[place] - {"what"} or any(
        value is None for value in spot.values()
    ):
        problems.append(f"Where the comment on a {place} stands cannot be understood.")
    return spot


def _plain_value(value: Any) -> Any:
    """Return a text, a finite number or a list of four numbers; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return storable_text(value) if len(value) <= LONGEST_TEXT else None
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < 1e9 else None
    if isinstance(value, list | tuple) and len(value) == 4:
        numbers = [_plain_value(part) for part in value]
        return None if any(not isinstance(part, int | float) for part in numbers) else numbers
    return None


def check_tags(value: Any, _entry: Entry, problems: list[str]) -> Any:
    """Return tags in the form of the tables: a list of names with their values."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        problems.append("The tags are no object with the values of each.")
        return None
    kept = []
    for name, words in value.items():
        if name not in QUESTION_TAGS:
            problems.append(f"There is no tag {quote_input(name)}.")
        elif not isinstance(words, list | tuple) or not all(
            isinstance(word, str) and word.strip() for word in words
        ):
            problems.append(f"The tag {name} is no list of words.")
        elif any(len(word.strip()) > _LONGEST_TAG for word in words):
            longest = f"longer than {_LONGEST_TAG} characters"
            problems.append(f"{QUESTION_TAGS[name]}: one of its values is {longest}.")
        elif words:
            kept.append({"name": name, "values": [storable_text(word).strip() for word in words]})
    return kept


# Kinds of entries, and the roles that may write them.


@dataclass(frozen=True)
class EntryKind:
    """One kind of entry: what it is about, the fields of its value, and who may write it."""

    meaning: str
    about: Literal["answer", "case", "case or answer", "case or all", "all", "comment"]
    """What an entry names: case and model; a case and no model; a case and perhaps a model; perhaps
    a case and no model; neither; or a comment, which gives case and model."""
    fields: Mapping[str, FieldCheck]
    """Every field of the value, in the order of storage."""
    roles: frozenset[Role]
    subject: str | tuple[str, Collection[str]] | tuple[str, re.Pattern[str]] | None = None
    """The required subject: one of some words, or of a pattern. None: there is no subject."""
    subject_of: Callable[[Mapping[str, Any]], str | None] | None = None
    """Makes the subject from the value."""
    reader_rule: str | None = None
    """The study rule (:class:`rexview.schema.Protocol`) that a reader needs to write this kind."""
    optional: frozenset[str] = frozenset()
    """Fields that are left out of the value when they are None."""
    pictured: bool = False
    """True if it may be about one of the answer's pictures."""
    removable: bool = False
    """True if a value of None takes back the earlier value."""
    shared: bool = False
    """True if there is one state for all; else everybody has their own."""
    judging: bool = False
    """True if it judges the content of an answer: it applies to the version that was read, and to
    no later one."""
    outlives: bool = False
    """True if it may be about an answer that has left the set: the decision is still carried
    out."""


READERS: Final = frozenset[Role]({"reader", "lead"})
WRITING_ROLES: Final = frozenset[Role]({"reader", "adjudicator", "lead"})
CURATORS: Final = frozenset[Role]({"adjudicator", "lead"})
"""Curators read the reports, so they cannot be blinded readers."""
CHAIRS: Final = CURATORS
"""People who prepare and lead a meeting see everything, too."""
FAILURE_AUTHORS: Final = CURATORS
"""People who search for a failure of their own see the models' answers."""


# Entries about questions in curation.

_candidate_kind = partial(
    EntryKind, about="case", roles=CURATORS, subject="id of the candidate", removable=True
)

CURATION_KINDS: Final[Mapping[str, EntryKind]] = {
    "propose": _candidate_kind(
        "a candidate question of one's own: `question`, `category`; null: taken back",
        fields={
            "question": text_value_field("question", required=True),
            "category": word_field("category", *CATEGORIES["open"], None),
        },
        shared=True,
    ),
    "select": _candidate_kind(
        "what becomes of a candidate: `decision` (null: open), `question` as it was edited, "
        "`boxes_question` with an instruction to draw boxes, `category`, `comment`; null: all of "
        "it taken back",
        fields={
            "decision": word_field("decision", *DECISIONS, None),
            "question": text_value_field("question"),
            "boxes_question": text_value_field("question with boxes"),
            "category": word_field("category", *CATEGORY_NAMES, None),
            "comment": text_value_field("comment"),
        },
        shared=True,
    ),
    "rate": _candidate_kind(
        "a candidate scored on the four criteria (1 to 5 or null), `risk`, `comment`, "
        "`after_model`: a model's scores were to be seen; null: taken back",
        fields={
            **dict.fromkeys(CRITERIA, check_score),
            "risk": word_field("value of risk", True, False, None),
            "comment": text_value_field("comment"),
            "after_model": word_field("value of after_model", True, None),
        },
        optional=frozenset({"after_model"}),
    ),
    "tag": _candidate_kind(
        "a candidate tagged: `tags`, the values of each of the eight; null: taken back",
        fields={"tags": check_tags},
    ),
    "validate": _candidate_kind(
        "an expert's word on a multiple choice candidate: `passed` (null: not told), `defect`, "
        "`comment`; null: taken back",
        fields={
            "passed": word_field("value of passed", True, False, None),
            "defect": word_field("defect", *QUESTION_DEFECTS, None),
            "comment": text_value_field("comment"),
        },
    ),
}


# Entries about meetings.

_meeting_kind = partial(EntryKind, roles=CHAIRS, subject="id of the meeting", removable=True)

MEETING_KINDS: Final[Mapping[str, EntryKind]] = {
    "meeting": _meeting_kind(
        "a meeting: `name`, `held` (its day), `minutes` planned, `steps` in which a case is shown, "
        "`decisions` of its own list, `closed`; null: removed",
        about="all",
        fields={
            "name": text_value_field("name", required=True),
            "held": day_field("day of the meeting"),
            "minutes": whole_number_field("number of minutes", 0, 10_000),
            "steps": words_field("steps", MEETING_STEPS),
            "decisions": words_field("decisions"),
            "closed": word_field("value of closed", True, False, None),
        },
        shared=True,
    ),
    "agenda": _meeting_kind(
        "a case on a meeting's agenda: `place` in its order, `section`, `minutes` expected, "
        "`found_by`: the filter it was found by; null: taken off",
        about="case",
        fields={
            "place": number_value_field("place on the agenda"),
            "section": text_value_field("section"),
            "minutes": number_value_field("number of minutes", 0, 1_000),
            "found_by": text_value_field("filter"),
        },
        shared=True,
    ),
    "presenter_note": _meeting_kind(
        "one's own notes on a case of a meeting, for nobody else: `text`; null: taken back",
        about="case",
        fields={"text": text_value_field("note")},
    ),
    "discussed": _meeting_kind(
        "a case was shown in a meeting: `seconds` in all; null: it does not count",
        about="case",
        fields={"seconds": check_seconds},
        shared=True,
    ),
    "vote": _meeting_kind(
        "what people thought before the models were named, without names: `count` of people, "
        "`right`: how many held which model right (also `none`, `unsure`), `harm`: how many gave "
        "0 to 4; null: taken back",
        about="case",
        fields={
            "count": whole_number_field("number of votes", 0, 100_000),
            "right": counts_field("votes"),
            "harm": counts_field("grades of harm", tuple("01234")),
        },
        shared=True,
    ),
    "decide": _meeting_kind(
        "what a meeting decided about a case or an answer: `failure` agreed on (or `none`), "
        "`severity` (0 to 4), `decision` (of the list or of the meeting's own), `owner`, `due` (a "
        "day), `done`, `comment`; null: taken back",
        about="case or answer",
        fields={
            "failure": text_value_field("failure"),
            "severity": check_severity,
            "decision": text_value_field("decision"),
            "owner": text_value_field("owner"),
            "due": day_field("day until which it is to be done"),
            "done": word_field("value of done", True, False, None),
            "comment": text_value_field("comment"),
        },
        shared=True,
        judging=True,
        outlives=True,
    ),
}


# Entries about failures in people's own words.

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
"""A failure's name in URLs."""

WRITTEN_FAILURE_KINDS: Final[Mapping[str, EntryKind]] = {
    "written_failure": EntryKind(
        "a failure in one's own words: `name`, what `counts`, what `does_not_count`, `examples` "
        "and `counterexamples`; null: taken away",
        about="all",
        fields={
            "name": text_value_field("name", required=True),
            "counts": text_value_field("text of what counts", required=True),
            "does_not_count": text_value_field("text of what does not count"),
            "examples": texts_field("examples"),
            "counterexamples": texts_field("examples that do not count"),
        },
        roles=FAILURE_AUTHORS,
        subject="name in links",
        removable=True,
        shared=True,
    ),
    "written_validation": EntryKind(
        "whether an answer has a failure in words, of a sample and blind: `said`, of which "
        "`failure`, in which `version` of its words, of the sample of which `judge`; null: taken "
        "back",
        about="answer",
        fields={
            "said": word_field("word", "yes", "no", "unsure"),
            "failure": id_field("failure"),
            "version": id_field("version of the words"),
            "judge": id_field("judge"),
        },
        roles=FAILURE_AUTHORS,
        subject="version and judge, as a digest",
        removable=True,
        judging=True,
    ),
    "written_mark": EntryKind(
        "an answer has a failure in words, as a person saw it: in which `version` of its words, "
        "`comment`; null: taken back",
        about="answer",
        fields={
            "version": id_field("version of the words"),
            "comment": text_value_field("comment"),
        },
        roles=FAILURE_AUTHORS,
        subject=("name of the failure in links", _NAME),
        removable=True,
        judging=True,
    ),
}
