import pytest

IMAGE = {"id": "pa", "path": "a/pa.png", "width": 1000, "height": 1200}


BOX = {"image": "pa", "label": "Effusion", "box": [10, 10, 100, 100]}


def warned(small, boxes=(BOX,), **image):
    small.case(images=[IMAGE | image], reference_boxes=boxes)
    return [(p.severity, p.row, p.field) for p in small.problems()]


MIRRORED = [("warning", 1, "images[0].patient_orientation")]
UNKNOWN = [("warning", 1, "images[0].view")]


@pytest.mark.parametrize(
    "image",
    [
        {"view": "PA", "patient_orientation": ["R", "F"]},
        {"view": "AP", "patient_orientation": ["R", "F"]},
        {"view": "PA", "patient_orientation": ["L", "F"], "laterality_flip": True},
        {"view": "PA", "laterality_flip": True},
        {"patient_orientation": ["R", "F"]},
    ],
)
def test_a_mirrored_frontal_image_is_a_warning(small, image):
    assert warned(small, **image) == MIRRORED


@pytest.mark.parametrize("image", [{}, {"view": "something"}, {"patient_orientation": ["L", "L"]}])
def test_boxes_whose_side_nobody_can_tell_are_a_warning(small, image):
    assert UNKNOWN[0] in warned(small, **image)
    assert UNKNOWN[0] not in warned(small, boxes=[], **image)


def test_boxes_of_an_answer_count_too(small):
    small.case(images=[IMAGE]).answer(boxes=[BOX])
    assert small.only_problem().field == "images[0].view"


@pytest.mark.parametrize(
    "image",
    [
        {"view": "PA"},
        {"view": "PA", "patient_orientation": ["L", "F"]},
        {"view": "AP", "patient_orientation": ["F", "R"]},  # turned, not mirrored
        {"view": "PA", "patient_orientation": ["R", "F"], "laterality_flip": True},  # undone
        {"view": "LATERAL"},
        {"view": "LATERAL", "patient_orientation": ["A", "F"]},
        {"patient_orientation": ["L", "F"]},
    ],
)
def test_the_usual_way_round_is_no_problem(small, image):
    assert warned(small, **image) == []


def test_many_are_counted(small):
    images = [
        IMAGE | {"id": str(number), "laterality_flip": True, "view": "PA"} for number in range(30)
    ]
    small.case(images=images)
    messages = [problem.message for problem in small.problems()]
    assert len(messages) == 21
    assert messages[-1] == "… and 10 more rows with the same problem."
