"""The folders of review sets that links may name, and those that may be opened."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

from rexview.addresses import remote_set_address, set_place_key
from rexview.errors import RexviewError
from rexview.settings import DEMO_FOLDER
from rexview.ui.web.server import server_state
from rexview.words import tr

_RECENT_SETS: Final = "recent-sets"
_MOST_RECENT: Final = 20


class SetUnknown(RexviewError):
    """A link names a review set that this server has not opened."""


class SetNotAllowed(RexviewError):
    """A folder may not be opened from the page on this server."""


def set_id(folder: Path) -> str:
    """Return the short, stable name of a folder in links; the demo's is the same everywhere."""
    if folder.resolve() == DEMO_FOLDER:
        return "demo"
    return hashlib.sha256(set_place_key(folder).encode()).hexdigest()[:10]


_REMEMBERING: Final = Lock()


@cache
def _folders() -> dict[str, Path]:
    """Return the folders opened now or before, by their id in links."""
    kept = server_state.read_user_file(_RECENT_SETS)
    known = [Path(text) for text in kept if isinstance(text, str)] if isinstance(kept, list) else []
    return {set_id(folder): folder for folder in [*known, server_state.settings().review_set]}


def recent_sets() -> list[Path]:
    """Return folders that were opened before and may be opened again, newest first."""
    default = server_state.settings().review_set
    return [
        folder
        for folder in reversed(_folders().values())
        if folder != default and folder.is_dir() and _allowed(folder)
    ]


def folder_of(name: str | None) -> Path:
    """Return the folder of a set id in a link; the server's own set for None.

    Raises
    ------
    SetUnknown
        This server has not opened such a set.
    SetNotAllowed
        It has, perhaps without sign-in, but a team may not see that folder.
    """
    if name is None:
        return server_state.settings().review_set
    try:
        folder = _folders()[name]
    except KeyError:
        raise SetUnknown(
            tr(
                "This link is to a review set that has not been opened here. Open its "
                "folder on the Data page, then follow the link again."
            )
        ) from None
    if server_state.requires_sign_in() and folder != server_state.settings().review_set:
        check_folder_allowed(folder)
    return folder


def check_folder_allowed(folder: Path) -> None:
    """Check that the page may open a folder.

    Raises
    ------
    SetNotAllowed
        The server is for others, too, and the folder is not under ``open_under``.
    """
    if not _allowed(folder):
        raise SetNotAllowed(
            tr(
                "This server does not open that folder. The administrator can allow it "
                "with the setting {value}."
            ).format(value="remote_hosts" if remote_set_address(folder) else "open_under")
        )


def _allowed(folder: Path) -> bool:
    settings = server_state.settings()
    address, roots = remote_set_address(folder), settings.open_under
    if address and any(map(address.is_under, settings.remote_hosts)):
        return True
    if roots is None:
        return server_state.on_this_machine_only() and not server_state.requires_sign_in()
    return any(folder.resolve().is_relative_to(root) for root in roots)


def register_folder(folder: Path) -> str:
    """Register a folder for links, after :func:`check_folder_allowed`; return its set id."""
    check_folder_allowed(folder)
    name, folders = set_id(folder), _folders()
    with _REMEMBERING:
        if name not in folders:
            folders[name] = folder.resolve()
            recent = [str(path) for path in folders.values()][-_MOST_RECENT:]
            with suppress(OSError):  # a read-only home only loses the list of recent sets
                server_state.write_user_file(_RECENT_SETS, recent)
    return name
