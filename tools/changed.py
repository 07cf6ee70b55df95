"""Find the tests that a change affects: ``python -m tools.check --changed [SINCE]``.

A test file is selected in three cases. It, or a test module that it imports, imports a changed
module, directly or through others. It has changed itself. Or it drives a page that imports a
changed module. Tests of pages are found by the page's name, in their own path or as
``pages/NAME.py`` in their text, since they open pages without importing them. Imports of
``tests/conftest.py`` select nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
_PACKAGES = ("rexview", "bench")


def changed_since(commit: str = "HEAD") -> set[Path]:
    """Return the files that differ from a commit, including untracked ones."""
    since = ["git", "diff", "--name-only", "--no-renames", commit]
    new = ["git", "ls-files", "--others", "--exclude-standard"]
    return {
        ROOT / name
        for command in (since, new)
        for name in subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    }


def touched_tests(changed: Iterable[Path]) -> list[Path]:
    """Return the test files that changed files affect, sorted by path."""
    changed = set(changed)
    graph = grimp.build_graph(*_PACKAGES, cache_dir=None)
    names = {module for path in changed for module in _modules_of(path, graph.modules)}
    touched = names.union(*(graph.find_downstream_modules(name) for name in names))
    pages = {
        page.stem
        for page in (ROOT / "pages").glob("*.py")
        if page in changed or touched & imports_of(page)
    }
    supports = _supports()
    chosen = []
    for test in sorted(TESTS.rglob("test_*.py")):
        files = {test, *_reached(test, supports), *_conftests(test)}
        imported = {name for file in files for name in imports_of(file)}
        if files & changed or touched & imported or _drives(test, pages):
            chosen.append(test)
    return chosen


def _modules_of(path: Path, known: set[str]) -> set[str]:
    """Return the module of a file; for a script or a table, the modules in its folder."""
    if path.relative_to(ROOT).parts[0] not in _PACKAGES:
        return set()
    if path.suffix == ".py":
        name = dotted(path.relative_to(ROOT))
        return {name} & known
    for folder in path.parents:
        package = ".".join(folder.relative_to(ROOT).parts)
        beside = {name for name in known if name.rpartition(".")[0] == package}
        if beside:
            return beside | ({package} & known)
    return set()


def dotted(path: Path) -> str:
    """Return the dotted name of a module from its path."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return a file's imports as dotted names; ``from a import b`` as ``a`` and ``a.b``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def _supports() -> dict[str, Path]:
    """Return the modules that tests share, by import name."""
    shared = [path for path in TESTS.rglob("*.py") if not path.name.startswith("test_")]
    under_tests = {dotted(path.relative_to(TESTS)): path for path in shared}
    return under_tests | {dotted(path.relative_to(ROOT)): path for path in shared}


def _reached(test: Path, supports: dict[str, Path]) -> set[Path]:
    """Return the shared modules that a test imports, directly or through others."""
    reached: set[Path] = set()
    waiting = [test]
    while waiting:
        for name in imports_of(waiting.pop()):
            path = supports.get(name)
            if path is not None and path not in reached:
                reached.add(path)
                waiting.append(path)
    return reached


def _conftests(test: Path) -> set[Path]:
    folders = test.parent.parents[: len(test.parent.relative_to(TESTS).parts) - 1]
    below = [folder / "conftest.py" for folder in (test.parent, *folders) if folder != TESTS]
    return {path for path in below if path.is_file()}


def _drives(test: Path, pages: set[str]) -> bool:
    """Whether a test opens one of these pages, by its path or its text."""
    own = test.relative_to(TESTS)
    if own.parts[0] not in ("pages", "browser", "websocket"):
        return False
    path = "/".join(own.parts[1:])
    text = test.read_text(encoding="utf-8")
    return any(
        re.search(rf"(?<![a-z]){page}(?![a-z])", path) or f"pages/{page}.py" in text
        for page in pages
    )
