"""What `check` says of sets that are written rightly and cannot well be meant."""

import pytest
from PIL import Image

FIRST = "Is there an effusion?"


@pytest.fixture
def many(small):
    """A set with 20 cases, each of a study of its own, and an answer of each of two models."""
    cases = []
    for number in range(20):
        path = f"a/{number}.png"
        Image.new("L", (100, 100), number).save(small.folder / "images" / path)
        image = {"id": "pa", "path": path, "view": "PA", "width": 100, "height": 100}
        report = {"findings": f"Finding {number}.", "impression": f"Impression {number}."}
        case = {"id": f"c{number}", "question": FIRST, "images": [image], "report": report}
        cases.append(case)
    small.cases = cases
    small.answers = [
        {"case": f"c{number}", "model": model, "text": f"Answer {number} of {model}."}
        for number in range(20)
        for model in ("m1", "m2")
    ]
    small.jsonl("cases", cases).jsonl("answers", small.answers)
    assert small.problems() == []
    return small


def change(many, model, **values):
    """Change the answers of one model; a function is called with the number of the case."""
    for answer in many.answers:
        if answer["model"] == model:
            number = int(answer["case"][1:])
            answer |= {k: v(number) if callable(v) else v for k, v in values.items()}
    return many.jsonl("answers", many.answers)


def only(many, *words):
    """Check that there is one warning, with these words and something to do; return it."""
    problem = many.only_problem()
    assert problem.severity == "warning"
    assert problem.remedy
    for word in words:
        assert word in problem.message
    return problem


def test_no_answers(many):
    many.text("answers.jsonl", "")
    only(many, "no answers")
    (many.folder / "answers.jsonl").unlink()
    only(many, "no answers")


def test_all_texts_of_a_model_are_empty(many):
    change(many, "m2", text="  ")
    assert only(many, "20 answers", "m2", "empty").field == "text"
    change(many, "m1", text=None)
    only(many, "40 answers", "every model", "empty")


@pytest.mark.parametrize("other", [{"choice": 1}, {"images": ["a/0.png"]}])
def test_an_answer_without_text_may_hold_something_else(many, other):
    change(many, "m2", text=None, **other)
    assert many.problems() == []


def test_a_model_with_a_tenth_of_the_answers(many):
    few = [one for one in many.answers if one["model"] == "m1" or one["case"] in ("c0", "c1")]
    many.jsonl("answers", few)
    assert only(many, "m2", "2 answers", "others 20").field == "model"
    few.append({"case": "c2", "model": "m2", "text": "One more."})
    many.jsonl("answers", few)
    assert many.problems() == []


def test_the_same_text_for_every_case(many):
    change(many, "m2", text="No acute finding.")
    only(many, "20 answers", "m2", "No acute finding.")


@pytest.mark.parametrize(
    "text",
    [
        lambda n: f"FINDING {n}",
        lambda n: f"Impression {n}.",
        lambda n: f"Finding {n}.\nImpression {n}.",
    ],
)
def test_the_report_given_as_answer(many, text):
    change(many, "m1", text=text)
    only(many, "20 answers", "m1", "reports, word for word")


def test_the_question_given_as_answer(many):
    for number, case in enumerate(many.cases):
        case["question"] = f"Question {number}?"
    many.jsonl("cases", many.cases)
    change(many, "m1", text=lambda n: f"Question {n}?")
    only(many, "20 answers", "m1", "repeat the question")


def test_no_case_has_a_question(many):
    for case in many.cases:
        case["question"] = "N/A"
    many.jsonl("cases", many.cases)
    assert only(many, "No case has a question").field == "question"


BOX = {"image": "pa", "label": "x"}


@pytest.mark.parametrize(
    ("box", "word"),
    [
        (lambda n: [0.1, 0.2, 0.3, 0.02 * n + 0.1], "fractions"),
        (lambda n: [n, 10, 2, 3], "smaller than 4 pixels"),
        (lambda n: [50 + n, 60, 95, 90], "mostly reach out"),
        (lambda n: [10, 10, 20, 4 + n], None),
        (lambda n: [0, 0, 100, 100], None),
    ],
)
def test_boxes(many, box, word):
    change(many, "m2", boxes=lambda n: [BOX | {"box": box(n)}])
    if word is None:
        assert many.problems() == []
    else:
        assert only(many, word, "m2", "20").field == "boxes"


def test_boxes_outside_their_images_are_told_together_too(many):
    change(many, "m2", boxes=lambda n: [BOX | {"box": [500 + n, 500, 50, 50]}])
    told = [one for one in many.problems() if "All 20 boxes" in one.message]
    assert len(told) == 1
    assert "outside their images" in told[0].message


def test_reference_boxes(many):
    for case in many.cases:
        case["reference_boxes"] = [BOX | {"box": [0.2, 0.2, 0.25, 0.25]}]
    many.jsonl("cases", many.cases)
    assert only(many, "20 reference boxes", "fractions").field == "reference_boxes"


def test_scores_without_spread(many):
    header = "case,model,reader,dimension,score\n"
    same = [f"c{n},m1,r1,process,3\n" for n in range(20)]
    spread = [f"c{n},m1,r1,language,{4 + n % 2}\n" for n in range(20)]
    many.text("scores.csv", header + "".join(spread + same))
    assert only(many, "r1", "Process 3 (20)").field == "score"
    many.text("scores.csv", header + "".join(spread + same[:9]))
    assert many.problems() == []


@pytest.fixture
def choices(many):
    for number, case in enumerate(many.cases):
        options = ["Effusion", "Mass", "Cardiomegaly"]
        case |= {"question_type": "choice", "options": options, "correct": number % 3}
    many.jsonl("cases", many.cases)
    change(many, "m1", text=lambda n: f"({'ABC'[n % 3]})")
    return change(many, "m2", text=lambda n: f"Answer: {'CAB'[n % 3]}")


def test_choices_read_from_texts(choices):
    assert choices.problems() == []
    answers = choices.load().answers_of("c0")
    assert [one.choice for one in answers] == [0, 2]
    read = answers[1].choice_read
    assert (read.method, answers[1].text[read.start : read.end]) == ("letter", "Answer: C")


def test_no_choice_can_be_used(choices):
    change(choices, "m2", text=lambda n: f"I cannot tell in case {n}.")
    assert only(choices, "None of the 20 answers", "m2").field == "choice"


def test_choices_counted_from_1(choices):
    change(choices, "m1", choice=lambda n: n % 3)
    assert choices.problems() == []
    change(choices, "m2", choice=lambda n: 1 + (n + 2) % 3)
    told = [one for one in choices.problems() if "one more than" in one.message]
    assert len(told) == 1
    assert "m2" in told[0].message


def test_the_right_option_is_always_the_same(choices):
    for case in choices.cases:
        case["correct"] = 1
    choices.jsonl("cases", choices.cases)
    assert only(choices, "all 20 choice questions", "number 1").field == "correct"


class TestOnePicture:
    def test_the_same_path(self, many):
        for case in many.cases:
            case["images"][0]["path"] = "a/0.png"
        many.jsonl("cases", many.cases)
        assert only(many, "20 studies", "same picture").field == "images"

    def test_the_same_bytes(self, many):
        for number in range(20):
            Image.new("L", (100, 100)).save(many.folder / "images" / f"a/{number}.png")
        only(many, "20 studies", "same picture")

    def test_questions_on_one_study(self, many):
        for case in many.cases:
            case["images"][0]["path"] = "a/0.png"
            case["study_id"] = "s"
        many.jsonl("cases", many.cases)
        assert many.problems() == []
