"""Find the system's programs that tests ask, or install them.

``dciodvfy`` is of dicom3tools, ``dsrdump`` and ``dcmp2pgm`` are of DCMTK: they read DICOM besides
our own code. nginx stands before servers, Orthanc with its DICOMweb plugin is an image archive.
Where one is not there and cannot be had, the tests that ask it skip.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tools.packages import install_package

COMMANDS = {
    "dciodvfy": "dicom3tools",
    "dsrdump": "dcmtk",
    "dcmp2pgm": "dcmtk",
    "nginx": "nginx-light",
    "Orthanc": "orthanc",
}
"""Each with Debian's package that has it."""
DICOMWEB_PLUGIN = Path("/usr/share/orthanc/plugins/libOrthancDicomWeb.so")
_DICOMWEB = "orthanc-dicomweb"
_SYSTEM = os.pathsep.join(("/usr/sbin", "/sbin"))


def find(command: str) -> str | None:
    """Return where a program is, also where only root looks; None when it is not there."""
    return shutil.which(command) or shutil.which(command, path=_SYSTEM)


def ensure_programs() -> str:
    """Install what is missing, if that can be done; return a line that says what is there."""
    tried = "; ".join(install_package(package) for package in dict.fromkeys(_missing().values()))
    if missing := _missing():
        return f"could not be had, so their tests skip: {', '.join(missing)} ({tried})"
    return f"there: {', '.join([*COMMANDS, _DICOMWEB])}"


def _missing() -> dict[str, str]:
    missing = {command: package for command, package in COMMANDS.items() if not find(command)}
    if not DICOMWEB_PLUGIN.is_file():
        missing[_DICOMWEB] = _DICOMWEB
    return missing
