import json
import threading

import pytest
from PIL import Image
from support.page_text import shown
from support.small_set import CASES, write_set

from rexview.reviewset.set_cache import plausibility_warnings
from rexview.ui.web.server import review_sets


def test_what_is_open_is_shown(open_app):
    app = open_app("data")
    assert "Small set" in shown(app)
    assert {metric.label: metric.value for metric in app.metric} == {
        "Cases": "3",
        "Answers": "3",
        "Scores": "4",
    }


def test_warnings_of_a_large_set_come_when_they_are_known(open_app, tmp_path, monkeypatch):
    monkeypatch.setattr("rexview.reviewset.set_cache.LARGE_ROWS", 1)
    monkeypatch.setattr("rexview.reviewset.set_cache.LARGE_BYTES", 1)
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    answers = [{"case": f"c{n}", "model": m, "text": ""} for n in (1, 2, 3) for m in ("m", "n")]
    other = write_set(tmp_path / "large")
    lines = [json.dumps(answer) + "\n" for answer in answers]
    (other / "answers.jsonl").write_text("".join(lines))
    (other / "scores.csv").unlink()
    may_look = threading.Event()

    def look(review_set):
        may_look.wait(60)
        return plausibility_warnings(review_set)

    monkeypatch.setattr("rexview.reviewset.set_cache.plausibility_warnings", look)
    app = open_app("data")
    app.text_input[0].set_value(str(other))
    app.button[0].click().run()
    app.switch_page("pages/data.py").run()
    assert "Texts are still being checked" in shown(app)
    assert [one.label for one in app.expander] == ["1 warning"]  # of the missing image
    may_look.set()
    for thread in threading.enumerate():
        if thread.name == "look for warnings":
            thread.join()
    app.run()
    assert "still being checked" not in shown(app)
    assert [one.label for one in app.expander] == ["2 warnings"]
    assert app.dataframe[-1].value["What is wrong"].str.contains("are empty").any()


def test_another_set_is_opened_and_stays_open_on_every_page(open_app, tmp_path):
    other = write_set(tmp_path / "other", name="Other set")
    app = open_app("data")
    app.text_input[0].set_value(str(other))
    app.button[0].click().run()
    assert not app.exception
    assert app.query_params["set"] == review_sets.set_id(other)
    app.switch_page("pages/data.py").run()
    assert "Other set" in shown(app)


def test_a_set_with_errors_does_not_open_and_every_error_is_listed(open_app, tmp_path):
    wrong = write_set(tmp_path / "wrong", cases=[{**case, "question_type": "x"} for case in CASES])
    app = open_app("data")
    app.text_input[0].set_value(str(wrong))
    app.button[0].click().run()
    assert app.error
    problems = app.dataframe[-1].value
    assert (problems["Field"] == "question_type").sum() >= 3
    assert "set" not in app.query_params


NO_PATHS = ["/no/such/folder", "\0", "~nosuchuser/x", "x" * 5000, "x/" * 2500, "a\tb"]


def test_what_is_no_folder_is_refused(open_app):
    app = open_app("data")
    for place, label in ((0, "Open"), (1, "Check")):
        for text in ["", *NO_PATHS]:
            app.text_input[place].set_value(text)
            next(one for one in app.button if one.label == label).click().run()
            assert not app.exception
            assert app.error or app.warning


def test_what_is_no_path_is_refused_when_importing(open_app, tmp_path):
    table = tmp_path / f"{'t' * 240}.csv"
    table.write_text("case,model,text\nc1,m,Clear lungs.\n")
    app = open_app("data")
    app.query_params["as"] = "import"
    app.run()
    for text in [*NO_PATHS, "/dev/zero"]:
        app.text_area[0].set_value(text).run()
        assert not app.exception
    app.selectbox(key="import_format").set_value("table").run()
    app.text_area(key="import_paths").set_value(str(table)).run()
    assert not app.exception
    assert not app.error
    (target,) = (one for one in app.text_input if one.label == "New folder for the review set")
    assert len(target.value) < 300 + len(str(tmp_path))
    for text in NO_PATHS[1:]:
        target.set_value(text)
        app.button(key="import_table").click().run()
        assert not app.exception
        assert app.error


@pytest.mark.parametrize(
    "name", ["x" * 5000 + ".csv", "../../up.csv", "a\t\nb.csv", "CON.csv", "a/b\\c.csv", ".csv"]
)
def test_an_upload_may_be_called_anything(open_app, name):
    app = open_app("data")
    app.query_params["as"] = "import"
    app.run()
    app.selectbox(key="import_format").set_value("table").run()
    rows = (b"case,model,text\nc1,m,Clear lungs.\n", b"case,model,text\nc2,m,Effusion.\n")
    app.file_uploader[0].set_value([(name, content, "text/csv") for content in rows]).run()
    assert not app.exception
    app.button(key="import_table").click().run()
    assert not app.exception
    assert not app.error
    assert "2 cases" in shown(app)


def test_a_link_to_a_set_that_is_not_known_here_is_explained(open_app):
    app = open_app(set="0123456789")
    assert "has not been opened here" in shown(app)


def test_a_server_for_others_opens_only_what_it_is_allowed_to(open_app, tmp_path, monkeypatch):
    inside = write_set(tmp_path / "allowed" / "inside", name="Inside")
    outside = write_set(tmp_path / "outside")
    monkeypatch.setenv("REXVIEW_OPEN_UNDER", str(tmp_path / "allowed"))
    for folder, opened in ((outside, False), (tmp_path / "allowed" / ".." / "outside", False)):
        app = open_app("data")
        app.text_input[0].set_value(str(folder))
        app.button[0].click().run()
        assert ("set" in app.query_params) is opened
        assert "does not open that folder" in shown(app)
    app = open_app("data")
    app.text_input[0].set_value(str(inside))
    app.button[0].click().run()
    assert "set" in app.query_params


def test_a_changed_file_is_noticed_without_a_restart(open_app, review_folder):
    app = open_app("data")
    assert app.metric[0].value == "3"
    more = {**CASES[0], "id": "c9"}
    with (review_folder / "cases.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(more))
    app.run()
    assert app.metric[0].value == "4"


def test_ways_to_gather_pictures_are_shown_with_their_cases(open_app, tmp_path):
    for name in ("a/1.png", "a/2.png", "b.png"):
        (tmp_path / "scans" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (64, 48)).save(tmp_path / "scans" / name)
    app = open_app("data")
    app.query_params["as"] = "import"
    app.run()
    app.selectbox(key="import_format").set_value("images").run()
    app.text_area(key="import_paths").set_value(str(tmp_path / "scans")).run()
    ways = app.radio(key="import_group")
    assert list(ways.proto.captions) == ["Up to 2 cases", "Up to 2 cases", "Up to 3 cases"]
    ways.set_value("file").run()
    app.text_input(key="import_out_scans").set_value(str(tmp_path / "out")).run()
    app.button(key="import_images").click().run()
    assert "3 cases" in shown(app)
    assert len((tmp_path / "out" / "cases.jsonl").read_text().splitlines()) == 3
