"""The table of harm: complete, and a set's own table checked with errors that say what to do."""

import re
from pathlib import Path

import pytest
import yaml
from support import ROOT

from rexview.errors import FileRefused
from rexview.harm import MAX_HARM, NO_ANSWER_HARM, load_harm
from rexview.text.findings import lexicon
from rexview.vocab import FAILURES

FORMAT = ROOT / "rexview" / "reviewset" / "FORMAT.md"


def table_of(tmp_path, text):
    path = tmp_path / "harm.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_harm(path)


def test_every_failure_and_every_finding_of_the_lexicon_has_its_harm():
    words = Path(lexicon.__file__).with_name("lexicon.yaml").read_text(encoding="utf-8")
    known = yaml.safe_load(words)
    table = load_harm()
    assert set(table.findings) == {*known["findings"], *known["devices"]}
    assert set(table.failures) == {*FAILURES, NO_ANSWER_HARM}
    assert set(table.levels) == set(range(MAX_HARM + 1))


def test_a_failure_does_the_harm_of_its_finding_where_that_is_known():
    table = load_harm()
    assert table.of("laterality_error", "pneumothorax") == 4
    assert table.of("laterality_error", "granuloma") == 1
    assert table.of("laterality_error") == table.failures["laterality_error"].harm == 3
    assert table.of("box_misplaced", "pneumothorax") == 2
    assert table.of("box_misplaced", "granuloma") == 1  # lower, but not nothing
    assert table.of("verbose", "pneumothorax") == 0


def test_a_set_replaces_what_it_names_and_keeps_the_rest(tmp_path):
    text = "findings: {nodule: 4, rib_fracture: {harm: 0, why: seen}}\nfailures: {omission: 1}\n"
    table = table_of(tmp_path, text)
    assert table.of("laterality_error", "nodule") == 4
    assert table.of("laterality_error", "rib_fracture") == 0
    assert table.of("omission", "pneumothorax") == 1  # a plain number, whatever the finding
    assert table.of("laterality_error", "pneumothorax") == 4
    assert table.describe("omission", "nodule") == "nodule missed"


def test_a_level_is_named_by_the_beginning_of_what_it_means(tmp_path):
    table = table_of(tmp_path, "levels: {3: Sets treatment wrong. As here., 2: Unsure}\n")
    names = [table.name_of(level) for level in range(MAX_HARM + 1)]
    assert names == ["None", "Little", "Unsure", "Sets treatment wrong", "Grave"]


def test_the_example_of_the_format_can_be_used(tmp_path):
    (example,) = re.findall(r"```yaml harm\n(.*?)^```", FORMAT.read_text("utf-8"), re.M | re.S)
    table = table_of(tmp_path, example)
    assert table.of("hallucination", "pneumothorax") == 4
    assert table.failures[NO_ANSWER_HARM].harm == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("failures: {laterality: 3}", "no failure 'laterality'"),
        ("findings: {unicorn: 3}", "'unicorn' is no finding"),
        ("findings: {nodule: 5}", "findings: nodule: 5 is no harm"),
        ("findings: {nodule: yes}", "findings: nodule: True is no harm"),
        ("failures: {omission: {harms: 3}}", "failures: omission: there is no harms"),
        ("failures: {omission: {by_finding: 1}}", "by_finding is true or false"),
        ("severity: {}", "There is no part 'severity'"),
        ("findings: [nodule]", "findings: entries are expected"),
        ("- nodule", "The file has no keys"),
        ("a: [1", "not YAML"),
        ("a: &a {b: 1}\nfindings: *a", "There is no part"),
        ("[" * 20_000, "nested too deeply"),
        (b"findings: \xff\xfe", "not UTF-8"),
        (b"# " + b"x" * 1_300_000, "larger than 1 MB"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_remedy(tmp_path, text, told):
    with pytest.raises(FileRefused, match=re.escape(told)):
        table_of(tmp_path, text)
