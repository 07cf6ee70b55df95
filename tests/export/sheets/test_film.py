"""Where boxes and their words lie on a film."""

import pytest
from support.exports.exported_set import exported, write_exported_set

from rexview.export.records import ExportBox
from rexview.export.sheets.film import Numbered, film, fitted, ink_on, on_film
from rexview.export.sheets.sheet import Place

MOST = Place(36, 66, 560, 430)


def test_a_film_keeps_its_shape_and_a_box_is_cut_at_its_edge():
    assert fitted(2, MOST) == Place(36, 66, 215, 430)
    assert fitted(0.5, MOST) == Place(36, 66, 560, 280)
    place = Place(10, 20, 200, 240)
    assert on_film((5, 60, 30, 30), place, 100, 120) == Place(20, 140, 60, 60)
    assert on_film((-50, -50, 500, 500), place, 100, 120) == place


def test_words_at_boxes_do_not_lie_on_each_other(tmp_path):
    content, _ = exported(write_exported_set(tmp_path / "set"))
    image = next(content.cases()).images[0]
    model = content.models[0].id
    boxes = [
        Numbered(n, ExportBox(model, image.id, f"nodule {n}", (40 + n, 50 + 2 * n, 20, 20)))
        for n in range(1, 7)
    ]
    boxes.append(Numbered(7, ExportBox(None, image.id, "label " * 40, (0, 0, 100, 120))))
    laid = film(content, image, None, MOST, boxes)
    assert len(laid.boxes) == 7
    places = [tag.place for tag in laid.tags]
    assert all(laid.place.holds(place) for place in places)
    assert not any(a.meets(b) for at, a in enumerate(places) for b in places[:at])
    assert [tag.text for tag in laid.tags] == [
        *("R", "L"),
        *(f"{n} nodule {n}" for n in range(1, 7)),
        "7",
    ]


@pytest.mark.parametrize(("colour", "ink"), [("#F2F2F2", "#14191D"), ("#8A34EE", "#FFFFFF")])
def test_words_on_a_colour_can_be_read(colour, ink):
    assert ink_on(colour) == ink
