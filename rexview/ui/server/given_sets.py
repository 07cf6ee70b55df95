"""Open review sets as they were given, without what people wrote and without an engine.

Pictures need no more, so that this module imports neither the engines nor the reviews database.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rexview.addresses import address_of_set
from rexview.errors import ReviewSetError
from rexview.schema import ReviewSet
from rexview.ui.server import open_states
from rexview.ui.server.server_state import on_tables
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.ui.server.loaded_sets import LoadedSet


def open_set(folder: Path, *, wait_s: float = 0.0) -> ReviewSet:
    """Open a review set as it was given, once for each state of its files.

    While a run adds answers it is the state before, now and then a newer one
    (:mod:`rexview.ui.server.open_states`); one that is being read is waited for ``wait_s`` seconds.

    Raises
    ------
    ReviewSetError
        With every problem, when it cannot be opened.
    """
    if not folder.is_dir() and address_of_set(folder) is None:
        raise ReviewSetError(tr("There is no folder {name} any more.").format(name=folder.name))
    return load(folder, state_to_show(folder, wait_s=wait_s))


def load(folder: Path, state: str) -> ReviewSet:
    """Return the set in a state of its files, as :func:`rexview.ui.server.open_states.load`.

    One on ClickHouse is in the version that is shown: the cases that pages hold of it.
    """
    return _loaded(folder).given() if on_tables() else open_states.load(folder, state)


def state_to_show(folder: Path, *, wait_s: float = 0.0) -> str:
    """Name the state of a set's files that pages show."""
    if on_tables():
        return files_state(_loaded(folder).opened().empty)
    return open_states.state_to_show(folder, wait_s=wait_s)


def looked_at(review_set: ReviewSet, cases: Sequence[str]) -> ReviewSet:
    """Return an open set, as it was given, that holds some cases.

    The set itself unless its tables are on ClickHouse and it does not hold them.
    """
    if not on_tables() or all(review_set.case_row(case) is not None for case in cases):
        return review_set
    loaded = _loaded(review_set.folder)
    loaded.look_at(cases)
    return loaded.given()


def files_state(review_set: ReviewSet) -> str:
    """Name the state of the files of a set, whatever was written in it."""
    return review_set.fingerprint.partition("-")[0]


def is_newest(review_set: ReviewSet) -> bool:
    """Whether an open review set is in the state that pages show now."""
    return files_state(review_set) == state_to_show(review_set.folder)


def _loaded(folder: Path) -> LoadedSet:
    """Return a set on ClickHouse; only such a server imports what asks ClickHouse."""
    from rexview.ui.server.loaded_sets import loaded_set

    return loaded_set(folder)
