"""The house rules that code can be read for: import directions, module sizes, names."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from support import ROOT

from tools.changed import dotted

PACKAGE = ROOT / "rexview"

LEVELS = [
    {"errors"},
    {"untrusted_input", "package_data"},
    {"words"},
    {"vocab"},
    {"columns", "addresses", "request_deadline"},
    {"frames"},
    {"schema", "rubric", "harm", "people"},
    {"settings"},
    {"geometry", "answer_digest", "disk_cache", "child_process"},
    {"text", "spread"},
    {"imaging", "stats", "remote"},
    {"reviewset", "store", "detect", "models"},
    {"metrics", "curation", "judge", "importers"},
    {"analysis"},
    {"export"},
    {"ui"},
    {"cli", "doctor", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
LAZY = {"torch", "transformers", "openai", "scipy", "sklearn", "ray"}
PAGES_MAY = {
    *{"streamlit", "rexview.ui", "rexview.analysis", "rexview.schema", "rexview.vocab"},
    "rexview.words",
}
SHARED_UI = {
    *{
        "answers",
        "asking",
        "charts",
        "comments",
        "export",
        "filter_panel",
        "judge",
        "meeting",
        "pad",
    },
    *{"pad", "reviews", "safe_text", "scan_progress", "tables", "turning", "viewer", "web"},
}
"""Folders of ``ui`` that several pages use; every other one is a page's own."""
PAGE_IMPORTS_TO_GO: set[tuple[str, str]] = set()
"""Modules that import another page's folder as yet; nothing is to be added."""
TABLES_OF_ALL = {"cases", "answers"}
FRAMES_OF_ALL = {
    *{
        "load_finals",
        "load_answer_finals",
        "compute_final_scores",
        "select_newest_scores",
        "list_single_scores",
        "list_complete_answers",
    },
    *{"collect_choices", "find_clusters", "group_judged", "count_missing_answers", "number_units"},
}
"""Functions of ``stats`` that take or return rows of all cases; engines count with them."""
READS_ALL_CASES = {
    # the differences are those that people scored twice; their order is that of the set
    ("rexview/analysis/adjudication.py", "answers"),
    ("rexview/analysis/adjudication.py", "cases"),
    # once for each set: which words of models' names people use in questions and reports
    ("rexview/analysis/case/blinding.py", "cases"),
}
"""What reads a table of all cases outside the engine, and why; nothing is to be added."""
LINES_OF_A_MODULE = 800
NO_NAMES = {
    *{"told", "tell", "tells", "said", "say", "says", "shown", "looked", "asked", "held", "meant"},
    *{"came", "comes", "goes", "gone", "stands", "stand", "lies", "anew", "nobody", "whoever"},
    *{"thing", "things", "what", "who", "utils", "util", "helpers", "misc"},
}
"""Words that no module, public class, function or constant may have in its name."""
WIRE_NAMES = {"SHOWN_AT_EACH_END", "QUERY_FAILURE_SHOWN", "folder_gone_error", "shown_answer_ids"}
"""Names in which such a word is what the field or the link calls it."""
TESTS_OF_THEIR_OWN = {
    "suite",
    "bench",
    "deploy",
    "browser",
    "data",
    "demo",
    "fuzz",
    "pages",
    "support",
    "websocket",
}
"""Folders of tests that are about no one part of ``rexview``."""
MODULES = sorted(PACKAGE.rglob("*.py"))
BENCHES = sorted((ROOT / "bench").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))


def each_of(paths):
    """Let a test ask each of these files: a test for each part of the code names all that fail.

    One for each file and rule would be 5,000, which take longer to be told than to be run.
    """
    parts = {}
    for path in paths:
        parts.setdefault(Path(*path.relative_to(ROOT).with_suffix("").parts[:2]), []).append(path)

    def asked(test):
        @pytest.mark.parametrize("part", parts, ids=str)
        def of_all(part):
            wrong = {}
            for path in parts[part]:
                try:
                    test(path)
                except AssertionError as error:
                    wrong[str(path.relative_to(ROOT))] = str(error)
            assert not wrong

        of_all.__name__, of_all.__doc__ = test.__name__, test.__doc__
        return of_all

    return asked


@cache
def imports(path, *, top_level_only=False):
    """Return (dotted module, line) for what a file imports; ``from a import b`` as ``a.b`` too."""
    return tuple(_imports(path, top_level_only))


def _imports(path, top_level_only):
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


@each_of(MODULES)
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


def test_the_package_needs_no_bench():
    """What measures rexview comes with the source only; one command offers it where it is."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if any(module.split(".")[0] == "bench" for module, _ in imports(path))
    }
    assert found == {"cli/main.py"}


def test_no_module_is_imported_by_what_it_imports():
    names = {dotted(path.relative_to(ROOT)): path for path in MODULES}
    needs = {
        name: {
            module if module in names else module.rpartition(".")[0]
            for module, _ in imports(path)
            if module.startswith("rexview.")
        }
        for name, path in names.items()
    }
    # what imports nothing that is left is taken away; what stays at the end goes round in circles
    while free := {name for name, needed in needs.items() if not needed & needs.keys()}:
        needs = {name: needed for name, needed in needs.items() if name not in free}
    assert not needs


def page_folder(module):
    """Return the page whose folder in ``ui`` a dotted module lies in, or None."""
    names = module.split(".")
    own = names[2] if names[:2] == ["rexview", "ui"] and len(names) > 3 else None
    return None if own in SHARED_UI else own


def test_a_pages_folder_is_its_own():
    found = {
        (name, page)
        for path in MODULES
        for name in [dotted(path.relative_to(ROOT))]
        for module, _ in imports(path)
        if (page := page_folder(module))
        if not name.startswith((f"rexview.ui.{page}", "rexview.ui.web.app."))
    }
    assert found == PAGE_IMPORTS_TO_GO


@each_of(MODULES)
def test_only_ui_imports_streamlit(path):
    if path.relative_to(PACKAGE).parts[0] in ("ui", "doctor"):
        return
    wrong = [
        f"{path}:{line}" for module, line in imports(path) if module.split(".")[0] == "streamlit"
    ]
    assert not wrong


@each_of(MODULES + PAGES)
def test_streamlits_insides_are_used_in_one_place(path):
    if path.is_relative_to(PACKAGE / "ui" / "web" / "streamlit_adapter"):
        return
    wrong = [
        f"{path}:{line} {module}"
        for module, line in imports(path)
        if module.startswith("streamlit.")
    ]
    assert not wrong, (
        "what is not Streamlit's public interface belongs into ui/web/streamlit_adapter"
    )


@each_of(MODULES + PAGES)
def test_heavy_packages_are_imported_where_they_are_used(path):
    wrong = [
        f"{path}:{line} {module}"
        for module, line in imports(path, top_level_only=True)
        if module.split(".")[0] in LAZY
    ]
    assert not wrong


@each_of(PAGES)
def test_pages_hold_layout_only(path):
    for module, line in imports(path):
        if module.split(".")[0] in sys.stdlib_module_names:
            continue
        assert any(module == ok or module.startswith(f"{ok}.") for ok in PAGES_MAY), (
            f"{path.name}:{line} imports {module}"
        )
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 160


def public_names(path):
    """Yield the module's own name and those of its public classes, functions and constants."""
    yield path.stem
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id


@each_of(MODULES)
def test_names_are_words_of_the_field(path):
    words = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
    assert [
        name
        for name in public_names(path)
        if not name.startswith("_") and name not in WIRE_NAMES
        if {word.lower() for word in words.findall(name)} & NO_NAMES
    ] == []


def test_public_classes_have_names_of_their_own():
    places = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


@each_of(MODULES + BENCHES)
def test_modules_are_about_one_concept(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_OF_A_MODULE


def test_only_the_engine_knows_the_answer_table():
    """Above ``analysis.engine`` nothing may hold all cases, a mask or the table of answers."""
    opens = {PACKAGE / "ui" / "web" / "server" / "review_sets.py", *(PACKAGE / "cli").rglob("*")}
    engines = [
        (PACKAGE / "analysis" / "query" / name).rglob("*") for name in ("memory", "clickhouse")
    ]
    may = {*opens, *(path for one in engines for path in one)}
    wrong = [
        f"{path}:{line} {module}"
        for path in {*MODULES, *PAGES} - may
        for module, line in imports(path)
        if module.startswith("rexview.analysis.query.memory")
    ]
    assert not wrong


def tables_read(tree):
    """Yield which tables a module reads of what is a review set by its name or declared type."""
    sets = {
        argument.arg
        for argument in ast.walk(tree)
        if isinstance(argument, ast.arg) and argument.annotation is not None
        if "ReviewSet" in ast.unparse(argument.annotation)
    }
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    only_counted = {id(node.value) for node in attributes if node.attr == "height"}
    for node in attributes:
        of = ast.unparse(node.value).rpartition(".")[2]
        is_set = of in sets or "review_set" in of
        if is_set and node.attr in TABLES_OF_ALL and id(node) not in only_counted:
            yield node.attr


def test_only_the_engine_reads_all_cases():
    """Above ``analysis.memory`` pages and numbers ask engines, and never the tables of a set."""
    memory = set((PACKAGE / "analysis" / "query" / "memory").rglob("*"))
    memory |= set((PACKAGE / "analysis" / "query" / "clickhouse").rglob("*"))
    above = {*(PACKAGE / "analysis").rglob("*.py"), *(PACKAGE / "ui").rglob("*.py"), *PAGES}
    found = set()
    for path in above - memory:
        name = path.relative_to(ROOT).as_posix()
        found |= {(name, table) for table in tables_read(ast.parse(path.read_text("utf-8")))}
        used = {module.rpartition(".") for module, _ in imports(path)}
        found |= {
            (name, function)
            for module, _, function in used
            if module.startswith("rexview.stats") and function in FRAMES_OF_ALL
        }
    assert found == READS_ALL_CASES


@each_of(sorted(PACKAGE.rglob("*.js")))
def test_scripts_are_about_one_thing(path):
    assert path.stem not in {"utils", "util", "helpers", "misc", "common"}
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LINES_OF_A_MODULE


def test_tests_lie_in_the_room_of_what_they_test():
    tests = ROOT / "tests"
    rooms = {path.relative_to(tests).parts[0] for path in tests.rglob("*/test_*.py")}
    assert [room for room in rooms - TESTS_OF_THEIR_OWN if not any(PACKAGE.glob(f"{room}*"))] == []


def test_tests_in_a_browser_lie_where_the_check_looks_for_them():
    mark = ".".join(("pytest", "mark", "browser"))
    marked = [path for path in (ROOT / "tests").rglob("*.py") if mark in path.read_text("utf-8")]
    assert marked
    assert [path for path in marked if ROOT / "tests" / "browser" not in path.parents] == []


def test_no_unsafe_html():
    for path in MODULES + PAGES:
        assert "unsafe_allow_html" not in path.read_text(encoding="utf-8"), path


def test_nothing_needs_what_a_fresh_clone_has_not():
    for path in [*MODULES, *PAGES, ROOT / "app.py"]:
        text = path.read_text(encoding="utf-8")
        assert "../shared" not in text, path
