import argparse
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import each_row

from rexview.errors import ImportSourceError
from rexview.importers import IMPORT_FORMATS, import_source
from rexview.importers.case_names import safe_path
from rexview.importers.formats import ImportOption
from rexview.importers.receipt import LISTED_PER_KIND, ProblemLog
from rexview.importers.source_files import sniff_encoding
from rexview.reviewset import check_review_set
from rexview.reviewset.image_paths import relative_path


@pytest.fixture(name="source")
def source_fixture(tmp_path):
    path = tmp_path / "data" / "d.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"a": {"image_path": ["a/0.png"], "report": "Clear."}}))
    return path


def problems_of(*arguments, **options):
    with pytest.raises(ImportSourceError) as caught:
        import_source(*arguments, **options)
    return caught.value.problems


def test_all_problems_of_a_call_at_once(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    problems = problems_of(
        "rexrank",
        [tmp_path / "absent.json", tmp_path],
        tmp_path / "full",
        options={"nope": 1, "copy": "perhaps", "table_format": "xml", "images": "/not/there"},
    )
    assert {one.field for one in problems} == {
        *("nope", "copy", "table_format", "images", "out", None),
    }
    assert {one.file for one in problems if one.field is None} == {"absent.json", tmp_path.name}
    assert all(one.message and one.remedy for one in problems)


def test_unknown_format(tmp_path):
    assert "rexrank, rexvqa, table, images, coco" in problems_of("x", [], tmp_path / "o")[0].remedy


def test_no_source(tmp_path):
    assert problems_of("rexrank", [], tmp_path / "out")


def test_output_inside_the_source_is_refused(tmp_path, make_picture):
    make_picture(tmp_path / "s/a.png")
    problems = problems_of("images", [tmp_path / "s"], tmp_path / "s" / "out")
    assert [one.field for one in problems] == ["out"]
    assert not (tmp_path / "s" / "out").exists()


def test_an_empty_output_folder_is_used(tmp_path, source):
    out = tmp_path / "deep" / "out"
    out.mkdir(parents=True)
    import_source("rexrank", [source], out)
    assert [one for one in check_review_set(out) if one.severity == "error"] == []
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_sources_are_not_changed(tmp_path, source, make_picture):
    make_picture(source.parent / "a/0.png")
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in source.parent.rglob("*")
        if path.is_file()
    }
    import_source("rexrank", [source], tmp_path / "out", options={"copy": True})
    after = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in source.parent.rglob("*")
        if path.is_file()
    }
    assert after == before
    assert (tmp_path / "out/images/a/0.png").is_file()


def test_copying_where_there_are_no_images(tmp_path, source):
    report = import_source("rexrank", [source], tmp_path / "out", options={"copy": True})
    assert report.notes == ("0 images were copied into the review set.",)
    assert [one for one in check_review_set(tmp_path / "out") if one.severity == "error"] == []


def test_nothing_is_left_behind_when_writing_fails(tmp_path, source, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rexview.importers.import_run.save_review_set", fail)
    problems = problems_of("rexrank", [source], tmp_path / "out")
    assert "No space left" in problems[0].message
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_too_little_room_for_the_images(tmp_path, source, monkeypatch, make_picture):
    make_picture(source.parent / "a/0.png")
    monkeypatch.setattr(
        "rexview.importers.image_placement.shutil.disk_usage",
        lambda _: type("Usage", (), {"free": 10})(),
    )
    problems = problems_of("rexrank", [source], tmp_path / "out", options={"copy": True})
    assert "the disk does not have" in problems[0].message
    assert not (tmp_path / "out").exists()


def test_the_report_sums_up(tmp_path, source):
    report = import_source("rexrank", [source], tmp_path / "out")
    assert report.counts == {"cases": 1, "images": 1, "images found": 0}
    assert report.counted == "1 case, 1 image (0 found)"
    assert report.summary() == f"Imported into {tmp_path / 'out'}: {report.counted}."
    assert report.folder == tmp_path / "out"


@each_row("importer", IMPORT_FORMATS.values(), ids=IMPORT_FORMATS)
def test_the_command_line_gives_the_same_options(importer):
    parser = argparse.ArgumentParser()
    importer.add_arguments(parser)
    assert importer.read_arguments(parser.parse_args([])) == {}
    given, expected = [], {}
    for option in importer.options:
        if option.type == "flag":
            given, expected = [*given, option.flag], {**expected, option.name: True}
        elif option.type == "switch":
            given, expected = [*given, option.flag], {**expected, option.name: False}
        elif option.type == "texts":
            given += [option.flag, "a", option.flag, "b"]
            expected[option.name] = ["a", "b"]
        else:
            value = option.choices[-1] if option.choices else "x"
            given, expected = [*given, option.flag, value], {**expected, option.name: value}
    assert importer.read_arguments(parser.parse_args(given)) == expected
    assert parser.format_help()


def test_show_mapping_prints_and_stops(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("case,answer\nc1,No effusion is seen here.\n")
    parser = argparse.ArgumentParser()
    IMPORT_FORMATS["table"].add_arguments(parser)
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--show-mapping", str(table)])
    assert stopped.value.code == 0
    printed = capsys.readouterr().out
    saved = tmp_path / "mapping.json"
    saved.write_text(printed)
    report = import_source("table", [table], tmp_path / "out", options={"mapping": str(saved)})
    assert report.counts["answers"] == 1
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["--show-mapping", str(tmp_path / "absent.csv")])
    assert stopped.value.code == 1
    assert "There is no such file" in capsys.readouterr().err


def test_required_options():
    option = ImportOption("x", "text", "X", "Help.", required=True)
    with pytest.raises(ValueError, match="is required"):
        option.read(None)


def test_one_kind_of_problem_is_listed_so_often_and_counted():
    log = ProblemLog()
    for row in range(LISTED_PER_KIND + 30):
        log.warning("f", "Bad.", "Mend.", row=row, field="x")
    log.error("f", "Worse.", "Mend.", row=1)
    assert len(log.problems) == LISTED_PER_KIND + 2
    assert log.problems[0].severity == "error"
    assert "30 more like this" in log.problems[-1].message


@given(st.text(alphabet="ab./\\:~ \x00%", max_size=40))
def test_a_safe_path_stays_in_its_folder(written):
    found = safe_path(written)
    if found is not None:
        assert relative_path(found) == found
        assert (Path("/base") / found).is_relative_to("/base")


@given(st.text(min_size=8), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_encodings_that_mark_themselves_are_recognised(text, encoding):
    if encoding == "utf-8":
        text = text.replace("\x00", "").lstrip("\ufeff") + "é"
    data = text.encode(encoding)
    assert data.decode(sniff_encoding(data)) == text
