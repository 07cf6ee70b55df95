"""Where the images of an import are: from paths as written in a source to files in one folder.

A file with the same name in another folder is never taken for the one that was meant: that could be
another patient's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from rexview.errors import ImageError, ImportSourceError, Problem
from rexview.reviewset.importers.core.draft import Draft
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.inspection import image_of, inspect_image
from rexview.reviewset.importers.images.names import RASTER_SUFFIXES
from rexview.schema import StudyImage

_SAMPLE: Final = 200
_TELLING_STEM: Final = 6
_LIKELY_FOLDERS: Final = ("", "images", "files", "PNG", "png", "jpg", "data")


@dataclass(frozen=True)
class Placement:
    """How written paths map into a folder: the folder, and the file of each path found there."""

    base: Path
    files: dict[str, str]


def place_images(
    draft: Draft, given: Path | None, beside: Sequence[Path], log: ProblemLog, file: str
) -> None:
    """Find the files of all images of a draft, and read their size and orientation.

    ``given`` is the images folder that the user named; without one, images are looked for in the
    folders ``beside`` and their likely sub-folders. An image that is missing or broken is a warning
    about ``file``; where none is found there is one in all.
    """
    wanted = list(dict.fromkeys(image.path for image in draft.images()))
    if not wanted:
        return
    placement = _best(wanted, [given] if given else list(_candidates(beside)))
    if placement is None:
        where = "in the images folder" if given else "beside the source"
        message = f"None of the {len(wanted):,} images was found {where}."
        remedy = (
            "Name the folder that holds them (images folder); everything else can be read without "
            "them."
        )
        log.warning(file, message, remedy, field="images")
        return
    draft.images_base = placement.base
    draft.replace_images({path: _placed(path, placement, log, file) for path in wanted})


def _placed(path: str, placement: Placement, log: ProblemLog, file: str) -> StudyImage:
    found = placement.files.get(path)
    if found is None:
        message = f"The image {path} was not found."
        remedy = "Add it to the images folder, or leave it: the case can be read without it."
        log.warning(file, message, remedy, field="images")
        return StudyImage(id="", path=path)
    try:
        return image_of(found, inspect_image(placement.base / found))
    except ImageError as error:
        log.warning(found, str(error), "Replace the file by an intact one.", kind="image broken")
        return StudyImage(id="", path=found)


def _candidates(beside: Iterable[Path]) -> Iterator[Path]:
    for folder in dict.fromkeys(folder.resolve() for folder in beside):
        for name in _LIKELY_FOLDERS:
            if (folder / name).is_dir():
                yield folder / name


def _best(wanted: Sequence[str], bases: Iterable[Path]) -> Placement | None:
    """Choose the base folder, and how many leading folders of the paths to drop, that find most."""
    best: tuple[int, Path, int] | None = None
    sample = wanted[:: max(1, len(wanted) // _SAMPLE)]
    for base in bases:
        deepest = max(path.count("/") for path in sample)
        for drop in range(deepest + 1):
            hits = sum(_inside(base, _shorten(path, drop)) for path in sample)
            if hits and (best is None or hits > best[0]) and _trusted(wanted, base, drop):
                best = (hits, base, drop)
    if best is not None:
        _, base, drop = best
        files = {path: _shorten(path, drop) for path in wanted}
        return Placement(base, {path: to for path, to in files.items() if _inside(base, to)})
    for base in bases:
        files = _by_name(wanted, base)
        if files:
            return Placement(base, files)
    return None


def _shorten(path: str, drop: int) -> str:
    parts = path.split("/")
    return "/".join(parts[min(drop, len(parts) - 1) :])


def _trusted(wanted: Sequence[str], base: Path, drop: int) -> bool:
    """Whether paths without their first folders still name one file each.

    Two paths must not become one. And where nothing but a short file name such as ``0.png`` is
    left, the images folder must have the name of the folder that was dropped: every study has a
    ``0.png``.
    """
    if drop == 0:
        return True
    if len({_shorten(path, drop) for path in wanted}) < len(wanted):
        return False
    return all(
        "/" in _shorten(path, drop)
        or len(PurePosixPath(path).stem) >= _TELLING_STEM
        or PurePosixPath(path).parent.name == base.name
        for path in wanted
    )


def _inside(base: Path, path: str) -> bool:
    found = base / path
    try:
        return found.is_file() and found.resolve().is_relative_to(base.resolve())
    except OSError:
        return False


def _by_name(wanted: Sequence[str], base: Path) -> dict[str, str]:
    """Find bare file names anywhere below a folder, where the name occurs there only once.

    A name without an image ending (VinDr, RSNA) matches a file of that name with one.
    """
    names = {path for path in wanted if "/" not in path}
    if not names:
        return {}
    found: dict[str, list[str]] = {}
    for folder, folders, files in os.walk(base):
        folders.sort()
        for name in files:
            stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
            for key in {name, stem} if suffix.lower() in (*RASTER_SUFFIXES, ".dcm") else {name}:
                if key in names:
                    relative = PurePosixPath(Path(folder, name).relative_to(base).as_posix())
                    found.setdefault(key, []).append(str(relative))
    return {
        name: paths[0]
        for name, paths in found.items()
        if len(paths) == 1 and _inside(base, paths[0])
    }


def copy_images(draft: Draft, folder: Path) -> int:
    """Copy the images that are there into a folder, under their own or their given names.

    Returns
    -------
    int
        How many files were copied.

    Raises
    ------
    ImportSourceError
        When the disk has not enough room for them.
    """
    base = draft.images_base
    if base is None:
        return 0
    paths = [path for path in dict.fromkeys(i.path for i in draft.images()) if _inside(base, path)]
    size = sum((base / path).stat().st_size for path in paths)
    folder.mkdir(parents=True, exist_ok=True)
    if size > shutil.disk_usage(folder).free:
        problem = Problem(
            "error",
            "images",
            None,
            None,
            f"Copying the images needs {size / 1e9:.1f} GB, which the disk does not have.",
            "Free some room, or import without copying.",
        )
        raise ImportSourceError("The images cannot be copied.", [problem])
    names = {path: draft.copy_names.get(path, path) for path in paths}
    for path, name in names.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / path, target)
    draft.replace_images(
        {
            image.path: replace(image, path=names[image.path])
            for image in draft.images()
            if image.path in names
        }
    )
    return len(names)
