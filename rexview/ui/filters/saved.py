"""Filters saved by name, for each review set, in a small file of the user.

They are one user's, so not in the reviews database; a filter is in its link as well.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from rexview.analysis import CaseFilter
from rexview.ui.server import server_state

_FILE: Final = "saved-filters"
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
        server_state.write_user_file(_FILE, entries)


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
            server_state.write_user_file(_FILE, entries)


def _read() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Read the file; what is not there or not ours counts as empty."""
    content = server_state.read_user_file(_FILE)
    if not isinstance(content, dict):
        return {}
    return {
        set_name: {
            name: {
                key: [str(value) for value in values]
                for key, values in query.items()
                if isinstance(values, list)
            }
            for name, query in entries.items()
            if isinstance(query, dict)
        }
        for set_name, entries in content.items()
        if isinstance(entries, dict)
    }
