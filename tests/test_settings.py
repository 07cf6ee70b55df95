import os

import pytest

from rexview.errors import SettingsError
from rexview.settings import DEMO_FOLDER, SPECS, Settings, load_settings


def test_the_demo_opens_when_nothing_is_given(tmp_path):
    settings = load_settings([], {}, tmp_path / "rexview.yaml")
    assert settings.review_set == DEMO_FOLDER
    assert settings.is_demo


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


def test_every_setting_can_be_set():
    assert {spec.name for spec in SPECS} == set(Settings.__dataclass_fields__)


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
