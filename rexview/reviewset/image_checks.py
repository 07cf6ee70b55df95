"""Check the images of a set once its tables are read."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rexview import frames
from rexview.addresses import is_address
from rexview.errors import ImageError, PathEscape, Severity
from rexview.geometry import (
    UNKNOWN_ORIENTATION,
    BoxSide,
    Orientation,
    box_side_on,
    image_orientation,
    orientation_of,
)
from rexview.remote import remote_pictures
from rexview.remote import remote_pictures as fetching
from rexview.remote.remote_sets import list_picture_paths
from rexview.reviewset.image_paths import (
    NOT_PLAIN_PATH,
    has_unicode_twin,
    images_folder,
    join_disk_spelling,
    join_inside,
    relative_path,
    remote_image_address,
    unreadable_address,
)
from rexview.reviewset.normalise import normalise_views
from rexview.reviewset.picture_decoding import FORMATS_BY_SUFFIX
from rexview.reviewset.problems import quote_value
from rexview.reviewset.set_files import INFO_FILE
from rexview.reviewset.tables.source import TableSource
from rexview.reviewset.tables.values import FlatList, explode_items
from rexview.schema import ReviewSet, SetInfo, StudyImage
from rexview.settings import load_settings
from rexview.vocab import FRONTAL_VIEWS, normalise_view

# Image files of the tables: paths that lead out, missing files, missing sizes.

_ORIENTATION_FIELDS: Final = ("view", "patient_orientation", "laterality_flip")


def check_orientations(cases: pl.DataFrame, boxed: pl.DataFrame, source: TableSource) -> None:
    """Warn of frontal images stored mirrored, and of boxes on images without known sides.

    ``cases`` has images as in :data:`rexview.frames.IMAGE`, completed from their files; ``boxed``
    has ``case`` and ``image`` of the images with boxes.
    """
    images = explode_items(cases.rename({"id": "case"}), "images", "case", "_row")
    images = images.select(
        *_ORIENTATION_FIELDS, pl.col("id").alias("image"), "case", "_row", "index"
    )
    kinds = images.select(_ORIENTATION_FIELDS).unique()
    judged = images.join(
        kinds.with_columns(
            pl.Series("kind", [_orientation_problem(*row) for row in kinds.iter_rows()])
        ),
        on=_ORIENTATION_FIELDS,
        nulls_equal=True,
        maintain_order="left",
    )
    source.report_rows(
        "warning",
        judged.filter(pl.col("kind") == "mirrored"),
        "The image is stored mirrored: the patient's left is on its left.",
        "Sides are read accordingly, and the viewer's key N turns it round. If it is not mirrored, "
        "correct patient_orientation or laterality_flip.",
        lambda row: f"images[{row['index']}].patient_orientation",
    )
    source.report_rows(
        "warning",
        judged.filter(pl.col("kind") == "unknown").join(
            boxed, on=["case", "image"], how="semi", maintain_order="left"
        ),
        "Neither view nor orientation is known, so the side of boxes on this image cannot be told.",
        "Give its view (PA, AP, LATERAL), or its patient_orientation.",
        lambda row: f"images[{row['index']}].view",
    )


def _orientation_problem(
    view: str | None, words: list[str] | None, flip: bool | None
) -> str | None:
    """Return ``mirrored``, ``unknown`` or None (no problem)."""
    orientation = orientation_of(view, words, flip)
    if orientation.mirrored and view in (*FRONTAL_VIEWS, "UNKNOWN", None):
        return "mirrored"
    return "unknown" if not orientation.known and view in ("UNKNOWN", None) else None


if TYPE_CHECKING:
    from rexview.imaging import ImageFacts

_STATE_PROBLEMS: Final[Mapping[str, tuple[Severity, str, str]]] = {
    "missing": (
        "warning",
        "There is no image file {path}.",
        "Put it into the images folder, or correct the path.",
    ),
    "outside": (
        "error",
        "{path} is a link that leads out of the images folder.",
        "Put the file itself there, or name the folder that it is in as images.",
    ),
    "twin": (
        "warning",
        "Two files look like {path}: their names differ only in how an accented letter is stored. "
        "The one that is written as here is shown.",
        "Rename one of them.",
    ),
}
"""Problems of a file by its state: severity, message, remedy."""
MAX_SEARCHED_FILES: Final = 100_000
"""Maximum number of image files searched when a set opens; the page reports other missing ones."""
_MAX_COMPARED: Final = 100
"""Maximum number of files whose bytes are compared."""
_MANY_STUDIES: Final = 5
"""From this number of studies on, it is no chance that all show one picture."""
MAX_READ_HEADERS: Final = 2_000
"""Maximum number of headers read when a set opens, for sizes that the tables do not give."""


def read_image_header(path: Path) -> ImageFacts | None:
    """Read the header of an image file; return None if it is unreadable.

    Results are cached as long as the file does not change.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    return _header(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=20_000)
def _header(path: Path, modified: int, size: int) -> ImageFacts | None:
    from rexview.imaging import read_facts  # the decoders are only needed where sizes are missing

    try:
        return read_facts(path)
    except ImageError:
        return None


def case_image_paths(cases: pl.DataFrame) -> pl.DataFrame:
    """Return one row per image of a case: ``_row``, ``field``, ``path``, ``width``, ``height``."""
    field = pl.format("images[{}].path", "index").alias("field")
    images = explode_items(cases, "images", "_row")
    return images.select("_row", field, "path", "width", "height").drop_nulls("path")


def answer_picture_paths(answers: pl.DataFrame) -> pl.DataFrame:
    """Return a row per picture of a model, like :func:`case_image_paths`, without sizes."""
    field, path = pl.format("images[{}]", "index").alias("field"), pl.col("images").alias("path")
    size = pl.lit(None, pl.Int64)
    pictures = explode_items(answers, "images", "_row")
    return pictures.select("_row", field, path, width=size, height=size).drop_nulls("path")


def check_paths(paths: pl.DataFrame, source: TableSource) -> pl.DataFrame:
    """Report paths that lead out of the images folder; return the others, in their plain form."""
    plain: dict[str, str] = {}
    reasons: dict[str, str] = {}
    odd = paths["path"].str.contains(NOT_PLAIN_PATH)
    for path in paths["path"].filter(odd).unique().to_list():
        try:
            plain[path] = relative_path(path)
        except PathEscape as error:
            reasons[path] = str(error)
    if not odd.any():
        return paths.with_columns(pl.col("path").alias("plain"))
    source.report_rows(
        "error",
        paths.filter(pl.col("path").is_in(list(reasons))),
        lambda row: f"{quote_value(row['path'])}: {reasons[row['path']]}",
        "Give the path from the images folder on, and name that folder in reviewset.yaml.",
        lambda row: str(row["field"]),
    )
    found = pl.col("path").replace_strict(plain, default=None, return_dtype=pl.String)
    return paths.with_columns(pl.when(odd).then(found).otherwise("path").alias("plain")).drop_nulls(
        "plain"
    )


def check_files(
    folder: Path, info: SetInfo, of_tables: Iterable[tuple[pl.DataFrame, TableSource]]
) -> None:
    """Report images that are missing (a warning) or outside through a link (an error).

    Images at an address are only searched in the set's own storage, by the names listed there. For
    others the check is whether this computer can read such an address at all. ``of_tables`` has the
    result of :func:`check_paths` for each table.
    """
    tables = [(paths, source) for paths, source in of_tables if paths.height]
    _check_addresses(tables)
    tables = [
        (there, source)
        for paths, source in tables
        if (there := paths.filter(~pl.col("plain").str.contains("://", literal=True))).height
    ]
    if not tables:
        return
    if is_address(info.images):
        _check_storage(folder, info, tables)
        return
    base = images_folder(folder, info.images)
    if not base.is_dir():
        message = f"There is no images folder {quote_value(info.images)}, so no image can be shown."
        remedy = "Put the images there, or name their folder in images."
        tables[0][1].problems.add("warning", INFO_FILE, message, remedy, field="images")
        return
    states: dict[str, str | None] = {}
    folders: dict[str, str | None] = {}
    for paths, source in tables:
        different = [
            path for path in paths["plain"].unique(maintain_order=True) if path not in states
        ]
        for path in different[: max(0, MAX_SEARCHED_FILES - len(states))]:
            states[path] = _file_state(base, path, folders)
        for state, (severity, message, remedy) in _STATE_PROBLEMS.items():
            source.report_rows(
                severity,
                paths.filter(pl.col("plain").is_in(_paths_in_state(state, states))),
                partial(_named, message),
                remedy,
                lambda row: str(row["field"]),
            )


def _check_storage(
    folder: Path, info: SetInfo, tables: list[tuple[pl.DataFrame, TableSource]]
) -> None:
    """Report images missing from the set's own storage, or an address that cannot be read."""
    if cannot := unreadable_address(info.images):
        tables[0][1].problems.add("warning", INFO_FILE, *cannot, field="images")
        return
    there = list_picture_paths(info.images, folder)
    if there is None:
        return
    for paths, source in tables:
        source.report_rows(
            "warning",
            paths.filter(~pl.col("plain").is_in(list(there))),
            lambda row: f"There is no image {quote_value(row['path'])} in the storage of the set.",
            "Upload it into the images folder there, or correct the path.",
            lambda row: str(row["field"]),
        )


def _check_addresses(tables: list[tuple[pl.DataFrame, TableSource]]) -> None:
    """Report each kind of address in the tables that this computer cannot read, once."""
    for paths, source in tables:
        kinds = paths["plain"].str.extract(r"^([a-z0-9+.\-]+)://").drop_nulls().unique().sort()
        for kind in kinds:
            if cannot := fetching.unreadable_reason(kind):
                source.warning(*cannot, field="images")


def _named(message: str, row: Mapping[str, Any]) -> str:
    return message.format(path=quote_value(row["path"]))


def _paths_in_state(wanted: str, states: dict[str, str | None]) -> list[str]:
    return [path for path, state in states.items() if state == wanted]


def _file_state(base: Path, path: str, folders: dict[str, str | None]) -> str | None:
    """Return ``missing``, ``outside``, ``twin`` or None; ``folders`` caches real folders."""
    head, name = os.path.split(path)
    try:
        if head not in folders:
            folders[head] = None
            folders[head] = os.fspath(join_inside(base, head))
        real = folders[head]
        if real is None:
            return "outside"
        file = join_disk_spelling(Path(real), name)
        found = file.lstat()
        if stat.S_ISLNK(found.st_mode):
            found = join_inside(base, path).stat()
        if not stat.S_ISREG(found.st_mode):
            return "missing"
        return "twin" if has_unicode_twin(file) else None
    except PathEscape:
        return "outside"
    except (OSError, ValueError):
        return "missing"


def check_same_pictures(
    folder: Path, cases: pl.DataFrame, source: TableSource, info: SetInfo
) -> None:
    """Warn if all studies show one picture: the same path, or files of the same bytes.

    Cases of the same study or patient may share their pictures. At an address only the paths are
    compared.
    """
    first = cases.select(
        study=pl.coalesce("study_id", "patient_id", "id"),
        path=pl.col("images").list.first().struct.field("path"),
    ).drop_nulls("path")
    studies = first["study"].n_unique()
    paths = first["path"].unique(maintain_order=True).to_list()
    if studies < _MANY_STUDIES or 1 < len(paths) < studies:
        return
    if len(paths) > 1 and (is_address(info.images) or not _same_bytes(folder, info, paths)):
        return
    message = f"All {studies:,} studies show the same picture, {quote_value(paths[0])}."
    remedy = "Give each case the picture that its question is about."
    source.warning(message, remedy, field="images")


def _same_bytes(folder: Path, info: SetInfo, paths: list[str]) -> bool:
    """True if the first of many files are equal; stops at the first difference."""
    base = images_folder(folder, info.images)
    known: tuple[int, str] | None = None
    for path in paths[:_MAX_COMPARED]:
        try:
            file = join_inside(base, relative_path(path))
            size = file.stat().st_size
            if known and size != known[0]:
                return False
            with file.open("rb") as opened:
                found = size, hashlib.file_digest(opened, "sha256").hexdigest()
        except (OSError, ValueError, PathEscape):
            return False
        if known and found != known:
            return False
        known = found
    return known is not None


def fill_image_facts(
    cases: pl.DataFrame, boxed: pl.DataFrame, folder: Path, info: SetInfo, source: TableSource
) -> pl.DataFrame:
    """Fill in missing sizes, orientations and views of images from their files.

    At most :data:`MAX_READ_HEADERS` files are read, those with boxes first, so that a set of any
    size opens quickly. A warning gives the number of unread images with boxes. ``boxed`` has
    ``case`` and ``image`` of the images with boxes.
    """
    flat = FlatList.of_series(cases["images"])
    images = flat.fields.with_columns(cases["id"].gather(pl.Series(flat.owner)).alias("case"))
    wanted, elsewhere, unread = _images_with_gaps(images), _is_remote(info), 0
    _report_unread(_sort_boxed_first(wanted.filter(elsewhere), boxed)[1], source)
    wanted = wanted.filter(~elsewhere)
    if wanted.is_empty():
        return cases
    base = images_folder(folder, info.images)
    if not base.is_dir():
        return cases
    if wanted.height > MAX_READ_HEADERS:
        wanted, with_boxes = _sort_boxed_first(wanted, boxed)
        unread = max(0, with_boxes - MAX_READ_HEADERS)
    headers: dict[int, ImageFacts] = {}
    for at, path in wanted.head(MAX_READ_HEADERS).select("at", "path").iter_rows():
        try:
            header = read_image_header(join_inside(base, relative_path(path)))
        except PathEscape:
            continue
        if header:
            headers[at] = header
    if unread:
        message = (
            f"The size or orientation of {unread:,} images with boxes is not given, and was not "
            f"read from their files as there are more than {MAX_READ_HEADERS:,}."
        )
        remedy = "Give width, height and patient_orientation in cases."
        source.warning(message, remedy, field="images[].width")
    return _fill_from_headers(cases, flat, images, headers) if headers else cases


def _is_remote(info: SetInfo) -> pl.Expr:
    """Return an expression for remote images: all of them, or those whose path is an address."""
    is_whole = pl.col("path").str.contains(r"^[A-Za-z][A-Za-z0-9+.\-]+://")
    return pl.lit(True) if is_address(info.images) else is_whole


def _report_unread(count: int, source: TableSource) -> None:
    """Report the number of images with boxes whose size or orientation was not read."""
    if count:
        message = (
            f"The size or orientation of {count:,} images with boxes is not given, and was not "
            "read from their files as these lie elsewhere. Whether boxes lie outside of them is "
            "not checked, and failures about sides go by the view. The page of a case reads both "
            "from the image that it shows."
        )
        remedy = "Give width, height and patient_orientation in cases."
        source.warning(message, remedy, field="images[].width")


def _images_with_gaps(images: pl.DataFrame) -> pl.DataFrame:
    """Return images with gaps that their file may fill: ``at``, ``case``, ``id``, ``path``."""
    ending = pl.col("path").str.to_lowercase().str.extract(r"(\.[^./\\]*)$").fill_null("")
    unsized = pl.col("width").is_null() | pl.col("height").is_null()
    others = [suffix for suffix, kind in FORMATS_BY_SUFFIX.items() if kind != "DICOM"]
    dicom = ~ending.is_in(others)  # DICOM may have any other ending, or none
    bare = pl.col("patient_orientation").is_null() | pl.col("view_raw").is_null()
    return (
        images.with_row_index("at")
        .filter((unsized | (dicom & bare)) & pl.col("path").is_not_null())
        .select("at", "case", "id", "path")
    )


def _sort_boxed_first(wanted: pl.DataFrame, boxed: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Put images with boxes first; return their number as well."""
    has_box = boxed.rename({"image": "id"})
    first = wanted.join(has_box, on=["case", "id"], how="semi", maintain_order="left")
    others = wanted.join(has_box, on=["case", "id"], how="anti", maintain_order="left")
    return pl.concat([first, others]), first.height


def _fill_from_headers(
    cases: pl.DataFrame, flat: FlatList, images: pl.DataFrame, headers: dict[int, ImageFacts]
) -> pl.DataFrame:
    read = pl.DataFrame(
        [
            (at, one.width, one.height, one.patient_orientation, one.view)
            for at, one in headers.items()
        ],
        schema={
            "at": pl.UInt32,
            "w": pl.Int64,
            "h": pl.Int64,
            "o": pl.List(pl.String),
            "v": pl.String,
        },
        orient="row",
    )
    filled = (
        images.with_row_index("at")
        .join(read, on="at", how="left", maintain_order="left")
        .with_columns(
            pl.col("width").fill_null(pl.col("w")),
            pl.col("height").fill_null(pl.col("h")),
            pl.coalesce("patient_orientation", "o").alias("patient_orientation"),
            pl.col("view_raw").fill_null(pl.col("v")),
        )
        .select([name for name, _ in frames.IMAGE])
    )
    refolded = cases.with_columns(flat.lists(filled.to_struct("images")).alias("images"))
    return normalise_views(refolded, "view_raw")


# Remote images: the facts in their files are known once they were fetched.
#
# No request is sent here. A set opens without fetching its images, so sizes and orientations
# missing in its tables are read when an image is shown.


@dataclass(frozen=True)
class ImageWithFacts:
    """An image of a case with everything known about it by now.

    ``sides_told`` is False if its file, not fetched yet, may give another orientation than its
    view. No side of the patient can then be named on it.
    """

    image: StudyImage
    sides_told: bool = True

    @property
    def orientation(self) -> Orientation:
        """The part of the patient at each edge."""
        return image_orientation(self.image) if self.sides_told else UNKNOWN_ORIENTATION

    def side(self, box: Sequence[float]) -> BoxSide | None:
        """Return the side of the patient on which a box is; None if unknown."""
        return box_side_on(self.image, box) if self.sides_told else None


def image_with_facts(review_set: ReviewSet, image: StudyImage) -> ImageWithFacts:
    """Return an image with the facts of its tables and, if it was fetched, of its file.

    For a local file the tables are complete: opening the set has read it.
    """
    may_turn = _may_be_dicom(image.path) and not image.patient_orientation
    if image.width and image.height and not may_turn:
        return ImageWithFacts(image)
    try:
        address = remote_image_address(review_set, image.path)
    except PathEscape:
        return ImageWithFacts(image)
    if address is None:
        return ImageWithFacts(image)
    file = remote_pictures.cached_picture(address, load_settings())
    facts = read_image_header(file) if file else None
    if facts is None:
        return ImageWithFacts(image, sides_told=not may_turn)
    is_sized = image.width and image.height
    filled = replace(
        image,
        width=image.width if is_sized else facts.width,
        height=image.height if is_sized else facts.height,
        view=normalise_view(facts.view) if image.view_raw is None else image.view,
        patient_orientation=image.patient_orientation or facts.patient_orientation,
    )
    return ImageWithFacts(filled)


def _may_be_dicom(path: str) -> bool:
    """True if a file may be DICOM by its name, which may have any ending, or none."""
    return FORMATS_BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), "DICOM") == "DICOM"
