"""Boxes in COCO JSON, as the truth or as a model's, with the images they are on.

A data set (images, annotations, categories) makes the cases, one an image or, where its images have
a ``study_id``, one a study. A list of results adds a model's boxes to the data set given with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rexview.reviewset.importers.coco.box_placement import Key, Target, add_boxes
from rexview.reviewset.importers.coco.file import CocoFile, CocoImage, read_coco_file
from rexview.reviewset.importers.core.draft import OPEN_QUESTION, Draft, place_images
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.names import name_images, safe_path
from rexview.schema import Case, StudyImage
from rexview.vocab import normalise_view


def read_coco(sources: Sequence[Path], options: Mapping[str, Any], log: ProblemLog) -> Draft:
    """Read COCO data sets and lists of results into one draft."""
    draft = Draft(name=options["name"] or sources[0].stem.strip("_").replace("_", " "))
    draft.description = f"Imported from COCO JSON: {', '.join(path.name for path in sources)}."
    files: list[tuple[Path, CocoFile]] = []
    labels: dict[Key, str] = {}
    for path in sorted(sources, key=_is_list):
        coco = read_coco_file(path, log, labels)
        if coco is not None:
            labels = {**coco.labels, **labels}
            files.append((path, coco))
    targets: dict[Key, Target] = {}
    sizes: dict[Key, tuple[int, int] | None] = {}
    for path, coco in files:
        if not coco.results:
            sizes |= {key: image.size for key, image in coco.images.items()}
            targets |= _add_cases(draft, coco, options["question"] or OPEN_QUESTION, path, log)
    has_results = any(coco.results for _, coco in files)
    if files and all(coco.results for _, coco in files) and not log.has_errors:
        message = "A list of results says nothing about its images."
        remedy = "Give the COCO data set as well, that has “images” and “categories”."
        log.error(files[0][0].name, message, remedy)
    place_images(draft, options["images"], [path.parent for path in sources], log, sources[0].name)
    for path, coco in files:
        as_model = coco.results or (options["model"] and not has_results)
        model = (options["model"] or path.stem) if as_model else None
        added, absent = add_boxes(
            draft, coco.boxes, targets.get, sizes, path.name, log, model=model
        )
        log.note(f"{path.name}: {added:,} {f'boxes of {model}' if model else 'reference boxes'}.")
        if absent:
            message = (
                f"{absent:,} boxes are for images that the data set does not list; they were left "
                "out."
            )
            remedy = "Give the data set that the boxes belong to."
            log.warning(path.name, message, remedy, field="image_id")
    return draft


def _is_list(path: Path) -> bool:
    """Whether a JSON file begins as a list: results are read after the sets that name things."""
    with path.open("rb") as stream:
        return stream.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def _add_cases(
    draft: Draft, coco: CocoFile, question: str, path: Path, log: ProblemLog
) -> dict[Key, Target]:
    """Add a case for each study or image; return the case and image id of each image's key."""
    studies: dict[str, list[tuple[Key, CocoImage, str]]] = {}
    for key, image in coco.images.items():
        place = safe_path(image.name)
        if place is None:
            message = "The file_name is not a path inside a folder; the image was left out."
            remedy = "Write it relative to the images folder."
            log.warning(path.name, message, remedy, row=image.row, field="images")
            continue
        name = place.rsplit(".", 1)[0] or place
        studies.setdefault(image.study or name, []).append((key, image, place))
    targets: dict[Key, Target] = {}
    for case_id, entries in studies.items():
        named = name_images(
            [
                StudyImage(id="", path=place, view=normalise_view(image.view), view_raw=image.view)
                for _, image, place in entries
            ]
        )
        extra = entries[0][1].extra
        study = entries[0][1].study
        draft.cases.setdefault(
            case_id,
            Case(id=case_id, question=question, study_id=study, images=named, extra=extra),
        )
        ids = {image.path: image.id for image in draft.cases[case_id].images}
        targets |= {key: (case_id, ids[place]) for key, _, place in entries if place in ids}
    return targets
