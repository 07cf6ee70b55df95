"""Make an invented judge's opinions on answers in the demo, as rows of ``opinions``."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rexview.answer_digest import digests_of
from rexview.package_data import read_package_table
from rexview.reviewset import load_review_set

Row = dict[str, Any]
_TEXTS: Final = Path(__file__).parent / "texts" / "curation" / "opinions.yaml"
_FAILURES: Final = ("laterality_error", "hallucination", "omission", "token_limit")
_DIMENSIONS: Final = ("process", "execution", "synthesis", "language")
_JUDGE: Final = {"judge": "second-opinion (simulated)", "prompt_id": "demo-1"}
_START: Final = dt.datetime(2026, 5, 20, 8, 0, tzinfo=dt.UTC)
"""After the readers had finished."""


def write_opinions(folder: Path) -> None:
    """Write the opinions to the folder of the answers."""
    texts = read_package_table(_TEXTS)
    path = folder / "opinions.jsonl"
    path.unlink(missing_ok=True)
    review_set = load_review_set(folder)
    digests = digests_of(review_set)
    lines = []
    for case, by_model in texts.items():
        answers = {one.model: one.text or "" for one in review_set.answers_of(case)}
        for place, (model, said) in enumerate(by_model.items()):
            created = _START + dt.timedelta(minutes=int(case[1:]), seconds=20 * place)
            known = {
                "case": case,
                "model": model,
                **_JUDGE,
                "run_id": "demo-1",
                "created": created.isoformat(),
                "answer_digest": digests.of(case, model),
            }
            for row in _opinions(said, answers[model]):
                lines.append(json.dumps(known | row, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), "utf-8")


def _opinions(said: Row, answer: str) -> Iterator[Row]:
    """Yield the judge's opinions on one answer; each quote occurs in the answer."""
    for failure in _FAILURES:
        reason, quote = said.get(failure, (None, None))
        if quote is not None and quote not in answer:
            raise ValueError(f"The answer does not say “{quote}”.")
        yield {"failure": failure, "present": failure in said, "reason": reason, "quote": quote}
    for dimension, score in zip(_DIMENSIONS, said["scores"], strict=True):
        yield {"dimension": dimension, "score": score}
