"""A wording of the set's own: what it changes, and what cannot be used."""

import pytest

from rexview.errors import SettingsError
from rexview.judge.request import find_wording, load_built_in_wording


def write(folder, text, name="strict"):
    path = folder / "prompts" / "judge" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_a_file_does_not_say_is_as_in_ours(tmp_path):
    ours = load_built_in_wording()
    assert find_wording(None, tmp_path) == find_wording("judge-2", tmp_path) == ours
    write(
        tmp_path, "name: Strict\nversion: 2\nfields: {failures: {omission: Anything left out.}}\n"
    )
    own = find_wording("strict", tmp_path)
    assert (own.id, own.name, own.version) == ("strict", "Strict", 2)
    assert own.texts == ours.texts
    assert own.fields["failures"] == ours.fields["failures"] | {"omission": "Anything left out."}
    assert own.hash != ours.hash
    write(tmp_path, "name: Strict\nversion: 2\nsystem: Be strict.\n")
    assert find_wording("strict", tmp_path).hash not in (own.hash, ours.hash)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: A\nversion: 1\ntexts: {answer: Judge.}", "answer: {answer} is missing"),
        ("name: A\nversion: 1\ntexts: {json: '{form} {model}'}", "{model} cannot be filled in"),
        ("name: A\nversion: 1\ntexts: {jason: '{form}'}", "Did you mean json?"),
        ("name: A\nversion: 1\nfields: {failures: {invented: x}}", "there is no such key"),
        ("name: A\nversion: 1\nfields: {scores: {}}", "failures: what each means"),
        ("version: 1\nsystem: 3", "name: it is missing"),
        ("- a", "there are no keys"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path, text, words):
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=r"prompts/judge/strict\.yaml") as told:
        find_wording("strict", tmp_path)
    assert words in str(told.value)


@pytest.mark.parametrize("name", ["../strict", "gone", "a/b", ""])
def test_a_name_leads_nowhere_else(tmp_path, name):
    write(tmp_path, "name: A\nversion: 1\n")
    with pytest.raises(SettingsError):
        find_wording(name, tmp_path)
