"""What the browser is given."""

import json

import pytest

from rexview.geometry import Orientation
from rexview.ui.viewer import (
    BoxGroup,
    Neighbours,
    PixelLink,
    ViewerBox,
    ViewerData,
    ViewerImage,
    assign_keys,
)

BOX = ViewerBox("1", "pa", "effusion", 1.5, 2, 3, 4, side="on the patient's right", score=0.5)


def test_everything_arrives_as_plain_json():
    data = ViewerData(
        "c1",
        (
            ViewerImage(
                "pa",
                "PA",
                "PA",
                PixelLink("rexview/pixels/t", "k"),
                orientation=Orientation("R", "L", "H", "F", "view"),
            ),
            ViewerImage("old", "Prior", "LATERAL", error="It is not there.", prior=True),
        ),
        (BoxGroup("gen", "Generalist", "#123456", boxes=(BOX,), reasons=("none",), undrawable=1),),
        neighbours=Neighbours(None, "c2"),
        ahead=(ViewerData("c2"),),
    )
    sent = json.loads(json.dumps(data.to_json("10px")))
    first, second = sent["views"]
    assert (first["url"], first["key"], first["frontal"]) == ("rexview/pixels/t", "k", True)
    assert first["orientation"]["known"] is True
    assert first["orientation"]["left"] == "R"
    assert (second["url"], second["error"], second["frontal"]) == (None, "It is not there.", False)
    assert second["orientation"]["known"] is False
    assert sent["groups"][0]["boxes"][0]["x"] == 1.5
    assert sent["neighbours"] == {"previous": None, "next": "c2"}
    assert [one["case"] for one in sent["ahead"]] == ["c2"]


def test_a_view_needs_pixels_or_the_reason_why_not():
    with pytest.raises(ValueError, match="neither pixels nor the reason"):
        ViewerImage("pa", "PA")


def test_keys_go_to_models_in_order_and_to_the_reference():
    models = [BoxGroup(str(number), "m", "#000") for number in range(10)]
    reference = BoxGroup("reference", "Reference", "#fff", kind="reference")
    groups = assign_keys([*models[:2], reference, *models[2:]])
    assert [group.key for group in groups] == ["1", "2", "r", *"3456789", None]
