"""Who has which role now: ``rexview.yaml`` is read again when it changes, without a restart."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

from rexview.errors import SettingsError
from rexview.people import Member, Role
from rexview.settings import CONFIG_NAME, Settings, load_settings
from rexview.ui.server import server_state
from rexview.words import tr

EVERY_S: Final = 0.5
"""The file is looked at so often at most."""
_SETTLED_S: Final = 0.5
"""A file that was written to more lately may not be whole yet."""
_LOG: Final = logging.getLogger(__name__)
_State = tuple[int, int, int, int] | None


@dataclass(frozen=True)
class Roles:
    """Who may sign in, with which role, and for how long a sign-in holds."""

    people: tuple[Member, ...]
    default_role: Role | None
    sign_in_hours: float

    @classmethod
    def of(cls, settings: Settings) -> Roles:
        """Return what settings say."""
        return cls(settings.people, settings.default_role, settings.sign_in_hours)


class RolesFile:
    """The roles as a settings file says them, as of its newest state that can be used.

    Parameters
    ----------
    file : Path
    started_with : Roles
    read : callable
        Reads all settings anew; raises SettingsError.
    """

    def __init__(self, file: Path, started_with: Roles, read: Callable[[], Settings]) -> None:
        self._file, self._read = file, read
        self._roles = started_with
        self._state = self._seen()
        self._looked_at = time.monotonic()
        self._lock = Lock()
        self._problem = ""

    def now(self) -> Roles:
        """Return the roles that are in force."""
        if time.monotonic() - self._looked_at >= EVERY_S and self._lock.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._lock.release()
        return self._roles

    @property
    def problem(self) -> str:
        """What is wrong with the file, in words for a lead; nothing where it is in force."""
        return self._problem

    def _look(self) -> None:
        self._looked_at = time.monotonic()
        state = self._seen()
        if state == self._state or _is_fresh(state):
            return
        self._state = state
        try:
            roles = Roles.of(self._read())
            if state is None and self._roles != roles:
                raise SettingsError(tr("{name} is gone.").format(name=self._file.name))
            if self._roles.people and not roles.people:
                raise SettingsError(
                    tr("{name} names nobody any more.").format(name=self._file.name)
                )
        except SettingsError as error:
            since = f"{datetime.now().astimezone():%H:%M}"
            self._problem = tr(
                "Roles are as they were before {since}: {error}\nCorrect {name}; it is "
                "read again when it changes."
            ).format(since=since, error=error, name=self._file.name)
            _LOG.warning("Roles stay as they were: %s cannot be used.", self._file.name)
            return
        self._problem = ""
        if roles != self._roles:
            self._roles = roles
            _LOG.warning("Roles have changed: %d people.", len(roles.people))

    def _seen(self) -> _State:
        try:
            stat = self._file.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _is_fresh(state: _State) -> bool:
    return state is not None and 0 <= time.time() - state[2] / 1e9 < _SETTLED_S


@cache
def _file_of(settings: Settings) -> RolesFile:
    return RolesFile(Path(CONFIG_NAME), Roles.of(settings), lambda: load_settings(sys.argv[1:]))


def roles() -> Roles:
    """Return the roles that are in force on this server."""
    return _file_of(server_state.settings()).now()


def problem() -> str:
    """Return what is wrong with the file of the roles, for a lead; nothing where all is well."""
    return _file_of(server_state.settings()).problem
