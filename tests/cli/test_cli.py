import json
import os
import re
import subprocess
import sys

import cv2
import pytest
from support import ROOT
from support.small_set import CASES, write_set

from rexview.cli import main
from rexview.cli.main import CLOSED_PIPE


@pytest.fixture
def folder(tmp_path):
    return write_set(tmp_path / "set")


def test_check_lists_warnings_and_passes(folder, capsys):
    assert main(["check", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "missing.png" in out
    assert "0 errors, 1 warning" in out


def test_check_decodes_every_picture_when_asked(folder, capsys):
    """The picture of this set is a file that only looks like one."""
    assert main(["check", str(folder), "--pixels"]) == 0
    captured = capsys.readouterr()
    assert "cannot be shown" in captured.out
    assert captured.err == ""
    assert main(["check", str(folder)]) == 0
    assert "cannot be shown" not in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_progress_is_shown_on_a_terminal_only(folder):
    ours, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "rexview", "check", str(folder), "--pixels", "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
    )
    os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "pictures decoded" in said
    assert isinstance(json.loads(done.stdout), list)


def test_check_lists_every_error_and_fails(tmp_path, capsys):
    wrong = write_set(tmp_path / "x", cases=[{**case, "question_type": "?"} for case in CASES])
    assert main(["check", str(wrong), "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)
    errors = [problem for problem in problems if problem["severity"] == "error"]
    assert {(e["file"], e["row"], e["field"]) for e in errors} >= {
        ("cases.jsonl", row, "question_type") for row in (1, 2, 3)
    }
    assert all(error["message"] and error["remedy"] for error in errors)


def test_failures_are_listed_with_evidence(folder, capsys):
    assert main(["failures", str(folder), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = {(row["case"], row["model"], row["failure"]) for row in rows}
    assert found == {
        ("c1", "m", "laterality_error"),
        ("c1", "m", "execution_gap"),
        ("c1", "n", "token_limit"),
        ("c2", "m", "omission"),
    }
    assert [row["failure"] for row in rows if row["kind"] == "contradiction"] == ["omission"]
    for row in rows:
        assert set(row) >= {"case", "model", "failure", "source", "kind", "message", "evidence"}
        assert row["source"] == "detector"
        assert row["evidence"]
        for item in row["evidence"]:
            assert set(item) >= {"where", "start", "end", "text", "side", "box"}
            assert item["where"] in ("answer", "report", "question", "box", "usage", "scores")


def test_failures_do_not_need_the_images(folder, capsys):
    main(["failures", str(folder), "--json"])
    before = capsys.readouterr().out
    for image in (folder / "images").iterdir():
        image.unlink()
    assert main(["failures", str(folder), "--json"]) == 0
    assert capsys.readouterr().out == before


def test_a_set_with_errors_lists_no_failures(tmp_path, capsys):
    wrong = write_set(tmp_path / "x", cases=[{**case, "question_type": "?"} for case in CASES])
    assert main(["failures", str(wrong)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "question_type" in captured.err


@pytest.mark.parametrize("window", ["auto", "file", "128,100"])
def test_render(folder, tmp_path, window):
    out = tmp_path / "x.png"
    image = folder / "images" / "one.png"
    assert main(["render", str(image), "--out", str(out), "--window", window]) == 0
    assert cv2.imread(str(out), cv2.IMREAD_UNCHANGED).shape[:2] == (120, 100)


def test_render_gives_the_reason(folder, tmp_path, capsys):
    out = tmp_path / "x.png"
    for name in ("broken.png", "none.png"):
        assert main(["render", str(folder / "images" / name), "--out", str(out)]) == 1
        assert capsys.readouterr().err.strip()
        assert not out.exists()
    good = str(folder / "images" / "one.png")
    assert main(["render", good, "--out", str(out), "--window", "wide"]) == 1


def test_import_then_check(folder, tmp_path, capsys):
    out = tmp_path / "imported"
    assert main(["import", "images", str(folder / "images"), "--out", str(out)]) == 0
    assert main(["check", str(out)]) == 0
    assert main(["import", "images", str(folder / "images"), "--out", str(out)]) == 1
    assert "not empty" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["check"], ["import", "nonsense", "x"]])
def test_a_wrong_command_line_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_it_runs_as_a_module(folder):
    command = [sys.executable, "-m", "rexview", "check", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "0 errors" in done.stdout


@pytest.mark.parametrize("path", ["~nosuchuser/x", "a\nb", "x" * 5000, "x" * 300])
def test_what_no_file_can_be_called_is_told_without_a_traceback(capsys, path, tmp_path):
    for command in (
        ["check", path],
        ["stats", path],
        ["render", path, "--out", str(tmp_path / "x.png")],
        ["render", str(ROOT / "docs" / "case-page.jpg"), "--out", path],
        ["import", "table", path, "--out", str(tmp_path / "out")],
        ["import", "images", str(tmp_path), "--out", path],
        ["backup", str(tmp_path), "--out", path],
        ["merge-reviews", path],
        ["merge-reviews", str(tmp_path), "--from", path],
    ):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 2
        assert re.search("The path|There is no user", capsys.readouterr().err)


@pytest.mark.parametrize("kind", ["table", "rexrank", "coco", "images"])
def test_a_device_or_a_pipe_is_no_source(capsys, tmp_path, kind):
    os.mkfifo(tmp_path / "pipe")
    for source in ("/dev/zero", str(tmp_path / "pipe")):
        assert main(["import", kind, source, "--out", str(tmp_path / "out")]) == 1
        assert "device or a pipe" in capsys.readouterr().err
    assert main(["render", "/dev/zero", "--out", str(tmp_path / "x.png")]) == 1
    assert main(["check", "/dev/zero"]) == 1


def test_a_device_or_a_pipe_is_no_backup(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    os.mkfifo(tmp_path / "pipe")
    for source in ("/dev/zero", str(tmp_path / "pipe")):
        assert main(["restore", source, str(folder)]) == 1
        assert "device or a pipe" in capsys.readouterr().err


def test_a_pipe_among_pictures_is_passed_over(capsys, folder, tmp_path):
    os.mkfifo(folder / "images" / "pipe")
    (folder / "reviewset.yaml").unlink()
    assert main(["import", "images", str(folder / "images"), "--out", str(tmp_path / "out")]) == 0
    assert "1 image" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes there")
def test_whoever_has_read_enough_sees_no_traceback(folder):
    for unbuffered in ((), ("-u",)):
        command = [sys.executable, *unbuffered, "-m", "rexview", "stats", str(folder)]
        running = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == CLOSED_PIPE
        running.stderr.close()
