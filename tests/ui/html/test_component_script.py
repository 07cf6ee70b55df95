"""Scripts of components that Streamlit takes as one module."""

import re
from pathlib import Path

import pytest

from rexview.ui.answers import verdicts
from rexview.ui.comments import component as comments
from rexview.ui.html import component_script

UI = Path(component_script.__file__).parents[1]
SCRIPTS = (
    UI / "answers/verdicts.js",
    UI / "answers/evidence.js",
    UI / "comments" / "assets" / "comments.js",
)
_NAMED = re.compile(r"^(?:export )?(?:function|const|let|class) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_a_script_is_whole_without_imports_and_names_nothing_twice(file):
    script = component_script.component_script(file)
    assert script.endswith(file.read_text(encoding="utf-8"))
    assert not re.search(r"^import\b", script, re.MULTILINE)
    names = _NAMED.findall(script)
    assert {"html", "newToken"} <= set(names)
    assert len(names) == len(set(names)), "a module that names something twice does not run"


@pytest.mark.parametrize("module", [verdicts, comments], ids=["verdicts", "comments"])
def test_the_components_are_made_with_it(module):
    assert module.component_script is component_script.component_script
