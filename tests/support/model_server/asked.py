"""A request to ask the server, as the product makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rexview.models.backend import ModelRequest, Parameters, SentImage
from support.model_server.bodies import picture_back

PICTURE = SentImage("pa", picture_back(0), "image/png", 64, 48, 64, 48, view="PA", detail="high")
KEY = "sk-test-0123456789abcdef"


def make_request(
    parameters: Parameters, case: str = "c1", schema: Mapping[str, Any] | None = None
) -> ModelRequest:
    """Return a question with one picture."""
    parts = ("PA view:", PICTURE, f"Is there a pneumothorax? ({case})")
    return ModelRequest(case, 1, "You are a radiologist.", parts, parameters, "p-1", "00", schema)
