"""Revoked sign-ins, ended here or on another server that shares the database.

A thread queries the database once a second, and every request checks memory. So no image costs a
query and no event loop waits. A copied cookie remains valid for about a second after the sign-out.
If the database cannot be reached, everybody is refused after :data:`STALE_AFTER_S`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from rexview.errors import NotAdmitted, StoreError
from rexview.ui.web.server import server_state
from rexview.words import tr

if TYPE_CHECKING:
    from rexview.store.database.shared_state import RevokedSignInStore


POLL_INTERVAL_S: Final = 1.0
"""Seconds between two queries of the database."""
STALE_AFTER_S: Final = 10.0
"""Seconds for which the database's last answer is used while it cannot be reached."""
_LOG: Final = logging.getLogger(__name__)


class SignInRevocations:
    """The revoked sign-ins that this server knows.

    Parameters
    ----------
    open_store : callable
        Opens the revoked sign-ins of all servers; called again until it succeeds.
    clock : callable
        Seconds, as of :func:`time.monotonic`.
    """

    def __init__(
        self,
        open_store: Callable[[], RevokedSignInStore],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_store, self._clock = open_store, clock
        self._store: RevokedSignInStore | None = None
        self._ended: frozenset[str] = frozenset()
        self._waiting: frozenset[str] = frozenset()
        """Ended here and not yet in the database."""
        self._told_at: float | None = None
        self._problem: StoreError | None = None
        self._lock, self._asking = Lock(), Lock()
        self._asked, self._stopped = Event(), Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Start to query the database; a second call does nothing."""
        with self._lock:
            if self._thread is None:
                self._stopped.clear()
                self._thread = Thread(target=self._follow, name="ended sign-ins", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Stop the queries, and close the connection."""
        with self._lock:
            thread, self._thread = self._thread, None
        self._stopped.set()
        if thread is not None:
            thread.join()
        if self._store is not None:
            self._store.close()

    def end(self, sign_in: str) -> None:
        """End a sign-in: here immediately, on other servers once the database has it."""
        with self._lock:
            self._waiting |= {sign_in}
        self._ask()

    def check(self, sign_in: str) -> None:
        """Check that a sign-in has not been ended.

        Raises
        ------
        NotAdmitted
            It has been ended, or its state is unknown.
        """
        self.begin()
        self._asked.wait(STALE_AFTER_S)
        if sign_in in self._ended or sign_in in self._waiting:
            raise NotAdmitted(tr("You have signed out. Sign in again."), again=True)
        if self._told_at is None or self._clock() - self._told_at > STALE_AFTER_S:
            why = f" {self._problem}" if self._problem else ""
            raise NotAdmitted(
                tr(
                    "At the moment we cannot check whether you have signed out elsewhere, "
                    "so nothing is shown.{why} Reload the page when the connection is "
                    "back; your entries are kept."
                ).format(why=why)
            )

    def _follow(self) -> None:
        while not self._stopped.is_set():
            self._ask()
            self._stopped.wait(POLL_INTERVAL_S)

    def _ask(self) -> None:
        """Exchange revoked sign-ins with the database, in both directions."""
        with self._asking:  # an older answer must not replace a newer one
            self._ask_alone()

    def _ask_alone(self) -> None:
        try:
            if self._store is None:
                self._store = self._open_store()
            asked_at = self._clock()
            known = self._store.read()
            with self._lock:
                self._waiting -= known
                self._ended, self._told_at = known, asked_at
            # only now: a database that is readable but not writable locks nobody else out
            for sign_in in self._waiting:
                self._store.end(sign_in)
            self._problem = None
        except StoreError as error:
            if self._problem is None:
                _LOG.warning("The database cannot be asked, or told, who has signed out: %s", error)
            self._problem = error
        except Exception as error:
            _LOG.exception("Who has signed out cannot be asked (%s).", type(error).__name__)
        finally:
            self._asked.set()


def _of_this_server() -> RevokedSignInStore:
    # a server starts without the database
    from rexview.store.database.shared_state import open_revoked_sign_ins

    return open_revoked_sign_ins(server_state.settings())


SIGN_IN_REVOCATIONS: Final = SignInRevocations(_of_this_server)
"""Of this server."""
