"""Which files of a model are taken, and what is said of those that are not."""

import json
import struct

import pytest
from support.runs.killed_run import write_cases

from rexview.cli import main
from rexview.models.backend import AttemptFailed, Card
from rexview.models.local import model_files as local_files
from rexview.models.local.model_files import (
    estimate_memory,
    find_model_files,
    free_memory,
    weight_bytes,
)

TENSORS = {"a": ("BF16", [10, 20]), "b": ("F32", [7]), "c": ("I8", [5])}
WIDTHS = {"BF16": 2, "F32": 4, "I8": 1}


def write_weights(path, tensors, *, cut=0):
    """Write a safetensors file of zeros, as its format says."""
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (kind, shape) in tensors.items():
        size = WIDTHS[kind]
        for side in shape:
            size *= side
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    words = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(words)) + words + bytes(end - cut))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "a-model"
    folder.mkdir()
    config = {"text_config": {"num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 64}}
    (folder / "config.json").write_text(json.dumps(config))
    write_weights(folder / "model.safetensors", TENSORS)
    return folder


def refused(model, **more):
    with pytest.raises(AttemptFailed) as caught:
        find_model_files(str(model), **more)
    assert caught.value.stops_all
    assert "\n" not in str(caught.value)
    return caught.value.kind, str(caught.value)


def test_weights_are_counted_from_the_headers(folder):
    found = find_model_files(str(folder))
    assert found.numbers == {"BF16": 200, "F32": 7, "I8": 5}
    assert found.stored == 200 * 2 + 7 * 4 + 5
    assert weight_bytes(found, "float32") == 207 * 4 + 5
    assert weight_bytes(found, "bfloat16") == 207 * 2 + 5


def test_parts_are_counted_together(folder):
    (folder / "model.safetensors").unlink()
    for name in "ab":
        write_weights(folder / f"{name}.safetensors", {name: TENSORS[name]})
    places = {"weight_map": {"a": "a.safetensors", "b": "b.safetensors"}}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps(places))
    assert find_model_files(str(folder)).numbers == {"BF16": 200, "F32": 7}
    (folder / "b.safetensors").unlink()
    assert "not whole: b.safetensors missing" in refused(folder)[1]
    index.write_text(json.dumps({"weight_map": {"a": "../a.safetensors"}}))
    assert "names no files" in refused(folder)[1]


def test_what_it_takes_is_said_with_what_is_free(folder):
    found = find_model_files(str(folder))
    said = estimate_memory(found, Card(("x",), images=2), 500, 8, None)
    # 2 for keys and values, 3 layers, 4 heads of 16 numbers of 4 bytes
    cache = 8 * (2000 + 2 * 1500 + 500) * 2 * 3 * 4 * 16 * 4
    assert said.cases == cache + said.weights // 5 + 500_000_000
    assert (said.dtype, said.fits, said.on_graphics) == ("float32", True, False)
    assert str(said).startswith("Needs about 0.6 GB of main memory, free: ")
    on_card = estimate_memory(found, Card(("x",)), 500, 8, ("memory of a card", 1000))
    assert (on_card.dtype, on_card.fits, on_card.on_graphics) == ("bfloat16", False, True)


def test_where_float32_does_not_fit_bfloat16_is_taken(tmp_path, folder):
    """A file that is one hole, of half the size of the memory that is free."""
    free = free_memory()
    if free is None:
        pytest.skip("this system does not say how much memory is free")
    count = int(free * 0.95) // 4
    head = {"w": {"dtype": "BF16", "shape": [count], "data_offsets": [0, 2 * count]}}
    words = json.dumps(head).encode()
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(words)) + words)
    with path.open("r+b") as file:
        file.truncate(8 + len(words) + 2 * count)
    said = estimate_memory(find_model_files(str(folder)), Card(("x",)), 500, 1, None)
    assert (said.dtype, said.fits) == ("bfloat16", True)
    assert "float32 does not fit" in str(said)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / "config.json").unlink(), "it has no config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json of"),
        (lambda folder: (folder / "config.json").write_text("[]"), "not what it should be"),
        (lambda folder: (folder / "model.safetensors").unlink(), "has no weights"),
        (lambda folder: write_weights(folder / "model.safetensors", TENSORS, cut=1), "cut short"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\xff" * 20), "cut short"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b""), "cut short"),
        (
            lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
            "pickle files, which can run code",
        ),
        (
            lambda folder: (folder / "config.json").rename(folder / "adapter_config.json"),
            "an adapter: merge it",
        ),
        (lambda folder: (folder / "config.json").rename(folder / "x.gguf"), "for llama.cpp"),
    ],
)
def test_what_is_not_taken_is_told(folder, damage, words):
    damage(folder)
    kind, said = refused(folder)
    assert kind == "setup"
    assert words in said


def test_a_folder_that_is_not_there(tmp_path):
    assert refused(tmp_path / "gone") == ("model", f"There is no folder {tmp_path / 'gone'}.")
    assert refused("../a/b/c")[0] == "model"


def test_a_package_that_is_not_there_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(local_files, "REQUIRED_PACKAGES", ("json", "no_such_package"))
    folder = write_cases(tmp_path / "set", 1)
    assert main(["run", str(folder), "--model", "x/y", "--api", "transformers"]) == 2
    said = capsys.readouterr().err.strip()
    assert said == (
        "Models on this machine need no_such_package, not installed here: "
        "pip install -r requirements-models.txt"
    )
    assert not (folder / "runs").exists()
