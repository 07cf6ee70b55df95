import json

import pytest
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from rexview.ui.web.streamlit_adapter.sign_in_cookie import claims_of, sign_in_origin

AUTH = {"redirect_uri": "https://review.example.org/oauth2callback", "cookie_secret": "a secret"}
CLAIMS = {"is_logged_in": True, "email": "anna@example.org", "origin": "https://review.example.org"}


@pytest.fixture(autouse=True)
def secrets(monkeypatch):
    monkeypatch.setattr(secrets_singleton, "load_if_toml_exists", lambda: True)
    monkeypatch.setattr(secrets_singleton, "_secrets", {"auth": AUTH})


def cookie(claims, secret="a secret", name=USER_COOKIE_NAME):
    value = create_signed_value(secret, name, json.dumps(claims))
    return {name: value.decode("latin-1")}


def test_a_cookie_of_streamlits_own_making_is_read():
    assert sign_in_origin() == "https://review.example.org"
    assert claims_of(cookie(CLAIMS)) == CLAIMS


@pytest.mark.parametrize(
    "cookies",
    [
        {},
        {USER_COOKIE_NAME: "changed"},
        {USER_COOKIE_NAME: "ä"},
        cookie(CLAIMS, secret="another secret"),
        cookie({**CLAIMS, "origin": "https://elsewhere.example"}),
        cookie([1]),
        cookie(CLAIMS, name="another"),
    ],
)
def test_any_other_cookie_says_nothing(cookies):
    assert claims_of(cookies) == {}
