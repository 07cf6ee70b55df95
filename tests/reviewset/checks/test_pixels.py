"""``check --pixels``: every picture of a set decoded."""

import json

import numpy as np
import pytest
from PIL import Image
from support import ROOT

from rexview.errors import ImageError
from rexview.imaging import ImageFacts, read_facts
from rexview.imaging.decode_all import decode_all
from rexview.reviewset import check_review_set
from rexview.reviewset.picture_decoding import report_progress

GREY = (np.arange(48 * 64) % 251).astype(np.uint8).reshape(48, 64)


def damaged(path):
    Image.fromarray(GREY).save(path)
    content = bytearray(path.read_bytes())
    content[-14] ^= 0xFF  # the checksum of its pixels
    path.write_bytes(content)
    return path


def rotated(path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(GREY).save(path, exif=exif)


@pytest.fixture(name="pictures")
def pictures_fixture(tmp_path):
    """A set of pictures, of which most have something to be told of."""
    folder = tmp_path / "set"
    images = folder / "images"
    images.mkdir(parents=True)
    Image.fromarray(GREY).save(images / "plain.png")
    Image.fromarray(GREY).save(images / "really.png", "JPEG")
    Image.fromarray(GREY).save(images / "other-size.png")
    first, second = Image.fromarray(GREY), Image.fromarray(255 - GREY)
    first.save(images / "pages.tif", save_all=True, append_images=[second])
    damaged(images / "damaged.png")
    rotated(images / "turned.jpg")
    Image.new("1", (12_000, 12_000)).save(images / "bomb.png")
    (folder / "reviewset.yaml").write_text("format: 1\nname: Pictures\nmodels: [{id: m}]\n")
    cases = []
    for file in sorted(images.iterdir()):
        image = {"id": "1", "path": file.name, "view": "PA", "width": 64, "height": 48}
        if file.name == "other-size.png":
            image["width"] = 60
        cases.append({"id": file.name, "question": "Is there an effusion?", "images": [image]})
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    answers = [{"case": case["id"], "model": "m", "text": "Clear lungs."} for case in cases]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    return folder


def found(folder, **options):
    return {
        (problem.row, problem.field): problem.message
        for problem in check_review_set(folder, **options)
    }


def test_what_only_decoding_finds(pictures):
    names = sorted(file.name for file in (pictures / "images").iterdir())
    rows = {name: row for row, name in enumerate(names, start=1)}
    told = found(pictures, pixels=True)
    path, width = "images[0].path", "images[0].width"
    assert "checksums do not hold" in told.pop((rows["damaged.png"], path))
    assert "more than can be opened here" in told.pop((rows["bomb.png"], path))
    assert "2 frames or pages" in told.pop((rows["pages.tif"], path))
    assert "named as PNG and is JPEG" in told.pop((rows["really.png"], path))
    assert "asks to be shown turned" in told.pop((rows["turned.jpg"], path))
    assert "has 48 x 64 pixels; width and height say 64 x 48" in told.pop(
        (rows["turned.jpg"], width)
    )
    assert "has 64 x 48 pixels; width and height say 60 x 48" in told.pop(
        (rows["other-size.png"], width)
    )
    assert told == {}
    assert found(pictures) == {}


def test_an_address_is_not_looked_at(pictures):
    (pictures / "reviewset.yaml").write_text(
        "format: 1\nname: P\nmodels: [{id: m}]\nimages: https://nowhere/at-all\n"
    )
    assert [problem.message for problem in check_review_set(pictures, pixels=True)] == [
        "The images lie at an address; their pixels were not looked at."
    ]


def test_a_missing_picture_is_told_once(pictures):
    (pictures / "images" / "plain.png").unlink()
    messages = [
        one.message for one in check_review_set(pictures, pixels=True) if "plain.png" in one.message
    ]
    assert messages == ["There is no image file “plain.png”."]


def test_many_are_decoded_in_processes_as_few_are_here(tmp_path):
    paths = []
    for number in range(40):
        path = tmp_path / f"{number}é.png"
        Image.fromarray(np.roll(GREY, number)).save(path)
        paths.append(path)
    paths.append(damaged(tmp_path / "damaged.png"))
    rotated(tmp_path / "turned.jpg")
    paths += [tmp_path / "turned.jpg", tmp_path / "nothing.png"]
    told = []
    many = decode_all(paths, lambda done, total: told.append((done, total)))
    assert many.keys() == set(paths)
    assert told[-1] == (43, 43)
    assert [done for done, _ in told] == list(range(1, 44))
    few = decode_all(paths[-4:])
    for path, one in few.items():
        assert str(many[path]) == str(one)
    assert many[paths[0]] == read_facts(paths[0])
    assert isinstance(many[tmp_path / "turned.jpg"], ImageFacts)


def test_a_file_that_crashes_or_stalls_its_process_is_named(tmp_path, monkeypatch):
    """The worker is a program of ours that does to some files what a decoder could do to any."""
    from rexview.imaging import decode_all as module

    program = tmp_path / "worker.py"
    program.write_text(
        "import os, sys, time\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from rexview.imaging import decode_worker\n"
        "from rexview.imaging.dicom.libjpeg_worker import run\n"
        "def answer(request):\n"
        "    if b'crash.png' in request: os._exit(7)\n"
        "    if b'stall.png' in request: time.sleep(60)\n"
        "    return decode_worker.answer(request)\n"
        "run(answer)\n"
    )
    monkeypatch.setattr(module, "_WORKER", program)
    monkeypatch.setattr(module, "_SECONDS", 12.0)
    paths = [tmp_path / f"{name}.png" for name in (*range(20), "crash", "stall")]
    for path in paths:
        Image.fromarray(GREY).save(path)
    decoded = decode_all(paths)
    broken = {path.stem for path, one in decoded.items() if isinstance(one, ImageError)}
    assert broken == {"crash", "stall"}
    assert "crashes or does not end" in str(decoded[tmp_path / "crash.png"])


def test_a_picture_too_large_for_a_process_is_decoded_alone(tmp_path, monkeypatch):
    from rexview.imaging import decode_all as module

    monkeypatch.setattr(module, "_memory_limit", lambda: 4_000_000)
    Image.fromarray(np.tile(GREY, (20, 20))).save(tmp_path / "large.png")
    paths = [tmp_path / "large.png"]
    for number in range(20):
        Image.fromarray(GREY).save(tmp_path / f"{number}.png")
        paths.append(tmp_path / f"{number}.png")
    decoded = decode_all(paths)
    assert (decoded[paths[0]].width, decoded[paths[0]].height) == (1280, 960)
    assert all(isinstance(one, ImageFacts) for one in decoded.values())
    refused = decode_all(paths, max_pixels=1_000_000)[paths[0]]
    assert "more than can be opened here" in str(refused)


def test_progress_is_told_only_to_who_asks(pictures):
    told = []
    with report_progress(lambda done, total: told.append((done, total))):
        check_review_set(pictures, pixels=True)
    assert told == [(done, 7) for done in range(1, 8)]
    check_review_set(pictures, pixels=True)
    assert len(told) == 7
