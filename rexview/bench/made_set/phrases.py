"""Texts put together from a grammar: whole columns at a time, so that millions take minutes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.bounded import read_yaml

SIDES: Final = ("right", "left")
WAYS: Final = 4
"""Degrees, and places, of each finding."""
Numbers = npt.NDArray[np.int64]


@cache
def grammar() -> dict[str, Any]:
    """Read ``grammar.yaml``."""
    read: dict[str, Any] = read_yaml(Path(__file__).with_name("grammar.yaml"))
    return read


@cache
def findings() -> list[dict[str, Any]]:
    """Return the findings of the grammar in their order, which gives each its number."""
    return list(grammar()["findings"])


def has_side(finding: dict[str, Any]) -> bool:
    """Whether a finding is on one side of the patient."""
    return "SIDE" in finding["degrees"][0]


@cache
def noun_phrases() -> pl.Series:
    """Return "a small left pleural effusion" and its like, at the place :func:`place_of` says."""
    return _said("degrees", " {name}")


@cache
def places() -> pl.Series:
    """Return "at the left base" and its like, at the place :func:`place_of` says."""
    return _said("places", "")


def place_of(finding: Numbers, side: Numbers, way: Numbers) -> Numbers:
    """Return where a finding, its side and the way that it is said stand in the lists."""
    return (finding * len(SIDES) + side) * WAYS + way


def _said(field: str, after: str) -> pl.Series:
    ways = product(findings(), SIDES, range(WAYS))
    return pl.Series(
        [
            finding[field][way].replace("SIDE", side) + after.format(**finding)
            for finding, side, way in ways
        ]
    )


def drawn(random: np.random.Generator, among: int, count: int) -> Numbers:
    """Draw numbers below ``among``, the first ones more often, as sentences recur in real texts."""
    weights = 1 / np.arange(2, among + 2)
    limits = np.cumsum(weights / weights.sum())[:-1]
    return np.searchsorted(limits, random.random(count))


def phrases(
    random: np.random.Generator,
    among: Sequence[str],
    count: int,
    *,
    slot: str = "NUMBER",
    fill: pl.Series | None = None,
) -> pl.Series:
    """Draw phrases; where one has the ``slot``, ``fill`` stands there (a number by default)."""
    place = drawn(random, len(among), count)
    chosen = pl.Series(list(among)).gather(place)
    if not any(slot in phrase for phrase in among):
        return chosen
    if fill is None:
        fill = pl.Series(random.integers(3, 97, count)).cast(pl.String)
    parts = [phrase.partition(slot) for phrase in among]
    before = pl.Series([part[0] for part in parts]).gather(place)
    after = pl.Series([part[2] for part in parts]).gather(place)
    has = pl.Series([bool(part[1]) for part in parts]).gather(place)
    return either(has, joined(before, fill, after), chosen)


def joined(*parts: pl.Series | str) -> pl.Series:
    """Join texts row by row; a null is nothing."""
    columns = [pl.lit(part) for part in parts]
    return pl.select(pl.concat_str(columns, ignore_nulls=True)).to_series()


def either(
    condition: pl.Series | npt.NDArray[np.bool_],
    yes: pl.Series | str | None,
    no: pl.Series | str | None,
) -> pl.Series:
    """Take one text where the condition holds, the other where it does not."""
    holds = pl.lit(pl.Series(condition))
    return pl.select(pl.when(holds).then(pl.lit(yes)).otherwise(pl.lit(no))).to_series()


def capitalised(texts: pl.Series) -> pl.Series:
    """Write the first letters large."""
    return joined(texts.str.head(1).str.to_uppercase(), texts.str.slice(1))
