"""The exact versions that tests run on are those that the requirements allow, and all of them."""

import re
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support import ROOT
from support.rows import each_row

MAKE_ANEW = "requirements-dev.txt says how the lock files are made anew"


def read_requirements(path):
    """Yield what a requirements file asks for, with the files that it names."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from read_requirements(path.parent / line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            yield Requirement(line)


def read_lock(name):
    return (ROOT / f"{name}.lock").read_text(encoding="utf-8")


def pinned_in(name):
    lines = re.findall(r"^\w.*", read_lock(name), re.MULTILINE)
    return [Requirement(line.rstrip(" \\")) for line in lines]


SETS = ("requirements-dev", "requirements-dev-all")
ASKED = [(name, one) for name in SETS for one in read_requirements(ROOT / f"{name}.txt")]
PINNED = {name: pinned_in(name) for name in SETS}


@each_row("lock, asked", ASKED, ids=str)
def test_every_requirement_is_locked_to_versions_that_it_allows(lock, asked):
    name = canonicalize_name(asked.name)
    versions = [next(iter(one.specifier)).version for one in PINNED[lock] if one.name == name]
    assert versions, MAKE_ANEW
    assert all(asked.specifier.contains(version) for version in versions), MAKE_ANEW


@each_row("lock", SETS)
def test_every_version_is_exact_and_hashed(lock):
    text, pinned = read_lock(lock), PINNED[lock]
    entries = re.findall(r"^\w.*\n(?:    --hash=sha256:[0-9a-f]{64}.*\n)+", text, re.MULTILINE)
    assert len(entries) == len(pinned)
    assert all([one.operator for one in entry.specifier] == ["=="] for entry in pinned)


def test_both_locks_have_one_version_of_a_package():
    everything = {str(one) for one in PINNED["requirements-dev-all"]}
    assert {str(one) for one in PINNED["requirements-dev"]} <= everything, MAKE_ANEW


@each_row("lock", SETS)
def test_nothing_is_locked_that_nothing_asks_for(lock):
    """What the installed packages name, from the requirements on, is what the lock holds here."""
    asked = [one for name, one in ASKED if name == lock]
    needed, new = set(), {(canonicalize_name(one.name), *sorted(one.extras)) for one in asked}
    while new:
        needed |= new
        new = {found for one in new for found in needed_by(*one)} - needed
    here = {one.name for one in PINNED[lock] if one.marker is None or one.marker.evaluate()}
    assert {name for name, *_ in needed} == here, MAKE_ANEW


def needed_by(name, *extras):
    """Yield the packages, with their extras, that an installed package needs on this machine."""
    try:
        lines = requires(name) or ()
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed: the tests run on other packages than the lock's")
    for one in map(Requirement, lines):
        if one.marker is None or any(one.marker.evaluate({"extra": key}) for key in ("", *extras)):
            yield canonicalize_name(one.name), *sorted(one.extras)
