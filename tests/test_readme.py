"""README says what the code does."""

import re

from support import ROOT

from rexview.settings import SETTING_SPECS

README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_setting_is_listed():
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", SETTINGS, re.MULTILINE)
    assert listed == [(spec.name, spec.variable) for spec in SETTING_SPECS]


def test_there_are_two_set_up_commands_and_ci_runs_the_second():
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    script = (
        (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("install -q -r", "install -r")
    )
    assert commands[1] in script


def test_linked_files_are_there():
    lost = [
        f"{document.name}: {target}"
        for document in DOCUMENTS
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
        if not (document.parent / target).exists()
    ]
    assert lost == []


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120
