"""What a model can do, as data: built in, and in files that people edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rexview.models.request import Api
from rexview.written_boxes.forms import BoxForm


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens, with the date of the table and where it is from.

    ``batch`` is what part of it a request in a batch costs, None where that is not known.
    """

    input: float
    output: float
    cached: float | None = None
    batch: float | None = None
    date: str = ""
    source: str = ""


@dataclass(frozen=True)
class Card:
    """One model, or all whose name matches.

    Attributes
    ----------
    match
        Patterns of model names (``fnmatch``), tried in order; the first card that fits counts.
    images
        How many pictures it takes at most; 0 is none.
    all_views
        Whether all views are sent, or only the key frontal one.
    priors
        Whether it compares with an earlier study.
    draws_boxes
        Whether it is asked for boxes.
    pictures_back
        Whether it can return pictures.
    longest_side, most_pixels, square, image_format, jpeg_quality, detail
        How pictures are sent: at most so many pixels a side and in all, padded to a square, ``png``
        or ``jpeg`` of a quality from 1 to 100, the API's word for detail.
    image_tokens
        How pictures are counted: ``rule`` and its numbers (:mod:`rexview.models.asking.tokens`).
    """

    match: tuple[str, ...]
    name: str = ""
    api: Api = "responses"
    images: int = 1
    all_views: bool = False
    priors: bool = False
    draws_boxes: bool = False
    pictures_back: bool = False
    structured: bool = False
    boxes: BoxForm = field(default_factory=BoxForm)
    longest_side: int | None = 2048
    most_pixels: int | None = None
    square: bool = False
    image_format: Literal["png", "jpeg"] = "png"
    jpeg_quality: int = 92
    detail: str | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    default_output_tokens: int | None = None
    reasoning_effort: str | None = None
    image_tokens: Mapping[str, Any] | None = None
    price: Price | None = None
    key_variable: str = "OPENAI_API_KEY"
    source: str = ""
