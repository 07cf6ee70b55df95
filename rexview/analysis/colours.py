"""A colour for each model, the same in boxes, chips, charts and exports.

The colours have a contrast of at least 3 : 1 on the dark and the light page. They differ for the
common kinds of colour-blindness: a search maximised the smallest distance in CIELAB under the
simulations of Machado et al. 2009. No information depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MODEL_COLOURS: Final = (
    *("#3C90CC", "#CC7800", "#8A34EE", "#C00084"),
    *("#846048", "#5454CC", "#C08490", "#A84818"),
)
"""Colours in the order of the models."""
SHARED_MODEL_COLOUR: Final = "#6E7F94"
"""Colour of every model if there are more models than colours; only names identify them then."""
REFERENCE_COLOUR: Final = "#8A9099"
"""Colour of the reference (the radiologist's report and boxes) in charts; no model has it."""
REFERENCE_IMAGE_COLOUR: Final = "#F2F2F2"
"""Colour of the reference's boxes on a radiograph, where white is visible; no model has it."""
SLOT_COLOURS: Final = (
    *("#B8860B", "#2A9D8F", "#B05CC6", "#7A8F2A"),
    *("#D1495B", "#4C7FD0", "#8C6D5A", "#5F7A8A"),
)
"""Colours of Answer A, B, … for a blinded reader; no model has them."""


def assign_slot_colours(slots: Iterable[str]) -> dict[str, str]:
    """Return the colour of each slot of a blinded case, in the order of the slots."""
    return {slot: SLOT_COLOURS[place % len(SLOT_COLOURS)] for place, slot in enumerate(slots)}


def assign_model_colours(models: Iterable[str]) -> dict[str, str]:
    """Return the colour of each model, by id, in the order of the review set.

    No two models share a colour: more models than colours all have :data:`SHARED_MODEL_COLOUR`.
    """
    every = list(models)
    if len(every) > len(MODEL_COLOURS):
        return dict.fromkeys(every, SHARED_MODEL_COLOUR)
    return dict(zip(every, MODEL_COLOURS, strict=False))
