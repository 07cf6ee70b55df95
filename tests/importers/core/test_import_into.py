"""Adding to a review set: whole or not at all, with a backup, and its reviews stay attached."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.entries.stored import ANN, comment, score, verdict
from support.small_set import write_set

from rexview.cli import main
from rexview.columns import TABLES
from rexview.errors import ImportSourceError, ReviewSetError
from rexview.importers import import_source
from rexview.reviewset import check_review_set, load_review_set
from rexview.settings import Settings
from rexview.store import merge_reviews, open_reviews
from rexview.store.database.connection import close_databases


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield
    close_databases()


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    return write_set(tmp_path / "set")


def write_json(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def state(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "reviews.sqlite" not in path.name
    }


def put_back(backup, folder):
    for name in TABLES:
        for path in folder.glob(f"{name}.*"):
            path.unlink()
    shutil.copytree(backup, folder, dirs_exist_ok=True)


@pytest.fixture(name="more")
def more_fixture(tmp_path):
    """Answers of a new model, another text of one that is there, and one to a case that is not."""
    texts = {"c1": "A right effusion is seen.", "c2": "No effusion is seen.", "c9": "It is clear."}
    return write_json(tmp_path / "all.json", {"gpt-4o": texts, "m": {"c2": "There is none now."}})


def test_answers_are_added_and_the_rest_stays(folder, more, tmp_path):
    before, files = load_review_set(folder), state(folder)
    done = import_source("auto", [more], folder, into=True)
    after = load_review_set(folder)
    assert [one for one in check_review_set(folder) if one.severity == "error"] == []
    assert after.case("c1") == before.case("c1")
    assert after.scores.equals(before.scores)
    assert after.info.name == before.info.name
    assert {one.model for one in after.answers_of("c1")} == {"m", "n", "gpt-4o"}
    assert [one.text for one in after.answers_of("c2", all_runs=True) if one.model == "m"] == [
        "No effusion.", "There is none now."
    ]  # fmt: skip
    assert after.case("c9").question
    assert done.receipt.before["answers"] == 3
    assert (done.receipt.answers, done.receipt.rows_in, done.receipt.rows_used) == (7, 4, 4)
    (backup,) = tmp_path.glob("set-before-*")
    assert re.fullmatch(r"set-before-\d{4}-\d\d-\d\d-\d{6}", backup.name)
    tables = {name: content for name, content in files.items() if "/" not in name}
    assert state(backup) == tables
    put_back(backup, folder)
    assert load_review_set(folder).answers.equals(before.answers)


def test_reviews_stay_attached(folder, more):
    reviews = open_reviews(load_review_set(folder), Settings())
    entries = [score(1), score(2, case="c2", dimension="language"), verdict("rejected"),
               comment("one", "Look here.")]  # fmt: skip
    reviews.record(entries, ANN)
    before = merge_reviews(reviews.review_set, reviews)
    assert before.scores_of("c2")
    close_databases()

    import_source("auto", [more], folder, into=True)
    reviews = open_reviews(load_review_set(folder), Settings())
    after = merge_reviews(reviews.review_set, reviews)
    assert {one.token for one in reviews.history()} == {one.token for one in entries}
    assert after.scores_of("c1") == before.scores_of("c1")
    assert after.flags_of("c1") == before.flags_of("c1")
    # the answer of m to c2 has a newer run: its score is kept, and counts no more
    assert after.scores_of("c2") == ()
    assert [one.score for one in after.scores_of("c2", stale=True)] == [2]


def test_reviews_stay_attached_while_a_server_has_them_open(folder, more):
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.record([score(1)], ANN)
    import_source("auto", [more], folder, into=True)
    reviews.record([score(3, dimension="execution")], ANN)
    after = merge_reviews(
        load_review_set(folder), open_reviews(load_review_set(folder), Settings())
    )
    found = {one.dimension: one.score for one in after.scores_of("c1") if one.reader == "ann"}
    assert found == {"process": 1, "execution": 3}


def test_images_are_added_beside_those_that_are_there(folder, tmp_path, make_picture):
    make_picture(tmp_path / "new" / "one.png")  # another picture of a name that the set has
    data = {"n1": {"report": "Findings: Clear.", "key_image_path": "new/one.png"}}
    source = write_json(tmp_path / "ReXRank_more.json", data)
    old = (folder / "images" / "one.png").read_bytes()
    import_source("auto", [source, tmp_path / "new"], folder, into=True)
    after = load_review_set(folder)
    assert (folder / "images" / "one.png").read_bytes() == old
    assert [one.path for one in after.case("c1").images] == ["one.png"]
    (image,) = after.case("n1").images
    assert image.path != "one.png"
    assert (folder / "images" / image.path).read_bytes() == (
        tmp_path / "new" / "one.png"
    ).read_bytes()


def test_a_placeholder_gives_way_to_the_question_that_was_asked(tmp_path, make_picture):
    make_picture(tmp_path / "pics" / "CXR001.png")
    folder = tmp_path / "new"
    import_source("auto", [tmp_path / "pics"], folder)
    table = tmp_path / "answers.csv"
    table.write_text("image,question,model,answer\nCXR001.png,Is it clear?,m,It is all clear.\n")
    done = import_source("auto", [table], folder, into=True)
    (case,) = [load_review_set(folder).case(name) for name in load_review_set(folder).cases["id"]]
    assert (case.question, [one.path for one in case.images]) == ("Is it clear?", ["CXR001.png"])
    assert load_review_set(folder).answers_of(case.id)[0].text == "It is all clear."
    assert done.summary().startswith(f"Added to {folder}, which has now 1 case, 1 answer")


@pytest.mark.parametrize("table_format", ["csv", "parquet", "jsonl"])
def test_other_formats_of_tables(folder, more, table_format):
    import_source("auto", [more], folder, into=True, options={"table_format": table_format})
    names = {path.name for path in folder.iterdir()}
    assert f"answers.{table_format}" in names
    assert len({name for name in names if name.startswith("answers.")}) == 1
    assert load_review_set(folder).answers.height == 7


def test_a_refused_import_changes_nothing(folder, tmp_path, capsys):
    before = state(folder)
    broken = tmp_path / "broken.json"
    broken.write_text('{"c1": "The')
    assert main(["import", "auto", str(broken), "--into", str(folder), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"]
    assert state(folder) == before
    assert not list(tmp_path.glob("set-before-*"))


def test_a_set_that_does_not_open_is_not_added_to(folder, more):
    (folder / "cases.jsonl").write_text("{}\n")
    with pytest.raises(ImportSourceError, match="cannot be opened"):
        import_source("auto", [more], folder, into=True)


def test_nothing_changes_when_the_exchange_fails(folder, more, tmp_path, monkeypatch):
    before = state(folder)
    rename, seen = Path.rename, []

    def fail(self, target):
        seen.append(self)
        if len(seen) == 4:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ImportSourceError) as caught:
        import_source("auto", [more], folder, into=True)
    assert "No space left" in caught.value.problems[0].message
    assert len(seen) > 4
    assert state(folder) == before


def test_a_set_whose_exchange_was_killed_does_not_open_half(folder, more, tmp_path):
    kill = (
        "import os, sys; from pathlib import Path; rename = Path.rename; seen = []\n"
        "def die(self, target):\n"
        "    seen.append(self)\n"
        "    if len(seen) == 4: os._exit(9)\n"
        "    return rename(self, target)\n"
        "Path.rename = die\n"
        "from rexview.cli import main; main(sys.argv[1:])\n"
    )
    before = state(folder)
    arguments = ["import", "auto", str(more), "--into", str(folder)]
    done = subprocess.run([sys.executable, "-c", kill, *arguments], cwd=ROOT, check=False)
    assert done.returncode == 9
    with pytest.raises(ReviewSetError) as caught:
        load_review_set(folder)
    assert "was interrupted" in caught.value.problems[0].message
    (backup,) = tmp_path.glob("set-before-*")
    put_back(backup, folder)
    (folder / ".import-unfinished").unlink()
    assert state(folder) == before
    load_review_set(folder)


def test_boxes_find_images_by_the_folder_that_the_set_took_for_its_base(tmp_path, make_picture):
    for number in range(2):
        make_picture(tmp_path / "in" / "films" / f"{number}.png")
    lines = [
        {"case_id": f"c{n}", "image": f"films/{n}.png", "model": "m", "answer": "An effusion."}
        for n in range(2)
    ]
    source = tmp_path / "in" / "answers.jsonl"
    source.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    folder = tmp_path / "set"
    import_source("auto", [tmp_path / "in"], folder)
    boxes = tmp_path / "boxes.csv"
    header = "image,label,x,y,width,height,score,model\n"
    boxes.write_text(
        f"{header}films/0.png,effusion,2,2,9,9,0.9,m\nothers/1.png,effusion,2,2,9,9,0.9,m\n"
    )
    receipt = import_source("auto", [boxes], folder, into=True).receipt
    (answer,) = load_review_set(folder).answers_of("c0")
    assert [box.label for box in answer.boxes] == ["effusion"]
    assert load_review_set(folder).answers_of("c1")[0].boxes == ()  # the image of another patient
    assert (receipt.rows_in, receipt.rows_used) == (2, 1)
