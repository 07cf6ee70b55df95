"""Sources that mean harm, or that only look like it: named, never obeyed, never lost in silence."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rexview.cli import main
from rexview.importers import import_source
from rexview.reviewset import load_review_set

ROOT = Path(__file__).parents[2]
TABLE = "case_id,question,model,answer\n" + "".join(
    f"c{n},What is seen?,m,A small effusion on the left in {n}.\n" for n in range(3)
)


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.csv").write_text(TABLE)
    return folder


def unread(receipt):
    return {one.file: one.why for one in receipt.files_unread}


def test_links_that_lead_nowhere_or_round_are_named(tmp_path, folder):
    (folder / "nowhere").symlink_to("gone.csv")
    (folder / "round").symlink_to("round")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    receipt = import_source("auto", [folder], tmp_path / "out").receipt
    assert receipt.answers == 3
    assert unread(receipt).keys() == {"in/nowhere", "in/round", "in/out", "in/pipe"}


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/usr/bin/setpriv").exists(), reason="root")
def test_a_folder_that_cannot_be_read_is_named(tmp_path, folder):
    (folder / "closed").mkdir(mode=0o000)
    program = (
        "import json, sys; from pathlib import Path\n"
        "from rexview.importers.auto import SourceOpener\n"
        "from rexview.importers.receipt import ProblemLog\n"
        "from rexview.importers.receipt import Receipt\n"
        "from rexview.importers.set_rows import SetRows\n"
        "from rexview.importers.source_files import SourceFile\n"
        "rows = SetRows('', ProblemLog(), Receipt('auto'))\n"
        "list(SourceOpener(rows).open([SourceFile(Path(sys.argv[1]), 'in')]))\n"
        "print([one.file for one in rows.receipt.files_unread])\n"
    )
    lower = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*lower, sys.executable, "-c", program, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['in/closed']"


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_of_an_archive_leaves_the_others(tmp_path, packing):
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("bad.csv", TABLE.replace("effusion", "nodule"))
        archive.writestr("good.csv", TABLE)
    raw = bytearray(path.read_bytes())
    start = raw.index(b"bad.csv") + len("bad.csv") + 9  # behind the header of the LZMA stream
    for place in range(start, start + 30):
        raw[place] ^= 0x5A
    path.write_bytes(raw)
    receipt = import_source("auto", [path], tmp_path / "out").receipt
    assert unread(receipt) == {"in.zip/bad.csv": "It is damaged."}
    assert receipt.answers == 3


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_no_folder_can_have_together_are_named(tmp_path):
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("good.csv", "good.csv", "a", "a/b.csv", "x" * 300):
            archive.writestr(name, TABLE)
    receipt = import_source("auto", [path], tmp_path / "out").receipt
    assert unread(receipt) == {
        "in.zip/good.csv": "Another one of its name came first.",
        "in.zip/a/b.csv": "No file can be written under its name.",
        f"in.zip/{'x' * 300}": "No file can be written under its name.",
    }


def test_no_room_to_unpack_is_not_damage(tmp_path):
    """A real limit: files of this process may not be larger than 100 kB."""
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.csv", TABLE)
        archive.writestr("large.csv", TABLE + "".join(f"d{n},Q?,m,Clear.\n" for n in range(20_000)))
    program = (
        "import resource, signal, sys; from rexview.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = ["import", "auto", str(path), "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    problems = json.loads(done.stdout)["problems"]
    assert problems[0]["message"] == "Unpacking failed: File too large."
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", [b"bad\xff.csv", b"\x1b]0;title\x07\x1b[31m.csv", b"two\nlines.csv"]
)
def test_names_of_files_do_not_command_the_terminal(tmp_path, capfdbinary, name):
    folder = tmp_path / "in"
    folder.mkdir()
    content = TABLE.replace("answer", "ans\x1b[2J").replace("m,A", "m\x1b[2J,A")
    (folder / os.fsdecode(name)).write_text(content)
    for more in ([], ["--json"]):
        out = tmp_path / f"out{len(more)}"
        assert main(["import", "auto", str(folder), "--out", str(out), *more]) == 0
        shown = b"".join(capfdbinary.readouterr())
        assert b"\x1b" not in shown
        shown.decode("utf-8")
    assert json.loads(shown)["cases"] == 3


def test_json_keeps_what_no_terminal_may_get(tmp_path, capsys):
    source = tmp_path / "in.csv"
    source.write_text(TABLE.replace("answer", "answer,c1\x9b2J").replace(".\n", ".,1\n"))
    assert main(["import", "auto", str(source), "--out", str(tmp_path / "out"), "--json"]) == 0
    text = capsys.readouterr().out
    assert "\x9b" not in text
    assert [one["column"] for one in json.loads(text)["columns_kept"]] == ["c1\x9b2J"]


@pytest.mark.parametrize("place", ["in/good.csv/x", "in/good.csv/x/y"])
def test_json_also_where_nothing_can_be_written(tmp_path, folder, capsys, place):
    source = folder / "good.csv"
    out = tmp_path / place
    assert main(["import", "auto", str(source), "--out", str(out), "--json"]) == 1
    receipt = json.loads(capsys.readouterr().out)
    assert (receipt["rows_in"], receipt["rows_used"]) == (3, 0)
    assert receipt["problems"][0]["severity"] == "error"


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_files_of_one_name_are_models_of_their_folders(tmp_path, kind):
    folder = tmp_path / "in"
    for model in ("gpt-4o", "medgemma"):
        path = folder / model / "deep" / f"preds.{kind}"
        path.parent.mkdir(parents=True)
        texts = {f"c{n}": f"The {model} sees an effusion on the left in {n}." for n in range(4)}
        rows = "".join(f"{case},What is seen?,{text}\n" for case, text in texts.items())
        path.write_text(
            json.dumps(texts) if kind == "json" else f"case_id,question,response\n{rows}"
        )
    for number, sources in enumerate(([folder], sorted(folder.rglob(f"preds.{kind}")))):
        out = tmp_path / f"out{number}"
        receipt = import_source("auto", sources, out).receipt
        assert receipt.models == {"gpt-4o": 4, "medgemma": 4}
        assert receipt.problems == ()
        assert {one.run_id for one in load_review_set(out).answers_of("c0")} == {None}


def test_folders_of_a_split_name_no_model(tmp_path):
    for split in ("test", "valid"):
        path = tmp_path / "in" / split / "gpt-4o.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({f"{split}1": f"An effusion is seen in {split}."}))
    receipt = import_source("auto", [tmp_path / "in"], tmp_path / "out").receipt
    assert receipt.models == {"gpt-4o": 2}


def test_a_mapping_that_is_silent_of_identity_keeps_it_out(tmp_path):
    """It may be written by hand, or made for another file of the same import."""
    source = tmp_path / "in.csv"
    source.write_text(
        "case_id,patient_name,MRN,model,answer\nc1,ZEBRA^QUAGGA,MRN777,m,An effusion is seen.\n"
    )
    fields = [{"field": "case", "column": "case_id"}, {"field": "answer", "column": "answer"}]
    mapping = {
        "file": "other.csv",
        "columns": ["case_id", "answer"],
        "fields": fields,
        "model": "m",
    }
    options = {"mapping": mapping}
    receipt = import_source("table", [source], tmp_path / "out", options=options).receipt
    assert [one.column for one in receipt.identity_columns] == ["patient_name", "MRN"]
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert "An effusion" in written
    assert "ZEBRA" not in written + json.dumps(receipt.as_json())
    assert "MRN777" not in written + json.dumps(receipt.as_json())
