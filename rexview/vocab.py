"""The closed vocabularies, each with its source, and nouns with their number.

:func:`normalise_view` and :func:`normalise_finish_reason` map spellings of real files to these
words; the raw word is always kept as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Literal

from rexview.words import nouns, tr

Side = Literal["right", "left", "bilateral", "midline"]
SIDES: Final[tuple[Side, ...]] = ("right", "left", "bilateral", "midline")
"""Sides of the patient, never of the screen."""

TEXT_DIMENSIONS: Final = ("process", "execution", "synthesis", "language")
"""Scored on every answer, 1 to 5 (ReXecution rubric)."""
CONTENT_PARTS: Final = ("process", "execution", "synthesis")
"""Content is the weakest of these three; no reader scores it."""
IMAGE_DIMENSIONS: Final = ("image_content", "image_style")
"""Scored on the boxes or pictures that a model gave, 1 to 5 (ReXecution rubric)."""
DIMENSIONS: Final = TEXT_DIMENSIONS + IMAGE_DIMENSIONS
DIMENSION_NAMES: Final[dict[str, str]] = {
    "content": tr("Content"),
    "process": tr("Process"),
    "execution": tr("Execution"),
    "synthesis": tr("Synthesis"),
    "language": tr("Language"),
    "image_content": tr("Image Content"),
    "image_style": tr("Image Style"),
}
SCORE_MIN: Final = 1
SCORE_MAX: Final = 5
LONGEST_ID: Final = 200
"""Characters of an id of a review set."""

QUESTION_TYPES: Final[dict[str, str]] = {
    "open": tr("Open question"),  # ReXecution
    "choice": tr("Multiple choice"),  # ReXVQA
    "report": tr("Report"),  # ReXrank
}
CATEGORIES: Final[dict[str, dict[str, str]]] = {
    "open": {
        "broad_abnormality": tr("Broad abnormality"),
        "diagnostic_reasoning": tr("Diagnostic reasoning"),
        "measurement_temporal": tr("Measurement or comparison"),
    },
    "choice": {
        "presence_assessment": tr("Presence"),
        "location_and_distribution": tr("Location and distribution"),
        "negation_assessment": tr("Negation"),
        "differential_diagnosis": tr("Differential diagnosis"),
        "geometric_information": tr("Geometry"),
    },
    "report": {},
}
CATEGORY_NAMES: Final[dict[str, str]] = {
    word: name for words in CATEGORIES.values() for word, name in words.items()
}
DIFFICULTIES: Final = ("easy", "medium", "hard")
CRITERIA: Final[dict[str, str]] = {
    "relevance": tr("Clinical relevance"),
    "answerability": tr("Answerability from the image"),
    "complexity": tr("Complexity of reasoning"),
    "clarity": tr("Clarity and precision"),
}
"""Criteria for candidate questions, scored 1 to 5 each (ReXecution's supplement)."""
QUESTION_TAGS: Final[dict[str, str]] = {
    "anatomical_region": tr("Anatomical region"),
    "pathology_type": tr("Pathology type"),
    "imaging_finding": tr("Imaging finding"),
    "laterality": tr("Laterality"),
    "diagnostic_intent": tr("Diagnostic intent"),
    "temporal_context": tr("Temporal context"),
    "question_type": tr("Question type"),
    "subtype": tr("Subtype"),
}
"""The eight tags of a question, by their names in ``cases.tags`` (ReXecution's supplement)."""
SOURCES: Final = ("reader", "model", "rule")
DECISIONS: Final = ("chosen", "rejected")
MEETING_DECISIONS: Final[dict[str, str]] = {  # a meeting may add words of its own
    "accept": tr("Accept"),
    "retrain": tr("Retrain"),
    "exclude": tr("Exclude"),
    "prompt_change": tr("Change the prompt"),
    "second_look": tr("Needs a second look"),
}
MEETING_STEPS: Final[dict[str, str]] = {  # what is shown of a case, in turn
    "question": tr("Image and question"),
    "answers": tr("Answers"),
    "boxes": tr("Boxes"),
    "models": tr("Names of the models"),
    "report": tr("Report"),
    "scores": tr("Scores"),
    "flags": tr("Failures"),
}
QUESTION_DEFECTS: Final[dict[str, str]] = {
    "several_valid": tr("More than one option is right"),
    "wrong_answer": tr("The right option is wrong"),
    "needs_comparison": tr("Needs an earlier study"),
    "invented": tr("Rests on what the report does not say"),
    "clinically_doubtful": tr("Clinically doubtful"),
    "unclear": tr("Unclear"),
    "identifies": tr("Could identify the patient"),
    "other": tr("Something else"),
}
"""Faults that an expert finds in a multiple-choice question (the first five: ReXVQA's paper)."""
MODEL_KINDS: Final[dict[str, str]] = {
    "generalist": tr("Generalist"),
    "medical": tr("Medical"),
    "report": tr("Report generator"),
    "reader": tr("Reader"),
}
VERDICTS: Final = ("confirmed", "rejected")
EDIT_ACTIONS: Final = ("keep", "substitute", "delete", "insert")
EDIT_SEVERITIES: Final[dict[int, str]] = {
    0: tr("No error"),
    1: tr("Not actionable"),
    2: tr("Actionable, not urgent"),
    3: tr("Urgent"),
    4: tr("Emergent"),
}
"""Clinical severity of an error in a line of a report (ReFiSco, FineRadScore)."""
JUDGE: Final = "fineradscore:"
"""Prefix for the name of a model that corrected reports as a judge: such a reader is no person."""
EDIT_KINDS: Final[dict[str, str]] = {
    "false_finding": tr("False finding"),
    "missing_finding": tr("Missing finding"),
    "location": tr("Location"),
    "severity": tr("Severity"),
    "size": tr("Size"),
    "number": tr("Number"),
    "certainty": tr("Certainty"),
    "descriptor": tr("Descriptor"),
    "measurement": tr("Measurement"),
    "comparison": tr("Comparison"),
}
"""The fault of a line: a whole finding, or one attribute of it."""
SIGNIFICANCES: Final = ("negligible", "significant")
PREFERENCE_WORDS: Final = ("first", "second", "tie")

VIEWS: Final[dict[str, str]] = {
    "PA": "PA",
    "AP": "AP",
    "FRONTAL": tr("Frontal"),  # ReXrank gives no more detail
    "LATERAL": tr("Lateral"),
    "OBLIQUE": tr("Oblique"),
    "DECUBITUS": tr("Decubitus"),
    "UNKNOWN": tr("View unknown"),
}
"""DICOM ViewPosition (0018,5101), with the lateral and oblique words merged."""
FRONTAL_VIEWS: Final = frozenset({"PA", "AP", "FRONTAL"})

_VIEW_WORDS: Final[dict[str, str]] = {
    word: meant
    for meant, words in {
        "PA": "PA POSTEROANTERIOR POSTERIORANTERIOR",
        "AP": "AP ANTEROPOSTERIOR ANTERIORPOSTERIOR",
        "FRONTAL": "FRONTAL FRONT",
        "LATERAL": "L LL RL LAT LATERAL LATERALVIEW LEFTLATERAL RIGHTLATERAL",
        "OBLIQUE": "RAO LAO RPO LPO RLO LLO OBL OBLIQUE",
        "DECUBITUS": "LLD RLD DECUB DECUBITUS",
    }.items()
    for word in words.split()
}
_NOT_VIEWS: Final = frozenset(
    (
        *("SUPINE", "ERECT", "UPRIGHT", "SEMIERECT", "SITTING", "STANDING"),
        *("PORTABLE", "MOBILE", "VIEW", "CHEST", "CXR", "XR", "AXIAL"),
    )
)
"""Words around a view that do not identify it."""


def normalise_view(word: str | None) -> str:
    """Return the word of :data:`VIEWS` for a view word of any source.

    Accepts ``PORTABLE AP``, ``AP SUPINE``, ``POSTERO_ANTERIOR``, ``LL`` and similar words. An
    unknown or contradictory word is ``UNKNOWN``, never a guess.

    >>> normalise_view("Portable AP"), normalise_view("LL"), normalise_view("swimmer's")
    ('AP', 'LATERAL', 'UNKNOWN')
    """
    if word is None:
        return "UNKNOWN"
    upper = word.upper()
    if "DECUB" in upper:
        return "DECUBITUS"
    whole = re.sub(r"[^A-Z]", "", upper)
    if whole in _VIEW_WORDS:
        return _VIEW_WORDS[whole]
    parts = [part for part in re.split(r"[^A-Z]+", upper) if part and part not in _NOT_VIEWS]
    if "".join(parts) in _VIEW_WORDS:
        return _VIEW_WORDS["".join(parts)]
    known = {_VIEW_WORDS[part] for part in parts if part in _VIEW_WORDS}
    return known.pop() if len(known) == 1 else "UNKNOWN"


FINISH_REASONS: Final[dict[str, str]] = {
    "stop": tr("Finished"),
    "length": tr("Token limit reached"),
    "content_filter": tr("Blocked by a content filter"),
    "error": tr("Error"),
    "unknown": tr("End reason not recorded"),
}
_FINISH_WORDS: Final[dict[str, str]] = {
    word: meant
    for meant, words in {
        "stop": (
            "stop end_turn eos eos_token stop_sequence completed complete done finished "
            "finish end eod eos_token_id stop_token stop_word stop_str tool_calls tool_use "
            "function_call"
        ),
        "length": (
            "length limit max_tokens max_output_tokens max_completion_tokens "
            "max_tokens_reached max_output_tokens_reached max_token maxtokens max_new_tokens "
            "max_length model_length token_limit token_limit_reached output_limit "
            "length_limit length_capped limit_reached num_predict truncated context_length "
            "context_length_exceeded context_limit model_context_window_exceeded incomplete "
            "error_limit"
        ),
        "content_filter": (
            "content_filter content_filtered contentfilter guardrail_intervened blocked "
            "refused spii image_safety safety refusal blocklist prohibited_content recitation "
            "error_toxic"
        ),
        "error": "error failed cancelled canceled timeout abort aborted malformed_function_call",
        "unknown": "unknown none null nan",
    }.items()
    for word in words.split()
}


def normalise_finish_reason(word: str | None) -> str | None:
    """Return the word of :data:`FINISH_REASONS` for a provider's finish reason.

    Returns
    -------
    str or None
        None for an unknown word: the caller keeps the raw word, treats the reason as ``unknown``
        and warns.

    >>> normalise_finish_reason("MAX_TOKENS"), normalise_finish_reason("end_turn")
    ('length', 'stop')
    >>> normalise_finish_reason("incomplete: content_filter")
    'content_filter'
    """
    if word is None:
        return "unknown"
    text = _CAMEL.sub("_", word.strip())
    folded = re.sub(r"[\s\-.]+", "_", text.lower())
    folded = folded.removeprefix("finish_reason_").removeprefix("finishreason_")
    if not folded:
        return "unknown"
    if folded in _FINISH_WORDS:
        return _FINISH_WORDS[folded]
    parts = [part.strip("_") for part in re.split(r"[^a-z_]+", folded)]
    known = {_FINISH_WORDS[part] for part in parts if part and part in _FINISH_WORDS}
    if "incomplete" in parts and len(known) > 1:
        known.discard("length")  # the Responses API gives the reason after it
    return known.pop() if len(known) == 1 else None


_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Failure:
    """One failure mode: its id, its display name, and its meaning in one line."""

    id: str
    name: str
    plural: str
    meaning: str


_FAILURES: Final = (
    Failure(
        "laterality_error",
        *(tr("Laterality error"), tr("Laterality errors")),
        tr("A finding is placed on the wrong side."),
    ),
    Failure(
        "token_limit",
        *(tr("Token-limit failure"), tr("Token-limit failures")),
        tr("The answer was cut off, or never came, because the output ran out of tokens."),
    ),
    Failure(
        "execution_gap",
        *(tr("Execution-vs-process gap"), tr("Execution-vs-process gaps")),
        tr("The model knew what to do but could not do it on the image."),
    ),
    Failure(
        "hallucination",
        *(tr("Invented finding"), tr("Invented findings")),
        tr("A finding is reported that is not there."),
    ),
    Failure(
        "omission",
        *(tr("Missed finding"), tr("Missed findings")),
        tr("A finding of the report is left out."),
    ),
    Failure(
        "wrong_type",
        *(tr("Right place, wrong abnormality"), tr("Right place, wrong abnormality")),
        tr("The region is right, the finding named there is not."),
    ),
    Failure(
        "side_incomplete",
        *(tr("One side of a bilateral finding"), tr("One side of bilateral findings")),
        tr("The report has a finding on both sides and the answer on one, or the other way round."),
    ),
    Failure(
        "boxes_missing",
        *(tr("Boxes not drawn"), tr("Boxes not drawn")),
        tr("Boxes were asked for and an abnormality is reported, but none is drawn."),
    ),
    Failure(
        "box_misplaced",
        *(tr("Box misplaced"), tr("Boxes misplaced")),
        tr("A box is not on its finding."),
    ),
    Failure(
        "box_unrelated",
        *(tr("Box not in the text"), tr("Boxes not in the text")),
        tr("A box is labelled with something the answer does not mention."),
    ),
    Failure(
        "overconfident",
        *(tr("Overconfident"), tr("Overconfident")),
        tr("Definite wording on poor reasoning."),
    ),
    Failure("verbose", tr("Too long"), tr("Too long"), tr("Longer than the question needs.")),
    Failure("terse", tr("Too short"), tr("Too short"), tr("Too short to be of use.")),
    Failure(
        "failed_extraction",
        *(tr("No usable choice"), tr("No usable choice")),
        tr("A choice question without a valid option."),
    ),
    Failure(
        "wrong_explanation",
        *(tr("Right choice, wrong explanation"), tr("Right choice, wrong explanation")),
        tr("The right option is chosen for a reason that is wrong."),
    ),
    Failure(
        "disagreement",
        *(tr("Readers disagree"), tr("Readers disagree")),
        tr("Two readers differ by two or more on a dimension."),
    ),
)
FAILURES: Final[dict[str, Failure]] = {failure.id: failure for failure in _FAILURES}
"""Failure modes by id, in the order of the pages."""
READER_ONLY_FAILURES: Final = frozenset({"wrong_explanation"})
"""Failures that no rule looks for: an answer is judged only once a reader has judged it."""
HEADLINE_FAILURES: Final = ("laterality_error", "token_limit", "execution_gap")
SUGGESTED_FAILURES: Final = frozenset(
    {
        *("hallucination", "omission", "wrong_type", "side_incomplete"),
        *("overconfident", "verbose", "terse"),
    }
)
"""Failures that rules suggest (:data:`HINT_KINDS`) and readers judge.

A missing flag means nothing for them: without a reader's verdict the share is not 0 but not judged.
"""
HINT_KINDS: Final = frozenset({"hint", "bilateral"})
"""Kinds of a detector's flag that are weaker than a flag: shown as suggested, counted separately.

``bilateral`` occurs in older files only; it is ``side_incomplete`` now.
"""


def option_letter(number: int) -> str:
    """Return the letter of an option by its number from 0; beyond Z its number from 1.

    >>> option_letter(1), option_letter(26)
    ('B', '27')
    """
    return chr(ord("A") + number) if 0 <= number < 26 else str(number + 1)


def starts_with_letter(option: str, number: int) -> bool:
    """True if the text of an option already starts with its letter, as in ReXVQA's files.

    >>> (
    ...     starts_with_letter("B. Effusion", 1),
    ...     starts_with_letter("A. fib", 1),
    ...     starts_with_letter("Nodule", 0),
    ... )
    (True, False, False)
    """
    words = option.lstrip("(")
    return words[:1] == option_letter(number) and words[1:2] in (".", ")", ":")


def option_with_letter(option: str, number: int) -> str:
    """Return an option with its letter in front, once.

    >>> option_with_letter("Effusion", 1), option_with_letter("B. Effusion", 1)
    ('B. Effusion', 'B. Effusion')
    """
    return option if starts_with_letter(option, number) else f"{option_letter(number)}. {option}"


def judge_name(reader: str) -> str:
    """Return the display name of a judge; for another reader, the id unchanged.

    >>> judge_name("fineradscore:gpt-5"), judge_name("reader-a")
    ('FineRadScore (gpt-5)', 'reader-a')
    """
    model = reader.removeprefix(JUDGE)
    return f"FineRadScore ({model})" if model != reader else reader


def english_noun(n: float, word: str) -> str:
    """Return an English noun in the form for a number; pages use ``rexview.words``.

    >>> (
    ...     english_noun(1, "case"),
    ...     english_noun(0, "case"),
    ...     english_noun(2, "entry"),
    ...     english_noun(3, "box"),
    ...     english_noun(4, "batch"),
    ... )
    ('case', 'cases', 'entries', 'boxes', 'batches')
    """
    return word if n == 1 else nouns(word)


def english_count(n: int, word: str) -> str:
    """Return a number with its noun.

    >>> english_count(1, "answer"), english_count(1204, "answer")
    ('1 answer', '1,204 answers')
    """
    return f"{n:,} {english_noun(n, word)}"


def duration_text(seconds: float) -> str:
    """Return a length of time: in seconds below a minute, then in minutes, then in hours.

    >>> (
    ...     duration_text(0.2),
    ...     duration_text(9),
    ...     duration_text(125),
    ...     duration_text(5400),
    ...     duration_text(7200),
    ... )
    ('1 s', '9 s', '2 min', '1 h 30 min', '2 h')
    """
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes))


def date_text(given: date) -> str:
    """Return a date, or the date of a time.

    >>> date_text(date(2026, 3, 8))
    '8 Mar 2026'
    """
    return f"{given.day} {given:%b %Y}"


def time_text(given: datetime) -> str:
    """Return a time in UTC, to the minute; a time without a zone is taken as UTC.

    >>> time_text(datetime(2026, 3, 8, 14, 5))
    '8 Mar 2026, 14:05 UTC'
    """
    at = given.astimezone(UTC) if given.tzinfo else given
    return f"{date_text(at)}, {at:%H:%M} UTC"
