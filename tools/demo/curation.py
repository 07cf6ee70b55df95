"""Make candidate questions for the demo's studies, from an invented model, with their results."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rexview.curation.candidates import choice_id, open_id
from rexview.curation.choice.checks.content import CONTENT
from rexview.curation.choice.checks.identifying import CHECK as IDENTIFIES
from rexview.curation.choice.validation import write_rules
from rexview.package_data import read_package_table
from rexview.reviewset import load_review_set
from rexview.vocab import CRITERIA

Row = dict[str, Any]
_TEXTS: Final = Path(__file__).parent / "texts" / "curation"
_CHECKER: Final = {"source": "model", "by": "question-checker (simulated)"}
_WRITER: Final = {"source": "model", "by": "question-writer (simulated)"}
_READER: Final = "reader_a"
_CATEGORIES: Final = {
    "broad": "broad_abnormality",
    "reasoning": "diagnostic_reasoning",
    "measurement": "measurement_temporal",
}
_START: Final = dt.datetime(2026, 2, 16, 8, 0, tzinfo=dt.UTC)
"""Two weeks before the questions were asked."""


def write_curation(folder: Path) -> None:
    """Write candidates, ratings, tags and selections to the folder of the cases."""
    lines = (folder / "cases.jsonl").read_text("utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    given = _read("questions", cases)
    choices = [
        (case, number, _turned(candidate, place))
        for place, (case, number, candidate) in enumerate(_read("choices", cases))
    ]
    for name, rows in {
        "candidates": [*map(_candidate, given), *map(_choice, choices)],
        "validations": (row for one in choices for row in _validations(one)),
        "candidate_ratings": (row for one in given for row in _ratings(one)),
        "candidate_tags": map(_tags, given),
        "selections": (_selection(one) for one in given if "decision" in one[2]),
    }.items():
        _write(folder / f"{name}.jsonl", rows)
    write_rules(load_review_set(folder))


def _read(name: str, cases: Mapping[str, Row]) -> list[tuple[Row, int, Row]]:
    """Read candidates, each with its case and its number within the case."""
    texts = read_package_table(_TEXTS / f"{name}.yaml")
    return [
        (cases[case], number, candidate)
        for case, candidates in texts.items()
        for number, candidate in enumerate(candidates)
    ]


def _turned(candidate: Row, place: int) -> Row:
    """Move the right option, which is first in the texts, to another position."""
    options, by = candidate["options"], place % len(candidate["options"])
    if options[-1] == "All of the above":  # stays last
        by = 0
    return {**candidate, "options": options[-by:] + options[:-by] if by else options, "correct": by}


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), "utf-8")


def _about(case: Row, candidate: Row) -> Row:
    return {"case": case["id"], "candidate": open_id(candidate["ask"])}


def _at(case: Row, number: int, *, days: int = 0) -> str:
    study = int(case["id"][1:])
    return (_START + dt.timedelta(days=days, minutes=7 * study + number)).isoformat()


def _of_run(case: Row, number: int) -> Row:
    return {"prompt_id": "demo-1", "run_id": "demo-1", "created": _at(case, number)}


def _candidate(given: tuple[Row, int, Row]) -> Row:
    case, number, candidate = given
    return {
        **_about(case, candidate),
        "question": candidate["ask"],
        "question_type": "open",
        "category": _CATEGORIES[candidate["category"]],
        **_WRITER,
        **_of_run(case, number),
    }


def _choice(given: tuple[Row, int, Row]) -> Row:
    case, number, candidate = given
    same = ("options", "correct", "explanation", "statement", "difficulty", "category")
    return {
        **_about_choice(case, candidate),
        "question": candidate["ask"],
        "question_type": "choice",
        **{name: candidate[name] for name in same},
        **_WRITER,
        **_of_run(case, number),
    }


def _about_choice(case: Row, candidate: Row) -> Row:
    name = choice_id(candidate["ask"], candidate["options"])
    return {"case": case["id"], "candidate": name}


def _validations(given: tuple[Row, int, Row]) -> Iterator[Row]:
    """Yield the validating model's results for everything it is asked about."""
    case, number, candidate = given
    faults = candidate.get("faults", {})
    for check in (*CONTENT, IDENTIFIES):
        yield {
            **_about_choice(case, candidate),
            "check": check,
            **_CHECKER,
            "passed": check not in faults,
            "comment": faults.get(check),
            **_of_run(case, number),
        }


def _ratings(given: tuple[Row, int, Row]) -> Iterator[Row]:
    case, number, candidate = given
    about = _about(case, candidate)
    scores = dict(zip(CRITERIA, candidate["scores"], strict=True))
    risk = candidate.get("risk")
    stated = candidate.get("stated", sum(candidate["scores"]))
    said = {"risk": risk is not None, "stated_total": stated}
    yield {**about, **_WRITER, **scores, **said, "comment": risk, **_of_run(case, number)}
    if "reader" in candidate:
        own = dict(zip(CRITERIA, candidate["reader"], strict=True))
        by = {"source": "reader", "by": _READER}
        yield {**about, **by, **own, "created": _at(case, number, days=3)}


def _tags(given: tuple[Row, int, Row]) -> Row:
    case, number, candidate = given
    tags = {**case["tags"], **candidate.get("tags", {})}
    return {**_about(case, candidate), **_WRITER, "tags": tags, **_of_run(case, number)}


def _selection(given: tuple[Row, int, Row]) -> Row:
    case, number, candidate = given
    return {
        **_about(case, candidate),
        "reader": _READER,
        "decision": candidate["decision"],
        "question": candidate.get("edited"),
        "boxes_question": candidate.get("boxes"),
        "comment": candidate.get("comment"),
        "created": _at(case, number, days=4),
    }
