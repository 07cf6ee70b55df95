"""Cards: built in, and what people's files change."""

from dataclasses import fields
from pathlib import Path

import pytest

from rexview.errors import SettingsError
from rexview.models.asking import model_cards
from rexview.models.asking.model_cards import find_card, read_cards
from rexview.models.backend import Card
from rexview.schema import Model


def test_every_built_in_entry_says_where_it_is_from():
    entries = model_cards._built_in()
    assert len(entries) > 15
    assert all(entry.values.get("source") for entry in entries)
    prices = [entry.values["price"] for entry in entries if "price" in entry.values]
    assert prices
    assert all(price.date and price.source for price in prices)


def test_every_part_of_a_card_can_be_written():
    assert set(model_cards._READERS) == {one.name for one in fields(Card)}


@pytest.mark.parametrize(
    ("model", "name", "boxes"),
    [
        ("google/medgemma-1.5-4b-it", "MedGemma 1.5", "normalised_1000"),
        ("/models/medgemma-4b-it/", "MedGemma", "unknown"),
        ("medgemma-27b-text-it", "MedGemma 27B, text only", "unknown"),
        ("gpt-5-mini-2025-08-07", "GPT-5 mini", "unknown"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "Qwen2.5-VL", "pixels_sent"),
        ("Qwen/Qwen3-VL-8B-Instruct", "Qwen3-VL", "normalised_1000"),
        ("claude-opus-4-5", "Claude", "pixels_sent"),
        ("gemma3:4b", "Gemma 3", "unknown"),
        ("gpt-4.1-mini", "GPT-4.1 mini", "unknown"),
    ],
)
def test_names_find_their_card(model, name, boxes):
    card = find_card(model)
    assert (card.name, card.boxes.convention) == (name, boxes)


def test_an_unknown_name_promises_little():
    card = find_card("something-new")
    assert (card.images, card.draws_boxes, card.structured, card.price) == (1, False, False, None)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_own_files_change_what_they_name_the_sets_last(tmp_path):
    own = write(
        tmp_path / "own.yaml",
        "models:\n- match: gpt-5-mini*\n  images: 3\n  price: {input: 9, output: 10}",
    )
    folder = tmp_path / "set"
    folder.mkdir()
    write(folder / "models.yaml", "models:\n- match: [other, gpt-5*]\n  images: 2\n")
    card = find_card("gpt-5-mini", folder, config=own)
    assert (card.images, card.price.input, card.structured) == (2, 9, True)
    assert find_card("gpt-5-mini", config=own).images == 3


def test_what_the_set_declares_is_respected():
    declared = Model("gpt-4o", "GPT", draws_boxes=False, max_output_tokens=512)
    card = find_card("gpt-4o", None, declared)
    assert (card.draws_boxes, card.max_output_tokens) == (False, 512)


def test_all_problems_are_told_at_once(tmp_path):
    write(
        tmp_path / "models.yaml",
        "models:\n"
        "- match: a*\n  images: many\n  imagse: 2\n  boxes: {convention: inches}\n"
        "- name: no match\n"
        "- match: b\n  price: {input: 1}\n  image_tokens: {rule: tiles}\n"
        "- match: c\n  key_variable: AWS_SECRET\n",
    )
    with pytest.raises(SettingsError) as caught:
        find_card("x", tmp_path)
    told = str(caught.value)
    where = "models.yaml of the review set, entry"
    for words in (
        f"{where} 1, images: 'many' cannot be used. Write a whole number from 0 to 100.",
        f"{where} 1, imagse: there is no such key. Did you mean images?",
        f"{where} 1, boxes: in it, convention: 'inches' cannot be used. Write one of pixels_sent",
        f"{where} 2: there is no match.",
        f"{where} 3, price: {{'input': 1}} cannot be used. Write an object with input, output.",
        "rule: tiles with base, tile",
        f"{where} 4, key_variable: a review set cannot say which key is sent.",
    ):
        assert words in told


@pytest.mark.parametrize("text", ["- a", "models: 3", "models: []\nother: 1", "a: b: c", "[" * 99])
def test_files_that_are_something_else_are_refused(tmp_path, text):
    with pytest.raises(SettingsError, match=r"models\.yaml"):
        read_cards(write(tmp_path / "models.yaml", text))


def test_no_file_no_entries():
    assert read_cards(Path("/nowhere/models.yaml")) == ()
