"""Rating: what a model is asked of a question, and the row of ``candidate_ratings`` it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexview.curation.asking import Row, Step
from rexview.curation.rating.reading import Rating, read_rating
from rexview.models.asking.prompts import fixed_wording
from rexview.models.backend import closed_object
from rexview.vocab import CRITERIA, SCORE_MAX, SCORE_MIN

WORDING: Final = fixed_wording(Path(__file__).with_name("rate-2.yaml"))
_SCORE: Final = closed_object(
    {
        "score": {"type": "integer", "enum": list(range(SCORE_MIN, SCORE_MAX + 1))},
        "reason": {"type": "string"},
    }
)
_FLAG: Final = closed_object({"flag": {"type": "boolean"}, "reason": {"type": "string"}})


def _rows(found: Rating, about: tuple[str, ...]) -> list[Row]:
    return [
        {
            "candidate": about[0],
            **found.scores,
            "risk": found.risk,
            "stated_total": found.stated_total,
            "comment": _reasons(found),
        }
    ]


def _reasons(found: Rating) -> str | None:
    """Return the model's reasons, a line each behind the name of its criterion."""
    given = {CRITERIA[name]: words for name, words in found.reasons.items() if name in CRITERIA}
    if found.risk_reason:
        given["Risk"] = found.risk_reason
    return "\n".join(f"{name}: {words}" for name, words in given.items()) or None


RATE: Final = Step(
    name="rate",
    table="candidate_ratings",
    wording=WORDING,
    schema=closed_object(
        {**dict.fromkeys(CRITERIA, _SCORE), "risk": _FLAG, "total": {"type": "integer"}}
    ),
    read=read_rating,
    rows=_rows,
    output_tokens=200,
)
