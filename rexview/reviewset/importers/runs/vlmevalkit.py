"""Predictions of VLMEvalKit: ``MODEL_DATASET.xlsx``, ``.tsv`` or ``.json``, and what judges added.

Source: ``vlmeval/inference.py`` and ``vlmeval/smp/file.py``. Its pickles are never opened.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath, PurePosixPath
from typing import Any, Final

from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.table.sheet import Sheet
from rexview.reviewset.importers.table.structured.json_records import RunRecords
from rexview.reviewset.importers.table.structured.read import Pictures

_COLUMNS: Final = frozenset(("index", "question", "prediction"))
_OTHERS_OWN: Final = frozenset(("model", "reader", "run_id"))
"""Columns that VLMEvalKit never writes: a table with them is another program's."""
_OPTION: Final = re.compile(r"[A-Z]")
_FAILED: Final = "Failed to obtain answer"
"""What it writes where a server gave no answer."""
_JUDGED: Final = re.compile(
    r"_(?:(?:exact_matching|chatgpt-\d+|gpt-[\w.-]+?|[\w.-]*judge[\w.-]*?)_result"
    r"|(?:chatgpt-\d+|gpt-[\w.-]+?|exact_matching))$"
)
_IMAGES: Final = ("image", "image_path")
_OF_ANSWERS: Final = frozenset(("hit", "log", "score", "res", "extra_records", "judge"))
"""What is said of the answer; all other columns are the data set's, of the case."""


def is_predictions(columns: Sequence[str] | None) -> bool:
    """Whether columns are those of predictions: index, question, prediction, options or answer."""
    names = set(columns or ())
    told = "answer" in names or {"A", "B"} <= names
    return names >= _COLUMNS and told and names.isdisjoint(_OTHERS_OWN)


def models_of(files: Sequence[SourceFile]) -> dict[str, str]:
    """Return the model by file label: of MODEL_DATASET what the folder or other files tell apart.

    VLMEvalKit puts a model's files below a folder of its name. Of several files that end alike,
    what they have in common is the data set. Of one alone nothing says where the model's name ends.
    """
    stems = {file.label: _stem(file) for file in files}
    found: dict[str, str] = {}
    for file in files:
        stem = stems[file.label]
        parents = {*PurePosixPath(file.label).parts[:-1], *(one.name for one in file.path.parents)}
        above = [one for one in parents if one and stem.startswith(f"{one}_")]
        if above:
            found[file.label] = max(above, key=len)
    others = {stem for label, stem in stems.items() if label not in found}
    names = [stem.split("_") for stem in others]
    most = min(map(len, names), default=1) - 1 if len(names) > 1 else 0  # never a whole name
    ends = zip(*(words[::-1][:most] for words in names), strict=True)
    alike = [one[0] for one in takewhile(lambda one: len({*one}) == 1, ends)]
    dataset = "".join(f"_{word}" for word in reversed(alike))
    for label, stem in stems.items():
        found.setdefault(label, stem.removesuffix(dataset))
    return found


def is_uncut(file: SourceFile, model: str | None) -> bool:
    """Whether a model is called as its file, with the name of the data set."""
    return model == _stem(file)


def _stem(file: SourceFile) -> str:
    """Return the name of a file without its ending and what a judge put before that."""
    return _JUDGED.sub("", PurePath(file.path.name).stem)


def read_predictions(sheet: Sheet, pictures: Pictures) -> RunRecords:
    """Read the rows of predictions; pictures that cells of a TSV hold go to ``pictures``."""
    options = [name for name in sheet.columns if _OPTION.fullmatch(name)]
    used = {"index", "question", "prediction", "answer", "thinking", "category", *options, *_IMAGES}
    found = RunRecords(unread=list(sheet.unread))
    found.of_case |= {name for name in sheet.columns if name not in _OF_ANSWERS}
    for place, (number, row) in enumerate(zip(sheet.numbers, sheet.rows, strict=True)):
        cells = dict(zip(sheet.columns, row, strict=True))
        given = sheet.given[place] if sheet.given else {}
        offered = [cells[name] for name in options if cells[name] is not None]
        image = next((given.get(one, cells[one]) for one in _IMAGES if cells.get(one)), None)
        answer = cells["prediction"]
        failed = answer is not None and answer.startswith(_FAILED)
        record: dict[str, Any] = {
            "id": cells["index"],
            "question": cells["question"],
            "category": cells.get("category"),
            "options": offered or None,
            "target" if offered else "expected answer": cells.get("answer"),
            "image": pictures.taken_out(image, number),
            "answer": "" if failed else answer,
            "error": answer if failed else None,
            "reasoning": cells.get("thinking"),
        }
        rest = {name: given.get(name, cell) for name, cell in cells.items() if name not in used}
        found.add({**rest, **record}, number)
    return found
