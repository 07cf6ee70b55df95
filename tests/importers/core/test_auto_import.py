"""Sources of any kind: recognised by their content, opened within bounds, in any order."""

import gzip
import itertools
import json
import pickle
import zipfile

import pytest

from rexview.cli import main
from rexview.errors import ImportSourceError
from rexview.importers import auto, import_run, import_source
from rexview.importers.source_files import FILE_TYPES, Probe
from rexview.reviewset import load_review_set


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(name="sources")
def sources_fixture(tmp_path, make_picture):
    """Cases with reports, predictions of three models for them, and pictures, each by itself."""
    folder = tmp_path / "in"
    data = {
        f"CXR{n:03}": {"report": f"Findings: Clear {n}.", "key_image_path": f"pics/CXR{n:03}.png"}
        for n in range(1, 4)
    }
    texts = {name: f"The lungs of {name} are clear." for name in data}
    for name in data:
        make_picture(folder / "pics" / f"{name}.png")
    return [
        write_json(folder / "ReXRank_data.json", data),
        write_json(folder / "gpt-4o.json", {**texts, "CXR003": None}),
        write_json(folder / "others.json", {"maira": texts, "medversa": {"CXR001": ""}}),
        folder / "pics",
    ]


def rows_of(folder):
    return {path.name: path.read_text() for path in folder.glob("*.jsonl")}


def test_the_order_of_the_sources_does_not_matter(tmp_path, sources):
    sets = []
    for number, order in enumerate(itertools.permutations(sources)):
        out = tmp_path / f"out{number}"
        receipt = import_source("auto", order, out).receipt
        sets.append(rows_of(out))
        counts = (receipt.cases, receipt.answers, receipt.images_found, dict(receipt.not_run))
        assert counts == (3, 6, 3, {"gpt-4o": 1})
        assert receipt.models == {"gpt-4o": 2, "maira": 3, "medversa": 1}
    assert all(one == sets[0] for one in sets)
    answers = load_review_set(tmp_path / "out0").answers_of("CXR001")
    assert {one.model: one.text for one in answers} == {
        "gpt-4o": "The lungs of CXR001 are clear.",
        "maira": "The lungs of CXR001 are clear.",
        "medversa": None,
    }


def test_a_zip_of_it_all_gives_the_same_set(tmp_path, sources):
    import_source("auto", sources, tmp_path / "out")
    packed = tmp_path / "all.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted((tmp_path / "in").rglob("*")):
            archive.write(path, f"export/{path.relative_to(tmp_path / 'in')}")
        for junk in ("__MACOSX/export/._gpt-4o.json", "export/.DS_Store", "export/pics/Thumbs.db"):
            archive.writestr(junk, b"\x00\x05\x16\x07")
    done = import_source("auto", [packed], tmp_path / "zipped")
    assert done.receipt.files_unread == []
    unzipped, zipped = load_review_set(tmp_path / "out"), load_review_set(tmp_path / "zipped")
    for name in unzipped.cases["id"]:
        path = zipped.case(name).images[0].path
        assert (tmp_path / "zipped/images" / path).is_file()
        assert zipped.case(name).report == unzipped.case(name).report
    assert zipped.answers.drop("_row").equals(unzipped.answers.drop("_row"))


def test_gzip_is_opened(tmp_path, sources):
    packed = tmp_path / "gpt-4o.json.gz"
    packed.write_bytes(gzip.compress(sources[1].read_bytes()))
    done = import_source("auto", [sources[0], packed], tmp_path / "out")
    assert done.receipt.models == {"gpt-4o": 2}


class TestHostileArchives:
    def packed(self, tmp_path, members):
        path = tmp_path / "in.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ok.json", json.dumps({"a1": "The lungs are clear here."}))
            for name, content in members:
                archive.writestr(name, content)
        return path

    def unread(self, tmp_path, *members):
        done = import_source("auto", [self.packed(tmp_path, members)], tmp_path / "out" / "set")
        assert done.receipt.answers == 1
        return [(one.file, one.why) for one in done.receipt.files_unread]

    @pytest.mark.parametrize(
        "name", ["../../escaped.json", "/tmp/escaped.json", "a/../../../escaped.json", "C:\\x.json"]
    )
    def test_a_path_that_leads_out_is_named_and_not_written(self, tmp_path, name):
        found = self.unread(tmp_path, (name, '{"b1": "It is out of the archive."}'))
        assert [why for _, why in found] == ["Its path leads out of the archive."]
        assert not list(tmp_path.rglob("*escaped*"))

    def test_a_link_is_not_followed(self, tmp_path):
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        assert self.unread(tmp_path, (link, "/etc/passwd")) == [
            ("in.zip/link.json", "Links are not followed.")
        ]

    def test_a_bomb_is_named_and_not_unpacked(self, tmp_path, monkeypatch):
        monkeypatch.setattr(auto, "_SMALL", 1000)
        monkeypatch.setattr(auto, "MAX_RATIO", 100)
        found = self.unread(tmp_path, ("bomb.json", b" " * 5_000_000))
        assert found == [("in.zip/bomb.json", "It would be far larger than the archive.")]

    def test_archives_in_archives_end(self, tmp_path):
        path = self.packed(tmp_path, [])
        for depth in range(5):
            outer = tmp_path / f"outer{depth}.zip"
            with zipfile.ZipFile(outer, "w") as archive:
                archive.write(path, "inner.zip")
            path = outer
        with pytest.raises(ImportSourceError) as caught:
            import_source("auto", [path], tmp_path / "out")
        assert "nested too deeply" in caught.value.receipt["files_unread"][0]["why"]

    def test_a_damaged_archive_is_named(self, tmp_path, sources):
        whole = self.packed(tmp_path, []).read_bytes()
        broken = tmp_path / "broken.zip"
        broken.write_bytes(whole[: len(whole) // 2])
        done = import_source("auto", [sources[0], broken], tmp_path / "out" / "set")
        assert [(one.file, one.type) for one in done.receipt.files_unread] == [
            ("broken.zip", "ZIP archive")
        ]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.csv", b"\x89PNG\r\n\x1a\n...", "png"),
        ("a.png", b"\xff\xd8\xff\xe0..", "jpeg"),
        ("a.jpg", b"\x00" * 128 + b"DICM" + b"\x00" * 40, "dicom"),
        ("a", b"\x08\x00\x05\x00CS\x0a\x00ISO_IR 100" + b"\x00" * 20, "dicom"),
        ("a.txt", b"%PDF-1.4", "pdf"),
        ("a.json", pickle.dumps({"a": 1}), "pickle"),
        ("a.csv", b"SQLite format 3\x00", "sqlite"),
        ("a.xls", b"\n<html><table></table></html>", "html"),
        ("a.json", b'{"a": 1', "broken_json"),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("a.jsonl", b'[{"a": 1}]', "json"),
        ("a.dat", "\ufeffcase;answer\n1;b\n".encode("utf-16"), "table"),
        ("a.dat", b"", "empty"),
        ("a.bin", bytes(range(1, 256)) * 3 + b"\x00\x01", "unknown"),
    ],
)
def test_a_file_is_what_its_bytes_say(tmp_path, name, content, kind):
    path = tmp_path / name
    path.write_bytes(content)
    assert Probe(path).kind == kind
    assert Probe(path).type == FILE_TYPES[kind]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "It is empty."),
        (b'{"a": {"b', "Its JSON breaks off"),
        (pickle.dumps(["x"]), "can run any program"),
        (b"%PDF-1.4", "No format that is known"),
    ],
)
def test_nothing_to_read_is_refused_with_the_reason(tmp_path, content, why, capsys):
    path = tmp_path / "source.dat"
    path.write_bytes(content)
    assert main(["import", "auto", str(path), "--out", str(tmp_path / "out"), "--json"]) == 1
    receipt = json.loads(capsys.readouterr().out)
    assert receipt["cases"] == receipt["rows_in"] == 0
    assert [one["file"] for one in receipt["files_unread"]] == ["source.dat"]
    assert why in receipt["files_unread"][0]["why"]
    assert why in receipt["problems"][0]["remedy"]
    assert not (tmp_path / "out").exists()


def test_json_is_the_receipt_alone(tmp_path, sources, capsys):
    paths = [str(path) for path in sources]
    assert main(["import", "auto", *paths, "--out", str(tmp_path / "out"), "--json"]) == 0
    receipt = json.loads(capsys.readouterr().out)
    wanted = "format cases answers models scores model_boxes reference_boxes columns_unused"
    assert set(f"{wanted} files_unread rows_in rows_used problems".split()) <= receipt.keys()
    assert receipt["rows_in"] == 10
    assert receipt["rows_used"] == 9
    assert main(["import", "auto", *paths, "--out", str(tmp_path / "out")]) == 1  # it is there now
    assert main(["import", "rexrank", paths[0], "--out", str(tmp_path / "one")]) == 0
    assert "Imported into" in capsys.readouterr().out


@pytest.mark.parametrize("option", [[], ["--model", "predictions.json=MAIRA"]])
def test_a_model_that_no_name_tells_is_said_to_be_called_after_its_file(tmp_path, capsys, option):
    source = str(write_json(tmp_path / "predictions.json", {"s1": "Clear.", "s2": "Clear."}))
    out = tmp_path / "out"
    assert main(["import", "auto", source, *option, "--out", str(out), "--json"]) == 0
    problems = json.loads(capsys.readouterr().out)["problems"]
    told = [one["remedy"] for one in problems if "tells no model" in one["message"]]
    assert [model.name for model in load_review_set(out).models] == [
        "MAIRA" if option else "predictions"
    ]
    assert len(told) == (0 if option else 1)
    assert all("--model predictions.json=NAME" in one for one in told)


@pytest.mark.parametrize(
    ("place", "name"), [("llava-rad/predictions.json", "llava-rad"), ("results/pred.json", "pred")]
)
def test_a_file_that_tells_no_model_is_called_after_its_folder(tmp_path, capsys, place, name):
    folder = (tmp_path / place).parent
    folder.mkdir()
    write_json(tmp_path / place, {"s1": "Clear.", "s2": "Clear."})
    out = tmp_path / "out"
    assert main(["import", "auto", str(folder), "--out", str(out), "--json"]) == 0
    assert [model.name for model in load_review_set(out).models] == [name]
    problems = json.loads(capsys.readouterr().out)["problems"]
    told = f"Its name tells no model: the model is called “{name}” now"
    assert [one["message"] for one in problems if one["message"].startswith(told)]


@pytest.mark.parametrize(("answers", "ending"), [(1_000, "jsonl"), (1_001, "parquet")])
def test_large_sets_are_parquet(tmp_path, monkeypatch, answers, ending):
    assert import_run.MOST_JSON_ROWS == 100_000
    monkeypatch.setattr(import_run, "MOST_JSON_ROWS", 1_000)
    texts = {str(number): "Clear." for number in range(answers)}
    import_source("predictions", [write_json(tmp_path / "m1.json", texts)], tmp_path / "out")
    assert (tmp_path / "out" / f"answers.{ending}").is_file()


def test_many_equal_warnings_are_one_line_with_a_count(tmp_path, capsys):
    data = {
        f"s{n}": {"section_findings": "A", "image_path": ["../../a/../../x"]} for n in range(80)
    }
    source = str(write_json(tmp_path / "d.json", data))
    assert main(["import", "auto", source, "--out", str(tmp_path / "out"), "--json"]) == 0
    problems = json.loads(capsys.readouterr().out)["problems"]
    (one,) = [one for one in problems if "image path" in one["message"]]
    assert (one["count"], one["row"], one["rows"]) == (80, None, list(range(1, 21)))
    assert main(["import", "auto", source, "--out", str(tmp_path / "out2")]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "image path" in line]
    assert len(lines) == 1
    assert lines[0].endswith("80 times (rows 1, 2, 3, 4, 5, …).")


@pytest.mark.parametrize(
    "content",
    [
        {"builder_name": "parquet", "citation": "", "license": "mit", "version": "1.0"},
        {"question": {"0": "What is seen?"}, "answer": {"0": "The lungs are clear."}},
        {"a1": {"question": "What is seen?", "answer": "The lungs are clear."}},
        {"a1": 1, "b2": 2},
        {},
    ],
)
def test_what_is_not_taken_for_predictions(tmp_path, content):
    from rexview.importers.predictions import recognises

    assert recognises(Probe(write_json(tmp_path / "x.json", content))) is None


@pytest.mark.parametrize(
    ("wanted", "source", "looks_like"),
    [("coco", 0, "rexrank"), ("coco", 1, "predictions"), ("images", 0, "rexrank")],
)
def test_a_file_of_another_format_is_refused_with_what_it_is(
    tmp_path, sources, wanted, source, looks_like
):
    with pytest.raises(ImportSourceError) as caught:
        import_source(wanted, [sources[source]], tmp_path / "out")
    (problem,) = caught.value.problems
    assert "looks like" in problem.message
    assert f"Import it as {looks_like}" in problem.remedy


def test_a_picture_named_as_a_table_is_refused(tmp_path, make_picture):
    picture = make_picture(tmp_path / "a.png").rename(tmp_path / "answers.csv")
    with pytest.raises(ImportSourceError) as caught:
        import_source("table", [picture], tmp_path / "out", options={"mapping": "proposed"})
    assert "PNG picture" in caught.value.problems[0].message


def test_what_was_decided_is_listed_among_the_problems(tmp_path, capsys):
    source = write_json(tmp_path / "m.json", {"c1": "The lungs are clear.", "c2": "An effusion."})
    assert main(["import", "auto", str(source), "--out", str(tmp_path / "out"), "--json"]) == 0
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert any("placeholder" in one["message"] for one in problems if one["file"] == "proposal")


def test_the_model_of_a_file_as_told(tmp_path, sources):
    options = {"model": ["gpt-4o.json=GPT-4o (May)"]}
    done = import_source("auto", sources[:2], tmp_path / "out", options=options)
    assert done.receipt.models == {"GPT-4o (May)": 2}
