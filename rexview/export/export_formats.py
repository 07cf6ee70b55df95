"""List the export formats by the name that users type.

A format is a module with ``write(content, out, progress)``. ``out`` is a path that does not exist
yet, or an empty folder for a format that writes a folder; nothing is written anywhere else. Cases
come from ``progress.over(content)``, so that they are counted and the export can be cancelled.
Problems are reported through ``progress.note``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rexview.export.export_job import ExportProgress
    from rexview.export.export_records import ExportContent


@dataclass(frozen=True)
class ExportFormat:
    """An export format.

    ``name`` is typed by users, ``title`` is shown on pages, ``module`` is the part of
    :mod:`rexview.export` that writes it. ``ending`` includes its dot and is empty for a folder.
    ``has_pictures`` is true if it contains films.
    """

    name: str
    title: str
    module: str
    ending: str
    media_type: str
    has_pictures: bool = True

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files rather than one file."""
        return not self.ending

    def write(self, content: ExportContent, out: Path, progress: ExportProgress) -> None:
        """Write an export; the format's libraries are imported here.

        Raises
        ------
        ExportCancelled
            The user has cancelled the export.
        """
        module: Any = import_module(f"rexview.export.{self.module}")
        module.write(content, out, progress)


_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_FOLDER: Final = "application/zip"
"""Media type for downloading a folder."""
_EVERY: Final = (
    ExportFormat("pptx", "PowerPoint", "pptx", ".pptx", f"{_OFFICE}.presentationml.presentation"),
    ExportFormat("pdf", "PDF", "pdf", ".pdf", "application/pdf"),
    ExportFormat("html", "Web page, works offline", "html", ".html", "text/html"),
    ExportFormat("xlsx", "Excel", "tables.xlsx", ".xlsx", f"{_OFFICE}.spreadsheetml.sheet", False),
    ExportFormat("csv", "CSV", "tables.csv", ".csv", "text/csv", False),
    ExportFormat(
        "parquet", "Parquet", "tables.parquet", ".parquet", "application/vnd.apache.parquet", False
    ),
    ExportFormat("coco", "COCO", "annotations.coco", ".json", "application/json", False),
    ExportFormat("dicom-sr", "DICOM SR", "dicom_sr", "", _FOLDER),
    ExportFormat(
        "labelstudio", "Label Studio", "annotations.labelstudio", ".json", "application/json"
    ),
    ExportFormat("fiftyone", "FiftyOne", "annotations.fiftyone", "", _FOLDER),
    ExportFormat("reviewset", "Review set", "reviewset", "", _FOLDER),
)
EXPORT_FORMATS: Final = {form.name: form for form in _EVERY}
"""Formats by name, in the order of pages."""
