import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rexview.analysis.case.blinding import (
    BlindedText,
    NameFinder,
    build_blinded_page,
    cover_names,
    cover_text,
)
from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.case.headline import find_failing_models, sort_failing_first
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.query.study_tasks import assign_slots


def cover(text, *names, plain=(), more=()):
    return NameFinder(names, plain, more).cover(text, "[model]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am Medical 4B.", "I am [model]."),
        ("medical-4b, MEDICAL_4B and medical4b", "[model], [model] and [model]"),
        ("a medical opinion", "a medical opinion"),
        ("Super-Scan v2 says", "[model] says"),
        ("superscan says; super scan says", "[model] says; [model] says"),
        ("superscanner", "superscanner"),
        ("I was made by OpenAI, as GPT-4o.", "I was made by [model], as [model]."),
        ("ChatGPT and gpt 5", "[model] and [model]"),
        ("Large effusion", "Large effusion"),
        ("m of 5 mm, 12 of 40", "m of 5 mm, 12 of 40"),
    ],
)
def test_names_are_covered_and_ordinary_words_are_not(text, expected):
    names = ("medical-4b", "Medical 4B", "Super Scan (v2)", "large", "m", "12")
    assert cover(text, *names, plain={"large"}) == expected


def test_special_characters_in_names_are_taken_as_they_are():
    assert cover("c++model.* and cmodel", "c++model.*") == "[model].* and [model]"
    assert cover("nothing", "***", "") == "nothing"


@pytest.fixture
def review_set(make_set):
    return make_set(
        cases=[
            {
                "id": "c1",
                "question": "Is there a large effusion?",
                "report": {"findings": "SECRET report", "impression": "SECRET"},
                "reference_boxes": [{"image": "i", "label": "SECRET", "box": [1.0, 1, 2, 2]}],
                "tags": [{"name": "side", "values": ["SECRET"]}],
                "correct": 0,
                "options": ["Yes", "No"],
                "explanation": "SECRET",
                "extra": '{"x": "SECRET"}',
            }
        ],
        answers=[
            {
                "case": "c1",
                "model": "large",
                "text": "Medical 4B sees a large effusion",
                "boxes": [{"image": "i", "label": "Generalist box", "box": [1.0, 1, 2, 2]}],
                "error": "500 from api.SECRET.com",
                "extra": '{"x": "SECRET"}',
                "run_id": "SECRET",
                "prompt_id": "SECRET",
                "output_tokens": 999_983,
                "latency_s": 3.25,
            },
            {"case": "c1", "model": "g", "text": None, "explanation": "As Generalist"},
        ],
        scores=[{"case": "c1", "model": "g", "reader": "SECRET", "dimension": "process"}],
    )


def test_a_blinded_page_holds_nothing_that_gives_away(review_set):
    page = build_blinded_page(review_set, "c1", {"A": "large", "B": "g"})
    told = json.dumps(asdict(page), default=str)
    for secret in ("SECRET", "Medical", "Generalist", '"g"', '"large"', "999983", "3.25"):
        assert secret not in told, secret
    assert [answer.model for answer in page.answers] == ["A", "B"]
    assert page.answers[0].text == "[model] sees a large effusion"
    assert page.case.correct is None
    assert page.case.options == ("Yes", "No")


def test_the_order_is_that_of_the_slots(review_set):
    page = build_blinded_page(review_set, "c1", {"A": "g", "B": "large", "C": "gone"})
    assert [answer.text is None for answer in page.answers] == [True, False]


def test_neither_order_nor_words_follow_what_fails(make_set):
    """The Case page puts answers that fail first and names them: a blinded reader's does not."""
    models = [f"m{number}" for number in range(5)]
    answers = [{"case": "c1", "model": one, "text": f"Text {one}"} for one in models]
    seen = []
    for failing in models:
        verdict = {"failure": "laterality_error", "verdict": "confirmed", "comment": "Wrong side"}
        flag = {"case": "c1", "model": failing, "reader": "r", **verdict}
        review_set = make_set(cases=[{"id": "c1"}], answers=answers, flags=[flag])
        engine = build_memory_engine(review_set)
        harm = engine.facts.harm
        page = sort_failing_first(build_case_page(review_set, "c1", engine), harm)
        assert page.answers[0].model == failing
        assert find_failing_models(page, harm).failing == (failing,)
        present = (answer.model for answer in page.answers)
        slots = assign_slots("c1", present, reader="r2", key=b"key")
        seen.append((list(slots.items()), asdict(build_blinded_page(review_set, "c1", slots))))
    assert all(one == seen[0] for one in seen)
    assert "Wrong" not in json.dumps(seen, default=str)
    assert seen[0][1]["flags"] == ()


def test_a_case_that_is_not_there(review_set):
    assert build_blinded_page(review_set, "nope", {}) is None


def test_words_of_the_reports_stay_words(review_set):
    assert cover_names(review_set, "large") == "large"


@pytest.mark.parametrize(
    ("text", "part", "source"),
    [
        ("As Medical 4B I see it.", "I see", "I see"),
        ("As Medical 4B I see it.", "As ", "As "),
        ("As Medical 4B I see it.", "[model]", "Medical 4B"),
        ("As Medical 4B I see it.", "odel] I", "Medical 4B I"),
        ("As Medical 4B I see it.", "As [mo", "As Medical 4B"),
        ("gpt-4, Medical 4B and Claude agree", "and [model] agree", "and Claude agree"),
        ("gpt-4, Medical 4B and Claude agree", " and", " and"),
        ("No name", "name", "name"),
    ],
)
def test_a_part_of_a_covered_text_is_found_in_its_source(review_set, text, part, source):
    found = cover_text(review_set, text)
    assert found.text == cover_names(review_set, text)
    start = found.text.index(part)
    first, last = found.source(start, start + len(part))
    assert text[first:last] == source
    assert part in found.text[slice(*found.shown(first, last))]


@given(
    some.lists(some.sampled_from(["gpt-4", "Medical 4B", "Claude", "x", "effusion"])), some.data()
)
def test_parts_of_a_covered_text_keep_their_places(words, data):
    text = " ".join(words)
    finder = NameFinder(["Medical 4B"])
    names = tuple(finder.spans(text))
    found = BlindedText(finder.cover(text, "[model]"), names)
    start = data.draw(some.integers(0, len(found.text)))
    end = data.draw(some.integers(start, len(found.text)))
    first, last = found.source(start, end)
    assert 0 <= first <= last <= len(text)
    assert found.text[slice(*found.shown(first, last))].count("[model]") == sum(
        first <= begin and finish <= last for begin, finish in names
    )
    back, front = found.shown(first, last)
    assert back <= start <= end <= front
    assert found.source(back, front) == (first, last)
    inside = (start, end) == (back, front)
    assert inside or any(
        begin in (first, last) or finish in (first, last) for begin, finish in names
    )
