import json

import pytest

from rexview.analysis import CaseFilter, NumberRange
from rexview.ui.filter_panel import MAX_SAVED_FILTERS, delete_filter, save_filter, saved_filters

GAPS = CaseFilter(failures=("execution_gap",), models=("g",), gap=NumberRange(3))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / name))
    return tmp_path / "rexview" / "saved-filters.json"


def test_kept_by_name_for_each_set():
    save_filter("one", "  Wide   gaps ", GAPS)
    save_filter("two", "Wide gaps", CaseFilter())
    assert saved_filters("one") == {"Wide gaps": GAPS}
    save_filter("one", "Wide gaps", CaseFilter(models=("m",)))
    assert saved_filters("one") == {"Wide gaps": CaseFilter(models=("m",))}
    delete_filter("one", "Wide gaps")
    delete_filter("one", "never there")
    assert saved_filters("one") == {}
    assert saved_filters("two") == {"Wide gaps": CaseFilter()}


def test_the_oldest_go_when_there_are_too_many():
    for number in range(MAX_SAVED_FILTERS + 2):
        save_filter("set", f"f{number}", GAPS)
    names = list(saved_filters("set"))
    assert len(names) == MAX_SAVED_FILTERS
    assert names[0] == "f2"


@pytest.mark.parametrize(
    "content",
    ["", "not json", "[]", '{"set": 3}', '{"set": {"a": 3}}', '{"set": {"a": {"model": "x"}}}'],
)
def test_a_spoilt_file_counts_as_empty(home, content):
    home.parent.mkdir(parents=True)
    home.write_text(content, encoding="utf-8")
    assert all(kept == CaseFilter() for kept in saved_filters("set").values())
    save_filter("set", "new", GAPS)
    assert saved_filters("set")["new"] == GAPS


def test_values_of_an_older_version_are_left_out(home):
    home.parent.mkdir(parents=True)
    old = {"set": {"old": {"failure": ["token_limit", "gone"], "gap": ["2.."]}}}
    home.write_text(json.dumps(old), encoding="utf-8")
    assert saved_filters("set")["old"] == CaseFilter(failures=("token_limit",), gap=NumberRange(2))


def test_a_file_that_cannot_be_written_is_told(home, tmp_path):
    (tmp_path / "rexview").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(OSError, match="rexview"):
        save_filter("set", "name", GAPS)
