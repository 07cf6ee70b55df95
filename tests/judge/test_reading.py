"""What judges write is read as it is meant, or not at all."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from support.judge.set_to_judge import opinion
from support.rows import each_row

from rexview.judge.opinions import missing_quote_note, missing_quotes, read_opinion
from rexview.judge.subjects import FAILURES
from rexview.vocab import TEXT_DIMENSIONS

ASKED = (*FAILURES, *TEXT_DIMENSIONS)
STRANGERS = yaml.safe_load(
    Path(__file__).with_name("strangers_opinions.yaml").read_text(encoding="utf-8")
)
"""Replies as models write them, by somebody who knew nothing of the reader; half of them were seen
only once it was written (``half: test``)."""
LEAST_READ = 0.75


def values(found):
    return {one.name: one.score if one.present is None else one.present for one in found}


def said(**changes):
    return json.dumps(opinion(**changes))


def changed(group, name, **parts):
    value = copy.deepcopy(opinion())
    value[group][name] |= parts
    return json.dumps(value)


@pytest.mark.parametrize("half", ["develop", "test"])
def test_of_a_strangers_replies_nothing_is_read_wrongly_and_most_are_read(half):
    replies = [one for one in STRANGERS if one["half"] == half]
    assert len(replies) == 20
    readable = [one for one in replies if one["expected"]["readable"]]
    read = 0
    for one in replies:
        found = read_opinion(one["text"], ASKED)
        if isinstance(found, str):
            continue
        assert one["expected"]["readable"], one["note"]
        wanted = one["expected"]
        assert values(found) == wanted["failures"] | wanted["scores"], one["note"]
        quotes = {each.name: each.quote for each in found if each.quote}
        assert quotes == {name: one for name, one in wanted["quotes"].items() if one}
        read += 1
    assert read / len(readable) >= LEAST_READ


def test_an_opinion_is_read_with_reasons_and_quotes():
    found = read_opinion(said(failures={"laterality_error": "left effusion"}, scores=2), ASKED)
    assert [one.name for one in found] == list(ASKED)
    side, process = found[0], found[4]
    assert (side.present, side.reason, side.quote) == (
        *(True, "Of laterality_error.", "left effusion"),
    )
    assert (process.score, process.reason, process.quote) == (2, "Of process.", None)


@pytest.mark.parametrize(
    "form",
    [
        "```json\nOBJECT\n```",
        "Here is my opinion:\nOBJECT",
        "I cannot see an effusion. My opinion in the form asked for:\nOBJECT",
        "<think>process is 1 {no}</think>\nOBJECT",
        "OBJECT\n\nPlease note that a radiologist decides.",
    ],
)
def test_what_stands_around_the_object_does_not_matter(form):
    text = form.replace("OBJECT", said(scores=5))
    assert values(read_opinion(text, ASKED))["process"] == 5


QUOTED = {"quote": "Normal.</think> Ignore this. <think>"}


@pytest.mark.parametrize(
    "form",
    [
        "OBJECT",
        "<think>The answer says </think> in its words.</think>\nOBJECT",
        "It says </think>{}, which is odd.</think>\n```json\nOBJECT\n```",
        "<think>It gives </think>DRAFT as its own opinion.</think>OBJECT",
        "<unused94>It says </think>.<unused95>OBJECT",
    ],
)
def test_an_end_of_thinking_that_is_quoted_from_the_answer_ends_nothing(form):
    whole = changed("failures", "laterality_error", present=True, **QUOTED)
    draft = said(scores=5)
    found = read_opinion(form.replace("OBJECT", whole).replace("DRAFT", draft), ASKED)
    assert found[0].quote == QUOTED["quote"]
    assert values(found)["process"] != 5


@each_row(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("I cannot judge this.", "no JSON object"),
        (said()[:-5], "no JSON object"),
        ("[" * 100_000 + "{" * 100_000, "no JSON object"),
        ('{"a":' * 100_000, "no JSON object"),
        ("<think>" + said(), "its thinking"),
        (said() + said(), "goes on"),
        (said() + "\nOn reflection the first is true.", "goes on"),
        (said() + "\nCorrection: execution is lower.", "goes on"),
        (said() + "\nPlease disregard the above.", "goes on"),
        (said() + "\nOn second thoughts, I withdraw this.", "goes on"),
        ("I can\u2019t assess this image. The form would be:\n" + said(), "is no opinion"),
        ("For example:\n" + said(), "is no opinion"),
        (said(failures={}, scores=6), "process: the score 6 is no whole number"),
        (changed("scores", "process", score=4.5), "the score 4.5"),
        (changed("scores", "process", score=True), "the score True"),
        (changed("scores", "process", score="3-4"), "the score '3-4'"),
        (changed("scores", "process", score=None), "the score None"),
        (changed("scores", "process", score=4).replace("4", "1e999"), "the score inf"),
        (changed("scores", "process", score=4).replace("4", "NaN"), "no JSON object"),
        (changed("scores", "process", reason="I give it 2/5."), "and by its reason 2"),
        (changed("failures", "omission", present="mostly"), "omission: present is 'mostly'"),
        (changed("failures", "omission", present=0), "present is 0"),
        (changed("failures", "omission", present=None), "present is None"),
        (changed("failures", "omission", reason=["a"]), "the reason is no text"),
        (changed("failures", "omission", quote="x" * 10_001, present=True), "the quote is no text"),
        (changed("failures", "omission", quote="No line."), "absent, and quoted"),
        (json.dumps({"scores": opinion()["scores"]}), "no failures"),
        (json.dumps(opinion(scores=[])), "score [] is no"),
        (json.dumps(opinion() | {"failures": []}), "no failures"),
        (said().replace('"omission"', '"omitted"'), "says nothing of omission"),
        (said().replace('"omission"', '"hallucination"'), "'hallucination' stands twice"),
        (said().replace('"omission"', '"Hallucination "'), "'hallucination' stands twice"),
    ],
)
def test_what_is_not_as_asked_is_not_read_at_all(text, why):
    found = read_opinion(text, ASKED)
    assert isinstance(found, str)
    assert why in found


def test_only_what_was_asked_is_read():
    asked = ("laterality_error", "process")
    assert list(values(read_opinion(said(), asked))) == list(asked)
    only = {"scores": {"process": {"score": 3, "reason": ""}}}
    assert values(read_opinion(json.dumps(only), ("process",))) == {"process": 3}


def test_words_for_values_are_read_where_they_are_plain():
    text = (
        said()
        .replace('"present": false', '"present": "No"')
        .replace('"score": 4', '"score": "4/5"')
    )
    assert set(values(read_opinion(text.replace("omission", "Omission"), ASKED)).values()) == {
        *(False, 4),
    }


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("LEFT pleural effusion", True),
        ("left  pleural\neffusion", True),
        ('"left pleural effusion"', True),
        ("…pleural effusion, 'large'...", True),
        ("right pleural effusion", False),
        ("left effusion", False),
    ],
)
def test_a_quote_is_looked_for_in_the_answer(quote, stands):
    text = "There is a left pleural\n effusion, \u2018large\u2019."
    found = read_opinion(said(failures={"laterality_error": quote}), ASKED)
    assert missing_quotes(found, text) == (
        () if stands else (missing_quote_note("laterality_error"),)
    )
