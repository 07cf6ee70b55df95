"""Why there is no answer: kind, what to do, whether to ask again, and no key anywhere."""

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from support.model_server import started
from support.model_server.asked import KEY, make_request
from support.rows import each_row

from rexview.models.backend import AttemptFailed, Parameters, RateLimits
from rexview.models.endpoints.endpoint import Endpoint


def failed(came):
    assert isinstance(came, AttemptFailed), came
    assert "\n" not in str(came)
    assert len(str(came)) < 500
    return came


def error(status, code=None, message="Something.", **more):
    return {"error": {"status": status, "code": code, "message": message, **more}}


CASES = [  # turn, kind, again, stops_all, maybe_paid
    (error(429, "rate_limit_exceeded"), "rate_limit", True, False, False),
    (error(429, "insufficient_quota"), "rate_limit", False, True, False),
    (error(401, "invalid_api_key"), "key", False, True, False),
    (error(403, "unsupported_country"), "key", False, True, False),
    (error(404, "model_not_found"), "model", False, True, False),
    (error(404, None, "The model `gpt-5-mini` does not exist."), "model", False, True, False),
    (
        error(400, None, "Server is pinned to 'x'; requested 'gpt-5-mini'."),
        "model",
        False,
        True,
        False,
    ),
    (
        error(404, None, 'model "gpt-5-mini" not found, try pulling it first'),
        "model",
        False,
        True,
        False,
    ),
    (
        error(400, None, "The model gpt-5-mini does not support seeds."),
        "request",
        False,
        False,
        False,
    ),
    (error(400, None, "Model gpt-5-mini takes no images."), "image", False, False, False),
    (
        error(429, None, "Request too large for gpt-5-mini: Limit 30000"),
        "request",
        False,
        False,
        False,
    ),
    (error(404, None, "Not Found"), "request", False, True, False),
    (error(400, "invalid_image_format"), "image", False, False, False),
    (error(400, "image_too_large"), "image", False, False, False),
    (error(400, None, "This model has no vision."), "image", False, False, False),
    (error(400, "context_length_exceeded"), "request", False, False, False),
    (error(400, None, "Unsupported value: temperature"), "request", False, False, False),
    (error(413), "request", False, False, False),
    (error(408), "timeout", True, False, True),
    (error(500), "server", True, False, False),
    (error(503), "server", True, False, False),
    (error(504), "server", True, False, True),
    (error(307, headers={"location": "http://127.0.0.1:1/v1"}), "request", False, True, False),
    ({"html": True}, "server", True, False, True),
    ({"html": True, "status": 200}, "request", False, True, False),
    ({"garbage": True}, "server", True, False, True),
    ({"cut": "before"}, "network", True, False, True),
    ({"cut": "middle"}, "network", True, False, True),
    ({"body": {"error": {"code": "server_error", "message": "Oh."}}}, "server", True, False, True),
    ({"body": [1, 2]}, "server", True, False, True),
]


@pytest.mark.parametrize(("turn", "kind", "again", "stops_all", "maybe_paid"), CASES)
def test_what_a_failure_is(ask, turn, kind, again, stops_all, maybe_paid):
    came = failed(ask(turn))
    assert (came.kind, came.again, came.stops_all, came.maybe_paid) == (
        kind,
        again,
        stops_all,
        maybe_paid,
    )


@pytest.mark.parametrize("api", ["responses"], indirect=True)
@pytest.mark.parametrize(
    ("code", "kind", "again"),
    [
        ("server_error", "server", True),
        ("rate_limit_exceeded", "rate_limit", True),
        ("invalid_image", "image", False),
        ("failed_to_download_image", "image", False),
        ("vector_store_timeout", "server", True),
    ],
)
def test_errors_within_a_response(ask, code, kind, again):
    came = failed(ask({"failed": {"code": code, "message": "It failed."}}))
    assert (came.kind, came.again) == (kind, again)
    assert came.raw["body"]["error"]["code"] == code


@pytest.mark.parametrize("turn", [{"delay_s": 5}, {"trickle_s": 5}], ids=["silent", "trickling"])
def test_an_attempt_ends_in_time(ask, turn):
    came = failed(ask(turn, timeout_s=0.5))
    assert (came.kind, came.again, came.maybe_paid) == ("timeout", True, True)
    assert "0.5 s" in str(came)


def test_limits_and_waits_come_from_headers(ask):
    told = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1m2.5s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "20ms",
    }
    came = failed(ask(error(429, retry_after=1.5, headers=told)))
    assert came.retry_after_s == 1.5
    assert came.limits == RateLimits(0, 62.5, 149984, 0.02)
    came = failed(ask(error(429, headers={"retry-after-ms": "250"})))
    assert came.retry_after_s == 0.25
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 90 < failed(ask(error(503, retry_after=later))).retry_after_s <= 100
    assert failed(ask(error(503, retry_after="soon"))).retry_after_s is None
    assert failed(ask(error(503, retry_after="nan"))).retry_after_s is None


def test_keys_stand_nowhere(ask):
    other = "hf_ABCDEFGHIJKLMNOP"
    told = f"Incorrect API key provided: {{key}}; Bearer {KEY}, {other}, sk-abc****xyz"
    for status in (400, 401, 429, 500):
        came = failed(ask(error(status, None, told)))
        everything = str(came) + json.dumps(came.raw)
        assert KEY not in everything
        assert other not in everything
        assert "sk-abc" not in everything


def test_words_of_servers_are_short_and_on_one_line(ask):
    came = failed(ask(error(400, None, "a\x1b[31m\n" + "b" * 100_000)))
    assert "\x1b" not in str(came)
    assert len(json.dumps(came.raw)) < 50_000


def test_more_than_is_taken_is_refused(ask, monkeypatch):
    monkeypatch.setattr(Endpoint, "most_bytes", 1000)
    came = failed(ask({"huge": 10_000}))
    assert (came.kind, came.again, came.maybe_paid) == ("server", False, True)
    came = failed(ask(error(500, None, "b" * 10_000)))
    assert came.kind == "server"


@pytest.mark.parametrize(
    ("words", "advice"),
    [  # as vLLM says it
        ("max_tokens=5000 cannot be greater than max_model_len=2048.", "--max-output-tokens"),
        ("max_output_tokens=5000 cannot be greater than max_model_len.", "--max-output-tokens"),
        ("This model's maximum context length is 2048 tokens.", "fewer images"),
        ("At most 2 image(s) may be provided in one prompt.", "an image"),
    ],
)
def test_the_message_says_what_to_do(ask, words, advice):
    assert advice in str(failed(ask(error(400, None, words))))


def test_nobody_there(api):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        told = Parameters("m", api, url)
        endpoint = Endpoint(told)
        came = failed(endpoint.ask([make_request(told)])[0])
        endpoint.close()
    assert (came.kind, came.again, came.stops_all, came.maybe_paid) == (
        "network",
        True,
        False,
        False,
    )


def test_unknown_models_and_wrong_keys(api):
    with started(models=("other",), keys=("right",)) as server:
        told = Parameters("gpt-5-mini", api, server.base_url)
        for key, kind in (("wrong", "key"), (None, "key"), ("right", "model")):
            endpoint = Endpoint(told, key=key, key_name="MY_KEY")
            came = failed(endpoint.ask([make_request(told)])[0])
            endpoint.close()
            assert (came.kind, came.stops_all) == (kind, True)
            assert kind == "model" or "MY_KEY" in str(came)


@each_row(
    ("parameters", "key", "kind"),
    [
        ({"base_url": "ftp://host/v1"}, None, "setup"),
        ({"base_url": "host/v1"}, None, "setup"),
        ({"base_url": "https://name:word@host/v1"}, None, "setup"),
        ({"base_url": "https://host/v1?key=1"}, None, "setup"),
        ({"base_url": "https://host/v1/chat/completions"}, None, "setup"),
        ({"base_url": "https://host:99999/v1"}, None, "setup"),
        ({"base_url": "https://host\n/v1"}, None, "setup"),
        ({"base_url": None}, None, "key"),
        ({"base_url": "http://localhost/v1"}, "a key\n", "key"),
        ({"base_url": "http://localhost/v1", "seed": 1}, None, "setup"),
        ({"base_url": "http://localhost/v1", "api": "transformers"}, None, "setup"),
        ({"base_url": "http://localhost/v1", "timeout_s": 0}, None, "setup"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(parameters, key, kind):
    with pytest.raises(AttemptFailed) as refused:
        Endpoint(Parameters(**{"model": "m", "api": "responses", **parameters}), key=key)
    assert (refused.value.kind, refused.value.stops_all) == (kind, True)
    assert "word" not in str(refused.value).replace("password", "")


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://localhost:8000/v1", False),
        ("http://127.0.0.1/v1/", False),
        ("http://[::1]:8000/v1", False),
        ("http://10.1.2.3/v1", False),
        ("http://gpu-box:8000/v1", False),
        ("http://203.0.114.7/v1", True),
        ("http://models.example.org/v1", True),
        ("https://models.example.org/v1", False),
    ],
)
def test_plain_http_to_the_world_is_warned_of(url, warned):
    endpoint = Endpoint(Parameters("m", "chat", url))
    assert bool(endpoint.warnings) == warned
    endpoint.close()


@pytest.mark.parametrize(
    ("url", "key", "name", "warned"),
    [
        (None, "sk-proj-0123456789", "OPENAI_API_KEY", False),
        ("https://models.example.org/v1", "sk-proj-0123456789", "OPENAI_API_KEY", True),
        ("http://gpu-box:8000/v1", "sk-proj-0123456789", "OPENAI_API_KEY", True),
        ("http://localhost:8000/v1", "sk-proj-0123456789", "OPENAI_API_KEY", True),
        ("http://gpu-box:8000/v1", "none", "OPENAI_API_KEY", False),
        ("http://gpu-box:8000/v1", "sk-0123456789", "GPU_BOX_KEY", False),
    ],
)
def test_a_key_that_may_be_openais_goes_elsewhere_only_with_a_word(url, key, name, warned):
    endpoint = Endpoint(Parameters("m", "chat", url), key=key, key_name=name)
    assert any(f"The key in {name} goes to" in words for words in endpoint.warnings) == warned
    assert not any(key in words for words in endpoint.warnings)
    endpoint.close()
