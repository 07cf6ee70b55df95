"""How fast the detectors read: pairs a second, and whether hard text makes them slow."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rexview.bench.corpus import Labelled
from rexview.bench.measure import Row, at_least, ratio_at_most, result
from rexview.detect import DETECTORS, flags_for
from rexview.detect.core.detector import Detector
from rexview.detect.findings.reading import forget
from rexview.schema import Answer, Case, Report

ROUNDS: Final = 3
SAMPLE: Final = 300
"""So many pairs, taken evenly from all of them, are read for the speed."""
LARGE: Final = 1_000_000
MIDDLE: Final = 300_000
"""Every hard text is read at this length and at a tenth of it, which is longer than what hints
read at all."""
PAIRS_TARGET: Final = 2_000
SLOWEST: Final = 2
"""So many of the hard texts, the slowest ones, are tried at full length."""
RATIO_TARGET: Final = 20
"""For ten times the text: 10 is linear, up to twice that is noise, 100 is quadratic."""
_SHORTEST_S: Final = 1e-3
"""What takes less is taken for as long: the clock says no more."""
HARD_TEXT: Final = {
    "one letter": "a",
    "spaces": " ",
    "line breaks": "\n",
    "side words": "left right ",
    "effusions without a full stop": "no left and right lower lobe effusion or ",
    "list items": "- left effusion\n  - right effusion\n",
    "table bars": "| left ",
    "open brackets": '{"effusion": [(',
    "quotation marks": "\"'`",
    "full stops": "left. ",
    "negations": "no not without ",
    "upper case": "LEFT PNEUMOTHORAX AND RIGHT ",
    "corrections": "left effusion, no, right effusion, sorry, ",
    "headings": "## Right lung\n**Left**:\n",
    "digits": "1. 2.3 4) ",
    "other scripts": "左側胸水 ëffusion \u200b\U0001f441 ",
}
"""Texts that are repeated until they are as long as wanted."""


def rows(pairs: Sequence[Labelled]) -> list[Row]:
    """Measure the speed in processor time of this one thread."""
    detectors: list[tuple[str, Sequence[Detector]]] = [
        ("laterality", [one for one in DETECTORS if one.failure == "laterality_error"]),
        ("all detectors", DETECTORS),
    ]
    pairs = pairs[:: max(1, len(pairs) // SAMPLE)]
    measured = [
        result(
            f"pairs a second, one core, {name}",
            pairs_per_second(pairs, some),
            "1/s",
            goal=at_least(PAIRS_TARGET) if name == "laterality" else None,
            note=f"{len(pairs)} pairs, best of {ROUNDS} rounds",
        )
        for name, some in detectors
    ]
    seconds = {name: hard_text_seconds(name, MIDDLE) for name in HARD_TEXT}
    for name, duration in seconds.items():
        measured.append(_growth(name, hard_text_seconds(name, MIDDLE // 10), duration, MIDDLE))
    for name in sorted(seconds, key=lambda name: -seconds[name])[:SLOWEST]:
        less, more = (hard_text_seconds(name, size) for size in (LARGE // 10, LARGE))
        measured.append(_growth(name, less, more, LARGE))
    return measured


def _growth(name: str, less: float, more: float, size: int) -> Row:
    """One row: a text of ``size`` characters against a tenth of it, in seconds."""
    return result(
        f"{size:,} characters of {name}",
        more,
        "s",
        alternative=max(less, _SHORTEST_S),
        name="a tenth of the text",
        goal=ratio_at_most(RATIO_TARGET),
    )


def pairs_per_second(pairs: Sequence[Labelled], detectors: Sequence[Detector]) -> float:
    """Return the best of some rounds, each of which reads all for the first time."""
    best = float("inf")
    for number in range(ROUNDS):
        fresh = [_fresh(pair, number) for pair in pairs]
        forget()
        start = time.thread_time()
        for case, answer in fresh:
            flags_for(case, [answer], detectors=detectors)
        best = min(best, time.thread_time() - start)
    return len(pairs) / best if best else float("inf")


def _fresh(pair: Labelled, number: int) -> tuple[Case, Answer]:
    fresh = f"\n\nAccession {time.time_ns()}-{number}."
    report = replace(pair.case.report, findings=(pair.case.report.findings or "") + fresh)
    return replace(pair.case, report=report), replace(
        pair.answer, text=(pair.answer.text or "") + fresh
    )


def hard_text_seconds(name: str, size: int) -> float:
    """Return the time for all detectors on an answer and a report of that many characters."""
    unit = HARD_TEXT[name]
    text = (unit * (size // len(unit) + 1))[:size]
    case = Case(id="hard", question="", report=Report(findings=text[:-1]))
    answer = Answer(case="hard", model="corpus", text=text)
    start = time.thread_time()
    flags_for(case, [answer])
    return time.thread_time() - start
