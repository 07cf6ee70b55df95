import pytest
import yaml

from rexview.reviewset.set_info import dump_info
from rexview.schema import Model, Protocol, Reader, SetInfo


def error_lines(small):
    return [(p.row, p.field) for p in small.problems() if p.severity == "error"]


def test_everything_that_can_be_said(small):
    small.text(
        "reviewset.yaml",
        """\
format: 1
name: Night shift
description: Two weeks
notice: Simulated
images: elsewhere
models:
  - id: 7
    kind: Medical
    draws_boxes: false
    max_output_tokens: 256
    notes: fine
    version: 1.5
readers:
  - {id: r1, name: Dr. A, role: radiologist, years: 12}
rubric: rexecution
project: north
""",
    )
    (small.folder / "elsewhere" / "a").mkdir(parents=True)
    (small.folder / "elsewhere" / "a" / "pa.png").touch()
    info = small.load().info
    assert (info.name, info.description, info.notice) == ("Night shift", "Two weeks", "Simulated")
    assert info.images == "elsewhere"
    assert info.models == (
        Model(
            "7",
            "7",
            "medical",
            draws_boxes=False,
            max_output_tokens=256,
            notes="fine",
            extra={"version": 1.5},
        ),
    )
    assert info.readers == (Reader("r1", "Dr. A", "radiologist", extra={"years": 12}),)
    assert info.extra == {"project": "north"}
    assert small.problems() == []


@pytest.mark.parametrize(
    "odd", ["a\x85b", "a\u2028b", "\u2029", "a\rb", "\n\x85\n", "é \U0004db95"]
)
def test_odd_ends_of_lines_come_back(small, odd):
    info = SetInfo(name="x", description=f"a{odd}b", extra={odd: [{"x": odd}, odd]})
    text = dump_info(info, images="images/")
    assert small.text("reviewset.yaml", text).load().info == info


def test_what_is_written_reads_the_same(small):
    text = "format: 1\nname: \"a: b # c\"\nnotice: 'ü\u2028'\nmodels: [{id: m, x: [1]}]\n"
    text += "other: {a: 1}\n"
    info = small.text("reviewset.yaml", text).load().info
    assert small.text("reviewset.yaml", dump_info(info, images="images/")).load().info == info


def test_a_missing_file(small):
    (small.folder / "reviewset.yaml").unlink()
    problem = small.only_problem()
    assert (problem.severity, problem.file) == ("error", "reviewset.yaml")
    assert "format: 1" in problem.remedy


def test_the_other_ending(small):
    (small.folder / "reviewset.yaml").rename(small.folder / "reviewset.yml")
    assert small.only_problem().remedy == "Rename reviewset.yml to reviewset.yaml."


def test_a_folder_in_its_place(small):
    (small.folder / "reviewset.yaml").unlink()
    (small.folder / "reviewset.yaml").mkdir()
    assert "folder" in small.only_problem().message


@pytest.mark.parametrize("version", ["2", "0", "one", "true", "[1]"])
def test_another_format(small, version):
    small.text("reviewset.yaml", f"name: x\nformat: {version}\n")
    assert error_lines(small) == [(2, "format")]


@pytest.mark.parametrize("version", ["1", "'1'", "1.0"])
def test_spellings_of_format_1(small, version):
    small.text("reviewset.yaml", f"name: x\nformat: {version}\n")
    assert error_lines(small) == ([] if version != "1.0" else [(2, "format")])


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n- b\n", "just text"])
def test_no_keys(small, text):
    small.text("reviewset.yaml", text)
    assert error_lines(small) == [(None, None)]


def test_no_format_and_no_name(small):
    small.text("reviewset.yaml", "description: x\n")
    assert error_lines(small) == [(None, "format"), (None, "name")]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("format: 1\nname: a: b\n", 2),
        ("format: 1\nname: x\n  notice: y\n", 3),
        ("format: 1\nname: [a\n", 3),
        ("format: 1\nname: !!python/object:os.system x\n", 2),
        ("format: 1\nname: a\x07b\n", 2),
        ("format: 1\nname: *nowhere\n", 2),
    ],
)
def test_errors_of_yaml_carry_the_line(small, text, row):
    problem = small.text("reviewset.yaml", text).only_problem()
    assert (problem.severity, problem.file, problem.row) == ("error", "reviewset.yaml", row)


def test_aliases_of_aliases_are_refused_where_they_get_too_many(small):
    lines = ["a0: &a0 [x, x]"]
    for level in range(1, 60):
        lines.append(f"a{level}: &a{level} [*a{level - 1}, *a{level - 1}]")
    small.text("reviewset.yaml", "\n".join(lines) + "\nformat: 1\nname: *a59\n")
    assert error_lines(small) == [(14, None)]
    assert "50,000 values" in small.only_problem().message


def test_an_alias_is_read_as_what_it_repeats(small):
    small.text("reviewset.yaml", "format: 1\nname: &a Short\nnotice: *a\nmodels: &m []\nx: *m\n")
    assert small.load().info.notice == "Short"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('rubric: "a\\0b"', "rubric"),
        (f"rubric: {'r' * 5000}", "rubric"),
        ("images: ~nosuchuser/x", "images"),
        ('images: "a\\0b"', "images"),
        (f"images: {'i' * 5000}/", "images"),
        (f"images: {'i/' * 3000}", "images"),
        ("rubric: r1.yaml", "rubric"),
        ("rubric: r2.yaml", "rubric"),
        ("rubric: r3.yaml", "rubric"),
        ("rubric: r4.yaml", "rubric"),
    ],
)
def test_paths_and_rubrics_that_cannot_be_are_named(small, line, field):
    anchors = "anchors: {1: a, 9: b}"
    small.text("r1.yaml", "dimensions: " + "[" * 5000)
    small.text("r2.yaml", "a0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    ))  # fmt: skip
    small.text("r3.yaml", f"dimensions: {{process: {{name: P, question: Q, {anchors}}}}}")
    small.text("r4.yaml", "dimensions: {process: {name: P, question: [], anchors: {1: a}}}")
    small.text("reviewset.yaml", f"format: 1\nname: x\n{line}\n")
    assert error_lines(small) == [(3, field)]


def test_another_encoding_carries_the_line(small):
    (small.folder / "reviewset.yaml").write_bytes("format: 1\nname: süß\n".encode("latin-1"))
    problem = small.only_problem()
    assert (problem.row, problem.remedy) == (2, "Save the file as UTF-8.")


def test_a_key_that_is_there_twice(small):
    small.text("reviewset.yaml", "format: 1\nname: a\nmodels: []\nname: b\n")
    assert error_lines(small) == [(4, "name")]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("models:\n- id: a\n- name: b\n", (5, "models[1].id")),
        ("models:\n- id: a\n- id: a\n", (3, "models")),
        ("models: {id: a}\n", (3, "models")),
        ("models:\n- a\n", (4, "models[0].id")),
        ("models:\n- id: a\n  draws_boxes: perhaps\n", (5, "models[0].draws_boxes")),
        ("models:\n- id: a\n  max_output_tokens: 0\n", (5, "models[0].max_output_tokens")),
        ("models:\n- id: no\n", (4, "models[0].id")),
        ("readers:\n- role: x\n", (4, "readers[0].id")),
        ("notice: [a]\n", (3, "notice")),
        ("notice: 2025-01-01\n", (3, "notice")),
        ("rubric: missing.yaml\n", (3, "rubric")),
        ("rubric: ../rubric.yaml\n", (3, "rubric")),
        ("rubric: /etc/hostname\n", (3, "rubric")),
        ("rubric: cases.jsonl\n", (3, "rubric")),
        ("protocol: [a]\n", (3, "protocol")),
        ("protocol:\n  report: sometimes\n", (4, "protocol.report")),
        ("protocol:\n  reveal: [at_end]\n", (4, "protocol.reveal")),
        ("protocol:\n  reveal_peers: perhaps\n", (4, "protocol.reveal_peers")),
        ("protocol:\n  seed: 1\n  second_reader_share: 1.5\n", (5, "protocol.second_reader_share")),
        ("protocol:\n  disagreement: .nan\n", (4, "protocol.disagreement")),
        ("protocol:\n  seed: 1.5\n", (4, "protocol.seed")),
        ("protocol:\n  choice_cases: some\n", (4, "protocol.choice_cases")),
        ("protocol:\n  cover_names: [{a: b}]\n", (4, "protocol.cover_names")),
    ],
)
def test_values_that_do_not_fit(small, text, place):
    small.text("reviewset.yaml", "format: 1\nname: x\n" + text)
    assert place in error_lines(small)


def test_the_rules_of_a_study(small):
    small.text("reviewset.yaml", "format: 1\nname: x\n")
    assert small.load().info.protocol == Protocol("on_request", "at_end", False, 0.25, 2.0, 1)
    small.text(
        "reviewset.yaml",
        "format: 1\nname: x\nprotocol:\n  report: Never\n  reveal: per_case\n"
        "  reveal_peers: true\n  second_reader_share: 1\n  disagreement: 3\n  seed: -7\n"
        "  name_readers: true\n  choice_cases: true\n  reader_references: true\n"
        "  cover_names: [Quokka, 4]\n  arm: b\n",
    )
    info = small.load().info
    rules = Protocol(
        *("never", "per_case", True, 1.0, 3.0, -7, True, True, True),
        cover_names=("Quokka", "4"),
        extra={"arm": "b"},
    )
    assert info.protocol == rules
    small.text("reviewset.yaml", dump_info(info, images="images/"))
    assert small.load().info.protocol == rules


def test_a_rubric_of_its_own(small):
    rubric = {"dimensions": {"process": {"name": "P", "question": "?", "anchors": {1: "x"}}}}
    small.text("mine.yaml", yaml.safe_dump(rubric))
    small.text("reviewset.yaml", "format: 1\nname: x\nrubric: mine.yaml\n")
    assert small.load().info.rubric == "mine.yaml"


def test_a_table_of_harm_of_its_own(small):
    small.text("own.yaml", "findings: {nodule: 4}\n")
    small.text("reviewset.yaml", "format: 1\nname: x\nharm: own.yaml\n")
    info = small.load().info
    assert info.harm == "own.yaml"
    assert "harm: own.yaml" in dump_info(info, images="images/")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("own.yaml", "findings: {nodule: 7}\n", "findings: nodule: 7 is no harm"),
        ("own.yaml", None, "There is no file “own.yaml”"),
        ("../own.yaml", "findings: {nodule: 4}\n", "not in this folder"),
    ],
)
def test_a_table_of_harm_that_cannot_be_used(small, name, content, told):
    if content is not None:
        small.text(name, content)
    small.text("reviewset.yaml", f"format: 1\nname: x\nharm: {name}\n")
    problem = small.only_problem()
    assert (problem.severity, problem.row, problem.field) == ("error", 3, "harm")
    assert told in problem.message


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("model: []\n", "model"),
        ("Notice: x\n", "Notice"),
        ("models:\n- id: a\n  max_output_token: 5\n", "models[0].max_output_token"),
        ("models:\n- id: a\n  kind: wizard\n", "models[0].kind"),
        ("protocol:\n  reports: never\n", "protocol.reports"),
    ],
)
def test_slips_of_the_pen_are_warnings(small, text, field):
    small.text("reviewset.yaml", "format: 1\nname: x\n" + text)
    problem = small.only_problem()
    assert (problem.severity, problem.field) == ("warning", field)


def test_ids_that_are_too_long_are_errors_before_anything_opens(small):
    longest, longer = "m" * 200, "m" * 201
    for name, errors in ((longest, 0), (longer, 2)):
        small.text("reviewset.yaml", f"format: 1\nname: x\nmodels: [{{id: {name}}}]\n")
        small.jsonl("answers", [{"case": "c1", "model": name, "text": "Clear."}])
        found = [one for one in small.problems() if one.severity == "error"]
        assert len(found) == errors, found
        assert all("is longer than 200 characters" in one.message for one in found)
    assert {(one.file, one.row) for one in found} == {("reviewset.yaml", 3), ("answers.jsonl", 1)}
