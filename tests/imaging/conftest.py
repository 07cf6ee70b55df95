"""DICOM files made for one test."""

from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from support.exports.dicom_files import PATIENT, write_dicom


class WriteDicom(Protocol):
    def __call__(self, pixels: np.ndarray, **options: Any) -> Path: ...


@pytest.fixture(name="write_dicom")
def write_dicom_fixture(tmp_path: Path) -> WriteDicom:
    """:func:`support.exports.dicom_files.write_dicom` into the test's folder."""
    return partial(write_dicom, tmp_path)


@pytest.fixture(name="film")
def film_fixture() -> np.ndarray:
    """A 12-bit picture, 60 x 80, with structure everywhere and no symmetry."""
    y, x = np.mgrid[0:60, 0:80]
    rng = np.random.default_rng(7)
    return (1200 + 30 * x - 15 * y + rng.integers(0, 60, (60, 80))).astype(np.uint16)


@pytest.fixture(name="patient_name")
def patient_name_fixture() -> str:
    """The name that is in every file made here."""
    return PATIENT
