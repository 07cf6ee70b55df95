"""Read and check values of users' YAML files, and collect every problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from rexview.errors import FileRefused, SettingsError
from rexview.untrusted_input import printable_text, read_untrusted_yaml

ValueReader = Callable[[Any], Any]
"""Returns the value to use; raises ValueError with what to write instead."""
_SHOWN: Final = 60


def read_mapping(path: Path, label: str) -> Mapping[str, Any] | None:
    """Read a YAML file of keys; None if the file does not exist.

    Raises
    ------
    SettingsError
        The file cannot be read, or is no mapping of keys.
    """
    try:
        raw = read_untrusted_yaml(path)
    except FileNotFoundError:
        return None
    except FileRefused as refusal:
        where = f"{label}, line {refusal.line}" if refusal.line else label
        raise SettingsError(f"{where}: {refusal} Mend the file or take it away.") from None
    except OSError as error:
        raise SettingsError(f"{label}: it cannot be read ({error.strerror}).") from None
    if not isinstance(raw, Mapping):
        raise SettingsError(f"{label}: there are no keys. Write lines of the form key: value.")
    return {str(key): value for key, value in raw.items()}


def read_entry(
    raw: Mapping[Any, Any], readers: Mapping[str, ValueReader], where: str, problems: list[str]
) -> dict[str, Any]:
    """Read the keys of an entry; problems are added as ``where, key: what is wrong``."""
    found = {}
    for key, value in raw.items():
        name = str(key)
        if name not in readers:
            near = get_close_matches(name, readers, 1)
            remedy = f"Did you mean {near[0]}?" if near else f"There are {', '.join(readers)}."
            problems.append(
                printable_text(f"{where}, {name:.{_SHOWN}}: there is no such key. {remedy}")
            )
            continue
        try:
            found[name] = readers[name](value)
        except SettingsError as nested:
            problems += [printable_text(f"{where}, {name}: {line}") for line in nested.args]
        except ValueError as error:
            shown = repr(value)
            shown = f"{shown[:_SHOWN]}…" if len(shown) > _SHOWN else shown
            problems.append(
                printable_text(f"{where}, {name}: {shown} cannot be used. Write {error}.")
            )
    return found


def raise_problems(problems: Sequence[str]) -> None:
    """Raise all problems as one error, if there are any.

    Raises
    ------
    SettingsError
        Names all problems.
    """
    if problems:
        raise SettingsError(" ".join(problems))


def text(most: int = 20_000) -> ValueReader:
    """Return a reader for texts of at most ``most`` characters."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"a text of at most {most:,} characters")
        return value

    return read


def word(*words: str) -> ValueReader:
    """Return a reader for one of the given words."""

    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return str(value)

    return read


def number(low: float, high: float, *, whole: bool = False) -> ValueReader:
    """Return a reader for numbers within inclusive bounds."""

    def read(value: Any) -> float:
        kinds = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            kind = "a whole number" if whole else "a number"
            raise ValueError(f"{kind} from {low:,} to {high:,}")
        return value

    return read


def optional(read: ValueReader) -> ValueReader:
    """Return a reader that also takes a missing value."""
    return lambda value: None if value is None else read(value)


def yes_no(value: Any) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def nested(
    readers: Mapping[str, ValueReader], make: Callable[..., Any], required: Sequence[str] = ()
) -> ValueReader:
    """Return a reader for a nested object."""

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping) or not set(required) <= value.keys():
            raise ValueError(f"an object with {', '.join(required or readers)}")
        problems: list[str] = []
        found = read_entry(value, readers, "in it", problems)
        if problems:
            raise SettingsError(*problems)
        return make(**found)

    return read
