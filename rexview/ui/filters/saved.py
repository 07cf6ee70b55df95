"""Filters saved by name, for each review set, in a small file of the user.

Until reviews have a database this file is where they are kept; a filter is in its link as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Final

import platformdirs

from rexview.analysis import CaseFilter

MOST: Final = 50
LONGEST_NAME: Final = 60
_LOCK: Final = Lock()


def saved_filters(set_name: str) -> dict[str, CaseFilter]:
    """Return the saved filters of a review set by their names, in the order they were saved."""
    entries = _read().get(set_name, {})
    return {name: CaseFilter.read(query)[0] for name, query in entries.items()}


def save_filter(set_name: str, name: str, case_filter: CaseFilter) -> None:
    """Save a filter under a name, in place of one of the same name.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    name = " ".join(name.split())[:LONGEST_NAME]
    with _LOCK:
        entries = _read()
        of_set = entries.setdefault(set_name, {})
        of_set[name] = case_filter.to_query()
        for surplus in list(of_set)[:-MOST]:
            del of_set[surplus]
        _write(entries)


def forget_filter(set_name: str, name: str) -> None:
    """Take a saved filter away; nothing happens when it is not there.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    with _LOCK:
        entries = _read()
        if entries.get(set_name, {}).pop(name, None) is not None:
            _write(entries)


def _file() -> Path:
    return Path(platformdirs.user_data_dir("rexview")) / "saved-filters.json"


def _read() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Read the file; what is not there or not ours counts as empty."""
    try:
        content = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {
        str(set_name): {
            str(name): {
                str(key): [str(value) for value in values]
                for key, values in query.items()
                if isinstance(values, list)
            }
            for name, query in entries.items()
            if isinstance(query, dict)
        }
        for set_name, entries in content.items()
        if isinstance(entries, dict)
    }


def _write(entries: dict[str, dict[str, dict[str, list[str]]]]) -> None:
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
    part.replace(file)
