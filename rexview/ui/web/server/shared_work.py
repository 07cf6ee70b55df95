"""Work over a whole set that pages wait for: done once, outside their threads.

A page that waits shows the reason and the progress. The user can leave it: the work continues, and
the next page uses the result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from functools import lru_cache, partial, wraps
from threading import Lock, Thread, local
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

import streamlit as st

from rexview.ui.safe_text import as_markdown
from rexview.ui.web.streamlit_adapter.script_run import is_page_run

_Made = TypeVar("_Made")
MESSAGE_DELAY_S: Final = 0.3
"""Seconds of waiting after which a page shows the reason."""
_AGAIN_S: Final = 0.3


class SharedWork(Generic[_Made]):
    """Work under way, by key; thread-safe.

    Parameters
    ----------
    name : str
        Name of the threads.
    """

    def __init__(self, name: str) -> None:
        self._name: Final = name
        self._lock: Final = Lock()
        self._running: dict[Hashable, Future[_Made]] = {}

    def result(self, key: Hashable, make: Callable[[], _Made], words: Callable[[], str]) -> _Made:
        """Return what ``make`` returns, called once for all concurrent callers with the same key.

        Parameters
        ----------
        key : hashable
        make : callable
            Runs in its own thread and must not need a page. Its exceptions are raised here.
        words : callable
            For a page that waits, as in :func:`wait_with_message`.
        """
        with self._lock:
            future = self._running.get(key)
            if future is None:
                future = self._running[key] = Future()
                Thread(
                    target=self._make, args=(key, future, make), name=self._name, daemon=True
                ).start()
        wait_with_message(lambda seconds: bool(wait([future], seconds).done), words)
        return future.result()

    def _make(self, key: Hashable, future: Future[_Made], make: Callable[[], _Made]) -> None:
        try:
            made = make()
        except BaseException as error:
            self._forget(key)
            future.set_exception(error)
        else:
            self._forget(key)
            future.set_result(made)

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            del self._running[key]


_PLACES: Final = local()


def reserve_place() -> None:
    """Reserve the place for a message on this page, before all other elements.

    The elements after it keep their places, whether or not the page has to wait.
    """
    _PLACES.own = st.empty()


def wait_with_message(wait: Callable[[float], bool], words: Callable[[], str]) -> None:
    """Wait for a result; meanwhile a page with a reserved place shows a message.

    Parameters
    ----------
    wait : callable
        Waits for at most the given seconds, and returns whether the result is available.
    words : callable
        Returns the message; called repeatedly.
    """
    if wait(MESSAGE_DELAY_S):
        return
    place = _PLACES.own if is_page_run() and hasattr(_PLACES, "own") else None
    there = False
    while not there:
        if place is not None:  # a route or a fragment shows nothing while it waits
            place.markdown(f":material/hourglass_top: {as_markdown(words())}")
        there = wait(_AGAIN_S)
    if place is not None:
        place.empty()


# A cache that keeps results as long as the object they were computed from.
#
# While flags arrive, there is an engine for each of their states. A cache with engines in its keys
# would keep many of them, with all their memory.

_First = TypeVar("_First")
_Rest = ParamSpec("_Rest")
_Make = Callable[Concatenate[_First, _Rest], _Made]
_KEPT: Final = "_kept_with"


def cache_on_first_argument(
    most: int,
) -> Callable[[_Make[_First, _Rest, _Made]], _Make[_First, _Rest, _Made]]:
    """Cache the ``most`` latest results of a function in its first argument.

    They are stored in that object, as with ``functools.cached_property``; the other arguments are
    their keys.
    """

    def decorate(make: _Make[_First, _Rest, _Made]) -> _Make[_First, _Rest, _Made]:
        @wraps(make)
        def kept(first: _First, /, *rest: _Rest.args, **named: _Rest.kwargs) -> _Made:
            caches = vars(first).setdefault(_KEPT, {})
            if make not in caches:
                caches.setdefault(make, lru_cache(most)(partial(make, first)))
            made: _Made = caches[make](*rest, **named)
            return made

        return kept

    return decorate
