"""The house rules that code can be read for: import directions, module sizes, names."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rexview"

LEVELS = [
    {"errors", "vocab", "protocol", "frames", "problem"},
    {"bounded"},
    {"schema", "rubric", "harm", "people"},
    {"settings"},
    {"geometry", "answer_digest"},
    {"imaging", "stats"},
    {"reviewset", "store", "detect", "models"},
    {"curation", "analysis", "export"},
    {"ui"},
    {"cli", "bench", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
TYPES_ONLY = {("errors", "schema")}  # under TYPE_CHECKING
LAZY = {"torch", "transformers", "openai", "scipy", "sklearn"}
PAGES_MAY = {"streamlit", "rexview.ui", "rexview.analysis", "rexview.schema", "rexview.vocab"}
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))


def imports(path, *, top_level_only=False):
    """Yield (dotted module, line) for what a file imports; ``from a import b`` as ``a.b`` too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write imports in full"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def part(module):
    """Return the first name below ``rexview`` of a dotted module, or None."""
    names = module.split(".")
    return names[1] if names[0] == "rexview" and len(names) > 1 else None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    if own == "__init__":
        assert not [module for module, _ in imports(path) if module.startswith("rexview")]
        return
    assert own in LEVEL, f"{own} has no place in the layout: give it one here and in the docs"
    for module, line in imports(path):
        other = part(module)
        if other is None or other == own or other not in LEVEL:
            continue
        assert LEVEL[other] < LEVEL[own] or own in LEVELS[-1], (
            f"{path.relative_to(ROOT)}:{line} imports {module}, which is not below {own}"
        )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_ui_imports_streamlit(path):
    if path.relative_to(PACKAGE).parts[0] in ("ui", "bench"):
        return
    wrong = [
        f"{path}:{line}" for module, line in imports(path) if module.split(".")[0] == "streamlit"
    ]
    assert not wrong


@pytest.mark.parametrize("path", MODULES + PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_packages_are_imported_where_they_are_used(path):
    wrong = [
        f"{path}:{line} {module}"
        for module, line in imports(path, top_level_only=True)
        if module.split(".")[0] in LAZY
    ]
    assert not wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_hold_layout_only(path):
    for module, line in imports(path):
        if module.split(".")[0] in sys.stdlib_module_names:
            continue
        assert any(module == ok or module.startswith(f"{ok}.") for ok in PAGES_MAY), (
            f"{path.name}:{line} imports {module}"
        )
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 160


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_about_one_thing(path):
    assert path.stem not in {"utils", "util", "helpers", "misc", "common"}
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 420


def test_only_the_engine_knows_the_answer_table():
    """Above ``analysis.engine`` nothing may hold all cases, a mask or the table of answers."""
    may = {PACKAGE / "ui" / "server" / "resources.py", *(PACKAGE / "analysis" / "memory").glob("*")}
    wrong = [
        f"{path}:{line} {module}"
        for path in {*MODULES, *PAGES} - may
        for module, line in imports(path)
        if module.startswith("rexview.analysis.memory")
    ]
    assert not wrong


def test_no_unsafe_html():
    for path in MODULES + PAGES:
        assert "unsafe_allow_html" not in path.read_text(encoding="utf-8"), path


def test_nothing_needs_what_a_fresh_clone_has_not():
    for path in [*MODULES, *PAGES, ROOT / "app.py"]:
        text = path.read_text(encoding="utf-8")
        assert "../shared" not in text, path
