"""An export is there as a whole or not at all."""

import dataclasses

import pytest
from support.exports.exported_set import exported, write_exported_set

from rexview.errors import ExportCancelled, ExportRefused
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, target_problem, write_export


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """What is exported, read by every test."""
    return exported(write_exported_set(tmp_path_factory.mktemp("exported") / "set"))[0]


@pytest.fixture
def place(tmp_path):
    made = tmp_path / "out"
    made.mkdir()
    return made


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_every_format_is_there_when_it_is_done(content, place, name):
    form = EXPORT_FORMATS[name]
    told = []
    progress = ExportProgress(lambda done, total: told.append((done, total)))
    write_export(content, form, place / f"a{form.ending}", progress)
    assert [one.name for one in place.iterdir()] == [f"a{form.ending}"]
    assert (place / f"a{form.ending}").is_dir() == form.is_folder
    assert told[-1] == (3, 3)


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_a_cancelled_one_leaves_nothing(content, place, name):
    asked = []

    def second_time():
        asked.append(1)
        return len(asked) > 1

    with pytest.raises(ExportCancelled):
        write_export(
            content, EXPORT_FORMATS[name], place / "a", ExportProgress(is_cancelled=second_time)
        )
    assert list(place.iterdir()) == []


def test_a_failed_one_leaves_nothing(content, place):
    def broken():
        yield next(content.cases())
        raise ValueError("broken")

    failing = dataclasses.replace(content, cases=broken)
    with pytest.raises(ValueError, match="broken"):
        write_export(failing, EXPORT_FORMATS["csv"], place / "a.csv", ExportProgress())
    assert list(place.iterdir()) == []


def test_what_is_there_stays(content, place):
    (place / "a.csv").write_text("mine")
    assert "is there already" in target_problem(place / "a.csv", EXPORT_FORMATS["csv"])
    with pytest.raises(ExportRefused):
        write_export(content, EXPORT_FORMATS["csv"], place / "a.csv", ExportProgress())
    assert (place / "a.csv").read_text() == "mine"
    assert "no folder" in target_problem(place / "x" / "a.csv", EXPORT_FORMATS["csv"])


def test_a_folder_must_be_new_or_empty(place):
    folder = dataclasses.replace(EXPORT_FORMATS["csv"], ending="")
    assert target_problem(place, folder) is None
    (place / "mine").write_text("mine")
    assert "not empty" in target_problem(place, folder)
    assert "is there already" in target_problem(place / "mine", folder)
