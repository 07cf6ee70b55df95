"""Measure for benchmarks: alternate with an alternative, take medians, return uniform rows.

Absolute times differ between machines and from minute to minute. So each step alternates with
another way to do the same in one run, and the ratio counts.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from rexview import __version__

ROUNDS: Final = 7
_PACKAGES: Final = (
    *("streamlit", "polars", "pandas", "numpy", "pyarrow", "pydicom", "pillow"),
    *("opencv-python-headless", "scipy", "scikit-learn", "playwright", "duckdb", "medspacy"),
)
_DIGITS: Final = 4
_SMALLEST: Final = 1e-9


@dataclass(frozen=True)
class Goal:
    """The goal of a row: a limit, at most or at least, for its ``ours`` or its ``ratio``."""

    of: Literal["ours", "ratio"]
    sign: Literal["<=", ">="]
    limit: float

    def __str__(self) -> str:
        return f"{self.of} {self.sign} {self.limit:g}"

    def met(self, ours: float | None, ratio: float | None) -> bool | None:
        """Whether it is reached; None if that could not be measured."""
        value = ours if self.of == "ours" else ratio
        if value is None:
            return None
        return value <= self.limit if self.sign == "<=" else value >= self.limit


def ratio_at_most(limit: float) -> Goal:
    """Return the goal of at most ``limit`` times the alternative."""
    return Goal("ratio", "<=", limit)


def at_most(limit: float) -> Goal:
    """Return the goal of at most ``limit``, in the row's unit."""
    return Goal("ours", "<=", limit)


def at_least(limit: float) -> Goal:
    """Return the goal of at least ``limit``, in the row's unit."""
    return Goal("ours", ">=", limit)


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes
    ----------
    what : str
    ours : float or None
        None if it could not be measured; ``note`` gives the reason.
    unit : str
        Unit of ``ours`` and ``alternative``.
    alternative, name : float or None, str or None
        The value of another way to do the same, and the name of that way.
    ratio : float or None
        ``ours`` over ``alternative``: below 1, ours needs less.
    goal, met : str or None, bool or None
        None without a goal, or if it could not be measured.
    note : str
    """

    what: str
    ours: float | None
    unit: str
    alternative: float | None = None
    name: str | None = None
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None
    note: str = ""


def result(
    what: str,
    ours: float | None,
    unit: str,
    *,
    alternative: float | None = None,
    name: str | None = None,
    goal: Goal | None = None,
    note: str = "",
) -> Row:
    """Make a row, with its ratio and whether its goal is met."""
    ratio = None
    if ours is not None and alternative is not None:
        ratio = ours / max(alternative, _SMALLEST)
    return Row(
        what=what,
        ours=_rounded(ours),
        unit=unit,
        alternative=_rounded(alternative),
        name=name,
        ratio=_rounded(ratio),
        goal=str(goal) if goal else None,
        met=goal.met(ours, ratio) if goal else None,
        note=note,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


@dataclass(frozen=True)
class Measured:
    """Result of a benchmark: rows, further tables by title, and notes on them."""

    rows: Sequence[Row]
    details: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    notes: str = ""


def in_turn(*measures: Callable[[], float], rounds: int = ROUNDS) -> list[float]:
    """Call measures in turn, round by round; return the median of each.

    A first round, which fills caches and loads modules, does not count.
    """
    for measure in measures:
        measure()
    found = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(values) for values in zip(*found, strict=True)]


def milliseconds(work: Callable[[], object]) -> Callable[[], float]:
    """Return a measure of the work's time by the clock."""

    def measure() -> float:
        start = time.perf_counter()
        work()
        return 1000 * (time.perf_counter() - start)

    return measure


def processor_milliseconds(work: Callable[[], object]) -> Callable[[], float]:
    """Return a measure of the work's processor time, over all threads.

    Other load on the machine affects it less than the clock.
    """

    def measure() -> float:
        start = time.process_time()
        work()
        return 1000 * (time.process_time() - start)

    return measure


def missing(module: str, package: str | None = None) -> str | None:
    """Return how to install a missing module; None if it is installed."""
    if find_spec(module) is not None:
        return None
    return f"{package or module} is not installed: pip install {package or module}"


def memory_mb(kind: Literal["VmHWM", "RssAnon", "VmRSS"]) -> float | None:
    """Return this process's memory in MB; None on systems without ``/proc``.

    ``VmHWM`` is the maximum so far, ``RssAnon`` its own memory now, without mapped files.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in status.splitlines())
    return int(values[kind].split()[0]) / 1024 if kind in values else None


def document(bench: str, measured: Measured) -> dict[str, Any]:
    """Return one run as a JSON object: machine, versions, rows, further tables, notes."""
    return {
        "bench": bench,
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": _machine(),
        "versions": _versions(),
        "rows": [asdict(one) for one in measured.rows],
        "details": {
            title: [dict(one) for one in table] for title, table in measured.details.items()
        },
        "notes": measured.notes,
    }


def text(bench: str, measured: Measured) -> str:
    """Return one run as tables for a terminal."""
    machine = _machine()
    cores, memory = machine["cores"], machine["memory_gb"]
    lines = [f"{bench}: {machine['processor']}, {cores} cores, {memory} GB, {machine['system']}"]
    lines += ["", _table([_shown(one) for one in measured.rows])]
    for title, rows in measured.details.items():
        lines += ["", title, _table(rows)]
    if measured.notes:
        lines += ["", measured.notes]
    return "\n".join(lines)


def _shown(one: Row) -> dict[str, Any]:
    """Return a row for display, with empty cells for missing values."""
    return {**asdict(one), "met": {True: "yes", False: "no", None: None}[one.met]}


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    import pandas as pd

    table = pd.DataFrame([dict(one) for one in rows], dtype=object)
    filled = table.where(table.notna(), "")
    filled = filled.loc[:, [name for name in filled if (filled[name] != "").any()]]
    return str(filled.to_string(index=False))


def _machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if _has_sysconf() else None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": None if memory is None else round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load": [round(value, 2) for value in os.getloadavg()] if _has_sysconf() else None,
    }


def _has_sysconf() -> bool:
    return hasattr(os, "sysconf") and hasattr(os, "getloadavg")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _versions() -> dict[str, str]:
    found = {"rexview": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
