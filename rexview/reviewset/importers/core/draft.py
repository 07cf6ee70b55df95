"""Records of importers that do not give rows yet, turned into rows. It goes with the last of them.

Until then :func:`place_images` finds the images of a draft, which later steps of those importers
ask for their size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rexview.reviewset.importers.core.complete import OPEN_QUESTION as OPEN_QUESTION
from rexview.reviewset.importers.core.complete import REPORT_QUESTION as REPORT_QUESTION
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.images import placement
from rexview.reviewset.tables.source import At
from rexview.schema import Answer, Case, Model, Reader, ReaderFlag, Score, StudyImage


@dataclass
class Draft:
    """What an importer has read so far."""

    name: str
    description: str = ""
    images_base: Path | None = None
    cases: dict[str, Case] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    flags: list[ReaderFlag] = field(default_factory=list)
    models: dict[str, Model] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)
    copy_names: dict[str, str] = field(default_factory=dict)

    def images(self) -> Iterator[StudyImage]:
        """Yield every image of every case."""
        for case in self.cases.values():
            yield from case.images

    def add_to(self, rows: SetRows, file: str) -> None:
        """Add everything as rows of that file; what is wrong with them has been said."""
        rows.said = True
        rows.name, rows.description = rows.name or self.name, self.description
        rows.images_base = rows.images_base or self.images_base
        rows.copy_names |= self.copy_names
        for number, case in enumerate(self.cases.values(), start=1):
            rows.add_case(_plain(vars(case)), At(file, number, "cases"))
        if self.images_base:
            paths = {image.path for image in self.images()}
            found = {path: self.images_base / path for path in paths}
            rows.files |= {path: at for path, at in found.items() if at.is_file()}
        for name, records, add in (
            ("answers", self.answers, rows.add_answer),
            ("scores", self.scores, rows.add_score),
            ("flags", self.flags, rows.add_flag),
        ):
            for number, record in enumerate(records, start=1):
                add(_plain(vars(record)), At(file, number, name))
        for kind, known in ((self.models, rows.models), (self.readers, rows.readers)):
            for key, entry in kind.items():
                known[key] = {one: value for one, value in vars(entry).items() if one != "extra"}


def place_images(
    draft: Draft, given: Path | None, beside: Sequence[Path], log: ProblemLog, file: str
) -> None:
    """Find the files of all images of a draft, as :func:`placement.place_images` does of rows."""
    rows = SetRows("", log, None)  # type: ignore[arg-type]
    wanted = list(dict.fromkeys(image.path for image in draft.images()))
    held: dict[str, dict[str, Any]] = {path: {"path": path, "id": "1"} for path in wanted}
    rows.images = lambda: iter([("", image) for image in held.values()])  # type: ignore[method-assign]
    placement.place_images(rows, given, beside, file)
    draft.images_base = rows.images_base
    for case_id, case in draft.cases.items():
        images = tuple(_merged(image, held[image.path]) for image in case.images)
        draft.cases[case_id] = replace(case, images=images)


def _merged(image: StudyImage, placed: Mapping[str, Any]) -> StudyImage:
    orientation = placed.get("patient_orientation")
    return replace(
        image,
        path=placed["path"],
        view_raw=image.view_raw or placed.get("view"),
        width=placed.get("width"),
        height=placed.get("height"),
        patient_orientation=tuple(orientation) if orientation else None,
    )


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        value = vars(value)
    if isinstance(value, Mapping):
        row = {name: _plain(one) for name, one in value.items() if name != "origin"}
        for name, unknown in (("view", "UNKNOWN"), ("finish_reason", "unknown")):
            if f"{name}_raw" in row:
                raw, word = row.pop(f"{name}_raw"), row[name]
                row[name] = raw or (word if word != unknown else None)
        for mark in ("key", "prior"):
            if row.get(mark) is False:
                del row[mark]
        return row
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
