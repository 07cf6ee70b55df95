"""What an importer is: its name, its options, what it reads, and what it reports.

The options of an importer are data: the command line's flags and the Data page's form are both
made from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

from rexview.bounded import typed_path
from rexview.errors import FileRefused, Problem
from rexview.reviewset.importers.core.receipt import Receipt
from rexview.reviewset.importers.core.recognise import Found, Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile

OptionType = Literal[
    "text", "texts", "flag", "switch", "choice", "file", "folder", "mapping", "box_reading"
]
"""``texts`` is a list of strings, ``flag`` is off and ``switch`` is on unless told otherwise,
``mapping`` is a confirmed ColumnMapping, its JSON form or the path of a file with it."""

_TRUE: Final = ("true", "yes", "on", "1")
_FALSE: Final = ("false", "no", "off", "0")
PROPOSED: Final = "proposed"
"""As a ``mapping``: take the proposal as it is."""


@dataclass(frozen=True)
class Option:
    """One option of an importer.

    ``name`` is the key in ``options`` and, with hyphens, the flag of the command line; ``label``
    is what a form shows. A ``switch`` becomes a ``--no-...`` flag.
    """

    name: str
    type: OptionType
    label: str
    help: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The flag on the command line."""
        word = self.name.replace("_", "-")
        return f"--no-{word}" if self.type == "switch" else f"--{word}"

    def read(self, value: Any) -> Any:
        """Turn a value from a form, a command line or a caller into the option's own type.

        Raises ValueError when the value cannot be used; the message completes "This option ...".
        """
        if value is None or value == "":
            if self.required:
                raise ValueError("is required.")
            return self.default
        if self.type in ("flag", "switch"):
            word = str(value).strip().lower()
            if word not in (*_TRUE, *_FALSE):
                raise ValueError("must be yes or no.")
            return word in _TRUE
        if self.type == "texts":
            values = [value] if isinstance(value, str) else list(value)
            return tuple(str(one).strip() for one in values if str(one).strip())
        if self.type in ("file", "folder"):
            try:
                path = typed_path(str(value))
            except FileRefused as refusal:
                raise ValueError(f"cannot be used. {refusal}") from None
            if self.type == "file" and not path.is_file():
                raise ValueError("names a file that does not exist.")
            if self.type == "folder" and not path.is_dir():
                raise ValueError("names a folder that does not exist.")
            return path
        if self.type == "box_reading":
            from rexview.reviewset.importers.annotations.box_placement import BoxReading

            if isinstance(value, Mapping):  # by file and model, as a page asks
                return {whose: BoxReading.parse(str(one)) for whose, one in value.items()}
            return BoxReading.parse(str(value))
        if self.type == "choice" and str(value) not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}.")
        return value if self.type == "mapping" else str(value).strip()


COMMON_OPTIONS: Final = (
    Option("name", "text", "Name", "Name of the review set; from the source when left out."),
    Option(
        "images",
        "folder",
        "Images folder",
        "Folder that holds the images; looked for beside the source when left out.",
    ),
    Option("copy", "flag", "Copy images", "Copy the images into the review set."),
    Option(
        "question", "text", "Question", "Question of cases for which the source does not give one."
    ),
    Option(
        "table_format",
        "choice",
        "Table format",
        "How the tables of the review set are written: JSON Lines up to 100,000 rows and Parquet "
        "beyond when left out.",
        choices=("jsonl", "csv", "parquet"),
    ),
)
"""Options that every importer has."""

_SINGULAR: Final = {"reference boxes": "reference box", "boxes of models": "box of a model"}


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


@dataclass(frozen=True)
class Importer:
    """A format that can be imported.

    ``suffixes`` are the endings of files that can be given as a source; ``folders`` says whether a
    folder can be. ``reader`` names the function that reads files into rows, as ``module:function``:
    it is imported when it runs, as the command line lists all formats. ``recogniser`` names, in the
    same way, the function that says of a :class:`~.recognise.Probe` why it is of this format, or
    None. ``role`` is when it is read among others: 0 pictures, 1 cases, 2 answers, 3 boxes,
    4 scores, flags and edits. ``extra_arguments`` adds command-line arguments that are not options.
    """

    id: str
    name: str
    description: str
    options: tuple[Option, ...]
    suffixes: tuple[str, ...]
    reader: str
    folders: bool = False
    recogniser: str | None = None
    role: int = 2
    extra_arguments: Callable[[argparse.ArgumentParser], None] | None = None

    def read(self, files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
        """Read files into rows; problems, notes and the receipt are in ``rows``."""
        _function(self.reader)(files, rows, options)

    def recognises(self, probe: Probe) -> Found | None:
        """Say why a file is of this format; None when it is not."""
        found: Found | str | None = _function(self.recogniser)(probe) if self.recogniser else None
        return Found(found) if isinstance(found, str) else found

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the importer's options to a command-line parser."""
        for option in self.options:
            off = "Turn this off: " if option.type == "switch" else ""
            settings: dict[str, Any] = {"help": f"{off}{option.help}".replace("%", "%%")}
            if option.type == "flag":
                settings |= {"action": "store_true", "default": None}
            elif option.type == "switch":
                settings |= {"action": "store_false", "default": None}
            elif option.type == "texts":
                settings |= {"action": "append", "metavar": "TEXT"}
            elif option.type == "choice":
                settings |= {"choices": option.choices}
            else:
                metavar = {"file": "FILE", "folder": "FOLDER", "mapping": "FILE"}
                settings |= {"metavar": metavar.get(option.type, "TEXT")}
            settings |= {"dest": f"option_{option.name}", "required": option.required}
            parser.add_argument(option.flag, **settings)
        if self.extra_arguments:
            self.extra_arguments(parser)

    def read_arguments(self, namespace: argparse.Namespace) -> dict[str, Any]:
        """Return the options that were given on the command line."""
        names = (option.name for option in self.options)
        given = {name: getattr(namespace, f"option_{name}") for name in names}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class ImportReport:
    """What an import made.

    ``counts`` maps plain words (``cases``, ``answers``, ``images found``, ...) to numbers, in the
    order in which they are shown; ``notes`` are decisions that the import took; ``problems`` are
    its warnings; ``receipt`` says what became of all that was read.
    """

    format_id: str
    folder: Path
    counts: Mapping[str, int]
    receipt: Receipt
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def counted(self) -> str:
        """The counts in words: ``8 cases, 1 answer, 8 images (7 found)``."""
        parts = [
            f"{number:,} {word if number != 1 else _SINGULAR.get(word, word[:-1])}"
            for word, number in self.counts.items()
            if word != "images found"
        ]
        found = self.counts.get("images found")
        return ", ".join(parts) + ("" if found is None else f" ({found:,} found)")

    def summary(self) -> str:
        """Return the counts, the notes and what was not used as lines for a person."""
        head = f"Imported into {self.folder}: {self.counted}."
        if self.receipt.before is not None:
            head = f"Added to {self.folder}, which has now {self.counted}."
        return "\n".join([head, *self.notes, *self.receipt.lines()])
