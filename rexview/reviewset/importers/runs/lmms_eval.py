"""Samples and results of lmms-eval: ``*_samples_TASK.jsonl`` beside ``*_results.json``.

Source: ``loggers/evaluation_tracker.py`` of lmms-eval 0.2 to 0.5. A saved sample has no document,
only the prompt; ``resps`` is left out where ``filtered_resps`` holds the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.source_files import SourceFile, json_lines, read_text
from rexview.reviewset.importers.table.structured.json_records import RunRecords, flat
from rexview.reviewset.json_text import JsonError

_SAMPLE: Final = frozenset(("doc_id", "target", "input", "filtered_resps"))
_RESULTS: Final = frozenset(("results", "model_name", "config"))
_READ: Final = frozenset(("doc_id", "target", "input", "resps", "filtered_resps", "token_counts"))
_OURS: Final = "rexview-"
"""How folders of uploads and of what was unpacked begin: they name no model."""
_TOKENS: Final = ("input_tokens", "output_tokens")


def is_sample(entry: Any) -> bool:
    """Whether an entry is a sample as lmms-eval saves it."""
    return isinstance(entry, Mapping) and entry.keys() >= _SAMPLE


def is_results(content: Any) -> bool:
    """Whether JSON is what a harness says of a whole run: its scores, model and settings."""
    return (
        isinstance(content, Mapping)
        and content.keys() >= _RESULTS
        and isinstance(content["results"], Mapping)
    )


def model_beside(file: SourceFile, results: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the model of a file of samples: as the results of its folder and date name it.

    ``results`` has the contents of files with results by label. Without them it is the folder's
    name, which lmms-eval calls for the model, with ``__`` for a slash.
    """
    here = PurePosixPath(file.label)
    date, _, _ = here.name.partition("_samples_")
    for label, content in results.items():
        beside = PurePosixPath(label)
        same = beside.parent == here.parent and beside.name == f"{date}_results.json"
        name = content.get("model_name")
        if (same or len(results) == 1) and isinstance(name, str) and name.strip():
            name = name.strip()  # without the folders of the machine that it lay on
            return PurePosixPath(name).name if name.startswith(("/", "./", "~")) else name
    folder = here.parent.name or file.path.parent.name
    is_named = "__" in folder and not folder.startswith(_OURS)
    return folder.replace("__", "/") if is_named else file.folder


def read_samples(file: SourceFile, log: ProblemLog) -> RunRecords | None:
    """Read the samples, one JSON object a line; log an error where there are none."""
    text = read_text(file.path, log, save_as="UTF-8", label=file.label)
    if text is None:
        return None
    found = RunRecords()
    task = PurePosixPath(file.label).stem.partition("_samples_")[2]
    for number, entry in json_lines(text, file.label, log):
        if not is_sample(entry):
            why = "The line is no sample of lmms-eval."
            if isinstance(entry, JsonError):
                why = f"The line is not JSON: {entry}."
            found.unread.append((number, why))
            log.warning(file.label, why, "Give the file as it was written.", row=number)
            continue
        try:
            told = _answers(entry)
        except ValueError as error:
            found.unread.append((number, str(error)))
            continue
        for repeat, answer in enumerate(told, start=1):
            found.add(_record(entry, task, answer, repeat if len(told) > 1 else None), number)
    return found


def _answers(entry: Mapping[str, Any]) -> list[str | None]:
    """Return the texts of a sample, several where it was asked several times.

    Raises
    ------
    ValueError
        It has no text that is known to be the answer; the message says why.
    """
    given = entry.get("resps", [entry["filtered_resps"]])
    requests = given if isinstance(given, list) else [given]
    if len(requests) > 1:
        raise ValueError(
            "It holds several requests for one document: which is the answer is unknown."
        )
    texts = requests[0] if requests and isinstance(requests[0], list) else requests
    if any(one is not None and not isinstance(one, str) for one in texts):
        raise ValueError("It holds probabilities of options, and no text.")
    return texts or [None]


def _record(entry: Mapping[str, Any], task: str, answer: Any, repeat: int | None) -> dict[str, Any]:
    asked, filtered = entry["input"], entry["filtered_resps"]
    if isinstance(asked, list):
        asked = next((one for one in asked if isinstance(one, str)), None)
    parsed = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
    rest = {name: one for name, one in entry.items() if name not in _READ and one not in (None, "")}
    counted = entry.get("token_counts")  # of each request
    first = counted[0] if isinstance(counted, Sequence) and counted else counted
    counts = first if isinstance(first, Mapping) else {}
    tokens = {name for name in _TOKENS if isinstance(counts.get(name), int)}
    return {
        "id": str(entry["doc_id"]),
        "question": asked if isinstance(asked, str) and asked.strip() else None,
        "expected answer": entry["target"] if entry["target"] not in ("", None) else None,
        "answer": answer,
        "filtered answer": parsed if parsed != answer else None,
        "repeat": repeat,
        "task": task or None,
        **{name: one for name, one in counts.items() if name in tokens},
        **{f"usage.{name}": one for name, one in counts.items() if name not in tokens},
        **dict(flat(rest)),
    }
