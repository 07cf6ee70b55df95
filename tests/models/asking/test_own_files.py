"""What a person edits of a review set: written when it can be read again, else not at all."""

import pytest

from rexview.errors import SettingsError
from rexview.models.asking.edited_files import models_text, save_models, save_prompt
from rexview.models.asking.model_cards import find_card, known_model_names
from rexview.models.asking.prompts import built_in_prompts, find_prompt, prompt_text


@pytest.mark.parametrize("model", [*known_model_names(), "nobody/knows-it"])
def test_the_entry_that_is_offered_says_what_the_card_says(model, tmp_path):
    before = find_card(model)
    save_models(models_text(model, before, tmp_path), tmp_path)
    assert find_card(model, tmp_path) == before


def test_what_is_there_is_offered_again(tmp_path):
    text = "models:  # mine\n- match: m\n  images: 3\n"
    save_models(text, tmp_path)
    assert models_text("another", find_card("another"), tmp_path) == text
    assert find_card("m", tmp_path).images == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models:\n- match: m\n  imges: 3\n", "Did you mean images"),
        ("models:\n- match: m\n  images: -1\n  priors: 4\n", "priors"),
        ("models:\n- match: m\n  key_variable: AWS_SECRET\n", "cannot say which key"),
        ("models: [", "line"),
        ("", "no keys"),
    ],
)
def test_models_that_cannot_be_read_are_not_written(text, words, tmp_path):
    with pytest.raises(SettingsError, match=words):
        save_models(text, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_of_a_wording_is_a_wording(tmp_path):
    original = built_in_prompts()["expert-1-boxes"]
    text = prompt_text(original).replace("experienced", "careful")
    saved = save_prompt("mine", text, tmp_path)
    assert find_prompt("mine", find_card("m"), tmp_path) == saved
    assert "careful" in saved.system
    assert saved.hash != original.hash


@pytest.mark.parametrize("name", ["expert-1", "../mine", "", "a/b", ".hidden", "a" * 81])
def test_names_that_no_copy_can_have(name, tmp_path):
    text = prompt_text(built_in_prompts()["expert-1"])
    with pytest.raises(SettingsError, match=r"built in|no name"):
        save_prompt(name, text, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_wording_that_leaves_the_question_out_is_not_written(tmp_path):
    text = prompt_text(built_in_prompts()["expert-1"]).replace("{question}", "")
    with pytest.raises(SettingsError, match="question"):
        save_prompt("mine", text, tmp_path)
    assert list(tmp_path.iterdir()) == []
