"""Find or install the system programs that tests use.

``dciodvfy`` is from dicom3tools, ``dsrdump`` and ``dcmp2pgm`` are from DCMTK: they read DICOM
independently of our code. nginx is a proxy in front of servers, Orthanc with its DICOMweb plugin an
image archive. If a program is missing and cannot be installed, its tests skip.
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
"""Each program with its Debian package."""
DICOMWEB_PLUGIN = Path("/usr/share/orthanc/plugins/libOrthancDicomWeb.so")
_DICOMWEB = "orthanc-dicomweb"
_SYSTEM = os.pathsep.join(("/usr/sbin", "/sbin"))


def find(command: str) -> str | None:
    """Return the path of a program, also in root's folders; None if it is missing."""
    return shutil.which(command) or shutil.which(command, path=_SYSTEM)


def ensure_programs() -> str:
    """Install missing programs, if possible; return a line on which ones are available."""
    tried = "; ".join(install_package(package) for package in dict.fromkeys(_missing().values()))
    if missing := _missing():
        return f"could not be had, so their tests skip: {', '.join(missing)} ({tried})"
    return f"there: {', '.join([*COMMANDS, _DICOMWEB])}"


def _missing() -> dict[str, str]:
    missing = {command: package for command, package in COMMANDS.items() if not find(command)}
    if not DICOMWEB_PLUGIN.is_file():
        missing[_DICOMWEB] = _DICOMWEB
    return missing
