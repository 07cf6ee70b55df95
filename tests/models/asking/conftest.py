"""Cases with real pictures, and requests of them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from rexview.models.asking.model_cards import find_card
from rexview.models.asking.prompts import find_prompt
from rexview.models.asking.request_builder import build_request
from rexview.models.backend import Parameters
from rexview.schema import Case, Context, ReferenceBox, Report, StudyImage

SIZES = {"pa": (2048, 2500), "lat": (1600, 2000), "old": (1024, 1024)}


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    """Three pictures that are not alike."""
    for number, (name, (width, height)) in enumerate(SIZES.items(), start=1):
        ramp = np.linspace(0, 255, width, dtype=np.float64)[None, :] * np.ones((height, 1))
        cv2.imwrite(str(tmp_path / f"{name}.png"), (ramp / number).astype(np.uint8))
    return tmp_path


@pytest.fixture(name="case")
def case_fixture():
    """An open question with all that is known of a case."""
    return Case(
        "c1",
        "Is there an effusion? Mark {it}.",
        context=Context("64", "F", "Fever {since} Monday.", "Film of May."),
        report=Report("SECRETFINDING on the left.", "SECRETIMPRESSION."),
        images=(
            StudyImage("old", "old.png", "AP", prior=True),
            StudyImage("lat", "lat.png", "LATERAL"),
            StudyImage("pa", "pa.png", "PA", key=True),
        ),
        reference_boxes=(ReferenceBox("pa", "SECRETBOX", (777.0, 888.0, 99.0, 111.0), "left"),),
        explanation="SECRETREASON",
        tags={"region": ("SECRETTAG",)},
        category="broad_abnormality",
        difficulty="hard",
        normal=False,
        extra={"note": "SECRETEXTRA"},
    )


@pytest.fixture(name="ask")
def ask_fixture(folder):
    """Make the request for a case."""

    def ask(case, model="gpt-5-mini", *, prompt=None, structured=None, repeat=1, **changes):
        card = replace(find_card(model), **changes)
        parameters = Parameters(
            model, card.api, structured=card.structured if structured is None else structured
        )
        found = find_prompt(prompt, card)
        request = build_request(
            case, lambda image: folder / image.path, card, found, parameters, repeat
        )
        return request, card

    return ask
