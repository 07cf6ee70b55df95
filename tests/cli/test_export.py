"""``python -m rexview export``: what it writes, says and refuses."""

import os
import signal
import subprocess
import sys
import time

import pytest
from support import ROOT
from support.exports.exported_set import write_exported_set
from support.small_disk import mounted

from rexview.cli import main
from rexview.export.export_request import parse_link_query


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    return str(write_exported_set(tmp_path / "set"))


@pytest.fixture
def place(tmp_path):
    made = tmp_path / "out"
    made.mkdir()
    return made


def run(folder, out, *more, form="csv"):
    return main(["export", folder, "--format", form, "--out", str(out), *more])


def test_cases_by_ids_and_lists(folder, place, tmp_path, capsys):
    (tmp_path / "ids.txt").write_text("c3\n\nc1\n", encoding="utf-8")
    listed = ["--cases", "c2, c3", "--cases", f"@{tmp_path / 'ids.txt'}"]
    assert run(folder, place / "a.csv", *listed) == 0
    assert capsys.readouterr().out.startswith("3 cases written to ")
    lines = (place / "a.csv").read_text("utf-8-sig").splitlines()
    assert [line.split(",")[1] for line in lines if line[:2] in ("1,", "2,", "3,")] == [
        *("c2", "c3", "c1", "c1")
    ]


def test_a_filter_as_links_have_it(folder, place, capsys):
    query = "http://localhost:8501/browse?set=x&answer=token_limit#v=1"
    assert run(folder, place / "a.csv", "--filter", query) == 0
    assert capsys.readouterr().out.startswith("1 case written to ")


def test_every_problem_in_one_line(folder, place, capsys):
    missing = place / "none" / "a.csv"
    wrong = ["--cases", "c1,zz", "--cases", f"@{place / 'none.txt'}", "--meeting", "M"]
    assert run(folder, missing, *wrong, "--key", str(place / "key.csv")) == 1
    told = capsys.readouterr()
    assert told.out == ""
    for said in ("no folder", "give --pseudonyms", "none.txt cannot be read", "zz", "no meeting M"):
        assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert list(place.iterdir()) == []


def test_what_is_there_is_left_alone(folder, place, capsys):
    (place / "a.csv").write_text("mine")
    assert run(folder, place / "a.csv") == 1
    assert "is there already" in capsys.readouterr().err
    assert (place / "a.csv").read_text() == "mine"


def test_a_meeting_with_pseudonyms_and_their_key(folder, place, tmp_path, capsys):
    key = tmp_path / "key.csv"
    hidden = ["--meeting", "Chest of c1", "--pseudonyms", "--key", str(key)]
    assert run(folder, place / "a.csv", *hidden) == 0
    assert "pseudonyms" in capsys.readouterr().err
    assert "ACC-77001" not in (place / "a.csv").read_text("utf-8-sig")
    assert "study,ACC-77001,study-001" in key.read_text("utf-8").splitlines()
    assert key.stat().st_mode & 0o077 == 0
    assert run(folder, place / "b.csv", *hidden) == 1
    assert "is there already" in capsys.readouterr().err


def test_the_key_is_kept_apart(folder, place, capsys):
    (place / "deck").mkdir()
    key = str(place / "deck" / "key.csv")
    assert run(folder, place / "deck", "--pseudonyms", "--key", key) == 1
    assert "kept apart" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_by_a_signal_it_leaves_nothing(folder, place, number, tmp_path):
    pipe = place.parent / "started"
    code = (
        "import sys, time, pathlib\n"
        "from rexview.export.tables import csv as csv_table\n"
        "write = csv_table.write\n"
        "def slow(content, out, progress):\n"
        "    write(content, out, progress)\n"
        f"    pathlib.Path({str(pipe)!r}).touch()\n"
        "    time.sleep(60)\n"
        "csv_table.write = slow\n"
        "from rexview.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "export", folder, "--format", "csv"]
    ended = subprocess.Popen(
        [*command, "--out", str(place / "a.csv")],
        cwd=ROOT,
        env={**os.environ, "REXVIEW_CACHE": str(tmp_path / "cache")},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not pipe.exists():
        assert ended.poll() is None
        time.sleep(0.05)
    ended.send_signal(number)
    _, told = ended.communicate(timeout=60)
    assert ended.returncode == 1
    assert told.splitlines()[-1] == "Cancelled. Nothing was written."
    assert list(place.iterdir()) == []


def test_a_question_mark_in_what_is_looked_for():
    for query in ("q=is+it%3F", "q=is+it?", "?q=is+it?", "http://localhost/browse?q=is+it?#v"):
        assert parse_link_query(query) == {"q": ["is it?"]}


@pytest.mark.parametrize("form", ["dicom-sr", "parquet"])
def test_on_a_full_disk_one_line_and_nothing_left(folder, tmp_path, form, monkeypatch, capfd):
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    with mounted(tmp_path / "small", "8k") as small:
        assert run(folder, small / "out", form=form) == 1
        told = capfd.readouterr().err
        assert len(told.splitlines()) == 1
        assert "No space left on device" in told
        assert list(small.iterdir()) == []


def test_on_a_full_disk_a_process_of_its_own_says_no_more_as_it_ends(folder, tmp_path):
    with mounted(tmp_path / "small", "8k") as small:
        command = [sys.executable, "-m", "rexview", "export", folder, "--format", "xlsx"]
        ended = subprocess.run(
            [*command, "--out", str(small / "out")],
            cwd=ROOT,
            env={**os.environ, "REXVIEW_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 1
        assert len(ended.stderr.splitlines()) == 1
        assert "No space left on device" in ended.stderr
        assert list(small.iterdir()) == []
