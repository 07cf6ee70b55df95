"""What is kept on disk: whole or not at all, bounded, no harm when the disk does not take it."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rexview
from rexview.cli import main
from rexview.detect.scan.rule_version import _READ
from rexview.disk_cache import (
    _READS_SETS,
    CACHE_KINDS,
    FileCache,
    cache_code_version,
    code_files,
    open_cache,
)
from rexview.settings import Settings


@pytest.fixture(name="kept")
def kept_fixture(tmp_path):
    return FileCache(tmp_path / "kept", 10_000, ".rxs")


def name(number):
    return f"{number:064x}"


def a_file(content):
    return lambda path: path.write_bytes(content)


def a_folder(**files):
    def fill(path):
        path.mkdir()
        for one, content in files.items():
            (path / one).write_bytes(content)

    return fill


def test_files_and_folders_come_back(kept):
    assert kept.find(name(1)) is None
    assert kept.keep(name(1), 3, a_file(b"one")) == kept.find(name(1))
    kept.keep(name(2), 3, a_folder(a=b"first", b=b"second"))
    assert kept.find(name(1)).read_bytes() == b"one"
    assert (kept.find(name(2)) / "b").read_bytes() == b"second"
    kept.keep(name(2), 3, a_folder(a=b"again"))
    assert [file.name for file in kept.find(name(2)).iterdir()] == ["a"]
    kept.discard(name(2))
    assert kept.find(name(2)) is None
    assert not list(kept.folder.rglob("*.part"))


def test_nobody_else_can_read_it(kept):
    kept.keep(name(1), 3, a_file(b"one"))
    kept.keep(name(2), 3, a_folder(a=b"first"))
    assert [kept.find(name(n)).stat().st_mode & 0o077 for n in (1, 2)] == [0, 0]


def test_half_an_entry_is_none(kept):
    def breaks(path):
        path.write_bytes(b"half")
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        kept.keep(name(1), 3, breaks)
    assert kept.find(name(1)) is None
    assert not [file for file in kept.folder.rglob("*") if file.is_file()]


def test_links_are_no_entries(kept, tmp_path):
    kept.keep(name(1), 3, a_file(b"one"))
    secret = tmp_path / "other"
    secret.write_bytes(b"of somebody else")
    kept.find(name(1)).unlink()
    kept._path_of(name(1)).symlink_to(secret)
    assert kept.find(name(1)) is None
    kept.discard(name(1))
    assert secret.exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives away")
def test_what_is_of_another_user_is_no_entry(kept):
    os.chown(kept.keep(name(1), 3, a_file(b"one")), 12345, -1)
    assert kept.find(name(1)) is None


def test_longest_unused_folders_go_first(kept):
    for number in range(3):
        path = kept.keep(name(number), 3000, a_folder(a=bytes(2900)))
        then = time.time() - 1000 + 100 * number
        os.utime(path, (then, then))
    assert kept.find(name(0))  # used now
    kept.keep(name(3), 3000, a_folder(a=bytes(2900)))
    assert [kept.find(name(n)) is not None for n in range(4)] == [True, False, True, True]


def test_a_disk_that_fails_is_told_once(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    kept = FileCache(tmp_path / "file", 1000, ".rxs")
    for _ in range(3):
        assert kept.keep(name(1), 3, a_file(b"one")) is None
    assert kept.trouble
    assert len(caplog.records) == 1
    (tmp_path / "file").unlink()
    assert kept.keep(name(1), 3, a_file(b"one"))
    assert kept.trouble is None


def test_what_does_not_fit_is_not_written(tmp_path):
    assert FileCache(tmp_path / "a", 10, ".rxs").keep(name(1), 11, a_file(b"")) is None
    assert not (tmp_path / "a").exists()
    kept = FileCache(tmp_path / "b", 2**63, ".rxs")
    assert kept.keep(name(1), 2**62, a_file(b"")) is None
    assert kept.trouble == "the disk is full"


def test_the_command_tells_and_clears(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    settings = Settings(cache_folder=tmp_path / "cache")
    for kind in CACHE_KINDS:
        open_cache(kind, settings).keep(name(1), 3, a_file(bytes(2_000_000)))
    foreign = tmp_path / "cache" / "sets" / "00" / "notes.txt"
    foreign.write_text("not ours")
    assert main(["cache"]) == 0
    told = capsys.readouterr().out
    assert all(f"{kind:8}        2.0 MB" in told for kind in CACHE_KINDS)
    assert main(["cache", "--clear", "scans"]) == 0
    assert "scans           2.0 MB removed" in capsys.readouterr().out
    assert open_cache("scans", settings).size() == 0
    assert open_cache("sets", settings).size() == 2_000_000
    begun = open_cache("sets", settings).begin(name(2))
    begun.write_bytes(b"half")
    assert main(["cache", "--clear"]) == 0
    assert not begun.exists()
    assert all(open_cache(kind, settings).size() == 0 for kind in CACHE_KINDS)
    assert foreign.exists()


def test_the_reading_version_covers_all_that_reading_a_set_imports():
    """Else sets that were kept would be opened as other code had read them."""
    told = "import sys, rexview.reviewset; print(*(n for n in sys.modules if n[:8] == 'rexview.'))"
    run = [sys.executable, "-c", told]
    names = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    package = Path(rexview.__file__).parent
    covered = {*code_files(package / name for name in _READS_SETS), *package.glob("*.py")}
    modules = [package.parent.joinpath(*name.split(".")) for name in names]
    files = {path / "__init__.py" if path.is_dir() else path.with_suffix(".py") for path in modules}
    assert package / "reviewset" / "__init__.py" in files
    assert files - {package / "text" / "__init__.py"} <= covered


def test_only_docstrings_begin_a_line():
    """A code version leaves out each text in three quotes that begins a line."""
    package = Path(rexview.__file__).parent
    rooms = [*_READS_SETS, *_READ, "imaging", "metrics", "models"]
    for path in code_files(package / room for room in rooms):
        if path.suffix != ".py":
            continue
        text = path.read_text("utf-8")
        tree, lines = ast.parse(text), text.splitlines()
        docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        assert [
            f"{path}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if node not in docstrings and lines[node.lineno - 1].lstrip("r ").startswith('"""')
        ] == []


def test_a_code_version_depends_on_definitions_alone(tmp_path):
    """Results that were kept outlive a module that is renamed, moved, merged or split."""
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text("from rexview.a import b\n\n\ndef f():\n    return 1\n\n\ndef g(): ...\n")
    before = cache_code_version([first])
    second.write_text("from rexview.moved.a import (\n    b,\n    c,\n)\n\n\ndef g(): ...\n")
    first.write_text("import rexview.other\n\n\ndef f():\n    return 1\n")
    assert cache_code_version([second, first]) == before
    first.write_text(
        "import rexview.other\n\n\n# Numbers.\n"
        'def f():\n    """Return one.\n\n    Or not.\n    """\n    return 1  # one\n'
    )
    assert cache_code_version([second, first]) == before
    first.write_text("import rexview.other\n\n\ndef f():\n    return 2\n")
    assert cache_code_version([second, first]) != before
    assert cache_code_version([second, first], "1.0") != cache_code_version([second, first])
