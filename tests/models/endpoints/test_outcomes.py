"""Every outcome of either API is kept as what it is, and the raw text with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.model_server.bodies import picture_back

from rexview.models.backend import OUTCOMES, AttemptFailed, Parameters, Reply, Usage
from rexview.models.endpoints.endpoint import Endpoint

WORDS = "The heart is of normal size and there is no effusion at all."


def kept(came):
    assert isinstance(came, Reply), came
    return came


@pytest.mark.parametrize(
    ("turn", "limit", "outcome", "text", "words"),
    [
        ({"text": WORDS}, 100, "answered", WORDS, ("completed", "stop")),
        ({"text": WORDS}, None, "answered", WORDS, ("completed", "stop")),
        ({"text": WORDS}, 3, "cut_off", "The heart is", ("max_output_tokens", "length")),
        (
            {"text": WORDS, "silent_limit": True},
            3,
            "cut_off",
            "The heart is",
            ("completed", "stop"),
        ),
        ({"reasoning": 50}, 40, "reasoning_used_limit", "", ("max_output_tokens", "length")),
        (
            {"reasoning": 50, "text": "", "silent_limit": True},
            None,
            "reasoning_used_limit",
            "",
            ("completed", "stop"),
        ),
        ({"reasoning": 5, "text": WORDS}, 100, "answered", WORDS, ("completed", "stop")),
        ({"reasoning": 5, "text": ""}, 100, "empty", "", ("completed", "stop")),
        ({"refusal": "I cannot help."}, 100, "refused", "I cannot help.", ("completed", "stop")),
        ({"filtered": True}, 100, "filtered", "", ("content_filter", "content_filter")),
        (
            {"filtered": True, "text": "The heart"},
            100,
            "filtered",
            "The heart",
            ("content_filter", "content_filter"),
        ),
        ({"incomplete": "steered"}, 100, "incomplete", None, ("steered", "steered")),
        ({"text": " \n"}, 100, "empty", " \n", ("completed", "stop")),
        ({"text": '{"answer": "no'}, 100, "answered", '{"answer": "no', ("completed", "stop")),
    ],
)
def test_outcome_text_and_the_servers_own_word(ask, api, turn, limit, outcome, text, words):
    reply = kept(ask(turn, max_output_tokens=limit))
    assert reply.outcome == outcome
    assert text is None or reply.text == text
    assert reply.finish_reason == words[0 if api == "responses" else 1]
    assert (reply.refusal is None) == (outcome != "refused")


def test_what_a_policy_blocked_is_filtered_and_final(ask):
    for code in ("content_filter", "invalid_prompt", "image_content_policy_violation"):
        error = {"status": 400, "code": code, "message": "Blocked."}
        reply = kept(ask({"error": error}))
        assert (reply.outcome, reply.text, reply.finish_reason) == ("filtered", "", code)
        assert reply.raw["error"]["message"] == "Blocked."


@pytest.mark.parametrize("api", ["responses"], indirect=True)
def test_only_final_messages_are_the_answer(ask):
    said = [("commentary", "Hm. "), (None, "No "), ("final_answer", "effusion."), ("thinking", "!")]
    reply = kept(ask({"messages": [{"phase": phase, "text": text} for phase, text in said]}))
    assert reply.text == "No effusion."
    texts = [item["content"][0]["text"] for item in reply.raw["output"]]
    assert texts == ["Hm. ", "No ", "effusion.", "!"]


@pytest.mark.parametrize("api", ["responses"], indirect=True)
def test_pictures_that_come_back_are_kept_apart_from_the_body(ask):
    reply = kept(ask({"pictures": 2, "text": ""}))
    assert reply.outcome == "answered"
    assert reply.pictures == (picture_back(0), picture_back(1))
    results = [item["result"] for item in reply.raw["output"][1:]]
    assert all(result.startswith("[picture ") for result in results)


@pytest.mark.parametrize("api", ["chat"], indirect=True)
@pytest.mark.parametrize(
    ("choice", "outcome", "text", "word"),
    [
        ({"message": {"content": "A"}, "done_reason": "length"}, "cut_off", "A", "length"),
        ({"message": {"content": "A"}, "finish_reason": "eos_token"}, "answered", "A", "eos_token"),
        ({"message": {"content": "A"}, "finish_reason": "abort"}, "incomplete", "A", "abort"),
        ({"message": {"content": "A", "refusal": ""}}, "answered", "A", None),
        (
            {"message": {"content": "", "reasoning_content": "Hm"}, "finish_reason": "length"},
            "reasoning_used_limit",
            "",
            "length",
        ),
        (
            {"message": {"content": [{"type": "text", "text": "A"}, {"text": "B"}, 3]}},
            "answered",
            "AB",
            None,
        ),
        ({"message": None}, "empty", "", None),
        ("nonsense", "empty", "", None),
    ],
)
def test_what_other_servers_send(ask, choice, outcome, text, word):
    reply = kept(ask({"body": {"choices": [choice], "usage": {"prompt_tokens": True}}}))
    assert (reply.outcome, reply.text, reply.finish_reason) == (outcome, text, word)
    assert reply.usage == Usage()


@pytest.mark.parametrize("api", ["responses"], indirect=True)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": None, "status": 7, "usage": [], "model": {}},
        {"output": ["x", None, {"type": "message", "content": "text"}], "status": "completed"},
        {"output": [{"type": "message", "content": [{"text": 5}]}], "usage": {"input_tokens": -1}},
    ],
)
def test_bodies_of_any_shape_are_empty_answers_and_kept(ask, body):
    reply = kept(ask({"body": body}))
    assert (reply.outcome, reply.text, reply.usage) == ("empty", "", Usage())
    assert reply.raw.keys() >= body.keys()


def test_usage_names_and_service_are_kept(ask):
    reply = kept(ask({"text": WORDS, "reasoning": 7, "cached": 5, "served_as": "gpt-5-mini-2026"}))
    assert reply.usage.reasoning == 7
    assert reply.usage.cached == 5
    assert reply.usage.input > 30
    assert reply.usage.output > 7
    assert reply.model_served == "gpt-5-mini-2026"
    assert reply.service_tier == "default"
    assert reply.request_id.startswith("req_")
    assert reply.latency_s > 0
    without = kept(ask({"text": WORDS, "no_usage": True}, max_output_tokens=100))
    assert (without.outcome, without.usage) == ("answered", Usage())


def test_a_huge_answer_is_kept_whole(ask):
    reply = kept(ask({"huge": 5_000_000}))
    assert (reply.outcome, len(reply.text)) == ("answered", 5_000_000)


def test_half_a_surrogate_pair_can_be_written(ask, api):
    parts = {"output": [{"type": "message", "content": [{"text": "a\ud800b \U0001fac1"}]}]}
    chat = {"choices": [{"message": {"content": "a\ud800b \U0001fac1"}}]}
    reply = kept(ask({"body": parts if api == "responses" else chat}))
    assert reply.text.encode().decode() == "a?b \U0001fac1"


READERS: dict[str, Endpoint] = {}
NAMES = st.sampled_from(
    [
        *("output", "choices", "error", "status", "usage", "type", "content", "text", "message"),
        *("phase", "refusal", "result", "code", "finish_reason", "incomplete_details", "reason"),
        *("image_url", "url", "images", "output_tokens", "output_tokens_details", "innererror"),
    ]
)
WORDS_SENT = st.sampled_from(
    ["message", "failed", "completed", "image_generation_call", "data:image/png;base64,AAAA", "AAA"]
)
SENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS_SENT | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


def reader(told):
    if told.api not in READERS:
        READERS[told.api] = Endpoint(told)
    return READERS[told.api]


@given(body=SENT, status=st.sampled_from([200, 200, 200, 400, 404, 429, 500]), chat=st.booleans())
def test_nothing_that_a_server_sends_raises(body, status, chat):
    told = Parameters("m", "chat" if chat else "responses", "http://localhost/v1")
    came = reader(told).read(status, body, {})
    if isinstance(came, Reply):
        assert came.outcome in OUTCOMES
        assert isinstance(came.text, str)
        json.dumps(came.raw)
    else:
        assert isinstance(came, AttemptFailed)
        assert "\n" not in str(came)
        json.dumps(came.raw)


@pytest.fixture(autouse=True, scope="module")
def closed_at_the_end():
    yield
    for endpoint in READERS.values():
        endpoint.close()
