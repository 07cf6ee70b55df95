"""The scripted server itself: its shapes are the openai package's, its bills OpenAI's rules."""

import base64
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from openai.types import Batch, FileObject
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from support.model_server import billing, started, started_apart
from support.model_server.bodies import picture_back
from support.rows import each_row

URL = "data:image/png;base64," + base64.b64encode(picture_back(0)).decode()
RESPONSES = {
    "model": "gpt-5-mini",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Is there a pneumothorax?"},
                {"type": "input_image", "image_url": URL, "detail": "high"},
            ],
        }
    ],
}
CHAT = {
    "model": "gpt-5-mini",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Is there a pneumothorax?"},
                {"type": "image_url", "image_url": {"url": URL, "detail": "high"}},
            ],
        }
    ],
}
TURNS = [
    {},
    {"text": "No pneumothorax."},
    {"json": {"answer": "No"}},
    {"refusal": "I cannot help with that."},
    {"filtered": True},
    {"incomplete": "content_filter"},
    {"reasoning": 5},
    {"messages": [{"phase": "commentary", "text": "Hm."}, {"phase": "final_answer", "text": "A"}]},
    {"pictures": 2},
    {"cached": 3},
    {"boxes": {"at": [[1, 2, 3, 4]], "convention": "normalised_1000", "corners": "yxyx"}},
]
FAILED = {"failed": {"code": "invalid_image", "message": "The image is not valid."}}


def post(server, path, body):
    """Return status, headers and body."""
    request = urllib.request.Request(server.base_url + path, json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.status, error.headers, json.load(error)


@each_row("turn", [*TURNS, FAILED], ids=lambda turn: next(iter(turn), "made up"))
def test_bodies_are_what_the_openai_package_expects(turn):
    limited = {"max_output_tokens": 3, **RESPONSES}
    with started([{"turns": [turn]}]) as server:
        for body in (RESPONSES, limited):
            Response.model_validate(post(server, "/responses", body)[2], strict=True)
        if turn != FAILED:
            ChatCompletion.model_validate(post(server, "/chat/completions", CHAT)[2], strict=True)


def test_files_and_batches_are_what_the_openai_package_expects():
    with started(batch_polls=1) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0)
        line = {"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": RESPONSES}
        file = client.files.create(file=json.dumps(line).encode(), purpose="batch")
        FileObject.model_validate(file.model_dump(), strict=True)
        batch = client.batches.create(
            input_file_id=file.id, endpoint="/v1/responses", completion_window="24h"
        )
        seen = [batch.status]
        while batch.status not in ("completed", "failed"):
            batch = client.batches.retrieve(batch.id)
            Batch.model_validate(batch.model_dump(), strict=True)
            seen.append(batch.status)
        assert seen == ["validating", "in_progress", "completed"]
        row = json.loads(client.files.content(batch.output_file_id).content)
        assert row["custom_id"] == "a"
        Response.model_validate(row["response"]["body"], strict=True)
        client.close()


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [  # the examples of OpenAI's guide
        ("gpt-4o", (1024, 1024), "high", 765),
        ("gpt-4o", (2048, 4096), "high", 1105),
        ("gpt-4o", (4096, 8192), "low", 85),
        ("gpt-5", (1024, 1024), "high", 70 + 4 * 140),
        ("gpt-4.1-mini", (1024, 1024), None, 1659),
        ("gpt-4.1-mini", (1800, 2400), None, 2353),
        ("gpt-5-nano", (64, 48), None, 10),
    ],
)
def test_pictures_cost_what_openai_documents(model, size, detail, tokens):
    assert billing.image_tokens(model, *size, detail) == tokens


def test_texts_are_cut_into_tokens_without_loss():
    text = "Opacity (3.5 cm) in the costophrenic  angle,\n\nno_change. Übergröße 肺炎 \t"
    assert "".join(billing.pieces(text)) == text


def test_turns_go_by_how_often_a_request_came():
    rule = {"match": "pneumothorax", "turns": [{"error": {"status": 500}, "times": 2}, {}]}
    with started([rule]) as server:
        statuses = [post(server, "/chat/completions", CHAT)[0] for _ in range(3)]
        assert statuses == [500, 500, 200]
        assert [entry["turn"] for entry in server.requests()] == [0, 1, 2]
        assert server.ledger()["totals"]["output"] > 0


def test_limits_are_told_and_held():
    with started(requests_a_minute=2) as server:
        answers = [post(server, "/responses", RESPONSES) for _ in range(3)]
        assert [status for status, _, _ in answers] == [200, 200, 429]
        headers = answers[2][1]
        assert 0 < float(headers["retry-after"]) <= 30
        assert headers["x-ratelimit-remaining-requests"] == "0"
        assert headers["x-ratelimit-reset-requests"].endswith("s")


def test_a_thousand_requests_at_32_at_once():
    with started_apart() as server, ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda _: post(server, "/responses", RESPONSES), range(1000)))
        assert {status for status, _, _ in answers} == {200}
        assert server.ledger()["totals"]["requests"] == 1000
