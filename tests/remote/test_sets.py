"""Whole sets in S3 storage: the same as in a folder, never half, and told in words."""

import shutil
from itertools import count

import pytest
from support.small_set import write_set

from rexview.addresses import remote_set_address, remote_set_folder
from rexview.errors import ReviewSetError, SettingsError
from rexview.remote import remote_sets, s3
from rexview.reviewset import check_review_set, find_image_file, load_review_set
from rexview.settings import load_settings
from rexview.store.database_location import find_location, set_folder_file, set_key
from tests.remote.conftest import forget

NUMBERS = count()


@pytest.fixture
def there(s3_set):
    """A set in a bucket: its folder there, its address."""
    name = f"réview {next(NUMBERS)}"
    folder = s3_set.folder / "sets" / name
    folder.mkdir(parents=True)
    write_set(folder)
    return folder, f"s3://sets/{name}/"


def here(address):
    return remote_set_folder(address, load_settings().cache_folder)


def test_it_is_the_same_set_as_in_a_folder(there):
    folder, address = there
    given, elsewhere = load_review_set(folder), load_review_set(here(address))
    assert elsewhere.cases.equals(given.cases)
    assert elsewhere.answers.equals(given.answers)
    assert elsewhere.scores.equals(given.scores)
    assert (
        find_image_file(elsewhere, "one.png").read_bytes()
        == (folder / "images" / "one.png").read_bytes()
    )


def test_returned_pictures_are_read_for_what_scores_are_of(there):
    _, address = there
    found = load_review_set(here(address)).find_picture("one.png")
    assert found.read_bytes()[:4] == b"\x89PNG"
    assert load_review_set(here(address)).find_picture("none.png") is None


def test_sizes_that_no_file_is_read_for_are_told(there):
    folder, address = there
    text = (folder / "cases.jsonl").read_text(encoding="utf-8").replace('"width": 100', '"x": 1')
    (folder / "cases.jsonl").write_text(text, encoding="utf-8")
    assert any("lie elsewhere" in one.message for one in check_review_set(here(address)))


def test_pictures_stay_there_and_nothing_is_written_there(there, tmp_path):
    folder, address = there
    before = sorted(folder.rglob("*"))
    load_review_set(here(address))
    assert sorted(folder.rglob("*")) == before
    assert not list((tmp_path / "cache").rglob("*.png"))


def test_it_opens_by_the_setting(there):
    _, address = there
    settings = load_settings([], {"REXVIEW_SET": address}, None)
    assert remote_set_address(settings.review_set).text == address.rstrip("/")
    with pytest.raises(SettingsError) as caught:
        load_settings([], {"REXVIEW_SET": "s3://user:hidden@sets/x"}, None)
    assert "hidden" not in str(caught.value)


def test_missing_pictures_are_named(there):
    """As where only the tables were uploaded by now."""
    folder, address = there
    assert [one.field for one in check_review_set(here(address)) if "no image" in one.message] == [
        "images[0].path"
    ]
    shutil.rmtree(folder / "images")
    missing = [one for one in check_review_set(here(address)) if "There is no image" in one.message]
    assert len(missing) == 3
    assert "in the storage" in missing[0].message


@pytest.mark.parametrize("gone", ["reviewset.yaml", "cases.jsonl"])
def test_a_set_that_is_half_uploaded_is_not_opened(there, gone):
    folder, address = there
    (folder / gone).unlink()
    with pytest.raises(ReviewSetError) as caught:
        load_review_set(here(address))
    assert any(gone.partition(".")[0] in one.file for one in caught.value.problems)


def test_what_changes_there_comes_and_what_goes_there_goes(there):
    folder, address = there
    first = load_review_set(here(address))
    text = (folder / "answers.jsonl").read_text(encoding="utf-8").replace("No effusion", "Nothing")
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    (folder / "scores.csv").unlink()
    second = load_review_set(here(address))
    assert second.fingerprint != first.fingerprint
    assert second.scores.is_empty()
    assert "Nothing." in second.answers["text"].to_list()


def test_it_opens_as_it_was_while_the_storage_is_away(there, s3_set):
    _, address = there
    before = load_review_set(here(address))
    s3_set.spoil = lambda answer: answer.say(503)
    forget()
    again = load_review_set(here(address))
    assert again.cases.equals(before.cases)
    assert "busy" in again.warnings[0].message
    assert remote_sets.copy_problem(here(address))
    s3_set.spoil = None
    from rexview.remote import remote_pictures as fetching

    fetching._AWAY.clear()
    assert load_review_set(here(address)).warnings == before.warnings
    assert remote_sets.copy_problem(here(address)) is None


def test_a_file_that_is_cut_leaves_the_set_as_it_was(there, s3_set):
    folder, address = there
    before = load_review_set(here(address))
    for name in ("cases.jsonl", "answers.jsonl"):
        text = (folder / name).read_text(encoding="utf-8").replace("effusion", "nodule")
        (folder / name).write_text(text, encoding="utf-8")

    def cut(answer):
        if "cases.jsonl" in answer.path:
            answer.pass_on(most=20)
            return True
        return False

    s3_set.spoil = cut
    after = load_review_set(here(address))
    assert after.cases.equals(before.cases)
    assert after.answers.equals(before.answers), "either all that changed is there, or nothing"
    assert "broke off" in after.warnings[0].message


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda answer: "list-type" in answer.path and answer.say(403), "does not let"),
        (lambda answer: answer.say(503), "busy"),
    ],
)
def test_one_that_cannot_be_listed_is_told(there, s3_set, spoil, words):
    _, address = there
    s3_set.spoil = spoil
    (problem,) = check_review_set(here(address))
    assert words in problem.message
    assert problem.severity == "error"


@pytest.mark.parametrize(
    "address", ["s3://sets/none/", "s3://no-such-bucket/x", "https://127.0.0.1/x"]
)
def test_one_that_is_not_there_is_told(there, address):
    with pytest.raises(ReviewSetError) as caught:
        load_review_set(here(address))
    (problem,) = caught.value.problems
    assert problem.message


@pytest.mark.usefixtures("there")
def test_a_place_with_more_folders_than_a_set_has_is_not_gone_through(s3_set, monkeypatch):
    monkeypatch.setattr(remote_sets, "MAX_SET_FILES", 1)
    with pytest.raises(ReviewSetError) as caught:
        load_review_set(here("s3://sets/"))
    assert "more than 1 folders" in str(caught.value.problems)
    assert len(s3_set.asked) == 1


@pytest.mark.parametrize("name", ["", "answers/"])
def test_a_folder_of_tables_that_is_not_looked_through_whole_is_not_opened(
    there, monkeypatch, name
):
    folder, address = there
    (folder / "answers").mkdir()
    for number in range(12):
        (folder / name / f"a {number}.png").write_bytes(b"")
    (folder / "answers.jsonl").rename(folder / "answers" / "z.jsonl")
    monkeypatch.setattr(remote_sets, "MAX_LISTED_OBJECTS", 8)
    with pytest.raises(ReviewSetError) as caught:
        load_review_set(here(address))
    (problem,) = caught.value.problems
    assert f"{address}{name} holds more than" in problem.message
    assert "images" in problem.message


def test_a_folder_of_other_things_is_looked_through_page_by_page(there, monkeypatch, s3_set):
    folder, address = there
    (folder / "overlays").mkdir()
    for number in range(12):
        (folder / "overlays" / f"{number:02}.png").write_bytes(b"")
    (folder / "overlays" / "z.csv").write_text("a\n1\n", encoding="utf-8")
    monkeypatch.setattr(s3, "_PAGE", 5)
    opened = load_review_set(here(address))
    assert (opened.folder / "overlays" / "z.csv").is_file()
    assert sum("overlays" in path for path in s3_set.asked if "list-type" in path) == 3

    monkeypatch.setattr(remote_sets, "MAX_LISTED_OBJECTS", 10)
    warned = load_review_set(here(address))
    (said,) = [one for one in warned.warnings if "overlays" in one.message]
    assert f"{address}overlays/ holds more than 10 objects" in said.message
    assert "Move that folder" in said.remedy
    assert said in check_review_set(here(address))


def test_names_that_lead_elsewhere_are_not_copied():
    for name in ("../x.csv", "a//b.csv", ".hidden.csv", "a\\b.csv", "x\n.csv", "f" * 300 + ".csv"):
        assert not remote_sets._is_copied(name), name
    assert remote_sets._is_copied("answers/run 1.jsonl")


def test_its_images_may_not_be_a_folder_of_this_computer(there):
    folder, address = there
    info = (folder / "reviewset.yaml").read_text(encoding="utf-8")
    (folder / "reviewset.yaml").write_text(f"{info}\nimages: /etc\n", encoding="utf-8")
    with pytest.raises(ReviewSetError) as caught:
        load_review_set(here(address))
    assert any(one.field == "images" for one in caught.value.problems)


def test_reviews_are_kept_under_its_address_and_not_in_the_cache(there, tmp_path, monkeypatch):
    _, address = there
    first = load_review_set(here(address))
    assert set_folder_file(first) is None
    place = find_location(first, load_settings())
    assert "cache" not in place.url
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "another cache"))
    assert set_key(load_review_set(here(address))) == set_key(first)
    assert find_location(load_review_set(here(address.rstrip("/"))), load_settings()) == place
