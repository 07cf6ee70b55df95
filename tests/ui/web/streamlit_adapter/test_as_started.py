"""Streamlit's options as ``streamlit run`` would have them, and what a sign-in lacks."""

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web import bootstrap

from rexview.errors import SettingsError
from rexview.ui.web.streamlit_adapter.process import apply_options, sign_in_fault

AUTH = {
    "redirect_uri": "https://review.example.org/oauth2callback",
    "cookie_secret": "k" * 40,
    "client_id": "rexview",
    "client_secret": "hidden",
    "server_metadata_url": "https://login.example.org/metadata",
}


@pytest.fixture
def options_again():
    """Give the other tests the options back that they had."""
    yield
    config._main_script_path = None
    bootstrap.load_config_options({})


def test_options_come_from_words_environment_and_files(options_again, monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    words = ["--server.port", "8749", "--secrets.files=a.toml", "--", "my-review"]
    assert apply_options(words) == ("my-review",)
    assert st.get_option("server.port") == 8749
    assert st.get_option("server.address") == "0.0.0.0"
    assert list(st.get_option("secrets.files")) == ["a.toml"]
    assert st.get_option("server.fileWatcherType") == "none"


@pytest.mark.parametrize("words", [["--no.such"], ["--server.port", "x"], ["--help"]])
def test_what_streamlit_does_not_take_is_refused_in_a_sentence(words):
    with pytest.raises(SettingsError, match="streamlit run does not take these options"):
        apply_options(words)


@pytest.mark.parametrize("lacks", [None, *AUTH])
def test_a_field_that_a_sign_in_lacks_is_named(monkeypatch, lacks):
    given = {name: value for name, value in AUTH.items() if name != lacks}
    monkeypatch.setattr(secrets_singleton, "load_if_toml_exists", lambda: True)
    monkeypatch.setattr(secrets_singleton, "_secrets", {"auth": given})
    why = sign_in_fault()
    assert why == "" if lacks is None else lacks in why
    assert "hidden" not in why
