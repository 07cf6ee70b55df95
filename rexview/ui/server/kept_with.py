"""Keeping what is worked out of an object for as long as that object is there.

While flags arrive there is an engine for each state of them. A cache that had engines in its keys
would hold on to many, and to all the memory behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

_First = TypeVar("_First")
_Rest = ParamSpec("_Rest")
_Made = TypeVar("_Made")
_Make = Callable[Concatenate[_First, _Rest], _Made]
_KEPT: Final = "_kept_with"


def kept_with_first(
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
