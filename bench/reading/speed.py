"""Measure the speed of the detectors: pairs a second, and the effect of hard texts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final

from bench.corpus import Labelled
from bench.measure import Row, at_least, at_most, in_turn, ratio_at_most, result
from rexview.detect import DETECTORS, find_flags_for_answers, read_word_lists
from rexview.detect.detector import Detector
from rexview.schema import Answer, Case, Report
from rexview.text.findings import find_mentions
from rexview.text.findings.lexicon import lexicon
from rexview.text.findings.mention_finder import clear_caches
from rexview.text.findings.sentences import Tokens, split_sentences

ROUNDS: Final = 3
SAMPLE: Final = 300
"""Number of pairs, evenly spaced, whose reading is timed."""
LARGE: Final = 1_000_000
MIDDLE: Final = 300_000
"""Length at which every hard text is read; also at a tenth of it, which is longer than what hints
read at all."""
PAIRS_TARGET: Final = 2_000
SLOWEST: Final = 2
"""Number of the slowest hard texts that are tried at full length."""
RATIO_TARGET: Final = 20
"""For ten times the text: 10 is linear, up to twice that is noise, 100 is quadratic."""
_SHORTEST_S: Final = 1e-3
"""Shorter times count as this: the clock resolves no less."""
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
"""Texts that are repeated up to the wanted length."""


def detector_speed_rows(pairs: Sequence[Labelled]) -> list[Row]:
    """Measure the speed in processor time of this thread."""
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
    """Return a row that compares a text of ``size`` characters with a tenth of it, in seconds."""
    return result(
        f"{size:,} characters of {name}",
        more,
        "s",
        alternative=max(less, _SHORTEST_S),
        name="a tenth of the text",
        goal=ratio_at_most(RATIO_TARGET),
    )


def pairs_per_second(pairs: Sequence[Labelled], detectors: Sequence[Detector]) -> float:
    """Return the best of several rounds; each round reads all pairs without caches."""
    best = float("inf")
    for number in range(ROUNDS):
        fresh = [_fresh(pair, number) for pair in pairs]
        clear_caches()
        start = time.thread_time()
        for case, answer in fresh:
            find_flags_for_answers(case, [answer], detectors=detectors)
        best = min(best, time.thread_time() - start)
    return len(pairs) / best if best else float("inf")


def _fresh(pair: Labelled, number: int) -> tuple[Case, Answer]:
    fresh = f"\n\nAccession {time.time_ns()}-{number}."
    report = replace(pair.case.report, findings=(pair.case.report.findings or "") + fresh)
    return replace(pair.case, report=report), replace(
        pair.answer, text=(pair.answer.text or "") + fresh
    )


def hard_text_seconds(name: str, size: int) -> float:
    """Return the time of all detectors on an answer and a report of that many characters."""
    unit = HARD_TEXT[name]
    text = (unit * (size // len(unit) + 1))[:size]
    case = Case(id="hard", question="", report=Report(findings=text[:-1]))
    answer = Answer(case="hard", model="corpus", text=text)
    start = time.thread_time()
    find_flags_for_answers(case, [answer])
    return time.thread_time() - start


# Time of answers, on first reading and with known sentences; and of sentences, with medspaCy.

SENTENCES: Final = 1_500
"""Number of different sentences, evenly spaced, that both read."""
CHARACTERS: Final = 1_000
MODELS: Final = 8
"""Number of answers to one report, in rows with several."""
PYTHON: Final = "MEDSPACY_PYTHON"
"""Environment variable: the Python that has medspaCy, if this one does not."""
_Given = tuple[Case, list[Answer]]
"""A case with its report, and the answers to it."""
_MOST_MS: Final = 1.0
_MOST_OF_MEDSPACY: Final = 0.5
_HOW_TO_GET_IT: Final = (
    f"medspacy is not installed: pip install medspacy, here or elsewhere; then {PYTHON}=its python"
)


def sentence_speed_rows(pairs: Sequence[Labelled]) -> list[Row]:
    """Measure answers of 1,000 characters, then single sentences against medspaCy, in turn."""
    read_word_lists()
    return [*_answers(pairs), _beside_medspacy(pairs)]


def _answers(pairs: Sequence[Labelled]) -> list[Row]:
    """Time all detectors on answers and reports joined from the labelled pairs."""
    given = list(_joined(pairs))
    shared = list(_of_several_models(given))
    again = [
        (case, [replace(answer, text=f"{answer.text}\nEnd.") for answer in answers])
        for case, answers in given
    ]
    (new,) = in_turn(lambda: _milliseconds(given, fresh=True), rounds=ROUNDS)
    (known,) = in_turn(
        lambda: _milliseconds(given, fresh=True) and _milliseconds(again, fresh=False),
        rounds=ROUNDS,
    )
    (of_several,) = in_turn(lambda: _milliseconds(shared, fresh=True), rounds=ROUNDS)
    what = f"answer of {CHARACTERS:,} characters, all detectors"
    one, several = _note(given), _note(shared)
    return [
        result(f"{what}, first read", new, "ms", goal=at_most(_MOST_MS), note=one),
        result(f"{what}, known sentences", known, "ms", goal=at_most(_MOST_MS), note=one),
        result(
            f"{what}, first read, {MODELS} models",
            of_several,
            "ms",
            goal=at_most(_MOST_MS),
            note=several,
        ),
    ]


def _note(given: Sequence[_Given]) -> str:
    """Return a note on an answer's time: with one model it includes that of a whole report."""
    count = sum(len(answers) for _, answers in given)
    size = sum(len(answer.text or "") for _, answers in given for answer in answers) / count
    report = sum(len(case.report.findings or "") for case, _ in given) / len(given)
    return (
        f"{count} answers of {size:,.0f} characters in the mean, {len(given)} reports of "
        f"{report:,.0f}, each read once and counted; processor time of one core"
    )


def _joined(pairs: Sequence[Labelled]) -> Iterator[_Given]:
    """Join answers up to enough characters, and their reports with them."""
    texts: list[str] = []
    reports: list[str] = []
    for pair in pairs:
        texts.append(pair.answer.text or "")
        reports.append(pair.case.report.findings or "")
        if sum(map(len, texts)) + len(texts) >= CHARACTERS:
            case = Case(pair.case.id, pair.case.question, report=Report("\n".join(reports)))
            yield case, [Answer(case=case.id, model=pair.answer.model, text="\n".join(texts))]
            texts, reports = [], []


def _of_several_models(given: Sequence[_Given]) -> Iterator[_Given]:
    """Collect different answers of several cases under the report of the first."""
    for first in range(0, len(given) - MODELS + 1, MODELS):
        case = given[first][0]
        answers = [answer for _, some in given[first : first + MODELS] for answer in some]
        yield case, [replace(one, case=case.id, model=f"m{n}") for n, one in enumerate(answers)]


def _milliseconds(given: Sequence[_Given], *, fresh: bool) -> float:
    """Return the time of an answer, with its share of its report."""
    if fresh:
        clear_caches()
    start = time.thread_time()
    for case, answers in given:
        find_flags_for_answers(case, answers)
    seconds = time.thread_time() - start
    return 1_000 * seconds / sum(len(answers) for _, answers in given)


def _beside_medspacy(pairs: Sequence[Labelled]) -> Row:
    """Time findings, sides and denials of single sentences: ours, and medspaCy's targets.

    medspaCy gets our lexicon's words for findings as targets, and its own context rules, which do
    not cover sides.
    """
    texts = _sentences(pairs)
    terms = sorted(_phrases())

    def ours() -> float:
        clear_caches()
        start = time.thread_time()
        for text in texts:
            find_mentions(text)
        return time.thread_time() - start

    what, unit = "sentence, findings and context", "us"
    note = f"{len(texts):,} different sentences of the corpus, each first read; processor time"
    with _medspacy(terms, texts) as other:
        if other is None:
            (seconds,) = in_turn(ours, rounds=ROUNDS)
            return result(what, seconds * 1e6 / len(texts), unit, note=_HOW_TO_GET_IT)
        seconds, others = in_turn(ours, lambda: other.ask("read"), rounds=ROUNDS)
        return result(
            what,
            seconds * 1e6 / len(texts),
            unit,
            alternative=others * 1e6 / len(texts),
            name=f"medspaCy {other.version}",
            goal=ratio_at_most(_MOST_OF_MEDSPACY),
            note=note,
        )


def _sentences(pairs: Sequence[Labelled]) -> list[str]:
    found: dict[str, None] = {}
    for pair in pairs:
        for text in (pair.answer.text or "", pair.case.report.findings or ""):
            tokens = Tokens(text)
            for one in split_sentences(tokens, 0, len(tokens.words)):
                found[text[tokens.starts[one.i] : tokens.ends[one.j - 1]] + "."] = None
    every = list(found)
    return every[:: max(1, len(every) // SENTENCES)][:SENTENCES]


def _phrases() -> Iterator[str]:
    """Yield all phrases for findings."""
    openings = list(lexicon().phrases.items())
    for words, opening in openings:
        if opening.alone is not None and opening.alone.finding:
            yield words
        openings += [(f"{words} {word}", longer) for word, longer in opening.longer.items()]


class _Reader:
    """medspaCy in a separate process."""

    def __init__(self, source: IO[str], sink: IO[str], given: dict[str, Any]) -> None:
        self._source, self._sink = source, sink
        self.version = self.ask(json.dumps(given))

    def ask(self, line: str) -> Any:
        """Send a line and return the answer."""
        self._sink.write(f"{line}\n")
        self._sink.flush()
        return json.loads(self._source.readline())


@contextmanager
def _medspacy(terms: Sequence[str], texts: Sequence[str]) -> Iterator[_Reader | None]:
    """Run medspaCy inside the block; None if it is not installed or does not start."""
    python = os.environ.get(PYTHON) or sys.executable
    program = str(Path(__file__).with_name("medspacy_reader.py"))
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program, by a Python that the user names
            [python, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        yield None
        return
    with process:
        try:
            yield _reader(process, {"terms": list(terms), "sentences": list(texts)})
        finally:
            process.kill()


def _reader(process: subprocess.Popen[str], given: dict[str, Any]) -> _Reader | None:
    if process.stdin is None or process.stdout is None:
        return None
    try:
        return _Reader(process.stdout, process.stdin, given)
    except (OSError, ValueError):  # it ended before its first answer
        return None
