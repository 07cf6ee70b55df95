"""What others give: paths, files and YAML are taken or refused with a sentence, and soon."""

import os
import socket
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rexview.errors import FileRefused
from rexview.untrusted_input import (
    MAX_YAML_DEPTH,
    MAX_YAML_VALUES,
    check_regular_file,
    parse_untrusted_yaml,
    read_file,
    read_typed_path,
    read_untrusted_yaml,
    safe_file_name,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@given(PLAIN)
def test_yaml_of_a_usual_size_is_read_as_it_was_written(value):
    assert parse_untrusted_yaml(yaml.safe_dump(value))[0] == value


@given(st.text() | st.from_regex(r"[-a&*!?:\[\]{}<>|, 1\n]{0,60}", fullmatch=True))
def test_any_text_is_read_or_refused(text):
    told = None
    try:
        parse_untrusted_yaml(text)
    except FileRefused as refusal:
        told = refusal
    assert told is None or str(told).endswith(".")
    assert told is None or told.line is None or told.line > 0


def test_aliases_count_as_often_as_they_repeat():
    often = MAX_YAML_VALUES // 1000
    thousand = "a: &a [" + "x," * 900 + "]\n"
    assert (
        len(parse_untrusted_yaml(thousand + "b: [" + "*a," * (often - 2) + "]")[0]["b"])
        == often - 2
    )
    with pytest.raises(FileRefused, match="more than 50,000 values") as caught:
        parse_untrusted_yaml(thousand + "b:\n" + "- *a\n" * (often * 2))
    assert caught.value.line > 2
    with pytest.raises(FileRefused, match="50,000"):  # merged keys multiply, too
        parse_untrusted_yaml("a0: &a0 {x: 1}\n" + "".join(
            f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 20)}]}}\n" for n in range(1, 9)
        ))  # fmt: skip


def test_depth_has_an_end():
    deep = MAX_YAML_DEPTH - 1
    assert parse_untrusted_yaml("[" * deep + "]" * deep)[0] is not None
    for text in ("[" * 100_000, "a: &a [*a]", "? " * 1000):
        with pytest.raises(FileRefused):
            parse_untrusted_yaml(text)


@pytest.mark.parametrize("name", ["/dev/zero", "pipe", "socket", ".", "large"])
@pytest.mark.parametrize("read", [lambda path: read_file(path, 10), read_untrusted_yaml])
def test_only_files_of_bounded_size_are_read(tmp_path, name, read, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(FileRefused):
            read(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no such system here")
def test_a_size_that_is_not_told_is_found_out():
    with pytest.raises(FileRefused, match="larger than"):
        read_file(Path("/proc/self/maps"), 10)


def test_a_link_to_a_device_is_a_device(tmp_path):
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(FileRefused, match="device or a pipe"):
        check_regular_file(tmp_path / "link", 10)


@pytest.mark.parametrize(
    "text",
    ["~nosuchuser/x", "a\0b", "a\nb", "x" * 5000, "x/" * 2500, "x" * 256, "\ud800", "loop/x"],
)
def test_a_path_that_cannot_be_is_refused(tmp_path, text, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileRefused):
        read_typed_path(text)


@given(st.text())
def test_any_text_is_a_path_or_refused(text):
    try:
        path = read_typed_path(text)
    except FileRefused:
        return
    path.exists()
    path.is_dir()
    path.resolve()


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("answers 2.csv", "answers 2.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\größe.CSV", "größe.CSV"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("..", "upload"),
        ("", "upload"),
        ("con.csv", "_con.csv"),
        ("NUL", "_NUL"),
        ("x" * 5000 + ".csv", "x" * 150 + ".csv"),
        ("\ud800.csv", "_.csv"),
    ],
)
def test_the_name_of_an_upload_leads_nowhere(given_name, kept):
    assert safe_file_name(given_name) == kept


@given(st.text())
def test_any_name_can_be_written(text):
    name = safe_file_name(text)
    assert 0 < len(os.fsencode(name)) <= 250
    assert Path(name).name == name
