"""What detectors found is read once: kept by content, told when it cannot be, never trusted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rexview.detect import DETECTORS, create_detectors, iterate_flag_rows
from rexview.detect.scan import kept_scan
from rexview.detect.scan import rule_version as rules
from rexview.detect.scan.background_scan import BackgroundScan
from rexview.detect.scan.batch import load_batch, run_detectors
from rexview.detect.scan.kept_scan import FOLDER, KeptScan, compute_keys
from rexview.detect.scan.scan import Scan, ScanAccumulator, create_empty_scan, replace_scores, scan
from rexview.disk_cache import FileCache
from rexview.reviewset import check_review_set, fingerprint, load_review_set
from rexview.schema import ReviewSet

_LONG = 120.0


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "reviewset.yaml").write_text("format: 1\nname: Kept\n")
    reports = ["Right effusion.", "No effusion.", "Left pneumothorax.", "Cardiomegaly."] * 3
    write(folder, "cases", [
        {"id": f"c{n}", "question": "What is wrong?", "question_type": "open",
         "report": {"findings": report}, "images": [{"id": "i", "path": "i.png"}]}
        for n, report in enumerate(reports)
    ])  # fmt: skip
    write(folder, "answers", [
        {"case": f"c{n}", "model": model, "text": f"There is a left effusion {model} {n}."}
        for n in range(12) for model in "gm"
    ])  # fmt: skip
    return folder


def write(folder: Path, table: str, rows: list[dict[str, Any]]) -> None:
    (folder / f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def change(folder: Path, table: str, edit: Callable[[list[dict[str, Any]]], Any]) -> ReviewSet:
    file = folder / f"{table}.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    edit(rows)
    write(folder, table, rows)
    return load_review_set(folder)


@pytest.fixture(name="keep")
def keep_fixture(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "scans", 10**9, ".rxf")


def scanned(review_set: ReviewSet, keep: FileCache, active: Any = DETECTORS) -> tuple[Scan, str]:
    background = BackgroundScan(review_set, active, keep=keep, workers=1)
    background.start()
    assert background.wait(_LONG), background.progress
    background.close()
    assert background.progress.state == "finished", background.progress
    return background.scan, background.progress.message


def keep_all(review_set: ReviewSet, keep: FileCache, active: Any = DETECTORS) -> Scan:
    """Look at what is not kept, keep it and return all, without a process: that is as it was."""
    kept = KeptScan(review_set, active, keep)
    gatherer = ScanAccumulator(len(review_set.newest), len(review_set.cases))
    for piece in kept.read():
        gatherer.add(piece)
    left = np.flatnonzero(gatherer.cases_left(review_set.newest.starts))
    kept.add(gatherer.add(run_detectors(load_batch(review_set, left), active)))
    kept.flush()
    bare = replace(create_empty_scan(review_set, active), found=gatherer.found(kept))
    return replace_scores(bare, review_set)


def same(found: Scan, review_set: ReviewSet, active: Any = DETECTORS) -> None:
    whole = scan(review_set, active)
    assert found.state.tolist() == whole.state.tolist()
    assert found.judged.tolist() == whole.judged.tolist()
    assert list(iterate_flag_rows(found)) == list(iterate_flag_rows(whole))
    said = [
        {(int(text), one.index.phrases[place])
         for text, place in zip(one.index.texts, one.index.phrase_places, strict=True)}
        for one in (found, whole)
    ]  # fmt: skip
    assert said[0] == said[1]


@pytest.fixture(name="no_process")
def no_process_fixture(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what lets no process be started from then on: who needs one fails."""
    return lambda: monkeypatch.setattr(sys, "executable", "/nowhere/python")


def looked_at_anew(review_set: ReviewSet, keep: FileCache, active: Any = DETECTORS) -> list[int]:
    """Return the answers that are not kept."""
    state = np.zeros(len(review_set.newest), dtype=np.uint8)
    for piece in KeptScan(review_set, active, keep).read():
        state[piece.numbers] = piece.state
    return np.flatnonzero(state == 0).tolist()


def test_a_restart_reads_nothing_anew(
    folder: Path, keep: FileCache, no_process: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, message = scanned(load_review_set(folder), keep)
    assert message == ""
    no_process()
    again, _ = scanned(load_review_set(folder), keep)
    same(again, load_review_set(folder))
    monkeypatch.setattr("rexview.detect.scan.scan.run_detectors", None)  # evidence is on the disk
    flagged = [row for row in range(12) if found.flags_of_case(row)]
    assert len(flagged) > 3
    assert all(again.flags_of_case(row) == found.flags_of_case(row) for row in flagged)


def test_a_changed_answer_costs_one_answer(folder: Path, keep: FileCache) -> None:
    keep_all(load_review_set(folder), keep)
    changed = change(folder, "answers", lambda rows: rows[5].update(text="A right nodule."))
    assert looked_at_anew(changed, keep) == [5]
    found = keep_all(changed, keep)
    same(found, changed)
    fewer = change(folder, "answers", lambda rows: rows.pop(2))
    assert looked_at_anew(fewer, keep) == []
    more = change(folder, "answers", lambda rows: rows.append({**rows[0], "model": "new"}))
    assert looked_at_anew(more, keep) == [2], "an answer that another model gave, too"
    same(keep_all(more, keep), more)


@pytest.mark.parametrize(
    ("table", "edit", "anew"),
    [
        ("cases", lambda rows: rows[0].update(report={"findings": "Clear."}), [0, 1]),
        ("cases", lambda rows: rows[0].update(question="Which side?"), [0, 1]),
        ("cases", lambda rows: rows[0]["images"][0].update(view="PA"), [0, 1]),
        ("cases", lambda rows: rows[0].update(tags={"a": ["b"]}), []),
        ("answers", lambda rows: rows[0].update(finish_reason="length"), [0]),
        ("answers", lambda rows: rows[0].update(latency_s=3.0, run_id="x"), []),
        ("answers", lambda rows: rows.reverse(), []),
        ("cases", lambda rows: rows.reverse(), []),
    ],
)
def test_what_an_outcome_depends_on(
    folder: Path, keep: FileCache, table: str, edit: Any, anew: list[int]
) -> None:
    keep_all(load_review_set(folder), keep)
    changed = change(folder, table, edit)
    assert looked_at_anew(changed, keep) == anew
    same(keep_all(changed, keep), changed)


def test_thresholds_and_models_that_draw_no_boxes(folder: Path, keep: FileCache) -> None:
    review_set = load_review_set(folder)
    keep_all(review_set, keep, create_detectors())
    other = create_detectors(gap_threshold=1.0)
    assert looked_at_anew(review_set, keep, other) == [], "it says nothing where nothing is scored"
    (folder / "reviewset.yaml").write_text(
        "format: 1\nname: Kept\nmodels:\n"
        "  - {id: m, name: M, draws_boxes: false}\n  - {id: g, name: G}\n"
    )
    review_set = load_review_set(folder)
    asked = create_detectors(models=review_set.models)
    of_m = np.flatnonzero(review_set.newest.model == 0).tolist()
    assert looked_at_anew(review_set, keep, asked) == of_m


def test_other_rules_are_of_no_use(
    folder: Path, keep: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    review_set = load_review_set(folder)
    keep_all(review_set, keep)
    for module in ("rexview.detect.scan.kept_scan", "rexview.detect.scan.rule_version"):
        monkeypatch.setattr(f"{module}.rule_version", lambda: "of another day")
    assert len(looked_at_anew(review_set, keep)) == len(review_set.newest)


def test_the_version_covers_all_that_detectors_import() -> None:
    package = Path(rules.__file__).parents[2]
    covered = [package / name for name in rules._READ]
    for file in (package / "detect").rglob("*.py"):
        for line in file.read_text().splitlines():
            if line.startswith(("from rexview.", "import rexview.")):
                path = package.joinpath(*line.split()[1].split(".")[1:])
                known = (path, path.with_suffix(".py"))
                about_rules = file.parent.name != "scan" and file.stem != "precision"
                assert not about_rules or any(
                    one == other or other in one.parents for one in known for other in covered
                ), (file, line)


def test_keys_differ_wherever_something_does(folder: Path) -> None:
    keys = compute_keys(load_review_set(folder), DETECTORS)[1]
    assert len({tuple(key) for key in keys.tolist()}) == len(keys)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_disk_is_told(folder: Path, keep: FileCache) -> None:
    keep.folder.mkdir()
    keep.folder.chmod(0o500)
    found, message = scanned(load_review_set(folder), keep)
    assert "not kept" in message
    same(found, load_review_set(folder))


@pytest.mark.parametrize("fault", ["a file is in the way", "no room"])
def test_a_disk_that_cannot_be_written_to_is_told(folder: Path, tmp_path: Path, fault: str) -> None:
    keep = FileCache(tmp_path / "scans", 10 if fault == "no room" else 10**9, ".rxf")
    if fault != "no room":
        keep.folder.write_text("")
    found, message = scanned(load_review_set(folder), keep)
    assert message.startswith("What is found is not kept for the next start: ")
    same(found, load_review_set(folder))


@pytest.mark.parametrize("file", ["answers", "flags", "texts", "phrases", "reports"])
@pytest.mark.parametrize("fault", ["gone", "broken", "of another table"])
def test_a_damaged_piece_is_as_though_it_were_not_there(
    folder: Path, keep: FileCache, file: str, fault: str
) -> None:
    review_set = load_review_set(folder)
    keep_all(review_set, keep)
    (piece,) = keep.folder.rglob("*.rxf/flags.parquet")
    damaged = piece.with_name(f"{file}.parquet")
    if fault == "gone":
        damaged.unlink()
    elif fault == "broken":
        damaged.write_bytes(damaged.read_bytes()[:-20])
    else:
        other = "texts" if file == "phrases" else "phrases"
        shutil.copy(damaged.with_name(f"{other}.parquet"), damaged)
    assert len(looked_at_anew(review_set, keep)) == len(review_set.newest)


def test_evidence_that_vanishes_is_looked_for_again(folder: Path, keep: FileCache) -> None:
    review_set = load_review_set(folder)
    found = keep_all(review_set, keep)
    keep.clear()
    same(found, review_set)


def test_it_can_be_kept_beside_the_tables(
    folder: Path, keep: FileCache, no_process: Callable[[], None]
) -> None:
    before = fingerprint(folder)
    scanned(load_review_set(folder), FileCache(folder / FOLDER, 10**9, ".rxf"))
    assert (folder / FOLDER).is_dir()
    assert fingerprint(folder) == before
    assert not [problem for problem in check_review_set(folder) if FOLDER in str(problem)]
    no_process()
    moved = folder.rename(folder.with_name("elsewhere"))
    shutil.copytree(moved, folder)  # other files, with the same content
    for place in (moved, folder):
        same(scanned(load_review_set(place), keep)[0], load_review_set(place))


def test_the_folder_may_vanish_while_it_runs(folder: Path, keep: FileCache) -> None:
    review_set = load_review_set(folder)
    background = BackgroundScan(review_set, DETECTORS, keep=keep, workers=1)
    background.start()
    shutil.rmtree(folder)
    assert background.wait(_LONG)
    assert background.progress.state == "finished"
    same(background.scan, review_set)
    background.close()


def test_two_who_write_at_the_same_time_take_nothing_from_each_other(
    folder: Path, keep: FileCache
) -> None:
    review_set = load_review_set(folder)
    size = len(review_set.newest), len(review_set.cases)
    both = [KeptScan(review_set, DETECTORS, keep) for _ in range(2)]
    gatherers = [ScanAccumulator(*size) for _ in both]
    for kept, gatherer, rows in zip(both, gatherers, (range(6), range(6, 12)), strict=True):
        assert list(kept.read()) == []
        kept.add(gatherer.add(run_detectors(load_batch(review_set, np.array(rows)), DETECTORS)))
    for kept in both:
        kept.flush()
    for kept, gatherer, numbers in zip(both, gatherers, ((0, 12), (12, 24)), strict=True):
        told = kept.of(*numbers)
        assert told is not None
        assert told["answer"].to_list() == gatherer.found().flags["answer"].to_list()
    assert looked_at_anew(review_set, keep) == []


def test_other_code_that_reads_sets_makes_other_numbers(
    folder: Path, keep: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are then found by what stands in them, which costs no look at a text."""
    review_set = load_review_set(folder)
    before = KeptScan(review_set, DETECTORS, keep)
    keep_all(review_set, keep)
    monkeypatch.setattr(kept_scan, "set_reader_version", lambda: "another")
    after = KeptScan(review_set, DETECTORS, keep)
    assert before._state != after._state
    assert looked_at_anew(review_set, keep) == []


def test_a_device_without_room_costs_nothing_but_time(
    folder: Path, keep: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars has an error of its own for it."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no full device here")
    real = pl.DataFrame.write_parquet
    monkeypatch.setattr(
        pl.DataFrame,
        "write_parquet",
        lambda frame, _, **options: real(frame, Path("/dev/full"), **options),
    )
    found, message = scanned(load_review_set(folder), keep)
    same(found, load_review_set(folder))
    assert "not kept" in message


def test_who_is_killed_while_taking_over_goes_on_at_the_next_start(
    folder: Path, keep: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_scan, "_FIRST", 2)
    review_set, whole = load_review_set(folder), scan(load_review_set(folder), DETECTORS)
    kept = KeptScan(review_set, DETECTORS, keep)
    assert list(kept.read()) == []
    for row in range(12):  # a piece each
        kept.add(run_detectors(load_batch(review_set, np.array([row])), DETECTORS))
    changed = change(folder, "answers", lambda rows: rows[5].update(text="A right nodule."))
    program = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(kept_scan.__file__).parents[3])!r})
from rexview.detect import DETECTORS
from rexview.detect.scan import kept_scan
from rexview.disk_cache import FileCache
from rexview.reviewset import load_review_set
kept_scan._FIRST = 2
keep = FileCache(Path({str(keep.folder)!r}), 10**9, ".rxf")
review_set = load_review_set({str(folder)!r})
for number, _ in enumerate(kept_scan.KeptScan(review_set, DETECTORS, keep).read()):
    if number == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
"""
    for pieces in (5, 9):
        run = subprocess.run([sys.executable, "-c", program, str(pieces)], check=False)
        assert run.returncode == -signal.SIGKILL
    own = KeptScan(changed, DETECTORS, keep)._state
    assert 0 < len(list(kept_scan._pieces(keep, own))) < 12, "killed half-way"
    assert looked_at_anew(changed, keep) == [5]
    assert kept_scan._states(keep, str(folder.resolve())) == [own]
    assert looked_at_anew(changed, keep) == [5], "from its own pieces alone"
    assert not list(kept_scan._pieces(keep, kept._state)), "nothing is kept twice"
    found = keep_all(changed, keep)
    same(found, changed)
    assert found.flags_of_case(0) == whole.flags_of_case(0)
