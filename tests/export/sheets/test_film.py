"""Where boxes and their words lie on a film."""

import pytest
from support.exports.exported_set import exported, write_exported_set

from rexview.export.export_records import ExportBox
from rexview.export.sheets.film_layout import (
    NumberedBox,
    fit_place,
    labelled_film,
    lay_out_film,
    place_on_film,
    readable_ink,
)
from rexview.export.sheets.sheet import Rectangle

MOST = Rectangle(36, 66, 560, 430)


def test_a_film_keeps_its_shape_and_a_box_is_cut_at_its_edge():
    assert fit_place(2, MOST) == Rectangle(36, 66, 215, 430)
    assert fit_place(0.5, MOST) == Rectangle(36, 66, 560, 280)
    place = Rectangle(10, 20, 200, 240)
    assert place_on_film((5, 60, 30, 30), place, 100, 120) == Rectangle(20, 140, 60, 60)
    assert place_on_film((-50, -50, 500, 500), place, 100, 120) == place


@pytest.fixture
def content(tmp_path):
    return exported(write_exported_set(tmp_path / "set"))[0]


def boxes_on(image, model, last="lung"):
    """Boxes close to each other, and one over all of the film."""
    boxes = [
        NumberedBox(n, ExportBox(model, image.id, f"nodule {n}", (40 + n, 50 + 2 * n, 20, 20)))
        for n in range(1, 7)
    ]
    return [*boxes, NumberedBox(7, ExportBox(None, image.id, last, (0, 0, 100, 120)))]


def test_numbers_at_boxes_do_not_lie_on_each_other(content):
    image, model = next(content.cases()).images[0], content.models[0].id
    laid = lay_out_film(content, image, None, MOST, boxes_on(image, model))
    assert len(laid.boxes) == 7
    places = [tag.place for tag in laid.tags]
    assert all(laid.place.holds(place) for place in places)
    assert not any(a.meets(b) for at, a in enumerate(places) for b in places[:at])
    assert [tag.text for tag in laid.tags] == ["R", "L", *map(str, range(1, 8))]


def test_words_stand_beside_the_film_with_a_line_to_their_box(content):
    image, model = next(content.cases()).images[0], content.models[0].id
    laid, labels = labelled_film(content, image, None, MOST, boxes_on(image, model))
    assert [tag.text for tag in laid.tags] == ["R", "L"]
    places = [label.place for label in labels]
    assert not any(laid.place.meets(place) for place in places)
    assert all(MOST.holds(place) for place in places)
    assert not any(a.meets(b) for at, a in enumerate(places) for b in places[:at])
    said = {" ".join(line.text for line in label.paragraphs) for label in labels}
    assert said == {*(f"■ Model M nodule {n}" for n in range(1, 7)), "□ Reference lung"}
    assert len(laid.leaders) == 7
    for leader in laid.leaders:
        assert leader.end[0] in (laid.place.x, laid.place.right)
        assert any(place.y <= leader.end[1] <= place.bottom for place in places)


def test_where_there_is_no_room_for_words_numbers_stand_at_boxes(content):
    image, model = next(content.cases()).images[0], content.models[0].id
    boxes = boxes_on(image, model, "label " * 400)
    laid, labels = labelled_film(content, image, None, MOST, boxes)
    assert labels == ()
    assert [tag.text for tag in laid.tags] == ["R", "L", *map(str, range(1, 8))]


@pytest.mark.parametrize(("colour", "ink"), [("#F2F2F2", "#14191D"), ("#8A34EE", "#FFFFFF")])
def test_words_on_a_colour_can_be_read(colour, ink):
    assert readable_ink(colour) == ink
