"""The pictures and boxes of a case for exports: without paths, read when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePath
from typing import Any, Final

from rexview.errors import ImageError, PathEscape
from rexview.export.records import ExportBox, ExportImage, ExportModel
from rexview.geometry import UNKNOWN_ORIENTATION, box_problem
from rexview.imaging.radiograph import Radiograph
from rexview.imaging.read import read_facts, read_image
from rexview.reviewset import image_path
from rexview.reviewset.image_files import KnownImage, known_image
from rexview.schema import AnswerBox, Case, ReferenceBox, ReviewSet
from rexview.vocab import VIEWS, noun

_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST_PART: Final = 60
_NO_IMAGE: Final = "The box is on an image that the case does not have."


def burned_in_warning(
    review_set: ReviewSet, cases: Iterable[str], check: Callable[[], None] = lambda: None
) -> str:
    """Say what the files of some cases tell about text that is burned into their pictures.

    ``check`` is called before each case.
    """
    says, silent = 0, 0
    for case_id in cases:
        check()
        case = review_set.case(case_id)
        for image in case.images if case else ():
            try:
                burned_in = read_facts(image_path(review_set, image.path)).burned_in
            except (ImageError, PathEscape):
                continue  # it is in no export, either
            says += burned_in is True
            silent += burned_in is None
    found = []
    if says:
        found.append(f"{says:,} {noun(says, 'picture')} marked as having text burned in")
    if silent:
        found.append(f"{silent:,} {noun(silent, 'picture')} not marked either way")
    if not found:
        return ""
    return f"Names and dates may be burned into pictures: {', '.join(found)}. Look at them first."


class CasePictures:
    """The pictures and boxes of one case; with ``is_hidden`` under ids that say nothing.

    An id of an image is often the name of its file. ``stem`` begins the names of files.
    """

    def __init__(self, review_set: ReviewSet, case: Case, stem: str, *, is_hidden: bool) -> None:
        self._set, self._case, self._stem, self._is_hidden = review_set, case, stem, is_hidden
        self._known = [known_image(review_set, image) for image in case.images]
        self._ids = {
            image.id: f"image-{place}" if is_hidden else image.id
            for place, image in enumerate(case.images, 1)
        }

    def images(self) -> tuple[ExportImage, ...]:
        """Return the images of the study, priors last."""
        every = [self._image(image, place) for place, image in enumerate(self._known, 1)]
        return tuple(sorted(every, key=lambda image: image.prior))

    def returned(self, model: ExportModel, path: str, place: int) -> ExportImage:
        """Return a picture that a model gave, ``place`` from 1."""
        return ExportImage(
            id=f"{model.id}/{place}",
            title=f"{model.name}: picture {place}",
            view="UNKNOWN",
            prior=False,
            key=False,
            width=None,
            height=None,
            orientation=UNKNOWN_ORIENTATION,
            file_stem=self._file_stem(f"returned-{model.id}", place),
            **self._file(path),
            model=model.id,
        )

    def box(self, model: str | None, box: AnswerBox | ReferenceBox) -> ExportBox:
        """Return a box of a model, or of the reference (None)."""
        known = next((one for one in self._known if one.image.id == box.image), None)
        unsure = isinstance(box, AnswerBox) and bool(box.unsure)
        image = known.image if known else None
        problem = box_problem(box.box, image.width, image.height) if image else _NO_IMAGE
        side = known.side(box.box) if known and not unsure and not problem else None
        return ExportBox(
            model=model,
            image=self._ids.get(box.image, "" if self._is_hidden else box.image),
            label=box.label,
            box=box.box,
            side=side,
            score=box.score if isinstance(box, AnswerBox) else None,
            unsure=unsure,
            problem=problem,
        )

    def _image(self, known: KnownImage, place: int) -> ExportImage:
        image = known.image
        title = VIEWS.get(image.view, image.view)
        return ExportImage(
            id=self._ids[image.id],
            title=f"Prior, {title}" if image.prior else title,
            view=image.view,
            prior=image.prior,
            key=self._case.images[place - 1] is self._case.key_image,
            width=image.width,
            height=image.height,
            orientation=known.orientation,
            file_stem=self._file_stem(image.view.lower(), place),
            **self._file(image.path),
        )

    def _file_stem(self, what: str, place: int) -> str:
        parts = (_NOT_PLAIN.sub("-", part)[:_LONGEST_PART] for part in (self._stem, what))
        return f"{'-'.join(parts)}-{place}"

    def _file(self, path: str) -> dict[str, Any]:
        there = self._set

        def read() -> Radiograph:
            return read_image(image_path(there, path))

        return {
            "read": read,
            "source": None if self._is_hidden else partial(image_path, there, path),
            "file_name": "" if self._is_hidden else PurePath(path.replace("\\", "/")).name,
        }
