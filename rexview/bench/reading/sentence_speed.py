"""How long answers take, first read and with known sentences, and sentences beside medspaCy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from rexview.bench.corpus import Labelled
from rexview.bench.measure import Row, at_most, in_turn, ratio_at_most, result
from rexview.detect import flags_for, read_word_lists
from rexview.detect.findings import find_mentions
from rexview.detect.findings.lexicon import lexicon
from rexview.detect.findings.reading import forget
from rexview.detect.findings.sentences import sentences
from rexview.detect.findings.tokens import Tokens
from rexview.schema import Answer, Case, Report

ROUNDS: Final = 3
SENTENCES: Final = 1_500
"""So many different sentences, taken evenly from all, are read by both."""
CHARACTERS: Final = 1_000
PYTHON: Final = "MEDSPACY_PYTHON"
"""Environment variable: the Python that has medspaCy, where this one has not."""
_MOST_MS: Final = 1.0
_MOST_OF_MEDSPACY: Final = 0.5
_HOW_TO_GET_IT: Final = (
    f"medspacy is not installed: pip install medspacy, here or elsewhere; then {PYTHON}=its python"
)


def rows(pairs: Sequence[Labelled]) -> list[Row]:
    """Measure answers of 1,000 characters, then single sentences beside medspaCy, in turn."""
    read_word_lists()
    return [*_answers(pairs), _beside_medspacy(pairs)]


def _answers(pairs: Sequence[Labelled]) -> list[Row]:
    """Time all detectors on answers and reports that are joined from the labelled pairs."""
    given = list(_joined(pairs))
    again = [
        (case, answer.__class__(case=case.id, model=answer.model, text=f"{answer.text}\nEnd."))
        for case, answer in given
    ]
    (new,) = in_turn(lambda: _milliseconds(given, fresh=True), rounds=ROUNDS)
    (known,) = in_turn(
        lambda: _milliseconds(given, fresh=True) and _milliseconds(again, fresh=False),
        rounds=ROUNDS,
    )
    reports = sum(len(case.report.findings or "") for case, _ in given) / len(given)
    note = f"{len(given)} answers, each with a report of {reports:,.0f} characters; processor time"
    what = f"answer of {CHARACTERS:,} characters, all detectors"
    return [
        result(f"{what}, first read", new, "ms", goal=at_most(_MOST_MS), note=note),
        result(f"{what}, known sentences", known, "ms", goal=at_most(_MOST_MS), note=note),
    ]


def _joined(pairs: Sequence[Labelled]) -> Iterator[tuple[Case, Answer]]:
    """Join answers until they have enough characters, and their reports with them."""
    texts: list[str] = []
    reports: list[str] = []
    for pair in pairs:
        texts.append(pair.answer.text or "")
        reports.append(pair.case.report.findings or "")
        if sum(map(len, texts)) + len(texts) >= CHARACTERS:
            case = Case(pair.case.id, pair.case.question, report=Report("\n".join(reports)))
            yield case, Answer(case=case.id, model=pair.answer.model, text="\n".join(texts))
            texts, reports = [], []


def _milliseconds(given: Sequence[tuple[Case, Answer]], *, fresh: bool) -> float:
    if fresh:
        forget()
    start = time.thread_time()
    for case, answer in given:
        flags_for(case, [answer])
    return 1_000 * (time.thread_time() - start) / len(given)


def _beside_medspacy(pairs: Sequence[Labelled]) -> Row:
    """Time findings, sides and denials of single sentences: ours, and medspaCy's targets.

    medspaCy gets the words for findings of our lexicon as targets and its own rules of context,
    which say nothing of sides.
    """
    texts = _sentences(pairs)
    terms = sorted(_phrases())

    def ours() -> float:
        forget()
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
            for one in sentences(tokens, 0, len(tokens.words)):
                found[text[tokens.starts[one.i] : tokens.ends[one.j - 1]] + "."] = None
    every = list(found)
    return every[:: max(1, len(every) // SENTENCES)][:SENTENCES]


def _phrases() -> Iterator[str]:
    """Yield all phrases that mean a finding."""
    openings = list(lexicon().phrases.items())
    for words, opening in openings:
        if opening.alone is not None and opening.alone.finding:
            yield words
        openings += [(f"{words} {word}", longer) for word, longer in opening.longer.items()]


class _Reader:
    """medspaCy in a process of its own."""

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
    """Run medspaCy as long as it is asked; None where it is not installed or does not start."""
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
    except (OSError, ValueError):  # it ended before it said anything
        return None
