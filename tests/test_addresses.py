"""Addresses as they are written: read in any spelling, and refused with a sentence."""

from pathlib import Path

import pytest
from support.rows import each_row

from rexview.addresses import (
    display_set,
    is_address,
    parse_address,
    remote_set_address,
    remote_set_folder,
    set_display_name,
    set_place_key,
)
from rexview.errors import AddressRefused, SettingsError
from rexview.settings import load_settings


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("s3://Films/A b/ü?#x.dcm", "s3://films/A b/ü?#x.dcm"),
        ("HTTPS://Host:443/ä b.png", "https://host/%C3%A4%20b.png"),
        ("https://host/%C3%A4.png", "https://host/%C3%A4.png"),
        ("http://[::1]:8042/x", "http://[::1]:8042/x"),
        ("dicomweb+https://host:443/dicom-web/x", "dicomweb+https://host/dicom-web/x"),
    ],
)
def test_spellings(text, plain):
    assert parse_address(text).text == plain
    assert parse_address(plain).text == plain


@each_row(
    "text",
    [
        *("https://me:hidden@host/x", "s3://hidden@bucket/x", "https://host/x?hidden=1"),
        *("https://host/x#hidden", "https://host/../hidden", "https://host/%2e%2e/hidden"),
        *(
            "s3://bucket/a/../hidden",
            "s3:///hidden",
            "https://ho st/hidden",
            "https://host/a\\hidden",
        ),
        *("https://host/hidden\n", "s3://" + "hidden" * 500, "hidden"),
    ],
)
def test_what_is_refused_is_not_repeated(text):
    with pytest.raises(AddressRefused) as caught:
        parse_address(text)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "base", "inside"),
    [
        ("https://host/films/a.png", "https://host/films/", True),
        ("https://host/films/a.png", "https://host/films", True),
        ("https://host/films/a.png", "https://host/", True),
        ("https://host/films2/a.png", "https://host/films", False),
        ("https://host:8443/films/a.png", "https://host/films", False),
        ("http://host/films/a.png", "https://host/films", False),
        ("dicomweb+https://host/films/a.png", "https://host/films", False),
        ("https://host.evil/films/a.png", "https://host/films", False),
    ],
)
def test_what_lies_under_an_address(text, base, inside):
    assert parse_address(text).is_under(parse_address(base)) is inside


@pytest.mark.parametrize("address", ["s3://sets/my review", "s3://sets/a%2Fb/ü", "s3://sets"])
def test_the_folder_of_a_set_says_where_it_lies(tmp_path, address):
    folder = remote_set_folder(f"{address}/", tmp_path)
    assert folder.parent.parent == tmp_path
    assert remote_set_address(folder).text.rstrip("/") == address
    assert display_set(folder) == f"{address}/"
    assert set_display_name(folder) == address.rpartition("/")[2]
    assert set_place_key(folder) == set_place_key(remote_set_folder(address, Path("/elsewhere")))


def test_a_folder_of_this_computer_is_no_address(tmp_path):
    assert remote_set_address(tmp_path / "set") is None
    assert (display_set(tmp_path / "set"), set_display_name(tmp_path / "set")) == (
        f"{tmp_path}/set",
        "set",
    )
    assert not any(map(is_address, ("images/x.png", "C:\\x", "file:///x", "/x", "a:b")))


def test_too_long_an_address_is_told():
    with pytest.raises(AddressRefused, match="200 characters"):
        remote_set_folder("s3://sets/" + "x" * 300, Path("/cache"))


def test_hosts_in_the_settings(tmp_path):
    text = "s3://films/, https://host/a/\nhttps://host/b"
    hosts = load_settings([], {"REXVIEW_REMOTE_HOSTS": text}, tmp_path / "x").remote_hosts
    assert [one.text for one in hosts] == ["s3://films/", "https://host/a/", "https://host/b"]
    with pytest.raises(SettingsError) as caught:
        load_settings([], {"REXVIEW_REMOTE_HOSTS": "https://me:hidden@host/"}, tmp_path / "x")
    assert "REXVIEW_REMOTE_HOSTS" in str(caught.value)
    assert "hidden" not in str(caught.value)
