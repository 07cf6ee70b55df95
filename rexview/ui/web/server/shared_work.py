"""Work over a whole set that pages wait for: done once, beside their threads.

A page that waits says for what, and how far it is. It can be left meanwhile: the work goes on, and
whoever comes next finds it done.
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
SAYS_AFTER_S: Final = 0.3
"""A page that waits for longer says what it waits for."""
_AGAIN_S: Final = 0.3


class SharedWork(Generic[_Made]):
    """What is being made, by key. Safe for several threads.

    Parameters
    ----------
    name : str
        That of the threads.
    """

    def __init__(self, name: str) -> None:
        self._name: Final = name
        self._lock: Final = Lock()
        self._running: dict[Hashable, Future[_Made]] = {}

    def result(self, key: Hashable, make: Callable[[], _Made], words: Callable[[], str]) -> _Made:
        """Return what ``make`` returns, called once for all who ask for a key at the same time.

        Parameters
        ----------
        key : hashable
        make : callable
            Must not need a page: it runs in a thread of its own. What it raises is raised here.
        words : callable
            As :func:`wait_and_say` takes them, for a page that waits.
        """
        with self._lock:
            future = self._running.get(key)
            if future is None:
                future = self._running[key] = Future()
                Thread(
                    target=self._make, args=(key, future, make), name=self._name, daemon=True
                ).start()
        wait_and_say(lambda seconds: bool(wait([future], seconds).done), words)
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
    """Reserve the place for words on this page, before all else.

    The elements after it keep their places, whether the page has to wait or not.
    """
    _PLACES.own = st.empty()


def wait_and_say(wait: Callable[[float], bool], words: Callable[[], str]) -> None:
    """Wait for something; a page shows words meanwhile, where it reserved a place for them.

    Parameters
    ----------
    wait : callable
        Waits for at most so many seconds, and returns whether it is there.
    words : callable
        Returns a sentence; asked again and again.
    """
    if wait(SAYS_AFTER_S):
        return
    place = _PLACES.own if is_page_run() and hasattr(_PLACES, "own") else None
    there = False
    while not there:
        if place is not None:  # nothing is shown where a route or a part of a page waits
            place.markdown(f":material/hourglass_top: {as_markdown(words())}")
        there = wait(_AGAIN_S)
    if place is not None:
        place.empty()


# Keeping what is worked out of an object for as long as that object is there.
#
# While flags arrive there is an engine for each state of them. A cache that had engines in its
# keys would hold on to many, and to all the memory behind them.

_First = TypeVar("_First")
_Rest = ParamSpec("_Rest")
_Make = Callable[Concatenate[_First, _Rest], _Made]
_KEPT: Final = "_kept_with"


def cache_on_first_argument(
    most: int,
) -> Callable[[_Make[_First, _Rest, _Made]], _Make[_First, _Rest, _Made]]:
    """Keep the ``most`` latest outcomes of a function with its first argument.

    They lie in that object, as those of ``functools.cached_property`` do; the other arguments are
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
