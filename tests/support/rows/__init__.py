"""Many rows in one test, for what is asked of a row in less time than a test of its own takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

_SHOWN = 300
_PARAM = type(pytest.param())


def each_row(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[Any] | Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Ask a test of every row, as ``pytest.mark.parametrize`` does, and name all rows that fail.

    A test for each row costs 5 ms of processor time, most of it in each process that collects it
    and in telling that it passed: thousands that ask for less are one test here. The fixtures of
    the test are the same for all rows, so that a row must leave nothing in them.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    alone = isinstance(names, str) and len(named) == 1
    given: list[dict[str, Any]] = []
    labels: list[Any] = []
    for row in rows:
        values = row.values if isinstance(row, _PARAM) else [row] if alone else row
        given.append(dict(zip(named, values, strict=True)))
        labels.append(row.id if isinstance(row, _PARAM) else None)
    assert given, f"no row for {named}"
    if ids is not None and not callable(ids):
        labels = list(ids)
        assert len(labels) == len(given), "an id for each row"

    def asked(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def of_all(*owner: Any, **others: Any) -> None:
            wrong: dict[str, BaseException] = {}
            for number, (row, label) in enumerate(zip(given, labels, strict=True)):
                try:
                    test(*owner, **row, **others)
                except (Exception, pytest.fail.Exception) as error:
                    shown = "" if label is None else f" ({label})"
                    wrong[f"row {number}{shown} {row!r}"[:_SHOWN]] = error
            if wrong:
                said = [f"{row}: {type(error).__name__}: {error}" for row, error in wrong.items()]
                raise AssertionError(
                    "\n\n".join([f"{len(wrong)} of {len(given)}:", *said])
                ) from next(iter(wrong.values()))

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in named]
        of_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return of_all

    return asked
