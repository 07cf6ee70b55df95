"""Find what reads DICOM besides our own code for the tests, or install it.

``dciodvfy`` is of dicom3tools, ``dsrdump`` and ``dcmp2pgm`` are of DCMTK. Where they are not there
and cannot be had, the tests that ask them skip.
"""

from __future__ import annotations

import shutil

from tools.packages import install_package

COMMANDS = {"dciodvfy": "dicom3tools", "dsrdump": "dcmtk", "dcmp2pgm": "dcmtk"}
"""Each with Debian's package that has it."""


def ensure_validators() -> str:
    """Install what is missing, if that can be done; return a line that says what is there."""
    packages = dict.fromkeys(COMMANDS[command] for command in _missing())
    tried = "; ".join(install_package(package) for package in packages)
    if missing := _missing():
        return f"could not be had, so their tests skip: {', '.join(missing)} ({tried})"
    return f"there: {', '.join(COMMANDS)}"


def _missing() -> list[str]:
    return [command for command in COMMANDS if shutil.which(command) is None]
