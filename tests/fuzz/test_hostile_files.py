"""Spoiled files: pictures, tables, YAML. Each is read or refused with a sentence, nothing else."""

import io
import json
from pathlib import Path

import cv2
import numpy as np
import polars as pl
import pydicom
import pytest
from PIL import Image
from support.hostile_input import any_text, any_value, changed, generator, rounds, spoiled
from support.small_set import ANSWERS, CASES, SCORES, write_set

from rexview.errors import FileRefused, ImageError, ImportSourceError, ReviewSetError, SettingsError
from rexview.imaging import read_facts, thumbnail, viewer_payload
from rexview.imaging.limits import DECODING_MEMORY
from rexview.importers import import_source
from rexview.reviewset import check_review_set, load_review_set
from rexview.rubric import load_rubric
from rexview.settings import load_settings
from rexview.untrusted_input import parse_untrusted_yaml

CORPUS = Path(pydicom.__file__).parent / "data" / "test_files"
RUBRIC = Path(load_rubric.__wrapped__.__code__.co_filename).with_name("rubric.yaml")


def pictures():
    """Small pictures of every kind, as bytes by a name."""
    found = {
        path.name: path.read_bytes()
        for path in sorted(CORPUS.glob("*.dcm"))
        if path.stat().st_size < 40_000
    }
    grey = (np.mgrid[0:40, 0:50][0] * 1000).astype(np.uint16)
    colour = np.dstack([grey, grey[::-1], grey[:, ::-1], np.full_like(grey, 9000)])
    for name, pixels in (("grey16.png", grey), ("rgba16.png", colour)):
        found[name] = cv2.imencode(".png", pixels)[1].tobytes()
    small = Image.fromarray((colour[..., :3] >> 8).astype(np.uint8))
    for name, options in (
        ("a.jpg", {}),
        ("b.jpg", {"progressive": True}),
        ("a.webp", {}),
        ("b.webp", {"lossless": True}),
        ("a.tif", {}),
        ("b.tif", {"compression": "tiff_lzw"}),
        ("a.png", {}),
    ):
        stream = io.BytesIO()
        small.save(
            stream, {"jpg": "JPEG", "tif": "TIFF"}.get(name[2:], name[2:].upper()), **options
        )
        found[name] = stream.getvalue()
    return found


def test_spoiled_pictures_are_shown_or_refused(tmp_path):
    chance, made = generator("pictures"), pictures()
    shown = refused = 0
    for number in rounds("pictures", 300):
        name = chance.choice(list(made))
        path = tmp_path / name
        path.write_bytes(spoiled(made[name], chance))
        for read in (read_facts, chance.choice((viewer_payload, thumbnail))):
            try:
                read(path)
                shown += 1
            except ImageError as error:
                refused += 1
                assert str(error).endswith("."), (number, name)  # noqa: PT017
            assert DECODING_MEMORY.taken == 0, (number, name)
    assert shown > 10
    assert refused > 10


def spoil_set(folder, chance):
    """Spoil one file of a set, or write its rows anew with other values; return what was done."""
    what = chance.choice(("bytes", "bytes", "rows", "rows", "csv", "parquet", "yaml"))
    if what == "bytes":
        path = folder / chance.choice(
            ("reviewset.yaml", "cases.jsonl", "answers.jsonl", "scores.csv")
        )
        path.write_bytes(spoiled(path.read_bytes(), chance))
    elif what == "yaml":
        info = {"format": 1, "name": "x", "models": [{"id": "m"}], "readers": [{"id": "ra"}]}
        info |= {"rubric": "rexecution", "images": "images/", "protocol": {"seed": 1}}
        (folder / "reviewset.yaml").write_text(
            json.dumps(changed(info, chance, 0.1)), encoding="utf-8", errors="replace"
        )
    else:
        table = chance.choice(("cases", "answers"))
        rows = [changed(row, chance, 0.05) for row in {"cases": CASES, "answers": ANSWERS}[table]]
        rows = [row if isinstance(row, dict) else {"id": row} for row in rows]
        write_rows(folder, table, rows, what)
    return what


def write_rows(folder, table, rows, what):
    if what == "rows":
        lines = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{table}.jsonl").write_text(lines, encoding="utf-8", errors="replace")
        return
    texts = [{key: json.dumps(value) for key, value in row.items()} for row in rows]
    frame = pl.DataFrame(
        {
            name: [row.get(name) for row in texts]
            for name in {key.encode("utf-8", "replace").decode() for row in texts for key in row}
        }
    )
    (folder / f"{table}.jsonl").unlink()
    if what == "csv":
        frame.write_csv(folder / f"{table}.csv")
    else:
        frame.write_parquet(folder / f"{table}.parquet")


def test_spoiled_sets_open_or_are_explained(tmp_path):
    chance = generator("sets")
    opened = refused = 0
    for number in rounds("sets", 60):
        folder = write_set(tmp_path / str(number))
        what = spoil_set(folder, chance)
        problems = check_review_set(folder)
        for problem in problems:
            assert problem.message, (number, what)
            assert str(folder) not in str(problem), (number, what)
        try:
            load_review_set(folder)
            opened += 1
        except ReviewSetError:
            refused += 1
    assert opened > 2
    assert refused > 5


def test_spoiled_sources_are_imported_or_explained(tmp_path):
    chance = generator("sources")
    made = (
        ("table", "a.csv", SCORES.encode()),
        ("table", "a.csv", "case;model;antwort\nc1;m;größer\n".encode("utf-16")),
        ("rexrank", "a.json", json.dumps({"s1": {"report": "Clear.", "images": []}}).encode()),
        (
            "coco",
            "a.json",
            b'{"images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 9}],'
            b'"annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],'
            b'"categories": [{"id": 1, "name": "effusion"}]}',
        ),
    )
    imported = refused = 0
    for number in rounds("sources", 40):
        kind, name, content = chance.choice(made)
        source = tmp_path / str(number) / name
        source.parent.mkdir()
        source.write_bytes(spoiled(content, chance) if number % 2 else content)
        if number % 4 == 0 and name.endswith("json"):
            source.write_text(
                json.dumps(changed(json.loads(content), chance)), "utf-8", errors="replace"
            )
        options = {"mapping": "proposed"} if kind == "table" else {}
        try:
            import_source(kind, [source], tmp_path / str(number) / "out", options=options)
            imported += 1
        except ImportSourceError as error:
            refused += 1
            assert error.problems  # noqa: PT017
    assert refused
    assert imported


@pytest.mark.parametrize("kind", ["yaml", "rubric", "settings"])
def test_spoiled_yaml_is_read_or_refused(tmp_path, kind):
    chance = generator(kind)
    config = "cache_mb: 5\nopen_under: [/tmp]\npeople: [{email: a@b, role: lead}]\n"
    sound = RUBRIC.read_bytes() if kind != "settings" else config.encode()
    path = tmp_path / "x.yaml"
    for _ in rounds(kind, 60):
        content = spoiled(sound, chance)
        if chance.random() < 0.3:
            content = repr(any_value(chance)).encode("utf-8", "replace")
        if chance.random() < 0.2:
            content += f"\nx: {any_text(chance)}".encode("utf-8", "replace")
        path.write_bytes(content)
        try:
            if kind == "yaml":
                parse_untrusted_yaml(content.decode("utf-8", "replace"))
            elif kind == "rubric":
                load_rubric.__wrapped__(path)
            else:
                load_settings([], {"REXVIEW_SET": any_text(chance)}, path)
        except (FileRefused, SettingsError) as error:
            assert str(error)  # noqa: PT017
