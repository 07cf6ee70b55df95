"""Read choices from texts, in separate processes if there are many.

:func:`read_choices` starts them: reading hundreds of thousands of long answers takes minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path: find rexview

import os

from rexview import __version__
from rexview.child_process import ProcessDied, ProcessUnusable, RequestProcess, serve_requests
from rexview.schema import ChoiceReading
from rexview.text.choices.choice_reader import read_choice

ChoiceText = tuple[str, tuple[str, ...], str]
"""A text, the options, the question."""
MANY: Final = 20_000
"""From this number of texts on, separate processes are worthwhile."""
_AT_A_TIME: Final = 1_000
_MOST: Final = 8
_SECONDS: Final = 300


def read_choices(asked: Sequence[ChoiceText]) -> list[ChoiceReading | None]:
    """Read the choice of each text, in separate processes if there are many texts."""
    processes = min(_MOST, _processors())
    if len(asked) < MANY or processes < 2:
        return _read(asked)
    parts = [asked[start : start + _AT_A_TIME] for start in range(0, len(asked), _AT_A_TIME)]
    idle: SimpleQueue[RequestProcess] = SimpleQueue()
    begun = [
        RequestProcess(Path(__file__), (), None, lambda: __version__, "reads choices")
        for _ in range(processes)
    ]
    for process in begun:
        idle.put(process)

    def read(part: Sequence[ChoiceText]) -> list[ChoiceReading | None]:
        process = idle.get()
        try:
            found: list[ChoiceReading | None] = process.ask(part)
        except (ProcessDied, ProcessUnusable):
            return _read(part)  # slower, with the same result
        finally:
            idle.put(process)
        return found

    try:
        with ThreadPoolExecutor(processes) as threads:
            return [one for found in threads.map(read, parts) for one in found]
    finally:
        for process in begun:
            process.close()


def _read(asked: Sequence[ChoiceText]) -> list[ChoiceReading | None]:
    return [read_choice(text, options, question) for text, options, question in asked]


def _processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin(_: Any) -> tuple[str, Any]:
    return __version__, _read


if __name__ == "__main__":
    serve_requests(_begin, _SECONDS, "first")
