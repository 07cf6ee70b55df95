"""Find the images of an import: from paths written in a source to files in one folder.

A file with the same name in another folder is never taken for the intended one: it could be another
patient's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from rexview.errors import FileRefused, ImageBroken, ImageError, ImportSourceError, Problem
from rexview.imaging import MAX_PIXELS, ImageFacts
from rexview.imaging.dicom import is_dicom as has_dicom_mark
from rexview.imaging.dicom import open_dicom
from rexview.imaging.dicom.dicom_header import DicomHeader
from rexview.imaging.limits import silence_decoders
from rexview.imaging.raster import is_raster
from rexview.importers.case_names import RASTER_SUFFIXES, UNIQUE_STEM_LENGTH
from rexview.importers.receipt import ProblemLog
from rexview.importers.source_files import PICTURE_TYPES, Probe
from rexview.reviewset.image_paths import join_disk_spelling
from rexview.reviewset.picture_decoding import decode_pictures, picture_remarks
from rexview.vocab import normalise_view

if TYPE_CHECKING:
    from rexview.importers.set_rows import SetRows


_SAMPLE: Final = 200
_FACTS: Final = ("width", "height", "patient_orientation", "view")
_LIKELY_FOLDERS: Final = ("", "images", "files", "PNG", "png", "jpg", "data")


ImagePlacement = tuple[Path, dict[str, str]]
"""How written paths map into a folder: the folder, and the file of each path found in it."""


def place_images(rows: SetRows, given: Path | None, beside: Sequence[Path], source: str) -> None:
    """Find the files of all images without one, and read their size and orientation.

    ``given`` is the images folder named by the user. Without one, images are looked for in the
    folder of images found earlier, in the folders ``beside`` and in their likely sub-folders. A
    missing or broken image is a warning about ``source``; if none is found there is one warning in
    all.
    """
    found_before: dict[str, dict[str, Any]] = {}
    for _, one in rows.images():  # if several rows show a file, one with a known size is used
        if one["path"] in rows.files and (one.get("width") or one["path"] not in found_before):
            found_before[one["path"]] = one
    missing = []
    for case, image in rows.images():
        known: str | None = image["path"]
        if known not in rows.files:
            known = rows.picture_of(image["path"])  # a source of pictures may contain it
        if known is None:
            missing.append((case, image))
            continue
        rows.move_image(case, image, known)
        facts = {name: found_before[known].get(name) for name in _FACTS}
        image |= {name: one for name, one in facts.items() if one and not image.get(name)}
    wanted = list(dict.fromkeys(image["path"] for _, image in missing))
    if not wanted:
        return
    bases = [rows.images_base] if rows.images_base and not given else []
    folders = dict.fromkeys(folder.resolve() for folder in beside)
    likely = (folder / name for folder in folders for name in _LIKELY_FOLDERS)
    bases += [given] if given else filter(Path.is_dir, likely)
    placement = best_placement(wanted, bases)
    unsaid = set(wanted) - rows.not_found  # another reader may have looked for them already
    rows.not_found |= unsaid
    if placement is None and unsaid:
        where = "in the images folder" if given else "beside the source"
        message = f"None of the {len(wanted):,} images was found {where}."
        if found_before:
            of_all = len(wanted) + len(found_before)
            message = f"{len(wanted):,} of {of_all:,} images were not found {where}."
        remedy = "Name the folder that holds them (images folder); everything else can be read "
        remedy += "without them."
        rows.log.warning(source, message, remedy, field="images")
    if placement is None:
        return
    base, files = placement
    rows.images_base = rows.images_base or base
    looked = decode_pictures([base / found for found in files.values()])
    described: dict[str, ImageFacts] = {}
    for path, found in files.items():
        seen = looked[base / found]
        if isinstance(seen, ImageError):
            remedy = "Replace the file by an intact one."
            rows.log.warning(found, str(seen), remedy, kind="image broken")
        else:
            warn_of_picture(found, seen, rows.log)
            described[path] = seen
    for path in wanted:
        if path in unsaid and path not in files:
            message = f"The image {path} was not found."
            remedy = "Add it to the images folder, or leave it: the case can be read without it."
            rows.log.warning(source, message, remedy, field="images")
    for case, image in missing:
        path = image["path"]
        if path in files:
            name = files[path] if base == rows.images_base else f"{base.name}/{files[path]}"
            rows.files[name] = base / files[path]
            rows.move_image(case, image, name)
            write_image_facts(image, described.get(path))


def gather_images(rows: SetRows, sources: Sequence[Path]) -> None:
    """Give each image file one path, relative to one base folder if a source's folder contains all.

    Each source may write its paths from another folder. An image that a case then has twice is
    merged into one.
    """
    used = {image["path"] for _, image in rows.images()}
    files = {path: file.resolve() for path, file in rows.files.items() if path in used}
    if files and rows.base is None and not all(map(rows.lies_in_base, files)):
        base = Path(os.path.commonpath([file.parent for file in files.values()]))
        folders = [source if source.is_dir() else source.parent for source in sources]
        if any(base.is_relative_to(folder.resolve()) for folder in folders):
            rows.images_base = base
    names = {file: path for path, file in files.items()}
    names |= {file: path for path, file in files.items() if rows.lies_in_base(path)}
    if rows.images_base:
        base = rows.images_base.resolve()
        inside = (file for file in names if file.is_relative_to(base))
        names |= {file: file.relative_to(base).as_posix() for file in inside}
    for case, image in rows.images():
        if image["path"] in files:
            file = files[image["path"]]
            rows.copy_names.setdefault(names[file], rows.copy_names.get(image["path"], names[file]))
            rows.move_image(case, image, names[file])
    rows.files |= {path: file for file, path in names.items()}
    for case_row in rows.cases:
        _join_images(case_row)


def _join_images(case: dict[str, Any]) -> None:
    """Merge images of a case with the same path, and point their boxes to the merged image."""
    images: dict[str, dict[str, Any]] = {}
    ids: dict[str, str] = {}
    for image in case.get("images") or []:
        first = images.setdefault(image["path"], image)
        ids[image["id"]] = first["id"]
        first |= {name: one for name, one in image.items() if first.get(name) is None}
    if len(images) < len(case.get("images") or []):
        case["images"] = list(images.values())
        for box in case.get("reference_boxes") or []:
            box["image"] = ids.get(box.get("image"), box.get("image"))


def extend_images_folder(rows: SetRows, base: Path) -> Path:
    """Extend the images folder so that it contains ``base``; return the folder.

    Paths of images found earlier are rewritten to start from there. The images folder of an
    existing set stays: the paths of new images then begin with the name of their own folder.
    """
    base = base.resolve()
    if rows.base is not None:
        here = rows.images_base.resolve() if rows.images_base else None
        return here if here and base.is_relative_to(here) else base.parent
    old = rows.images_base.resolve() if rows.images_base else None
    if old is None or old == base:
        rows.images_base = base
        return base
    common = Path(os.path.commonpath([old, base]))
    if common != old:
        there = rows.files.items()
        files = {path: file for path, file in there if file.resolve().is_relative_to(common)}
        for case, image in list(rows.images()):
            if file := files.get(image["path"]):
                rows.move_image(case, image, file.resolve().relative_to(common).as_posix())
        inside = ((file.resolve().relative_to(common), file) for file in files.values())
        rows.files = {path.as_posix(): file for path, file in inside}
    rows.images_base = common
    return common


def write_image_facts(image: dict[str, Any], facts: ImageFacts | None) -> None:
    """Write an image file's facts into its row; a view given by the source stays."""
    if facts is None:
        return
    if normalise_view(image.get("view")) == "UNKNOWN" and facts.view:
        image["view"] = facts.view
    image |= {"width": facts.width, "height": facts.height}
    if facts.patient_orientation:
        image["patient_orientation"] = list(facts.patient_orientation)


def best_placement(wanted: Sequence[str], bases: Sequence[Path]) -> ImagePlacement | None:
    """Choose the base folder, and the number of leading folders to drop, that find most images."""
    best: tuple[int, Path, int] | None = None
    sample = wanted[:: max(1, len(wanted) // _SAMPLE)]
    for base in bases:
        deepest = max(path.count("/") for path in sample)
        for drop in range(deepest + 1):
            hits = sum(_is_inside(base, _drop_folders(path, drop)) for path in sample)
            if hits and (best is None or hits > best[0]) and _is_unambiguous(wanted, base, drop):
                best = (hits, base, drop)
    if best is not None:
        _, base, drop = best
        files = {path: _drop_folders(path, drop) for path in wanted}
        return base, {
            path: join_disk_spelling(base, to).relative_to(base).as_posix()
            for path, to in files.items()
            if _is_inside(base, to)
        }
    for base in bases:
        files = _by_name(wanted, base)
        if files:
            return base, files
    return None


def _drop_folders(path: str, drop: int) -> str:
    parts = path.split("/")
    return "/".join(parts[min(drop, len(parts) - 1) :])


def _is_unambiguous(wanted: Sequence[str], base: Path, drop: int) -> bool:
    """True if paths without their leading folders still name one file each.

    Two paths must not become one. If only a short file name such as ``0.png`` is left, the images
    folder must have the name of the dropped folder: every study has a ``0.png``.
    """
    if drop == 0:
        return True
    if len({_drop_folders(path, drop) for path in wanted}) < len(wanted):
        return False
    return all(
        "/" in _drop_folders(path, drop)
        or len(PurePosixPath(path).stem) >= UNIQUE_STEM_LENGTH
        or PurePosixPath(path).parent.name == base.name
        for path in wanted
    )


def _is_inside(base: Path, path: str) -> bool:
    found = join_disk_spelling(base, path)
    try:
        return found.is_file() and found.resolve().is_relative_to(base.resolve())
    except OSError:
        return False


def _by_name(wanted: Sequence[str], base: Path) -> dict[str, str]:
    """Find bare file names anywhere below a folder, if the name occurs only once there.

    A name without an image ending (VinDr, RSNA) matches a file of that name with one.
    """
    names = {normalize("NFC", path): path for path in wanted if "/" not in path}
    if not names:
        return {}
    found: dict[str, list[str]] = {}
    for folder, folders, files in os.walk(base):
        folders.sort()
        for name in files:
            stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
            for key in {name, stem} if suffix.lower() in (*RASTER_SUFFIXES, ".dcm") else {name}:
                written = names.get(normalize("NFC", key))
                if written is not None:
                    relative = Path(folder, name).relative_to(base).as_posix()
                    found.setdefault(written, []).append(relative)
    once = {name: paths[0] for name, paths in found.items() if len(paths) == 1}
    return {name: path for name, path in once.items() if _is_inside(base, path)}


def copy_images(rows: SetRows, folder: Path, *, but: Path | None = None) -> int:
    """Copy the images found into a folder, with their own or their given names.

    Images already in the folder ``but`` are not copied. Returns the number of copies.

    Raises ImportSourceError if the disk has not enough room.
    """
    used = {image["path"] for _, image in rows.images()}
    files = {
        path: file
        for path, file in rows.files.items()
        if path in used and not (but and file == but / path)
    }
    if not files:
        return 0
    size = sum(file.stat().st_size for file in files.values())
    folder.mkdir(parents=True, exist_ok=True)
    if size > shutil.disk_usage(folder).free:
        message = f"Copying the images needs {size / 1e9:.1f} GB, which the disk does not have."
        remedy = "Free some room, or import without copying."
        problem = Problem("error", "images", None, None, message, remedy)
        raise ImportSourceError("The images cannot be copied.", [problem])
    names = {path: rows.copy_names.get(path, path) for path in files}
    for path, name in names.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files[path], target)
    for case, image in list(rows.images()):
        if image["path"] in names:
            rows.move_image(case, image, names[image["path"]])
    rows.files |= {names[path]: folder / names[path] for path in files}
    return len(names)


_UNTOLD_LENGTH: Final = 0xFFFFFFFF
"""Length of compressed pixels, which end with a marker instead."""


@dataclass(frozen=True)
class StudyHeader:
    """Fields that group DICOM files into studies; its ``repr`` identifies no person.

    ``order`` sorts the images of a study: by time, then by number. ``named`` is True if the header
    contains a name or an id of the patient.
    """

    study: str = field(repr=False)
    patient: str = field(repr=False)
    age: str | None = field(repr=False)
    order: tuple[str, int] = field(repr=False)
    sex: str | None
    modality: str
    named: bool


def is_picture_file(path: Path) -> bool:
    """True if a file's first bytes are those of a picture, whatever its name."""
    return is_raster(_head(path)) or is_dicom_file(path) or _kind(path) in PICTURE_TYPES


def is_dicom_file(path: Path) -> bool:
    """True if a file's first bytes are those of DICOM, with preamble or without."""
    head = _head(path)
    return has_dicom_mark(head) or (not is_raster(head) and _kind(path) == "dicom")


def _kind(path: Path) -> str:
    try:
        return Probe(path).kind
    except (OSError, FileRefused):
        return "unknown"


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(132)
    except OSError:
        return b""


def warn_of_picture(path: str, facts: ImageFacts, log: ProblemLog) -> None:
    """Warn about unusual properties of a picture that can be shown."""
    for kind, message, remedy in picture_remarks(path, facts):
        log.warning(path, message, remedy, kind=kind)


def read_study(path: Path) -> StudyHeader:
    """Read the fields that group a DICOM file with others.

    Raises ImageBroken if the header cannot be read, or uncompressed pixels are cut off. The message
    contains no value of the file.
    """
    try:
        with (
            silence_decoders(),
            open_dicom(path, has_dicom_mark(_head(path)), MAX_PIXELS) as opened,
        ):
            pixels = opened.pixels
            short = pixels is not None and opened.size - pixels.start < pixels.length
            if pixels is not None and short and pixels.length != _UNTOLD_LENGTH:
                raise ImageBroken("The file ends before the picture does: it is cut off.")
            return _study(opened.header)
    except ImageError:
        raise
    except Exception:  # errors caused by a damaged header quote its values
        raise ImageBroken("The DICOM header is damaged and cannot be read.") from None


def _study(header: DicomHeader) -> StudyHeader:
    patient = header.text("PatientID") or ""
    return StudyHeader(
        study=header.text("StudyInstanceUID") or "",
        patient=patient,
        age=header.text("PatientAge"),
        order=(
            header.text("AcquisitionTime") or header.text("ContentTime") or "",
            header.integer("InstanceNumber") or 0,
        ),
        sex=header.text("PatientSex"),
        modality=(header.text("Modality") or "").upper(),
        named=bool(patient or header.text("PatientName")),
    )
