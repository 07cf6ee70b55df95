"""A worker on a Ray cluster: an actor of its own, or while there is no room for that another's.

What was asked of a worker that is lost is asked of the next one. An answer is blamed for nothing
but this: two workers died over it, on machines that live on. A machine that is lost with its
workers counts for nothing, and what they had is asked elsewhere.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from rexview import __version__
from rexview.bounded import printable
from rexview.spread import ray_actors
from rexview.spread.ray_actors import NOTHING_LEFT, Actor, ActorLost, Actors
from rexview.spread.remote_worker import Said
from rexview.spread.workers import Job, ProcessDied, ProcessUnusable

_DEATHS: Final = 2
"""So many workers died over a request on machines that live: it is to blame."""
_SETTLES_S: Final = 2.0
"""A machine that goes down may end its workers before it stops taking calls."""
_BEGINS: Final = 4
_TURN_S: Final = 1.0
_ROOM_S: Final = 180.0
"""So long a job waits for its only worker to begin, which may wait for others' work to end."""
_NO_ROOM: Final = (
    "No worker could begin at the cluster: others use all of its processors, or its machines do "
    "not get to it. Wait until others have ended, then start the same command again."
)
_LOG: Final = logging.getLogger(__name__)


class RayWorker:
    """Answers requests at a cluster; see :class:`rexview.spread.workers.Worker`.

    Parameters
    ----------
    actors : Actors
        Of the connection; those of the same job help each other out.
    job : Job
    options : mapping
        What an actor of the job needs of a machine, in Ray's words: ``num_cpus``.
    """

    def __init__(self, actors: Actors, job: Job, options: Mapping[str, Any]) -> None:
        self._actors, self._job, self._options = actors, job, options
        self._lock = threading.Lock()
        self._actor: Actor | None = None
        self._begins = 0
        self._ended = False
        self.pid: int | None = None
        self.host = ""

    def begin(self) -> None:
        """Begin the actor, and look whether it can answer."""
        self._with_turn().turn.release()

    def ask(self, request: Any) -> Any:
        """Return the answer to a request.

        Raises
        ------
        ProcessDied
            Two workers died over it, or it raised.
        ProcessUnusable
            Also where no machine is left for it.
        """
        package = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        died_on: list[str] = []
        while (said := self._asked(package, died_on)) is None:
            if self._is_to_blame(died_on):
                raise ProcessDied("Two workers of the cluster died over it.")
        if said.answer is None:
            _LOG.warning("A worker of the cluster failed on a batch: %s.", printable(said.words))
            raise ProcessDied("A worker of the cluster failed.")
        return pickle.loads(said.answer)  # noqa: S301 - of our own program

    def _asked(self, package: bytes, died_on: list[str]) -> Said | None:
        """Ask an actor once; None where it is lost, and then note the machine that it was on."""
        actor = self._with_turn()
        try:
            return self._heard(self._actors.ask(actor, package))
        except ActorLost:
            if not actor.ended:  # nobody here ended it
                died_on.append(actor.machine)
                self._actors.end(actor)
            return None
        finally:
            actor.turn.release()

    def _is_to_blame(self, died_on: list[str]) -> bool:
        """Whether workers died over a request and not with their machines."""
        died_on[:] = self._actors.alive(died_on)
        if len(died_on) < _DEATHS:
            return False
        time.sleep(_SETTLES_S)
        died_on[:] = self._actors.alive(died_on)
        return len(died_on) >= _DEATHS

    def _with_turn(self) -> Actor:
        """Wait for an actor that can answer, and return it with its turn.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        patience = _Patience(self._actors, self._job)
        while True:
            own = self._own()
            if self._is_ready(own):
                if own.turn.acquire(timeout=_TURN_S):
                    return own
            elif (other := self._actors.idle(self._job)) is not None:
                return other
            patience.look()

    def _own(self) -> Actor:
        with self._lock:
            if self._ended:
                raise ProcessDied("The worker was ended.")
            if self._actor is None or self._actor.ended:
                self._actor = self._actors.begin(self._job, self._options)
            return self._actor

    def _is_ready(self, own: Actor) -> bool:
        """Whether an actor can answer, after waiting for that a little."""
        if own.ready:
            return True
        try:
            said = self._actors.begun(own, _TURN_S)
        except ActorLost:
            self._actors.end(own)
            self._begins += 1
            if self._begins >= _BEGINS:
                words = f"No worker can be begun at the cluster that {self._job.purpose}."
                raise ProcessUnusable(words) from None
            return False
        if said is None:
            return False
        self._begins = 0
        try:
            self._heard(said)
        except ProcessUnusable:
            self._actors.end(own)  # it would take others' room
            raise
        return True

    def _heard(self, said: Said) -> Said:
        """Take in what an actor says of itself."""
        self.pid, self.host = said.pid, said.host
        for name, level, message in said.logged:
            logging.getLogger(name).log(level, "%s", message)
        if said.state != "ready":
            raise ProcessUnusable(_unusable(said, self._job))
        return said

    def kill(self) -> None:
        """End the actor now, for good; any thread may call this."""
        self._end(for_good=True)

    def close(self) -> None:
        """End the actor and forget it."""
        self._end(for_good=False)
        self.pid = None

    def _end(self, *, for_good: bool) -> None:
        with self._lock:
            self._ended |= for_good
            actor, self._actor = self._actor, None
        if actor is not None:
            self._actors.end(actor)


class _Patience:
    """How long a worker waits for room at the cluster.

    That is without end while another of the job works, which helps out when it is idle.
    """

    def __init__(self, actors: Actors, job: Job) -> None:
        self._actors, self._job = actors, job
        self._since = self._looked = time.monotonic()

    def look(self) -> None:
        """Go on waiting.

        Raises
        ------
        ProcessUnusable
            Nothing is left to wait for.
        """
        now = time.monotonic()
        if self._actors.have_any(self._job):
            self._since = now
        elif now - self._since >= _ROOM_S:
            raise ProcessUnusable(_NO_ROOM)
        if now - self._looked >= ray_actors.LOOKS_EVERY_S:
            self._looked = now
            if self._actors.is_empty():
                raise ProcessUnusable(NOTHING_LEFT)


def _unusable(said: Said, job: Job) -> str:
    """Say why a worker cannot do what it was begun for, and what to do."""
    host, words = printable(said.host), printable(said.words)
    if said.state == "missing":
        what = f"the package {words}" if words else "rexview"
        return (
            f"A worker of the cluster ({host}) has not {what}: install rexview {__version__} with "
            "its requirements on every machine, and start Ray with PYTHONPATH at its folder."
        )
    if said.state == "other":
        return (
            f"A worker of the cluster ({host}) runs another rexview ({words}), or other rules or "
            f"packages, than this machine ({__version__}, {job.expected()}): install the same on "
            "every machine."
        )
    return f"A worker of the cluster ({host}) that {job.purpose} cannot be begun ({words})."
