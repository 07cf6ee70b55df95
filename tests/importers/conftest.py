"""Imports run as a user would run them, and small real files to run them on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pytest
from PIL import Image
from support import SHARED_DATA

from rexview.importers import ImportReport, import_source
from rexview.reviewset import check_review_set, load_review_set
from rexview.schema import ReviewSet


class Imported(NamedTuple):
    """An opened review set, and what the import said."""

    review_set: ReviewSet
    report: ImportReport

    def messages(self, part: str = "") -> list[str]:
        """Messages of the import's problems that hold ``part``."""
        return [one.message for one in self.report.problems if part in one.message]


class RunImport(Protocol):
    def __call__(self, format_id: str, *sources: Path, **options: Any) -> Imported: ...


@pytest.fixture(name="run_import")
def run_import_fixture(tmp_path: Path) -> RunImport:
    """Import, check that the result has no errors, and open it."""

    def run(format_id: str, *sources: Path, **options: Any) -> Imported:
        numbers = (tmp_path / f"out{number}" for number in range(100))
        out = next(path for path in numbers if not path.exists())
        report = import_source(format_id, list(sources), out, options=options)
        assert [one for one in check_review_set(out) if one.severity == "error"] == []
        return Imported(load_review_set(out), report)

    return run


class MakePicture(Protocol):
    def __call__(self, path: Path, size: tuple[int, int] = (64, 48), mode: str = "L") -> Path: ...


@pytest.fixture(name="make_picture", scope="session")
def make_picture_fixture() -> MakePicture:
    """Write a small picture; its folder is made as well."""

    def make(path: Path, size: tuple[int, int] = (64, 48), mode: str = "L") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        width, height = size
        grey = np.arange(width * height, dtype=np.uint8).reshape(height, width)
        Image.fromarray(grey).convert(mode).save(path)
        return path

    return make


class MakeDicom(Protocol):
    def __call__(self, path: Path, **tags: Any) -> Path: ...


@pytest.fixture(name="make_dicom", scope="session")
def make_dicom_fixture() -> MakeDicom:
    """Write a small uncompressed chest radiograph with a full patient module."""
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, generate_uid

    def make(path: Path, **tags: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = Dataset()
        data.file_meta = FileMetaDataset()
        data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        data.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.1.1"
        data.file_meta.MediaStorageSOPInstanceUID = generate_uid()
        data.SOPClassUID = data.file_meta.MediaStorageSOPClassUID
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID
        data.PatientName = "DOE^JANE"
        data.PatientID = "MRN0012345"
        data.PatientBirthDate = "19311224"
        data.StudyDate = "20240229"
        data.AccessionNumber = "ACC777"
        data.Modality = "DX"
        data.Rows, data.Columns = 40, 30
        data.BitsAllocated, data.BitsStored, data.HighBit = 16, 12, 11
        data.PixelRepresentation = 0
        data.SamplesPerPixel = 1
        data.PhotometricInterpretation = "MONOCHROME2"
        data.PixelData = np.arange(40 * 30, dtype="<u2").tobytes()
        for name, value in tags.items():
            setattr(data, name, value)
        data.save_as(path, enforce_file_format=True)
        return path

    return make


@pytest.fixture(name="shared_data", scope="session")
def shared_data_fixture() -> Path:
    """Real files beside the checkout; the test is skipped without them."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real files are not there")
    return SHARED_DATA


def fields(problems: Sequence[Any]) -> set[tuple[str, int | None, str | None]]:
    """File, row and field of problems."""
    return {(one.file, one.row, one.field) for one in problems}
