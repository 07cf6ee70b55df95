"""Reading JSON as it is met: NaN from pandas, byte order marks, repeated keys, hostile nesting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.text_encoding import decode, read_source
from rexview.reviewset.json_text import is_too_deep

MAX_JSON_BYTES: Final = 500_000_000
MAX_VALUES: Final = 20_000_000
"""Commas and brackets of a file: empty lists take thirty times the memory of their text."""


class _Objects:
    """Makes dicts that keep the first of repeated keys, and remembers the keys of the last one."""

    def __init__(self) -> None:
        self.repeated: list[str] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(reversed(pairs))
        if len(made) == len(pairs):
            self.repeated = []
            return {key: made[key] for key, _ in pairs}
        seen: set[str] = set()
        self.repeated = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
        return {key: made[key] for key in dict(pairs)}


def read_json(path: Path, log: ProblemLog) -> Any:
    """Read a JSON file; log an error and return None when it cannot be read.

    NaN and Infinity become None. Of repeated keys in the outermost object the first one counts,
    and each is a warning: entries of a dict by study id must not vanish in silence.
    """
    file = path.name
    content = read_source(path, MAX_JSON_BYTES, log)
    if content is None:
        return None
    text, encoding = decode(content)
    if encoding == "cp1252":
        log.warning(
            file,
            "The file is not UTF-8; it was read as Windows-1252.",
            "Save it as UTF-8 if letters look wrong.",
        )
    if not text.strip():
        log.error(file, "The file is empty.", "Give the file that holds the data.")
        return None
    if sum(map(text.count, ",[{")) > MAX_VALUES:
        log.error(
            file, f"The file holds more than {MAX_VALUES:,} values.", "Split it into several files."
        )
        return None
    objects = _Objects()
    try:
        value = json.loads(text, parse_constant=lambda _: None, object_pairs_hook=objects)
        if is_too_deep(value):
            raise RecursionError
    except json.JSONDecodeError as error:
        log.error(
            file,
            f"The file is not valid JSON: {error.msg} at line {error.lineno}, "
            f"column {error.colno}.",
            "Give a complete JSON file; it may have been cut off.",
        )
        return None
    except (RecursionError, ValueError):
        log.error(
            file,
            "The file is nested too deeply, or has a number too long, to be data of this kind.",
            "Give the file as it was published.",
        )
        return None
    if isinstance(value, dict):
        for key in objects.repeated:
            row = list(value).index(key) + 1 if len(objects.repeated) < 100 else None
            log.warning(
                file,
                "This id occurs more than once; the first entry was kept.",
                "Give every entry its own id.",
                row=row,
                kind="repeated",
            )
    return value
