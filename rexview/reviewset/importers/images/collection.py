"""Image files found in folders, gathered into studies."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from rexview.errors import ImageError
from rexview.imaging import ImageFacts
from rexview.imaging.decode_all import Decoded
from rexview.reviewset.images import has_twin
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.inspection import (
    StudyHeader,
    is_picture,
    read_study,
    warn_of,
)
from rexview.reviewset.importers.table.column_names import ColumnName
from rexview.reviewset.pictures import FORMATS_BY_SUFFIX, look_at

TABLE_SUFFIXES: Final = (".csv", ".tsv", ".xlsx", ".json")
NOT_RADIOGRAPHS: Final = frozenset(("CT", "MR", "PT", "NM", "US", "SM", "OCT", "OP", "ES", "ECG"))
"""DICOM modalities (0008,0060) that are left out of an import of radiographs."""
MOST_IN_A_STUDY: Final = 8
"""A folder with more pictures than this is not taken for one study."""
_MIMIC_STUDY: Final = re.compile(r"(?:^|/)(p\d{8})/(s\d{8})/[^/]+$")
_SKIPPED_FOLDERS: Final = frozenset(("__MACOSX", "__pycache__", "node_modules"))
_KINDS_SHOWN: Final = 12


@dataclass(frozen=True)
class FoundImage:
    """An image file: its path from the base folder, what it says, its DICOM study if it has one."""

    path: str
    facts: ImageFacts
    study: StudyHeader | None = None

    @property
    def view(self) -> str | None:
        """View as the file says, else as its name does (``view1_frontal.jpg``)."""
        return self.facts.view or _view_in_name(self.path)


def _view_in_name(path: str) -> str | None:
    """Read a view from a file name: whole words only, and PA, AP and LAT only as the last one."""
    words = ColumnName.of(PurePosixPath(path).stem).words
    clear = {word for word in words if word in ("frontal", "lateral")}
    if words and words[-1] in ("pa", "ap", "lat"):
        clear.add(words[-1])
    return clear.pop().upper() if len(clear) == 1 else None


def base_folder(sources: Sequence[Path]) -> Path:
    """Return the folder that holds all sources: a single folder itself, else the common one."""
    folders = [source if source.is_dir() else source.parent for source in sources]
    return Path(os.path.commonpath([folder.resolve() for folder in folders]))


def files_below(sources: Sequence[Path]) -> Iterator[Path]:
    """Yield files in and below the sources in a steady order, hidden ones and review sets not."""
    for source in sources:
        if source.is_file():
            yield source
            continue
        for folder, folders, names in os.walk(source):
            if "reviewset.yaml" in names:
                folders.clear()
                continue
            folders[:] = sorted(
                name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS
            )
            for name in sorted(names):
                path = Path(folder, name)
                named = not name.startswith(".") and name.lower() not in ("thumbs.db", "dicomdir")
                if named and path.is_file():  # a pipe would be waited for
                    yield path


def find_images(sources: Sequence[Path], base: Path, log: ProblemLog) -> list[FoundImage]:
    """Find and inspect every image file; what is broken or no radiograph becomes a warning."""
    files: dict[Path, str] = {}
    others: list[str] = []
    for path in dict.fromkeys(file.absolute() for file in files_below(sources)):
        named = path.suffix.lower() in FORMATS_BY_SUFFIX
        if not named and not is_picture(path):
            others.append(path.suffix.lower() or path.name)
            continue
        shown = _shown(path, base)
        if shown is None or not path.resolve().is_relative_to(base.resolve()):
            message = "The file is a link to a place outside of the folder; it was left out."
            remedy = "Put the file itself into the folder."
            log.warning(path.name, message, remedy, kind="link")
            continue
        files[path] = shown
    for path, shown in files.items():
        if has_twin(path):
            message = "Another file's name differs only in how an accented letter is stored."
            log.warning(shown, message, "Rename one of them; both are used.", kind="twin")
    looked = look_at(list(files))
    found = [_found(path, shown, looked[path], log) for path, shown in files.items()]
    _note_others(others, log)
    return [image for image in found if image is not None]


def _found(path: Path, shown: str, decoded: Decoded, log: ProblemLog) -> FoundImage | None:
    try:
        if isinstance(decoded, ImageError):
            raise decoded
        study = read_study(path) if decoded.format == "DICOM" else None
    except ImageError as error:
        message = f"{error} It was left out."
        remedy = "Replace it by an intact file if it should be a radiograph."
        log.warning(shown, message, remedy, kind="broken")
        return None
    if study is not None and study.modality in NOT_RADIOGRAPHS:
        message = f"The file is not a radiograph ({study.modality}); it was left out."
        log.warning(shown, message, "Nothing, if that is right.", kind="not a radiograph")
        return None
    warn_of(shown, decoded, log)
    return FoundImage(shown, decoded, study)


def _note_others(others: Sequence[str], log: ProblemLog) -> None:
    """Say which files are no pictures: how many of each ending, and the names of those without."""
    if others:
        kinds = Counter(others)
        shown = [f"{kind} ({count:,})" if count > 1 else kind for kind, count in kinds.items()]
        more = ", …" if len(shown) > _KINDS_SHOWN else ""
        listed = ", ".join(shown[:_KINDS_SHOWN]) + more
        log.note(f"Files in the folder that are no pictures: {len(others):,}: {listed}.")


def _shown(path: Path, base: Path) -> str | None:
    try:
        return path.resolve().parent.relative_to(base.resolve()).joinpath(path.name).as_posix()
    except ValueError:
        return None


def mimic_study(path: str) -> tuple[str, str] | None:
    """Return patient and study of a path as MIMIC-CXR's folders have it: ``p10000032/s50414267``.

    Both are pseudonyms that the data set itself publishes.
    """
    found = _MIMIC_STUDY.search(path)
    return (found[1], found[2]) if found else None


def by_study(images: Iterable[FoundImage]) -> list[list[FoundImage]]:
    """Gather DICOM files by StudyInstanceUID, in the order in which studies are met.

    A file without one is a study of its own. Within a study: by time, number, path.
    """
    studies: dict[str, list[FoundImage]] = {}
    for image in images:
        if image.study is not None:
            studies.setdefault(image.study.study or image.path, []).append(image)
    return [
        sorted(study, key=lambda one: (one.study.order if one.study else ("", 0), one.path))
        for study in studies.values()
    ]


def by_folder(images: Iterable[FoundImage], how: str) -> dict[str, list[FoundImage]]:
    """Gather pictures into cases: the case's id, and its images.

    With ``file`` each picture is a case, with ``folder`` those of one folder together, with
    ``auto`` those of a sub-folder together when they are at most :data:`MOST_IN_A_STUDY`.
    """
    folders: dict[str, list[FoundImage]] = {}
    for image in images:
        folders.setdefault(str(PurePosixPath(image.path).parent), []).append(image)
    cases: dict[str, list[FoundImage]] = {}
    for folder, inside in folders.items():
        together = how == "folder" or (
            how == "auto" and folder != "." and len(inside) <= MOST_IN_A_STUDY
        )
        if together:
            cases["images" if folder == "." else folder] = inside
            continue
        for image in inside:
            name = str(PurePosixPath(image.path).with_suffix(""))
            cases.setdefault(image.path if name in cases else name, []).append(image)
    return cases
