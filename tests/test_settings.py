import os

import pytest

from rexview.errors import SettingsError
from rexview.settings import DEMO_FOLDER, SETTING_SPECS, Settings, load_settings


def test_the_demo_opens_when_nothing_is_given(tmp_path):
    settings = load_settings([], {}, tmp_path / "rexview.yaml")
    assert settings.review_set == DEMO_FOLDER


def test_command_line_beats_environment_beats_file(tmp_path):
    config = tmp_path / "rexview.yaml"
    config.write_text(f"review_set: {tmp_path}/file\ncache_mb: 5\n")
    environ = {"REXVIEW_SET": str(tmp_path / "environment")}
    assert load_settings([], {}, config).review_set == tmp_path / "file"
    assert load_settings([], environ, config).review_set == tmp_path / "environment"
    both = load_settings([str(tmp_path / "argument")], environ, config)
    assert both.review_set == tmp_path / "argument"
    assert both.cache_mb == 5


def test_several_folders_may_be_opened_from(tmp_path):
    text = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])
    assert load_settings([], {"REXVIEW_OPEN_UNDER": text}, tmp_path / "x").open_under == (
        tmp_path / "a",
        tmp_path / "b",
    )


def test_every_wrong_value_is_named_at_once(tmp_path):
    config = tmp_path / "rexview.yaml"
    config.write_text("cache_mb: many\ncolour: red\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(["a", "b"], {"REXVIEW_GAP": "9"}, config)
    text = str(caught.value)
    for part in ("cache_mb", "'many'", "colour", "REXVIEW_GAP", "at most 4", "one review set"):
        assert part in text


@pytest.mark.parametrize("content", ["- a\n- b\n", "a: [", "\ufffe"])
def test_a_file_that_is_not_settings_is_refused(tmp_path, content):
    config = tmp_path / "rexview.yaml"
    config.write_text(content, encoding="utf-16")
    with pytest.raises(SettingsError, match=r"rexview\.yaml"):
        load_settings([], {}, config)


@pytest.mark.parametrize(
    "text", ["~nosuchuser/x", "a\0b", "x" * 5000, "x/" * 2500, "\ud800", "a\nb"]
)
@pytest.mark.parametrize("name", ["REXVIEW_SET", "REXVIEW_CACHE", "REXVIEW_OPEN_UNDER", "argument"])
def test_what_no_folder_can_be_called_is_named_with_the_reason(tmp_path, text, name):
    environ = {} if name == "argument" else {name: text}
    arguments = [text] if name == "argument" else []
    with pytest.raises(
        SettingsError, match=r"cannot be used: (The path|There is no user)"
    ) as caught:
        load_settings(arguments, environ, tmp_path / "rexview.yaml")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "content",
    [
        "a: " + "[" * 3000,
        "cache_mb: 1" + ":1" * 400_000,
        "x: !!bool maybe",
        "x: !!timestamp soon",
        "x: 2020-13-45",
        "- &a [*a]",
        "gap_threshold: " + "9" * 500,
        "x: " + "y" * 2_000_000,
    ],
)
def test_settings_that_would_never_be_read_are_refused_at_once(tmp_path, content):
    config = tmp_path / "rexview.yaml"
    config.write_text(content)
    with pytest.raises(SettingsError, match=r"rexview\.yaml"):
        load_settings([], {}, config)
    with pytest.raises(SettingsError, match="REXVIEW_PEOPLE: the value cannot be used"):
        load_settings([], {"REXVIEW_PEOPLE": content}, tmp_path / "none.yaml")


def test_settings_are_a_file_and_nothing_else(tmp_path):
    config = tmp_path / "rexview.yaml"
    config.symlink_to("/dev/zero")
    with pytest.raises(SettingsError, match="device or a pipe"):
        load_settings([], {}, config)
    config.unlink()
    config.mkdir()
    with pytest.raises(SettingsError, match="folder"):
        load_settings([], {}, config)


def test_every_setting_can_be_set():
    assert {spec.name for spec in SETTING_SPECS} == set(Settings.__dataclass_fields__)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("https://review.example.org", "https://review.example.org"),
        ("https://Review.Example.org:443/", "https://review.example.org"),
        ("http://10.0.0.5:8501", "http://10.0.0.5:8501"),
        ("http://[fd00::1]:8501", "http://[fd00::1]:8501"),
    ],
)
def test_the_public_address_is_where_browsers_find_the_server(tmp_path, given, read):
    found = load_settings([], {"REXVIEW_PUBLIC_ADDRESS": given}, tmp_path / "x")
    assert found.public_address == read


@pytest.mark.parametrize(
    "given",
    [
        *("review.example.org", "https://", "ftp://a.example", "https://a.example/review"),
        *("https://a:b@c.example", "https://a.example?x", "https://a.example:x", "https://[a"),
    ],
)
def test_a_public_address_that_is_none_is_refused(tmp_path, given):
    with pytest.raises(SettingsError, match="REXVIEW_PUBLIC_ADDRESS"):
        load_settings([], {"REXVIEW_PUBLIC_ADDRESS": given}, tmp_path / "x")
