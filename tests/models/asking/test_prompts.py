"""Wordings: built in, edited copies, and what is wrong with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.errors import SettingsError
from rexview.models.asking.model_cards import find_card
from rexview.models.asking.prompts import (
    built_in_prompts,
    fill_template,
    find_prompt,
    list_prompts,
    prompt_file,
    prompt_text,
)

GPT = find_card("gpt-5-mini")


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    (tmp_path / "prompts").mkdir()
    return tmp_path


def write(folder, name, text):
    prompt_file(name, folder).write_text(text, encoding="utf-8")


def test_the_usual_wording_asks_those_for_boxes_that_draw():
    assert find_prompt(None, GPT).id == "expert-1-boxes"
    assert find_prompt(None, find_card("medgemma-4b-it")).id == "expert-1"


def test_sides_are_the_patients_and_texts_have_no_broken_lines():
    for prompt in built_in_prompts().values():
        assert "Right and left are always the patient's" in prompt.system
        assert not any(" \n" in text or "\n " in text for text in prompt.texts.values())


@pytest.mark.parametrize("name", ["expert-1", "expert-1-boxes"])
def test_a_copy_asks_the_same_and_an_edited_one_is_another(folder, name):
    prompt = built_in_prompts()[name]
    write(folder, "mine", prompt_text(prompt))
    copy = find_prompt("mine", GPT, folder)
    assert (copy.texts, copy.system, copy.fields) == (prompt.texts, prompt.system, prompt.fields)
    write(folder, "mine", prompt_text(prompt).replace("experienced", "careful"))
    edited = find_prompt("mine", GPT, folder)
    assert edited.hash != copy.hash
    assert "careful" in edited.system
    assert list_prompts(folder) == ("expert-1", "expert-1-boxes", "mine")


def test_a_copy_that_is_based_on_another_takes_over_what_it_does_not_name(folder):
    text = "based_on: expert-1\nname: Mine\nversion: 2\nfields:\n  open: {said: all of it}\n"
    write(folder, "mine", text)
    mine, base = find_prompt("mine", GPT, folder), built_in_prompts()["expert-1"]
    assert mine.fields == {**base.fields, "open": {"said": "all of it"}}
    assert (mine.texts, mine.system, mine.version) == (base.texts, base.system, 2)


def test_an_edited_copy_of_the_same_name_wins_and_has_another_hash(folder):
    prompt = built_in_prompts()["expert-1"]
    write(folder, "expert-1", prompt_text(prompt).replace("experienced", "careful"))
    assert find_prompt("expert-1", GPT, folder).hash != prompt.hash


@given(st.text(), st.text())
def test_what_is_filled_in_is_never_a_template(question, options):
    filled = fill_template("Q {question} O {options}", {"question": question, "options": options})
    assert filled == "Q " + question + " O " + options


def test_unknown_names_are_told_with_those_there_are(folder):
    with pytest.raises(SettingsError, match=r"There are expert-1, expert-1-boxes\."):
        find_prompt("exprt", GPT, folder)


@pytest.mark.parametrize("name", ["../secret", "a/b", "", ".hidden", "x" * 99])
def test_names_stay_in_their_folder(folder, name):
    with pytest.raises(SettingsError, match="no name of a prompt"):
        prompt_file(name, folder)


def test_all_problems_are_told_at_once(folder):
    write(
        folder,
        "bad",
        "name: Bad\nversion: one\nsystm: x\ntexts:\n  open: Say {answer}\n  boxes: no form\n"
        "fields:\n  open: {boxes: b}\n",
    )
    with pytest.raises(SettingsError) as caught:
        find_prompt("bad", GPT, folder)
    told = str(caught.value)
    for words in (
        "prompts/bad.yaml, version: 'one' cannot be used. Write a whole number",
        "prompts/bad.yaml, systm: there is no such key. Did you mean system?",
        "texts: in it, open: {answer} cannot be filled in. There are {question}.",
        "texts: in it, open: {question} is missing.",
        "texts: in it, boxes: {form} is missing.",
        "fields: in it, open: {'boxes': 'b'} cannot be used.",
        "prompts/bad.yaml: missing are system. Write them, or based_on: expert-1.",
        "prompts/bad.yaml, texts: missing are choice, report, current, prior, context, json.",
        "prompts/bad.yaml, fields: missing are choice, report.",
    ):
        assert words in told, told
