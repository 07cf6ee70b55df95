"""What is said of values that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexview.cli.metrics.asked import Asked
from rexview.untrusted_input import printable
from rexview.vocab import counted, noun

if TYPE_CHECKING:
    from rexview.metrics.kept_values import MetricValues as Found


def told_of(parts: Sequence[Found], file: Path, given: int, about: Asked) -> dict[str, Any]:
    """Say what came of one metric, as plain values."""
    identity = parts[0].identity
    values: dict[str, list[float]] = {model: [] for model in about.models}
    for part in parts:
        for _, model, value in part.values:
            values[model].append(value)
    return {
        **identity._asdict(),
        "described": identity.exact,
        "file": in_words(file, about.review_set.folder),
        "given_elsewhere": given,
        "without": sum(part.without for part in parts),
        "models": {
            model: {"reports": len(one), "mean": sum(one) / len(one)}
            for model, one in values.items()
            if one
        },
    }


def in_words(file: Path, folder: Path) -> str:
    """Name a file by its place in the set, or where it was asked for."""
    folder = folder.absolute()
    file = file.absolute()
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file)


def tell(told: dict[str, Any]) -> None:
    """Print what came of one metric."""
    print(printable(f"{told['described']}: {told['file']}"))
    for model, one in told["models"].items():
        print(
            printable(f"  {model}: mean {one['mean']:.4f} of {counted(one['reports'], 'report')}")
        )
    if told["without"]:
        print(f"  {counted(told['without'], 'report')} without a value")
    if told["given_elsewhere"]:
        many = told["given_elsewhere"]
        print(f"  {many:,} {noun(many, 'value')} left as other files of the set give them")
