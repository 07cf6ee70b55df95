"""Colours of models: stable, told apart, readable on both themes."""

from __future__ import annotations

from rexview.analysis import REFERENCE_COLOUR, assign_model_colours
from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_IMAGE_COLOUR, SHARED_MODEL_COLOUR


def _luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    dark, light = sorted((_luminance(first), _luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_on_both_themes() -> None:
    for colour in (*MODEL_COLOURS, REFERENCE_COLOUR, SHARED_MODEL_COLOUR):
        assert _contrast(colour, "#0E1114") >= 3
        assert _contrast(colour, "#FFFFFF") >= 3


def test_by_the_order_of_the_set() -> None:
    assert list(assign_model_colours(["b", "a"]).items()) == [
        ("b", MODEL_COLOURS[0]),
        ("a", MODEL_COLOURS[1]),
    ]
    eight = assign_model_colours(map(str, range(8)))
    assert tuple(eight.values()) == MODEL_COLOURS
    many = assign_model_colours(map(str, range(9)))
    assert set(many.values()) == {SHARED_MODEL_COLOUR}
    assert SHARED_MODEL_COLOUR not in (*MODEL_COLOURS, REFERENCE_COLOUR, REFERENCE_IMAGE_COLOUR)
    assert REFERENCE_COLOUR not in MODEL_COLOURS
    assert len(set(MODEL_COLOURS)) == len(MODEL_COLOURS)
