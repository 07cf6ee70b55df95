"""Source files as they are met: text in whatever encoding, JSON with what real files do.

That is NaN from pandas, byte order marks, keys that come twice, and hostile nesting.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.bounded import printable, read_file
from rexview.errors import FileRefused
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.json_text import JsonError, is_too_deep, parse
from rexview.reviewset.problems import quoted
from rexview.vocab import counted

MAX_BYTES: Final = 500_000_000
MAX_CELLS: Final = 5_000_000
"""Cells of one table to import."""
MAX_VALUES: Final = 20_000_000
"""Commas and brackets of a JSON file: empty lists take thirty times the memory of their text."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class SourceFile:
    """A file of an import, or a folder; ``label`` is its name in the source, as people see it.

    ``folder`` tells it apart from others of its name: what such a file holds is a model's, and the
    folder is called for the model.
    """

    path: Path
    label: str
    folder: str | None = None


_NOT_A_MODEL: Final = frozenset(
    (
        *("rexrank", "prediction", "predictions", "pred", "preds", "result", "results", "output"),
        *("outputs", "generated", "reports", "report", "iuxray", "iu", "xray", "mimic", "mimiccxr"),
        *("cxr", "chexpert", "chexpertplus", "plus", "rexgradient", "gradient", "valid", "val"),
        *("validation", "test", "train", "private", "public", "json", "findings", "impression"),
    )
)


def name_of_model(file: SourceFile) -> str:
    """Return the name of a model from that of its file, without what every such file is called.

    A file such as ``predictions.json`` is called after the nearest folder that tells a model, of
    those that were given with it.
    """
    stem = file.path.stem
    return file.folder or printable(_telling(stem) or _folder_of_model(file) or stem)


def _folder_of_model(file: SourceFile) -> str:
    folders = (one.name.removesuffix(".zip") for one in PurePosixPath(file.label).parents)
    return next((name for name in folders if _telling(name)), "")


def warn_of_no_model(file: SourceFile, model: str, log: ProblemLog) -> None:
    """Say that a file's name tells no model, where it is called after it, and how to name it."""
    if not file.folder and not _telling(file.path.stem) and model == name_of_model(file):
        after = ", after its folder" if _folder_of_model(file) else ""
        message = f"Its name tells no model: the model is called “{model}” now{after}."
        remedy = f"Name it as an option: --model {file.path.name}=NAME, or “Model names” on Data."
        log.warning(file.label, message, remedy, field="model")


def _telling(name: str) -> str:
    words = [word for word in re.split(r"[_\s]+", name) if word]
    return " ".join(
        word for word in words if re.sub(r"[^a-z]", "", word.lower()) not in (*_NOT_A_MODEL, "")
    )


def told_apart(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Give files of one name their nearest folders in which all differ; those may name models.

    Folders such as ``test`` and ``valid`` name none: then their files stay as they are.
    """
    alike: dict[str, list[SourceFile]] = {}
    for file in files:
        alike.setdefault(file.path.name, []).append(file)
    folders: dict[SourceFile, str] = {}
    for group in alike.values():
        parents = [[parent.name for parent in one.path.parents] for one in group]
        for names in zip(*parents, strict=False) if len(group) > 1 else ():
            if len(set(names)) == len(group):
                if all(map(_telling, names)):
                    folders |= dict(zip(group, map(printable, names), strict=True))
                break
    return [replace(file, folder=folders.get(file)) for file in files]


def model_told(file: SourceFile, options: Mapping[str, Any]) -> str | None:
    """Return the model of a file as the option names it (NAME or FILE=NAME), or None."""
    given = options.get("model") or ()
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        label, mark, model = name.partition("=")
        if mark and label in (file.label, file.path.name):
            return str(model).strip()
    plain = [name for name in names if "=" not in name]
    return str(plain[0]) if len(plain) == 1 else None


def read_text(path: Path, log: ProblemLog, *, save_as: str, label: str | None = None) -> str | None:
    """Read a text file; log an error and return None when it is none, or too large.

    A warning says where Windows-1252 was assumed; ``save_as`` says how to save it instead.
    """
    name = label or path.name
    try:
        content = read_file(path, MAX_BYTES)
    except FileRefused as refusal:
        log.error(name, str(refusal), "Give a file, or split it into several ones.")
        return None
    except OSError as error:
        message = f"The file cannot be read: {error.strerror or error}."
        log.error(name, message, "See to it that the app may read it.")
        return None
    encoding = sniff_encoding(content)
    text = content.decode(encoding, "replace")
    if text.startswith("PK\x03\x04"):
        log.error(name, "This is not a text file.", "Give it its own ending, such as .xlsx.")
        return None
    if encoding == "cp1252":
        message = "The file is not UTF-8; it was read as Windows-1252."
        log.warning(name, message, f"Save it as {save_as} if letters look wrong.")
    return text


def sniff_encoding(data: bytes) -> str:
    """Name the encoding of a whole file's bytes.

    A byte order mark decides; without one, zero bytes in every second place mean UTF-16, bytes
    that are valid UTF-8 mean UTF-8, and anything else is taken for Windows-1252, the usual
    encoding of spreadsheets saved as CSV in Western Europe and America.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    start = data[:4096]
    if len(start) >= 4:
        half = len(start) // 2
        if start[1::2].count(0) > half * 0.6:
            return "utf-16-le"
        if start[0::2].count(0) > half * 0.6:
            return "utf-16-be"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


class _Objects:
    """Makes dicts that keep the first of repeated keys, and remembers the keys of the last one.

    ``inside`` are those of the ones before it.
    """

    def __init__(self) -> None:
        self.repeated: list[str] = []
        self.inside: list[str] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self.inside += self.repeated
        self.repeated = []
        for key, value in pairs:
            if key in made:
                self.repeated.append(key)
            else:
                made[key] = value
        return made


def read_json(path: Path, log: ProblemLog, label: str | None = None) -> Any:
    """Read a JSON file; log an error and return None when it cannot be read.

    NaN and Infinity become None. Of repeated keys of an object the first one counts, and that is a
    warning, for each of the outermost object: entries of a dict by id must not vanish in silence.
    """
    name = label or path.name
    text = read_text(path, log, save_as="UTF-8", label=name)
    if text is None:
        return None
    if not text.strip():
        log.error(name, "The file is empty.", "Give the file that holds the data.")
        return None
    if _has_too_many_values(text, name, log):
        return None
    objects = _Objects()
    try:
        value = json.loads(text, parse_constant=lambda _: None, object_pairs_hook=objects)
        if is_too_deep(value):
            raise RecursionError
    except json.JSONDecodeError as error:
        where = f"{error.msg} at line {error.lineno}, column {error.colno}"
        remedy = "Give a complete JSON file; it may have been cut off."
        log.error(name, f"The file is not valid JSON: {where}.", remedy)
        return None
    except (RecursionError, ValueError):
        message = (
            "The file is nested too deeply, or has a number too long, to be data of this kind."
        )
        log.error(name, message, "Give the file as it was published.")
        return None
    if isinstance(value, dict):
        for key in objects.repeated:
            row = list(value).index(key) + 1 if len(objects.repeated) < 100 else None
            log.warning(name, *REPEATED, row=row)
    inside = objects.inside if isinstance(value, dict) else objects.inside + objects.repeated
    if inside:
        named = ", ".join(quoted(key) for key in list(dict.fromkeys(inside))[:3])
        keys = counted(len(inside), "key")
        message = f"{keys} twice in one object ({named}); the first was kept."
        log.warning(name, message, REPEATED[1])
    return value


def _has_too_many_values(text: str, file: str, log: ProblemLog) -> bool:
    too_many = sum(map(text.count, ",[{")) > MAX_VALUES
    if too_many:
        message = f"The file holds more than {MAX_VALUES:,} values."
        log.error(file, message, "Split it into several files.")
    return too_many


def json_lines(text: str, file: str, log: ProblemLog) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line; a JsonError where it is not JSON.

    A text with too many values is an error, and has no lines.
    """
    if _has_too_many_values(text, file, log):
        return
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if line.strip():
            try:
                yield number, parse(line)
            except JsonError as error:
                yield number, error


REPEATED: Final = (
    "This id occurs more than once; the first entry was kept.",
    "Give every entry its own id.",
)
