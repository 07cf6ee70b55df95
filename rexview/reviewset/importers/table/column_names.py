"""The words that people write above columns, and how a column name is taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_EDGES: Final = " \t_-:;,.()[]{}/|#"

FIELD_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "case": (
        *("case", "case id", "caseid", "id", "case number", "case no", "case nr", "item"),
        *("item id", "sample id", "sample", "question id", "qid", "task id", "uid", "nr", "no"),
    ),
    "question": (
        "question",
        "prompt",
        "query",
        "instruction",
        "question text",
        "task",
        "user prompt",
    ),
    "question_type": ("question type", "type of question"),
    "category": ("category", "question category", "task name", "task type"),
    "difficulty": ("difficulty", "difficulty level"),
    "study_id": ("study", "study id", "studyid", "exam id", "exam"),
    "patient_id": ("patient id", "patientid", "patient", "subject", "subject id", "patient code"),
    "site": ("site", "hospital", "institution", "centre", "center", "dataset"),
    "normal": ("normal", "is normal", "normal study"),
    "age": ("age", "patient age", "age years"),
    "sex": ("sex", "gender", "patient sex", "patient gender"),
    "indication": (
        *("indication", "clinical history", "history", "clinical information", "clinical context"),
        *("clinical indication", "reason for exam", "reason for examination", "context"),
    ),
    "comparison": ("comparison", "compared with", "prior study"),
    "report": (
        *("report", "radiology report", "reference report", "reference", "ground truth", "gt"),
        *("ground truth report", "gt report", "gold report", "full report", "report text"),
        *("radiologist report", "reference text", "reference answer", "expert answer"),
    ),
    "findings": (
        "findings",
        "section findings",
        "report findings",
        "reference findings",
        "gt findings",
    ),
    "impression": (
        *("impression", "section impression", "report impression", "reference impression"),
        *("gt impression", "conclusion"),
    ),
    "image": (
        *("image", "images", "image path", "image paths", "image file", "image filename", "file"),
        *("filename", "file name", "file path", "path", "image index", "image id", "image name"),
        *("img", "img path", "dicom", "dicom path", "dicom file", "key image path"),
    ),
    "view": ("view", "views", "view position", "projection", "frontal lateral", "ap pa"),
    "options": ("options", "answer options", "choices"),
    "correct": ("correct", "correct answer", "correct option", "answer key", "right answer"),
    "tag_anatomical_region": ("anatomical region", "region", "anatomy", "body region"),
    "tag_pathology_type": ("pathology type", "pathology"),
    "tag_imaging_finding": (
        "imaging finding",
        "finding",
        "finding label",
        "finding labels",
        "labels",
    ),
    "tag_laterality": ("laterality", "side"),
    "tag_diagnostic_intent": ("diagnostic intent", "intent"),
    "tag_temporal_context": ("temporal context",),
    "tag_subtype": ("subtype",),
    "model": ("model", "model name", "model id", "system", "llm", "vlm", "algorithm", "ai model"),
    "answer": (
        *("answer", "response", "output", "prediction", "completion", "reply", "generation"),
        *("model answer", "model response", "model output", "model prediction", "answer text"),
        *("ai answer", "ai report", "ai response", "generated text", "generated report"),
        *("predicted report", "candidate report", "response text", "output text", "text"),
    ),
    "finish_reason": ("finish reason", "stop reason", "done reason", "finish", "status"),
    "input_tokens": ("input tokens", "prompt tokens", "tokens in"),
    "output_tokens": (
        *("output tokens", "completion tokens", "tokens out", "generated tokens", "tokens"),
        *("token count", "num tokens", "n tokens"),
    ),
    "max_output_tokens": (
        *("max output tokens", "max tokens", "max new tokens", "token limit"),
        *("max completion tokens", "output token limit"),
    ),
    "choice": ("choice", "chosen option", "selected option", "model choice", "predicted option"),
    "error": ("error", "error message", "exception"),
    "latency_s": (
        "latency",
        "latency s",
        "seconds",
        "duration",
        "duration s",
        "response time",
        "time s",
    ),
    "created": ("created", "created at", "timestamp", "datetime", "date", "answered at"),
    "run_id": ("run", "run id", "attempt", "repeat", "seed", "trial"),
    "reader": (
        *("reader", "reader id", "reader name", "rater", "rater id", "annotator", "reviewer"),
        *("evaluator", "scored by", "radiologist"),
    ),
    "dimension": ("dimension", "criterion", "aspect", "score type"),
    "score": ("score", "rating", "likert", "grade", "points"),
    "comment": (
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "reader comment",
        "feedback",
    ),
}
"""Names of columns by field, in small letters, words apart by one space; most usual ones first."""

DIMENSION_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "process": ("process",),
    "execution": ("execution",),
    "synthesis": ("synthesis",),
    "language": ("language",),
    "image_content": ("image content", "box content"),
    "image_style": ("image style", "box style"),
}
FAILURE_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "laterality_error": ("laterality error", "wrong side", "side error"),
    "token_limit": ("token limit failure", "truncated", "cut off"),
    "execution_gap": ("execution gap",),
    "hallucination": ("hallucination", "hallucinated", "invented finding"),
    "omission": ("omission", "missed finding", "omitted"),
    "wrong_type": ("wrong type", "wrong abnormality"),
    "boxes_missing": ("boxes missing", "boxes not drawn"),
    "box_misplaced": ("box misplaced", "misplaced box"),
    "box_unrelated": ("box unrelated",),
    "overconfident": ("overconfident", "overconfidence"),
    "verbose": ("verbose", "too long"),
    "terse": ("terse", "too short"),
    "failed_extraction": ("failed extraction",),
}
"""Names of columns that hold a reader's score or tick, by dimension and failure."""

READER_WORDS: Final = (
    "reader",
    "rater",
    "radiologist",
    "reviewer",
    "annotator",
    "expert",
    "rad",
    "r",
)
KINDS_OF_MODEL: Final = frozenset(("ai", "model", "llm", "vlm", "system", "the"))
"""Words that say that something is a model, but not which one."""
NOT_A_MODEL: Final = KINDS_OF_MODEL | frozenset(
    (
        *(
            "final",
            "full",
            "raw",
            "clean",
            "generated",
            "predicted",
            "parsed",
            "original",
            "edited",
        ),
        *("free", "text", "complete", "long", "short", "my", "their", "first", "second", "new"),
        *("correct", "reference", "gold", "ground", "truth", "gt", "true", "expert", "key"),
        *("radiologist", "human", "right", "explanation", "options", "option", "choice", "type"),
        *("id", "length", "len", "date", "number", "count", "words", "language", "score", "time"),
        *("of", "and", "question", "image", "case", "report", "is", "has", "no", "max", "min"),
        *("token", "tokens", "reader", "comment", "comments", "notes", "embedding", "hash"),
        *("source", "format", "path", "file", "filename", "url", "json", "status", "code", "index"),
        *("name", "folder", "prompt", "input", "version", "quality", "correctness", "accuracy"),
        *("confidence", "rationale", "reasoning", "justification", "message", "corrected"),
    )
)
"""Words that, beside "answer" and its like, do not name a model."""
MODEL_WORDS: Final = re.compile(
    r"gpt|claude|gemini|gemma|llava|llama|grok|qwen|chexagent|maira|medversa|radfm|deepseek|mistral"
    r"|rgrg|raddialog|palm|internvl|pixtral|biomed|cxr-|vlci|libra|^model\b|^phi\b|^o[1345]\b",
    re.IGNORECASE,
)
IDENTITY: Final = re.compile(
    r"\b((first|last|family|given|sur|patient|patients|full) ?names?|surname|forename|mrn|dob"
    r"|birth ?(date|day)|date of birth|birthdate|ssn|social security|nhs|insurance|accession"
    r"|accession (number|no)|address|street|zip|zip code|postcode|postal code|phone|telephone"
    r"|e ?mail|medical record|medical record number|hospital number|(study|exam|scan|admission"
    r"|acquisition|visit) ?(date|time)|(study|series|sop) ?instance ?uid)\b"
)
"""Column names, as words, that look like a patient's identity."""


@dataclass(frozen=True)
class ColumnName:
    """A column name taken apart: its words in small letters, and where each one stands."""

    written: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, written: str) -> ColumnName:
        """Take a name apart at spaces, punctuation, and inner capitals."""
        found = list(_TOKEN.finditer(written))
        return cls(
            written,
            tuple(one[0].lower() for one in found),
            tuple(one.span() for one in found),
        )

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
