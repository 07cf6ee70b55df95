"""Python and packages against the ranges of the requirements files; what is optional."""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rexview import __version__
from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.vocab import counted

_ROOT: Final = Path(__file__).resolve().parents[2]
_OURS: Final = "requirements.txt"
_FOR_DEVELOPERS: Final = ("requirements-dev.txt", "requirements-dev-all.txt")
_SHOWN: Final = 6


def look_at_packages(_known: Known) -> Iterator[Said]:
    """Look at Python, the packages that rexview needs, and each optional set of them."""
    yield _python()
    yield _set_of(_ROOT / _OURS, "rexview")
    for file in sorted(_ROOT.glob("requirements-*.txt")):
        if file.name not in _FOR_DEVELOPERS:
            yield _optional(file)
    yield _graphics_card()
    yield _browser()


def _python() -> Said:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, here = project["requires-python"], platform.python_version()
    if SpecifierSet(wanted).contains(here, prereleases=True):
        return ok("Python", f"{here}, rexview {__version__}, {platform.system()}")
    return wrong("Python", f"{here}; rexview needs {wanted}.", "Install a newer Python.")


def asked_in(file: Path) -> Iterator[Requirement]:
    """Yield what a requirements file asks for on this machine."""
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.partition(" #")[0].strip()
        if text and not text.startswith(("#", "-")):
            asked = Requirement(text)
            if asked.marker is None or asked.marker.evaluate():
                yield asked


def _faults(file: Path) -> tuple[list[str], list[str]]:
    """Return which packages of a file are missing, and which are of another version."""
    missing, other = [], []
    for asked in asked_in(file):
        try:
            here = version(asked.name)
        except PackageNotFoundError:
            missing.append(asked.name)
            continue
        if not asked.specifier.contains(here, prereleases=True):
            other.append(f"{asked.name} {here} ({asked.specifier})")
    return missing, other


def _set_of(file: Path, about: str) -> Said:
    missing, other = _faults(file)
    install = f"To mend it: {_install(file)}"
    if missing:
        return wrong(about, f"Not installed: {_few(missing)}.", install)
    if other:
        return wrong(about, f"Not the versions that were tried: {_few(other)}.", install)
    count = counted(len(list(asked_in(file))), "package")
    return ok(about, f"{count} in the versions of {file.name}")


def _optional(file: Path) -> Said:
    about = file.stem.removeprefix("requirements-")
    purpose = file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ").rstrip(".")
    missing, _ = _faults(file)
    if missing:
        there = f"{purpose}: {_few(missing)} not installed"
        return note(about, there, f"If you want it: {_install(file)}")
    name, state, said, remedy = _set_of(file, about)
    return (name, state, purpose, "") if state == "ok" else (name, "note", said, remedy)


def _install(file: Path) -> str:
    """Say how what a file asks for gets here; the container image has no pip."""
    if _has_pip():
        return f"{_python_called()} -m pip install -r {file.name}"
    name = file.stem.partition("-")[2]
    build = f"build the image with WITH={name}" if name else "build the image anew"
    return f"install {file.name}; where this is a container, {build} (docs/deploy.md)"


def _python_called() -> str:
    """Return how a shell calls this Python: by its path where its name is another one's."""
    name = Path(sys.executable).name
    found = which(name)
    return name if found and Path(found) == Path(sys.executable) else sys.executable


def _has_pip() -> bool:
    return find_spec("pip") is not None


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _graphics_card() -> Said:
    about = "graphics card"
    if find_spec("torch") is None:
        return ok(about, "not asked: models on this machine need torch, which is not installed")
    from rexview.models.local.model import graphics_card

    try:
        found = graphics_card()
    except (RuntimeError, OSError, ImportError) as error:
        reason = re.sub(r"\W+", " ", type(error).__name__)
        return note(about, f"torch cannot be used here ({reason}).", "Install torch anew.")
    if found is None:
        return ok(about, "none that torch can use: models on this machine run on the processor")
    name, free = found
    return ok(about, f"{name}, {free / 1e9:,.1f} GB free")


def _browser() -> Said:
    from rexview.bench.browser import NO_BROWSER, browser_path

    if browser_path():
        return ok("browser", "for python -m rexview bench")
    return ok("browser", f"none, which only python -m rexview bench needs. {NO_BROWSER}")
