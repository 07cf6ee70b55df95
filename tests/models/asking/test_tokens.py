"""Estimates of what a request is, against OpenAI's worked examples and what a server bills."""

from dataclasses import replace

import pytest
from support.model_server import started

from rexview.models.asking.model_cards import find_card
from rexview.models.asking.token_estimate import image_tokens, input_tokens
from rexview.models.backend import SentImage
from rexview.models.endpoints.endpoint import Endpoint


def picture(width, height, detail="high"):
    return SentImage("i", b"", "image/png", width, height, width, height, detail=detail)


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        # the examples in "Images and vision", calculating costs
        ("gpt-4o", (1024, 1024), "high", 85 + 4 * 170),
        ("gpt-4o", (2048, 4096), "high", 85 + 6 * 170),
        ("gpt-4o", (4096, 8192), "low", 85),
        ("gpt-4.1-mini", (1024, 1024), "high", 1659),  # 1024 patches, times 1.62
        ("gpt-4.1-mini", (1800, 2400), "high", 2353),  # 33 x 44 patches, times 1.62
        # 256 for any picture, by the model's card
        ("medgemma-1.5-4b-it", (896, 896), None, 256),
        # width * height / 750, by Claude's documentation: about 1334 for a megapixel
        ("claude-sonnet-4", (1000, 1000), None, 1334),
    ],
)
def test_pictures_by_the_rules_of_their_makers(model, size, detail, tokens):
    assert image_tokens(picture(*size, detail), find_card(model)) == tokens


@pytest.mark.parametrize("model", ["gpt-5-mini", "gpt-5", "gpt-4o", "gpt-4.1", "gpt-4.1-nano"])
def test_a_request_is_within_15_per_cent_of_what_is_billed(case, ask, model):
    with started() as server:
        request, card = ask(case, model)
        parameters = replace(request.parameters, base_url=server.base_url)
        endpoint = Endpoint(parameters, key="sk-test-0123456789", connections=1)
        try:
            [reply] = endpoint.ask([replace(request, parameters=parameters)])
        finally:
            endpoint.close()
    assert input_tokens(request, card) == pytest.approx(reply.usage.input, rel=0.15)
